"""An architecture as its file describes it: components, and connections between them (Lesiv 2011, Fig. 1).

    [[assembly]]            name; [[assembly.component]] ..., [[assembly.connection]] ...
    [[component]]           name, kind rigid | box | cylinder | beam | panel, its mass or material, its geometry
    [[connection]]          a, b, kind rigid | ball | hinge | slider | line | rod | spring | damper | motor | limit
    [[suspension]]          name, template, frame, and what the template asks for (`jounce.architecture.templates`)
    [[wheel_type]]          name, radius, mass, inertia, tire: for suspensions to name
    [[wheel]]               body, radius, tire: a component that turns on a hinge
    [[mass_correction]]     assembly, mass, com, inertia

A component is named by its assembly and itself, `cab.shell`; outside assemblies by itself. An assembly's name alone is
its first component. [[rigid]], [[joint]] and [[spring]] are connections too. Positions are of the drawn vehicle.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import inertia, read
from jounce.architecture.inertia import Mass
from jounce.architecture.read import ArchitectureError, Table
from jounce.architecture.target import ROWS

Array = NDArray[np.float64]

#: Kinds of connection that are no joints.
OTHERS: Final = ("rigid", "spring", "damper", "motor", "limit")
#: Name of the world as a side of a connection.
WORLD: Final = "ground"
#: Name of the file in a vehicle's folder.
FILE: Final = "architecture.toml"
_BUILTIN: Final = Path(__file__).parent / "trucks"
_UP: Final = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Component:
    """A node of the graph."""

    name: str
    """With its assembly's before it."""
    assembly: str
    mass: Mass
    where: str
    """Its entry, for messages."""


@dataclass(frozen=True)
class Edge:
    """A connection of two components; of its numbers those count that its kind has."""

    name: str
    kind: str
    a: str
    b: str
    where: str
    point_a: Array = field(default_factory=lambda: np.zeros(3))
    point_b: Array = field(default_factory=lambda: np.zeros(3))
    axis: Array = field(default_factory=lambda: _UP)
    along: Array | None = None
    """Of springs, dampers; None: from point to point."""
    length: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    seated: bool = True
    measure: str = ""
    lower: float = 0.0
    upper: float = 0.0
    """Of a limit; of a motor its bound."""
    steer: Array = field(default_factory=lambda: np.zeros(3))
    """What moves point_b, per radian of the steering wheel [m/rad]."""


@dataclass(frozen=True)
class WheelType:
    """A wheel and its tire, which suspensions name."""

    radius: float
    stiffness: float
    damping: float
    friction: float
    lateral: float
    relaxation: float
    mass: float = 0.0
    inertia: tuple[float, float] = (0.0, 0.0)
    """Across its axle, about its axle [kg m2]."""


@dataclass(frozen=True)
class WheelOn:
    """A component that is a wheel."""

    name: str
    body: str
    kind: WheelType
    where: str
    offsets: tuple[float, ...] = (0.0,)
    driven: bool = False
    steered: bool = False


@dataclass
class Architecture:
    """Components and connections of a vehicle, to which suspensions have added theirs."""

    name: str
    description: str = ""
    components: dict[str, Component] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    wheels: list[WheelOn] = field(default_factory=list)
    wheel_types: dict[str, WheelType] = field(default_factory=dict)
    suspensions: dict[str, str] = field(default_factory=dict)
    """Name -> template."""
    sources: dict[str, str] = field(default_factory=dict)
    """Entry -> where its number is from."""

    def add(self, component: Component) -> None:
        """Adds a component. Raises ArchitectureError where its name is taken."""
        if component.name in self.components or component.name == WORLD:
            raise ArchitectureError(f"{component.where}: name {component.name!r} is taken; expected a name of its own")
        if wrong := inertia.fault(component.mass):
            raise ArchitectureError(f"{component.where}: {wrong}")
        self.components[component.name] = component

    def resolved(self, name: str, table: Table) -> str:
        """The component of that name, or the first of the assembly of that name. Raises ArchitectureError."""
        if name in self.components or name == WORLD:
            return name
        for component in self.components.values():
            if component.assembly == name:
                return component.name
        raise table.fault(f"{name!r} is no component or assembly; expected one of {', '.join(self.components)}")


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


def load(path: Path) -> Architecture:
    """Reads the file. Raises ArchitectureError, which names the entry."""
    from jounce.architecture import templates

    table = read.read(path)
    made = Architecture(table.text("name", path.stem), table.text("description", ""), sources=table.sources)
    table.note_source()
    assemblies = table.tables("assembly")
    inner: list[tuple[Table, str]] = []
    for assembly in assemblies:
        name = assembly.text("name")
        if any(c.assembly == name for c in made.components.values()):
            raise assembly.fault(f"name {name!r} is taken; expected a name of its own")
        for component in assembly.tables("component"):
            made.add(_component(component, name))
        inner += [(t, name) for t in assembly.tables("connection")]
        assembly.done()
    for component in table.tables("component"):
        made.add(_component(component, ""))
    for t in table.tables("wheel_type"):
        _wheel_type(made, t)
    for t in table.tables("suspension"):
        templates.add(made, t)
    for t, name in inner:
        made.edges.append(_edge(made, t, prefix=f"{name}."))
    for key, kinds in (("connection", (*ROWS, *OTHERS)), ("rigid", ("rigid",)), ("joint", tuple(ROWS)),
                       ("spring", ("spring",))):  # fmt: skip
        made.edges += [_edge(made, t, kinds) for t in table.tables(key)]
    for t in table.tables("wheel"):
        made.wheels.append(_wheel(made, t))
    for t in table.tables("mass_correction"):
        _correct(made, t)
    table.done()
    if not made.components:
        raise table.fault("has no component; expected tables [[component]] or [[assembly]]")
    return made


def _component(table: Table, assembly: str) -> Component:
    name = table.text("name")
    mass = mass_of(table)
    table.done()
    return Component(f"{assembly}.{name}" if assembly else name, assembly, mass, table.where)


def mass_of(table: Table) -> Mass:
    """Mass, centre and inertia of a component's table, by its kind."""
    kind = table.text("kind", "rigid", of=("rigid", "box", "cylinder", "beam", "panel"))
    if kind == "rigid":
        numbers = table.vector("inertia", "kg m2", sizes=(3, 4, 6))
        return Mass(table.number("mass", "kg", above=0), table.vector("com", "m"), inertia.tensor(numbers))
    if kind == "box":
        size = table.vector("size", "m")
        if not (size > 0).all():
            raise table.fault(f"size = {size.tolist()} m: expected all more than 0")
        return inertia.box(_mass(table, float(size.prod())), table.vector("com", "m"), size)
    if kind == "cylinder":
        radius, length = table.number("radius", "m", above=0), table.number("length", "m", above=0)
        inner = table.number("inner_radius", "m", 0.0, least=0)
        if inner >= radius:
            raise table.fault(f"inner_radius = {inner:g} m: expected less than radius, {radius:g}")
        mass = _mass(table, float(np.pi * (radius**2 - inner**2) * length))
        return inertia.cylinder(mass, table.vector("com", "m"), table.direction("axis"), radius, length, inner)
    thickness = table.number("thickness", "m", above=0)
    density = _density(table, 0.0 if "mass" in table else None)
    if kind == "beam":
        path = table.points("path")
        if len(path) < 2 or (np.linalg.norm(np.diff(path, axis=0), axis=1) < 1e-9).any():
            raise table.fault("path: expected two or more points, each apart from the one before")
        made = inertia.beam(path, _section(table, thickness), density or 1.0, table.direction("up", _UP))
    else:
        points = table.points("points")
        made = inertia.panel(points, table.triangles("triangles", len(points)), thickness, density or 1.0)
    if density:
        return made
    scale = table.number("mass", "kg", above=0) / made.mass
    return Mass(scale * made.mass, made.com, scale * made.inertia)


def _density(table: Table, default: float | None = None) -> float:
    if "density" in table:
        return table.number("density", "kg/m3", above=0)
    if default is not None and "material" not in table:
        return default
    return inertia.DENSITIES[table.text("material", of=inertia.DENSITIES)]


def _mass(table: Table, volume: float) -> float:
    if "mass" in table:
        if "material" in table or "density" in table:
            raise table.fault("has mass and a material; expected one of them")
        return table.number("mass", "kg", above=0)
    return _density(table) * volume


def _section(table: Table, thickness: float) -> inertia.Section:
    kind = table.text("section", "tube", of=("tube", "pipe", "channel"))
    if kind == "pipe":
        return inertia.pipe(table.number("diameter", "m", above=0), thickness)
    width, height = table.number("width", "m", above=0), table.number("height", "m", above=0)
    if kind == "tube":
        return inertia.tube(width, height, thickness)
    if thickness >= width or 2 * thickness >= height:
        raise table.fault(f"thickness = {thickness:g} m: expected less than width and half the height of the channel")
    return inertia.channel(width, height, thickness)


def _edge(made: Architecture, table: Table, kinds: tuple[str, ...] = (*ROWS, *OTHERS), prefix: str = "") -> Edge:
    kind = table.text("kind", kinds[0] if len(kinds) == 1 else None, of=kinds)
    sides = [table.text(side) for side in "ab"]
    a, b = (made.resolved(prefix + s if prefix + s in made.components else s, table) for s in sides)
    name = table.text("name", f"{kind} {a} - {b}")
    numbers: dict[str, Any] = {}
    if kind not in ("rigid", "motor"):
        at = table.vector("point", "m") if "point" in table else None
        if at is None and "point_a" not in table and kind == "slider":
            at = made.components[a if a != WORLD else b].mass.com  # any point will do
        numbers |= {"point_a": table.vector("point_a", "m", at), "point_b": table.vector("point_b", "m", at)}
    if kind in ("hinge", "slider", "line", "motor"):
        numbers["axis"] = table.direction("axis")
    elif kind in ROWS and "axis" in table:
        table.vector("axis", "1")  # of no meaning there
    if kind == "rod":
        drawn = float(np.linalg.norm(numbers["point_a"] - numbers["point_b"]))
        numbers["length"] = table.number("length", "m", drawn, above=0)
    if kind in ("spring", "damper"):
        numbers["along"] = table.direction("along") if "along" in table else None
        if kind == "spring":
            numbers["stiffness"] = table.number("stiffness", "N/m", above=0)
        numbers["damping"] = table.number("damping", "N s/m", 0.0 if kind == "spring" else None, least=0)
        apart = float(np.linalg.norm(numbers["point_a"] - numbers["point_b"]))
        numbers["seated"] = not table.flag("pulls", default=kind == "damper" or apart < 1e-9)
    if kind == "motor":
        numbers["upper"] = table.number("bound", "N m", above=0)
    if kind == "limit":
        measure = table.text("measure", of=("along", "distance", "angle"))
        unit = "rad" if measure == "angle" else "m"
        lower, upper = table.number("lower", unit, -1e9), table.number("upper", unit, 1e9)
        if lower >= upper:
            raise table.fault(f"lower = {lower:g}: expected less than upper, {upper:g} {unit}")
        axis = _UP if measure == "distance" else table.direction("axis")
        numbers |= {"measure": measure, "lower": lower if lower > -1e9 else -np.inf,
                    "upper": upper if upper < 1e9 else np.inf, "axis": axis}  # fmt: skip
    table.done()
    return Edge(name, kind, a, b, table.where, **numbers)


def _tire(table: Table) -> WheelType:
    """The tire of a table; stiffness along the ground 0.6 of that across it, relaxation length 0.5 m by default."""
    stiffness = table.number("stiffness", "N/m", above=0)
    return WheelType(
        radius=table.number("radius", "m", above=0),
        stiffness=stiffness,
        damping=table.number("damping", "N s/m", above=0),
        friction=table.number("mu", "1", least=0),
        lateral=table.number("lateral_stiffness", "N/m", 0.6 * stiffness, above=0),
        relaxation=table.number("relaxation_length", "m", 0.5, above=0),
    )


def _wheel_type(made: Architecture, table: Table) -> None:
    name = table.text("name")
    if name in made.wheel_types:
        raise table.fault(f"name {name!r} is taken; expected a name of its own")
    across, spin = (float(i) for i in table.vector("inertia", "kg m2", sizes=(2,)))
    made.wheel_types[name] = replace(_tire(table), mass=table.number("mass", "kg", above=0), inertia=(across, spin))
    table.done()


def _wheel(made: Architecture, table: Table) -> WheelOn:
    body = made.resolved(table.text("body"), table)
    dual = table.number("dual", "m", 0.0, least=0)
    wheel = WheelOn(table.text("name", body), body, _tire(table), table.where, offsets(dual),
                    table.flag("driven"), table.flag("steered"))  # fmt: skip
    table.done()
    return wheel


def offsets(dual: float) -> tuple[float, ...]:
    """Of the contacts from a wheel's centre, for the distance of a dual wheel's tires [m]; 0 is a single one."""
    return (-dual / 2, dual / 2) if dual else (0.0,)


def _correct(made: Architecture, table: Table) -> None:
    """Adds what an assembly lacks to its given mass, centre and inertia (Lesiv 2011, footnote 4)."""
    assembly = table.text("assembly")
    parts = [c for c in made.components.values() if c.assembly == assembly or c.name == assembly]
    if not parts:
        raise table.fault(f"assembly = {assembly!r}: expected an assembly's name")
    whole = Mass(table.number("mass", "kg", above=0), table.vector("com", "m"),
                 inertia.tensor(table.vector("inertia", "kg m2", sizes=(3, 4, 6))))  # fmt: skip
    table.done()
    if wrong := inertia.fault(whole):
        raise table.fault(wrong)
    there = sum(p.mass.mass for p in parts)
    if not whole.mass > there:
        raise table.fault(f"mass = {whole.mass:g} kg: expected more than its components have together, {there:g}")
    rest = inertia.remainder(whole, [p.mass for p in parts])
    if wrong := inertia.fault(rest):
        raise table.fault(f"what is left beside its components, {rest.mass:g} kg, is no rigid body: {wrong}")
    name = f"{assembly}_rest" if assembly not in made.components else f"{assembly}.rest"
    made.add(Component(name, assembly, rest, table.where))
    made.edges.append(Edge(f"rigid {parts[0].name} - {name}", "rigid", parts[0].name, name, table.where))
