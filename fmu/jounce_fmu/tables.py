"""Signal tables of models, by the names of their data sets, checked against what was emitted."""

from __future__ import annotations

from pathlib import Path

from jounce.signals import SignalTable
from jounce_fmu.build import BuildError, Sources
from jounce_fmu.describe import interface_guid
from jounce_fmu.models import Model, find
from jounce_fmu.table_c import emit_table


def checked_sources(name: str | Path = "hmmwv") -> tuple[SignalTable, Sources]:
    """Table and sources of a data set's model; BuildError when the emitted table is not that of the signals."""
    model = find(name)
    return checked_table(model), model.sources


def checked_table(model: Model) -> SignalTable:
    """Table of a model's first data set; BuildError when the emitted table is another."""
    signals, path = model.read(model.base), model.table_file
    if path.read_text() != emit_table(signals, model.table_name):
        raise BuildError(f"{path.name} is not that of the present signal table: emit the model again")
    return signals


def model_table(name: str | Path) -> SignalTable:
    """Table of a data set, by its name or the path of a user's own. Raises BuildError, DataError, ModelError."""
    return find(name).read(name)


def variant_table(name: str | Path, common: SignalTable) -> SignalTable:
    """Table of a data set that must share the interface of its model's base. Raises BuildError."""
    own = model_table(name)
    if interface_guid(own) != interface_guid(common):
        raise BuildError(f"vehicle {str(name)!r} has other bounds than {common.name!r}: only an FMU can be made of it")
    return own
