"""Random roads of the classes of ISO 8608: two tracks with the spectrum of a class and the coherence of the ground.

G(n) = G(n0) (n/n0)^-2 with n0 = 0.1 1/m, G(n0) = 16e-6 4^k m3, k = 0 for class A to 7 for H (ISO 8608:2016, annex C),
for wave numbers from 0.011 to 2.83 1/m. The tracks have the coherence a K_1(a), a = 2 pi n B, of an isotropic surface
(Kamash and Robson, J. Sound Vib. 57 (1978) 89).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jounce.terrain.exact import bessel_k1_times, cos_sin, fourier
from jounce.terrain.packed import Terrain, TerrainError

Array = NDArray[np.float64]
CLASSES = "ABCDEFGH"
SPACING = 0.05
"""Distance of points [m]."""
POINTS = 1 << 18
LONGEST = POINTS * SPACING
"""After this length the road would repeat [m]."""
BAND = (0.011, 2.83)
"""Wave numbers [1/m]."""
FADE = 5.0
"""Length over which the road begins [m]."""
_REFERENCE = 0.1


def density(road_class: str, n: Array) -> Array:
    """Displacement PSD G(n) [m3] of a class. Raises TerrainError for one that there is not."""
    if len(road_class) != 1 or road_class not in CLASSES:
        raise TerrainError(f"road class {road_class!r}: expected one of {', '.join(CLASSES)}")
    return np.asarray(16e-6 * 4.0 ** CLASSES.index(road_class) * (_REFERENCE * _REFERENCE) / (n * n))


def tracks(road_class: str, seed: int, track: float) -> tuple[Array, Array]:
    """Heights (POINTS) [m] on the left and the right, ``track`` [m] apart, periodic; the same bits everywhere."""
    j = np.arange(math.ceil(BAND[0] * LONGEST), math.floor(BAND[1] * LONGEST) + 1)
    n = j / LONGEST
    size = np.sqrt(2 * density(road_class, n) / LONGEST)
    raw = np.random.PCG64(seed).random_raw(2 * len(n)) >> np.uint64(11)
    c, s = cos_sin(2 * math.pi * (raw.astype(float) / 2.0**53))
    shared = np.minimum(bessel_k1_times(2 * math.pi * track * n), 1.0)
    other = np.sqrt(1.0 - shared * shared)
    left = size * np.stack([c[: len(n)], s[: len(n)]])
    right = shared * left + other * size * np.stack([c[len(n) :], s[len(n) :]])
    return _heights(j, left), _heights(j, right)


def iso_road(road_class: str, seed: int, length: float = 1000.0, *, track: float = 1.82,
             rms: float | None = None) -> Terrain:  # fmt: skip
    """A road along x from the origin, faded in over `FADE`; between its two tracks the height is linear.

    With ``rms`` [m] it is scaled so that the heights of the left track have that root of the mean square over
    `LONGEST`, by which courses of ride tests are named.
    Raises TerrainError for a class, a seed, a length up to `LONGEST` [m] or a track that cannot be.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise TerrainError(f"seed {seed!r}: expected a whole number of 0 to 2^64 - 1")
    if not 2 * FADE <= length <= LONGEST:
        raise TerrainError(f"length {length} m: expected {2 * FADE} to {LONGEST} m, after which the road would repeat")
    if not 0.1 <= track <= 10.0:
        raise TerrainError(f"track {track} m: expected 0.1 to 10 m")
    if rms is not None and not 0.0 < rms <= 1.0:
        raise TerrainError(f"rms {rms} m: expected up to 1 m")
    rows = int(length / SPACING) + 1
    left, right = tracks(road_class, seed, track)
    if rms is not None:
        scale = rms / math.sqrt(math.fsum((left * left).tolist()) / POINTS)
        left, right = scale * left, scale * right
    fade = np.minimum(np.arange(rows) * (SPACING / FADE), 1.0)[:, None]
    both = np.stack([np.resize(right, rows), np.resize(left, rows)], 1) * (fade * fade * (3.0 - 2.0 * fade))
    return Terrain("PROFILE", both, SPACING, track, (0.0, -track / 2))


def _heights(j: NDArray[np.int64], spectrum: Array) -> Array:
    re, im = np.zeros(POINTS), np.zeros(POINTS)
    re[j], im[j] = spectrum
    return fourier(re, im)
