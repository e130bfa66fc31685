"""What every powertrain has between its shafts: friction that holds, differentials' capacity, and losses of gears."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from jounce.contact.bristle import BREAKAWAY, NEAR, bristle
from jounce.math.algebra import SX, clipped

__all__ = ["CAPACITY_LAG", "LOSS_SPEED", "Friction", "biased", "friction", "loss_sign"]

CAPACITY_LAG = 0.03
"""Lag of the clutches' and the pawl's capacity [s]."""
LOSS_SPEED = 1.0
"""Speed of the output shaft [rad/s] from which the gears' losses are whole."""


@dataclass(frozen=True)
class Friction:
    """Torque of a bristle against its slip, and what becomes of it."""

    torque: SX
    rate: SX
    lost: SX
    """Power that is not stored [W]."""
    stored: SX
    """Energy [J]."""


def friction(windup: SX, slip: SX, capacity: SX, stiffness: SX, damping: SX, rate_limit: SX,
             breakaway: float = BREAKAWAY, settles: float | None = NEAR) -> Friction:  # fmt: skip
    """Friction between two shafts that slip by `slip` [rad/s] and hold up to a capacity [N.m].

    ``stiffness`` [N.m/rad], ``damping`` [s]; ``rate_limit`` [1/s], ``breakaway``, ``settles``: as
    `jounce.contact.bristle`.
    """
    found = bristle(windup, slip, limit=capacity / stiffness, damping=damping, rate_limit=rate_limit,
                    breakaway=breakaway, settles=settles)  # fmt: skip
    torque = stiffness * found.stretch
    stored = 0.5 * stiffness * windup * windup
    return Friction(torque, found.rate, torque * slip - stiffness * windup * found.rate, stored)


def biased(torque: SX, ratio: SX, locked: SX, rest: SX, lock: SX) -> SX:
    """Capacity [N.m] of the friction between a differential's outputs, for the torque that comes to it.

    rest + locked lock + |torque| (ratio - 1) / (ratio + 1) / 2; ``ratio``: torque bias ratio; ``locked``: share of the
    lock's capacity ``lock`` that acts. Source: V. Gleasman's Torsen, SAE 885140.
    """
    by_torque = 0.5 * ca.fabs(torque) * ((ratio - 1) / (ratio + 1))
    return rest + clipped(locked, 0.0, 1.0) * lock + by_torque


def loss_sign(speed: SX, slope: float | SX = 1 / LOSS_SPEED) -> SX:
    """Sign of the torque that gears lose at a speed [rad/s], less where it is small; ``slope``: there [s/rad]."""
    return clipped(speed * slope, -1.0, 1.0)
