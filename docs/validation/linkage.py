"""What docs/validation.md reports of the linkage: the symbolic corner over Chrono's kinematic sweeps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import coast
import numpy as np
from ce import Ce
from coast import CHRONO, WHEELS
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sweep:
    """One wheel over one of Chrono's kinematic sweeps, at equal spring length; one row per sample."""

    time: Array
    """(n,) of Chrono's record [s]"""
    theta: Array
    """(n,) lower-arm angle [rad]"""
    arm: Array
    """(n,) Pitman-arm angle [rad]"""
    ours: Array
    """(n, 6): wheel centre in chassis axes [mm], steer, inclination [deg], shock length [mm]"""
    chrono: Array
    """(n, 6)"""

    @property
    def errors(self) -> Array:
        """(n, 4): largest component of the position error [mm], steer, inclination [deg], shock length [mm]."""
        gap = np.abs(self.ours - self.chrono)
        return np.column_stack([gap[:, :3].max(1), gap[:, 3:]])


#: Goals of `Sweep.errors`.
KINEMATIC_GOALS = (0.05, 0.01, 0.01, 0.02)


@cache
def corners() -> Ce:
    """The symbolic corners of the vehicle as Chrono has it."""
    return Ce(CHRONO)


def linkage(k: int, theta: float, arm: float) -> tuple[Array, float]:
    """((6,) as in `Sweep`, spring length [m]) of corner k."""
    o = corners().at(k, theta, arm=(arm, 0.0, 0.0))
    x, y, z = o["axis"]
    angles = np.degrees([np.arctan2(-x, y), np.arcsin(z)])
    return np.concatenate([1e3 * o["centre"], angles, 1e3 * o["shock_length"]]), float(o["spring_length"][0])


def _theta(k: int, arm: float, length: float, near: float) -> float:
    """Arm angle of a spring length by the secant method."""
    a, b = near, near + 1e-3
    at_a, at_b = (linkage(k, t, arm)[1] - length for t in (a, b))
    for _ in range(20):
        a, b, at_a = b, b - at_b * (b - a) / (at_b - at_a), at_b
        if abs(b - a) < 1e-10:
            return b
        at_b = linkage(k, b, arm)[1] - length
    raise ArithmeticError(f"{WHEELS[k]}: no arm angle found for a spring of {length} m")


def sweep(name: str, k: int, delay: float = 0.0) -> Sweep:
    """Wheel k over tests/data/{name}.csv; a delay [s] of the steering, which is sin(2 pi (t - 2) / 8) from t = 2 on."""
    w, rows = WHEELS[k], coast.table(f"{name}.csv")
    steering = rows["steering"]
    if delay:
        steering = np.sin(2 * np.pi * np.maximum(rows["t"] - delay - 2.0, 0.0) / 8.0)
    arms = steering * CHRONO["steering.max_arm_angle"]
    thetas, ours, near = [], [], 0.0
    for arm, length in zip(arms, rows[f"{w}_spring_len"], strict=True):
        near = _theta(k, float(arm), float(length), near)
        thetas.append(near)
        ours.append(linkage(k, near, float(arm))[0])
    x, y, z = (rows[f"{w}_axis_{a}"] for a in "xyz")
    centre = [1e3 * (rows[f"{w}_spindle_{a}"] - rows[f"ref_{a}"]) for a in "xyz"]
    chrono = [*centre, np.degrees(np.arctan2(-x, y)), np.degrees(np.arcsin(z)), 1e3 * rows[f"{w}_shock_len"]]
    return Sweep(rows["t"], np.array(thetas), arms, np.array(ours), np.array(chrono).T)
