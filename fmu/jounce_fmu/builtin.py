"""Models by the names of their data sets: tables, checked sources, FMUs."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jounce.signals import SignalTable
from jounce.values import Value
from jounce_fmu.build import BuildError, Sources, ensure_library
from jounce_fmu.describe import NameStyle, interface_guid
from jounce_fmu.foreign import Interface
from jounce_fmu.models import Model, find
from jounce_fmu.pack import export_fmu
from jounce_fmu.starts import changed
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


def identifier(name: str) -> str:
    """FMI model identifier of a data set, from its name."""
    return "jounce_" + re.sub(r"\W", "_", name, flags=re.ASCII)


def export_builtin(
    path: str | os.PathLike[str],
    name: str | Path = "hmmwv",
    *,
    names: NameStyle = "structured",
    platforms: Sequence[str] = ("linux64",),
    fmi: int = 2,
    scalars: bool = False,
    starts: Mapping[str, Value] | None = None,
) -> Path:
    """Write the FMU of a data set, with the options of `export_fmu` and other start values where ``starts`` has them.

    ``name`` is that of a data set, or the path of a user's own. That of the model's base packs the very library the
    host loads; with other start values, as those of another data set, it is built with them, has a GUID of its own and
    the model identifier of its data set, and must start on this machine. Raises BuildError, DataError, DescribeError,
    FmuError, ModelError.
    """
    model = find(name)
    common = checked_table(model)
    if name == model.base and not starts:
        return export_fmu(path, common, model.sources, names=names, platforms=platforms, library_folder=model.libraries,
                          fmi=fmi, scalars=scalars)  # fmt: skip
    own = changed(model.read(name), starts or {})
    edition = replace(own, edition=repr((own.name, [s.start for s in own.scalars])))
    emitted = model.table_file
    with tempfile.TemporaryDirectory() as folder:
        rewritten = Path(folder) / emitted.name
        rewritten.write_text(emit_table(edition, model.table_name))
        files = tuple(rewritten if f == emitted else f for f in model.sources.files)
        variant = Sources(identifier(own.name), files)
        if interface_guid(own) == interface_guid(common):  # then the library at hand can tell
            _check_start(own, model.library())
        else:
            _check_start(edition, ensure_library(variant, Path(folder)))
        return export_fmu(
            path,
            edition,
            variant,
            names=names,
            platforms=platforms,
            library_folder=Path(folder),
            fmi=fmi,
            scalars=scalars,
        )


def _check_start(own: SignalTable, library: Path) -> None:
    """Raise FmuError, which names the parameter, where a vehicle has no start state."""
    from jounce_fmu.host import Factory  # which imports this module

    with Factory(own.name, library, Interface.of_table(own)).instance("check") as check:
        check.setup({s.name: s.start for s in own.parameters}, {s.name: s.start for s in own.inputs})
