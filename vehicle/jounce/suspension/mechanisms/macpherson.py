"""A MacPherson corner: lower arm, upright with the strut's tube, tierod; as a mechanism and in closed form."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.dynamics.graph import ROOT
from jounce.dynamics.mechanism import End, Joint, Mechanism, Tubes, Value
from jounce.math.algebra import SX, cross, dot, unit
from jounce.suspension.double_wishbone_linkage import Arm, steered_triad
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
    return Mechanism(
        axle, ("lower_arm",),
        (e.arm("LCA"), e.body("upright", "UPRIGHT")),
        (
            Joint("lower_arm", "revolute", ROOT, "LCA", at("LCA_B"), at("LCA_F") - at("LCA_B")),
            Joint("lower_ball", "spherical", "LCA", "upright", at("LCA_U")),
            Joint("strut_top", "point_on_line", "upright", ROOT, top.point, top.point - foot.point, cut=True),
        ),
        rods=(e.rod("tierod", End("TIEROD_C", at("TIEROD_C")), End("upright", at("TIEROD_U"))),),
        wheels=(e.wheel("upright"),), tubes=(strut,), forces=e.forces((foot, top), (foot, top)),
        prescribed={"TIEROD_C": at("TIEROD_C")},
    )  # fmt: skip


def closed_form(p: Mapping[str, Value], axle: str, theta: SX, end: SX) -> tuple[SX, SX]:
    """(lower ball joint, rotation of the upright out of its design position) of the left side, without iteration.

    ``theta`` is the lower arm's angle, ``end`` the place of the tierod's inner end [m]. With U the ball joint, C the
    strut's top, S and d foot and direction of the strut in the upright about U in the design position: the point of the
    strut's line that is at C now has the distance |C - U| from U, so X = S + t d with t = -S.d + sqrt((S.d)^2 - S.S +
    |C - U|^2). The upright takes X to C - U, and its turn about that line solves A cos + B sin = C of the tierod as for
    the double wishbone (`steered_triad`).
    """
    e = Entries(p, axle)
    back, design, top, foot, outer = (e.point(n) for n in ("LCA_B", "LCA_U", "STRUT_C", "STRUT_U", "TIEROD_U"))
    hinge = unit(e.point("LCA_F") - back)
    ball, _, _ = Arm(back, hinge, ca.cos(theta), ca.sin(theta)).at(design)
    s, d, tie = foot - design, unit(top - foot), outer - design
    across = top - ball
    along = dot(s, d)
    x = s + d * (ca.sqrt(along * along - dot(s, s) + dot(across, across)) - along)

    def local(line: SX) -> tuple[SX, SX]:
        """(axes about a line of the upright in the design position, the tierod's outer end in them)."""
        king = unit(line)
        e1 = unit(hinge - king * dot(king, hinge))
        axes = ca.horzcat(e1, cross(king, e1), king)
        return axes, axes.T @ tie

    axes, kb = local(top - design)
    inner = e.point("TIEROD_C")
    out = design + axes[:, 2] * kb[2] - inner
    branch = ca.if_else(dot(axes[:, 1] * kb[0] - axes[:, 0] * kb[1], out) > 0, -1.0, 1.0)
    axes, kb = local(x)
    triad, _ = steered_triad(ball, unit(across), hinge, kb, end, dot(outer - inner, outer - inner), branch)
    return ball, triad @ axes.T
