"""The planar half car."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jounce.models.halfcar.signals import LEDGER, NAME, table
from jounce.signals import SignalTable
from jounce_fmu.build.library import PACKAGE, builtin_sources
from jounce_fmu.build.table_c import emit_header, emit_table
from jounce_fmu.models.model import Model

#: Folder of the emitted files.
GENERATED = PACKAGE / "models" / NAME / "generated"


def emit() -> Mapping[Path, str]:
    """Path of each emitted file to its text. Needs CasADi."""
    from jounce.models.halfcar.emit import files

    signals = table()
    code = {
        **files(signals),
        f"{NAME}_table.c": emit_table(signals, NAME),
        f"{NAME}_table.h": emit_header(signals, NAME),
    }
    return {LEDGER: signals.ledger.text(), **{GENERATED / name: text for name, text in code.items()}}


def _read(_name: str | Path) -> SignalTable:
    return table()


MODEL = Model(name=NAME, data_sets=(NAME,), sources=builtin_sources(NAME, NAME), read=_read, emit=emit)
