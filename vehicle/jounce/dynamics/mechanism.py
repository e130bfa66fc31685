"""A suspension as data: bodies, joints, rods, wheels and force elements, all in the design position.

A body's displacement is x = R x0 + t with x0 in chassis axes in the design position, so that all coordinates are zero
there and no body needs a frame. A template describes the left side (or a whole axle with both its wheels); the numbers
of the right side follow from `Mechanism.numbers`, such that coordinates have the same sign and value left and right.

Values are CasADi expressions of the vehicle's entries, or numbers. What the emitted code reads of them is a flat vector
(`Mechanism.layout`, `Mechanism.numbers`), with which `Mechanism.on` makes the same mechanism of symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import casadi as ca

from jounce.dynamics.graph import ROOT, Edge, Tree, tree
from jounce.math.algebra import SX, cross, unit
from jounce.math.layout import Layout

Value = Any
"""An SX vector or scalar, or numbers (a float, a sequence of floats, an array)."""

ClosedForm = Callable[["Mechanism", SX, Mapping[str, SX]], Mapping[str, SX]]
"""(mechanism with unit axes, independent coordinates, places of the prescribed points) -> body on a dependent ball
joint: Gibbs vector of its whole turn out of the design position (`jounce.dynamics.rational`), in chassis axes."""

#: Scalar coordinates of a joint from body a to body b: suffix of its name, P slides or R turns, along or about which
#: axis. The point of `point_on_line` is b's, its line is fixed in a.
JOINTS: Final[dict[str, tuple[tuple[str, str, str], ...]]] = {
    "revolute": (("", "R", "axis"),),
    "universal": ((".1", "R", "axis"), (".2", "R", "axis2")),
    "spherical": ((".z", "R", "z"), (".x", "R", "x"), (".y", "R", "y")),
    "cylindrical": ((".slide", "P", "axis"), (".turn", "R", "axis")),
    "prismatic": (("", "P", "axis"),),
    "point_on_line": ((".slide", "P", "axis"), (".z", "R", "z"), (".x", "R", "x"), (".y", "R", "y")),
    "free": ((".x", "P", "x"), (".y", "P", "y"), (".z", "P", "z"), (".rx", "R", "x"), (".ry", "R", "y"),
             (".rz", "R", "z")),
}  # fmt: skip


def _data(kind: str, **options: Any) -> Any:
    """A field that the vector of numbers holds; kind: how it is mirrored (`_mirrored`)."""
    return field(metadata={"data": kind}, **options)


@dataclass(frozen=True)
class Body:
    """A rigid body; without a mass only what it carries counts."""

    name: str
    mass: Value = _data("scalar", default=None)
    """[kg]"""
    com: Value = _data("point", default=None)
    inertia: Value = _data("inertia", default=None)
    """About the centre of mass, chassis axes in the design position: xx yy zz, or xx yy zz xy xz yz (tensor's
    elements) [kg m2]."""


@dataclass(frozen=True)
class Joint:
    """A joint from body a to body b (JOINTS). With `cut` it closes a loop, unless nothing else reaches a body."""

    name: str
    kind: str
    a: str
    b: str
    point: Value = _data("point")
    """On the axis, or the joint's centre; `free`: what turns about."""
    axis: Value = _data("axial", default=None)
    """Direction of any length: of the hinge, the slide, the line, the universal's axis on a."""
    axis2: Value = _data("axial", default=None)
    """The universal joint's axis on b."""
    normal: Value = _data("axial", default=None)
    """Unit vector normal to the axis; made where the joint closes a loop and needs one."""
    cut: bool = False

    def scalars(self, carrier: str) -> tuple[tuple[str, str, str], ...]:
        """Its JOINTS in order from the body that carries the other."""
        order = JOINTS[self.kind]
        return order[::-1] if carrier == self.b and self.kind in ("universal", "point_on_line") else order


@dataclass(frozen=True)
class End:
    """A point of a body, of the chassis, or a prescribed one (its place in the design position)."""

    on: str
    point: Value = _data("point")


@dataclass(frozen=True)
class Rod:
    """A link between two points, of constant length, or a spring and damper in line where it is `compliant`.

    It does not spin about its axis, so only its inertia across counts. Its mass is halfway.
    """

    name: str
    a: End
    b: End
    mass: Value = _data("scalar", default=None)
    across: Value = _data("scalar", default=None)
    """Moment of inertia across the rod, about its middle [kg m2]."""
    stiffness: Value = _data("scalar", default=None)
    """Of a compliant rod [N/m]; it is free of force in the design position."""
    damping: Value = _data("scalar", default=None)
    """Of a compliant rod [N s/m]."""

    @property
    def compliant(self) -> bool:
        """Whether it can be stretched: then it closes no loop."""
        return self.stiffness is not None


@dataclass(frozen=True)
class Tubes:
    """Two tubes that slide in each other between two points: a shock or strut. They do not spin."""

    name: str
    lower: End
    upper: End
    lower_com: Value = _data("scalar")
    """Distance of the lower tube's centre of mass from the lower end [m]."""
    lower_mass: Value = _data("scalar")
    lower_across: Value = _data("scalar")
    lower_along: Value = _data("scalar")
    upper_com: Value = _data("scalar")
    """Distance of the upper tube's centre of mass from the upper end [m]."""
    upper_mass: Value = _data("scalar")
    upper_across: Value = _data("scalar")
    upper_along: Value = _data("scalar")
    single: bool = False
    """The lower tube is part of the body there: its numbers are zero and nothing is computed of it."""


@dataclass(frozen=True)
class Force:
    """A spring or a shock between two points: the laws of `jounce.suspension.springs`, with their numbers."""

    kind: str
    """`spring` or `shock`."""
    wheel: int
    lower: End
    upper: End
    law: Mapping[str, Value]
    """Numbers of `spring_force` with its stops, or of `shock_force` and `shock_ends`."""


@dataclass(frozen=True)
class Wheel:
    """A wheel on its bearing. Its mass rides on the body; its spin is eliminated before anything else is."""

    name: str
    on: str
    centre: Value = _data("point")
    axis: Value = _data("axial")
    """Spin axis, to the left on both sides; unit vector."""
    mass: Value = _data("scalar")
    along: Value = _data("scalar")
    """Moment of inertia about the spin axis [kg m2]."""
    across: Value = _data("scalar")
    shaft: Value = _data("scalar")
    """Of the axle shaft and what turns with it, about the spin axis [kg m2]."""


@dataclass(frozen=True)
class Mechanism:
    """One corner, or an axle with both its wheels."""

    name: str
    independent: tuple[str, ...]
    """Names of the independent coordinates (`coordinate_names`)."""
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    rods: tuple[Rod, ...] = ()
    wheels: tuple[Wheel, ...] = ()
    tubes: tuple[Tubes, ...] = ()
    forces: tuple[Force, ...] = ()
    prescribed: Mapping[str, Value] = field(default_factory=dict)
    """Points that move as they are told (steering): name -> place in the design position."""
    side: Value = 1.0
    """1 on the left and for a whole axle, -1 on the right."""
    closed_form: ClosedForm | None = None
    """How its loops close, where that takes no iteration."""

    def __post_init__(self) -> None:
        """Raise ValueError that names what does not fit together."""
        _check(self)
        cuts = {edge.name for edge in self.tree().cuts}
        object.__setattr__(self, "joints", tuple(map(_with_normal, self.joints, (j.name in cuts for j in self.joints))))
        names = coordinate_names(self)
        if odd := [n for n in self.independent if n not in names]:
            there = f"there are {', '.join(names)}"
            raise ValueError(f"{self.name}: independent coordinate {odd[0]!r} is not there; {there}")

    def tree(self) -> Tree:
        """Spanning tree of the bodies; a joint to a prescribed point counts as one to the chassis."""
        known = {ROOT, *self.prescribed}

        def node(name: str) -> str:
            return ROOT if name in known else name

        edges = [Edge(j.name, node(j.a), node(j.b), j.cut, j.b in self.prescribed or j.a in self.prescribed)
                 for j in self.joints]  # fmt: skip
        edges += [Edge(r.name, node(r.a.on), node(r.b.on), closing=True) for r in self.rods if not r.compliant]
        return tree([b.name for b in self.bodies], edges)

    def layout(self) -> Layout:
        """Names and sizes of the numbers that the emitted functions read.

        Those of a wheel and its forces have the names that the double wishbone gives them; of a second wheel with `_2`.
        """
        return Layout(**{name: size for name, _, size, _ in _data_of(self)}, **({} if self.whole else {"side": 1}))

    @property
    def whole(self) -> bool:
        """Whether it is an axle with both its wheels, which is not mirrored."""
        return len(self.wheels) > 1

    def numbers(self, side: float = 1.0) -> SX:
        """The numbers of the left (1) or right (-1) side, as `layout` orders them.

        Of a whole axle -1 gives the same numbers with those of the two wheels exchanged.
        """
        if self.whole:
            data = {name: _mirrored(kind, value, 1.0) for name, kind, _, value in _data_of(self)}
            other = {n: n.removesuffix("_2") if n.endswith("_2") else f"{n}_2" for n in data}
            return ca.vertcat(*(data[other[n]] if side < 0 and other[n] in data else v for n, v in data.items()))
        mirrored = [_mirrored(kind, value, side) for _, kind, _, value in _data_of(self)]
        return ca.densify(ca.vertcat(*mirrored, SX(side)))

    def on(self, numbers: SX) -> Mechanism:
        """The same mechanism with its data taken from a vector of `numbers`."""
        part = self.layout().split(numbers)
        return replace(_rebuilt(self, lambda name, _kind, _value: part[name]), side=part.get("side", SX(1)))


def _with_normal(j: Joint, closes: bool) -> Joint:
    """The joint with a normal to its axis, if it closes a loop with one axis and has none yet."""
    if not closes or j.axis is None or j.axis2 is not None or j.normal is not None:
        return j
    axis = _vector("axial", j.axis)
    x, y, z = (ca.fabs(axis[k]) for k in range(3))
    least = ca.if_else(ca.logic_and(x <= y, x <= z), SX([1, 0, 0]), ca.if_else(y <= z, SX([0, 1, 0]), SX([0, 0, 1])))
    return replace(j, normal=cross(least, axis))


def _size(kind: str) -> int:
    return {"scalar": 1, "inertia": 6}.get(kind, 3)


def _vector(kind: str, value: Value) -> SX:
    v = SX(value) if isinstance(value, SX | float | int) else SX(ca.DM(value))
    if kind == "inertia" and v.numel() == 3:
        v = ca.vertcat(v, SX.zeros(3))
    return ca.densify(v)


def _mirrored(kind: str, v: SX, side: float) -> SX:
    """A left value as it is on that side: points y -> -y; axes of turns, which are pseudo-vectors, the other way."""
    if kind == "axial":
        v = unit(v)
    sign = {"point": [1, side, 1], "axial": [side, 1, side], "inertia": [1, 1, 1, side, 1, side]}.get(kind)
    return v if sign is None else v * SX(sign)


def _data_of(m: Mechanism) -> Iterator[tuple[str, str, int, SX]]:
    """(name, kind, size, value) of all numbers, in order."""
    found: list[tuple[str, str, int, SX]] = []

    def note(name: str, kind: str, value: Value) -> Value:
        v = _vector(kind, value)
        if kind != "law" and v.numel() != _size(kind):
            raise ValueError(f"{m.name}: {name} has {v.numel()} numbers, expected are {_size(kind)}")
        found.append((name, kind, v.numel(), v))
        return value

    _rebuilt(m, note)
    yield from found


def _rebuilt(m: Mechanism, f: Callable[[str, str, Value], Value]) -> Mechanism:
    """The same mechanism with f(name, kind, value) in place of every value."""

    def again(item: Any, name: Callable[[str], str]) -> Any:
        new: dict[str, Any] = {}
        for spec in fields(item):
            value = getattr(item, spec.name)
            if isinstance(value, End):
                new[spec.name] = replace(value, point=f(name(spec.name), "point", value.point))
            elif spec.name == "law":
                new["law"] = {k: f(name(k).removeprefix(f"{item.kind}_"), "law", v) for k, v in value.items()}
            elif (kind := spec.metadata.get("data")) and value is not None:
                new[spec.name] = f(name(spec.name), kind, value)
        return replace(item, **new)

    def dotted(item: Any) -> Any:
        return again(item, lambda part: f"{item.name}.{part}")

    def of_wheel(item: Any, k: int, prefix: str) -> Any:
        end = f"_{k + 1}" if k else ""
        return again(item, lambda part: f"shaft{end}" if part == "shaft" else f"{prefix}_{part}{end}")

    return replace(
        m,
        bodies=tuple(map(dotted, m.bodies)),
        joints=tuple(map(dotted, m.joints)),
        rods=tuple(map(dotted, m.rods)),
        tubes=tuple(map(dotted, m.tubes)),
        wheels=tuple(of_wheel(w, k, "wheel") for k, w in enumerate(m.wheels)),
        forces=tuple(of_wheel(force, force.wheel, force.kind) for force in m.forces),
        prescribed={name: f(name, "point", value) for name, value in m.prescribed.items()},
    )


def coordinate_names(m: Mechanism) -> tuple[str, ...]:
    """All scalar coordinates from the root outward: the joint's name, with what it is where the joint has several."""
    joints = {j.name: j for j in m.joints}
    names = []
    for carrier, edge in m.tree().parent.values():
        names += [edge.name + suffix for suffix, _, _ in joints[edge.name].scalars(carrier)]
    return tuple(names)


def _check(m: Mechanism) -> None:
    here = f"{m.name}: "
    bodies = {ROOT} | {b.name for b in m.bodies}
    points = bodies | set(m.prescribed)
    parts: tuple[Any, ...] = (*m.bodies, *m.joints, *m.rods, *m.tubes, *m.wheels)
    named = [x.name for x in parts]
    if twice := sorted({n for n in named if named.count(n) > 1}):
        raise ValueError(f"{here}{twice[0]!r} is there twice")
    for b in m.bodies:
        if len({x is None for x in (b.mass, b.com, b.inertia)}) > 1:
            raise ValueError(f"{here}body {b.name!r} has some of mass, com and inertia; it needs all or none")
        if b.mass is None and any(w.on == b.name for w in m.wheels):
            raise ValueError(f"{here}body {b.name!r} carries a wheel and has no mass")
    for j in m.joints:
        if j.kind not in JOINTS:
            raise ValueError(f"{here}joint {j.name!r} is of kind {j.kind!r}; allowed are {', '.join(JOINTS)}")
        wanted = {axis for _, _, axis in JOINTS[j.kind]} & {"axis", "axis2"}
        if (given := {a for a in ("axis", "axis2") if getattr(j, a) is not None}) != wanted:
            raise ValueError(f"{here}joint {j.name!r} ({j.kind}) has {len(given)} axes, expected are {len(wanted)}")
        told = {j.a, j.b} & set(m.prescribed)
        if told and j.kind != "spherical":
            raise ValueError(f"{here}joint {j.name!r} holds the prescribed point {told.pop()!r}: only spherical can")
        _known(f"{here}joint {j.name!r}", (j.a, j.b), points)
    for r in m.rods:
        _known(f"{here}rod {r.name!r}", (r.a.on, r.b.on), points)
        if r.damping is not None and r.stiffness is None:
            raise ValueError(f"{here}rod {r.name!r} has damping without stiffness")
    for t in m.tubes:
        _known(f"{here}{t.name!r}", (t.lower.on, t.upper.on), points)
    for w in m.wheels:
        _known(f"{here}wheel {w.name!r}", (w.on,), bodies - {ROOT})
    for force in m.forces:
        _known(f"{here}{force.kind}", (force.lower.on, force.upper.on), bodies)
        if not 0 <= force.wheel < max(len(m.wheels), 1):
            raise ValueError(f"{here}{force.kind} of wheel {force.wheel}; there are {len(m.wheels)} wheels")
    kinds = [(f.kind, f.wheel) for f in m.forces]
    if twice_kind := sorted({k for k in kinds if kinds.count(k) > 1}):
        raise ValueError(f"{here}wheel {twice_kind[0][1]} has two of {twice_kind[0][0]!r}, one is allowed")


def _known(what: str, ends: tuple[str, ...], known: set[str]) -> None:
    if odd := [n for n in ends if n not in known]:
        raise ValueError(f"{what} is on {odd[0]!r}; there are {', '.join(sorted(known))}")
