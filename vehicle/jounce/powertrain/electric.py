"""Electric motors in place of engine and gears: one on an axle with its differential, or one at each of its wheels.

A motor turns at the axle's ratio i times the speed of its half shaft, or of the mean of both on the axle, w. Its torque

    |T| <= min(T_max, P_max / |w|),   T' = (T_wanted - T) / lag

is limited at this instant's speed, so that no lag exceeds the power. It fades to nothing below the largest speed in the
direction in which it drives. Wanted is the share of the limit that the accelerator asks for in the selector's
direction, less regeneration: shares of the limit by the released accelerator and the brake pedal, against the rotation,
in proportion to the speed where it is small, so that it ends at rest and cannot turn a wheel backwards.

The battery gives P / eta for the mechanical power P of a motor that drives and takes eta P of one that brakes (L.
Guzzella, A. Sciarretta, "Vehicle Propulsion Systems", section 4.3: efficiency of the machine with its converter, in
both directions); the difference is heat. An empty battery drives no more, a full one takes no more. Losses of the
gears and friction of the differentials are those of `jounce.powertrain.elements`. The rotor of an axle's motor is
joined to the vehicle's equations as a propeller shaft is (`jounce.powertrain.joined`).
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.axles import AXLES
from jounce.brakes.hydraulics import pressure_rates
from jounce.math.algebra import SX, clipped, dot
from jounce.math.layout import Layout
from jounce.powertrain.electric_layouts import GIVEN, MOTORS, REPORT
from jounce.powertrain.electric_layouts import STATES as RECORDS
from jounce.powertrain.elements import CAPACITY_LAG, biased, friction, loss_sign
from jounce.powertrain.layouts import NUMBERS
from jounce.powertrain.numbers import DAMPING, OF_DIFFERENTIALS, RATE_LIMIT, loss_slope, of_brakes
from jounce.powertrain.train import TWO

__all__ = ["ALL_NUMBERS", "STATES", "numbers", "shafts_function", "whole_function"]

STATES = Layout(**{state.name: 1 for state in RECORDS})
#: Those of the half shafts and brakes, which every powertrain has, and those of the motors.
ALL_NUMBERS = Layout(**NUMBERS.sizes, **MOTORS.sizes)
RESERVE = 0.01
"""Charge of an empty battery, and room in a full one, in which power fades."""

Numbers = Mapping[str, SX]


def _rotors(h: SX, n: Numbers) -> SX:
    """Energy of the axles' rotors [J]."""
    means = {axle: 0.5 * (h[first] + h[first + 1]) for axle, first in zip(AXLES, (0, 2), strict=True)}
    return sum((0.5 * n[f"{axle}_inertia"] * (n[f"{axle}_ratio"] * w) ** 2 for axle, w in means.items()), SX(0))


def driveline(x: Numbers, h: SX, g: Numbers, n: Numbers) -> tuple[SX, SX, SX]:
    """(torques on the half shafts [N.m], rates of STATES, REPORT) at the half-shaft speeds ``h`` [rad/s]."""
    charge = n["charge"] - x["energy.battery"] / n["capacity"]
    gives, takes = (clipped(room / RESERVE, 0.0, 1.0) for room in (charge, 1 - charge))
    closing = n["released"] * (1 - g["throttle"]) + n["pedal"] * g["brake_pedal"]
    slows = takes * g["regeneration"] * g["direction"] ** 2 * clipped(closing, 0.0, 1.0)
    halves: list[SX] = []
    rates: dict[str, SX] = {}
    report: dict[str, SX] = {}
    load = gives * n["load"]
    drawn, lost, stored = load, load, SX(0)
    for axle, first, present in zip(AXLES, (0, 2), (SX(1), n["both"]), strict=True):
        ratio, each = n[f"{axle}_ratio"], n[f"{axle}_each"]
        mean, onto, torques = 0.5 * (h[first] + h[first + 1]), [], []
        most, base = n[f"{axle}_power"], n[f"{axle}_power"] / n[f"{axle}_torque"]
        for side, half in (("left", h[first]), ("right", h[first + 1])):
            speed = ratio * (mean + each * (half - mean))
            limit = present * 0.5 * (1 + each) * most / ca.fmax(ca.fabs(speed), base)
            open_ = clipped((n["limit"] - g["direction"] * speed) / n["droop"], 0.0, 1.0)
            against = clipped(speed / (n["fade"] * ratio), -1.0, 1.0)
            wanted = limit * (gives * open_ * g["direction"] * g["throttle"] - slows * against)
            name = f"motor.{axle}_{side}.torque"
            torque = clipped(x[name], -limit, limit)
            rubbed = (1 - n["efficiency"]) * ca.fabs(torque) * loss_sign(speed, n[f"{axle}_loss_slope"])
            power = torque * speed
            electric = ca.fmax(power, 0.0) / n["electric_efficiency"] + ca.fmin(power, 0.0) * n["electric_efficiency"]
            drawn += electric
            lost += electric - power + rubbed * speed
            onto.append(ratio * (torque - rubbed))
            torques.append(torque)
            rates[name] = (wanted - x[name]) / n["lag"]
        carrier = onto[0] + onto[1]
        capacity = (1 - each) * biased(carrier, n[f"{axle}_bias"], g[f"{axle}_lock"], n["axle_friction"],
                                       n["axle_lock"])  # fmt: skip
        held = friction(x[f"differential.{axle}.windup"], h[first] - h[first + 1], capacity,
                         n[f"axle_stiffness_{axle}"], n["differential_damping"], n["rate_limit"])  # fmt: skip
        rates[f"differential.{axle}.windup"] = held.rate
        lost += held.lost
        stored += held.stored
        halves += [0.5 * (1 - each) * carrier + each * torque + sign * held.torque
                   for torque, sign in zip(onto, (-1, 1), strict=True)]  # fmt: skip
        report |= {f"{axle}_speed": present * ratio * mean, f"{axle}_torque": torques[0] + torques[1]}
    on, rotors = ca.vertcat(*halves), _rotors(h, n)
    front, rear = pressure_rates(x, g, n)
    return on, STATES.join(**rates, **{
        "gearbox.parked": (g["pawl"] - x["gearbox.parked"]) / CAPACITY_LAG,
        "energy.battery": drawn, "energy.recovered": ca.fmax(-drawn, 0.0), "energy.losses": lost,
        "energy.delivered": dot(on, h), "brake.front_pressure": front, "brake.rear_pressure": rear,
    }), REPORT.join(**report, battery_power=drawn, charge=charge, stored=stored + rotors, shafts=rotors)  # fmt: skip


def numbers(p: Numbers, both: SX) -> SX:
    """ALL_NUMBERS from the entries. ``both``: 1 where two axles are driven; one alone stands in the front's place.

    What engine and gears have of NUMBERS is 0. The carriers' inertia is counted at the rotors.
    """
    half = (p["wheel.inertia.yy"] + p["driveline.inertia"]) / p["hub.ratio"] ** 2
    frequency = OF_DIFFERENTIALS * p["driveline.frequency"]
    stiffness = frequency**2 * half / 2
    known = {name: SX.zeros(size) for name, size in ALL_NUMBERS.sizes.items()} | of_brakes(p) | {
        "hub": p["hub.ratio"], "sense": p["hub.sense"], "both": both, "efficiency": p["driveline.efficiency"],
        "differential_damping": SX(2 * DAMPING) / frequency, "rate_limit": SX(RATE_LIMIT),
        "axle_friction": p["differential.axle_friction"], "axle_lock": p["differential.axle_lock"],
        "limit": p["motor.limit_speed"], "droop": p["motor.limit_droop"], "lag": p["motor.lag"],
        "electric_efficiency": p["motor.efficiency"], "released": p["regeneration.released"],
        "pedal": p["regeneration.pedal"], "fade": p["regeneration.fade_speed"] * p["hub.ratio"],
        "capacity": p["battery.capacity"], "charge": p["battery.initial_charge"], "load": p["battery.load"],
    }  # fmt: skip
    for axle, present in zip(AXLES, (SX(1), both), strict=True):
        ratio, each = p[f"differential.{axle}.ratio"], p[f"motor.{axle}.at"] - 1
        rotor = p[f"motor.{axle}.inertia"] + p["driveline.carrier_inertia"] / ratio**2
        turned = (1 - each) * rotor + (2 - each) * half / ratio**2  # by a motor, with the wheels in the air
        lost = (1 - p["driveline.efficiency"]) * p[f"motor.{axle}.max_torque"]
        known |= {
            f"{axle}_loss_slope": loss_slope(lost, turned),
            f"{axle}_ratio": ratio, f"{axle}_bias": p[f"differential.{axle}.bias"],
            f"axle_stiffness_{axle}": stiffness, f"{axle}_each": each, f"{axle}_torque": p[f"motor.{axle}.max_torque"],
            f"{axle}_power": p[f"motor.{axle}.max_power"],
            f"{axle}_inertia": present * (1 - each) * rotor,
        }  # fmt: skip
    return ALL_NUMBERS.join(**known)


def shafts_function() -> ca.Function:
    """shafts(half-shaft speeds 4 [rad/s], 1, ALL_NUMBERS) -> energy of the axles' rotors [J]."""
    h, one, n = SX.sym("h", TWO.shafts), SX.sym("t"), SX.sym("n", ALL_NUMBERS.size)
    return ca.Function("shafts", [h, one, n], [ca.cse(_rotors(h, ALL_NUMBERS.split(n)))])


def whole_function() -> ca.Function:
    """driveline(STATES, half-shaft speeds 4, GIVEN, ALL_NUMBERS) -> half-shaft torques 4, rates, REPORT."""
    x, h, g, n = (SX.sym(name, size) for name, size in
                  {"x": STATES.size, "h": TWO.shafts, "g": GIVEN.size, "n": ALL_NUMBERS.size}.items())  # fmt: skip
    made = driveline(STATES.split(x), h, GIVEN.split(g), ALL_NUMBERS.split(n))
    return ca.Function("driveline", [x, h, g, n], [ca.cse(v) for v in made])
