"""Which segments of a road's reference line lie near a place: an index by square buckets.

With it the search for a place starts from the place alone, so that the answer does not depend on where it was asked
last, also where a road crosses itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: How far beyond its edges a road is found segment by segment [m]; farther off, the nearest bucket of the road counts.
MARGIN = 5.0
_SMALLEST, _MOST = 4.0, 1 << 18


@dataclass(frozen=True, eq=False)
class Buckets:
    """Runs of segments by bucket; every bucket has one at least."""

    origin: tuple[float, float]
    size: float
    shape: tuple[int, int]
    """Buckets along x and y; the number of a bucket is that along y times shape[0] and that along x."""
    first: NDArray[np.int64]
    """(buckets + 1): a bucket's runs are those from first[k] to first[k + 1]."""
    runs: NDArray[np.int64]
    """(runs, 2): first and last segment of each."""


def buckets(line: Array, v: Array) -> Buckets:
    """The index of a road with points (n, 2) and positions v across it [m]."""
    t = np.empty_like(line)
    t[1:-1], t[0], t[-1] = line[2:] - line[:-2], line[1] - line[0], line[-1] - line[-2]
    left = np.stack([-t[:, 1], t[:, 0]], 1) / np.hypot(*t.T)[:, None]
    right, left = line + (v[0] - MARGIN) * left, line + (v[-1] + MARGIN) * left
    corners = np.stack([right[:-1], right[1:], left[:-1], left[1:], line[:-1], line[1:]])
    low, high = corners.min(0), corners.max(0)
    start, span = low.min(0), np.ptp(np.concatenate([low, high]), axis=0)
    size = max(_SMALLEST, float(np.sqrt(np.prod(span) / _MOST)))
    n_x, n_y = (int(s // size) + 1 for s in span)
    found: list[list[list[int]]] = [[] for _ in range(n_x * n_y)]
    a, b = ((low - start) // size).astype(int), ((high - start) // size).astype(int)
    for k, ((ax, ay), (bx, by)) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        for row in range(ay, by + 1):
            for runs in found[row * n_x + ax : row * n_x + bx + 1]:
                if runs and runs[-1][1] == k - 1:
                    runs[-1][1] = k
                else:
                    runs.append([k, k])
    _fill(found, n_x, n_y)
    first = np.concatenate([[0], np.cumsum([len(r) for r in found])])
    return Buckets((float(start[0]), float(start[1])), size, (n_x, n_y), first,
                   np.array([r for runs in found for r in runs]).reshape(-1, 2))  # fmt: skip


def _fill(found: list[list[list[int]]], n_x: int, n_y: int) -> None:
    """Gives an empty bucket the runs of a neighbour that has some, from the road outwards."""
    edge = [k for k, runs in enumerate(found) if runs]
    while edge:
        more = []
        for k in edge:
            x, y = k % n_x, k // n_x
            for i, j in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                if 0 <= i < n_x and 0 <= j < n_y and not found[j * n_x + i]:
                    found[j * n_x + i] = [list(r) for r in found[k]]
                    more.append(j * n_x + i)
        edge = more
