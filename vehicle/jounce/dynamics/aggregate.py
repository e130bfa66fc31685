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


def total(bodies: list[Body], omega: SX) -> dict[str, SX]:
    """Aggregated quantities of bodies on a chassis that turns at ``omega``, for n coordinates.

    mass, moment (first), inertia (xx yy zz xy xz yz about the chassis origin); h (6 x n) momentum per unit rate; d
    (n x n, upper triangle by rows); b (6), bt (n) bias of chassis and coordinates; hs, st (n), sb the same for the
    steering coordinate; kin, lin kinetic energy and linear momentum relative to the chassis origin.
    """
    n = bodies[0].motion.partial.shape[1]
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    sums = {key: SX(*size) for key, size in (("inertia", (6, 1)), ("moment", (3, 1)), ("mass", (1, 1)), ("h", (6, n)),
            ("d", (len(pairs), 1)), ("b", (6, 1)), ("bt", (n, 1)), ("hs", (6, 1)), ("st", (n, 1)), ("sb", (1, 1)),
            ("kin", (1, 1)), ("lin", (3, 1)))}  # fmt: skip

    def by(columns: SX, v: SX) -> SX:
        return ca.vertcat(*(dot(columns[:, k], v) for k in range(n)))

    def twice(left: SX, right: SX) -> SX:
        return ca.vertcat(*(dot(left[:, i], right[:, j]) for i, j in pairs))

    for body in bodies:
        m, r, x, t = body.mass, body.com, body.motion, body.turn
        swept = cross(omega, r)
        f = m * (x.bias + cross(omega, 2 * x.rate + swept))
        moment, partial, steer = m * r, m * x.partial, m * x.steer
        sums["mass"] += m
        sums["moment"] += moment
        sums["inertia"] += _point_inertia(r, moment)
        sums["h"] += ca.vertcat(each(crossing(r), partial), partial)
        sums["d"] += twice(x.partial, partial)
        sums["b"] += ca.vertcat(cross(r, f), f)
        sums["bt"] += by(x.partial, f)
        sums["hs"] += ca.vertcat(cross(r, steer), steer)
        sums["st"] += by(x.partial, steer)
        sums["sb"] += dot(x.steer, f)
        sums["kin"] += 0.5 * m * dot(x.rate + swept, x.rate + swept)
        sums["lin"] += m * (x.rate + swept)
        if body.inertia is None:
            continue
        six = symmetric(body.inertia)
        inertia, w = matrix(six), omega + t.rate
        spun = inertia @ w
        torque = inertia @ (t.bias + cross(omega, t.rate)) + cross(w, spun)
        own = inertia if body.principal is None else body.principal * SX.eye(3)
        partial, steer = own @ t.partial, own @ t.steer
        sums["inertia"] += six
        sums["h"] += ca.vertcat(partial, SX(3, n))
        sums["d"] += twice(t.partial, partial)
        sums["b"] += ca.vertcat(torque, SX(3, 1))
        sums["bt"] += by(t.partial, torque)
        sums["hs"] += ca.vertcat(steer, SX(3, 1))
        sums["st"] += by(t.partial, steer)
        sums["sb"] += dot(t.steer, torque)
        sums["kin"] += 0.5 * dot(w, spun)
    return sums
