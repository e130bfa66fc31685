"""The model against its independent judges, as numbers for docs/validation.md; the scenarios are those of the tests."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import test_articulated
import test_balances as tests
from chain import Chain, inputs
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: Steps of the balances [s].
STEPS = (8e-3, 4e-3, 2e-3, 1e-3)
FREE = tests.HMMWV.replaced({**tests.NO_SHOCKS, **tests.SMOOTH})
DAMPED = tests.HMMWV.replaced({**tests.LINEAR_SHOCKS, **tests.SMOOTH})


def accelerations() -> dict[str, float]:
    """Largest relative difference of each acceleration from the maximal-coordinate system, 200 random states."""
    worst: dict[str, float] = {}
    for ce in test_articulated.VEHICLES.values():
        for seed in range(100):
            for name, (mine, other) in test_articulated.compared(ce, seed).items():
                error = float(np.linalg.norm(mine - other)) / max(1.0, float(np.linalg.norm(other)))
                worst[name] = max(worst.get(name, 0.0), error)
    return worst


def balances() -> dict[str, Array]:
    """Relative errors at each of STEPS, measured on the bodies of the maximal-coordinate system."""
    momentum = np.array([_momentum(h) for h in STEPS]).T
    return {
        "energy of a vehicle on springs, 5 s": np.array([_energy(h) for h in STEPS]),
        "energy less the work of the steering rig, 1.2 s": np.array([_work(h) for h in STEPS]),
        "momentum of a free vehicle, 1 s": momentum[0],
        "angular momentum of a free vehicle, 1 s": momentum[1],
    }


@cache
def _chain(damped: bool) -> Chain:
    return Chain(DAMPED if damped else FREE)


def _energy(step: float) -> float:
    """Drift over the kinetic energy at the start."""
    start = tests.moving(1, theta_rate=1.2)
    x, _ = _chain(False).integrate(start, step, round(5.0 / step), inputs(gravity=9.81))
    bodies = [tests.bodies(FREE, x[i]) for i in np.linspace(0, len(x) - 1, 5).astype(int)]
    energy = np.array([s.kinetic_energy() + tests.potential(FREE, s, 9.81) for s in bodies])
    return float(np.abs(energy - energy[0]).max() / bodies[0].kinetic_energy())


def _work(step: float) -> float:
    """Energy gained less work done, over the range of the work."""
    count = round(1.2 / step)
    x, work = _chain(False).integrate(tests.moving(2, theta_rate=2.0), step, count, inputs(gravity=9.81), _steer)
    energy = []
    for i in (0, count // 3, 2 * count // 3, count):
        s = tests.bodies(FREE, x[i], _arm(i * step))
        energy.append(s.kinetic_energy() + tests.potential(FREE, s, 9.81) - work[i])
    return float(np.abs(np.array(energy) - energy[0]).max() / np.ptp(work))


def _momentum(step: float) -> Array:
    """(2,): change of the linear and of the angular momentum over their size at the start."""
    x, _ = _chain(True).integrate(
        tests.moving(3), step, round(1.0 / step), inputs(drive=[100.0, -50.0, 80.0, 20.0]), _steer
    )
    first, last = (tests.momentum(tests.bodies(DAMPED, x[i], _arm(t))) for i, t in ((0, 0.0), (-1, 1.0)))
    size = [np.linalg.norm(first[:3]), np.linalg.norm(first[3:])]
    return np.array([np.linalg.norm((last - first)[:3]), np.linalg.norm((last - first)[3:])]) / size


def _steer(t: ca.SX) -> ca.SX:
    return 0.4 * ca.sin(4 * t)


def _arm(t: float) -> tuple[float, float, float]:
    return float(0.4 * np.sin(4 * t)), float(1.6 * np.cos(4 * t)), float(-6.4 * np.sin(4 * t))
