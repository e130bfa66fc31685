"""The contacts of two tires side by side on one wheel (`jounce.contact.tires.dual`).

By kinematics of a rigid body: the centre of a tire at s along the spin axis from the wheel's moves with v + w x s.
Both wrenches are moved to the wheel's centre and added: M = M_tire + s x F_tire.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.contact.tires.dual import INNER, TIRES
from jounce.contact.tires.law import Contact, Hub, Law, Plane, Started, Starting
from jounce.math.algebra import SX, cross

Numbers = Mapping[str, SX]


def _moved(hub: Hub, along: SX) -> Hub:
    """The centre of a tire at that distance along the spin axis [m]."""
    offset = along * hub.axis
    return Hub(hub.position + offset, hub.velocity + cross(hub.turning, offset), hub.axis, hub.turning)


def _half(par: Numbers) -> SX:
    """From the wheel's centre to that of its outer tire, along the spin axis [m]."""
    return 0.5 * par["dual"]


def _second(par: Numbers) -> SX:
    """1 where there is an inner tire, else 0."""
    return ca.if_else(par["dual"] * par["dual"] > 0.0, 1.0, 0.0)


def query_point(law: Law, hub: Hub, par: Numbers) -> SX:
    """Where the outer tire asks for the terrain."""
    return law.query_point(_moved(hub, _half(par)), par)


def _ground(outer: Plane, query: SX, par: Numbers) -> Plane:
    """The plane under the inner tire: its own, or where one plane is all the terrain that of the outer one."""
    given = ca.vertcat(*(par[f"{INNER}terrain_normal.{axis}"] for axis in "xyz"))
    normal = given / ca.sqrt(ca.fmax(ca.dot(given, given), 1e-6))
    own = par["inner_own"] > 0.5
    point = ca.vertcat(query[:2], par[f"{INNER}terrain_height"])
    return Plane(*(ca.if_else(own, a, b) for a, b in ((point, outer.point), (normal, outer.normal),
                                                      (par[f"{INNER}terrain_mu"], outer.friction))))  # fmt: skip


def contact(law: Law, hub: Hub, terrain: Plane, state: SX, par: Numbers) -> Contact:
    """Both tires; forces and moments are sums, in the contact frame of the outer tire.

    ``terrain`` is the plane under the outer tire. The moment in the contact frame is about the point midway between
    both contact points. Slips are those of the outer tire, the deflection is the larger one.
    """
    size, there, half = law.layout.size, _second(par), _half(par)
    hubs = (_moved(hub, half), _moved(hub, -half))
    query = law.query_point(hubs[1], par)
    planes = (terrain, _ground(terrain, query, par))
    one, two = (law.contact(h, plane, state[k * size : (k + 1) * size], par)
                for k, (h, plane) in enumerate(zip(hubs, planes, strict=True)))  # fmt: skip
    force = one.force + there * two.force
    moment = (one.moment + cross(half * hub.axis, one.force)
              + there * (two.moment + cross(-half * hub.axis, two.force)))  # fmt: skip
    middle = (one.contact_point + there * two.contact_point) / (1.0 + there)
    frame = ca.horzcat(one.heading, one.left, terrain.normal)
    outputs: dict[str, SX] = {}
    for tire, c, share in zip(TIRES, (one, two), (SX(1.0), there), strict=True):
        x, y, load = (share * c.contact_force[k] for k in range(3))
        own = {"load": load, "force.x": x, "force.y": y, "slip": share * c.slip, "slip_angle": share * c.slip_angle,
               "deflection": share * c.deflection}  # fmt: skip
        outputs |= {f"{tire}.{name}": value for name, value in own.items()}
    outputs |= {f"{INNER}query_point.{axis}": query[k] for k, axis in enumerate("xyz")}
    return Contact(
        force=force, moment=moment, rate=ca.vertcat(one.rate, there * two.rate),
        contact_force=frame.T @ force, contact_moment=frame.T @ (moment - cross(middle - hub.position, force)),
        slip=one.slip, slip_angle=one.slip_angle, deflection=ca.fmax(one.deflection, there * two.deflection),
        contact_point=middle, heading=one.heading, left=one.left,
        stored_energy=one.stored_energy + there * two.stored_energy, outputs={**one.outputs, **outputs},
    )  # fmt: skip


def start(law: Law, starting: Starting, par: Numbers) -> Started:
    """Both tires carry half of the load and of the force."""
    there = _second(par)
    share = 1.0 / (1.0 + there)
    one = law.started(Starting(share * starting.load, starting.friction, starting.deflection, share * starting.force,
                               starting.way), par)  # fmt: skip
    return Started(one.grip * (1.0 + there), *(ca.vertcat(s, there * s) for s in (one.resting, one.rolling)))
