"""The Pitman four-bar, which maps the arm angle to the inner tierod ends (Jain 2016, section 5.4).

The mechanism is planar in the steering frame, which is tilted about the chassis y axis. The steering link carries both
inner tierod ends, the points L of the paper's Fig. 6.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.axles import DEFAULT
from jounce.math.algebra import SX, circle_sphere, dot
from jounce.math.layout import Layout

#: Derived numbers of the four-bar, in the steering plane; `branch` is the sign in the solution for the idler's angle.
NUMBERS = Layout(arm=2, idler=2, base=2, length2=1, branch=1)
#: Motion of the steering link in the steering plane: its end on the arm, relative to the arm's axis, and the vector
#: along it, with their partial velocities (per unit rate of the arm angle), velocities and accelerations; then the
#: discriminant of the four-bar.
LINK = Layout(arm=2, link=2, arm_partial=2, link_partial=2, arm_velocity=2, link_velocity=2, arm_acceleration=2,
              link_acceleration=2, discriminant=1)  # fmt: skip
#: Position of an inner tierod end on the link: its origin at the arm's axis in chassis axes; the projection of the
#: steering plane on x, y, z of the chassis (zeros if the end is fixed); its coordinates along and across the link.
INNER_NUMBERS = Layout(origin=3, follows=3, along=1, across=1)
#: Motion of one inner tierod end in chassis axes: position, partial velocity, velocity, acceleration.
INNER = Layout(end=3, end_partial=3, end_velocity=3, end_acceleration=3)


def _frame(p: Mapping[str, SX]) -> SX:
    """Steering frame axes in chassis axes, as columns: a turn about +y by steering.tilt."""
    c, s = ca.cos(p["steering.tilt"]), ca.sin(p["steering.tilt"])
    return ca.blockcat([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def _point(p: Mapping[str, SX], name: str) -> SX:
    return ca.vertcat(*(p[f"{name}.{a}"] for a in "xyz"))


def _link(p: Mapping[str, SX]) -> tuple[SX, SX]:
    """(UNIV, vector from it to REVSPH_S) in the design position, steering axes."""
    univ = _point(p, "steering.UNIV")
    return univ, (_point(p, "steering.REVSPH_S") - univ)[:2]


def linkage_numbers(p: Mapping[str, SX]) -> SX:
    """The vector NUMBERS, from the vehicle data."""
    rev, pivot = _point(p, "steering.REV"), _point(p, "steering.REVSPH_R")
    univ, link = _link(p)
    arm, idler = (univ - rev)[:2], (_point(p, "steering.REVSPH_S") - pivot)[:2]
    base = (pivot - rev)[:2]
    # design position: idler angle zero, so the branch is the sign that gives cos = 1, sin = 0 there
    w = base - arm
    b = 2 * (-idler[1] * w[0] + idler[0] * w[1])
    return NUMBERS.join(arm=arm, idler=idler, base=base, length2=dot(link, link), branch=ca.if_else(b > 0, -1.0, 1.0))


def design_end(p: Mapping[str, SX], axle: str, side: SX | float) -> SX:
    """Inner tierod end of one corner in the design position, chassis axes [m]; side is 1 on the left, -1 on the right.
    """
    end = _point(p, f"{axle}.origin") + _point(p, f"{axle}.TIEROD_C")
    return end * ca.vertcat(1, side, 1)


def fixed_numbers(p: Mapping[str, SX], axle: str, side: SX | float) -> SX:
    """The vector INNER_NUMBERS of a corner that is not steered: the end is a point of the chassis."""
    return INNER_NUMBERS.join(origin=design_end(p, axle, side), follows=SX(3, 1), along=0, across=0)


def geared_numbers(p: Mapping[str, SX], axle: str, side: SX | float, first: str, gain: SX) -> SX:
    """The vector INNER_NUMBERS of a corner of any steered axle.

    The axle has a copy of the linkage of the ``first`` steered one, at the same place of it. Its ends move by ``gain``
    times what they would on the same arm angle; all that follows is linear in that, hence the scaled numbers.
    """
    end = design_end(p, axle, side)
    shift = _point(p, f"{axle}.origin") - _point(p, f"{first}.origin")
    n = INNER_NUMBERS.split(_carried_numbers(p, end - shift))
    origin = end + gain * (n["origin"] + shift - end)
    return INNER_NUMBERS.join(origin=origin, follows=gain * n["follows"], along=n["along"], across=n["across"])


def inner_numbers(p: Mapping[str, SX], axle: str, side: float) -> SX:
    """The vector INNER_NUMBERS of one corner of a vehicle whose axles are those of `DEFAULT`."""
    if axle != DEFAULT[0].name:
        return fixed_numbers(p, axle, side)
    return _carried_numbers(p, design_end(p, axle, side))


def _carried_numbers(p: Mapping[str, SX], end: SX) -> SX:
    frame = _frame(p)
    univ, link = _link(p)
    d = frame.T @ (end - _point(p, "steering.origin")) - univ
    length2 = dot(link, link)
    origin = _point(p, "steering.origin") + frame @ ca.vertcat(_point(p, "steering.REV")[:2], d[2] + univ[2])
    return INNER_NUMBERS.join(
        origin=origin, follows=ca.vertcat(frame[0, 0], frame[1, 1], frame[2, 0]),
        along=(link[0] * d[0] + link[1] * d[1]) / length2, across=(-link[1] * d[0] + link[0] * d[1]) / length2,
    )  # fmt: skip


def _perp(v: SX) -> SX:
    """A planar vector turned by a right angle to the left."""
    return ca.vertcat(-v[1], v[0])


def link_motion(angle: SX, rate: SX, acceleration: SX, n: dict[str, SX]) -> SX:
    """The vector LINK for the arm angle [rad], positive for steering left.

    The arm turns by minus that angle about the steering z axis. The idler's turn solves |link| = const, differentiated
    once and twice (Jain 2016, section 5.4).
    """
    arm, idler, base = n["arm"], n["idler"], n["base"]
    c, s = ca.cos(angle), -ca.sin(angle)
    end = arm * c + _perp(arm) * s
    w = base - end
    a = 2 * (idler[0] * w[0] + idler[1] * w[1])
    b = 2 * (-idler[1] * w[0] + idler[0] * w[1])
    ci, si, disc = circle_sphere(a, b, n["length2"] - dot(w, w) - dot(idler, idler), n["branch"])
    held = idler * ci + _perp(idler) * si
    link = base + held - end
    end1, end2 = -_perp(end), -end
    swing = _perp(held)
    reach = dot(link, swing)
    turned = dot(link, end1) / reach
    link1 = swing * turned - end1
    turn = (dot(link, end2 + held * turned**2) - dot(link1, link1)) / reach
    link2 = swing * turn - held * turned**2 - end2
    fast = rate * rate
    return LINK.join(
        arm=end, link=link, arm_partial=end1, link_partial=link1, arm_velocity=end1 * rate, link_velocity=link1 * rate,
        arm_acceleration=end2 * fast + end1 * acceleration, link_acceleration=link2 * fast + link1 * acceleration,
        discriminant=disc,
    )  # fmt: skip


def inner_motion(link: dict[str, SX], n: dict[str, SX]) -> SX:
    """The vector INNER of one corner."""

    def carried(suffix: str) -> SX:
        own = link[f"link{suffix}"]
        v = link[f"arm{suffix}"] + own * n["along"] + _perp(own) * n["across"]
        return n["follows"] * ca.vertcat(v[0], v[1], v[0])

    return INNER.join(end=n["origin"] + carried(""), end_partial=carried("_partial"), end_velocity=carried("_velocity"),
                      end_acceleration=carried("_acceleration"))  # fmt: skip


def function() -> ca.Function:
    """steering([arm angle, rate, acceleration], NUMBERS) -> LINK."""
    arm, numbers = SX.sym("a", 3), SX.sym("n", NUMBERS.size)
    out = link_motion(arm[0], arm[1], arm[2], NUMBERS.split(numbers))
    return ca.Function("steering", [arm, numbers], [ca.cse(out)])


def inner_function() -> ca.Function:
    """inner(LINK, INNER_NUMBERS) -> INNER."""
    link, numbers = SX.sym("l", LINK.size), SX.sym("n", INNER_NUMBERS.size)
    out = inner_motion(LINK.split(link), INNER_NUMBERS.split(numbers))
    return ca.Function("inner", [link, numbers], [ca.cse(out)])
