"""The whole right-hand side as one expression, for checks and analysis in Python.

The emitted C calls the same corner four times instead (a monolith is slower and compiles for a minute); this
composition is what the tests integrate. Free-rolling wheels on a plane, TMeasy tires.
"""

from __future__ import annotations

import casadi as ca

from jounce.data import Vehicle
from jounce.symbolic import articulated, corner, motion, parameters, steering, wheel
from jounce.symbolic.algebra import SX, rotation
from jounce.symbolic.layout import Layout
from jounce.symbolic.reports import steering_load

#: The states: chassis pose, arm angles, spin angles, velocities in chassis axes, their rates, bristles (x, y).
STATES = Layout(position=3, quaternion=4, theta=4, spin=4, angular=3, linear=3, theta_rate=4, spin_rate=4, bristle=8)
#: What `right_hand_side` is told: Pitman-arm motion, wheel drive torques, friction and height of the plane, and an
#: external [moment; force] on the chassis about its origin, chassis axes.
INPUTS = Layout(arm=3, drive=4, friction=1, height=1, gravity=1, wrench=6)
#: Reports of each wheel: contact force and moment, slip, slip angle, deflection, wheel centre and axis in the world,
#: force of the front tierod, as if massless, on the steering link in chassis axes.
REPORTS = Layout(force=3, moment=3, slip=1, slip_angle=1, deflection=1, centre=3, axis=3, tierod=3)


def right_hand_side(vehicle: Vehicle) -> ca.Function:
    """f(state, input) -> (state rate, reports of FL FR RL RR), the vehicle's numbers baked in."""
    p = {name: SX(entry.value) for name, entry in vehicle.entries.items()}
    state, given = SX.sym("x", STATES.size), SX.sym("u", INPUTS.size)
    x, u = STATES.split(state), INPUTS.split(given)
    r, omega = rotation(x["quaternion"]), x["angular"]
    chassis = wheel.CHASSIS.join(**{name: x[name] for name in wheel.CHASSIS.sizes})
    link = steering.function()(u["arm"], ca.evalf(steering.linkage_numbers(p)))
    part, contact, join = corner.function(), wheel.function(), articulated.eliminate_function()
    wheel_numbers = ca.vertcat(*(p[name] for name in wheel.NUMBERS.sizes))
    corners, inners, hubs, gathered, axials = [], [], [], [], []
    for k, (axle, side) in enumerate(parameters.CORNERS):
        numbers = ca.evalf(parameters.corner_numbers(p, axle, side))
        inner = steering.inner_function()(link, ca.evalf(steering.inner_numbers(p, axle, side)))
        out = part(ca.vertcat(x["theta"][k], x["theta_rate"][k], x["spin_rate"][k]), inner, omega, numbers)
        c = corner.OUTPUTS.split(out)
        plane = wheel.GIVEN.join(
            drive=u["drive"][k], brake=0, force=SX(3, 1), moment=SX(3, 1), point=SX(3, 1), friction=u["friction"],
            ground=ca.vertcat(0, 0, u["height"]), normal=SX([0, 0, 1]), height_only=0, external=0,
        )  # fmt: skip
        moving = ca.vertcat(x["spin_rate"][k], x["bristle"][2 * k : 2 * k + 2], 0)
        hub = wheel.HUB.join(**{name: c[name] for name in wheel.HUB.sizes})
        axials.append(ca.vertcat(*(numbers[corner.NUMBERS.first[n]] for n in ("wheel_along", "shaft"))))
        corners.append(out)
        inners.append(steering.INNER.split(inner))
        hubs.append(wheel.RESULTS.split(contact(hub, chassis, moving, plane, wheel_numbers)))
        gathered.append(join(out, hubs[k]["loads"], axials[k]))
    total = sum((g[:27] for g in gathered), SX(27, 1))
    own = ca.evalf(parameters.chassis_inertia(p))
    acceleration = articulated.chassis_function()(own, omega, total, u["wrench"])
    expand = articulated.expand_function()
    back = [expand(corners[k], gathered[k], acceleration, axials[k]) for k in range(4)]
    reports = []
    for k, (axle, side) in enumerate(parameters.CORNERS):
        c, end, result = corner.OUTPUTS.split(corners[k]), inners[k], hubs[k]
        held = ca.vertcat(*(p[f"{axle}.TIEROD_U.{a}"] - p[f"{axle}.SPINDLE.{a}"] for a in "xyz"))
        rod = c["centre"] + ca.reshape(c["upright_axes"], 3, 3) @ (held * SX([1, side, 1])) - end["end"]
        # a massless tierod pulls along itself; its work in a unit turn of the arm is the corner's share of the torque
        load = articulated.LOADS.split(result["loads"])
        work = steering_load(c, load, acceleration, back[k][0], SX(axials[k][0]), SX(axials[k][1]))
        force = rod * work / ca.dot(rod, end["end_unit"]) if k < 2 else SX(3, 1)
        shown = {name: result[name] for name in ("force", "moment", "slip", "slip_angle", "deflection", "centre")}
        reports.append(REPORTS.join(**shown, axis=r @ c["axis"], tierod=force))
    position, quaternion, linear = motion.function()(chassis, acceleration[3:], u["gravity"])
    rate = STATES.join(
        position=position, quaternion=quaternion, theta=x["theta_rate"], spin=x["spin_rate"], angular=acceleration[:3],
        linear=linear, theta_rate=ca.vertcat(*(b[0] for b in back)), spin_rate=ca.vertcat(*(b[1] for b in back)),
        bristle=ca.vertcat(*(hub["rates"][:2] for hub in hubs)),
    )  # fmt: skip
    return ca.Function("vehicle", [state, given], [ca.cse(rate), ca.horzcat(*reports)])
