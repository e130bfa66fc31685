"""A driver at 50 Hz who follows a straight track by pedals and steering wheel, at speeds that are set along it.

The speed wanted at x is that of the stretch there, or less where a slower one is near: sqrt(v^2 + 2 a d) at a distance
d from a stretch of speed v lets the vehicle slow down at the constant deceleration a. A PI controller with anti-windup
turns the error into an acceleration, to which that deceleration is added, and the sum into one of the two pedals.
Steering is the law of `jounce.driver`.

The gains are tuned by hand for the HMMWV; they are not measured properties of a driver.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jounce.driver import PERIOD, Gains, Sight, Vehicle, road_wheel_angle

GIVES = ["throttle", "brake_pedal", "gear_selector", "steering_wheel_angle", "steering_wheel_rate"]
"""Inputs that the driver sets."""
_PARK, _DRIVE = -2.0, 1.0
_STANDING = 0.05
"""Speed below which the vehicle stands [m/s]."""
_CREEPING = 2.0
"""Speed from which on it is braked to rest where it should stop, against the idling engine [m/s]."""


@dataclass(frozen=True)
class Straight:
    """A track along x."""

    def path(self, x: float) -> tuple[float, float, float]:
        """y [m], heading [rad] and curvature [1/m] at x [m]."""
        return 0.0, 0.0, 0.0

    def lateral_error(self, x: float, y: float) -> float:
        """Distance from the track [m], left positive."""
        return y


@dataclass(frozen=True)
class Foot:
    """How the pedals are used."""

    full_throttle: float = 3.5  # acceleration of the throttle's whole way [m/s2]
    full_brake: float = 8.0  # deceleration of the brake pedal's whole way [m/s2]
    slack: float = 0.3  # deceleration that is left to the engine [m/s2]
    slowing: float = 1.5  # deceleration before a slower stretch [m/s2]
    speed: float = 0.8  # proportional [1/s]
    speed_integral: float = 0.25  # [1/s2]
    held: float = 0.3  # brake pedal at rest


class PedalDriver:
    """Follows the speeds of ``stretches``; its state is the speed integral and the last steering angle.

    ``stretches``: x [m] from which on a speed [m/s] is wanted, ascending; the driver stops where it is 0, and parks.
    """

    def __init__(self, stretches: Sequence[tuple[float, float]], foot: Foot | None = None) -> None:
        """Raises ValueError for stretches that are none, out of order or of a negative speed."""
        places = [x for x, _ in stretches]
        if not stretches or places != sorted(set(places)) or any(not v >= 0.0 for _, v in stretches):
            raise ValueError(f"stretches {list(stretches)}: expected ascending x [m], each with a speed >= 0 [m/s]")
        self.stretches, self.foot = tuple(stretches), foot or Foot()
        self._vehicle, self._gains = Vehicle(), Gains()
        self._integral = self._steering = 0.0
        self._parked = 0

    def parked_for(self, time: float) -> bool:
        """Whether the vehicle has been in P for that time [s]."""
        return self._parked * PERIOD >= time

    def wanted(self, x: float) -> float:
        """Speed wanted at x [m/s]."""
        here = [v for start, v in self.stretches if start <= x] or [self.stretches[0][1]]
        ahead = (math.sqrt(v * v + 2.0 * self.foot.slowing * (start - x)) for start, v in self.stretches if start > x)
        return min(here[-1], *ahead, math.inf)

    def command(self, sight: Sight) -> npt.NDArray[np.float64]:
        """Inputs in the order of GIVES for the next period."""
        angle = road_wheel_angle(Straight(), sight, self._vehicle, self._gains) * self._vehicle.steering_ratio
        step = self._gains.max_steering_rate * PERIOD
        steering = self._steering + min(max(angle - self._steering, -step), step)
        rate, self._steering = (steering - self._steering) / PERIOD, steering
        throttle, brake = self._pedals(sight)
        return np.array([throttle, brake, _PARK if self._parked else _DRIVE, steering, rate])

    def _pedals(self, sight: Sight) -> tuple[float, float]:
        foot, wanted = self.foot, self.wanted(sight.x)
        if wanted < _STANDING and abs(sight.speed) < _CREEPING:
            self._parked += self._parked > 0 or abs(sight.speed) < _STANDING
            return 0.0, foot.held
        error = wanted - sight.speed
        falls = (self.wanted(sight.x + sight.speed * PERIOD) - wanted) / PERIOD
        asked = foot.speed * error + self._integral + min(max(falls, -foot.slowing), 0.0)
        given = min(max(asked, -foot.full_brake), foot.full_throttle)
        if given == asked or (asked - given) * error < 0.0:
            self._integral += foot.speed_integral * error * PERIOD
        return max(given, 0.0) / foot.full_throttle, max(-given - foot.slack, 0.0) / foot.full_brake
