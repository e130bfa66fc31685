"""One double-wishbone corner as an aggregated body with a single coordinate (Jain 2016, section 3.2).

Letters of the paper's Fig. 5: lower arm A-D, upright D-F, upper arm F-G, shock B-J, tierod K-L. All
vectors are in chassis axes about the chassis reference frame's origin, so the shift operators phi of
Eqs. 4-11 are identities. The front linkage is spatial, hence the closed form on circles and spheres in
place of the planar Eqs. 15-22; velocities (X, Eq. 9) and the velocity products (X-dot theta-dot, Eq. 14)
are directional derivatives of the positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from jounce.symbolic.algebra import SX, circle_sphere, cross, dot, matrix, symmetric, turned, unit
from jounce.symbolic.layout import Layout
from jounce.symbolic.springs import shock_force, spring_force

#: Derived numbers of one corner; `parameters.corner_numbers` fills them from the vehicle data.
NUMBERS = Layout(
    A=3, a1=3, D0=3, lca_com=3, lca_y=3, shock_a0=3, lca_mass=1, lca_inertia=3,
    G=3, a2=3, F0=3, uca_com=3, uca_y=3, uca_mass=1, uca_inertia=3, df2=1, branch_upper=1,
    kb=3, kl=1, branch_tierod=1, upright_com=3, upright_mass=1, upright_inertia=6, wheel_centre=3, wheel_axis=3,
    wheel_mass=1, wheel_across=1, wheel_along=1, shaft=1, wheel_height0=1, upright_axes=9,
    tierod_mass=1, tierod_across=1, tierod_along=1,
    spring_a0=3, spring_c=3, shock_c=3, shock_lower_com=1, shock_lower_mass=1, shock_lower_across=1,
    shock_lower_along=1, shock_upper_com=1, shock_upper_mass=1, shock_upper_across=1, shock_upper_along=1,
    k1=1, k3=1, table_step=1, rest_length=1, preload=1, min_length=1, max_length=1, stop_depth=11, stop_force=11,
    compression=1, rebound=1, bump_compression=1, bump_rebound=1, shock_min=1, shock_max=1,
)  # fmt: skip

#: Inputs of the corner function after which the derived numbers follow.
INPUTS = Layout(theta=1, theta_rate=1, spin_rate=1, end=3, end_unit=3, end_velocity=3, end_acceleration=3,
                angular_velocity=3)  # fmt: skip

#: What the corner function returns.
OUTPUTS = Layout(
    centre=3, axis=3, centre_velocity=3, upright_velocity=3, centre_unit=3, upright_unit=3,
    mass=1, moment=3, inertia=6, momentum=6, d=1, bias=6, bias_theta=1,
    axis_bias=1, margin_upper=1, margin_tierod=1,
    spring_length=1, spring_force=1, shock_length=1, shock_rate=1, shock_force=1, spring_energy=1,
    travel=1, travel_unit=1, upright_axes=9, closure=1,
    steer_momentum=6, steer_theta=1, steer_bias=1, centre_steer=3, upright_steer=3, kinetic=1,
    linear_momentum=3,
)  # fmt: skip


@dataclass(frozen=True)
class Pose:
    """Positions of one corner for one theta and one inner tierod end, in chassis axes [m]."""

    theta_cs: SX
    upper_cs: SX
    D: SX
    F: SX
    K: SX
    triad: SX
    shock_a: SX
    spring_a: SX
    margins: SX

    def stacked(self) -> SX:
        """All quantities whose derivatives are needed, in one column."""
        return ca.vertcat(self.theta_cs, self.upper_cs, self.D, ca.reshape(self.triad, 9, 1), self.K,
                          self.shock_a, self.spring_a)  # fmt: skip


def pose(theta: SX, end: SX, n: dict[str, SX]) -> Pose:
    """Closed-form forward kinematics of the corner; theta = 0 is the design position, jounce positive.

    ``end`` is the inner tierod end L [m, chassis axes]. Source: Jain 2016, sections 5.1-5.3, in space.
    """
    c, s = ca.cos(theta), ca.sin(theta)
    d = n["A"] + turned(n["D0"] - n["A"], c, s, n["a1"])
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
    return Pose(
        ca.vertcat(c, s), ca.vertcat(cu, su), d, f, d + triad @ kb, triad,
        n["A"] + turned(n["shock_a0"] - n["A"], c, s, n["a1"]),
        n["A"] + turned(n["spring_a0"] - n["A"], c, s, n["a1"]),
        ca.vertcat(margin_upper, margin_tierod),
    )  # fmt: skip


@dataclass(frozen=True)
class Body:
    """One rigid body: mass, centre of mass, inertia, and its motion relative to the chassis.

    ``com_motion`` of the centre of mass and ``turn_motion`` of the angles are each (per unit theta rate, per
    unit arm rate, rate, velocity-product part of the acceleration), in chassis axes.
    """

    mass: SX
    com: SX
    inertia: SX
    com_motion: tuple[SX, SX, SX, SX]
    turn_motion: tuple[SX, SX, SX, SX]


def _rod(mass: SX, across: SX, along: SX, axis: tuple[SX, SX, SX, SX, SX], com: tuple[SX, SX, SX, SX, SX]) -> Body:
    """A slender body without spin about its axis; motions given as (value, unit, steer, rate, bias)."""
    u, *du = axis
    w = tuple(cross(u, x) for x in du)
    inertia = across * (SX.eye(3) - u @ u.T) + along * (u @ u.T)
    return Body(mass, com[0], inertia, com[1:], (w[0], w[1], w[2], w[3]))


def _unit_motion(v: tuple[SX, SX, SX, SX, SX]) -> tuple[SX, SX, SX, SX, SX]:
    """The motion of v/|v| from the motion of v: first derivatives and the second one (bias)."""
    x, unit_, steer, rate, bias = v
    r = ca.sqrt(dot(x, x))
    u = x / r

    def first(dx: SX) -> SX:
        return (dx - u * dot(u, dx)) / r

    du = first(rate)
    # d2(x/r) = (x'' - 2 r' u' - r'' u) / r, r' = u.x', r'' = u.x'' + u'.x'
    second = (bias - 2 * dot(u, rate) * du - u * (dot(u, bias) + dot(du, rate))) / r
    return u, first(unit_), first(steer), du, second


def _turn(cs: tuple[SX, SX, SX, SX, SX], axis: SX) -> tuple[SX, SX, SX, SX]:
    """Angular motion about a fixed axis from the motion of (cos, sin)."""
    value, *d = cs
    c, s = value[0], value[1]
    rates = [axis * (c * x[1] - s * x[0]) for x in d]
    return rates[0], rates[1], rates[2], rates[3]


def function() -> ca.Function:
    """corner(inputs, numbers) -> outputs, as named by INPUTS, NUMBERS and OUTPUTS.

    The aggregated body's quantities (Jain 2016, Eqs. 9-11 summed by Eq. 4): spatial inertia (mass, first
    moment, inertia about the chassis origin), momentum per unit theta rate, d = X* M X and the bias wrench,
    with the wheel's spin already eliminated. The bias holds inertia forces and the spring and shock forces.
    """
    x, num = SX.sym("x", INPUTS.size), SX.sym("n", NUMBERS.size)
    i, n = INPUTS.split(x), NUMBERS.split(num)
    theta, end = SX.sym("theta"), SX.sym("L", 3)
    p = pose(theta, end, n)
    q = ca.vertcat(theta, end)
    stack = p.stacked()
    rates = SX.sym("qd", 4)
    units = ca.jtimes(stack, q, ca.horzcat(SX([1, 0, 0, 0]), ca.vertcat(SX(1, 1), i["end_unit"])))
    velocity = ca.jtimes(stack, q, rates)
    second = ca.jtimes(velocity, q, rates) + ca.jtimes(stack, q, ca.vertcat(SX(1, 1), i["end_acceleration"]))
    columns = [stack, units[:, 0], units[:, 1], velocity, second]
    here = [theta, end, rates]
    there = [i["theta"], i["end"], ca.vertcat(i["theta_rate"], i["end_velocity"])]
    columns = ca.substitute(columns, here, there)
    margins = ca.substitute([p.margins, p.F], here, there)

    def part(first: int, last: int) -> tuple[SX, SX, SX, SX, SX]:
        v = [column[first:last] for column in columns]
        return v[0], v[1], v[2], v[3], v[4]

    def linear(f: object, *args: tuple[SX, SX, SX, SX, SX]) -> tuple[SX, SX, SX, SX, SX]:
        v = [f(*(a[k] for a in args)) for k in range(5)]  # type: ignore[operator]
        return v[0], v[1], v[2], v[3], v[4]

    lower, upper = part(0, 2), part(2, 4)
    ball, triad, outer = part(4, 7), part(7, 16), part(16, 19)
    shock_a, spring_a = part(19, 22), part(22, 25)

    def on_upright(local: SX) -> tuple[SX, SX, SX, SX, SX]:
        return linear(lambda o, t: o + ca.reshape(t, 3, 3) @ local, ball, triad)

    def on_arm(cs: tuple[SX, SX, SX, SX, SX], origin: SX, axis: SX, point: SX) -> tuple[SX, SX, SX, SX, SX]:
        r = point - origin
        along = axis * dot(axis, r)
        moved = [(r - along) * v[0] + cross(axis, r) * v[1] for v in cs]
        return origin + along + moved[0], moved[1], moved[2], moved[3], moved[4]

    def arm(name: str, cs: tuple[SX, SX, SX, SX, SX], origin: SX, axis: SX) -> Body:
        com = on_arm(cs, origin, axis, n[f"{name}_com"])
        y = n[f"{name}_y"] * cs[0][0] + cross(axis, n[f"{name}_y"]) * cs[0][1]
        j = n[f"{name}_inertia"]
        inertia = j[2] * SX.eye(3) + (j[0] - j[2]) * (axis @ axis.T) + (j[1] - j[2]) * (y @ y.T)
        return Body(n[f"{name}_mass"], com[0], inertia, com[1:], _turn(cs, axis))

    axes = ca.reshape(triad[0], 3, 3)

    def upright_turn(k: int) -> SX:
        d = ca.reshape(triad[k], 3, 3)
        return 0.5 * sum((cross(axes[:, a], d[:, a]) for a in range(3)), SX(3, 1))

    turn = (upright_turn(1), upright_turn(2), upright_turn(3), upright_turn(4))
    com = on_upright(n["upright_com"])
    centre = on_upright(n["wheel_centre"])
    axis = axes @ n["wheel_axis"]
    upright_inertia = axes @ matrix(n["upright_inertia"]) @ axes.T
    inner = (i["end"], SX(3, 1), i["end_unit"], i["end_velocity"], i["end_acceleration"])
    rod = linear(lambda k, e: k - e, outer, inner)
    mid = linear(lambda k, e: 0.5 * (k + e), outer, inner)
    strut = tuple(-v for v in shock_a)
    strut = (n["shock_c"] + strut[0], *strut[1:])
    u = _unit_motion((strut[0], strut[1], strut[2], strut[3], strut[4]))
    shock_low = linear(lambda a, e: a + e * n["shock_lower_com"], shock_a, u)
    shock_up = linear(lambda e: -e * n["shock_upper_com"], u)
    shock_up = (n["shock_c"] + shock_up[0], *shock_up[1:])
    bodies = [
        arm("lca", lower, n["A"], n["a1"]),
        arm("uca", upper, n["G"], n["a2"]),
        Body(n["upright_mass"], com[0], upright_inertia, com[1:], turn),
        _rod(n["tierod_mass"], n["tierod_across"], n["tierod_along"], _unit_motion(rod), mid),
        _rod(n["shock_lower_mass"], n["shock_lower_across"], n["shock_lower_along"], u, shock_low),
        _rod(n["shock_upper_mass"], n["shock_upper_across"], n["shock_upper_along"], u, shock_up),
    ]
    # wheel: spin eliminated first, (J + Js) spin_acc + J e.(rest) = torque; left about the axis: J Js / (J + Js)
    spin, along, shaft = i["spin_rate"], n["wheel_along"], n["shaft"]
    ee = axis @ axis.T
    left = along * shaft / (along + shaft)
    wheel_bias = turn[3] + cross(turn[2], axis) * spin
    wheel = Body(n["wheel_mass"], centre[0], n["wheel_across"] * (SX.eye(3) - ee) + left * ee, centre[1:],
                 (turn[0], turn[1], turn[2], wheel_bias))  # fmt: skip

    omega = i["angular_velocity"]
    total = {key: SX(size, 1) for key, size in (("inertia", 6), ("moment", 3), ("mass", 1), ("h", 6), ("d", 1),
             ("b", 6), ("bt", 1), ("hs", 6), ("st", 1), ("sb", 1), ("kin", 1), ("lin", 3))}  # fmt: skip
    for body in [*bodies, wheel]:
        m, r = body.mass, body.com
        xr, sr, vr, br = body.com_motion
        xw, sw, vw, bw = body.turn_motion
        w = omega + vw
        acc = br + 2 * cross(omega, vr) + cross(omega, cross(omega, r))
        ang = bw + cross(omega, w)
        f = m * acc
        if body is wheel:
            full = w + axis * spin
            hub = n["wheel_across"] * w + (along - n["wheel_across"]) * axis * dot(axis, w)
            ang = ang + cross(omega, axis) * spin
            gyro = cross(full, hub + along * axis * spin)
            total["kin"] += 0.5 * (dot(w, hub) + along * spin * (2 * dot(axis, w) + spin) + shaft * spin * spin)
            axis_bias = dot(axis, ang)
        else:
            gyro = cross(w, body.inertia @ w)
            total["kin"] += 0.5 * dot(w, body.inertia @ w)
        torque = body.inertia @ ang + gyro
        total["kin"] += 0.5 * m * dot(vr + cross(omega, r), vr + cross(omega, r))
        total["lin"] += m * (vr + cross(omega, r))
        jx, js = body.inertia @ xw, body.inertia @ sw
        total["mass"] += m
        total["moment"] += m * r
        total["inertia"] += symmetric(body.inertia + m * (dot(r, r) * SX.eye(3) - r @ r.T))
        total["h"] += ca.vertcat(jx + m * cross(r, xr), m * xr)
        total["d"] += dot(xw, jx) + m * dot(xr, xr)
        total["b"] += ca.vertcat(torque + cross(r, f), f)
        total["bt"] += dot(xw, torque) + dot(xr, f)
        total["hs"] += ca.vertcat(js + m * cross(r, sr), m * sr)
        total["st"] += dot(xw, js) + m * dot(xr, sr)
        total["sb"] += dot(sw, torque) + dot(sr, f)

    spring = n["spring_c"] - spring_a[0]
    spring_length = ca.sqrt(dot(spring, spring))
    spring_unit = -dot(spring, spring_a[1]) / spring_length
    shock_length = ca.sqrt(dot(strut[0], strut[0]))
    shock_unit, shock_rate = dot(u[0], strut[1]), dot(u[0], strut[3])
    f_spring, energy = spring_force(spring_length, n)
    f_shock = shock_force(shock_length, shock_rate, n)
    f = margins[1]
    gaps = [dot(ball[0] - f, ball[0] - f) - n["df2"], dot(rod[0], rod[0]) - n["kl"]]
    out = OUTPUTS.join(
        centre=centre[0], axis=axis, centre_velocity=centre[3], upright_velocity=turn[2], centre_unit=centre[1],
        upright_unit=turn[0], mass=total["mass"], moment=total["moment"], inertia=total["inertia"],
        momentum=total["h"], d=total["d"], bias=total["b"],
        bias_theta=total["bt"] - f_spring * spring_unit - f_shock * shock_unit, axis_bias=axis_bias,
        margin_upper=margins[0][0], margin_tierod=margins[0][1],
        spring_length=spring_length, spring_force=f_spring, shock_length=shock_length, shock_rate=shock_rate,
        shock_force=f_shock, spring_energy=energy, travel=centre[0][2] - n["wheel_height0"],
        travel_unit=centre[1][2],
        upright_axes=ca.reshape(axes @ ca.reshape(n["upright_axes"], 3, 3), 9, 1),
        closure=ca.fmax(ca.fabs(gaps[0]) / (2 * ca.sqrt(n["df2"])), ca.fabs(gaps[1]) / (2 * ca.sqrt(n["kl"]))),
        steer_momentum=total["hs"], steer_theta=total["st"], steer_bias=total["sb"], centre_steer=centre[2],
        upright_steer=turn[1], kinetic=total["kin"], linear_momentum=total["lin"],
    )  # fmt: skip
    return ca.Function("corner", [x, num], [ca.cse(out)])
