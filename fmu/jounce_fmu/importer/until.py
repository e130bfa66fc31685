"""The end of a run by speed: the text of a speed, and the first tick at which a vehicle has it.

The speed is the amount of the output ``speed``, which is forward, as a speedometer shows it: in reverse as well. It is
reached from the side on which the run starts, from below or from above; from above also where the sign changes within a
tick, as at rest. The distance is the integral of the speed by the trapezoidal rule.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jounce.signals import SignalTable
from jounce.values import number
from jounce_fmu.importer.trajectory import Clock, InputError

Array = NDArray[np.float64]

#: Unit -> m/s; the mile is the international one of 1609.344 m.
UNITS: Final = {"km/h": 1.0 / 3.6, "kmh": 1.0 / 3.6, "m/s": 1.0, "mph": 1609.344 / 3600.0}
#: What the end by speed accepts, for messages and pages.
EXPECTED: Final = "a speed from 0 in km/h, m/s or mph, such as 60km/h or 60kmh; a number alone is in m/s"
#: Longest time of a run that ends by speed, unless it is given [s].
LONGEST: Final = 120.0
#: Share of a speed by which that at the start may differ and be the same: `init.speed` is along the ground, the forward
#: axis of a vehicle on its springs is not.
_SAME: Final = 1e-3
#: What counts as 0 at the start [m/s].
_ZERO: Final = 1e-6
_SPEED: Final = re.compile(r"(.*?)\s*(km/?h|m/s|mph)?\s*", re.IGNORECASE)


def speed_of(given: str | float, what: str) -> float:
    """A speed [m/s] of a text with its unit, or of a number in m/s. Raises InputError; ``what`` names it there."""
    unit, value = 1.0, math.nan
    try:
        if isinstance(given, str) and (found := _SPEED.fullmatch(given)):
            unit, value = UNITS[(found[2] or "m/s").lower()], number(found[1])
        elif not isinstance(given, str | bool):
            value = float(given)
    except (TypeError, ValueError):
        pass
    if not 0.0 <= value * unit < math.inf:
        raise InputError(f"{what} {given!r}: expected {EXPECTED}")
    return value * unit


def longest_time(tick_length: float) -> float:
    """`LONGEST` in whole ticks of a length [s]."""
    return Clock(tick_length).time(math.floor(LONGEST / tick_length))


@dataclass(frozen=True)
class Reached:
    """Where a run has its speed."""

    time: float
    """Time of the first tick with it [s]."""
    distance: float
    """Way driven up to that tick [m]."""


class Until:
    """Ends a run at the first tick with a speed."""

    def __init__(self, speed: float, table: SignalTable, what: str) -> None:
        """``speed`` [m/s]; ``what`` names the wish in messages. Raises InputError for a model without a speed."""
        index = next((s.index for s in table.outputs if s.name == "speed" and s.signal.unit == "m/s"), None)
        if index is None:
            raise InputError(f"{what}: {table.name} has no output speed in m/s; expected a vehicle")
        self._speed, self._index, self._what = speed, index, what
        self._from_below, self._sense, self._distance = True, 1.0, 0.0
        self._before, self._nearest = (0.0, 0.0), math.inf
        #: Where it was reached, None before.
        self.reached: Reached | None = None

    def __str__(self) -> str:
        """What has become of it."""
        if self.reached is None:
            return f"{_text(self._speed)} was not reached in {self._before[0]:g} s; nearest was {_text(self._nearest)}"
        return f"{_text(self._speed)} at {self.reached.time:g} s, after {self.reached.distance:.2f} m"

    def begin(self, y: Array) -> None:
        """All outputs of tick 0. Raises InputError where the vehicle has the speed already."""
        signed = float(y[self._index])
        speed = abs(signed)
        if abs(speed - self._speed) <= max(_SAME * self._speed, _ZERO):
            raise InputError(f"{self._what}: the vehicle has this speed at the start; expected another one, or another "
                             "init.speed")  # fmt: skip
        self._from_below, self._sense = speed < self._speed, math.copysign(1.0, signed)
        self._before, self._nearest = (0.0, speed), speed

    def rows(self, ran: Iterator[tuple[float, Array]], every: int) -> Iterator[tuple[float, Array]]:
        """After `begin`: of a run by ticks from tick 0 on those rows that `run` would yield, up to the speed."""
        left = None
        for tick, row in enumerate(ran):
            self._look(*row)
            left = None if self.reached or tick % every == 0 else row
            if left is None:
                yield row
            if self.reached:
                return
        if left is not None:
            yield left

    def _look(self, time: float, y: Array) -> None:
        signed, (at, before) = float(y[self._index]), self._before
        speed = abs(signed)
        self._distance += 0.5 * (time - at) * (speed + before)
        if speed >= self._speed if self._from_below else self._sense * signed <= self._speed:
            self.reached = Reached(time, self._distance)
        self._nearest = min(self._nearest, speed, key=lambda v: abs(v - self._speed))
        self._before = time, speed


def _text(speed: float) -> str:
    return f"{speed:.4g} m/s ({3.6 * speed:.4g} km/h)"
