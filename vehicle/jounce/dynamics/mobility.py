"""How many motions the loops of a mechanism leave, and which coordinates give its position.

Motions = coordinates - rank of Y (Jain 2016, Eq. 12), by singular values, at the design position and at positions that
are reached from it along the motions that are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.embedding import Embedding

Array = NDArray[np.float64]

#: Part of the largest singular value below which one is zero.
ZERO = 1e-6
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True)
class Mobility:
    """Motions of a mechanism, and the positions at which they were counted."""

    motions: int
    needed: int
    positions: tuple[Array, ...]
    """All coordinates q, the design position first."""
    holding: tuple[str, ...]
    """Joints and rods whose rows hold the least independent motion (smallest left singular vector)."""
    moving: tuple[str, ...]
    """Coordinates that move while the independent ones stand still."""


def count(embedding: Embedding, numbers: ca.DM) -> Mobility:
    """The motions that the rows leave. Prescribed points stay in the design position."""
    rows = embedding.rows_function()
    names = [row.name for row in embedding.placed(embedding.symbols()).rows()]

    positions, size = embedding.positions(numbers), len(embedding.names)
    ys = [np.array(rows(q, embedding.rest, numbers)[1]) for q in positions]
    ranks = [_rank(y) for y in ys]
    y = ys[int(np.argmax(ranks))]
    fixed = np.vstack([y, np.eye(size)[list(embedding.independent)]])
    return Mobility(size - max(ranks), len(embedding.independent), positions, _holding(y, names),
                    _moving(fixed, embedding.names))  # fmt: skip


def _rank(matrix: Array) -> int:
    if not matrix.size:
        return 0
    values = np.linalg.svd(matrix, compute_uv=False)
    return int((values > ZERO * max(values[0], 1e-300)).sum())


def _holding(y: Array, names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    u = np.abs(np.linalg.svd(y)[0][:, -1])
    return tuple(dict.fromkeys(name for name, part in zip(names, u, strict=True) if part > 0.02 * u.max()))


def _moving(matrix: Array, names: tuple[str, ...]) -> tuple[str, ...]:
    """Coordinates of the motions that a matrix leaves."""
    _, values, vt = np.linalg.svd(matrix)
    free = vt[int((values > ZERO * values[0]).sum()) :]
    if not len(free):
        return ()
    parts = np.abs(free).max(axis=0)
    return tuple(name for name, part in zip(names, parts, strict=True) if part > 0.1 * parts.max())


def require(embedding: Embedding, numbers: ca.DM) -> Mobility:
    """`count`, refused where the motions are not as many as the independent coordinates, or these do not give the
    position.

    Raises ValueError with one sentence that names joints, rods or coordinates.
    """
    found, name = count(embedding, numbers), embedding.mechanism.name
    left = f"{found.motions} motion{'s' * (found.motions != 1)}"
    needed = f"{found.needed} {'is' if found.needed == 1 else 'are'} needed"
    if found.motions < found.needed:
        rods = [rod.name for rod in embedding.mechanism.rods if not rod.compliant]
        holding = ", ".join(found.holding)
        if set(found.holding) <= set(rods):
            links = f"{_WORDS[len(rods)] if len(rods) < len(_WORDS) else len(rods)} rigid link{'s' * (len(rods) != 1)}"
            raise ValueError(f"{name}: {links} leave {left}, {needed}; make one of {holding} compliant")
        raise ValueError(f"{name}: its joints and links leave {left}, {needed}; {holding} hold more than they may")
    if found.motions > found.needed:
        free = ", ".join(found.moving)
        raise ValueError(f"{name}: its joints and links leave {left}, {needed}; nothing holds {free}")
    if found.moving:
        given = " and ".join(embedding.mechanism.independent)
        does, stands = ("does", "it stands") if found.needed == 1 else ("do", "they stand")
        moving = ", ".join(found.moving)
        raise ValueError(f"{name}: {given} {does} not give its position: {moving} can move while {stands}")
    return found


def margins(embedding: Embedding, numbers: ca.DM, positions: Array, told: Array) -> dict[tuple[str, ...], float]:
    """Smallest singular value of Y1 over positions, for every choice of independent coordinates.

    positions: (coordinates, points); told: (INNER of all prescribed points, points). 0 where a choice changes the sign
    of the determinant on the way.
    """
    rows = embedding.rows_function()
    ys = [np.array(rows(q, e, numbers)[1]) for q, e in zip(positions.T, told.T, strict=True)]
    found = {}
    for chosen in combinations(range(len(embedding.names)), len(embedding.independent)):
        left = [np.delete(y, chosen, axis=1) for y in ys]
        signs = {bool(np.linalg.det(m) > 0) for m in left}
        least = min(float(np.linalg.svd(m, compute_uv=False)[-1]) for m in left)
        found[tuple(embedding.names[k] for k in chosen)] = least if len(signs) == 1 else 0.0
    return found
