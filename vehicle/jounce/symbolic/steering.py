"""The Pitman four-bar: arm angle to the inner tierod ends (Jain 2016, section 5.4).

The mechanism is planar in the steering frame, which is tilted about the chassis y axis. The steering
link carries both inner tierod ends (points L of the paper's Fig. 6).
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.symbolic.algebra import SX, circle_sphere, dot

#: Derived numbers of the linkage, in the order of `derived`.
DERIVED = 12 + 3 * 2 + 3 + 9


def _frame(p: Mapping[str, SX]) -> SX:
    """Steering frame axes in chassis axes, as columns: a turn about +y by steering.tilt."""
    c, s = ca.cos(p["steering.tilt"]), ca.sin(p["steering.tilt"])
    return ca.blockcat([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def _point(p: Mapping[str, SX], name: str) -> SX:
    return ca.vertcat(*(p[f"{name}.{a}"] for a in "xyz"))


def derived(p: Mapping[str, SX]) -> SX:
    """The linkage numbers of `inner_ends`, from the vehicle data."""
    frame = _frame(p)
    rev, univ = _point(p, "steering.REV"), _point(p, "steering.UNIV")
    pivot, joint = _point(p, "steering.REVSPH_R"), _point(p, "steering.REVSPH_S")
    origin = _point(p, "steering.origin")
    left = _point(p, "front.origin") + _point(p, "front.TIEROD_C")
    mirrored = ca.vertcat(left[0], -left[1], left[2])
    arm, idler = (univ - rev)[:2], (joint - pivot)[:2]
    link = (joint - univ)[:2]
    length2 = dot(link, link)
    base = (pivot - rev)[:2]
    # design position: idler angle zero, so the branch is the sign that gives cos = 1, sin = 0 there
    w = base - arm
    b = 2 * (-idler[1] * w[0] + idler[0] * w[1])
    branch = ca.if_else(b > 0, -1.0, 1.0)
    inner = [frame.T @ (point - origin) - univ for point in (left, mirrored)]
    along = [(link[0] * d[0] + link[1] * d[1]) / length2 for d in inner]
    across = [(-link[1] * d[0] + link[0] * d[1]) / length2 for d in inner]
    height = [d[2] + univ[2] for d in inner]
    return ca.vertcat(rev[:2], arm, idler, base, length2, branch, along[0], across[0], along[1], across[1],
                      height[0], height[1], origin, ca.reshape(frame, 9, 1), 0, 0, 0, 0)[:DERIVED]


def _perp(v: SX) -> SX:
    """A planar vector turned by a right angle to the left."""
    return ca.vertcat(-v[1], v[0])


def inner_ends(arm_angle: SX, d: SX) -> tuple[SX, SX, SX, SX]:
    """(ends, first, second derivative by the arm angle, linkage discriminant).

    Ends: 6 coordinates [m] of the left and right inner tierod ends, chassis axes. arm_angle [rad] is positive for
    steering left, a turn by minus that angle about the steering z axis. The idler's turn solves |link| = const,
    differentiated once and twice (Jain 2016, section 5.4).
    """
    rev, arm, idler, base = d[0:2], d[2:4], d[4:6], d[6:8]
    length2, branch = d[8], d[9]
    c, s = ca.cos(arm_angle), -ca.sin(arm_angle)
    end = arm * c + _perp(arm) * s
    w = base - end
    a = 2 * (idler[0] * w[0] + idler[1] * w[1])
    b = 2 * (-idler[1] * w[0] + idler[0] * w[1])
    ci, si, disc = circle_sphere(a, b, length2 - dot(w, w) - dot(idler, idler), branch)
    held = idler * ci + _perp(idler) * si
    link = base + held - end
    end1, end2 = -_perp(end), -end
    swing = _perp(held)
    reach = dot(link, swing)
    rate = dot(link, end1) / reach
    link1 = swing * rate - end1
    turn = (dot(link, end2 + held * rate**2) - dot(link1, link1)) / reach
    link2 = swing * turn - held * rate**2 - end2
    frame, origin = ca.reshape(d[19:28], 3, 3), d[16:19]
    ends, first, second = [], [], []
    for k in range(2):
        along, across = d[10 + 2 * k], d[11 + 2 * k]

        def carried(v: SX, along: SX = along, across: SX = across) -> SX:
            return v * along + _perp(v) * across

        ends.append(origin + frame @ ca.vertcat(rev + end + carried(link), d[14 + k]))
        first.append(frame[:, :2] @ (end1 + carried(link1)))
        second.append(frame[:, :2] @ (end2 + carried(link2)))
    return ca.vertcat(*ends), ca.vertcat(*first), ca.vertcat(*second), disc


def function() -> ca.Function:
    """steering(arm angle, rate, acceleration, derived) -> ends, unit velocities, velocities, accelerations.

    Ends 6 [m]; unit velocities d(ends)/d(arm angle) 6 [m/rad]; velocities 6 [m/s]; accelerations 6 [m/s2];
    all in chassis axes, left then right. Last the discriminant of the four-bar.
    """
    angle, rate, acceleration, d = SX.sym("angle"), SX.sym("rate"), SX.sym("acc"), SX.sym("d", DERIVED)
    ends, first, second, disc = inner_ends(angle, d)
    out = ca.vertcat(ends, first, first * rate, second * rate * rate + first * acceleration, disc)
    return ca.Function("steering", [ca.vertcat(angle, rate, acceleration), d], [ca.cse(out)])
