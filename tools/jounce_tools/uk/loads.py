"""Forces of the paper's law against its weight, and the wheel loads that satisfy it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jounce.data import load_vehicle
from jounce.models.halfcar.equations import NUMBERS
from jounce.models.halfcar.signals import DATA
from jounce.reference.halfcar_prints import parts, rest

Array = NDArray[np.float64]


def _rows(x: Array, torque: float) -> tuple[Array, Array, Array]:
    """(D, rho, v) of the car at a state, with a torque on the rear wheel."""
    car = load_vehicle(DATA)
    number = [car[name] for name in NUMBERS.sizes]
    mass, forces, rows, b = (np.array(p) for p in parts()(x[:7], x[7:14], [0.0, torque], number))
    d = rows @ np.linalg.solve(mass, rows.T)
    return d, b.ravel() - rows @ np.linalg.solve(mass, forces.ravel()), x[7:14]


def force_by_weight(torque: float) -> tuple[Array, Array, Array]:
    """(s, force of RELAXED, force of CONTINUOUS) [N] on the rear wheel at rest, as its weight goes from 1 to 0."""
    d, rho, _ = _rows(rest(), torque)
    s = np.concatenate([np.linspace(1.0, 0.05, 60), np.geomspace(0.05, 1e-6, 40)])
    relaxed, continuous = [], []
    for each in s:
        w = np.array([1.0, 1.0, each, 1.0])
        relaxed.append(np.linalg.solve(d, w**2 * rho)[2])
        soft = np.diag(w) @ d @ np.diag(w) + np.diag((1 - w**2) * np.diag(d))
        continuous.append((w * np.linalg.solve(soft, w * rho))[2])
    return s, np.array(relaxed), np.array(continuous)


def load_map(x: Array, torque: float, mu: float) -> tuple[Array, Array, Array]:
    """(load that weight and friction of the rear wheel go by, load that comes out, fixed points) [N]."""
    d, rho, v = _rows(x, torque)
    radius = load_vehicle(DATA)["wheel.radius"]
    sliding = (v[2] + v[5] + v[6]) * radius - v[0]
    loads = np.geomspace(100.0, 60_000.0, 6000)
    out = []
    for n in loads:
        use = torque / (3 * mu * n * radius)
        friction = np.array([0.0, 0.0, mu * n * np.tanh(3 * use) * np.tanh(sliding), 0.0])
        weights = np.array([1.0, 1.0, (1 - np.tanh(use) ** 2) ** 2, 1.0])
        out.append(np.linalg.solve(d, weights * (rho - d @ friction))[3])
    came = np.array(out)
    fixed = loads[:-1][np.diff(np.sign(came - loads)) != 0]
    return loads, came, fixed
