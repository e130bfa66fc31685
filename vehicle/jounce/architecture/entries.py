"""Entries of an architecture's file: components, connections, wheels, mass corrections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from jounce.architecture import inertia
from jounce.architecture.graph import WORLD, Architecture, Component, Edge, WheelOn, WheelType, offsets
from jounce.architecture.inertia import Mass
from jounce.architecture.read import Table, shown
from jounce.architecture.target import ROWS

#: Kinds of connection that are no joints.
OTHERS: Final = ("rigid", "spring", "damper", "motor", "limit")
_UP: Final = np.array([0.0, 0.0, 1.0])


def component(table: Table, assembly: str) -> Component:
    """A component of an assembly, "" for none. Raises ArchitectureError, as all of these."""
    name = table.name()
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
    return Mass(scale * made.mass, made.com, scale * made.inertia, made.pieces)


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


def connection(made: Architecture, table: Table, kinds: tuple[str, ...] = (*ROWS, *OTHERS), prefix: str = "") -> Edge:
    """A connection of one of the kinds; `prefix` is tried before the names of its sides."""
    kind = table.text("kind", kinds[0] if len(kinds) == 1 else None, of=kinds)
    sides = [table.text(side) for side in "ab"]
    a, b = (made.resolved(prefix + s if prefix + s in made.components else s, table) for s in sides)
    name = table.name(default=f"{kind} {a} - {b}")
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
    return Edge(name, kind, a, b, table.where, named="name" in table, **numbers)


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


def wheel_type(made: Architecture, table: Table) -> None:
    """Adds a wheel for suspensions to name."""
    name = table.name()
    if name in made.wheel_types:
        raise table.fault(f"name {name!r} is taken; expected a name of its own")
    across, spin = (float(i) for i in table.vector("inertia", "kg m2", sizes=(2,)))
    made.wheel_types[name] = replace(_tire(table), mass=table.number("mass", "kg", above=0), inertia=(across, spin))
    table.done()


def wheel(made: Architecture, table: Table) -> WheelOn:
    """A component that is a wheel."""
    body = made.resolved(table.text("body"), table)
    if any(w.body == body for w in made.wheels):
        raise table.fault(f"body = {body!r} is a wheel already; expected one entry for each")
    dual = table.number("dual", "m", 0.0, least=0)
    wheel = WheelOn(table.name(default=body), body, _tire(table), table.where, offsets(dual),
                    table.flag("driven"), table.flag("steered"))  # fmt: skip
    table.done()
    return wheel


def correct(made: Architecture, table: Table) -> None:
    """Adds what an assembly lacks to its given mass, centre and inertia (Lesiv 2011, footnote 4)."""
    assembly = table.text("assembly")
    parts = [c for c in made.components.values() if c.assembly == assembly or c.name == assembly]
    if not parts:
        raise table.fault(f"assembly = {shown(assembly)}: expected an assembly's name")
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
