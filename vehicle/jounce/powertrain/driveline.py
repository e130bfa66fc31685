"""Torques of the driveline and the rates of its states, from the speeds of engine, turbine and half shafts.

Three kinds of element: map torques (engine, converter), friction that holds (clutches, differentials and the parking
pawl: `jounce.contact.bristle`, whose number of states never changes), and shafts, whose inertia the vehicle's own
equations carry (`jounce.powertrain.ports`). With the half-shaft speeds h, the axle ratios i_f, i_r, the transfer ratio
i_t, the share b of the front, the gear G (all input over output):

    p_f = i_f (h_1 + h_2) / 2,  p_r = i_r (h_3 + h_4) / 2,  w_o = i_t (b p_f + (1 - b) p_r),  w_g = G w_o
    J_e w_e' = T_e - T_p - T_L - T_acc,   J_t w_t' = T_t + T_L - T_c

A torque goes back through the transposed ratios, so what one side loses the other gains. A differential of share b
passes b T - F and (1 - b) T + F, where F is friction between its outputs with the capacity
C_0 + lock C_lock + |T| (r - 1) / (r + 1) / 2: for a torque bias ratio r the slower side gets up to r times as much. In
the capacity T is the elastic part of what is in front, without its damping, so that it follows from states alone.

Sources: converter, T_p = c(nu) w_e |w_e|, T_t = R(nu) T_p (SAE J643; H. Wallentowitz, M. Mitschke, "Dynamik der
Kraftfahrzeuge", hydrodynamic converter). Bias ratio: V. Gleasman's Torsen, SAE 885140. Willans line of the fuel: L.
Guzzella, A. Sciarretta, "Vehicle Propulsion Systems", section 3.1.3. Energy: what comes in less what goes out is stored
or lost, each in a state of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca

from jounce.axles import AXLES
from jounce.contact.bristle import BREAKAWAY, bristle
from jounce.math.algebra import SX, dot
from jounce.math.layout import Layout
from jounce.powertrain.layouts import GIVEN, NUMBERS, REPORT, SHAFTS
from jounce.powertrain.layouts import STATES as RECORDS

__all__ = ["HELD", "HOLDS", "LANES", "STATES", "part_functions", "whole_function"]

STATES = Layout(**{state.name: 1 for state in RECORDS})
FIRING = 10.0
"""Range of speed above that of the stall in which the engine comes to its torque [rad/s]."""
CAPACITY_LAG = 0.03
"""Lag of the clutches' and the pawl's capacity [s]."""
YIELDS = 0.5
"""Fraction of its capacity below which a clutch or the pawl does not yield: RK4 at 1 ms resolves the range above it."""
LOSS_SPEED = 1.0
"""Speed of the output shaft [rad/s] from which the gears' losses are whole."""
AFTER_KNEE = 0.25
"""Slope of the pressure over the pedal beyond the booster's knee."""
OPEN = 1e-3
"""Least difference of two pressures that tells rise from fall, over the largest pressure."""

Numbers = Mapping[str, SX]


@dataclass(frozen=True)
class _Friction:
    """Torque of a bristle against its slip, and what becomes of it."""

    torque: SX
    rate: SX
    lost: SX
    """Power that is not stored [W]."""
    stored: SX
    """Energy [J]."""


def _friction(windup: SX, slip: SX, capacity: SX, stiffness: SX, n: Numbers,
              breakaway: float = BREAKAWAY) -> _Friction:  # fmt: skip
    found = bristle(windup, slip, limit=capacity / stiffness, damping=n["damping"], rate_limit=n["rate_limit"],
                    breakaway=breakaway)  # fmt: skip
    torque = stiffness * found.stretch
    stored = 0.5 * stiffness * windup * windup
    return _Friction(torque, found.rate, torque * slip - stiffness * windup * found.rate, stored)


def _clipped(value: SX, low: SX | float, high: SX | float) -> SX:
    return ca.fmin(ca.fmax(value, low), high)


def _engine(x: Numbers, g: Numbers, n: Numbers) -> tuple[SX, SX, SX]:
    """(torque without starter [N.m], rate of the load [1/s], fuel rate [kg/s])."""
    speed = x["engine.speed"]
    firing = g["run"] * _clipped((speed - n["stall_speed"]) / FIRING, 0.0, 1.0)
    idle = (n["idle_torque"] + n["idle_gain"] * (n["idle_speed"] - speed)) / ca.fmax(g["full_load"] - g["closed"], 1.0)
    wanted = ca.fmax(g["throttle"], _clipped(idle, 0.0, 1.0))
    load = x["engine.load"] * _clipped((n["limit_speed"] - speed) / n["limit_droop"], 0.0, 1.0) * firing
    fired = load * (g["full_load"] - g["closed"])
    fuel = ca.fmax(fired * speed, 0.0) / n["fuel"]
    return g["closed"] + fired, (wanted - x["engine.load"]) / n["engine_lag"], fuel


def _pressures(x: Numbers, g: Numbers, n: Numbers) -> tuple[SX, SX]:
    """Rates of the pressures of the front and the rear circuit [Pa/s].

    The master cylinder's pressure has a knee where the booster is at its end; the rear one is reduced beyond its own.
    """
    asked = n["pressure_max"] * g["brake_pedal"]
    master = ca.fmin(asked, n["knee"] + AFTER_KNEE * (asked - n["knee"]))
    rear = ca.fmin(master, n["rear_knee"] + n["rear_slope"] * (master - n["rear_knee"]))

    def rate(target: SX, now: SX) -> SX:
        rising = _clipped(0.5 + (target - now) / (OPEN * n["pressure_max"]), 0.0, 1.0)
        return (target - now) * (rising / n["rise"] + (1 - rising) / n["fall"])

    return rate(master, x["brake.front_pressure"]), rate(rear, x["brake.rear_pressure"])


#: What holds two shafts together: state, difference of speeds, capacity [N.m], stiffness [N.m/rad].
HELD = Layout(windup=1, slip=1, capacity=1, stiffness=1)
#: Of it: torque, rate of the wind-up, power lost, energy stored.
HOLDS = Layout(torque=1, rate=1, lost=1, stored=1)


def driveline(x: Numbers, h: SX, g: Numbers, n: Numbers, friction: Callable[..., _Friction] = _friction
              ) -> tuple[SX, SX, SX]:  # fmt: skip
    """(torques on the half shafts [N.m], rates of STATES, REPORT) at the half-shaft speeds ``h`` [rad/s].

    ``friction``: as `_friction`; it is asked for lock-up, gear clutch and pawl, then the centre, front and rear
    differential. What it is asked does not depend on its answers.
    """
    engine, turbine = x["engine.speed"], x["converter.turbine_speed"]
    front, rear = n["front_ratio"] * 0.5 * (h[0] + h[1]), n["rear_ratio"] * 0.5 * (h[2] + h[3])
    share = n["share"]
    output = g["transfer"] * (share * front + (1 - share) * rear)
    fired, load_rate, fuel_rate = _engine(x, g, n)
    started = g["start"] * g["run"] * n["start_torque"] * _clipped((n["idle_speed"] - engine) / FIRING, 0.0, 1.0)
    pump = g["coefficient"] * engine * ca.fabs(engine)
    turbine_torque = g["torque_ratio"] * pump

    turning = _clipped(output / LOSS_SPEED, -1.0, 1.0)

    def carriers(clutch: SX, pawl: SX, centre: SX) -> tuple[SX, SX, SX, SX]:
        """(loss in the gears, torques on the centre, front and rear differential) for torques before them."""
        gear = g["ratio"] * clutch
        rubbed = (1 - n["efficiency"]) * ca.fabs(gear) * turning
        onto = g["transfer"] * (gear - rubbed - pawl)
        return (rubbed, onto, n["front_ratio"] * (share * onto - n["both"] * centre),
                n["rear_ratio"] * ((1 - share) * onto + n["both"] * centre))  # fmt: skip

    def elastic(windup: str, capacity: SX, stiffness: str) -> SX:
        return _clipped(n[stiffness] * x[windup], -capacity, capacity)

    def biased(name: str, torque: SX, locked: SX, of: str) -> SX:
        """Capacity of the friction between a differential's outputs."""
        ratio = n[f"{name}_bias"]
        by_torque = 0.5 * ca.fabs(torque) * ((ratio - 1) / (ratio + 1))
        return n[f"{of}_friction"] + _clipped(locked, 0.0, 1.0) * n[f"{of}_lock"] + by_torque

    slips = {"lock": engine - turbine, "clutch": turbine - g["ratio"] * output, "pawl": output}
    windups = {"lock": "converter.lock_windup", "clutch": "gearbox.clutch_windup", "pawl": "gearbox.pawl_windup"}
    shares = {"lock": "converter.locked", "clutch": "gearbox.engaged", "pawl": "gearbox.parked"}
    capacities = {of: ca.fmax(x[name], 0.0) * n[f"{of}_capacity"] for of, name in shares.items()}
    lock, clutch, pawl = (friction(x[windups[of]], slip, capacities[of], n[f"{of}_stiffness"], n, YIELDS)
                          for of, slip in slips.items())  # fmt: skip
    clutch_torque, pawl_torque = (elastic(windups[of], capacities[of], f"{of}_stiffness") for of in ("clutch", "pawl"))
    locked, onto_centre = ca.fmax(g["centre_lock"], g["centre_range"]), carriers(clutch_torque, pawl_torque, SX(0))[1]
    capacity = biased("centre", n["both"] * onto_centre, locked, "centre")
    on_centre = elastic("differential.centre.windup", capacity, "centre_stiffness")
    _, _, *onto = carriers(clutch_torque, pawl_torque, on_centre)
    centre = friction(x["differential.centre.windup"], n["both"] * (front - rear), capacity, n["centre_stiffness"], n)
    axles = []
    for name, k, torque in zip(AXLES, (0, 2), onto, strict=True):
        capacity = biased(name, torque, g[f"{name}_lock"], "axle")
        axles.append(friction(x[f"differential.{name}.windup"], h[k] - h[k + 1], capacity,
                              n[f"axle_stiffness_{name}"], n))  # fmt: skip
    rubbed, _, front_torque, rear_torque = carriers(clutch.torque, pawl.torque, centre.torque)
    halves = ca.vertcat(0.5 * front_torque - axles[0].torque, 0.5 * front_torque + axles[0].torque,
                        0.5 * rear_torque - axles[1].torque, 0.5 * rear_torque + axles[1].torque)  # fmt: skip
    frictions = (lock, clutch, pawl, centre, *axles)
    accessories = n["accessories"] * _clipped(engine / FIRING, -1.0, 1.0)
    lost = sum((f.lost for f in frictions), pump * engine - turbine_torque * turbine + rubbed * output)
    front_rate, rear_rate = _pressures(x, g, n)
    towards = {name: _clipped((g[of] - x[name]) / CAPACITY_LAG, -n["release_rate"], n["engage_rate"])
               for name, of in (("gearbox.engaged", "clutch"), ("converter.locked", "lock"),
                                ("gearbox.parked", "pawl"))}  # fmt: skip
    rates = STATES.join(**{
        "engine.speed": (fired + started - pump - lock.torque - accessories) / n["engine_inertia"],
        "converter.turbine_speed": (turbine_torque + lock.torque - clutch.torque) / n["turbine_inertia"],
        "engine.load": load_rate, "engine.fuel": fuel_rate,
        "gearbox.clutch_windup": clutch.rate, "converter.lock_windup": lock.rate, "gearbox.pawl_windup": pawl.rate,
        "differential.front.windup": axles[0].rate, "differential.rear.windup": axles[1].rate,
        "differential.centre.windup": centre.rate,
        "energy.engine": (fired + started) * engine, "energy.losses": lost + accessories * engine,
        "energy.delivered": dot(halves, h), "brake.front_pressure": front_rate, "brake.rear_pressure": rear_rate,
        **towards,
    })  # fmt: skip
    rotors = ((n["engine_inertia"], engine), (n["turbine_inertia"], turbine), (n["output_inertia"], output),
              (n["front_inertia"], front), (n["rear_inertia"], rear), (n["carrier_inertia"], 0.5 * (h[0] + h[1])),
              (n["carrier_inertia"] * n["both"], 0.5 * (h[2] + h[3])))  # fmt: skip
    stored = sum((f.stored for f in frictions), sum((0.5 * j * w * w for j, w in rotors), SX(0)))
    gear = g["ratio"] * clutch.torque - rubbed
    report = REPORT.join(engine=fired + started, pump=pump, turbine=turbine_torque, gear=gear,
                         lock=lock.torque, fuel_rate=fuel_rate, output_speed=output, stored=stored)  # fmt: skip
    return halves, rates, report


def _symbols() -> list[SX]:
    sizes = {"x": STATES.size, "h": SHAFTS, "g": GIVEN.size, "n": NUMBERS.size}
    return [SX.sym(name, size) for name, size in sizes.items()]


def whole_function() -> ca.Function:
    """driveline(STATES, half-shaft speeds 4, GIVEN, NUMBERS) -> half-shaft torques 4, rates, REPORT."""
    x, h, g, n = inputs = _symbols()
    made = driveline(STATES.split(x), h, GIVEN.split(g), NUMBERS.split(n))
    return ca.Function("driveline", inputs, [ca.cse(v) for v in made])


#: What holds is computed side by side, clutches and differentials, in rows of that many numbers.
LANES = 4


def part_functions() -> tuple[list[ca.Function], list[ca.Function]]:
    """The same in parts, between which what holds is computed side by side.

    driveline_held(inputs of `whole_function`) -> HELD of the clutches and of the differentials, each by rows of LANES;
    driveline(the same inputs, HOLDS of both by rows) -> as there; and of one lane hold_clutch, hold_axle(HELD,
    [damping, rate limit]) -> HOLDS. Returns the functions of one lane, and those of lanes.
    """
    inputs = _symbols()
    x, h, g, n = STATES.split(inputs[0]), inputs[1], GIVEN.split(inputs[2]), NUMBERS.split(inputs[3])
    results = [SX.sym(f"f{k}", LANES * HOLDS.size) for k in range(2)]
    asked: list[list[SX]] = []

    def recorded(windup: SX, slip: SX, capacity: SX, stiffness: SX, _n: Numbers, _breakaway: float = 0.0) -> _Friction:
        group, lane = divmod(len(asked), 3)
        asked.append([windup, slip, capacity, stiffness])
        return _Friction(*(results[group][LANES * k + lane] for k in range(HOLDS.size)))

    made = driveline(x, h, g, n, recorded)
    idle = [SX(0), SX(0), SX(0), SX(1)]  # on the last lane: divides by no zero
    rows = [ca.densify(ca.vertcat(*(held[k] for k in range(HELD.size) for held in (*asked[first : first + 3], idle))))
            for first in (0, 3)]  # fmt: skip
    scalars = [ca.Function("driveline_held", inputs, [ca.cse(row) for row in rows]),
               ca.Function("driveline", [*inputs, *results], [ca.cse(v) for v in made])]  # fmt: skip
    held, law = SX.sym("w", HELD.size), SX.sym("d", 2)
    lanes = []
    for name, breakaway in (("hold_clutch", YIELDS), ("hold_axle", BREAKAWAY)):
        windup, slip, capacity, stiffness = (held[k] for k in range(HELD.size))
        f = _friction(windup, slip, capacity, stiffness, {"damping": law[0], "rate_limit": law[1]}, breakaway)
        lanes.append(ca.Function(name, [held, law], [ca.cse(ca.vertcat(f.torque, f.rate, f.lost, f.stored))]))
    return scalars, lanes
