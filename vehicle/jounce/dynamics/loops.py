"""A mechanism moved by its coordinates: poses, twists, and the rows that close its loops.

Twists are [w; v] of the point at the chassis origin, in chassis axes, so that bodies need no shift operators (phi of
Jain 2016, Eqs. 4-11, is an identity). A turning coordinate has the column S = [a; p x a], a sliding one S = [0; a]; the
acceleration of a body is the sum of S q'' + (V of what carries it x S) q' along its chain (Jain 2011, chapter 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca

from jounce.dynamics.graph import ROOT
from jounce.dynamics.mechanism import End, Joint, Mechanism, Rod, coordinate_names
from jounce.math.algebra import SX, cross, dot


@dataclass(frozen=True)
class Twist:
    """Velocity of a body, and its acceleration; columns may be one for each coordinate."""

    w: SX
    v: SX
    """Of the body's point at the chassis origin."""

    def at(self, point: SX) -> SX:
        """Velocity of the body's point that is at ``point`` now."""
        return self.v + spun(self.w, point)


def spun(w: SX, r: SX) -> SX:
    """w x r for each column of w."""
    return ca.horzcat(*(cross(w[:, k], r) for k in range(w.shape[1])))


@dataclass(frozen=True)
class Moving:
    """Velocity and acceleration of a body."""

    rate: Twist
    bias: Twist

    def velocity(self, point: SX) -> SX:
        """Of the body's point that is there now."""
        return self.rate.at(point)

    def acceleration(self, point: SX) -> SX:
        """Of the body's point that is there now."""
        return self.bias.at(point) + cross(self.rate.w, self.rate.at(point))


@dataclass(frozen=True)
class Told:
    """Motion of a prescribed point."""

    place: SX
    partial: SX
    """Per unit of the steering coordinate."""
    rate: SX
    bias: SX
    """Acceleration."""

    def velocity(self, _point: SX) -> SX:
        """Its velocity."""
        return self.rate

    def acceleration(self, _point: SX) -> SX:
        """Its acceleration."""
        return self.bias


@dataclass(frozen=True)
class Row:
    """One scalar constraint between a and b."""

    name: str
    """Of the joint or rod."""
    a: str
    b: str
    residual: SX
    unit: SX | float
    """What the residual is divided by to be a length [m] (or an angle [rad])."""
    wrench_a: SX
    """Its rate is wrench_a . twist of a - wrench_b . twist of b, each [moment; force] about the chassis origin."""
    wrench_b: SX
    acceleration: Callable[[Moving | Told, Moving | Told], SX]
    """Second derivative for motions of a and b whose accelerations leave q'' out."""
    at: tuple[SX, SX] | None = None
    """Points of a and b at which the forces of the wrenches act, where these have no moment of their own."""

    def moment(self, side: str, point: SX) -> SX:
        """Of its wrench on the side a or b, about a point."""
        force = (self.wrench_a if side == "a" else self.wrench_b)[3:]
        if self.at is not None:
            return cross(self.at[side == "b"] - point, force)
        return (self.wrench_a if side == "a" else self.wrench_b)[:3] - cross(point, force)


@dataclass(frozen=True)
class Pose:
    """Displacement of a body out of its design position: x = rotation x0 + shift."""

    rotation: SX
    shift: SX
    chain: tuple[int, ...]
    """Coordinates that move it."""


class Placed:
    """A mechanism at coordinates q (order of `coordinate_names`).

    ``places``: where prescribed points are; those not named stay in the design position.
    """

    def __init__(self, mechanism: Mechanism, q: SX, places: Mapping[str, SX] | None = None) -> None:
        """The mechanism's data must be those of `Mechanism.on`: axes are unit vectors."""
        self.mechanism = mechanism
        self.names = coordinate_names(mechanism)
        self.tree = mechanism.tree()
        self.places = dict(mechanism.prescribed) | dict(places or {})
        self.columns: list[Twist] = []
        self._carriers: list[tuple[int, ...]] = []
        self.poses = {ROOT: Pose(SX.eye(3), SX.zeros(3), ())}
        joints = {j.name: j for j in mechanism.joints}
        for body, (carrier, edge) in self.tree.parent.items():
            self.poses[body] = self._joined(joints[edge.name], carrier, q)

    def _joined(self, joint: Joint, carrier: str, q: SX) -> Pose:
        pose = self.poses[carrier]
        for _, kind, name in joint.scalars(carrier):
            pose = self._step(joint, kind, name, pose, q[len(self.columns)])
        return pose

    def _step(self, joint: Joint, kind: str, name: str, pose: Pose, value: SX) -> Pose:
        """The pose behind one more coordinate, which has that value."""
        design, k = coordinate_axis(joint, kind, name, self.mechanism.side), len(self.columns)
        axis = pose.rotation @ design
        self._carriers.append(pose.chain)
        if kind == "P":
            self.columns.append(Twist(SX.zeros(3), axis))
            return Pose(pose.rotation, pose.shift + axis * value, (*pose.chain, k))
        centre = SX(joint.point)
        point = pose.rotation @ centre + pose.shift
        turned = pose.rotation @ self._turned(design, value, k)
        self.columns.append(Twist(axis, cross(point, axis)))
        return Pose(turned, point - turned @ centre, (*pose.chain, k))

    def _turned(self, axis: SX, value: SX, _k: int) -> SX:
        """Rotation matrix of a turning coordinate k about a unit vector."""
        return turn(axis, ca.cos(value), ca.sin(value))

    def point(self, end: End) -> SX:
        """Where the end of a rod, spring or the like is now."""
        return self.places[end.on] if end.on in self.places else self.carried(end.on, end.point)

    def carried(self, body: str, point: SX) -> SX:
        """Where a body's point of the design position is now."""
        pose = self.poses[body]
        return pose.rotation @ SX(point) + pose.shift

    def chain(self, on: str) -> tuple[int, ...]:
        """Coordinates that move a body; none for a prescribed point."""
        return () if on in self.places else self.poses[on].chain

    def twist(self, body: str, rates: SX) -> Twist:
        """Sum of S times the rates (a column of numbers for each column of twists) over a body's chain."""
        columns = rates.shape[1]
        w, v = SX.zeros(3, columns), SX.zeros(3, columns)
        for k in self.chain(body):
            w += self.columns[k].w @ rates[k, :]
            v += self.columns[k].v @ rates[k, :]
        return Twist(w, v)

    def moving(self, rates: SX) -> dict[str, Moving]:
        """Motion of every body for rates q' and q'' = 0."""
        zero = Twist(SX.zeros(3), SX.zeros(3))
        found = {ROOT: Moving(zero, zero)}
        for body, (carrier, _) in self.tree.parent.items():
            now = found[carrier]
            for k in self.chain(body)[len(self.chain(carrier)) :]:
                now = self._moved_on(now, k, rates[k])
            found[body] = now
        return found

    def _moved_on(self, now: Moving, k: int, rate: SX) -> Moving:
        """The motion behind one more coordinate."""
        s, w, v = self.columns[k], now.rate.w, now.rate.v
        bias = Twist(now.bias.w + cross(w, s.w) * rate, now.bias.v + (cross(w, s.v) + cross(v, s.w)) * rate)
        return Moving(Twist(w + s.w * rate, v + s.v * rate), bias)

    def rows(self) -> list[Row]:
        """The constraints of all cuts, in order of joints and rods."""
        cuts = {edge.name for edge in self.tree.cuts}
        found: list[Row] = []
        for joint in self.mechanism.joints:
            if joint.name in cuts:
                found += self._closed(joint)
        return found + [self._rod(rod) for rod in self.mechanism.rods if not rod.compliant]

    def row_jacobian(self, row: Row) -> dict[int, SX]:
        """Derivatives of a row's residual by the coordinates that move its two sides differently."""
        a, b = set(self.chain(row.a)), set(self.chain(row.b))
        found = {k: self._power(row, "a", k) for k in sorted(a - b)}
        return found | {k: -self._power(row, "b", k) for k in sorted(b - a)}

    def _power(self, row: Row, side: str, k: int) -> SX:
        """Of what a row does to its side a or b, per unit rate of a coordinate."""
        wrench, column = row.wrench_a if side == "a" else row.wrench_b, self.columns[k]
        return dot(wrench[:3], column.w) + dot(wrench[3:], column.v)

    def _closed(self, joint: Joint) -> list[Row]:
        match joint.kind:
            case "spherical":
                return self._point(joint)
            case "revolute":
                return [*self._point(joint), *self._along(joint)]
            case "universal":
                return [*self._point(joint), self._direction(joint, joint.axis, joint.axis2)]
            case "point_on_line":
                return self._line(joint)
            case "cylindrical":
                return [*self._line(joint), *self._along(joint)]
            case "prismatic":
                x, axis = joint.normal, joint.axis
                y = cross(SX(axis), SX(x))
                pairs = ((x, y), (y, axis), (axis, x))
                return [*self._line(joint), *(self._direction(joint, a, b) for a, b in pairs)]
        return []  # free

    def _along(self, joint: Joint) -> list[Row]:
        """The axis has the same direction on both sides."""
        second = cross(SX(joint.axis), SX(joint.normal))
        return [self._direction(joint, joint.axis, n) for n in (joint.normal, second)]

    def _point(self, joint: Joint) -> list[Row]:
        a, b = (self.point(End(on, joint.point)) for on in (joint.a, joint.b))
        rows = []
        for k in range(3):
            axis = SX.zeros(3)
            axis[k] = 1

            def acceleration(on_a: Moving | Told, on_b: Moving | Told, k: int = k) -> SX:
                return (on_a.acceleration(a) - on_b.acceleration(b))[k]

            wrench_a, wrench_b = (ca.vertcat(cross(p, axis), axis) for p in (a, b))
            rows.append(Row(joint.name, joint.a, joint.b, a[k] - b[k], 1.0, wrench_a, wrench_b, acceleration, (a, b)))
        return rows

    def _line(self, joint: Joint) -> list[Row]:
        """b's point is on a line of a."""
        pose = self.poses[joint.a]
        point, through = self.point(End(joint.b, joint.point)), self.carried(joint.a, joint.point)
        rows = []
        for design in (SX(joint.normal), cross(SX(joint.axis), SX(joint.normal))):
            n = pose.rotation @ design

            def acceleration(line: Moving | Told, on_b: Moving | Told, n: SX = n) -> SX:
                assert isinstance(line, Moving)
                apart = on_b.velocity(point) - line.velocity(point)
                return -dot(
                    n, on_b.acceleration(point) - line.acceleration(point) - 2 * cross(line.rate.w, apart)
                )

            wrench = ca.vertcat(cross(point, n), n)
            rows.append(Row(joint.name, joint.a, joint.b, -dot(n, point - through), 1.0, wrench, wrench, acceleration,
                            (point, point)))  # fmt: skip
        return rows

    def _direction(self, joint: Joint, on_a: SX, on_b: SX) -> Row:
        """A direction of a and one of b keep their angle."""
        a, b = (self.poses[body].rotation @ SX(x) for body, x in ((joint.a, on_a), (joint.b, on_b)))
        normal = cross(a, b)

        def acceleration(p: Moving | Told, q: Moving | Told) -> SX:
            assert isinstance(p, Moving) and isinstance(q, Moving)
            turning = cross(cross(p.rate.w, a), b) + cross(a, cross(q.rate.w, b))
            return dot(normal, p.bias.w - q.bias.w) + dot(turning, p.rate.w - q.rate.w)

        wrench = ca.vertcat(normal, SX.zeros(3))
        residual = dot(a, b) - dot(SX(on_a), SX(on_b))
        return Row(joint.name, joint.a, joint.b, residual, 1.0, wrench, wrench, acceleration)

    def _rod(self, rod: Rod) -> Row:
        a, b = self.point(rod.a), self.point(rod.b)
        d, square = a - b, rod_length2(rod)

        def acceleration(on_a: Moving | Told, on_b: Moving | Told) -> SX:
            apart = on_a.velocity(a) - on_b.velocity(b)
            return dot(d, on_a.acceleration(a) - on_b.acceleration(b)) + dot(apart, apart)

        wrench = ca.vertcat(cross(a, d), d)
        residual = (dot(d, d) - square) / 2
        return Row(rod.name, rod.a.on, rod.b.on, residual, ca.sqrt(square), wrench, wrench, acceleration, (a, b))


def rod_length2(rod: Rod) -> SX:
    """Square of a rod's length in the design position [m2]."""
    design = SX(rod.a.point) - SX(rod.b.point)
    return dot(design, design)


def coordinate_axis(joint: Joint, kind: str, name: str, side: SX) -> SX:
    """Axis of a scalar coordinate in the design position: that of a turn is a pseudo-vector, of a slide a vector."""
    if name in ("axis", "axis2"):
        return SX(getattr(joint, name)) * (side if kind == "P" else 1)
    axis = SX.zeros(3)
    axis["xyz".index(name)] = side if (kind == "P") == (name == "y") else 1
    return axis


def turn(axis: SX, c: SX, s: SX) -> SX:
    """Rotation matrix about a unit vector by the angle with that cosine and sine (Rodrigues)."""
    x, y, z = axis[0], axis[1], axis[2]
    both = axis @ axis.T
    return c * (SX.eye(3) - both) + both + s * ca.blockcat([[0, -z, y], [z, 0, -x], [-y, x, 0]])
