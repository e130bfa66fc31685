"""Value references of vehicles with other axles than the HMMWV's, by rule from ledgers that are committed.

A user's vehicle has no ledger of its own, and its references must be the same in every release. So they follow from
those of two ledgers that only grow: that of the HMMWV, which has each variable of its wheels and axles, and that of the
kinds, which has the entries of the other kinds of suspension and steering. What is not one of a wheel or an axle has
the reference of the ledger. The first two axles and their wheels have those of the HMMWV's; each further one has those
of the first, whole strides higher. Entries of an axle's own tires, `tire.front.PDX1`, have that of `tire.PDX1`, as many
strides higher as the axle's number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from jounce.axles import DEFAULT, WHEELS, Axle, wheel_names
from jounce.contact.tires import Law
from jounce.data import Vehicle
from jounce.models.double_wishbone import powered
from jounce.references import FIRST, Kind, Ledger, LedgerError
from jounce.suspension.kinds import suspension_of

#: References of the HMMWV's variables; `python -m jounce_fmu.build.generate` writes new ones into it.
LEDGER = Path(__file__).parent / "references.txt"
#: The same of entries that it has not: `macpherson.STRUT_C.x` is one of each axle of that kind.
KINDS_LEDGER = LEDGER.with_name("references_kinds.txt")
#: The same of what vehicles on tires of other laws have, which is not in the HMMWV's: `tire.PDX1`.
TIRES_LEDGER = LEDGER.with_name("references_tires.txt")
#: From one wheel's or axle's reference to the next one's, by the range of the reference. The ledgers' own references
#: end a stride after the first of their range.
_STRIDES: dict[Kind, int] = {"input": 500, "output": 5_000, "parameter": 5_000, "state": 5_000}
#: First reference of an entry of the kinds' ledger.
KINDS_FIRST = 150_000
#: First references of the tires' ledger, within the first stride of each range.
TIRES_FIRST: dict[Kind, int] = {"input": 1_300, "output": 13_000, "parameter": 102_000, "state": 202_000}


def ledger(axles: Sequence[Axle], names: Iterable[str]) -> Ledger:
    """References of the variables of those names, of a vehicle with those axles. Raises LedgerError."""
    ledgers = (LEDGER, KINDS_LEDGER, powered.LEDGER, TIRES_LEDGER)
    known = {name: reference for path in ledgers for name, reference in Ledger.read(path).references.items()}
    found: dict[str, int] = {}
    for name in names:
        of, strides = powered.of_first(axles, name) or _of_kind(axles, name) or _of_hmmwv(axles, name)
        if (reference := known.get(of)) is not None:
            found[name] = reference + strides * _stride(reference)
    if len(set(found.values())) != len(found):
        raise LedgerError(f"two variables of a vehicle with {len(axles)} axles have the same reference")
    return Ledger(found)


def kinds_ledger(vehicles: Iterable[Vehicle]) -> Ledger:
    """The kinds' ledger with the entries of those vehicles that it has not yet."""
    own, kinds = Ledger.read(LEDGER).references, dict(Ledger.read(KINDS_LEDGER).references)
    for vehicle in vehicles:
        for name in vehicle.entries:
            of, _ = _of_kind(vehicle.axles, name) or _of_hmmwv(vehicle.axles, name)
            if of not in own and of not in kinds:
                kinds[of] = max(kinds.values(), default=KINDS_FIRST - 1) + 1
    return Ledger(kinds)


def tires_ledger(laws: Iterable[Law], known: Mapping[str, int]) -> Ledger:
    """The tires' ledger with what those laws have that it has not yet; ``known``: references that it leaves out."""
    found = dict(Ledger.read(TIRES_LEDGER).references) if TIRES_LEDGER.exists() else {}
    for law in laws:
        groups: dict[Kind, list[str]] = {
            "input": [f"wheel_{w}.{s.name}" for w in WHEELS for s in law.inputs],
            "output": [f"wheel_{w}.{s.name}" for w in WHEELS for s in law.outputs],
            "parameter": [f"tire.{name}" for name in law.entries],
            "state": [f"state.wheel_{w}.{s.name}" for w in WHEELS for s in law.states],
        }
        for kind, names in groups.items():
            first = TIRES_FIRST[kind]
            for name in (n for n in names if n not in found and n not in known):
                found[name] = max((r for r in found.values() if first <= r < first + 1000), default=first - 1) + 1
    return Ledger(found)


def _of_kind(axles: Sequence[Axle], name: str) -> tuple[str, int] | None:
    """An axle's entry as the kinds' ledger has it, and by how many strides its reference is higher."""
    for k, axle in enumerate(axles):
        if name.startswith(f"{axle.name}.") and axle.kind != DEFAULT[0].kind:
            return suspension_of(axle.kind).name + name.removeprefix(axle.name), k
    return None


def _of_hmmwv(axles: Sequence[Axle], name: str) -> tuple[str, int]:
    """The same for the variable of the HMMWV that stands for one."""
    wheels, names = wheel_names(len(axles)), [axle.name for axle in axles]
    if (m := re.fullmatch(r"((?:state\.)?wheel_)(\w+)(\..*)", name)) and m.group(2) in wheels:
        k = wheels.index(m.group(2))
        return m.group(1) + WHEELS[k if k < len(WHEELS) else 0] + m.group(3), max(0, k - len(WHEELS) + 1)
    if (m := re.fullmatch(r"(chassis\.outline\.|)(\w+)(\..*)", name)) and m.group(2) in names:
        k = names.index(m.group(2))
        return m.group(1) + DEFAULT[k if k < len(DEFAULT) else 0].name + m.group(3), max(0, k - len(DEFAULT) + 1)
    if (m := re.fullmatch(r"tire\.(\w+)\.(\w+)", name)) and m.group(1) in names:
        return f"tire.{m.group(2)}", 1 + names.index(m.group(1))
    return name, 0


def _stride(reference: int) -> int:
    kind = max((k for k in FIRST if FIRST[k] <= reference), key=FIRST.__getitem__)
    return _STRIDES[kind]
