"""Undamped frequencies of springs and tires about the drawn pose, and the longest steps that they allow.

`jounce.spectrum` has the modes of the engine's own step, with damping, weight and friction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import mobility, rows
from jounce.architecture.target import Multibody

Array = NDArray[np.float64]

#: Frequency below which a motion counts as free [rad/s].
FREE = 1e-3


@dataclass(frozen=True)
class Modes:
    """Undamped modes about the drawn pose, rigid motions left out; frequencies rise."""

    frequencies: Array
    """(modes,) [rad/s]"""
    shapes: Array
    """(6 bodies, modes) velocities of the bodies, of unit kinetic energy 1/2."""


@dataclass(frozen=True)
class Limit:
    """What a spring or tire alone does to the bodies at its ends."""

    name: str
    frequency: float
    """Natural frequency of its motion, everything else slack [rad/s]."""
    damping: float
    """Damping ratio of the same [1]."""

    @property
    def step(self) -> float:
        """Longest step [s] with centred damping: h w = 2, whatever the damping."""
        return 2 / self.frequency

    @property
    def step_explicit(self) -> float:
        """Longest step [s] with damping at the old velocity: h w = 2 (sqrt(1 + zeta^2) - zeta).

        Lesiv 2011, Eq. 23, has 2 / w_d, the damped frequency, which lets a damped spring explode.
        """
        return self.step * (float(np.sqrt(1 + self.damping**2)) - self.damping)


def modes(model: Multibody) -> Modes:
    """Eigenvalues of N^T K N against N^T M N, N the motions that the joints leave, K springs and tires.

    Without what the weight adds (geometric stiffness) and without friction: the step map has both.
    """
    basis, mass, forces, stiffness, _ = _parts(model)
    # Cholesky makes the problem symmetric: y = L^T x.
    root = np.linalg.inv(np.linalg.cholesky(basis.T @ mass @ basis))
    lines = forces @ basis @ root.T
    values, vectors = np.linalg.eigh(lines.T @ (stiffness[:, None] * lines))
    frequencies = np.sqrt(np.maximum(values, 0.0))
    moving = frequencies > FREE
    return Modes(frequencies[moving], basis @ root.T @ vectors[:, moving])


def limits(model: Multibody) -> tuple[Limit, ...]:
    """Of every spring that has a stiffness and every contact of a wheel, in order."""
    basis, mass, forces, stiffness, damping = _parts(model)
    compliance = basis @ np.linalg.solve(basis.T @ mass @ basis, basis.T)
    names = [*(s.name for s in model.springs), *(f"tire of {w.name}" for w, _ in model.contacts())]
    found = []
    for name, line, k, c in zip(names, forces, stiffness, damping, strict=True):
        if k > 0 and (reach := float(line @ compliance @ line)) > 0:
            frequency = float(np.sqrt(k * reach))
            found.append(Limit(name, frequency, c * reach / (2 * frequency)))
    return tuple(found)


def longest_step(model: Multibody) -> float:
    """The longest stable step [s] of all springs and tires together, dampers centred: 2 over the highest frequency."""
    return 2 / float(modes(model).frequencies[-1])


def _parts(model: Multibody) -> tuple[Array, Array, Array, Array, Array]:
    """Motions (6 n, motions), mass (6 n, 6 n), lines (springs and contacts, 6 n), their stiffness and damping."""
    size = 6 * len(model.bodies)
    mass = np.zeros((size, size))
    for k, body in enumerate(model.bodies):
        mass[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.mass * np.eye(3)
        mass[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = body.inertia
    pose = rows.drawn(model)
    lines = np.vstack([rows.springs(model, pose)[1], rows.contacts(model)])
    tires = [(w.stiffness, w.damping) for w, _ in model.contacts()]
    stiffness, damping = np.array([*((s.stiffness, s.damping) for s in model.springs), *tires]).reshape(-1, 2).T
    return mobility.free(rows.joints(model, pose)[1]), mass, lines, stiffness, damping
