"""Pressures of the brake circuits by the pedal: booster, proportioning valve and the lag of the lines."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.math.algebra import SX, clipped

__all__ = ["pressure_rates"]

AFTER_KNEE = 0.25
"""Slope of the pressure over the pedal beyond the booster's knee."""
OPEN = 1e-3
"""Least difference of two pressures that tells rise from fall, over the largest pressure."""


def pressure_rates(x: Mapping[str, SX], g: Mapping[str, SX], n: Mapping[str, SX]) -> tuple[SX, SX]:
    """Rates of the pressures of the front and the rear circuit [Pa/s], from states, inputs and numbers by name.

    The master cylinder's pressure has a knee where the booster is at its end; the rear one is reduced beyond its own.
    A circuit follows with a lag, which is another one for a pressure that falls.
    """
    asked = n["pressure_max"] * g["brake_pedal"]
    master = ca.fmin(asked, n["knee"] + AFTER_KNEE * (asked - n["knee"]))
    rear = ca.fmin(master, n["rear_knee"] + n["rear_slope"] * (master - n["rear_knee"]))

    def rate(target: SX, now: SX) -> SX:
        rising = clipped(0.5 + (target - now) / (OPEN * n["pressure_max"]), 0.0, 1.0)
        return (target - now) * (rising / n["rise"] + (1 - rising) / n["fall"])

    return rate(master, x["brake.front_pressure"]), rate(rear, x["brake.rear_pressure"])
