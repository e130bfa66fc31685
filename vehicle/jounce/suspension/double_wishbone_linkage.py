"""Kinematics of one double-wishbone corner: closed-form positions, and motions of its points and bodies.

Letters of Jain 2016, Fig. 5: lower arm A-D, upright D-F, upper arm F-G, tierod K-L. All vectors are in chassis
axes. The front linkage is spatial, hence the closed form on circles and spheres in place of the planar Eqs.
15-22; velocities (X, Eq. 9) and velocity products (X-dot theta-dot, Eq. 14) follow from the loops' constraints,
differentiated, and from the motion of rigid bodies.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from jounce.dynamics.aggregate import Motion
from jounce.math.algebra import SX, circle_sphere, cross, dot, unit


@dataclass(frozen=True)
class Arm:
    """An arm on a hinge of the chassis, turned out of its design position."""

    origin: SX
    axis: SX
    """Unit vector."""
    cos: SX
    sin: SX

    def at(self, point: SX) -> tuple[SX, SX, SX]:
        """(place, vector to it from the axis, velocity at 1 rad/s) of a point given in the design position."""
        rest = point - self.origin
        along, side = self.axis * dot(self.axis, rest), cross(self.axis, rest)
        across = rest - along
        radial, swing = across * self.cos + side * self.sin, side * self.cos - across * self.sin
        return self.origin + along + radial, radial, swing


@dataclass(frozen=True)
class Pose:
    """Positions of one corner for one theta and one inner tierod end, in chassis axes [m]."""

    lower: Arm
    upper: Arm
    D: SX
    F: SX
    K: SX
    triad: SX
    """Upright axes as columns; the third is the kingpin axis D-F."""
    margins: SX
    """Discriminants [m4] of the upper-arm loop and the tierod loop; negative where they cannot close."""


def driven(partial: SX, bias: SX, rate: SX) -> Motion:
    """Motion that theta alone drives, at its rate."""
    return Motion(partial, SX(partial.shape[0], 1), partial * rate, bias)


def swung(turn: Motion, radial: SX, swing: SX) -> Motion:
    """Motion of a point of an arm (`Arm.at`) whose angle has that motion."""
    bias = swing * turn.bias - radial * (turn.rate * turn.rate)
    return Motion(swing * turn.partial, SX(3, 1), swing * turn.rate, bias)


def pose(theta: SX, end: SX, n: dict[str, SX]) -> Pose:
    """Closed-form forward kinematics of the corner; theta = 0 is the design position, jounce positive.

    ``end`` is the inner tierod end L [m, chassis axes]. Source: Jain 2016, sections 5.1-5.3, in space.
    """
    lower = Arm(n["A"], n["a1"], ca.cos(theta), ca.sin(theta))
    d, _, _ = lower.at(n["D0"])
    # F on a circle about the upper-arm axis, at the distance |DF| from D
    centre, across, side = Arm(n["G"], n["a2"], SX(1), SX(0)).at(n["F0"])
    w = centre - across - d
    cu, su, margin_upper = circle_sphere(
        2 * dot(across, w), 2 * dot(side, w), n["df2"] - dot(w, w) - dot(across, across), n["branch_upper"]
    )
    upper = Arm(n["G"], n["a2"], cu, su)
    f, _, _ = upper.at(n["F0"])
    king = (f - d) / ca.sqrt(n["df2"])
    triad, margin_tierod = steered_triad(d, king, n["a1"], n["kb"], end, n["kl"], n["branch_tierod"])
    return Pose(lower, upper, d, f, d + triad @ n["kb"], triad, ca.vertcat(margin_upper, margin_tierod))


def steered_triad(ball: SX, king: SX, along: SX, kb: SX, end: SX, length2: SX, branch: SX) -> tuple[SX, SX]:
    """(axes as columns of an upright that turns about the unit axis ``king`` through ``ball``, discriminant [m4]).

    The third column is ``king``; the first would be ``along`` made normal to it. The turn is such that K = ball + axes
    ``kb`` on a circle about the axis has the distance sqrt(length2) from the tierod's inner ``end``.
    """
    e1 = unit(along - king * dot(king, along))
    e2 = cross(king, e1)
    w = ball + king * kb[2] - end
    out, turn = e1 * kb[0] + e2 * kb[1], e2 * kb[0] - e1 * kb[1]
    c, s, margin = circle_sphere(
        2 * dot(out, w), 2 * dot(turn, w), length2 - dot(w, w) - kb[0] ** 2 - kb[1] ** 2, branch
    )
    return ca.horzcat(e1 * c + e2 * s, e2 * c - e1 * s, king), margin


@dataclass(frozen=True)
class Linkage:
    """One corner in motion."""

    pose: Pose
    lower: Motion
    """Angle of the lower arm about its hinge."""
    upper: Motion
    """Angle of the upper arm about its hinge."""
    upright: Motion
    """Turn of the upright (angular velocity and so on)."""
    ball: Motion
    """Lower ball joint D."""


def move(i: dict[str, SX], n: dict[str, SX]) -> Linkage:
    """Pose and turns for the corner's inputs (theta, theta_rate, end and its motion) and numbers.

    The turns solve the loops' constraints once and twice differentiated, |DF| = const and |KL| = const (the
    spatial form of Jain 2016, Eqs. 23-32).
    """
    p = pose(i["theta"], i["end"], n)
    rate = i["theta_rate"]
    lower = driven(SX(1), SX(0), rate)
    ball = swung(lower, *p.lower.at(n["D0"])[1:])
    # upper arm: F on its circle moves along DF as D does
    link, (_, radial, swing) = p.F - p.D, p.upper.at(n["F0"])
    reach = dot(link, swing)
    rate_partial = dot(link, ball.partial) / reach
    gap_partial = swing * rate_partial - ball.partial
    gap = gap_partial * rate
    inward = -radial * (rate_partial * rate) ** 2
    turn_bias = (dot(link, ball.bias - inward) - dot(gap, gap)) / reach
    upper = driven(rate_partial, turn_bias, rate)
    # upright: D and F give its turn across the kingpin axis, the tierod gives that about it
    king, length = p.triad[:, 2], ca.sqrt(n["df2"])
    r, rod = p.triad @ n["kb"], p.K - i["end"]
    reach = dot(rod, cross(king, r))
    across = cross(king, gap_partial) / length
    turn_partial = across - king * (dot(rod, ball.partial + cross(across, r)) / reach)
    w = turn_partial * rate + king * (dot(rod, i["end_velocity"]) / reach)
    fast = cross(w, r)
    rod_rate = ball.rate + fast - i["end_velocity"]
    across = (cross(king, swing * turn_bias + inward - ball.bias) + gap * dot(w, king)) / length
    joint = i["end_acceleration"] - ball.bias - cross(w, fast) - cross(across, r)
    bias = across + king * ((dot(rod, joint) - dot(rod_rate, rod_rate)) / reach)
    upright = Motion(turn_partial, king * (dot(rod, i["end_partial"]) / reach), w, bias)
    return Linkage(p, lower, upper, upright, ball)
