"""A throw-away tire as another package would add it: springs along the normal and forces in proportion to the slips.

    Fz = k d,   Fx = -Cx s_x,   Fy' = |v_x| / sigma (-Cy s_y - Fy),   s = (v_x - R omega, v_y) / max(|v_x|, 5 m/s)

The lateral force follows its steady state over a relaxation length sigma, in a state of the tire. Its temperature,
another state, follows that of the air, which is an input: T' = (T_air - T) / tau.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.contact.tires import Law
from jounce.contact.tires.law import Contact, Hub, Plane, Stiffness
from jounce.math.algebra import SX, cross, dot
from jounce.signals import Signal, State

#: Speed [m/s] below which slips are over it: what an explicit step of 1 ms holds.
SLOW = 5.0


def contact(hub: Hub, plane: Plane, states: SX, par: Mapping[str, SX]) -> Contact:
    """The forces above at the point below the wheel centre, on the disc's radius."""
    n, radius = plane.normal, par["unloaded_radius"]
    lateral, temperature = states[0], states[1]
    heading = cross(hub.axis, n) / ca.sqrt(1.0 - dot(hub.axis, n) ** 2)
    left = cross(n, heading)
    height = dot(hub.position - plane.point, n)
    deflection = ca.fmax(radius - height, 0.0)
    load = par["stiffness"] * deflection
    vx, vy = dot(hub.velocity, heading), dot(hub.velocity, left)
    slip_speed, speed = vx - radius * dot(hub.axis, hub.turning), ca.fabs(vx)
    per = 1.0 / ca.fmax(speed, SLOW)
    touching = deflection > 0.0
    fx = ca.if_else(touching, -par["longitudinal_stiffness"] * slip_speed * per, 0.0)
    fy = ca.if_else(touching, lateral, 0.0)
    steady = ca.if_else(touching, -par["cornering_stiffness"] * vy * per, 0.0)
    force = fx * heading + fy * left + load * n
    warming = (par["air_temperature"] - temperature) / par["cooling"]
    rate = ca.vertcat(speed / par["relaxation_length"] * (steady - lateral), warming)
    return Contact(
        force=force, moment=cross(-height * n, force), rate=rate,
        contact_force=ca.vertcat(fx, fy, load), contact_moment=SX(3, 1), slip=-slip_speed * per,
        slip_angle=ca.atan(vy * per), deflection=deflection, contact_point=hub.position - height * n, heading=heading,
        left=left, stored_energy=SX(0), outputs={"tire_temperature": temperature},
    )  # fmt: skip


LAW = Law(
    name="linear",
    parameters=("unloaded_radius", "rim_radius", "stiffness", "longitudinal_stiffness", "cornering_stiffness",
                "relaxation_length", "cooling"),
    contact=contact,
    states=(State("lateral", "N", "lateral force", 1e3), State("temperature", "K", "of the tire", 100.0, start=300.0)),
    inputs=(Signal("air_temperature", "input", "K", "around the tire", start=(300.0,), minimum=0.0, maximum=1e4),),
    outputs=(Signal("tire_temperature", "output", "K", "of the tire", nominal=100.0),),
    stiffnesses=(Stiffness("stiffness", "spring", "normal"),),
)  # fmt: skip
