"""Natural frequencies of a multibody that steps itself: modes of the map of one tick."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Steps of the central differences: positions [m, rad] and velocities [m/s, rad/s].
STEP, RATE_STEP = 1e-6, 1e-5


@dataclass(frozen=True)
class Mode:
    """A damped oscillation."""

    frequency: float
    """Undamped, |s| / 2 pi [Hz]."""
    damping: float
    """Ratio to critical [1]."""
    shape: NDArray[np.complex128]
    """Eigenvector: displacements and turns of the bodies (6 n), angles of spins, their rates, deflections of tires."""


def moved(x: Array, step: Array, bodies: int, spins: int) -> Array:
    """State ``x`` of the motion after a displacement ``step``, which is a tangent of it.

    The state has per body centre 3 [m], quaternion 4, velocity 3 [m/s] and angular velocity 3 [rad/s], per spin angle
    [rad] and rate [rad/s], then deflections of the tires [m]: (13 bodies + 2 spins + tires,). The displacement has
    those of bodies (6 bodies: place, small turn), spins, their rates in the same order, and tires:
    (12 bodies + 2 spins + tires,).
    """
    x, nv = x.copy(), 6 * bodies + spins
    at, rates = step[:nv], step[nv : 2 * nv]
    for b in range(bodies):
        own = x[13 * b : 13 * b + 13]
        own[:3] += at[6 * b : 6 * b + 3]
        own[3:7] = _turned(own[3:7], at[6 * b + 3 : 6 * b + 6])
        own[7:] += rates[6 * b : 6 * b + 6]
    spin = x[13 * bodies : 13 * bodies + 2 * spins].reshape(-1, 2)
    spin += np.stack([at[6 * bodies :], rates[6 * bodies :]], 1)
    x[13 * bodies + 2 * spins :] += step[2 * nv :]
    return x


def difference(x: Array, x0: Array, bodies: int, spins: int) -> Array:
    """The small displacement that moves x0 to x: the inverse of `moved`."""
    at, rates = [], []
    for b in range(bodies):
        own, old = x[13 * b : 13 * b + 13], x0[13 * b : 13 * b + 13]
        conjugate = old[3:7] * [1, -1, -1, -1]
        at += [*(own[:3] - old[:3]), *(2 * _product(own[3:7], conjugate)[1:])]
        rates += [*(own[7:] - old[7:])]
    spin = (x - x0)[13 * bodies : 13 * bodies + 2 * spins].reshape(-1, 2)
    return np.array([*at, *spin[:, 0], *rates, *spin[:, 1], *(x - x0)[13 * bodies + 2 * spins :]])


def step_map(tick: Callable[[Array], Array], x0: Array, bodies: int, spins: int) -> Array:
    """(m, m) derivative of one tick about a state, by central differences in the m displacements of `moved`."""
    tires = len(x0) - 13 * bodies - 2 * spins
    nv = 6 * bodies + spins
    steps = np.concatenate([np.full(nv, STEP), np.full(nv, RATE_STEP), np.full(tires, STEP)])
    columns = [
        difference(tick(moved(x0, e, bodies, spins)), tick(moved(x0, -e, bodies, spins)), bodies, spins) / (2 * size)
        for e, size in zip(np.diag(steps), steps, strict=True)
    ]
    return np.array(columns).T


def modes(matrix: Array, h: float, least: float = 0.05) -> list[Mode]:
    """Oscillations of a map of one tick of h [s] above the frequency ``least`` [Hz], rising: s = log(eigenvalue) / h.

    Motions that the joints forbid have eigenvalue 0, and free ones 1; both are left out.
    """
    values, vectors = np.linalg.eig(matrix)
    found = []
    for value, shape in zip(values, vectors.T, strict=True):
        if abs(value) < 1e-3 or value.imag <= 0:
            continue
        s = np.log(value) / h
        if abs(s) > 2 * np.pi * least and abs(s.imag) < 0.99 * np.pi / h:
            found.append(Mode(float(abs(s) / (2 * np.pi)), float(-s.real / abs(s)), shape))
    return sorted(found, key=lambda m: m.frequency)


def _product(p: Array, q: Array) -> Array:
    vector = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *vector])


def _turned(q: Array, by: Array) -> Array:
    p = _product(np.array([1.0, *(0.5 * by)]), q)
    return p / np.linalg.norm(p)
