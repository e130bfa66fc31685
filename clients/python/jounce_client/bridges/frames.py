"""Axes of the bridges: jounce (ISO 8855: x forward, y left, z up) to aerospace (x forward, y right, z down).

The world has north along x, so that y is west and z up; north-east-down is then the same half turn about x.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_HALF_TURN: Array = np.array([1.0, -1.0, -1.0])


def forward_right_down(v: ArrayLike) -> Array:
    """A vector or pseudovector in the axes of the vehicle: (3,) to (3,)."""
    turned: Array = np.asarray(v, dtype=np.float64) * _HALF_TURN
    return turned


def north_east_down(v: ArrayLike) -> Array:
    """A vector or pseudovector in the axes of the world: (3,) to (3,)."""
    turned: Array = np.asarray(v, dtype=np.float64) * _HALF_TURN
    return turned


def quaternion(q: ArrayLike) -> Array:
    """Orientation w x y z of the vehicle in the world, both with their new axes: (4,) to (4,)."""
    turned: Array = np.asarray(q, dtype=np.float64) * np.array([1.0, 1.0, -1.0, -1.0])
    return turned
