"""The vehicles that ship with jounce: their table, their sources, their FMU."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jounce.data import load_vehicle
from jounce.signals import SignalTable, table
from jounce_fmu.build import BuildError, Sources, builtin_sources
from jounce_fmu.describe import NameStyle, interface_guid
from jounce_fmu.pack import export_fmu
from jounce_fmu.starts import Value, changed
from jounce_fmu.table_c import emit_table

TABLE_SUFFIX = "_table.c"


def table_file(sources: Sources) -> Path:
    """The emitted table among a model's files."""
    found = [f for f in sources.files if f.name.endswith(TABLE_SUFFIX)]
    if len(found) != 1:
        raise BuildError(f"{sources.identifier}: {len(found)} files end in {TABLE_SUFFIX}; allowed is 1")
    return found[0]


def checked_sources(base: str = "hmmwv") -> tuple[SignalTable, Sources]:
    """Table and sources of a built-in model; BuildError when the emitted table is not that of the signals."""
    signals, sources = table(load_vehicle(base)), builtin_sources(base)
    path = table_file(sources)
    if path.read_text() != emit_table(signals, path.name.removesuffix(TABLE_SUFFIX)):
        raise BuildError(f"generated/{path.name} is not that of the present signal table: emit the model again")
    return signals, sources


def variant_table(name: str, common: SignalTable) -> SignalTable:
    """Table of a variant, which must share the interface of its base. Raises BuildError."""
    own = table(load_vehicle(name))
    if interface_guid(own) != interface_guid(common):
        raise BuildError(f"vehicle {name!r} has other signals or bounds than {common.name!r}")
    return own


def export_builtin(
    path: str | os.PathLike[str],
    name: str = "hmmwv",
    base: str = "hmmwv",
    *,
    names: NameStyle = "structured",
    platforms: Sequence[str] = ("linux64",),
    fmi: int = 2,
    scalars: bool = False,
    starts: Mapping[str, Value] | None = None,
) -> Path:
    """Write the FMU of a vehicle, with the options of `export_fmu` and other start values where ``starts`` has them.

    That of ``base`` packs the very library the host loads; with other start values, as those of a variant, it is
    built with them. Raises BuildError, DescribeError.
    """
    common, sources = checked_sources(base)
    if name == base and not starts:
        return export_fmu(path, common, sources, names=names, platforms=platforms, fmi=fmi, scalars=scalars)
    own = changed(variant_table(name, common), starts or {})
    emitted = table_file(sources)
    with tempfile.TemporaryDirectory() as folder:
        rewritten = Path(folder) / emitted.name
        rewritten.write_text(emit_table(own, emitted.name.removesuffix(TABLE_SUFFIX)))
        files = tuple(rewritten if f == emitted else f for f in sources.files)
        variant = replace(sources, files=files)
        return export_fmu(
            path,
            own,
            variant,
            names=names,
            platforms=platforms,
            library_folder=Path(folder),
            fmi=fmi,
            scalars=scalars,
        )
