"""Steering column: hand wheel, friction, power assist and end stops, above the steering gear.

With the wheel angle delta, the gear's ratio n, and the torque L of the linkage on the arm, which falls linearly with
the arm's acceleration, L = L_0 - M delta''/n:

    (J + M/n^2) delta'' = T + A(T) + L_0/n - c delta' - F - S

T is the driver's torque, A the assist, F the friction (a bristle, which holds at rest), S the end stops. The assist
gives a share of the sum of both torques, up to its most; the column is rigid, without the torsion bar that measures T.
Steered by angle the same equation gives T.

Source: M. Harrer, P. Pfeffer (eds.) 2017, "Steering Handbook", ch. C (equation of the steering wheel, friction and
assist); friction: `jounce.contact.bristle`.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.contact.bristle import bristle
from jounce.math.algebra import SX
from jounce.math.layout import Layout
from jounce.powertrain.layouts import COLUMN_NUMBERS as NUMBERS
from jounce.powertrain.layouts import COLUMN_STATES

__all__ = ["STATES", "angle_function", "by_torque", "load_function", "numbers", "torque_function"]

STATES = Layout(**{state.name: 1 for state in COLUMN_STATES})
RATE_LIMIT = 300.0
"""As of the driveline's bristles [1/s]."""

Numbers = Mapping[str, SX]


def numbers(p: Mapping[str, SX]) -> SX:
    """The vector NUMBERS, from the entries."""
    own = {name: p[f"steering.{name}"] for name in NUMBERS.sizes if name not in ("ratio", "stop")}
    stop = p["steering_ratio"] * p["steering.max_arm_angle"]
    return NUMBERS.join(ratio=p["steering_ratio"], stop=stop, **own)


def _resistance(x: Numbers, rate: SX, angle: SX, n: Numbers) -> tuple[SX, SX]:
    """(torque of damping, friction and stops against the wheel [N.m], rate of the friction's wind-up [rad/s])."""
    stiffness = n["friction"] / n["friction_angle"]
    held = bristle(x["steering.friction_windup"], rate, limit=n["friction_angle"], damping=SX(1.0 / RATE_LIMIT),
                   rate_limit=RATE_LIMIT)  # fmt: skip
    beyond = ca.fmax(ca.fabs(angle) - n["stop"], 0.0)
    damped = n["stop_damping"] * ca.fmin(beyond / n["stop_onset"], 1.0) * rate * _way(angle)
    pushed = n["stop_stiffness"] * beyond + damped
    return stiffness * held.stretch + n["damping"] * rate + _way(angle) * ca.fmax(pushed, 0.0), held.rate


def _way(angle: SX) -> SX:
    return ca.if_else(angle > 0, 1.0, -1.0)


def _share(speed: SX, n: Numbers) -> SX:
    return n["assist_rest"] + (n["assist_fast"] - n["assist_rest"]) * ca.fmin(ca.fabs(speed) / n["fast"], 1.0)


def by_torque(state: SX, given: SX, load: SX, inertia: SX, number: SX) -> tuple[SX, SX]:
    """(rates of STATES, arm's acceleration [rad/s2]) for NUMBERS and [driver's torque, speed].

    ``load`` [N.m]: the linkage's torque on an arm that does not accelerate; ``inertia`` [kg.m2]: what it falls by per
    unit of that.
    """
    x, n = STATES.split(state), NUMBERS.split(number)
    rate = x["steering.wheel_rate"]
    resisting, wound = _resistance(x, rate, x["steering.wheel_angle"], n)
    share = _share(given[1], n)
    assist = ca.fmax(ca.fmin(share / (1 - share) * given[0], n["assist_most"]), -n["assist_most"])
    whole = n["inertia"] + inertia / n["ratio"] ** 2
    acceleration = (given[0] + assist + load / n["ratio"] - resisting) / whole
    rates = STATES.join(**{"steering.wheel_angle": rate, "steering.wheel_rate": acceleration,
                           "steering.friction_windup": wound})  # fmt: skip
    return rates, acceleration / n["ratio"]


def torque_function() -> ca.Function:
    """column_by_torque(STATES, [driver's torque, speed], [L_0, L_1], NUMBERS) -> rates, arm acceleration [rad/s2].

    L_0 and L_1 [N.m]: the linkage's torque on the arm where that accelerates by 0 and by 1 rad/s2.
    """
    state, given, load, number = SX.sym("x", STATES.size), SX.sym("g", 2), SX.sym("l", 2), SX.sym("n", NUMBERS.size)
    out = [ca.cse(v) for v in by_torque(state, given, load[0], load[0] - load[1], number)]
    return ca.Function("column_by_torque", [state, given, load, number], out)


def angle_function() -> ca.Function:
    """column_by_angle(STATES, [angle, rate, acceleration, speed] of the wheel, L, NUMBERS) -> rates, driver's torque.

    """
    state, given, load, number = SX.sym("x", STATES.size), SX.sym("g", 4), SX.sym("l"), SX.sym("n", NUMBERS.size)
    x, n = STATES.split(state), NUMBERS.split(number)
    resisting, wound = _resistance(x, given[1], given[0], n)
    whole = n["inertia"] * given[2] + resisting - load / n["ratio"]
    size = ca.fabs(whole)
    driver = ca.fmax(size * (1 - _share(given[3], n)), size - n["assist_most"]) * _way(whole)
    rates = STATES.join(**{"steering.wheel_angle": SX(0), "steering.wheel_rate": SX(0),
                           "steering.friction_windup": wound})  # fmt: skip
    return ca.Function("column_by_angle", [state, given, load, number], [ca.cse(ca.densify(rates)), ca.cse(driver)])


def load_function() -> ca.Function:
    """arm_load(corner outputs, LOADS, chassis acceleration 6, [theta, spin] acceleration, [along, shaft]) -> torque.

    A wheel's part of the linkage's torque on the arm [N.m] (`outputs.steering_load`).
    """
    from jounce.dynamics.articulated import LOADS
    from jounce.models.double_wishbone.outputs import steering_load
    from jounce.suspension.double_wishbone import OUTPUTS

    corner, load, acceleration = SX.sym("c", OUTPUTS.size), SX.sym("u", LOADS.size), SX.sym("a", 6)
    back, axial = SX.sym("b", 2), SX.sym("w", 2)
    part = steering_load(OUTPUTS.split(corner), LOADS.split(load), acceleration, back[0], axial)
    return ca.Function("arm_load", [corner, load, acceleration, back, axial], [ca.cse(part)])
