"""The vehicle on four double wishbones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from jounce.data import load_vehicle, vehicle_names
from jounce.models.double_wishbone.signals import LEDGER, table
from jounce.signals import SignalTable
from jounce_fmu.build.library import PACKAGE, BadRequest, builtin_sources
from jounce_fmu.build.table_c import emit_header, emit_table
from jounce_fmu.models.model import Model

NAME, BASE = "double_wishbone", "hmmwv"
#: Folder of the emitted files.
GENERATED = PACKAGE / "models" / NAME / "generated"


def emit(signals: SignalTable | None = None) -> Mapping[Path, str]:
    """Path of each emitted file to its text, for the vehicle's table or a rearranged one. Needs CasADi."""
    from jounce.models.double_wishbone import emit as double_wishbone

    signals = read(BASE) if signals is None else signals
    code = {
        **double_wishbone.files(signals),
        f"{NAME}_table.c": emit_table(signals, NAME),
        f"{NAME}_table.h": emit_header(signals, NAME),
    }
    return {LEDGER: signals.ledger.text(), **{GENERATED / name: text for name, text in code.items()}}


def read(name: str | Path) -> SignalTable:
    """Table of a vehicle: the same entries in the base's order, with bounds of its own.

    ``name`` is that of a built-in vehicle, or the path of a folder or its vehicle.toml. Raises BuildError, DataError.
    """
    own, wanted = load_vehicle(name), load_vehicle(BASE).entries
    if missing := [n for n in wanted if n not in own.entries]:
        raise BadRequest(f"vehicle {own.name!r} lacks the entry {missing[0]!r} ({len(missing)} in all)")
    if unknown := [n for n in own.entries if n not in wanted]:
        raise BadRequest(f"vehicle {own.name!r}: unknown entry {unknown[0]!r} ({len(unknown)} in all)")
    for n, entry in own.entries.items():
        if entry.unit != wanted[n].unit:
            raise BadRequest(f"vehicle {own.name!r}: {n} is in {entry.unit}; expected {wanted[n].unit}")
    return table(replace(own, entries={n: own.entries[n] for n in wanted}))


def _reads(path: Path) -> bool:
    return path.suffix == ".toml" or (path / "vehicle.toml").is_file()


MODEL = Model(
    name=NAME,
    data_sets=(BASE, *(n for n in vehicle_names() if n != BASE)),
    sources=builtin_sources(),
    read=read,
    emit=emit,
    reads=_reads,
)
