"""Signal tables of models, by the names of their data sets, checked against the emitted C tables."""

from __future__ import annotations

from pathlib import Path

from jounce.signals import SignalTable
from jounce_fmu.build.library import BuildError, Sources
from jounce_fmu.build.table_c import emit_table
from jounce_fmu.models import Model, find


def checked_sources(name: str | Path = "hmmwv") -> tuple[SignalTable, Sources]:
    """Table and sources of a data set's model; raises BuildError if the emitted table is outdated."""
    model = find(name)
    return checked_table(model), model.sources


def checked_table(model: Model) -> SignalTable:
    """Table of a model's first data set; raises BuildError if the emitted table is outdated."""
    signals, path = model.read(model.base), model.table_file
    if path.read_text() != emit_table(signals, model.table_name):
        raise BuildError(f"{path.name} does not match the signal table: run python -m jounce_fmu.build.generate")
    return signals


def model_table(name: str | Path) -> SignalTable:
    """Table of a data set, given its name or the path of a user's own. Raises BuildError, DataError or ModelError."""
    return find(name).read(name)


def retabled(model: Model, table: SignalTable, identifier: str, folder: Path) -> Sources:
    """The model's sources with another signal table, which is written into the folder."""
    emitted = model.table_file
    path = folder / emitted.name
    path.write_text(emit_table(table, model.table_name))
    return Sources(identifier, tuple(path if f == emitted else f for f in model.sources.files))
