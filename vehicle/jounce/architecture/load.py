"""An architecture as its file describes it: components, and connections between them (Lesiv 2011, Fig. 1).

    [[assembly]]            name; [[assembly.component]] ..., [[assembly.connection]] ...
    [[component]]           name, kind rigid | box | cylinder | beam | panel, its mass or material, its geometry
    [[connection]]          a, b, kind rigid | ball | hinge | slider | line | rod | spring | damper | motor | limit
    [[suspension]]          name, template, frame, and what the template asks for (`jounce.architecture.templates`)
    [[wheel_type]]          name, radius, mass, inertia, tire: for suspensions to name
    [[wheel]]               body, radius, tire: a component that turns on a hinge
    [[mass_correction]]     assembly, mass, com, inertia
    [powertrain]            engine, gears, brakes (`jounce.powertrain.sketched`)

A component is named by its assembly and itself, `cab.shell`; outside assemblies by itself. An assembly's name alone is
its first component. [[rigid]], [[joint]] and [[spring]] are connections too. Positions are of the drawn vehicle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from jounce.architecture import entries, read, templates
from jounce.architecture.graph import Architecture, Edge
from jounce.architecture.read import ArchitectureError, Table
from jounce.architecture.target import ROWS
from jounce.powertrain import sketched

#: Name of the file in a vehicle's folder.
FILE: Final = "architecture.toml"
#: Equations of motion: in minimal coordinates, in velocities of all bodies, or whichever can.
ENGINES: Final = ("auto", "ce", "impulse")
#: Name of the file of a vehicle that is no architecture, and tables that it has not.
OTHER: Final = "vehicle.toml"
_TABLES: Final = ("assembly", "component", "connection", "suspension", "wheel_type")
_BUILTIN: Final = Path(__file__).parent / "trucks"


def truck_names() -> tuple[str, ...]:
    """Names of the architectures that come with jounce, sorted."""
    return tuple(sorted(p.stem for p in _BUILTIN.glob("*.toml")))


def architecture_file(name: str | Path) -> Path:
    """The file of a built-in architecture, or of a user's own: by its path, or that of its folder.

    Raises ArchitectureError.
    """
    for path in (_BUILTIN / f"{name}.toml", Path(name), Path(name) / FILE):
        if path.is_file():
            return path
    known = ", ".join(truck_names())
    raise ArchitectureError(f"architecture {str(name)!r}: expected a file that exists, a folder with {FILE}, or one of "
                            f"{known}")  # fmt: skip


def is_architecture(path: Path) -> bool:
    """Whether a path is that of an architecture's file: by its name, or by the tables that only an architecture has."""
    if path.name == FILE or path.suffix != ".toml" or not path.is_file():
        return path.name == FILE
    try:
        return not {*_TABLES}.isdisjoint(read.read(path).content)
    except ArchitectureError:
        return path.name != OTHER


def load(path: Path) -> Architecture:
    """Reads the file. Raises ArchitectureError, which names the entry."""
    table = read.read(path)
    named = re.sub(r"[^A-Za-z0-9_-]", "_", path.stem)
    made = Architecture(table.name(default=named), table.text("description", ""), sources=table.sources,
                        engine=table.text("engine", "auto", of=ENGINES), file=path.name)  # fmt: skip
    table.note_source()
    assemblies = table.tables("assembly")
    inner: list[tuple[Table, str]] = []
    for assembly in assemblies:
        name = assembly.name()
        if any(c.assembly == name for c in made.components.values()):
            raise assembly.fault(f"name {name!r} is taken; expected a name of its own")
        for component in assembly.tables("component"):
            made.add(entries.component(component, name))
        inner += [(t, name) for t in assembly.tables("connection")]
        assembly.done()
    for component in table.tables("component"):
        made.add(entries.component(component, ""))
    for t in table.tables("wheel_type"):
        entries.wheel_type(made, t)
    for t in table.tables("suspension"):
        templates.add(made, t)
    for t, name in inner:
        made.edges.append(entries.connection(made, t, prefix=f"{name}."))
    for key, kinds in (("connection", (*ROWS, *entries.OTHERS)), ("rigid", ("rigid",)), ("joint", tuple(ROWS)),
                       ("spring", ("spring",))):  # fmt: skip
        made.edges += [entries.connection(made, t, kinds) for t in table.tables(key)]
    made.edges = list(_distinct(made.edges))
    for t in table.tables("wheel"):
        made.wheels.append(entries.wheel(made, t))
    if "powertrain" in table:
        made.powertrain = sketched.read(table.table("powertrain"))
        if not any(w.driven for w in made.wheels):
            raise table.fault("powertrain: no wheel is driven; expected driven = true in a suspension or wheel")
    for t in table.tables("mass_correction"):
        entries.correct(made, t)
    table.done()
    if not made.components:
        raise table.fault("has no component; expected tables [[component]] or [[assembly]]")
    return made


def _distinct(edges: list[Edge]) -> Iterator[Edge]:
    """The same, those without a name of their own numbered. Raises ArchitectureError where two have the same name."""
    taken: set[tuple[str, str]] = set()
    for edge in edges:
        group = "joint" if edge.kind in ROWS else "spring" if edge.kind == "damper" else edge.kind
        name, k = edge.name, 1
        while edge.kind != "rigid" and (group, name) in taken:
            if edge.named:
                raise ArchitectureError(f"{edge.where}: name {name!r} is taken; expected a name of its own")
            k += 1
            name = f"{edge.name} {k}"
        taken.add((group, name))
        yield edge if k == 1 else replace(edge, name=name)
