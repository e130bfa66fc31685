"""The powertrain and the brakes of an architecture: engine, torque converter, gears, brakes.

    [powertrain]
    torque_speed = [[60, 500], [120, 860], [230, 860], [270, 0]]   # full torque [rad/s, N m]
    ratios = [6.3, 3.4, 1.9, 1.3, 1.0]
    final = 5.1
    max_brake_torque = 12000.0                                     # of each wheel, by the whole pedal [N m]

Lengths of the lists are those of the tables in C, the numbers are parameters of the vehicle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jounce.architecture.read import Table

__all__ = ["Powertrain", "read"]

#: Numbers beside the lists: name -> unit, default or None, least, meaning. In the order of ``impulse_powertrain.inc``.
NUMBERS = {
    "final": ("1", None, 1e-3, "ratio between gearbox and wheels"),
    "reverse": ("1", 0.0, 0.0, "ratio of the reverse gear; 0: that of the first"),
    "efficiency": ("1", 0.9, 1e-3, "of gears and final drive together"),
    "inertia": ("kg.m2", 1.5, 1e-3, "of the engine with the converter's pump"),
    "idle_speed": ("rad/s", 70.0, 1.0, "below which the engine feeds itself"),
    "drag": ("N.m", 100.0, 0.0, "of the engine without throttle at its largest speed"),
    "stall_speed": ("rad/s", 180.0, 1.0, "of the engine at full throttle with the wheels held"),
    "torque_ratio": ("1", 2.0, 1.0, "of the converter with the wheels held"),
    "up_speed": ("rad/s", 210.0, 1.0, "of the turbine, above which it shifts up; without throttle 0.6 of it"),
    "down_speed": ("rad/s", 95.0, 1.0, "of the turbine, below which it shifts down; without throttle 0.6 of it"),
    "shift_time": ("s", 0.4, 0.0, "for which a shift takes the torque away"),
    "max_brake_torque": ("N.m", None, 0.0, "of each wheel, by the whole pedal"),
}
MOST = 16
"""Most gears, and points of the torque curve."""


@dataclass(frozen=True)
class Powertrain:
    """Its numbers, SI."""

    curve: tuple[tuple[float, float], ...]
    """Speed and full torque of the engine."""
    ratios: tuple[float, ...]
    numbers: dict[str, float]
    """Those of `NUMBERS`."""

    def parameters(self) -> Iterator[tuple[str, str, float, float, str]]:
        """Name, unit, start, least and meaning of every number, in the order of the C."""
        for name, (unit, _, least, text) in NUMBERS.items():
            yield name, unit, self.numbers[name], least, text
        for k, ratio in enumerate(self.ratios, 1):
            yield f"ratio_{k}", "1", ratio, 1e-3, "of a gear"
        for k, (speed, torque) in enumerate(self.curve, 1):
            yield f"speed_{k}", "rad/s", speed, 0.0, "of a point of the full torque; rising"
            yield f"torque_{k}", "N.m", torque, 0.0, "at that speed; between points linear, 0 above the last"


def read(table: Table) -> Powertrain:
    """From its table. Raises ArchitectureError, which names the entry."""
    curve = table.pairs("torque_speed", "rad/s, N m")
    if not 2 <= len(curve) <= MOST or any(b[0] <= a[0] for a, b in zip(curve, curve[1:], strict=False)):
        raise table.fault(f"torque_speed: {len(curve)} points: expected 2 to {MOST} of rising speed")
    if any(number < 0 for point in curve for number in point) or not any(torque > 0 for _, torque in curve):
        raise table.fault("torque_speed: expected no negative speed or torque, and a torque above 0")
    ratios = tuple(float(r) for r in table.vector("ratios", "1", sizes=tuple(range(1, MOST + 1))))
    if any(b >= a for a, b in zip(ratios, ratios[1:], strict=False)) or ratios[-1] < 1e-3:
        raise table.fault(f"ratios = {list(ratios)}: expected each smaller than the one before, and above 0")
    numbers = {}
    for name, (unit, default, least, _) in NUMBERS.items():
        numbers[name] = table.number(name, unit.replace(".", " "), default, least=least)
    table.done()
    numbers["reverse"] = numbers["reverse"] or ratios[0]
    if not numbers["down_speed"] < 0.8 * numbers["up_speed"]:
        raise table.fault(f"down_speed = {numbers['down_speed']:g} rad/s: expected less than 0.8 of up_speed, "
                          f"{numbers['up_speed']:g}, or gears hunt")  # fmt: skip
    steps = [a / b for a, b in zip(ratios, ratios[1:], strict=False)]
    if steps and not numbers["up_speed"] / max(steps) > numbers["down_speed"]:
        raise table.fault(f"down_speed = {numbers['down_speed']:g} rad/s: expected less than up_speed over the largest "
                          f"step of the ratios, {numbers['up_speed'] / max(steps):g}, or gears hunt")  # fmt: skip
    return Powertrain(curve, ratios, numbers)
