"""The Pitman-arm steering by Newton iteration, for the maximal-coordinate reference.

The arm (REV to UNIV), the link (UNIV to REVSPH_S) and the idler (REVSPH_R to REVSPH_S) form a planar four-bar
in a frame tilted about chassis y. The steering angle delta is positive to the left; the arm turns by -delta
about the frame's z axis. The link closes |REVSPH_S - UNIV| = constant; its rates follow from differentiating
that constraint. The masses of the linkage are part of the chassis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle

Array = NDArray[np.float64]

_Z = np.array([0.0, 0.0, 1.0])
_LARGEST_STEP = 0.05
_ITERATIONS = 30
_Closure = Callable[[float, float], tuple[Array, Array, Array]]


@dataclass(frozen=True)
class InnerEnd:
    """Motion of a point on the steering link in the chassis frame, as a function of delta [rad]."""

    position: Array
    """(3,) [m]"""
    first: Array
    """(3,) d position / d delta [m/rad]"""
    second: Array
    """(3,) d2 position / d delta2 [m/rad2]"""


def turn(axis: Array, angle: float) -> Array:
    """(3, 3) rotation by `angle` [rad] about the unit vector `axis` (Rodrigues)."""
    k = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k))


def link_point(vehicle: Vehicle, design: Array, delta: float) -> InnerEnd:
    """Motion of the link point that is at `design` (3,) [m], chassis frame, at delta = 0.

    Raises ArithmeticError if the four-bar cannot close.
    """
    frame = turn(np.array([0.0, 1.0, 0.0]), vehicle["steering.tilt"])
    rev, univ, idler, joint = (vehicle.vector(f"steering.{n}") for n in ("REV", "UNIV", "REVSPH_R", "REVSPH_S"))
    origin = vehicle.vector("steering.origin")
    length = float(np.linalg.norm(joint - univ))

    def closure(arm: float, beta: float) -> tuple[Array, Array, Array]:
        """Arm end, idler end, link vector for the arm turned by -arm and the idler by -beta."""
        u = rev + turn(_Z, -arm) @ (univ - rev)
        s = idler + turn(_Z, -beta) @ (joint - idler)
        return u, s, s - u

    beta = 0.0
    steps = max(1, int(np.ceil(abs(delta) / _LARGEST_STEP)))
    for arm in np.linspace(0.0, delta, steps + 1)[1:]:
        beta = _close(closure, float(arm), idler, length, beta + delta / steps)

    u, s, d = closure(delta, beta)
    # At unit rate of delta the arm turns at -1.
    u1, u2 = -np.cross(_Z, u - rev), -(u - rev)
    arm_s = -np.cross(_Z, s - idler)
    beta1 = float(d @ u1) / float(d @ arm_s)
    s1 = beta1 * arm_s
    d1 = s1 - u1
    beta2 = (float(d @ u2) + float(d @ (s - idler)) * beta1**2 - float(d1 @ d1)) / float(d @ arm_s)
    d2 = beta2 * arm_s - beta1**2 * (s - idler) - u2

    d0 = joint - univ
    angle = float(np.arctan2(_Z @ np.cross(d0, d), d0 @ d))
    rate = float(_Z @ np.cross(d, d1)) / length**2
    rate2 = float(_Z @ np.cross(d, d2)) / length**2
    arm_p = turn(_Z, angle) @ (frame.T @ (design - origin) - univ)
    flat = arm_p - _Z * arm_p[2]
    swing = np.cross(_Z, arm_p)
    return InnerEnd(
        position=origin + frame @ (u + arm_p),
        first=frame @ (u1 + rate * swing),
        second=frame @ (u2 + rate2 * swing - rate**2 * flat),
    )


def _close(closure: _Closure, arm: float, idler: Array, length: float, beta: float) -> float:
    """Newton iteration for the idler angle at which |link| = length."""
    for _ in range(_ITERATIONS):
        _, s, d = closure(arm, beta)
        step = (float(d @ d) - length**2) / (2.0 * float(d @ -np.cross(_Z, s - idler)))
        beta -= step
        if abs(step) < 1e-15:
            return beta
    if abs(step) < 1e-12:
        return beta
    raise ArithmeticError(f"the steering four-bar does not close: last step {step} rad")
