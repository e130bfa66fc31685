"""Rest: the spring preloads and wheel loads with which the drawn vehicle stands still.

With N the motions that the joints leave (null space of J), f the weights, G and W the Jacobians of springs and wheel
contacts: N^T (f + G^T F + W^T n) = 0. Of its solutions the one of least norm is taken, F scaled by the root of its
stiffness (least stored energy), n by 1000 N. Then the tires' free radii are the drawn heights and their deflections,
so that nothing settles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import mobility, rows
from jounce.architecture.read import ArchitectureError
from jounce.architecture.target import Multibody

Array = NDArray[np.float64]

#: Force of a motion that is left over, as part of the weight, above which the vehicle cannot stand.
LEFT = 1e-6
#: A wheel load that counts as much as a spring force of the root of its stiffness [N].
LOAD = 1000.0


@dataclass(frozen=True)
class Rest:
    """Forces in the drawn pose."""

    preloads: Array
    """(springs,) pushing apart [N]."""
    loads: Array
    """(wheels,) on all contacts of each [N]."""


def rest(model: Multibody) -> Rest:
    """The forces at rest. Raises ArchitectureError, which names what cannot stand, hangs or is pulled."""
    basis = mobility.free(rows.joints(model, rows.drawn(model))[1])
    weight = np.zeros((len(model.bodies), 6))
    weight[:, 2] = [-body.mass * model.gravity for body in model.bodies]
    scale = np.array([*(np.sqrt(s.stiffness) for s in model.springs), *(LOAD for _ in model.wheels)])
    forces = np.vstack([rows.springs(model, rows.drawn(model))[1], rows.loads(model)]) * scale[:, None]
    matrix, wanted = basis.T @ forces.T, -basis.T @ weight.ravel()
    found = np.linalg.lstsq(matrix, wanted, rcond=1e-10)[0]
    left = basis @ (wanted - matrix @ found)
    if np.abs(left).max(initial=0.0) > LEFT * model.mass * model.gravity:
        body = model.bodies[int(np.abs(left).argmax()) // 6]
        raise ArchitectureError(f"{model.where}: body {body.name} cannot stand still as drawn: no spring or wheel "
                                "holds it against its weight; expected one that does")  # fmt: skip
    solved = found * scale
    return _checked(model, Rest(solved[: len(model.springs)], solved[len(model.springs) :]))


def trimmed(model: Multibody) -> Multibody:
    """The same with preloads, loads and free radii of its rest, on the ground at z = 0. Raises ArchitectureError."""
    found = rest(model)
    springs = tuple(replace(s, preload=float(f)) for s, f in zip(model.springs, found.preloads, strict=True))
    wheels = tuple(
        replace(w, load=float(n), radius=float(w.centre[2] + n / (len(w.offsets) * w.stiffness)))
        for w, n in zip(model.wheels, found.loads, strict=True)
    )
    return replace(model, springs=springs, wheels=wheels)


def _checked(model: Multibody, found: Rest) -> Rest:
    for wheel, load in zip(model.wheels, found.loads, strict=True):
        if load < 0:
            raise ArchitectureError(f"{model.where}: wheel {wheel.name} would carry {load:.0f} N at rest; expected 0 "
                                    "or more: the centre of mass is beyond the wheels")  # fmt: skip
    for spring, force in zip(model.springs, found.preloads, strict=True):
        if spring.seated and force < -1e-6 * model.mass * model.gravity:
            raise ArchitectureError(f"{model.where}: {spring.name} would pull with {-force:.0f} N at rest; expected it "
                                    "to push its seats apart, or pulls = true")  # fmt: skip
    return found
