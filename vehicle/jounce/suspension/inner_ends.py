"""Where the steering holds the inner end of a tierod or draglink, in numbers, for checks and reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.axles import DEFAULT, Axle
from jounce.data import Vehicle
from jounce.math.algebra import SX
from jounce.steering import pitman

Array = NDArray[np.float64]
#: The axle that `pitman.inner_numbers` takes to be steered.
_AXLE = DEFAULT[0].name


@dataclass(frozen=True)
class InnerEnd:
    """One end of a rod that the steering moves."""

    name: str
    """Of the prescribed point in the mechanism."""
    at: Callable[[float], tuple[Array, Array]]
    """Steering coordinate [rad] -> (place, motion per unit of it), chassis axes. An end that nothing moves is given a
    motion of 1 m to the left, so that its steer axis can be told."""


def inner_end(vehicle: Vehicle, axle: Axle, name: str, side: float) -> InnerEnd:
    """The inner end `name` (TIEROD_C, DRAGLINK_C) of one side of an axle."""
    origin = np.array([vehicle[f"{axle.name}.origin.{a}"] for a in "xyz"])
    design = (origin + [vehicle[f"{axle.name}.{name}.{a}"] for a in "xyz"]) * [1.0, side, 1.0]
    if axle.steered == "none":
        return InnerEnd(name, lambda _: (design, np.array([0.0, 1.0, 0.0])))
    if axle.steered == "rack":
        travel = np.array([0.0, axle.gain * vehicle["steering.rack_gain"], 0.0])
        return InnerEnd(name, lambda steer: (design + travel * steer, travel))
    # a later axle has a copy of the linkage, moved along with its origin
    first = next(a for a in vehicle.axles if a.steered != "none")
    function = _pitman(vehicle, design - origin + [vehicle[f"{first.name}.origin.{a}"] for a in "xyz"])

    rest = np.array(function.call([ca.DM(0.0)])[0], dtype=float).ravel()

    def at(steer: float) -> tuple[Array, Array]:
        moved, partial = (np.array(v, dtype=float).ravel() for v in function.call([ca.DM(steer)]))
        return design + axle.gain * (moved - rest), axle.gain * partial

    return InnerEnd(name, at)


def _pitman(vehicle: Vehicle, design: Array) -> ca.Function:
    p = {name: SX(entry.value) for name, entry in vehicle.entries.items()}
    for axis, value in zip("xyz", design, strict=True):
        p |= {f"{_AXLE}.origin.{axis}": SX(0), f"{_AXLE}.TIEROD_C.{axis}": SX(value)}
    angle = SX.sym("angle")
    link = pitman.link_motion(angle, SX(0), SX(0), pitman.NUMBERS.split(pitman.linkage_numbers(p)))
    numbers = pitman.INNER_NUMBERS.split(pitman.inner_numbers(p, _AXLE, 1.0))
    inner = pitman.INNER.split(pitman.inner_motion(pitman.LINK.split(link), numbers))
    return ca.Function("inner", [angle], [inner["end"], inner["end_partial"]])
