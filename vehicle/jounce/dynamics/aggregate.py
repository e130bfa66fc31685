"""Sums over the bodies of an aggregate (Jain 2016, Eqs. 9-11, summed by Eq. 4), for any number of coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca

from jounce.math.algebra import SX, cross, dot, matrix, symmetric


@dataclass(frozen=True)
class Motion:
    """First and second time derivative of a point or an angle: how it follows coordinates, steering and time."""

    partial: SX
    """Partial velocity: per unit rate of each independent coordinate, a column each (Kane and Levinson)."""
    steer: SX
    """Per unit rate of the steering coordinate, the others at rest."""
    rate: SX
    """Velocity relative to the chassis."""
    bias: SX
    """The part of the acceleration that is not `partial` times the coordinates' acceleration."""

    def __add__(self, other: Motion) -> Motion:
        """Motion of one carried by the other."""
        return Motion(
            self.partial + other.partial, self.steer + other.steer, self.rate + other.rate, self.bias + other.bias
        )

    def __sub__(self, other: Motion) -> Motion:
        """Motion as seen from the other."""
        return Motion(
            self.partial - other.partial, self.steer - other.steer, self.rate - other.rate, self.bias - other.bias
        )

    def __mul__(self, factor: SX | float) -> Motion:
        """Motion of a vector that is `factor` times as long."""
        return Motion(self.partial * factor, self.steer * factor, self.rate * factor, self.bias * factor)


@dataclass(frozen=True)
class Body:
    """One rigid body, or a point mass where it has no inertia (its turn is then another body's)."""

    mass: SX
    com: SX
    motion: Motion
    inertia: SX | None
    """About the centre of mass; the upper triangle counts."""
    turn: Motion
    principal: SX | None = None
    """Moment of inertia about the axis of `turn.partial` and `turn.steer`, where that is a principal axis."""
    weight: SX | None = None
    """By how much a translation of the chassis moves the point, where that is not 1: it is a combination of points."""


@dataclass(frozen=True)
class Fixed:
    """What is fixed on the chassis."""

    mass: SX
    moment: SX
    inertia: SX
    """About the chassis origin."""

    @classmethod
    def of(cls, parts: Sequence[tuple[SX, SX, SX]]) -> Fixed:
        """Of parts that are given by mass, centre of mass and inertia about it."""
        moment = sum((m * r for m, r, _ in parts), SX(3, 1))
        inertia = sum((own + m * (dot(r, r) * SX.eye(3) - r @ r.T) for m, r, own in parts), SX(3, 3))
        return cls(sum((m for m, _, _ in parts), SX(0)), moment, inertia)


@dataclass(frozen=True)
class Axial:
    """A moment of inertia about a unit vector, with the energy of the chassis's turn about it alone."""

    inertia: SX
    axis: SX
    motion: Motion
    """Of the axis."""


@dataclass(frozen=True)
class Across:
    """The sum of c (w x a).((w + v) x b) for vectors a of the chassis, which turns at w, and b of a body."""

    product: SX
    """The sum of c a b^T."""
    turn: Motion
    """Of the body."""


Part = Body | Fixed | Axial | Across


def each(f: Callable[[SX], SX], columns: SX) -> SX:
    """f of every column, side by side."""
    made: SX = ca.horzcat(*(f(columns[:, k]) for k in range(columns.shape[1])))
    return made


def crossing(r: SX) -> Callable[[SX], SX]:
    """The function that gives r x v."""
    return lambda v: cross(r, v)


def turning(turn: Motion, arm: SX) -> Motion:
    """Motion of a vector on a body with that turn."""
    v = cross(turn.rate, arm)
    return Motion(
        each(lambda w: cross(w, arm), turn.partial), cross(turn.steer, arm), v,
        cross(turn.bias, arm) + cross(turn.rate, v),
    )  # fmt: skip


def rod_turn(axis: SX, length: SX, end: Motion) -> Motion:
    """Turn of a rod that does not spin about its unit axis, from the motion of one end as seen from the other."""
    w = cross(axis, end.rate) / length
    stretch = dot(axis, end.rate)
    bias = (cross(axis, end.bias) - 2 * stretch * w) / length
    partial = each(lambda v: cross(axis, v) / length, end.partial)
    return Motion(partial, cross(axis, end.steer) / length, w, bias)


def unit_motion(axis: SX, length: SX, end: Motion) -> Motion:
    """Motion of the unit vector along a line of that length, from the motion of one end as seen from the other."""

    def across(v: SX) -> SX:
        return (v - axis * dot(axis, v)) / length

    rate = across(end.rate)
    bias = across(end.bias) - rate * (2 * dot(axis, end.rate) / length) - axis * dot(rate, rate)
    return Motion(each(across, end.partial), across(end.steer), rate, bias)


def slender(axis: SX, across: SX, along: SX) -> SX:
    """Inertia of a body that is round about its unit axis."""
    return across * SX.eye(3) + ((along - across) * axis) @ axis.T


def together(parts: Sequence[tuple[SX, SX, SX]]) -> tuple[SX, SX, SX]:
    """(mass, centre of mass, inertia about it) of rigidly joined parts, each given so."""
    mass = sum((m for m, _, _ in parts), SX(0))
    com = sum((m * r for m, r, _ in parts), SX(3, 1)) / mass
    inertia = SX(3, 3)
    for m, r, own in parts:
        arm = r - com
        inertia += own + m * (dot(arm, arm) * SX.eye(3) - arm @ arm.T)
    return mass, com, inertia


def _point_inertia(r: SX, moment: SX) -> SX:
    """xx yy zz xy xz yz of a point mass with the first moment m r."""
    x, y, z = (r[k] * moment[k] for k in range(3))
    return ca.vertcat(y + z, x + z, x + y, -r[0] * moment[1], -r[0] * moment[2], -r[1] * moment[2])


class _Sums(dict[str, SX]):
    """Sums over the parts of an aggregate on a chassis that turns at ``omega``; keys as `total` tells them."""

    def __init__(self, omega: SX, n: int) -> None:
        self.omega, self.n = omega, n
        self.pairs = [(i, j) for i in range(n) for j in range(i, n)]
        sizes = {"inertia": (6, 1), "moment": (3, 1), "mass": (1, 1), "h": (6, n), "d": (len(self.pairs), 1),
                 "b": (6, 1), "bt": (n, 1), "hs": (6, 1), "st": (n, 1), "sb": (1, 1), "kin": (1, 1), "lin": (3, 1)}
        super().__init__({key: SX(*size) for key, size in sizes.items()})

    def by(self, columns: SX, v: SX) -> SX:
        return ca.vertcat(*(dot(columns[:, k], v) for k in range(self.n)))

    def twice(self, left: SX, right: SX) -> SX:
        return ca.vertcat(*(dot(left[:, i], right[:, j]) for i, j in self.pairs))

    def point(self, m: SX, r: SX, x: Motion, weight: SX | None) -> None:
        """A mass at r that moves so."""

        def share(v: SX) -> SX:
            return v if weight is None else weight * v

        omega, swept = self.omega, cross(self.omega, r)
        f = m * (x.bias + cross(omega, 2 * x.rate + swept))
        moment, partial, steer = m * r, m * x.partial, m * x.steer
        self["mass"] += share(share(m))
        self["moment"] += share(moment)
        self["inertia"] += _point_inertia(r, moment)
        self["h"] += ca.vertcat(each(crossing(r), partial), share(partial))
        self["d"] += self.twice(x.partial, partial)
        self["b"] += ca.vertcat(cross(r, f), share(f))
        self["bt"] += self.by(x.partial, f)
        self["hs"] += ca.vertcat(cross(r, steer), share(steer))
        self["st"] += self.by(x.partial, steer)
        self["sb"] += dot(x.steer, f)
        self["kin"] += 0.5 * m * dot(x.rate + swept, x.rate + swept)
        self["lin"] += share(m * (x.rate + swept))

    def turn(self, inertia: SX, t: Motion, principal: SX | None) -> None:
        """An inertia about the centre of mass that turns so."""
        six = symmetric(inertia)
        inertia, w = matrix(six), self.omega + t.rate
        spun = inertia @ w
        torque = inertia @ (t.bias + cross(self.omega, t.rate)) + cross(w, spun)
        own = inertia if principal is None else principal * SX.eye(3)
        partial, steer = own @ t.partial, own @ t.steer
        self["inertia"] += six
        self["h"] += ca.vertcat(partial, SX(3, self.n))
        self["d"] += self.twice(t.partial, partial)
        self["b"] += ca.vertcat(torque, SX(3, 1))
        self["bt"] += self.by(t.partial, torque)
        self["hs"] += ca.vertcat(steer, SX(3, 1))
        self["st"] += self.by(t.partial, steer)
        self["sb"] += dot(t.steer, torque)
        self["kin"] += 0.5 * dot(w, spun)

    def fixed(self, part: Fixed) -> None:
        """What moves with the chassis."""
        six, swept = symmetric(part.inertia), cross(self.omega, part.moment)
        spun = matrix(six) @ self.omega
        self["mass"] += part.mass
        self["moment"] += part.moment
        self["inertia"] += six
        self["b"] += ca.vertcat(cross(self.omega, spun), cross(self.omega, swept))
        self["kin"] += 0.5 * dot(self.omega, spun)
        self["lin"] += swept

    def axial(self, part: Axial) -> None:
        """Its momentum is J (w.e) e, and its energy does not depend on how the axis moves."""
        e, x = part.axis, part.motion
        about = part.inertia * dot(self.omega, e)
        self["inertia"] += part.inertia * symmetric(e @ e.T)
        torque = part.inertia * dot(self.omega, x.rate) * e + about * (x.rate + cross(self.omega, e))
        self["b"] += ca.vertcat(torque, SX(3, 1))
        self["bt"] -= about * self.by(x.partial, self.omega)
        self["sb"] -= about * dot(x.steer, self.omega)
        self["kin"] += 0.5 * about * dot(self.omega, e)

    def across(self, part: Across) -> None:
        """Forces c times the acceleration of b act on a, and of a on b."""
        omega, j, t = self.omega, part.product, part.turn
        w = omega + t.rate
        couple = ca.trace(j) * SX.eye(3) - j.T  # its energy is omega . couple w
        on_body = _moment(j.T, _turning(omega))
        on_chassis = _moment(j, _skew(t.bias + cross(omega, t.rate)) + _turning(w))
        self["inertia"] += symmetric(couple + couple.T)
        self["h"] += ca.vertcat(couple @ t.partial, SX(3, self.n))
        self["b"] += ca.vertcat(on_body + on_chassis, SX(3, 1))
        self["bt"] += self.by(t.partial, on_body)
        self["hs"] += ca.vertcat(couple @ t.steer, SX(3, 1))
        self["sb"] += dot(t.steer, on_body)
        self["kin"] += dot(omega, couple @ w)


def _skew(a: SX) -> SX:
    """Matrix of a x."""
    return ca.blockcat([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _turning(w: SX) -> SX:
    """Matrix of w x (w x ..)."""
    x, y, z = w[0], w[1], w[2]
    return matrix(ca.vertcat(-(y * y + z * z), -(x * x + z * z), -(x * x + y * y), x * y, x * z, y * z))


def _moment(product: SX, m: SX) -> SX:
    """The sum of a x (m b) for the sum of a b^T."""
    p = product @ m.T
    return ca.vertcat(p[1, 2] - p[2, 1], p[2, 0] - p[0, 2], p[0, 1] - p[1, 0])


def total(parts: Sequence[Part], omega: SX, n: int = 1) -> dict[str, SX]:
    """Aggregated quantities of parts on a chassis that turns at ``omega``, for n coordinates.

    mass, moment (first), inertia (xx yy zz xy xz yz about the chassis origin); h (6 x n) momentum per unit rate; d
    (n x n, upper triangle by rows); b (6), bt (n) bias of chassis and coordinates; hs, st (n), sb the same for the
    steering coordinate; kin, lin kinetic energy and linear momentum relative to the chassis origin.
    """
    sums = _Sums(omega, n)
    for part in parts:
        match part:
            case Body():
                sums.point(part.mass, part.com, part.motion, part.weight)
                if part.inertia is not None:
                    sums.turn(part.inertia, part.turn, part.principal)
            case Fixed():
                sums.fixed(part)
            case Axial():
                sums.axial(part)
            case Across():
                sums.across(part)
    return sums
