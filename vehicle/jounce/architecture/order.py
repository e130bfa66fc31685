"""Order and pattern of the factors of K = [M J^T; J -cfm], which the impulse engine keeps at run time.

K is symmetric and quasi-definite, so that L D L^T exists for every order (R. Vanderbei, "Symmetric quasidefinite
matrices", SIAM J. Optimization 5, 1995). The order is by minimum degree among the pivots that are safe on the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: A pivot is safe while it is at least this part of its first value.
SAFE = 0.02


class OrderError(ValueError):
    """No safe order: the rows of the joints depend on each other."""

    def __init__(self, unknown: int) -> None:
        """At that unknown, of which the pivot has vanished."""
        super().__init__(f"the pivot of unknown {unknown} vanishes: rows of joints depend on each other")
        self.unknown = unknown


@dataclass(frozen=True)
class Factors:
    """Pattern of L, by places in the order of elimination."""

    order: tuple[int, ...]
    """The unknown at each place."""
    rows: tuple[tuple[int, ...], ...]
    """The rows of each column of L, rising."""

    @property
    def entries(self) -> int:
        """Number of entries of L below its diagonal."""
        return sum(map(len, self.rows))

    @property
    def products(self) -> int:
        """Number of products in a factorization."""
        return sum(len(r) * (len(r) + 3) // 2 for r in self.rows)

    def tables(self) -> list[list[int]]:
        """place, pattern, its columns and entries, start, row: as in ``impulse.h``."""
        place = [0] * len(self.order)
        for k, unknown in enumerate(self.order):
            place[unknown] = k
        start = np.concatenate([[0], np.cumsum([len(r) for r in self.rows])])
        of_row: list[list[tuple[int, int]]] = [[] for _ in self.order]
        for column, rows in enumerate(self.rows):
            for k, row in enumerate(rows):
                of_row[row].append((column, int(start[column]) + k))
        pattern = np.concatenate([[0], np.cumsum([len(r) for r in of_row])])
        pairs = [pair for row in of_row for pair in row]
        return [place, list(self.order), pattern.tolist(), [c for c, _ in pairs], [e for _, e in pairs],
                start.tolist(), [r for rows in self.rows for r in rows]]  # fmt: skip


def ordered(matrices: Sequence[NDArray[np.float64]], full: NDArray[np.bool_], velocities: int) -> Factors:
    """Order of elimination for matrices (n, n) whose entries may differ from 0 where ``full``.

    The first ``velocities`` unknowns have positive pivots, the others negative ones; the size of a row's pivot is
    judged against J M^-1 J^T + cfm, in all matrices together: a pivot that is safe at one pose may be 0 at another. The
    first one decides whether rows depend on each other; others are left out from where they do. Raises OrderError.
    """
    n = len(full)
    rest, pattern = [m.copy() for m in matrices], full | full.T | np.eye(n, dtype=bool)
    sign = np.where(np.arange(n) < velocities, 1.0, -1.0)
    first = [_first(m, velocities) for m in matrices]
    left = np.ones(n, dtype=bool)
    order: list[int] = []
    columns: list[NDArray[np.intp]] = []
    for _ in range(n):
        ratios = [np.where(left, sign * np.diag(r) / f, -np.inf) for r, f in zip(rest, first, strict=True)]
        while not (ratio := np.min(ratios, axis=0)).max() > 1e-12:
            if len(ratios) == 1:
                raise OrderError(int(np.flatnonzero(left)[0]))
            ratios, rest, first = ratios[:-1], rest[:-1], first[:-1]
        safe = left & (ratio >= min(SAFE, 0.5 * float(ratio.max())))
        degree = np.where(safe, (pattern & left).sum(1), n + 1)
        k = int(np.argmin(degree))
        left[k] = False
        others = np.flatnonzero(pattern[k] & left)
        order.append(k)
        columns.append(others)
        pattern[np.ix_(others, others)] = True
        for r in rest:
            r[np.ix_(others, others)] -= np.outer(r[others, k], r[k, others]) / r[k, k]
    place = np.argsort(order)
    return Factors(tuple(order), tuple(tuple(sorted(int(p) for p in place[c])) for c in columns))


def _first(matrix: NDArray[np.float64], velocities: int) -> NDArray[np.float64]:
    """The sizes that pivots begin with."""
    mass, rows = matrix[:velocities, :velocities], matrix[velocities:, :velocities]
    own = np.einsum("ij,ji->i", rows, np.linalg.solve(mass, rows.T)) - np.diag(matrix)[velocities:]
    found: NDArray[np.float64] = np.concatenate([np.diag(mass), own])
    return found
