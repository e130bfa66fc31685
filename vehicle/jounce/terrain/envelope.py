"""What a wheel feels of short waves and edges: the path of a rigid disc that rolls over the ground.

A single point of contact would follow every edge. The height of the disc's centre less its radius is a smoother ground
under which a single point of contact gives the disc's motion, as the page of the tires' limits says.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jounce.terrain.obstacles import heights
from jounce.terrain.packed import Terrain, TerrainError


def enveloped(t: Terrain, radius: float, *, length: float = 0.0) -> Terrain:
    """The terrain as a disc of a radius [m] in the plane of u feels it, averaged over a length of contact [m].

    Obstacles become part of the grid, so its spacing must be small beside them. Not of a ROAD. Raises TerrainError.
    z(u) = max over |s| < R of z(u + s) + sqrt(R^2 - s^2) - R (a dilation; e.g. Schmeitz, TU Delft 2004, section 3.1).
    """
    if t.kind == "ROAD":
        raise TerrainError("enveloping of a ROAD: expected a HEIGHTMAP or PROFILE")
    if not 2 * t.du <= radius <= 10.0 or not 0.0 <= length <= 2 * radius:
        raise TerrainError(f"radius {radius} m, length {length} m: expected a radius of two spacings ({2 * t.du} m) to "
                           "10 m, and a length of contact of up to twice that")  # fmt: skip
    rows, columns = t.heights.shape
    u, v = np.meshgrid(t.du * np.arange(rows), t.dv * np.arange(columns), indexing="ij")
    c, n = np.cos(t.yaw), np.sin(t.yaw)
    ground = t.heights + heights(t.obstacles, t.origin[0] + c * u - n * v, t.origin[1] + n * u + c * v)
    reach = int(radius / t.du)
    padded = np.pad(ground, ((reach, reach), (0, 0)), mode="edge")
    felt = np.full_like(ground, -np.inf)
    for k in range(-reach, reach + 1):
        rise = np.sqrt(max(radius**2 - (k * t.du) ** 2, 0.0)) - radius
        np.maximum(felt, padded[reach + k : reach + k + rows] + rise, out=felt)
    if (half := int(length / 2 / t.du)) > 0:
        total = np.cumsum(np.pad(felt, ((half + 1, half), (0, 0)), mode="edge"), axis=0)
        felt = (total[2 * half + 1 :] - total[: -2 * half - 1]) / (2 * half + 1)
    return replace(t, heights=felt, obstacles=())
