"""What an architecture looks like: shapes of its bodies, lines between them, tires, and its own road.

A component is the box that has its mass, centre and inertia; a beam has one for each of its bars, a panel one for each
of its plates. `jounce render` and `jounce view` draw the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import composite
from jounce.architecture.inertia import Mass
from jounce.architecture.load import truck_names
from jounce.architecture.target import GROUND, Joint, Spring
from jounce.models.ce.choice import split
from jounce.models.impulse.signals import ROADS, SIDES, TERMS, Truck, truck

Array = NDArray[np.float64]

#: Edges of a box between its corners, which count in binary, and its faces.
EDGES = tuple((i, i | 1 << k) for i in range(8) for k in range(3) if not i & 1 << k)
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
#: Width of a tire over its free radius: 8.25R16 to 395/85R20 have 0.55 to 0.7.
TIRE_WIDTH = 0.6


@dataclass(frozen=True)
class Box:
    """A component, or a piece of one, as drawn."""

    name: str
    """Of the component."""
    body: int
    corners: Array
    """(8, 3) from its body's centre of mass, in the drawn pose [m]."""


@dataclass(frozen=True)
class Line:
    """A spring, a rod or a strut between two points, or a joint at one."""

    name: str
    kind: str
    """spring, rod, strut or joint."""
    a: int
    b: int
    on_a: Array
    """(3,) from the body's centre of mass, in the drawn pose [m]; from the origin where the body is the ground."""
    on_b: Array
    slides: float = 0.0
    """Length of a rod [m] whose end on b the steering moves along y of b; 0 for all others."""


def slid(end: Array, other: Array, along: Array, length: float) -> Array:
    """Where the end of a rod is, at ``length`` from its other end: moved along a unit vector to the nearer place."""
    to = other - end
    across = float(to @ along)
    root = np.sqrt(max(across**2 - float(to @ to) + length**2, 0.0))
    moved: Array = end + along * (across - root if abs(across - root) < abs(across + root) else across + root)
    return moved


def truck_of(model: str) -> Truck | None:
    """The architecture that came with jounce for a model of that name, on either engine; None for another model."""
    name, _ = split(model)
    return truck(*composite.build(name)) if name in truck_names() else None


def own_truck(vehicle: str | Path) -> Truck:
    """The truck of an architecture's file, its folder, or a name. Raises ArchitectureError, LayoutError."""
    return truck(*composite.build(split(vehicle)[0] if not Path(vehicle).exists() else vehicle))


def centres(of: Truck, parameters: Mapping[str, float]) -> tuple[Array, ...]:
    """Centres of mass of the engine's bodies in the drawn pose [m], with masses that a run may have changed.

    ``parameters`` are a run's by name; those that it lacks are the architecture's.
    """
    members: list[list[str]] = [list(b.members) for b in of.layout.model.bodies]
    for before, now in zip(of.model.wheels, of.layout.model.wheels, strict=True):
        members[now.carrier] += of.model.bodies[before.body].members  # its carrier bears it
    found = []
    for names in members:
        masses = np.array([parameters.get(f"{n}.mass", of.made.components[n].mass.mass) for n in names])
        at = np.array([_vector(parameters, f"{n}.com", of.made.components[n].mass.com) for n in names])
        found.append(np.asarray(masses @ at / masses.sum()))
    return tuple(found)


def boxes(of: Truck, parameters: Mapping[str, float]) -> tuple[Box, ...]:
    """All components but wheels. ``parameters`` as in `centres`."""
    at, found = centres(of, parameters), []
    for k, body in enumerate(of.layout.model.bodies):
        for name in body.members:
            mass = of.made.components[name].mass
            moved = _vector(parameters, f"{name}.com", mass.com) - mass.com
            found += [Box(name, k, corners(piece) + moved - at[k]) for piece in mass.pieces or (mass,)]
    return tuple(found)


def lines(of: Truck, parameters: Mapping[str, float]) -> tuple[Line, ...]:
    """All joints, and the springs whose ends are apart. ``parameters`` as in `centres`."""
    return tuple(_lines(of, parameters))


def _lines(of: Truck, parameters: Mapping[str, float]) -> Iterator[Line]:
    at, model = centres(of, parameters), of.layout.model

    def line(kind: str, each: Joint | Spring) -> Line:
        group = "spring" if kind == "spring" else "joint"
        arms = []
        for body, end in ((each.a, "point_a"), (each.b, "point_b")):
            point = _vector(parameters, f"{group}_{each.name}.point", getattr(each, end))
            point = _vector(parameters, f"{group}_{each.name}.{end}", point)
            arms.append(point - (0.0 if body == GROUND else at[body]))
        steered = isinstance(each, Joint) and each.kind == "rod" and each.steer.any() and GROUND not in (each.a, each.b)
        length = float(np.linalg.norm(arms[0] + at[each.a] - arms[1] - at[each.b])) if steered else 0.0
        return Line(each.name, kind, each.a, each.b, arms[0], arms[1], length)

    for joint in model.joints:
        yield line({"rod": "rod", "line": "strut"}.get(joint.kind, "joint"), joint)
    for spring in model.springs:
        if np.linalg.norm(spring.point_a - spring.point_b) > 1e-3:
            yield line("spring", spring)


def _vector(parameters: Mapping[str, float], name: str, default: Array) -> Array:
    return np.array([parameters.get(f"{name}.{a}", d) for a, d in zip("xyz", default, strict=True)])


def corners(mass: Mass) -> Array:
    """(8, 3) corners of the box of the same mass, centre and inertia."""
    values, axes = np.linalg.eigh(mass.second)
    half = np.sqrt(np.maximum(3 * values / mass.mass, 0.0))
    found: Array = mass.com + np.array([s * half for s in product((-1, 1), repeat=3)]) @ axes.T
    return found


def tires(of: Truck) -> dict[str, tuple[float, float, tuple[float, ...]]]:
    """Wheel -> free radius and width of a tire, and how far left of the centre each of its tires is [m]."""
    found = {}
    for wheel in of.model.wheels:
        width = TIRE_WIDTH * wheel.radius
        apart = np.diff(sorted(wheel.offsets))
        found[wheel.name] = wheel.radius, min([width, *(0.95 * apart)]), wheel.offsets
    return found


def is_road(name: str) -> bool:
    """Whether a parameter is one of the road."""
    return name == "road" or name.startswith("road.")


def is_flat(parameters: Mapping[str, float]) -> bool:
    """Whether the road of a truck's parameters is the plane z = 0."""
    return not _pieces(parameters)


def road_height(parameters: Mapping[str, float], x: Array, side: float) -> Array:
    """Height of a truck's own road at x [m], under wheels on the left (1) or on the right (-1): singularity functions.

    As ``imp_height`` of the model's C: a (x - x_k)^n from x_k on, and bumps a (1 - cos) / 2 (Lesiv 2011, note 7).
    """
    z = np.zeros_like(x)
    for order, place, factor, length, only, pitch, count in _pieces(parameters):
        if only * side < 0:
            continue
        s = x - place
        if order < 4:
            z += factor * np.where(s > 0, s, 0.0) ** order
            continue
        s = np.where((s > 0) & (s < pitch * count), s - pitch * np.floor(s / pitch), s)
        z += np.where((s > 0) & (s < length), factor / 2 * (1 - np.cos(2 * np.pi / length * s)), 0.0)
    return z


def _pieces(parameters: Mapping[str, float]) -> list[tuple[float, ...]]:
    """Order, place, factor, length, side, pitch and count of each piece of the road; 4 is the order of bumps."""
    if "road" not in parameters:
        return []
    p = parameters.__getitem__
    kind = ROADS[int(p("road")) - 1]
    start, height, length, side = p("road.start"), p("road.height"), p("road.length"), _side(p("road.side"))
    found: list[tuple[float, ...]] = []
    if kind in ("BUMP", "BUMPS", "DIP"):
        count, up = p("road.count") if kind == "BUMPS" else 1.0, -height if kind == "DIP" else height
        found.append((4, start, up, length, side, max(p("road.pitch"), length), count))
    elif kind == "RAMP":
        rate = height / length
        found += [(1, start, rate, 1.0, side, 1.0, 1.0), (1, start + length, -rate, 1.0, side, 1.0, 1.0)]
    for k in range(1, TERMS + 1):
        order, place, factor, only = (p(f"road.term_{k}.{n}") for n in ("order", "place", "factor", "side"))
        found.append((order, place, factor, 1.0, _side(only), 1.0, 1.0))
    return [piece for piece in found if piece[2]]


def _side(item: float) -> float:
    return {"RIGHT": -1.0, "BOTH": 0.0, "LEFT": 1.0}[SIDES[int(item) - 1]]
