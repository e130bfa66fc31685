"""Contact of the body with the ground, at points of its outline: a stiff damped contact with friction at each.

A vehicle that has rolled over lies on these points. They use the terrain of the wheels: each point belongs to the
nearest corner of the vehicle and uses the plane under that wheel, so no further terrain data is needed.
"""

from __future__ import annotations

import casadi as ca

from jounce.contact import wheel
from jounce.contact.tires.tmeasy import TINY
from jounce.math.algebra import SX, cross, dot, rotation
from jounce.math.layout import Layout
from jounce.suspension.springs import hard_contact

#: Points of one corner, as the vehicle data name them.
POINTS = ("low", "upper", "roof")
#: One point and the design position of the wheel centre of its corner, chassis frame [m].
POINT = Layout(point=3, anchor=3)
#: Properties of the contact, as the vehicle data name them under `chassis.contact`.
CONTACT = Layout(stiffness=1, damping=1, friction=1, friction_damping=1)
#: [moment; force] on the chassis about its origin in chassis axes, the same force in the world, stored energy [J].
RESULTS = Layout(wrench=6, force=3, energy=1)


def function() -> ca.Function:
    """outline(CHASSIS, wheel.INPUTS, POINT, CONTACT) -> RESULTS of one point, which are zero above the ground.

    The normal force is that of `springs.hard_contact`. Friction opposes the sliding velocity v with min(mu N, d |v|):
    Coulomb's law with a viscous part near rest (the regularised law 2.2 of Olsson et al. 1998, Eur. J. Control 4, 176).
    It needs no state; but on a slope, where a body should stay at rest, it creeps at the tangential force divided by d
    times the number of points in contact. Both forces only dissipate energy.

    If the terrain is known only under the wheels (`height_only`), the plane's height is that right below the anchor,
    some centimetres from the query point.
    """
    parts = (wheel.CHASSIS, wheel.INPUTS, POINT, CONTACT)
    flat = [SX.sym(f"b{k}", part.size) for k, part in enumerate(parts)]
    chassis, inputs, place, contact = (part.split(v) for part, v in zip(parts, flat, strict=True))
    r, n, point = rotation(chassis["quaternion"]), inputs["normal"], place["point"]
    anchor = chassis["position"] + r @ place["anchor"]
    below = ca.vertcat(anchor[:2], inputs["ground"][2])
    ground = ca.if_else(inputs["height_only"] > 0.5, below, inputs["ground"])
    depth = dot(n, ground - chassis["position"] - r @ point)
    velocity = r @ (chassis["linear"] + cross(chassis["angular"], point))
    normal_speed = dot(n, velocity)
    load = hard_contact(depth, -normal_speed, contact["stiffness"], contact["damping"])
    sliding = velocity - normal_speed * n
    limit = contact["friction"] * inputs["friction"] * load / ca.sqrt(dot(sliding, sliding) + TINY)
    drag = ca.if_else(load > 0.0, ca.fmin(limit, contact["friction_damping"]), 0.0)
    force = load * n - drag * sliding
    own = r.T @ force
    pressed = ca.fmax(depth, 0.0)
    out = RESULTS.join(wrench=ca.vertcat(cross(point, own), own), force=force,
                       energy=0.5 * contact["stiffness"] * pressed * pressed)  # fmt: skip
    return ca.Function("outline", flat, [ca.cse(out)])
