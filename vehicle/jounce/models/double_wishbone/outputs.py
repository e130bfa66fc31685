"""The output signals of the vehicle, computed from states, corner and wheel quantities.

Layouts carry the names of the signal table without their prefix, in its order; the emitter refuses to write a
report that differs from the table.
"""

from __future__ import annotations

import casadi as ca

from jounce.contact import wheel
from jounce.contact.tires import Law
from jounce.dynamics.articulated import ARTICULATED_BODY, LOADS
from jounce.dynamics.articulated_pair import REACTION, lanes_of, propeller, shafts, solved
from jounce.math.algebra import SX, cross, dot, matrix, rotation
from jounce.math.layout import Layout
from jounce.suspension import double_wishbone as corner
from jounce.suspension.embedded import TAIL

#: Own coordinates of one corner.
OWN = Layout(spin=1, theta=1, theta_rate=1, spin_rate=1)
#: Signals `wheel_XX.*`.
WHEEL = Layout(
    pos=3, rot=4, lin_vel=3, ang_vel=3, omega=1, angle=1, steer=1, inclination=1, arm_angle=1, travel=1, travel_rate=1,
    spring_length=1, spring_force=1, shock_length=1, shock_rate=1, shock_force=1, tire_force=3, tire_moment=3, slip=1,
    slip_angle=1, deflection=1, query_point=3,
)  # fmt: skip
#: What the corners give to sums over the vehicle: height is the first moment's, about the world's origin [kg m].
SHARE = Layout(kinetic=1, height=1, springs=1, steering=1, closure=1)
#: Signals before the wheels'.
CHASSIS = Layout(**{
    "ref_frame.pos": 3, "ref_frame.rot": 4, "ref_frame.lin_vel": 3, "ref_frame.ang_vel": 3, "ref_frame.yaw": 1,
    "ref_frame.pitch": 1, "ref_frame.roll": 1, "com.pos": 3, "com.lin_vel": 3, "com.lin_acc": 3,
    "imu.specific_force": 3, "imu.ang_vel": 3, "speed": 1, "sideslip": 1,
})  # fmt: skip
#: Those of them that are angles; the report gives their opposite sides (y of atan2), and apart their adjacent ones.
ANGLES = Layout(**{"ref_frame.yaw": 1, "ref_frame.pitch": 1, "ref_frame.roll": 1, "sideslip": 1})
#: Numbers of the chassis report: inertia (mass, first moment, inertia about the origin), points, gravity.
NUMBERS = Layout(own=10, com=3, imu=3, gravity=1)
#: Speed [m/s] below which no sideslip is reported.
STANDING = 1e-3


def product(a: SX, b: SX) -> SX:
    """Quaternion product, w x y z."""
    v, w = a[1:4], b[1:4]
    return ca.vertcat(a[0] * b[0] - dot(v, w), a[0] * w + b[0] * v + cross(v, w))


def small_turn(axes: SX) -> SX:
    """Quaternion w x y z of a rotation matrix whose angle is less than a right angle."""
    w = 0.5 * ca.sqrt(ca.fmax(1 + axes[0, 0] + axes[1, 1] + axes[2, 2], 1.0))
    v = ca.vertcat(axes[2, 1] - axes[1, 2], axes[0, 2] - axes[2, 0], axes[1, 0] - axes[0, 1])
    return ca.vertcat(w, v / (4 * w))


def steering_load(
    part: dict[str, SX], load: dict[str, SX], acceleration: SX, theta: SX, axial: SX, driven: SX | None = None
) -> SX:
    """Contribution of one corner to the torque [N.m] of the linkage on the Pitman arm, left positive.

    It is the virtual work of a unit rotation of the arm at fixed chassis and theta: applied minus inertia forces
    (Jain 2016, Eqs. 9-11 with the arm's column of X); wheel spin eliminated as in `articulated.inward_sweep`.
    ``axial``: inertias of wheel and shaft about the spin axis; ``driven``: moment [N.m] with which the drive turns the
    upright, about the spin axis where it is not told.
    """
    along, shaft = axial[0], axial[1]
    torque = dot(part["axis"], load["moment"]) + load["drive"] + load["brake"]
    kept = part["axis"] * (along / (along + shaft) * torque)
    driven = part["axis"] * load["drive"] if driven is None else driven
    applied = dot(part["upright_steer"], load["moment"] - kept + driven)
    applied += dot(part["centre_steer"], load["force"])
    return applied - dot(part["steer_momentum"], acceleration) - part["steer_theta"] * theta - part["steer_bias"]


def of_wheel(law: Law) -> Layout:
    """WHEEL and the outputs of the tires' law."""
    return Layout(**WHEEL.sizes, **{s.name: 1 for s in law.outputs})


def wheel_function(of: wheel.Wheel) -> ca.Function:
    """report(corner, wheel results, ARTICULATED_BODY, chassis, own, acceleration 6, [along, shaft]) -> of_wheel, SHARE.

    ``of`` is the vehicle's `Wheel`.
    """
    layouts = (corner.OUTPUTS, of.results, ARTICULATED_BODY, wheel.CHASSIS, OWN)
    flat = [SX.sym(f"r{k}", layout.size) for k, layout in enumerate(layouts)]
    acceleration, axial = SX.sym("a", 6), SX.sym("w", 2)
    part, hub, articulated_body, chassis, own = (layout.split(v) for layout, v in zip(layouts, flat, strict=True))
    theta = (articulated_body["epsilon"] - dot(part["momentum"], acceleration)) / part["d"]
    steering = steering_load(part, LOADS.split(hub["loads"]), acceleration, theta, axial)
    found = reported(of, part, hub, chassis, own, part["travel_partial"] * own["theta_rate"], steering)
    return ca.Function("report", [*flat, acceleration, axial], [ca.cse(v) for v in found])


def reported(
    of: wheel.Wheel, part: dict[str, SX], hub: dict[str, SX], chassis: dict[str, SX], own: dict[str, SX],
    travel_rate: SX, steering: SX,
) -> tuple[SX, SX]:  # fmt: skip
    """(of_wheel, SHARE) of a wheel.

    part: `double_wishbone.OUTPUTS`; hub: the wheel's results; own: OWN; steering: its share of the arm's torque.
    """
    r = rotation(chassis["quaternion"])
    axis = part["axis"]
    carrier = chassis["angular"] + part["upright_velocity"]
    report = of_wheel(of.law).join(
        pos=hub["centre"], lin_vel=hub["velocity"],
        rot=product(chassis["quaternion"], small_turn(ca.reshape(part["upright_axes"], 3, 3))),
        ang_vel=r @ (carrier + axis * own["spin_rate"]), omega=own["spin_rate"], angle=own["spin"],
        steer=ca.atan2(-axis[0], axis[1]), inclination=ca.asin(axis[2]), arm_angle=own["theta"],
        travel=part["travel"], travel_rate=travel_rate,
        spring_length=part["spring_length"], spring_force=part["spring_force"], shock_length=part["shock_length"],
        shock_rate=part["shock_rate"], shock_force=part["shock_force"], tire_force=hub["force"],
        tire_moment=hub["moment"], slip=hub["slip"], slip_angle=hub["slip_angle"], deflection=hub["deflection"],
        query_point=hub["query"], **{s.name: hub[s.name] for s in of.law.outputs},
    )  # fmt: skip
    share = SHARE.join(
        kinetic=part["kinetic"] + part["mass"] * (0.5 * dot(chassis["linear"], chassis["linear"]))
        + dot(part["linear_momentum"], chassis["linear"]),
        height=part["mass"] * chassis["position"][2] + dot(r[2, :].T, part["moment"]),
        springs=part["spring_energy"], steering=steering, closure=part["closure"],
    )  # fmt: skip
    return report, share


def pair_function(of: wheel.Wheel, name: str = "report_pair") -> ca.Function:
    """NAME(OUTPUTS l, r, TAIL l, r, wheel results l, r, ARTICULATED_BODY l, r, chassis, OWN l, r, acceleration 6, axial
    l, r, REACTION) -> of_wheel l, r, SHARE l, r.
    """  # fmt: skip
    layouts = (corner.OUTPUTS, TAIL, of.results, ARTICULATED_BODY, OWN)
    flat = [[SX.sym(f"{k}{side}", layout.size) for side in "lr"] for k, layout in enumerate(layouts)]
    outputs, tails, hubs, bodies, own = (
        [layout.split(v) for v in pair] for layout, pair in zip(layouts, flat, strict=True)
    )
    axial, state = [SX.sym(f"w{side}", 2) for side in "lr"], SX.sym("x", wheel.CHASSIS.size)
    acceleration, reaction, chassis = SX.sym("a", 6), SX.sym("r", REACTION), wheel.CHASSIS.split(state)
    parts = [out | tail for out, tail in zip(outputs, tails, strict=True)]
    rest = [body["epsilon"] - dot(part["momentum"], acceleration) for body, part in zip(bodies, parts, strict=True)]
    theta = solved(lanes_of(*parts), *rest)
    found = []
    for k, part in enumerate(parts):
        load = LOADS.split(hubs[k]["loads"])
        steering = steering_load(part, load, acceleration, theta[k], axial[k], shafts(part, load["drive"], reaction))
        steering += dot(parts[0]["body_steer"], propeller(load["drive"], reaction))
        rate = part["travel_partial"] * own[k]["theta_rate"] + part["travel_other"] * own[1 - k]["theta_rate"]
        found.append(reported(of, part, hubs[k], chassis, own[k], rate, steering))
    before, states = [v for pair in flat[:-1] for v in pair], flat[-1]
    inputs = [*before, state, *states, acceleration, *axial, reaction]
    return ca.Function(name, inputs, [ca.cse(v) for kind in zip(*found, strict=True) for v in kind])


def chassis_function() -> ca.Function:
    """chassis_report(chassis, acceleration 6 less gravity, NUMBERS) -> CHASSIS, (kinetic, height) of it, ANGLES.

    `angle_function` makes the angles of CHASSIS and ANGLES.
    """
    state, acceleration, numbers = SX.sym("x", wheel.CHASSIS.size), SX.sym("a", 6), SX.sym("n", NUMBERS.size)
    x, n = wheel.CHASSIS.split(state), NUMBERS.split(numbers)
    q, omega, linear = x["quaternion"], x["angular"], x["linear"]
    r = rotation(q)
    alpha, felt = acceleration[:3], acceleration[3:]

    def at(point: SX) -> SX:
        return felt + cross(alpha, point) + cross(omega, cross(omega, point))

    velocity = linear + cross(omega, n["com"])
    moving = ca.sqrt(velocity[0] ** 2 + velocity[1] ** 2) > STANDING
    report = CHASSIS.join(**{
        "ref_frame.pos": x["position"], "ref_frame.rot": q, "ref_frame.lin_vel": r @ linear, "ref_frame.ang_vel": omega,
        "ref_frame.yaw": r[1, 0], "ref_frame.pitch": -r[2, 0], "ref_frame.roll": r[2, 1],
        "com.pos": x["position"] + r @ n["com"], "com.lin_vel": velocity,
        "com.lin_acc": at(n["com"]) - r.T @ ca.vertcat(0, 0, n["gravity"]),
        "imu.specific_force": at(n["imu"]), "imu.ang_vel": omega,
        "speed": velocity[0], "sideslip": ca.if_else(moving, velocity[1], 0.0),
    })  # fmt: skip
    adjacent = ANGLES.join(**{
        "ref_frame.yaw": r[0, 0], "ref_frame.pitch": ca.sqrt(r[2, 1] ** 2 + r[2, 2] ** 2), "ref_frame.roll": r[2, 2],
        "sideslip": ca.if_else(moving, velocity[0], 1.0),
    })  # fmt: skip
    mass, moment, inertia = n["own"][0], n["own"][1:4], n["own"][4:10]
    kinetic = 0.5 * (mass * dot(linear, linear) + dot(omega, matrix(inertia) @ omega)) + dot(
        linear, cross(omega, moment)
    )
    height = mass * x["position"][2] + dot(r[2, :].T, moment)
    out = [ca.cse(report), ca.vertcat(kinetic, height), ca.cse(adjacent)]
    return ca.Function("chassis_report", [state, acceleration, numbers], out)


def angle_function() -> ca.Function:
    """angle(opposite, adjacent) -> angle [rad]."""
    y, x = SX.sym("y"), SX.sym("x")
    return ca.Function("angle", [y, x], [ca.atan2(y, x)])
