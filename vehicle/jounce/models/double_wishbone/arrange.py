"""Entries of a vehicle on any axles, in the one order that the model reads: those of no axle, then axle after axle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from jounce.axles import DEFAULT, Axle
from jounce.data import DataError, Entry, Vehicle, load_vehicle
from jounce.suspension.kinds import KINDS

#: The vehicle whose entries that belong to no axle are those of every vehicle, but for those of another steering gear.
COMMON = "hmmwv"
#: Steering gear -> the vehicle whose entries it takes.
GEARS = {"pitman": COMMON, "rack": "car"}
_STEERING = "steering."
#: The vehicle whose entries of a powertrain are those of every powertrain.
POWERTRAIN = "hmmwv_pedals"
_OUTLINE = "chassis.outline."


def arranged(vehicle: Vehicle) -> Vehicle:
    """The vehicle with its entries in that order.

    Raises DataError where one is missing, unknown or in another unit, or where an axle is of a kind that there is not.
    """
    wanted: dict[str, Entry] = dict(common(gear_of(vehicle.axles)))
    for axle in vehicle.axles:
        if axle.kind not in KINDS:
            raise DataError(f"vehicle {vehicle.name!r}: axle {axle.name} is of the kind {axle.kind!r}; "
                            f"expected {', '.join(KINDS)}")  # fmt: skip
        if axle.dual:
            raise DataError(f"vehicle {vehicle.name!r}: axle {axle.name} has dual = true; expected one tire on each "
                            "side: dual wheels are not there yet")  # fmt: skip
        wanted |= entries_of(axle)
    if vehicle.powertrain:
        _check_driven(vehicle)
        wanted |= _powertrain()
    own = vehicle.entries
    if missing := [n for n in wanted if n not in own]:
        raise DataError(f"vehicle {vehicle.name!r} lacks the entry {missing[0]!r} ({len(missing)} in all)")
    if unknown := [n for n in own if n not in wanted]:
        raise DataError(f"vehicle {vehicle.name!r}: unknown entry {unknown[0]!r} ({len(unknown)} in all)")
    for n, entry in wanted.items():
        if own[n].unit != entry.unit:
            raise DataError(f"vehicle {vehicle.name!r}: {n} is in {own[n].unit}; expected {entry.unit}")
    return replace(vehicle, entries={n: own[n] for n in wanted})


def entries_of(axle: Axle) -> dict[str, Entry]:
    """The entries that an axle must have, by their full names, from its kind's example."""
    example, name = KINDS[axle.kind].example
    found: dict[str, Entry] = {}
    for prefix in ("", _OUTLINE):
        start = f"{prefix}{name}."
        found |= {f"{prefix}{axle.name}.{n.removeprefix(start)}": e for n, e in _entries(example).items()
                  if n.startswith(start)}  # fmt: skip
    return found


@cache
def _entries(example: str) -> dict[str, Entry]:
    return load_vehicle(example).entries


def gear_of(axles: Iterable[Axle]) -> str:
    """The steering gear of a vehicle; one that is not steered has the entries of a Pitman arm."""
    return "rack" if any(axle.steered == "rack" for axle in axles) else "pitman"


def _check_driven(vehicle: Vehicle) -> None:
    driven = sum(axle.driven for axle in vehicle.axles)
    if not 1 <= driven <= 2:
        raise DataError(f"vehicle {vehicle.name!r}: {driven} axles are driven; expected 1 or 2 with a powertrain")


@cache
def _powertrain() -> dict[str, Entry]:
    example = load_vehicle(POWERTRAIN)
    return {n: example.entries[n] for n in example.powertrain}


@cache
def common(gear: str) -> dict[str, Entry]:
    """The entries that belong to no axle, of a vehicle with that steering gear."""
    of_axles = tuple(f"{prefix}{axle.name}." for axle in DEFAULT for prefix in ("", _OUTLINE))
    shared = {n: e for n, e in _entries(COMMON).items() if not n.startswith((*of_axles, _STEERING))}
    return {**shared, **{n: e for n, e in _entries(GEARS[gear]).items() if n.startswith(_STEERING)}}
