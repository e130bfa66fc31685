"""The functions that the schedule names, in CasADi."""

from __future__ import annotations

from functools import cache

import casadi as ca

from jounce.contact import tires
from jounce.contact.wheel import Wheel
from jounce.data import Vehicle
from jounce.dynamics import articulated, motion
from jounce.math.algebra import SX
from jounce.models.double_wishbone import outputs as reports
from jounce.models.double_wishbone import parameters
from jounce.steering import pitman as steering
from jounce.suspension import double_wishbone as corner


@cache
def functions(law: tires.Law = tires.TMEASY) -> dict[str, ca.Function]:
    """Every function of the schedule by name; numbers of the vehicle are inputs, as `numbers` gives them."""
    wheel = Wheel(law)
    made = (
        steering.function(), steering.inner_function(), corner.function(), wheel.function(),
        articulated.inward_sweep_function(), motion.external_function(), articulated.chassis_function(),
        articulated.outward_sweep_function(), motion.function(), reports.wheel_function(wheel),
        reports.chassis_function(), reports.angle_function(),
    )  # fmt: skip
    return {f.name(): f for f in made}


def numbers(vehicle: Vehicle) -> dict[str, ca.DM | list[ca.DM]]:
    """The schedule's vectors that are numbers of the vehicle, but for gravity."""
    p = {name: SX(entry.value) for name, entry in vehicle.entries.items()}
    corners = [ca.evalf(parameters.corner_numbers(p, axle, side)) for axle, side in parameters.CORNERS]
    first, wheel = corner.NUMBERS.first, Wheel(tires.find(vehicle.tire))
    return {
        "linkage": ca.evalf(steering.linkage_numbers(p)),
        "inner numbers": [ca.evalf(steering.inner_numbers(p, axle, side)) for axle, side in parameters.CORNERS],
        "corner numbers": corners,
        "wheel numbers": ca.DM([vehicle[n] for n in wheel.entries(1.0, vehicle.tires(vehicle.axles[0])).values()]),
        "axial": [n[[first["wheel_along"], first["shaft"]]] for n in corners],
        "chassis numbers": ca.evalf(parameters.chassis_inertia(p)),
    }
