"""The whole right-hand side as one expression, for checks and analysis in Python.

The emitted C calls the same functions after the same schedule (a monolith is slower and compiles for a minute).
Free-rolling wheels on a plane, TMeasy tires.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from jounce.contact import wheel
from jounce.contact.tires import TMEASY
from jounce.data import Vehicle
from jounce.dynamics import articulated
from jounce.dynamics.schedule import compose
from jounce.math.algebra import SX, rotation
from jounce.math.layout import Layout
from jounce.models.double_wishbone import parameters
from jounce.models.double_wishbone.functions import functions, numbers
from jounce.models.double_wishbone.outputs import steering_load
from jounce.models.double_wishbone.schedule import EVALUATION, MOTION
from jounce.steering import pitman as steering
from jounce.suspension import double_wishbone as corner

WHEEL = wheel.Wheel(TMEASY)
#: States of a tire beside its bristle.
OF_TIRES = ("rolled", "turned", "travelled", "sliding")
#: The states: chassis pose, arm angles, spin angles, velocities in chassis axes, their rates, bristles (x, y) and the
#: other states of the tires.
STATES = Layout(position=3, quaternion=4, theta=4, spin=4, angular=3, linear=3, theta_rate=4, spin_rate=4, bristle=8,
                rolled=4, turned=4, travelled=4, sliding=4)  # fmt: skip
#: What `right_hand_side` is told: Pitman-arm motion, wheel drive torques, friction and height of the plane, and an
#: external [moment; force] on the chassis about its origin, chassis axes.
INPUTS = Layout(arm=3, drive=4, friction=1, height=1, gravity=1, wrench=6)
#: Reports of each wheel: contact force and moment, slip, slip angle, deflection, wheel centre and axis in the world,
#: force of the front tierod, as if massless, on the steering link in chassis axes.
REPORTS = Layout(force=3, moment=3, slip=1, slip_angle=1, deflection=1, centre=3, axis=3, tierod=3)


def right_hand_side(vehicle: Vehicle) -> ca.Function:
    """f(state, input) -> (state rate, reports of FL FR RL RR), with the vehicle's numbers as constants."""
    p = {name: SX(entry.value) for name, entry in vehicle.entries.items()}
    state, inputs = SX.sym("x", STATES.size), SX.sym("u", INPUTS.size)
    x, u = STATES.split(state), INPUTS.split(inputs)
    r = rotation(x["quaternion"])
    plane = {"ground": ca.vertcat(0, 0, u["height"]), "normal": SX([0, 0, 1]), "friction": u["friction"]}
    vectors: dict[str, Any] = {
        **numbers(vehicle), "gravity": u["gravity"], "arm": u["arm"], "wrench": u["wrench"], "angular": x["angular"],
        "quaternion": x["quaternion"], "world wrench": SX(6, 1),
        "chassis": wheel.CHASSIS.join(**{name: x[name] for name in wheel.CHASSIS.sizes}),
        "corner state": [ca.vertcat(x["theta"][k], x["theta_rate"][k], x["spin_rate"][k]) for k in range(4)],
        "wheel state": [WHEEL.states.join(bristle=x["bristle"][2 * k : 2 * k + 2], wind_up=0, **{
            name: x[name][k] for name in ("spin_rate", *OF_TIRES)}) for k in range(4)],
        "wheel inputs": [wheel.INPUTS.join(drive=u["drive"][k], brake=0, force=SX(3, 1), moment=SX(3, 1),
                                          point=SX(3, 1), **plane, height_only=0, external=0) for k in range(4)],
    }  # fmt: skip
    compose((*EVALUATION, *MOTION), functions(), vectors)
    corners, inners, back, axials = vectors["corner"], vectors["inner"], vectors["back"], vectors["axial"]
    hubs, acceleration = [WHEEL.results.split(hub) for hub in vectors["wheel"]], vectors["acceleration"]
    reports = []
    for k, (axle, side) in enumerate(parameters.CORNERS):
        c, end, result = corner.OUTPUTS.split(corners[k]), steering.INNER.split(inners[k]), hubs[k]
        held = ca.vertcat(*(p[f"{axle}.TIEROD_U.{a}"] - p[f"{axle}.SPINDLE.{a}"] for a in "xyz"))
        rod = c["centre"] + ca.reshape(c["upright_axes"], 3, 3) @ (held * SX([1, side, 1])) - end["end"]
        # a massless tierod pulls along itself; its work in a unit turn of the arm is the corner's share of the torque
        load = articulated.LOADS.split(result["loads"])
        work = steering_load(c, load, acceleration, back[k][0], SX(axials[k]))
        force = rod * work / ca.dot(rod, end["end_partial"]) if k < 2 else SX(3, 1)
        shown = {name: result[name] for name in ("force", "moment", "slip", "slip_angle", "deflection", "centre")}
        reports.append(REPORTS.join(**shown, axis=r @ c["axis"], tierod=force))
    rate = STATES.join(
        position=vectors["rate of position"], quaternion=vectors["rate of quaternion"],
        linear=vectors["rate of linear"], theta=x["theta_rate"], spin=x["spin_rate"], angular=acceleration[:3],
        theta_rate=ca.vertcat(*(b[0] for b in back)), spin_rate=ca.vertcat(*(b[1] for b in back)),
        bristle=ca.vertcat(*(hub["rates"][:2] for hub in hubs)),
        **{name: ca.vertcat(*(hub["rates"][k] for hub in hubs)) for k, name in enumerate(OF_TIRES, 3)},
    )  # fmt: skip
    return ca.Function("vehicle", [state, inputs], [ca.cse(rate), ca.horzcat(*reports)])
