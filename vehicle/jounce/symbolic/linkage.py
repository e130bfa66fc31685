"""Kinematics of one double-wishbone corner: closed-form positions, and motions of its points and bodies.

Letters of Jain 2016, Fig. 5: lower arm A-D, upright D-F, upper arm F-G, tierod K-L. All vectors are in chassis
axes. The front linkage is spatial, hence the closed form on circles and spheres in place of the planar Eqs.
15-22; velocities (X, Eq. 9) and velocity products (X-dot theta-dot, Eq. 14) follow from the loops' constraints,
differentiated, and from the motion of rigid bodies.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from jounce.symbolic.algebra import SX, circle_sphere, cross, dot, turned, unit


@dataclass(frozen=True)
class Pose:
    """Positions of one corner for one theta and one inner tierod end, in chassis axes [m]."""

    upper_cs: SX
    """cos and sin of the upper arm's angle."""
    D: SX
    F: SX
    K: SX
    triad: SX
    """Upright axes as columns; the third is the kingpin axis D-F."""
    margins: SX
    """Discriminants [m4] of the upper-arm loop and the tierod loop; negative where they cannot close."""


@dataclass(frozen=True)
class Motion:
    """First and second time derivative of a point or an angle: how it follows theta, the Pitman arm and time."""

    unit: SX
    """Per unit theta rate."""
    steer: SX
    """Per unit rate of the Pitman arm, theta at rest."""
    rate: SX
    """Velocity relative to the chassis."""
    bias: SX
    """The part of the acceleration that is not `unit` times the theta acceleration."""


def pose(theta: SX, end: SX, n: dict[str, SX]) -> Pose:
    """Closed-form forward kinematics of the corner; theta = 0 is the design position, jounce positive.

    ``end`` is the inner tierod end L [m, chassis axes]. Source: Jain 2016, sections 5.1-5.3, in space.
    """
    d = n["A"] + turned(n["D0"] - n["A"], ca.cos(theta), ca.sin(theta), n["a1"])
    # F on a circle about the upper-arm axis, at the distance |DF| from D
    arm = n["F0"] - n["G"]
    along = n["a2"] * dot(n["a2"], arm)
    across = arm - along
    side = cross(n["a2"], arm)
    w = n["G"] + along - d
    cu, su, margin_upper = circle_sphere(
        2 * dot(across, w), 2 * dot(side, w), n["df2"] - dot(w, w) - dot(across, across), n["branch_upper"]
    )
    f = n["G"] + along + across * cu + side * su
    # K on a circle about the kingpin axis D-F, at the distance |KL| from L
    king = unit(f - d)
    e1 = unit(n["a1"] - king * dot(king, n["a1"]))
    e2 = cross(king, e1)
    kb = n["kb"]
    w = d + king * kb[2] - end
    out, turn = e1 * kb[0] + e2 * kb[1], e2 * kb[0] - e1 * kb[1]
    ck, sk, margin_tierod = circle_sphere(
        2 * dot(out, w), 2 * dot(turn, w), n["kl"] - dot(w, w) - kb[0] ** 2 - kb[1] ** 2, n["branch_tierod"]
    )
    triad = ca.horzcat(e1 * ck + e2 * sk, e2 * ck - e1 * sk, king)
    return Pose(ca.vertcat(cu, su), d, f, d + triad @ kb, triad, ca.vertcat(margin_upper, margin_tierod))


@dataclass(frozen=True)
class Linkage:
    """One corner in motion."""

    pose: Pose
    lower: Motion
    """Turn of the lower arm (angular velocity and so on)."""
    upper: Motion
    upright: Motion
    ball: Motion
    """Lower ball joint D."""


def move(i: dict[str, SX], n: dict[str, SX]) -> Linkage:
    """Pose and turns for the corner's inputs (theta, theta_rate, end and its motion) and numbers.

    The turns solve the loops' constraints once and twice differentiated, |DF| = const and |KL| = const (the
    spatial form of Jain 2016, Eqs. 23-32).
    """
    p = pose(i["theta"], i["end"], n)
    rate, still = i["theta_rate"], SX(3, 1)
    lower = Motion(n["a1"], still, n["a1"] * rate, still)
    ball = carried(lower, p.D - n["A"])
    # upper arm: F on its circle moves along DF as D does
    link, swing = p.F - p.D, cross(n["a2"], p.F - n["G"])
    reach = dot(link, swing)
    unit_rate = dot(link, ball.unit) / reach
    turn_rate = unit_rate * rate
    top_rate = swing * turn_rate
    inward = cross(n["a2"], swing) * turn_rate**2
    gap = top_rate - ball.rate
    turn_bias = (dot(link, ball.bias - inward) - dot(gap, gap)) / reach
    upper = Motion(n["a2"] * unit_rate, still, n["a2"] * turn_rate, n["a2"] * turn_bias)
    # upright: D and F give its turn across the kingpin axis, the tierod gives that about it
    king, length = p.triad[:, 2], ca.sqrt(n["df2"])
    r, rod = p.K - p.D, p.K - i["end"]
    reach = dot(rod, cross(king, r))

    def turn(gap: SX, joint: SX) -> SX:
        """Turn for the motions of F and of L, both as seen from D."""
        across = cross(king, gap) / length
        return across + king * (dot(rod, joint - cross(across, r)) / reach)

    unit_turn = turn(swing * unit_rate - ball.unit, -ball.unit)
    w = turn(gap, i["end_velocity"] - ball.rate)
    fast = cross(w, r)
    rod_rate = ball.rate + fast - i["end_velocity"]
    across = (cross(king, swing * turn_bias + inward - ball.bias) + gap * dot(w, king)) / length
    joint = i["end_acceleration"] - ball.bias - cross(w, fast) - cross(across, r)
    bias = across + king * ((dot(rod, joint) - dot(rod_rate, rod_rate)) / reach)
    upright = Motion(unit_turn, turn(still, i["end_unit"]), w, bias)
    return Linkage(p, lower, upper, upright, ball)


def carried(turn: Motion, arm: SX, base: Motion | None = None) -> Motion:
    """Motion of a point at `arm` [m] from a base point, on a body with that turn; without a base from a hinge."""
    v = cross(turn.rate, arm)
    own = Motion(cross(turn.unit, arm), cross(turn.steer, arm), v, cross(turn.bias, arm) + cross(turn.rate, v))
    if base is None:
        return own
    return Motion(base.unit + own.unit, base.steer + own.steer, base.rate + own.rate, base.bias + own.bias)


def difference(a: Motion, b: Motion) -> Motion:
    """Motion of a point as seen from another."""
    return Motion(a.unit - b.unit, a.steer - b.steer, a.rate - b.rate, a.bias - b.bias)


def middle(a: Motion, b: Motion) -> Motion:
    """Motion half-way between two points."""
    return Motion(*(0.5 * (x + y) for x, y in ((a.unit, b.unit), (a.steer, b.steer), (a.rate, b.rate),
                                               (a.bias, b.bias))))  # fmt: skip


def rod_turn(axis: SX, length: SX, end: Motion) -> Motion:
    """Turn of a rod that does not spin about its unit axis, from the motion of one end as seen from the other."""
    w = cross(axis, end.rate) / length
    stretch = dot(axis, end.rate)
    bias = (cross(axis, end.bias) - 2 * stretch * w) / length
    return Motion(cross(axis, end.unit) / length, cross(axis, end.steer) / length, w, bias)
