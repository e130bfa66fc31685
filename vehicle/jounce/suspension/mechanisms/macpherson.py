"""A MacPherson corner: lower arm, upright with the strut's tube, tierod; as a mechanism and in closed form."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.dynamics.graph import ROOT
from jounce.dynamics.loops import rod_length2
from jounce.dynamics.mechanism import End, Joint, Mechanism, Tubes, Value
from jounce.math.algebra import SX, cross, dot
from jounce.suspension.double_wishbone_linkage import Arm
from jounce.suspension.mechanisms.entries import Entries, chassis


def mechanism(p: Mapping[str, Value], axle: str) -> Mechanism:
    """The strut's top is a point of the chassis on a line of the upright; spring and shock stand on that line.

    STRUT_U is where the line begins on the upright, STRUT_C the top. The strut's rod has its centre of mass
    `strut.com_from_top` below the top.
    """
    e = Entries(p, axle)
    at, number = e.point, e.number
    foot, top = End("upright", at("STRUT_U")), chassis(at("STRUT_C"))
    strut = Tubes("strut", foot, top, SX(0), SX(0), SX(0), SX(0), number("strut.com_from_top"), number("strut.mass"),
                  number("strut.inertia.xx"), number("strut.inertia.zz"), single=True)  # fmt: skip
    tierod = e.rod("tierod", End("TIEROD_C", at("TIEROD_C")), End("upright", at("TIEROD_U")))
    return Mechanism(
        axle, ("lower_arm",),
        (e.arm("LCA"), e.body("upright", "UPRIGHT")),
        (
            Joint("lower_arm", "revolute", ROOT, "LCA", at("LCA_B"), at("LCA_F") - at("LCA_B")),
            Joint("lower_ball", "spherical", "LCA", "upright", at("LCA_U")),
            Joint("strut_top", "point_on_line", "upright", ROOT, top.point, top.point - foot.point, cut=True),
        ),
        rods=(tierod,),
        wheels=(e.wheel("upright"),), tubes=(strut,), forces=e.forces((foot, top), (foot, top)),
        prescribed={"TIEROD_C": at("TIEROD_C")}, closed_form=None if tierod.compliant else closed_form,
    )  # fmt: skip


def closed_form(m: Mechanism, theta: SX, places: Mapping[str, SX]) -> dict[str, SX]:
    """Turn of the upright out of its design position, without iteration (`jounce.dynamics.mechanism.ClosedForm`).

    With U the ball joint, C the strut's top, both now, and a line of the upright through C - U of the design position
    with the direction d: the point X of that line that is at C now has the distance |C - U| from U. So X = X0 + t d
    with t = -X0.d +- sqrt((X0.d)^2 + |C - U|^2 - X0.X0). The turns that take X to Y = C - U have the Gibbs vectors

        (X x Y + z (X + Y)) / (Y.Y + X.Y)

    where z / |Y| is the tangent of half the turn about Y behind the shortest of them. With K0 the tierod's arm after
    the shortest one, K its arm now and w its inner end, all from U, |K - w| = L asks a cos + b sin = c of the turn
    about Y; gap = c - a = (|K0 - w|^2 - L^2) / 2 and r^2 = a^2 + b^2 - c^2 give the tangent gap / (b +- r), which is
    that of the smaller turn. Both signs are those of the design position, where X = Y and z = 0. The roots vanish where
    the loops are at their dead centre, so that between there and the design position the assembly is the same.
    """
    hinge, ball, strut = m.joints
    [rod] = m.rods
    outer, inner = (rod.a, rod.b) if rod.a.on == strut.a else (rod.b, rod.a)
    design = SX(ball.point)
    joint, _, _ = Arm(SX(hinge.point), SX(hinge.axis), ca.cos(theta), ca.sin(theta)).at(design)
    x0, d, arm = SX(strut.point) - design, SX(strut.axis), SX(outer.point) - design
    y = SX(strut.point) - joint
    square, b = dot(y, y), dot(x0, d)
    root = ca.sqrt(ca.fmax(b * b - dot(x0, x0) + square, 0.0))
    x = x0 + d * (b / ca.fabs(b) * root - b)
    both, inverse = x + y, 1 / (square + dot(x, y))
    share = dot(x, arm) / square
    k0, w = arm - both * (dot(both, arm) * inverse) + y * (2 * share), places[inner.on] - joint
    off, across = k0 - w, dot(cross(y, k0), w)
    gap = (dot(off, off) - rod_length2(rod)) / 2
    a = dot(k0, w) - share * dot(y, w)
    first = dot(cross(x0, arm), SX(inner.point) - design)
    r = first / ca.fabs(first) * ca.sqrt(ca.fmax(across * across - square * gap * (gap + 2 * a), 0.0))
    return {strut.a: (cross(x, y) + both * (gap * square / (across + r))) * inverse}
