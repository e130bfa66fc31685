"""Any vehicle of mechanisms in maximal coordinates: an independent judge of `jounce.dynamics.embedding`.

Every body, wheel, rod and tube has six coordinates, every joint constraint rows with Lagrange multipliers,

    M a + G^T lambda = f,   G a = gamma

(the fully augmented form that Jain 2016, section 3, compares with), solved densely. The records of a mechanism are read
as data; no equation is shared with the embedding. Rods and tubes do not spin about their axis, and may have no mass. A
wheel turns on its carrier; the shaft is a rotor with its spin rate. Rows: `kkt_joints`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.mechanism import End, Joint, Mechanism
from jounce.reference.kkt_joints import Rows, normals
from jounce.reference.kkt_steering import turn

Array = NDArray[np.float64]
#: Parts of the way from the design position, and Newton steps in each.
PARTS, ITERATIONS = 5, 5


@dataclass(frozen=True)
class Part:
    """A mechanism on the chassis, its state and loads."""

    mechanism: Mechanism
    """With numbers; the left side or a whole axle."""
    theta: Array
    """(n,) independent coordinates; `rate` their rates."""
    rate: Array
    spin: Array
    """(wheels,) spin rates relative to the carrier [rad/s]."""
    told: Array
    """(12 prescribed points,) place, velocity per unit of steering, velocity, acceleration; chassis axes."""
    side: int = 1
    """-1: the mirror image on the right."""
    push: Mapping[tuple[str, int], float] = field(default_factory=dict)
    """(kind, wheel) of a force element -> force that pushes its ends apart [N]."""
    force: Array = field(default_factory=lambda: np.zeros((2, 3)))
    """(wheels, 3) at the wheel centres, chassis axes [N]; `moment` on the wheels [N m]."""
    moment: Array = field(default_factory=lambda: np.zeros((2, 3)))
    drive: Array = field(default_factory=lambda: np.zeros(2))
    """(wheels,) about the spin axis, reacts on the chassis; `brake` reacts on the carrier [N m]."""
    brake: Array = field(default_factory=lambda: np.zeros(2))
    propeller: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) moment on the first body, reacts on the chassis; chassis axes [N m]."""


@dataclass(frozen=True)
class Chassis:
    """The chassis: its data, and its motion in chassis axes."""

    mass: float
    com: Array
    inertia: Array
    """(3, 3) about the centre of mass [kg m2]."""
    omega: Array
    """Angular velocity [rad/s]."""
    gravity: Array
    """(3,) acceleration of free fall [m/s2]."""


@dataclass
class _Solid:
    mass: float
    com: Array
    inertia: Array
    rotation: Array = field(default_factory=lambda: np.eye(3))
    place: Array = field(default_factory=lambda: np.zeros(3))
    """Of the centre of mass, now."""


class _System:
    """All bodies, in chassis axes; body 0 is the chassis, which stays where it is."""

    def __init__(self, chassis: Chassis, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.solids = [_Solid(chassis.mass, np.asarray(chassis.com), np.asarray(chassis.inertia))]
        self.index: dict[tuple[int, str], int] = {}
        self.rotors = [(k, w.name) for k, part in enumerate(parts) for w in part.mechanism.wheels]
        for k, part in enumerate(parts):
            self._add(k, part)
        for solid in self.solids:
            solid.place = solid.com.copy()
        self.size = 6 * len(self.solids) + len(self.rotors)

    def _add(self, k: int, part: Part) -> None:
        m = part.mechanism
        self.index[k, "chassis"] = 0

        def point(value: Any) -> Array:
            return _point(value, part.side)

        def add(name: str, mass: object, com: Array, inertia: Array) -> None:
            self.index[k, name] = len(self.solids)
            self.solids.append(_Solid(0.0 if mass is None else float(_array(mass)[0]), com, inertia))

        for body in m.bodies:
            if body.mass is None:
                add(body.name, 0.0, np.zeros(3), np.zeros((3, 3)))
            else:
                add(body.name, body.mass, point(body.com), _inertia(body.inertia, part.side))
        for wheel in m.wheels:
            axis, along, across = _unit(_axial(wheel.axis, part.side)), float(wheel.along), float(wheel.across)
            add(wheel.name, wheel.mass, point(wheel.centre), _round(axis, across, along))
        for rod in m.rods:
            if rod.compliant and rod.mass is not None:
                raise NotImplementedError(f"rod {rod.name!r} is compliant and has a mass")
            if not rod.compliant:
                a, b = point(rod.a.point), point(rod.b.point)
                across = 0.0 if rod.across is None else float(rod.across)
                add(rod.name, rod.mass, (a + b) / 2, _round(_unit(a - b), across, 0.0))
        for t in m.tubes:
            foot, top = point(t.lower.point), point(t.upper.point)
            axis = _unit(top - foot)
            add(f"{t.name} lower", t.lower_mass, foot + float(t.lower_com) * axis,
                _round(axis, float(t.lower_across), float(t.lower_along)))  # fmt: skip
            add(f"{t.name} upper", t.upper_mass, top - float(t.upper_com) * axis,
                _round(axis, float(t.upper_across), float(t.upper_along)))  # fmt: skip

    def arm(self, i: int, point: Array) -> Array:
        """From body i's centre of mass to its point of the design position."""
        return np.asarray(self.solids[i].rotation @ (point - self.solids[i].com))

    def at(self, i: int, point: Array) -> Array:
        """Where that point is now."""
        return np.asarray(self.solids[i].place + self.arm(i, point))

    def way(self, i: int, axis: Array) -> Array:
        """A direction of body i now."""
        return np.asarray(self.solids[i].rotation @ axis)


class _Constraints:
    """Rows of a system with velocities, their residuals, and what the independent coordinates are."""

    def __init__(self, s: _System, v: Array, w: Array, told: Sequence[Array]) -> None:
        self.s, self.rows = s, Rows(s.size, v, w)
        self.residual: list[float] = []
        self.coordinates: list[Array] = []
        self.values: list[float] = []
        #: Number of a coordinate that is a height or the like -> body, its point in the design position, direction.
        self.slides: dict[int, tuple[int, Array, Array]] = {}
        #: Numbers of those that are angles of a free body.
        self.tilts: list[int] = []
        for k, part in enumerate(s.parts):
            self._part(k, part, told[k])
        for n, (k, name) in enumerate(s.rotors):
            wheel = next(x for x in s.parts[k].mechanism.wheels if x.name == name)
            i, j = s.index[k, name], s.index[k, wheel.on]
            axis = s.way(j, _unit(_axial(wheel.axis, s.parts[k].side)))
            self.rows.rotor(i, j, axis, 6 * len(s.solids) + n)
            self.residual.append(0.0)

    def _part(self, k: int, part: Part, told: Array) -> None:
        m = part.mechanism
        self.ends = {name: told[12 * n : 12 * n + 12] for n, name in enumerate(m.prescribed)}
        for joint in m.joints:
            self._joint(k, part, joint)
        for wheel in m.wheels:
            i, j = self.s.index[k, wheel.name], self.s.index[k, wheel.on]
            self._hinge(i, j, _point(wheel.centre, part.side), _unit(_axial(wheel.axis, part.side)))
        for rod in m.rods:
            if rod.compliant:
                continue
            i = self.s.index[k, rod.name]
            a, b = (_point(end.point, part.side) for end in (rod.a, rod.b))
            self._ball(i, a, *self._end(k, rod.a, part.side))
            self._ball(i, b, *self._end(k, rod.b, part.side))
            self._no_spin(i, _unit(a - b))
        for t in m.tubes:
            i, j = (self.s.index[k, f"{t.name} {end}"] for end in ("lower", "upper"))
            foot, top = _point(t.lower.point, part.side), _point(t.upper.point, part.side)
            self._ball(i, foot, *self._end(k, t.lower, part.side))
            self._ball(j, top, *self._end(k, t.upper, part.side))
            self._slide(i, j, _unit(top - foot))
            self._no_spin(i, _unit(top - foot))
        names = {j.name: j for j in m.joints}
        for name in m.independent:
            self._coordinate(k, part, names[name.split(".")[0]], name.partition(".")[2])

    def _end(self, k: int, end: End, side: int) -> tuple[int, Array, Array | None]:
        """(body, point of it in the design position, motion of a prescribed point)."""
        if end.on in self.ends:
            return 0, self.ends[end.on][:3], self.ends[end.on]
        return self.s.index[k, end.on], _point(end.point, side), None

    def _ball(self, i: int, p_i: Array, j: int, p_j: Array, told: Array | None) -> None:
        drive = None if told is None else (told[6:9], told[9:12])
        self.rows.spherical(i, self.s.arm(i, p_i), j, self.s.arm(j, p_j), drive)
        self.residual += list(self.s.at(i, p_i) - self.s.at(j, p_j))

    def _perpendicular(self, i: int, a: Array, j: int, b: Array) -> None:
        self.rows.perpendicular(i, self.s.way(i, a), j, self.s.way(j, b))
        self.residual.append(float(self.s.way(i, a) @ self.s.way(j, b) - a @ b))

    def _hinge(self, i: int, j: int, point: Array, axis: Array) -> None:
        self._ball(i, point, j, point, None)
        for n in normals(axis):
            self._perpendicular(i, axis, j, n)

    def _on_line(self, i: int, p_i: Array, j: int, p_j: Array, axis: Array) -> None:
        apart, along = self.s.at(j, p_j) - self.s.at(i, p_i), self.s.way(i, axis)
        self.rows.on_line(i, self.s.arm(i, p_i), j, self.s.arm(j, p_j), apart, along)
        self.residual += [float(n @ apart) for n in normals(along)]

    def _slide(self, i: int, j: int, axis: Array) -> None:
        x, y = normals(axis)
        for a, b in ((x, y), (y, axis), (axis, x)):
            self._perpendicular(i, a, j, b)
        self._on_line(i, self.s.solids[j].com, j, self.s.solids[j].com, axis)

    def _no_spin(self, i: int, axis: Array) -> None:
        self.rows.no_spin(i, self.s.way(i, axis))
        self.residual.append(0.0)

    def _joint(self, k: int, part: Part, joint: Joint) -> None:
        side, point = part.side, _point(joint.point, part.side)
        if told := {joint.a, joint.b} & self.ends.keys():
            other = joint.a if joint.b in told else joint.b
            self._ball(self.s.index[k, other], point, *self._end(k, End(told.pop(), joint.point), side))
            return
        a, b = self.s.index[k, joint.a], self.s.index[k, joint.b]
        axis, second = (None if x is None else _unit(_axial(x, side)) for x in (joint.axis, joint.axis2))
        match joint.kind, axis, second:
            case "revolute", along, None if along is not None:
                self._hinge(b, a, point, along)
            case "spherical", None, None:
                self._ball(b, point, a, point, None)
            case "universal", one, two if one is not None and two is not None:
                self._ball(b, point, a, point, None)
                self._perpendicular(a, one, b, two)
            case "prismatic", along, None if along is not None:
                self._slide(a, b, along)
            case "cylindrical", along, None if along is not None:
                self._on_line(a, point, b, point, along)
                for n in normals(along):
                    self._perpendicular(b, along, a, n)
            case "point_on_line", along, None if along is not None:
                self._on_line(a, point, b, point, along)

    def _coordinate(self, k: int, part: Part, joint: Joint, which: str) -> None:
        """Row and value of an independent coordinate: a hinge's angle, or a free body's x, y, z or rx."""
        a, b = self.s.index[k, joint.a], self.s.index[k, joint.b]
        row = np.zeros(self.s.size)
        if joint.kind == "revolute":
            a, b = (b, a) if joint.b == "chassis" else (a, b)
            design = _unit(_axial(joint.axis, part.side))
            axis, n = self.s.way(a, design), normals(design)
            row[6 * b + 3 : 6 * b + 6], row[6 * a + 3 : 6 * a + 6] = axis, -axis
            turned = self.s.solids[a].rotation.T @ self.s.way(b, n[0])
            self.values.append(float(np.arctan2(turned @ n[1], turned @ n[0])))
        elif joint.kind == "free" and which in "xyz":
            e, point = np.eye(3)["xyz".index(which)], _point(joint.point, part.side)
            row[6 * b : 6 * b + 3], row[6 * b + 3 : 6 * b + 6] = e, np.cross(self.s.arm(b, point), e)
            self.values.append(float(e @ (self.s.at(b, point) - point)))
            self.slides[len(self.coordinates)] = b, point, e
        elif joint.kind == "free" and which == "rx":
            r = self.s.solids[b].rotation  # Rx Ry Rz
            angle = float(np.arctan2(-r[1, 2], r[2, 2]))
            y, z = np.array([0.0, np.cos(angle), np.sin(angle)]), r[:, 2]
            across = np.cross(y, z)
            self.tilts.append(len(self.coordinates))
            row[6 * b + 3 : 6 * b + 6] = across / across[0]
            self.values.append(angle)
        else:
            raise NotImplementedError(f"{joint.name}.{which} as an independent coordinate")
        self.coordinates.append(row)

    def solve(self, rates: Array, coordinates: Array) -> Array:
        """Velocities with those rates of the rows and of the coordinates, the chassis at rest."""
        still = np.eye(6, self.s.size)
        rotors = np.eye(self.s.size)[6 * len(self.s.solids) :]
        left = np.vstack([np.array(self.rows.matrix), np.array(self.coordinates), still, rotors])
        right = np.concatenate([rates, coordinates, np.zeros(6 + len(rotors))])
        return np.asarray(np.linalg.lstsq(left, right, rcond=1e-12)[0])


def _placed(chassis: Chassis, parts: Sequence[Part]) -> _System:
    """Bodies at the parts' coordinates, by continuation from the design position."""
    s = _System(chassis, parts)
    still = np.zeros((len(s.solids), 3))
    theta = np.concatenate([part.theta for part in parts])
    design = [np.concatenate([_point(p, part.side) for p in part.mechanism.prescribed.values()] or [np.zeros(0)])
              for part in parts]  # fmt: skip
    for step in range(1, PARTS + 1):
        told = []
        for part, rest in zip(parts, design, strict=True):
            now = np.array(part.told, dtype=float)
            for n in range(len(rest) // 3):
                first = rest[3 * n : 3 * n + 3]
                now[12 * n : 12 * n + 3] = first + (now[12 * n : 12 * n + 3] - first) * step / PARTS
            told.append(now)
        for _ in range(ITERATIONS):
            c = _Constraints(s, still, still, told)
            move = c.solve(-np.array(c.residual), theta * step / PARTS - np.array(c.values))
            for solid, by in zip(s.solids, move[: 6 * len(s.solids)].reshape(-1, 6), strict=True):
                solid.place = solid.place + by[:3]
                if (angle := float(np.linalg.norm(by[3:]))) > 0.0:
                    solid.rotation = turn(by[3:] / angle, angle) @ solid.rotation
    if (gap := float(np.abs(_Constraints(s, still, still, [p.told for p in parts]).residual).max())) > 1e-11:
        raise ArithmeticError(f"the loops do not close: {gap:.1e} m")
    return s


def accelerations(chassis: Chassis, parts: Sequence[Part]) -> dict[str, Any]:
    """Solve the vehicle.

    Returns, in chassis axes: `angular` [rad/s2] and `linear` [m/s2] acceleration of the chassis origin (true, less
    free fall); `spin` list per part of (wheels,) [rad/s2]; `theta` list per part of (n,) accelerations of the
    independent coordinates, not a number for an angle of a free body; `carrier` list per part of (wheels, 6)
    accelerations of the carriers: angular, then of the wheel centre, less free fall. Raises ArithmeticError where a
    loop does not close.
    """
    s = _placed(chassis, parts)
    n = len(s.solids)
    told = [p.told for p in parts]
    still = np.zeros((n, 3))
    c = _Constraints(s, still, still, told)
    rate = c.solve(np.array(c.rows.rate), np.concatenate([p.rate for p in parts]))
    own = rate[: 6 * n].reshape(n, 6)
    place = np.array([x.place for x in s.solids])
    w = own[:, 3:] + chassis.omega
    v = own[:, :3] + np.cross(chassis.omega, place)  # the linear velocity of the origin moves all alike
    wheels = [(k, x, s.index[k, x.name], s.index[k, x.on]) for k, p in enumerate(parts) for x in p.mechanism.wheels]
    spins = np.concatenate([p.spin for p in parts])
    for (k, x, i, j), spin in zip(wheels, spins, strict=True):
        w[i] = w[j] + s.way(j, _unit(_axial(x.axis, parts[k].side))) * spin
    c = _Constraints(s, v, w, told)
    mass, force = np.zeros((s.size, s.size)), np.zeros(s.size)
    for i, solid in enumerate(s.solids):
        inertia = solid.rotation @ solid.inertia @ solid.rotation.T
        mass[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = solid.mass * np.eye(3)
        mass[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = inertia
        force[6 * i : 6 * i + 3] = solid.mass * np.asarray(chassis.gravity)
        force[6 * i + 3 : 6 * i + 6] = -np.cross(w[i], inertia @ w[i])
    for n_rotor, (_, x, _, _) in enumerate(wheels):
        mass[6 * n + n_rotor, 6 * n + n_rotor] = float(x.shaft)
    _load(s, parts, v, w, force)
    g, gamma = np.array(c.rows.matrix), np.array(c.rows.gamma)
    system = np.block([[mass, g.T], [g, np.zeros((len(g), len(g)))]])
    right = np.concatenate([force, gamma])
    inverse = np.linalg.pinv(system, rcond=1e-14)
    found = inverse @ right
    for _ in range(2):
        found = found + inverse @ (right - system @ found)
    a = found[: s.size]
    fall = np.asarray(chassis.gravity)

    def at(i: int, point: Array) -> Array:
        arm = point - s.solids[i].place
        linear = a[6 * i : 6 * i + 3] + np.cross(a[6 * i + 3 : 6 * i + 6], arm) + np.cross(w[i], np.cross(w[i], arm))
        return np.asarray(linear - fall)

    thetas = np.array([row @ a for row in c.coordinates])
    thetas[c.tilts] = np.nan
    for number, (i, point, along) in c.slides.items():  # as seen from the chassis, which turns
        arm, there = s.arm(i, point), s.at(i, point)
        slid = own[i, :3] + np.cross(own[i, 3:], arm)
        frame = np.cross(chassis.omega, np.cross(chassis.omega, there)) + 2 * np.cross(chassis.omega, slid)
        thetas[number] = along @ (at(i, there) - at(0, np.zeros(3)) - np.cross(a[3:6], there) - frame)
    carriers, of_spin = [], []
    for k, _ in enumerate(parts):
        mine = [(x, i, j, r) for r, (p, x, i, j) in enumerate(wheels) if p == k]
        carriers.append(np.array([np.concatenate([a[6 * j + 3 : 6 * j + 6], at(j, s.solids[i].place)])
                                  for _, i, j, _ in mine]))  # fmt: skip
        of_spin.append(np.array([a[6 * n + r] for *_, r in mine]))
    return {"angular": a[3:6], "linear": at(0, np.zeros(3)), "spin": of_spin, "carrier": carriers,
            "theta": np.split(thetas, np.cumsum([len(p.theta) for p in parts])[:-1])}  # fmt: skip


def _load(s: _System, parts: Sequence[Part], v: Array, w: Array, force: Array) -> None:
    """Adds the applied forces to ``force``."""

    def push(i: int, point: Array, by: Array) -> None:
        force[6 * i : 6 * i + 3] += by
        force[6 * i + 3 : 6 * i + 6] += np.cross(point - s.solids[i].place, by)

    for k, part in enumerate(parts):
        m = part.mechanism
        ends = {name: part.told[12 * n : 12 * n + 3] for n, name in enumerate(m.prescribed)}

        def place(end: End, k: int = k, part: Part = part, ends: dict[str, Array] = ends) -> tuple[int, Array]:
            if end.on in ends:
                return 0, ends[end.on]
            i = s.index[k, end.on]
            return i, s.at(i, _point(end.point, part.side))

        def act(one: End, other: End, apart: float, place: Any = place) -> None:
            (i, a), (j, b) = place(one), place(other)
            push(i, a, -apart * _unit(b - a))
            push(j, b, apart * _unit(b - a))

        for element in m.forces:
            act(element.lower, element.upper, part.push.get((element.kind, element.wheel), 0.0))
        for rod in m.rods:
            if rod.compliant:
                (i, a), (j, b) = place(rod.a), place(rod.b)
                design = float(np.linalg.norm(_array(rod.a.point) - _array(rod.b.point)))
                moving = v[j] + np.cross(w[j], b - s.solids[j].place) - v[i] - np.cross(w[i], a - s.solids[i].place)
                stretch = float(np.linalg.norm(b - a)) - design
                damping = 0.0 if rod.damping is None else float(rod.damping)
                act(rod.a, rod.b, -float(rod.stiffness) * stretch - damping * float(_unit(b - a) @ moving))
        for n, wheel in enumerate(m.wheels):
            i, j = s.index[k, wheel.name], s.index[k, wheel.on]
            axis = s.way(j, _unit(_axial(wheel.axis, part.side)))
            force[6 * i : 6 * i + 3] += part.force[n]
            force[6 * i + 3 : 6 * i + 6] += part.moment[n] + (part.drive[n] + part.brake[n]) * axis
            force[3:6] -= part.drive[n] * axis
            force[6 * j + 3 : 6 * j + 6] -= part.brake[n] * axis
        first = s.index[k, m.bodies[0].name]
        force[6 * first + 3 : 6 * first + 6] += part.propeller
        force[3:6] -= part.propeller


def _array(value: Any) -> Array:
    if isinstance(value, ca.SX):
        value = ca.evalf(value)
    return np.atleast_1d(np.array(value, dtype=float)).ravel()


def _point(value: Any, side: int) -> Array:
    return _array(value) * [1.0, side, 1.0]


def _axial(value: Any, side: int) -> Array:
    """Axis of a turn on that side: a mirror turns it against the mirrored vector."""
    return side * _array(value) * [1.0, side, 1.0]


def _inertia(value: Any, side: int) -> Array:
    xx, yy, zz, xy, xz, yz = np.concatenate([_array(value), np.zeros(3)])[:6]
    return np.array([[xx, side * xy, xz], [side * xy, yy, side * yz], [xz, side * yz, zz]])


def _round(axis: Array, across: float, along: float) -> Array:
    return np.asarray(across * np.eye(3) + (along - across) * np.outer(axis, axis))


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))
