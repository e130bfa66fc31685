"""The whole right-hand side as one expression, for checks and analysis in Python.

The emitted C calls the same corner four times instead (a monolith is slower and compiles for a minute); this
composition is what the tests integrate. Free-rolling wheels on a plane, TMeasy tires.
"""

from __future__ import annotations

import casadi as ca

from jounce.data import Vehicle
from jounce.symbolic import articulated, corner, parameters, steering
from jounce.symbolic.algebra import SX, cross, rotation
from jounce.symbolic.layout import Layout
from jounce.symbolic.reports import steering_load
from jounce.symbolic.tire import PARAMETERS, Hub, Plane, tmeasy

#: The states: chassis pose, arm angles, spin angles, velocities in chassis axes, their rates, bristles (x, y).
STATES = Layout(position=3, quaternion=4, theta=4, spin=4, angular=3, linear=3, theta_rate=4, spin_rate=4, bristle=8)
#: What `right_hand_side` is told: Pitman-arm motion, wheel drive torques, friction and height of the plane, and an
#: external [moment; force] on the chassis about its origin, chassis axes.
INPUTS = Layout(arm=3, drive=4, friction=1, height=1, gravity=1, wrench=6)
#: Reports of each wheel: contact force and moment, slip, slip angle, deflection, wheel centre and axis in the world,
#: force of the front tierod, as if massless, on the steering link in chassis axes.
REPORTS = Layout(force=3, moment=3, slip=1, slip_angle=1, deflection=1, centre=3, axis=3, tierod=3)


def quaternion_rate(q: SX, omega: SX) -> SX:
    """Rate of the quaternion w x y z for the angular velocity in chassis axes [rad/s]."""
    v = q[1:4]
    return 0.5 * ca.vertcat(-ca.dot(v, omega), q[0] * omega + cross(v, omega))


def right_hand_side(vehicle: Vehicle) -> ca.Function:
    """f(state, input) -> (state rate, reports of FL FR RL RR), the vehicle's numbers baked in."""
    p = {name: SX(entry.value) for name, entry in vehicle.entries.items()}
    par = {name: p[f"tire.{name}"] for name in PARAMETERS}
    state, given = SX.sym("x", STATES.size), SX.sym("u", INPUTS.size)
    x, u = STATES.split(state), INPUTS.split(given)
    r, omega = rotation(x["quaternion"]), x["angular"]
    linkage = ca.evalf(steering.derived(p))
    ends = steering.function()(u["arm"], linkage)
    part, join = corner.function(), articulated.eliminate_function()
    plane = Plane(ca.vertcat(0, 0, u["height"]), SX([0, 0, 1]), u["friction"])
    corners, gathered, axials, shown, bristles, rods = [], [], [], [], [], []
    for k, (axle, side) in enumerate(parameters.CORNERS):
        numbers = ca.evalf(parameters.corner_numbers(p, axle, side))
        if k < 2:
            inner = ca.vertcat(*(ends[6 * j + 3 * k : 6 * j + 3 * k + 3] for j in range(4)))
        else:
            y = p[f"{axle}.origin.y"] + p[f"{axle}.TIEROD_C.y"]
            fixed = [p[f"{axle}.origin.{a}"] + p[f"{axle}.TIEROD_C.{a}"] for a in "xz"]
            inner = ca.vertcat(fixed[0], side * y, fixed[1], SX(9, 1))
        out = part(ca.vertcat(x["theta"][k], x["theta_rate"][k], x["spin_rate"][k], inner, omega), numbers)
        c = corner.OUTPUTS.split(out)
        velocity = x["linear"] + cross(omega, c["centre"]) + c["centre_velocity"]
        hub = Hub(x["position"] + r @ c["centre"], r @ velocity, r @ c["axis"],
                  x["spin_rate"][k] + ca.dot(c["axis"], omega + c["upright_velocity"]))  # fmt: skip
        tire = tmeasy(hub, plane, x["bristle"][2 * k : 2 * k + 2], par)
        axial = ca.vertcat(*(numbers[corner.NUMBERS.first[n]] for n in ("wheel_along", "shaft")))
        loads = ca.vertcat(r.T @ tire.force, r.T @ tire.moment, u["drive"][k], 0)
        corners.append(out)
        gathered.append(join(out, loads, axial))
        axials.append(axial)
        bristles.append(tire.rate)
        shown.append({"force": tire.contact_force, "moment": tire.contact_moment, "slip": tire.slip,
                      "slip_angle": tire.slip_angle, "deflection": tire.deflection, "centre": hub.position,
                      "axis": hub.axis})  # fmt: skip
        held = ca.vertcat(*(p[f"{axle}.TIEROD_U.{a}"] - p[f"{axle}.SPINDLE.{a}"] for a in "xyz"))
        outer = c["centre"] + ca.reshape(c["upright_axes"], 3, 3) @ (held * SX([1, side, 1]))
        rods.append((outer - inner[:3], inner[3:6], c, articulated.LOADS.split(loads)))
    total = sum((g[:27] for g in gathered), SX(27, 1))
    own = ca.evalf(parameters.chassis_inertia(p))
    acceleration = articulated.chassis_function()(own, omega, total, u["wrench"])
    expand = articulated.expand_function()
    back = [expand(corners[k], gathered[k], acceleration, axials[k]) for k in range(4)]
    reports = []
    for k, (rod, unit, c, load) in enumerate(rods):
        # a massless tierod pulls along itself; its work in a unit turn of the arm is the corner's share of the torque
        work = steering_load(c, load, acceleration, back[k][0], SX(axials[k][0]), SX(axials[k][1]))
        force = rod * work / ca.dot(rod, unit) if k < 2 else SX(3, 1)
        reports.append(REPORTS.join(**shown[k], tierod=force))
    linear = acceleration[3:] - r.T @ ca.vertcat(0, 0, u["gravity"]) - cross(omega, x["linear"])
    rate = STATES.join(
        position=r @ x["linear"], quaternion=quaternion_rate(x["quaternion"], omega), theta=x["theta_rate"],
        spin=x["spin_rate"], angular=acceleration[:3], linear=linear,
        theta_rate=ca.vertcat(*(b[0] for b in back)), spin_rate=ca.vertcat(*(b[1] for b in back)),
        bristle=ca.vertcat(*bristles),
    )  # fmt: skip
    return ca.Function("vehicle", [state, given], [ca.cse(rate), ca.horzcat(*reports)])
