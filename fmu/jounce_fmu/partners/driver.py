"""The driver `jounce.driver` as an FMU. It samples at 50 Hz, whatever the importer's step is."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

import numpy as np

from jounce.course import DoubleLaneChange
from jounce.data import load_vehicle
from jounce.driver import GIVES, PERIOD, SEES, Autopilot, sight
from jounce.models.double_wishbone.signals import table
from jounce.signals import Signal, SignalTable
from jounce_fmu.partners.slave import Array, Partner, PartnerError, turned

_MEMORY = struct.Struct("<qdd")  # Sample, speed integral [m/s2], steering-wheel angle [rad].
_EPS = 1e-6  # Distance from a sample, in periods, within which a time counts as on it.


def _signals() -> Iterator[Signal]:
    vehicle = table(load_vehicle("hmmwv"))
    yield from turned(vehicle, "input", SEES)
    yield from turned(vehicle, "output", GIVES)
    yield Signal("driver.lateral_error", "output", "m", "distance of the front axle from the path, left positive")
    yield Signal("driver.target_speed", "parameter", "m/s", "speed to keep", start=(12.0,), minimum=0.0, maximum=40.0,
                 variability="fixed")
    yield Signal("driver.track_start", "parameter", "m", "x of the first cones", start=(20.0,), minimum=-1e6,
                 maximum=1e6, variability="fixed")


class Driver(Partner):
    """Drives the ISO 3888-1 double lane change at constant speed; `jounce.driver` is the control law."""

    base = SignalTable("jounce_driver", tuple(_signals()))

    def begin(self) -> None:
        """Starts with a straight steering wheel and no torque."""
        self._course = DoubleLaneChange(start=self["driver.track_start"])
        self._pilot = Autopilot(self._course, self["driver.target_speed"])
        self._sample = -1

    def advance(self, time: float, h: float) -> Array:
        """Returns a new command if a sample falls on ``time``, and otherwise the previous one."""
        if h > PERIOD * (1.0 + _EPS):
            raise PartnerError(f"a step of {h!r} s: expected up to the driver's period of {PERIOD} s")
        sample = math.floor((time - self.start_time) / PERIOD + _EPS)
        if sample == self._sample:
            return np.array([self[s.name] for s in self.table.outputs])
        seen = sight({s.name: self.signal(s) for s in self.table.signals if s.causality == "input"})
        command = self._pilot.command(seen)
        self._sample = sample
        return np.append(command, self._course.lateral_error(seen.x, seen.y))

    def memory(self) -> bytes:
        """Returns sample, speed integral and steering-wheel angle, packed."""
        return _MEMORY.pack(self._sample, *self._pilot.memory)

    def recall(self, memory: bytes) -> None:
        """Restores a ``memory``."""
        self.begin()
        self._sample, *pilot = _MEMORY.unpack(memory)
        self._pilot.memory = pilot[0], pilot[1]
