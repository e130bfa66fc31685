"""Entries of a vehicle on any axles, in the one order that the model reads: those of no axle, then axle after axle."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from math import isclose, isfinite

from jounce.axles import DEFAULT, Axle, AxleError
from jounce.contact import tires
from jounce.contact.tires.dual import ENDING
from jounce.data import DataError, Entry, Vehicle, load_vehicle
from jounce.entries import EntryError, checked
from jounce.powertrain.kinds import AUTOMATIC, ELECTRIC, POWERTRAIN_OF_MORE, powertrain_kind
from jounce.powertrain.train import Train, train_of
from jounce.suspension.kinds import GRAPH, KINDS, Variant, find, suspension_of

#: The vehicle whose entries that belong to no axle are those of every vehicle, but for those of another steering gear.
COMMON = "hmmwv"
#: Steering gear -> the vehicle whose entries it takes.
GEARS = {"pitman": COMMON, "rack": "car"}
_STEERING = "steering."
#: Points that lie on the left of the vehicle's middle, on any kind of axle that has them.
OUTER = ("SPINDLE", "UPRIGHT", "LCA_U", "UCA_U", "TIEROD_U", "STRUT_U", "KNUCKLE_L", "KNUCKLE_U", "TIEROD_K")
_OUTLINE, _TIRE = "chassis.outline.", "tire."


def arranged(vehicle: Vehicle) -> Vehicle:
    """The vehicle with its entries in that order.

    Raises DataError where one is missing, unknown or in another unit, or where an axle is of a kind that there is not.
    """
    shared = common(gear_of(vehicle.axles))
    before = list(shared)[: next(k for k, n in enumerate(shared) if n.startswith(_TIRE))]  # the order of the HMMWV
    wanted = {n: shared[n] for n in before} | _tires(vehicle)
    wanted |= {n: entry for n, entry in shared.items() if n not in wanted and not n.startswith(_TIRE)}
    axles = []
    for axle in vehicle.axles:
        of = f"vehicle {vehicle.name!r}: axle {axle.name}"
        if axle.kind not in (*KINDS, GRAPH):
            raise DataError(f"{of} is of the kind {axle.kind!r}; expected {', '.join((*KINDS, GRAPH))}")
        shipped = fits(vehicle, axle)
        variant = variant_of(vehicle, axle) if shipped else _own(vehicle, axle)
        if axle.steered != "none" and not variant.inner:
            raise DataError(f"{of} ({axle.kind}) is steered by a {axle.steered}; expected none: the steering moves no "
                            f"point of it{_others(axle, variant)}")  # fmt: skip
        if axle.final_drive != 1.0 and not KINDS[axle.kind].paired:
            raise DataError(f"{of} ({axle.kind}) has final_drive = {axle.final_drive:g}; expected none: it counts "
                            "where the wheels share a body, which the propeller shaft turns")  # fmt: skip
        wanted |= entries_of(axle, variant) if shipped else _entries_of_own(vehicle, axle)
        axles.append(axle if shipped else replace(axle, kind=variant.name))
    if vehicle.powertrain:
        wanted |= _powertrain(vehicle, _train(vehicle, axles))
    tire = f"{vehicle.tire}{ENDING}" if any(axle.dual for axle in axles) else vehicle.tire
    return replace(_in_order(vehicle, wanted), axles=tuple(axles), tire=tire)


def _tires(vehicle: Vehicle) -> dict[str, Entry]:
    """The entries of the tires that the vehicle has and must have, in order. Raises DataError."""
    try:
        law = tires.find(vehicle.tire)
    except KeyError as error:
        raise DataError(f"{vehicle.name}: {error.args[0]}") from None
    of_hmmwv = load_vehicle(COMMON).entries
    known = vehicle.entries if vehicle.tire != Vehicle.tire else {}  # another law's units are its own
    return {n: known.get(n) or of_hmmwv.get(f"tire.{name}") or Entry(0.0, "1", "", "")
            for of in vehicle.sets_of_tires for n in tires.entries_of(law, vehicle.entries, of)
            for name in (n.removeprefix(f"{of}."),)}  # fmt: skip


def with_powertrain(vehicle: Vehicle) -> Vehicle:
    """The vehicle with the entries of its powertrain, if it has one, in their order behind the others.

    Raises DataError as `arranged`.
    """
    if not vehicle.powertrain:
        return vehicle
    own = {n: e for n, e in vehicle.entries.items() if n not in vehicle.powertrain}
    return _in_order(vehicle, own | _powertrain(vehicle, _train(vehicle, vehicle.axles)))


def _in_order(vehicle: Vehicle, wanted: Mapping[str, Entry]) -> Vehicle:
    check_entries(vehicle, wanted)
    check_sides(vehicle)
    return replace(vehicle, entries={n: _within(vehicle, n, entry) for n, entry in wanted.items()})


def _within(vehicle: Vehicle, name: str, wanted: Entry) -> Entry:
    """The vehicle's entry with the bounds that its file leaves out from the one that is ``wanted``.

    Those of a powertrain are held in any case, as its equations need them. Raises EntryError where the value is out of
    them, or where its choices are others.
    """
    own = vehicle.entries[name]
    of = f"vehicle {vehicle.name!r}: {_at(own)}"
    if own.items and own.items != wanted.items:
        raise EntryError(f"{of}{name}: items = {', '.join(own.items)}: expected {', '.join(wanted.items) or 'none'}")
    low, high = own.minimum, own.maximum
    if name in vehicle.powertrain or not isfinite(low):
        low = max(low, wanted.minimum)
    if name in vehicle.powertrain or not isfinite(high):
        high = min(high, wanted.maximum)
    try:
        return checked(name, replace(own, items=wanted.items, minimum=low, maximum=high))
    except DataError as error:
        raise EntryError(f"{of}{error}") from None


def check_entries(vehicle: Vehicle, wanted: Mapping[str, Entry]) -> None:
    """Raises EntryError for an entry that is missing, unknown or in another unit than it is ``wanted``."""
    own, of = vehicle.entries, f"vehicle {vehicle.name!r}"
    missing, unknown = [n for n in wanted if n not in own], [n for n in own if n not in wanted]
    if text := next((_of_list(own, n, wanted) for n in (*missing, *unknown)[:1]), ""):
        raise EntryError(f"{of}: {text}")
    if missing:
        near = get_close_matches(missing[0], unknown, n=1)
        hint = f"; unknown is {near[0]!r}{_in(own[near[0]])}" if near else _beside(own, missing[0])
        raise EntryError(f"{of} lacks the entry {missing[0]!r}{_and_more(missing)}{hint}")
    if unknown:
        near = get_close_matches(unknown[0], wanted, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "; expected those of `jounce describe`"
        raise EntryError(f"{of}: unknown entry {unknown[0]!r}{_in(own[unknown[0]])}{_and_more(unknown)}{hint}")
    for n, entry in wanted.items():
        if own[n].unit != entry.unit:
            raise EntryError(f"{of}: {_at(own[n])}{n} is in {own[n].unit}; expected {entry.unit}")


def _of_list(own: Mapping[str, Entry], name: str, wanted: Mapping[str, Entry]) -> str:
    """What to say of a missing or unknown entry where a list has not as many numbers as it must; else empty."""

    def numbers(of: Mapping[str, Entry], whole: str) -> list[str]:
        found = [n for n in of if n.startswith(f"{whole}.") and n.removeprefix(f"{whole}.").isdigit()]
        return found or [n for n in (whole,) if n in of]

    whole, _, number = name.rpartition(".")
    whole = whole if number.isdigit() else name
    has, needs = numbers(own, whole), numbers(wanted, whole)
    if not has or not needs or len(has) == len(needs):
        return ""
    if number.isdigit() and int(number) < min(len(has), len(needs)) > 1:  # one out of its middle
        return ""
    return (f"{_at(own[has[0]])}{whole} has {len(has)} number{'s' if len(has) > 1 else ''}; expected "
            f"{f'a list of {len(needs)}' if len(needs) > 1 else 'one'}")  # fmt: skip


def _beside(own: Mapping[str, Entry], missing: str) -> str:
    """In which file the others of its table are."""
    table = f"{missing.partition('.')[0]}."
    files = sorted({entry.file for n, entry in own.items() if n.startswith(table) and entry.file})
    return f"; others of [{table[:-1]}] are in {files[0]}" if len(files) == 1 else ""


def _and_more(names: Sequence[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""


def _in(entry: Entry) -> str:
    return f" in {entry.file}" if entry.file else ""


def _at(entry: Entry) -> str:
    return f"{entry.file}: " if entry.file else ""


def check_sides(vehicle: Vehicle) -> None:
    """Raises EntryError where an outer point of the left side does not lie on the left."""
    for axle in vehicle.axles:
        for point in OUTER:
            name, origin = f"{axle.name}.{point}.y", f"{axle.name}.origin.y"
            if name in vehicle.entries and origin in vehicle.entries:
                least = 0.0 - vehicle[origin]
                if not vehicle[name] > least:
                    raise EntryError(f"vehicle {vehicle.name!r}: {_at(vehicle.entries[name])}{name} = "
                                     f"{vehicle[name]:g} m: expected above {least:g} m: points are those of the left "
                                     "side, where y is positive")  # fmt: skip


def fits(vehicle: Vehicle, axle: Axle) -> bool:
    """Whether the axle's equations come with jounce, which have the entries of an example, or are there by now."""
    if axle.kind not in KINDS:
        return axle.kind != GRAPH
    variant = variant_of(vehicle, axle)
    return not KINDS[axle.kind].embedded or _names(vehicle, axle) == frozenset(own_entries(variant))


def _names(vehicle: Vehicle, axle: Axle) -> frozenset[str]:
    """The axle's entries without its name."""
    start = f"{axle.name}."
    return frozenset(n.removeprefix(start) for n in vehicle.entries if n.startswith(start))


def _own(vehicle: Vehicle, axle: Axle) -> Variant:
    """The variant of an axle whose equations do not come with jounce."""
    try:
        from jounce.suspension.mechanisms.own import own_kind
    except ImportError as error:
        graph = axle.kind == GRAPH
        what = "is a graph" if graph else f"({axle.kind}) has other entries than {_example(vehicle, axle)}"
        raise DataError(f"vehicle {vehicle.name!r}: axle {axle.name} {what}: its equations are made with CasADi: "
                        f"pip install casadi ({error})") from error  # fmt: skip
    return own_kind(vehicle, axle)


def _example(vehicle: Vehicle, axle: Axle) -> str:
    """The nearest example in words, and the first entry that differs."""
    variant = variant_of(vehicle, axle)
    own, wanted = _names(vehicle, axle), frozenset(own_entries(variant))
    lacks, more = sorted(wanted - own), sorted(own - wanted)
    odd = f"it has {more[0]}" if more else f"it lacks {lacks[0]}"
    return f"the example {' '.join(variant.example)} ({odd})"


def _entries_of_own(vehicle: Vehicle, axle: Axle) -> dict[str, Entry]:
    """The entries of an axle of an own kind, with the units that they must have; those of its outline."""
    start = f"{axle.name}."
    units = {n: e for v in KINDS["double_wishbone"].variants for n, e in own_entries(v).items()}
    found = {}
    for n, entry in vehicle.entries.items():
        if n.startswith(start):
            short = n.removeprefix(start)
            known = units.get(short)
            found[n] = replace(entry, unit=known.unit if known else unit_of(short, entry.unit))
    outline = own_entries(KINDS["double_wishbone"].variants[0], _OUTLINE)
    return found | {f"{_OUTLINE}{axle.name}.{n}": e for n, e in outline.items()}


#: Units by how an axle's entry ends.
_UNITS = {
    ".x": "m", ".y": "m", ".z": "m", ".mass": "kg", ".inertia.xx": "kg.m2", ".inertia.yy": "kg.m2",
    ".inertia.zz": "kg.m2", ".stiffness": "N/m", ".damping": "N.s/m",
}  # fmt: skip


def unit_of(name: str, otherwise: str) -> str:
    """Unit of an axle's entry by its name."""
    return next((unit for end, unit in _UNITS.items() if name.endswith(end)), otherwise)


def _others(axle: Axle, variant: Variant) -> str:
    """What to add for another variant of the kind that is steered."""
    kind = KINDS.get(axle.kind)
    others = [v for v in kind.variants if v.inner and v != variant] if kind else []
    return "".join(f", as it does with the entries of {' '.join(v.example)} ({v.inner})" for v in others)


def variant_of(vehicle: Vehicle, axle: Axle) -> Variant:
    """The variant of an axle's kind that its entries fit, or fit best."""
    variants = suspension_of(axle.kind).variants
    if len(variants) == 1:
        return variants[0]
    return find(axle.kind, _names(vehicle, axle), {v.name: frozenset(own_entries(v)) for v in variants})


def entries_of(axle: Axle, variant: Variant) -> dict[str, Entry]:
    """The entries that an axle must have, by their full names, from its variant's example."""
    return {f"{prefix}{axle.name}.{n}": e for prefix in ("", _OUTLINE) for n, e in own_entries(variant, prefix).items()}


@cache
def own_entries(variant: Variant, prefix: str = "") -> dict[str, Entry]:
    """Entries of a variant's example after ``prefix``, by their names without the axle's."""
    example, name = variant.example
    start = f"{prefix}{name}."
    return {n.removeprefix(start): e for n, e in load_vehicle(example).entries.items() if n.startswith(start)}


def gear_of(axles: Iterable[Axle]) -> str:
    """The steering gear of a vehicle; one that is not steered has the entries of a Pitman arm."""
    return "rack" if any(axle.steered == "rack" for axle in axles) else "pitman"


def _train(vehicle: Vehicle, axles: Sequence[Axle]) -> Train:
    """The driven axles of a vehicle with a powertrain. Raises DataError where it cannot drive them."""
    try:
        train = train_of(axles)
    except AxleError as error:
        raise DataError(f"vehicle {vehicle.name!r}: {error}") from error
    for axle, of in zip((axle for axle in axles if axle.driven), train.axles, strict=False):
        ratio = vehicle.entries.get(f"differential.{of}.ratio")
        reacts = suspension_of(axle.kind).paired and axle.drive_reaction == "carrier"
        if ratio and reacts and not isclose(ratio.value, axle.final_drive, rel_tol=1e-9):
            raise DataError(f"vehicle {vehicle.name!r}: axle {axle.name} has final_drive = {axle.final_drive:g}; "
                            f"expected {ratio.value:g}, as differential.{of}.ratio: it is the same gear")  # fmt: skip
    return train


def _powertrain(vehicle: Vehicle, train: Train) -> dict[str, Entry]:
    """The entries of a powertrain in their order: those of an axle's differential for each axle. Raises DataError."""
    kind = powertrain_kind(vehicle.powertrain) or AUTOMATIC
    if kind is ELECTRIC and (mixed := [n for n in vehicle.powertrain if n.startswith(("engine.", "converter."))]):
        motor = next(n for n in vehicle.powertrain if n.startswith("motor."))
        entries = vehicle.entries
        raise EntryError(f"vehicle {vehicle.name!r}: entry {motor!r}{_in(entries[motor])} is of electric motors, and "
                         f"{mixed[0]!r}{_in(entries[mixed[0]])} of an engine; expected one of both")  # fmt: skip
    if train.two:
        return of_example(kind.example)
    if kind is ELECTRIC:
        raise DataError(f"vehicle {vehicle.name!r}: {len(train.axles)} axles are driven; expected 1 or 2 with electric "
                        "motors")  # fmt: skip
    through = [split.axle for split in train.through]
    found: dict[str, Entry] = {}
    for n, entry in of_example(POWERTRAIN_OF_MORE).items():
        if not (own := re.fullmatch(r"differential\.axle_\d+\.(\w+)", n)):
            found[n] = entry
            continue
        names = through if own.group(1) == "share" else train.axles
        found |= {f"differential.{axle}.{own.group(1)}": entry for axle in names}
    return found


@cache
def of_example(name: str) -> dict[str, Entry]:
    """The entries of the powertrain of an example."""
    example = load_vehicle(name)
    return {n: example.entries[n] for n in example.powertrain}


@cache
def common(gear: str) -> dict[str, Entry]:
    """The entries that belong to no axle, of a vehicle with that steering gear."""
    of_axles = tuple(f"{prefix}{axle.name}." for axle in DEFAULT for prefix in ("", _OUTLINE))
    shared = {n: e for n, e in load_vehicle(COMMON).entries.items() if not n.startswith((*of_axles, _STEERING))}
    return shared | {n: e for n, e in load_vehicle(GEARS[gear]).entries.items() if n.startswith(_STEERING)}
