"""What acts on one wheel: TMeasy tire or external contact wrench, drive and brake torque.

The door between the corner (hub motion) and the recursion (loads): internal tires, an external
terramechanics model and a test bench all enter here.
"""

from __future__ import annotations

import casadi as ca

from jounce.brakes import disc as brake
from jounce.contact.tires import tmeasy as tire
from jounce.dynamics import articulated
from jounce.math.algebra import SX, cross, rotation
from jounce.math.layout import Layout

#: From the corner function, in chassis axes.
HUB = Layout(centre=3, axis=3, centre_velocity=3, upright_velocity=3)
#: Chassis pose and motion, the same for every wheel.
CHASSIS = Layout(position=3, quaternion=4, angular=3, linear=3)
#: States of the wheel: spin rate relative to the upright [rad/s], brake wind-up [rad] and those of `tire.STATES`.
STATES = Layout(spin_rate=1, bristle=2, wind_up=1, rolled=1, turned=1, travelled=1, sliding=1)
#: Inputs: torques [N.m], external wrench about its point (world), terrain plane (world), whether only the
#: height of `ground` counts, right below or above the query point (1), and whether the contact wrench is the
#: external one (1) or the tire's (0).
INPUTS = Layout(drive=1, brake=1, force=3, moment=3, point=3, ground=3, normal=3, friction=1, height_only=1, external=1)
#: Numbers of the tire and the brake.
NUMBERS = Layout(
    **{f"tire.{name}": 1 for name in tire.PARAMETERS}, **{name: 1 for name in brake.PARAMETERS}
)
#: What the equations of motion need: loads for `articulated.inward_sweep`, rates of the STATES after the spin rate, and
#: the tire's deflection, which has a limit.
DYNAMICS = Layout(loads=8, rates=STATES.size - 1, deflection=1)
#: First those, then what only the output signals and the start need.
RESULTS = Layout(**DYNAMICS.sizes, force=3, moment=3, slip=1, slip_angle=1, query=3, centre=3, velocity=3,
                 heading=3, left=3)  # fmt: skip


def function() -> ca.Function:
    """wheel(HUB, CHASSIS, STATES, INPUTS, NUMBERS) -> RESULTS."""
    parts = (HUB, CHASSIS, STATES, INPUTS, NUMBERS)
    flat = [SX.sym(f"v{k}", part.size) for k, part in enumerate(parts)]
    hub, chassis, state, inputs, number = (part.split(v) for part, v in zip(parts, flat, strict=True))
    r = rotation(chassis["quaternion"])
    omega = chassis["angular"]
    centre = chassis["position"] + r @ hub["centre"]
    velocity = r @ (chassis["linear"] + cross(omega, hub["centre"]) + hub["centre_velocity"])
    turning = omega + hub["upright_velocity"] + hub["axis"] * state["spin_rate"]
    body = tire.Hub(centre, velocity, r @ hub["axis"], r @ turning)
    par = {name: number[f"tire.{name}"] for name in tire.PARAMETERS}
    query = tire.query_point(body, par)
    below = ca.vertcat(query[:2], inputs["ground"][2])
    ground = ca.if_else(inputs["height_only"] > 0.5, below, inputs["ground"])
    plane = tire.Plane(ground, inputs["normal"], inputs["friction"])
    contact = tire.tmeasy(body, plane, tire.STATES.join(**{name: state[name] for name in tire.STATES.sizes}), par)
    outside = inputs["external"] > 0.5
    frame = ca.horzcat(contact.heading, contact.left, plane.normal)
    force = ca.if_else(outside, inputs["force"], contact.force)
    lever = cross(inputs["point"] - centre, inputs["force"])
    moment = ca.if_else(outside, inputs["moment"] + lever, contact.moment)
    torque, wind_up = brake.brake(
        state["spin_rate"], inputs["brake"], state["wind_up"], {name: number[name] for name in brake.PARAMETERS}
    )  # fmt: skip
    loads = articulated.LOADS.join(force=r.T @ force, moment=r.T @ moment, drive=inputs["drive"], brake=torque)
    rates = tire.STATES.split(ca.if_else(outside, SX(tire.STATES.size, 1), contact.rate)) | {"wind_up": wind_up}
    out = RESULTS.join(
        loads=loads, rates=ca.vertcat(*(rates[name] for name in STATES.sizes if name in rates)),
        force=ca.if_else(outside, frame.T @ inputs["force"], contact.contact_force),
        moment=ca.if_else(outside, frame.T @ inputs["moment"], contact.contact_moment), slip=contact.slip,
        slip_angle=contact.slip_angle, deflection=ca.if_else(outside, 0.0, contact.deflection), query=query,
        centre=centre, velocity=velocity, heading=contact.heading, left=contact.left,
    )  # fmt: skip
    return ca.Function("wheel", flat, [ca.cse(out)])
