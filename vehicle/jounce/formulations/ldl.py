"""Sparse L D L^T of a symmetric indefinite matrix as straight-line expressions, without pivoting at run time.

For [M Y^T; Y 0] of Jain 2016, Eq. 8. A row of zero diagonal (a multiplier, or a coordinate without mass) can be a pivot
only once the elimination of others has filled its diagonal, and not with a combination of earlier rows: three
multipliers of a ball joint need three coordinates before them. Among the rows that can be, one of least degree comes
first (Tinney and Walker 1967).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from jounce.math.algebra import SX

#: Elements of the lower triangle: (row, column) with row >= column -> value.
Entries = Mapping[tuple[int, int], SX]


def minimum_degree(
    size: int, places: Sequence[tuple[int, int]], weak: Collection[tuple[int, int]] = ()
) -> tuple[int, ...]:
    """Order of the pivots of a symmetric matrix with entries at those places (either triangle).

    ``weak`` places (row > column) may be zero at times: no pivot rests on them.

    Raises ArithmeticError where no row that is left can be a pivot: such a matrix is structurally singular or needs
    pivots of two rows.
    """
    first: list[set[int]] = [set() for _ in range(size)]
    around: list[set[int]] = [set() for _ in range(size)]
    for i, j in places:
        if i != j:
            around[i].add(j)
            around[j].add(i)
        if (max(i, j), min(i, j)) not in weak:
            first[i].add(j)
            first[j].add(i)
    left, matched, order = set(range(size)), dict[int, int](), list[int]()
    while left:
        for pivot in sorted(left, key=lambda k: (len(around[k]), k)):
            if _enters(first, matched, pivot):
                break
        else:
            raise ArithmeticError(f"none of the rows {sorted(left)} can be a pivot")
        order.append(pivot)
        left.discard(pivot)
        for k in around[pivot]:
            around[k] = (around[k] | around[pivot]) - {k, pivot}
    return tuple(order)


def _enters(first: Sequence[set[int]], matched: dict[int, int], pivot: int) -> bool:
    """Whether the block of all pivots so far and this one is structurally regular, so that its last pivot is not zero.

    A matching (column -> row) of the pivots so far is extended by an augmenting path, if there is one.
    """
    tried: set[int] = set()

    def placed(row: int) -> bool:
        for column in sorted(first[row], key=lambda k: k != row):
            if column in tried or not (column == pivot or column in matched):
                continue
            tried.add(column)
            if column == pivot or placed(matched[column]):
                matched[column] = row
                return True
        return False

    return placed(pivot)


@dataclass(frozen=True)
class Factors:
    """L D L^T in an order of pivots."""

    order: tuple[int, ...]
    inverses: tuple[SX, ...]
    """Of the pivots."""
    columns: tuple[tuple[tuple[int, SX], ...], ...]
    """Per pivot: (row, element of L below it)."""

    @property
    def entries(self) -> int:
        """Elements of L below the diagonal."""
        return sum(map(len, self.columns))

    def solve(self, right: Sequence[SX]) -> list[SX]:
        """x of matrix x = right."""
        b = list(right)
        for k, below in zip(self.order, self.columns, strict=True):
            if not b[k].is_zero():
                for i, factor in below:
                    b[i] = b[i] - factor * b[k]
        for k, inverse in zip(self.order, self.inverses, strict=True):
            b[k] = b[k] * inverse
        for k, below in zip(reversed(self.order), reversed(self.columns), strict=True):
            for i, factor in below:
                b[k] = b[k] - factor * b[i]
        return b


def factorize(size: int, entries: Entries, weak: Collection[tuple[int, int]] = ()) -> Factors:
    """Factors of a symmetric matrix; elements that are zero are not stored. ``weak``: as of `minimum_degree`."""
    a = {(max(p), min(p)): v for p, v in entries.items() if not v.is_zero()}
    order = minimum_degree(size, tuple(a), weak)
    rows: list[dict[int, SX]] = [{} for _ in range(size)]
    for (i, j), v in a.items():
        rows[i][j] = v
        rows[j][i] = v
    inverses, columns = [], []
    for k in order:
        pivot = rows[k].pop(k)
        below = sorted(rows[k].items())
        inverse = 1 / pivot
        factors = [(i, v * inverse) for i, v in below]
        for i, _ in below:
            del rows[i][k]
        for n, (i, factor) in enumerate(factors):
            for j, v in below[: n + 1]:
                rows[i][j] = rows[i].get(j, SX(0)) - factor * v
                rows[j][i] = rows[i][j]
        inverses.append(inverse)
        columns.append(tuple(factors))
    return Factors(order, tuple(inverses), tuple(columns))
