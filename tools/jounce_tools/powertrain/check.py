"""What is to be known of the data of a powertrain: shifts, converter, stiffnesses, and where each number is from."""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np

from jounce.data import Vehicle
from jounce.powertrain.layouts import numbers_of
from jounce.powertrain.numbers import OF_DIFFERENTIALS, numbers
from jounce.powertrain.train import Train, train_of
from jounce_tools.powertrain.maps import Maps

__all__ = ["sources", "text"]

_RPM = 30 / np.pi


def text(vehicle: Vehicle) -> Iterator[str]:
    """Lines for people. Whether the numbers can be used the model tells."""
    maps = Maps(vehicle)
    speeds, torques = maps.full_load
    best, power = int(torques.argmax()), speeds * torques
    yield (f"engine: {torques[best]:.0f} N.m at {speeds[best] * _RPM:.0f} rpm, {power.max() / 1e3:.0f} kW at "
           f"{speeds[power.argmax()] * _RPM:.0f} rpm, among {len(speeds)} points; idle "
           f"{vehicle['engine.idle_speed'] * _RPM:.0f} rpm, closed from "
           f"{vehicle['engine.limit_speed'] * _RPM:.0f} rpm on")  # fmt: skip
    at, ratios, factors = maps.converter
    yield (f"converter: torque ratio {ratios[0]:.2f} at rest, K {factors.min():.1f} to {factors.max():.1f} "
           f"rad/s/sqrt(N.m), {len(at)} points")  # fmt: skip
    yield from _shifts(vehicle, maps)
    yield from _windups(vehicle)


def _shifts(vehicle: Vehicle, maps: Maps) -> Iterator[str]:
    yield "shifts up, speed of the gearbox's input in rpm before and after it, and where it shifts down again:"
    for gear, (ratio, above) in enumerate(zip(maps.gears, maps.gears[1:], strict=False), 1):
        parts = []
        for pedal, k in (("closed", 0), ("half", 2), ("full", 4)):
            up, down = (vehicle[f"gearbox.{line}.{k}"] * _RPM for line in (f"up.{gear}", f"down.{gear + 1}"))
            after = up * above / ratio
            apart = f"{after / down - 1:+.0%}" if down > 0 else "never"
            parts.append(f"{pedal} throttle {up:.0f} -> {after:.0f}, down at {down:.0f} ({apart})")
        yield f"  {gear} ({ratio:g}) to {gear + 1} ({above:g}): {'; '.join(parts)}"


def _stiff(train: Train) -> dict[str, str]:
    """Name of a stiffness among the numbers -> what it is of."""
    return {"clutch_stiffness": "gear clutch and shafts behind it", "lock_stiffness": "lock-up clutch",
            **{f"axle_stiffness_{axle}": f"{axle} differential" for axle in train.axles},
            **{split.stiffness: f"inter-axle differential at {split.axle}" if split.axle else "centre differential"
               for split in train.splits}, "pawl_stiffness": "parking pawl"}  # fmt: skip


def _windups(vehicle: Vehicle) -> Iterator[str]:
    entries = {name: ca.SX(entry.value) for name, entry in vehicle.entries.items()}
    train, both = train_of(vehicle.axles), ca.SX(float(sum(axle.driven for axle in vehicle.axles) > 1))
    made = numbers_of(train).split(numbers(entries, both, train))
    frequency = vehicle["driveline.frequency"]
    yield (f"wind-ups: {frequency:.0f} rad/s ({frequency / (2 * np.pi):.0f} Hz) against the smallest inertia, "
           f"{OF_DIFFERENTIALS * frequency:.0f} in differentials; stiffness in kN.m/rad:")  # fmt: skip
    yield "  " + ", ".join(f"{label} {float(made[name]) / 1e3:.3g}" for name, label in _stiff(train).items())


def sources(vehicle: Vehicle) -> Iterator[str]:
    """Lines with every source of the powertrain's numbers."""
    by_source: dict[str, list[str]] = {}
    for name in vehicle.powertrain:
        by_source.setdefault(vehicle.entries[name].source, []).append(name)
    assumed = sum(len(names) for source, names in by_source.items() if source.startswith("assumption"))
    yield f"sources: {len(vehicle.powertrain)} numbers, {assumed} of them assumptions"
    for source, names in by_source.items():
        yield f"  {names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {source}"
