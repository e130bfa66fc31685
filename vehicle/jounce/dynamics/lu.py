"""Sparse L U as straight-line expressions: the order of the pivots is chosen once, on numbers, when code is emitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.math.algebra import SX

#: A pivot is at least this part of the largest entry of its row.
THRESHOLD = 0.1
#: Entries below it are zero: those of the rows are about 1.
ZERO = 1e-9


def pivot_order(matrix: NDArray[np.float64]) -> tuple[tuple[int, int], ...]:
    """(row, column) of the pivots of a matrix in turn, one a column, those with least fill first (Markowitz 1957).

    The numbers must be those of a generic position: what is zero there is taken to be zero everywhere. Rows that are
    combinations of others are left out. Raises ArithmeticError where the columns are not independent.
    """
    a = np.array(matrix, dtype=float)
    rows, columns = list(range(len(a))), list(range(a.shape[1]))
    order = []
    while columns:
        left = np.abs(a[np.ix_(rows, columns)])
        there = left > ZERO
        count = (there.sum(axis=1)[:, None] - 1) * (there.sum(axis=0)[None, :] - 1)
        largest = left.max(axis=1, initial=0.0)
        allowed = there & (left >= THRESHOLD * largest[:, None])
        if not allowed.any():
            raise ArithmeticError(f"column {columns[0]} is a combination of others")
        # of equal fill the larger pivot: count is whole, the relative size below 1
        cost = np.where(allowed, count - 0.5 * left / np.maximum(largest, ZERO)[:, None], np.inf)
        i, j = np.unravel_index(int(cost.argmin()), cost.shape)
        row, column = rows.pop(int(i)), columns.pop(int(j))
        order.append((row, column))
        for other in rows:
            if a[other, column] != 0.0:
                a[other] -= a[other, column] / a[row, column] * a[row]
                a[other, column] = 0.0
    return tuple(order)


@dataclass(frozen=True)
class Factors:
    """L U of a matrix in a given order of pivots."""

    order: tuple[tuple[int, int], ...]
    inverses: tuple[SX, ...]
    """Of the pivots."""
    multipliers: tuple[tuple[tuple[int, SX], ...], ...]
    """Per pivot: (row below, factor)."""
    upper: tuple[tuple[tuple[int, SX], ...], ...]
    """Per pivot: (column to the right, entry)."""
    pivots: tuple[SX, ...]

    def solve(self, right: Sequence[SX]) -> list[SX]:
        """x of matrix x = right, by column; rows without a pivot are left out."""
        b, x = list(right), [SX(0)] * len(self.order)
        for (row, _), below in zip(self.order, self.multipliers, strict=True):
            for other, factor in below:
                b[other] = b[other] - factor * b[row]
        steps = zip(self.order, self.inverses, self.upper, strict=True)
        for (row, column), inverse, across in reversed(list(steps)):
            rest = b[row]
            for other, entry in across:
                rest = rest - entry * x[other]
            x[column] = rest * inverse
        return x

    def quality(self) -> SX:
        """Least size of a pivot as part of the largest entry of its row when its turn comes."""
        worst = SX(1.0)
        for pivot, across in zip(self.pivots, self.upper, strict=True):
            largest = ca.fabs(pivot)
            for _, entry in across:
                largest = ca.fmax(largest, ca.fabs(entry))
            worst = ca.fmin(worst, ca.fabs(pivot) / largest)
        return worst

    def determinant(self) -> SX:
        """Of the matrix, but for a sign that the order of the pivots gives."""
        product = SX(1.0)
        for pivot in self.pivots:
            product = product * pivot
        return product


def factorize(rows: Sequence[Mapping[int, SX]], order: Sequence[tuple[int, int]]) -> Factors:
    """Factors of a matrix given by row: column -> entry. Entries that are zero are not stored."""
    a = [{k: v for k, v in row.items() if not v.is_zero()} for row in rows]
    left = {row for row, _ in order}
    inverses, multipliers, upper, pivots = [], [], [], []
    for row, column in order:
        left.discard(row)
        pivot = a[row].pop(column)
        inverse = 1 / pivot
        below = []
        for other in sorted(left):
            if column not in a[other]:
                continue
            factor = a[other].pop(column) * inverse
            below.append((other, factor))
            for k, entry in a[row].items():
                a[other][k] = a[other].get(k, SX(0)) - factor * entry
        inverses.append(inverse)
        multipliers.append(tuple(below))
        upper.append(tuple(a[row].items()))
        pivots.append(pivot)
    return Factors(tuple(order), tuple(inverses), tuple(multipliers), tuple(upper), tuple(pivots))
