"""The half car of the product: runs, and its system of equations, for the tests of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import jounce
from jounce.data import load_vehicle
from jounce.models.halfcar.equations import NUMBERS, STATES
from jounce.models.halfcar.signals import DATA
from jounce.reference.halfcar_prints import parts, rest
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.linear import Exchange

Array = NDArray[np.float64]
FACTORY = open_builtin("halfcar")
TABLE = FACTORY.table
NAMES = [s.name for s in TABLE.outputs]
CAR = load_vehicle(DATA)
NUMBER = np.array([CAR[name] for name in NUMBERS.sizes])
RADIUS = CAR["wheel.radius"]
ALL_ROLL = np.ones(4)


def simulate(duration: float, inputs: dict[str, Any] | None = None, **parameters: Any) -> Any:
    named = {k.replace("__", "."): v for k, v in parameters.items()}
    return jounce.simulate("halfcar", inputs or {}, duration, **named)


def at(r: Any, name: str, time: float) -> float:
    return float(np.interp(time, r.time, r[name]))


def random_motion(rng: np.random.Generator) -> tuple[Array, Array]:
    q = np.array([rng.uniform(-5, 5), 0.42 + rng.uniform(-0.05, 0.05), *rng.uniform(-0.1, 0.1, 2),
                  *rng.uniform(-3, 3, 2), rng.uniform(-0.1, 0.1)])  # fmt: skip
    return q, rng.normal(size=7) * [5, 0.3, 0.3, 0.5, 20, 20, 0.5]


def put(e: Exchange, q: Array, v: Array, torques: tuple[float, float, float], mu: float) -> dict[str, float]:
    x = np.zeros(STATES.size)
    x[:7], x[7:14], x[14:16] = q, v, (1383.6, 2354.0)
    e.set_inputs(np.array([*torques, mu, mu]))
    e.set_states(x)
    return dict(zip(NAMES, e.get_outputs(), strict=True))


def system(torque: float) -> tuple[Array, Array, Array, Array]:
    x = rest()
    mass, forces, rows, b = (np.array(p) for p in parts()(x[:7], x[7:14], [0.0, torque], NUMBER))
    return mass, forces.ravel(), rows, b.ravel()
