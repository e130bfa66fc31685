"""How many motions the joints leave: 6 per body less the rank of the joints' rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import rows
from jounce.architecture.rows import Pose
from jounce.architecture.target import Multibody

Array = NDArray[np.float64]

#: Part of the largest singular value below which one is zero.
ZERO = 1e-7
#: Poses near the drawn one at which motions are counted too, and how far the bodies go for them [m], [rad].
POSES, REACH = 20, 0.05


@dataclass(frozen=True)
class Mobility:
    """Motions of a multibody."""

    rows: int
    motions: int
    """In the poses around the drawn one."""
    drawn: int
    """In the drawn pose: more than elsewhere where rows lie in line there."""
    redundant: tuple[str, ...]
    """Joints whose rows the others hold already."""


def count(model: Multibody) -> Mobility:
    """Counts at the drawn pose and at random ones that the joints allow."""
    jacobian = rows.joints(model, rows.drawn(model))[1]
    drawn, basis = _rank(jacobian), free(jacobian)
    ranks = [drawn]
    random = np.random.default_rng(0)
    for _ in range(POSES if model.joints else 0):
        step = random.uniform(-REACH, REACH, 6 * len(model.bodies))
        if (pose := closed(model, rows.drawn(model).moved(basis @ (basis.T @ step)))) is not None:
            ranks.append(_rank(rows.joints(model, pose)[1]))
    motions = 6 * len(model.bodies) - max(ranks)
    return Mobility(len(jacobian), motions, 6 * len(model.bodies) - drawn, _redundant(model, jacobian, max(ranks)))


def closed(model: Multibody, pose: Pose, steps: int = 20) -> Pose | None:
    """The pose nearby in which the joints close to 1e-9, by Gauss-Newton; None where that does not get there."""
    for _ in range(steps):
        residual, jacobian = rows.joints(model, pose)
        if np.abs(residual).max(initial=0.0) < 1e-9:
            return pose
        pose = pose.moved(np.asarray(np.linalg.lstsq(jacobian, -residual, rcond=ZERO)[0], dtype=np.float64))
    return None


def free(jacobian: Array) -> Array:
    """(columns, motions) orthonormal basis of what the rows leave free."""
    if not len(jacobian):
        return np.eye(jacobian.shape[1])
    _, values, right = np.linalg.svd(jacobian)
    rank = int((values > ZERO * values[0]).sum())
    basis: Array = right[rank:].T
    return basis


def _rank(jacobian: Array) -> int:
    return jacobian.shape[1] - free(jacobian).shape[1] if len(jacobian) else 0


def _redundant(model: Multibody, jacobian: Array, rank: int) -> tuple[str, ...]:
    """Joints that share in the combinations of rows which vanish."""
    if len(jacobian) <= rank:
        return ()
    idle = np.linalg.svd(jacobian)[0][:, rank:]
    share = np.linalg.norm(idle, axis=1)
    ends = np.cumsum([j.rows for j in model.joints])
    return tuple(j.name for j, end in zip(model.joints, ends, strict=True) if share[end - j.rows : end].max() > 1e-6)
