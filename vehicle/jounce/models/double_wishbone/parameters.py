"""Computes the derived numbers of the generated functions from the vehicle data, symbolically.

Parameters stay run-time inputs: these expressions are emitted as C and evaluated once, at the end of
initialization. The right side mirrors y of every point and multiplies every rotation axis by -1 (axes are
pseudo-vectors), so that theta and the branch signs are the same left and right.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.axles import CORNERS as CORNERS
from jounce.contact import body as outline
from jounce.contact import tires
from jounce.contact.wheel import Wheel
from jounce.data import Vehicle
from jounce.dynamics.aggregate import together
from jounce.math.algebra import SX, cross, dot, symmetric, turned, unit
from jounce.steering import pitman as steering
from jounce.suspension.double_wishbone import NUMBERS

Numbers = Mapping[str, SX]


def corner_numbers(p: Numbers, axle: str, side: SX | float) -> SX:
    """The vector NUMBERS of one corner; points in the chassis frame [m], design position theta = 0."""

    def point(name: str) -> SX:
        x, y, z = (p[f"{axle}.origin.{a}"] + p[f"{axle}.{name}.{a}"] for a in "xyz")
        return ca.vertcat(x, side * y, z)

    def inertia(body: str) -> SX:
        return ca.vertcat(*(p[f"{axle}.{body}.inertia.{a}"] for a in ("xx", "yy", "zz")))

    def number(name: str) -> SX:
        return p[f"{axle}.{name}"]

    ball, top, centre = point("LCA_U"), point("UCA_U"), point("SPINDLE")
    outer, inner = point("TIEROD_U"), point("TIEROD_C")
    shock_a, shock_c = point("SHOCK_A"), point("SHOCK_C")
    a, g = point("LCA_B"), point("UCA_B")
    a1, a2 = side * unit(point("LCA_F") - a), side * unit(point("UCA_F") - g)
    # upper arm: branch sign such that cos = 1, sin = 0 solves the design position
    arm = top - g
    along = a2 * dot(a2, arm)
    branch_upper = _branch(2 * dot(cross(a2, arm), g + along - ball))
    king = unit(top - ball)
    e1 = unit(a1 - king * dot(king, a1))
    triad = ca.horzcat(e1, cross(king, e1), king)
    kb = triad.T @ (outer - ball)
    w = ball + king * kb[2] - inner
    branch_tierod = _branch(2 * dot(triad[:, 1] * kb[0] - e1 * kb[1], w))
    along = p["wheel.inertia.yy"] + number("spindle.inertia.yy")
    across = p["wheel.inertia.xx"] + number("spindle.inertia.xx")
    left = along * p["driveline.inertia"] / (along + p["driveline.inertia"])  # once the spin is eliminated
    carrier = together((
        (number("upright.mass"), point("UPRIGHT") - ball, ca.diag(inertia("upright"))),
        (p["wheel.mass"] + number("spindle.mass"), centre - ball, ca.diag(ca.vertcat(across, left, across))),
    ))  # fmt: skip
    shock_length = ca.sqrt(dot(shock_c - shock_a, shock_c - shock_a))
    rods = {
        f"{name}_{part}": value
        for name in ("tierod", "shock_lower", "shock_upper")
        for part, value in (
            ("mass", number(f"{name}.mass")),
            ("across", number(f"{name}.inertia.xx")),
            ("along", number(f"{name}.inertia.zz")),
        )
    }
    return NUMBERS.join(
        A=a, a1=a1, D0=ball, lca_com=point("LCA_CM"), lca_y=_arm_y(point, "LCA", a1), shock_a0=shock_a,
        lca_mass=number("LCA.mass"), lca_inertia=inertia("LCA"),
        G=g, a2=a2, F0=top, uca_com=point("UCA_CM"), uca_y=_arm_y(point, "UCA", a2),
        uca_mass=number("UCA.mass"), uca_inertia=inertia("UCA"),
        df2=dot(top - ball, top - ball), branch_upper=branch_upper,
        kb=kb, kl=dot(outer - inner, outer - inner), branch_tierod=branch_tierod,
        carrier_com=triad.T @ carrier[1], carrier_mass=carrier[0],
        carrier_inertia=symmetric(triad.T @ carrier[2] @ triad),
        wheel_centre=triad.T @ (centre - ball), wheel_axis=triad.T @ ca.DM([0, 1, 0]),
        wheel_along=along, shaft=p["driveline.inertia"], wheel_height0=centre[2],
        upright_axes=ca.reshape(triad.T, 9, 1),
        spring_a0=point("SPRING_A"), spring_c=point("SPRING_C"), shock_c=shock_c,
        shock_lower_com=shock_length / 4, shock_upper_com=shock_length / 4,
        k1=number("spring.k1"), k3=number("spring.k3"), table_step=number("spring.table_step"),
        rest_length=number("spring.rest_length"), preload=number("spring.preload"),
        min_length=number("spring.min_length"), max_length=number("spring.max_length"),
        stop_depth=ca.vertcat(*(number(f"stop.depth.{k}") for k in range(11))),
        stop_force=ca.vertcat(*(number(f"stop.force.{k}") for k in range(11))),
        compression=number("shock.compression"), rebound=number("shock.rebound"),
        bump_compression=number("shock.bump_compression"), bump_rebound=number("shock.bump_rebound"),
        shock_min=number("shock.min_length"), shock_max=number("shock.max_length"),
        shock_closed=number("shock.closed_length"), shock_extended=number("shock.extended_length"),
        end_stiffness=number("shock.end_stiffness"), end_damping=number("shock.end_damping"), **rods,
    )  # fmt: skip


def chassis_inertia(p: Numbers, *, linkage: bool = True) -> SX:
    """(mass, first moment 3, inertia 6) about the chassis origin, chassis axes: body, steering link and arm.

    The steering mechanism is treated kinematically (Jain 2016, section 4.1): its masses are points of the chassis in
    the design position. ``linkage``: whether there is a Pitman linkage; a rack is part of the body.
    """

    def steering_point(name: str) -> SX:
        local = ca.vertcat(*(p[f"steering.{name}.{a}"] for a in "xyz"))
        return ca.vertcat(*(p[f"steering.origin.{a}"] for a in "xyz")) + turned(local, c, s, tilt)

    i = {k: p[f"chassis.inertia.{k}"] for k in ("xx", "yy", "zz", "xy", "xz", "yz")}
    own = ca.blockcat([[i["xx"], i["xy"], i["xz"]], [i["xy"], i["yy"], i["yz"]], [i["xz"], i["yz"], i["zz"]]])
    parts = [(p["chassis.mass"], ca.vertcat(*(p[f"chassis.com.{a}"] for a in "xyz")))]
    if linkage:
        tilt, c, s = SX([0, 1, 0]), ca.cos(p["steering.tilt"]), ca.sin(p["steering.tilt"])
        points = (("link", "STEERINGLINK"), ("arm", "PITMANARM"))
        parts += [(p[f"steering.{body}.mass"], steering_point(point)) for body, point in points]
    mass = sum((m for m, _ in parts), SX(0))
    moment = sum((m * r for m, r in parts), SX(3, 1))
    inertia = own + sum((m * (dot(r, r) * SX.eye(3) - r @ r.T) for m, r in parts), SX(3, 3))
    return ca.vertcat(mass, moment, symmetric(inertia))


def outline_points(p: Numbers, name: str, axle: str, side: SX | float) -> SX:
    """outline.POINT of one point of one corner, chassis frame [m]."""

    def mirrored(*where: SX) -> SX:
        return ca.vertcat(where[0], side * where[1], where[2])

    point = mirrored(*(p[f"chassis.outline.{axle}.{name}.{a}"] for a in "xyz"))
    anchor = mirrored(*(p[f"{axle}.origin.{a}"] + p[f"{axle}.SPINDLE.{a}"] for a in "xyz"))
    return outline.POINT.join(point=point, anchor=anchor)


def _branch(b: SX) -> SX:
    return ca.if_else(b > 0, -1.0, 1.0)


def _arm_y(point: object, arm: str, x: SX) -> SX:
    """The y axis of an arm's own frame: z normal to the arm's three joints, x along its hinge."""
    b, f, u = (point(f"{arm}_{k}") for k in "BFU")  # type: ignore[operator]
    return cross(unit(cross(b - u, f - u)), x)


def derive_function(vehicle: Vehicle, corner: ca.Function, wheels: ca.Function) -> ca.Function:
    """derive(vehicle entries in file order) -> numbers of corners, spin axes, wheels, inner ends, points of the
    outline, four-bar, chassis, contact of the outline.

    The first five are interleaved by corner, FL FR RL RR, as the lane functions read them. ``corner`` and ``wheels``
    prepare NUMBERS of corner and wheel for these (`jounce.codegen.prepare`).
    """
    symbols = SX.sym("p", len(vehicle.entries))
    p = {name: symbols[k] for k, name in enumerate(vehicle.entries)}
    corners = [corner_numbers(p, axle, side) for axle, side in CORNERS]
    first = NUMBERS.first
    axial = [ca.vertcat(n[first["wheel_along"]], n[first["shaft"]]) for n in corners]
    wheel = Wheel(tires.find(vehicle.tire))
    kinds = [(vehicle.tires(axle), side if wheel.law.sided else 1.0) for axle, side in CORNERS]
    single = [0.0] * wheel.law.dual
    sets = {(prefix, side): wheels(ca.vertcat(*(p[name] for name in wheel.entries(side, prefix).values()), *single))
            for prefix, side in dict.fromkeys(kinds)}  # fmt: skip
    wheel_numbers = [sets[kind] for kind in kinds]
    inner = [steering.inner_numbers(p, axle, side) for axle, side in CORNERS]
    points = [ca.vertcat(*(outline_points(p, name, axle, side) for name in outline.POINTS)) for axle, side in CORNERS]
    parts = [_interleaved(v) for v in ([corner(n) for n in corners], axial, wheel_numbers, inner, points)]
    contact = ca.vertcat(*(p[f"chassis.contact.{name}"] for name in outline.CONTACT.sizes))
    once = [steering.linkage_numbers(p), chassis_inertia(p), contact]
    return ca.Function("derive", [symbols], [*(ca.cse(v) for v in parts), *once])


def _interleaved(lanes: list[SX]) -> SX:
    return ca.densify(ca.reshape(ca.horzcat(*lanes).T, -1, 1))
