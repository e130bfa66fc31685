"""Axes of the bridges: ISO 8855 (FLU in ENU) to aerospace (FRD in NED).

`jounce.frames` has every convention; the client installs without it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def forward_right_down(v: ArrayLike) -> Array:
    """A vector or pseudovector in the axes of the vehicle: (3,) to (3,)."""
    x, y, z = np.asarray(v, dtype=np.float64)
    return np.array([x, -y, -z])


def north_east_down(v: ArrayLike) -> Array:
    """A vector or pseudovector in the axes of the world: (3,) to (3,)."""
    x, y, z = np.asarray(v, dtype=np.float64)
    return np.array([y, x, -z])


def quaternion(q: ArrayLike) -> Array:
    """Orientation w x y z of the vehicle in the world, both with their new axes: (4,) to (4,).

    The half turn about north-east, times q, times the half turn about forward.
    """
    w, x, y, z = np.asarray(q, dtype=np.float64)
    return math.sqrt(0.5) * np.array([w + z, x + y, x - y, w - z])


def into_body(q: ArrayLike, v: ArrayLike) -> Array:
    """A vector of the world in the axes of a body with the orientation w x y z: (4,), (3,) to (3,)."""
    w, *imaginary = np.asarray(q, dtype=np.float64)
    u, given = -np.array(imaginary), np.asarray(v, dtype=np.float64)
    across = 2.0 * np.cross(u, given)
    turned: Array = given + w * across + np.cross(u, across)
    return turned
