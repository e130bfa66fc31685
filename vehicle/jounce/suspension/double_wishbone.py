"""One double-wishbone corner as an aggregated body with a single coordinate (Jain 2016, section 3.2).

All vectors are in chassis axes about the chassis reference frame's origin, so the shift operators phi of
Eqs. 4-11 are identities. Kinematics: `jounce.suspension.double_wishbone_linkage`.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from jounce.dynamics.aggregate import Body, Motion, rod_turn, slender, total, turning
from jounce.math.algebra import SX, cross, dot, matrix
from jounce.math.layout import Layout
from jounce.steering.pitman import INNER
from jounce.suspension.double_wishbone_linkage import Arm, Linkage, move, swung
from jounce.suspension.springs import shock_ends, shock_force, spring_force

#: Derived numbers of one corner; `parameters.corner_numbers` fills them from the vehicle data. The carrier is
#: upright, spindle and wheel as one body, in upright axes about D, with the inertia about the spin axis that is
#: left after the spin's elimination.
NUMBERS = Layout(
    A=3, a1=3, D0=3, lca_com=3, lca_y=3, shock_a0=3, lca_mass=1, lca_inertia=3,
    G=3, a2=3, F0=3, uca_com=3, uca_y=3, uca_mass=1, uca_inertia=3, df2=1, branch_upper=1,
    kb=3, kl=1, branch_tierod=1, carrier_com=3, carrier_mass=1, carrier_inertia=6, wheel_centre=3, wheel_axis=3,
    wheel_along=1, shaft=1, wheel_height0=1, upright_axes=9,
    tierod_mass=1, tierod_across=1, tierod_along=1,
    spring_a0=3, spring_c=3, shock_c=3, shock_lower_com=1, shock_lower_mass=1, shock_lower_across=1,
    shock_lower_along=1, shock_upper_com=1, shock_upper_mass=1, shock_upper_across=1, shock_upper_along=1,
    k1=1, k3=1, table_step=1, rest_length=1, preload=1, min_length=1, max_length=1, stop_depth=11, stop_force=11,
    compression=1, rebound=1, bump_compression=1, bump_rebound=1, shock_min=1, shock_max=1,
    shock_closed=1, shock_extended=1, end_stiffness=1, end_damping=1,
)  # fmt: skip

#: States of the corner.
STATES = Layout(theta=1, theta_rate=1, spin_rate=1)

#: What the equations of motion need of a corner.
DYNAMICS = Layout(
    centre=3, axis=3, centre_velocity=3, upright_velocity=3, centre_partial=3, upright_partial=3,
    mass=1, moment=3, inertia=6, momentum=6, d=1, bias=6, bias_theta=1,
    axis_bias=1, margin_upper=1, margin_tierod=1,
)  # fmt: skip
#: What the corner function returns: first those, then what only the output signals need.
OUTPUTS = Layout(
    **DYNAMICS.sizes, spring_length=1, spring_force=1, shock_length=1, shock_rate=1, shock_force=1, spring_energy=1,
    travel=1, travel_partial=1, upright_axes=9, closure=1,
    steer_momentum=6, steer_theta=1, steer_bias=1, centre_steer=3, upright_steer=3, kinetic=1,
    linear_momentum=3,
)  # fmt: skip


@dataclass(frozen=True)
class Geometry:
    """What springs, tires and reports need of the mechanism."""

    link: Linkage
    centre: SX
    centre_motion: Motion
    axis: SX
    """Spin axis, to the left."""
    gaps: SX
    """Errors of the two loops' lengths [m]."""
    strut: SX
    """Unit vector along the shock, from the arm to the chassis."""
    strut_length: SX
    head: Motion
    """Upper end of the shock as seen from the lower."""
    seat: SX
    """Lower end of the spring."""
    seat_motion: Motion


def _bodies(i: dict[str, SX], n: dict[str, SX]) -> tuple[list[Body], Geometry]:
    """The moving bodies, the carrier first, and the geometry."""
    link = move(i, n)
    p, lower, upper, upright = link.pose, link.lower, link.upper, link.upright

    def arm(name: str, arm: Arm, turn: Motion) -> Body:
        com, radial, swing = arm.at(n[f"{name}_com"])
        y = n[f"{name}_y"] * arm.cos + cross(arm.axis, n[f"{name}_y"]) * arm.sin
        j = n[f"{name}_inertia"]
        inertia = j[2] * SX.eye(3) + (j[0] - j[2]) * (arm.axis @ arm.axis.T) + ((j[1] - j[2]) * y) @ y.T
        about = Motion(arm.axis * turn.partial, still, arm.axis * turn.rate, arm.axis * turn.bias)
        return Body(n[f"{name}_mass"], com, swung(turn, radial, swing), inertia, about, j[0])

    def on_lower(point: SX) -> tuple[SX, Motion]:
        place, radial, swing = p.lower.at(point)
        return place, swung(lower, radial, swing)

    def on_upright(local: SX) -> tuple[SX, Motion]:
        r = p.triad @ local
        return p.D + r, link.ball + turning(upright, r)

    still = SX(3, 1)
    com, com_motion = on_upright(n["carrier_com"])
    centre, centre_motion = on_upright(n["wheel_centre"])
    inner = Motion(still, i["end_partial"], i["end_velocity"], i["end_acceleration"])
    outer = link.ball + turning(upright, p.triad @ n["kb"])
    rod, rod_length = p.K - i["end"], ca.sqrt(n["kl"])
    foot, foot_motion = on_lower(n["shock_a0"])
    seat, seat_motion = on_lower(n["spring_a0"])
    strut = n["shock_c"] - foot
    strut_length = ca.sqrt(dot(strut, strut))
    along = strut / strut_length
    head = foot_motion * -1.0  # as seen from the foot
    strut_turn = rod_turn(along, strut_length, head)
    tip = turning(strut_turn, along)
    low, up = n["shock_lower_com"], n["shock_upper_com"]
    bodies = [
        Body(n["carrier_mass"], com, com_motion, p.triad @ matrix(n["carrier_inertia"]) @ p.triad.T, upright),
        arm("lca", p.lower, lower),
        arm("uca", p.upper, upper),
        Body(n["tierod_mass"], 0.5 * (p.K + i["end"]), (outer + inner) * 0.5,
             slender(rod / rod_length, n["tierod_across"], n["tierod_along"]),
             rod_turn(rod / rod_length, rod_length, outer - inner), n["tierod_across"]),
        Body(n["shock_lower_mass"], foot + along * low, foot_motion + tip * low,
             slender(along, n["shock_lower_across"] + n["shock_upper_across"],
                      n["shock_lower_along"] + n["shock_upper_along"]), strut_turn,
             n["shock_lower_across"] + n["shock_upper_across"]),
        Body(n["shock_upper_mass"], n["shock_c"] - along * up, tip * -up, None, strut_turn),
    ]  # fmt: skip
    gaps = ca.vertcat((dot(p.D - p.F, p.D - p.F) - n["df2"]) / (2 * ca.sqrt(n["df2"])),
                      (dot(rod, rod) - n["kl"]) / (2 * ca.sqrt(n["kl"])))  # fmt: skip
    return bodies, Geometry(link, centre, centre_motion, p.triad @ n["wheel_axis"], gaps, along, strut_length, head,
                            seat, seat_motion)  # fmt: skip


def function() -> ca.Function:
    """corner(STATES, steering.INNER, angular velocity 3 of the chassis, NUMBERS) -> OUTPUTS.

    Spatial inertia (mass, first moment, inertia about the chassis origin), momentum per unit theta rate, d = X* M X
    and the bias wrench of the aggregated body, with the wheel's spin already eliminated: (J + Js) spin_acc +
    J e.(rest) = torque leaves J Js / (J + Js) about the axis. The bias holds inertia, spring and shock forces.
    """
    state, inner = SX.sym("x", STATES.size), SX.sym("e", INNER.size)
    omega, num = SX.sym("w", 3), SX.sym("n", NUMBERS.size)
    i, n = STATES.split(state) | INNER.split(inner), NUMBERS.split(num)
    spin = i["spin_rate"]
    bodies, g = _bodies(i, n)
    sums = total(bodies, omega)
    axis, turn, motion = g.axis, g.link.upright, g.centre_motion
    # the spinning wheel's momentum turns with the carrier: w x e (what the carrier's own gyroscopic term lacks)
    w = omega + turn.rate
    along, shaft = n["wheel_along"], n["shaft"]
    hidden = along * along / (along + shaft) * dot(axis, w)
    gyro = (hidden + along * spin) * cross(w, axis)
    sums["b"] += ca.vertcat(gyro, SX(3, 1))
    sums["bt"] += dot(turn.partial, gyro)
    sums["sb"] += dot(turn.steer, gyro)
    sums["kin"] += 0.5 * (hidden * dot(axis, w) + along * spin * (2 * dot(axis, w) + spin) + shaft * spin * spin)

    spring = n["spring_c"] - g.seat
    spring_length = ca.sqrt(dot(spring, spring))
    spring_partial = -dot(spring, g.seat_motion.partial) / spring_length
    shock_rate = dot(g.strut, g.head.rate)
    f_spring, energy = spring_force(spring_length, n)
    f_end, end_energy = shock_ends(g.strut_length, shock_rate, n)
    f_shock = shock_force(g.strut_length, shock_rate, n) + f_end
    out = OUTPUTS.join(**{
        "centre": g.centre, "axis": axis, "centre_velocity": motion.rate, "upright_velocity": turn.rate,
        "centre_partial": motion.partial, "upright_partial": turn.partial,
        "mass": sums["mass"], "moment": sums["moment"], "inertia": sums["inertia"],
        "momentum": sums["h"], "d": sums["d"], "bias": sums["b"],
        "bias_theta": sums["bt"] - f_spring * spring_partial - f_shock * dot(g.strut, g.head.partial),
        "axis_bias": dot(axis, turn.bias + cross(omega, turn.rate)),
        "margin_upper": g.link.pose.margins[0], "margin_tierod": g.link.pose.margins[1],
        "spring_length": spring_length, "spring_force": f_spring, "shock_length": g.strut_length,
        "shock_rate": shock_rate, "shock_force": f_shock, "spring_energy": energy + end_energy,
        "travel": g.centre[2] - n["wheel_height0"], "travel_partial": motion.partial[2],
        "upright_axes": ca.reshape(g.link.pose.triad @ ca.reshape(n["upright_axes"], 3, 3), 9, 1),
        "closure": ca.fmax(ca.fabs(g.gaps[0]), ca.fabs(g.gaps[1])),
        "steer_momentum": sums["hs"], "steer_theta": sums["st"], "steer_bias": sums["sb"],
        "centre_steer": motion.steer, "upright_steer": turn.steer, "kinetic": sums["kin"],
        "linear_momentum": sums["lin"],
    })  # fmt: skip
    return ca.Function("corner", [state, inner, omega, num], [ca.cse(out)])
