"""The vehicles that ship with jounce: their table, their sources, their FMU."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jounce.data import load_vehicle
from jounce.signals import SignalTable, table
from jounce_fmu.build import BuildError, Sources, builtin_sources, ensure_library
from jounce_fmu.describe import NameStyle, interface_guid
from jounce_fmu.foreign import Interface
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


def vehicle_table(name: str | Path, base: str = "hmmwv") -> SignalTable:
    """Table of any vehicle of the base's kind: the same entries in the base's order, with bounds of its own.

    ``name`` is that of a built-in vehicle, or the path of a folder or its vehicle.toml. Raises BuildError, DataError.
    """
    own, wanted = load_vehicle(name), load_vehicle(base).entries
    if missing := [n for n in wanted if n not in own.entries]:
        raise BuildError(f"vehicle {own.name!r} lacks the entry {missing[0]!r} ({len(missing)} in all)")
    if unknown := [n for n in own.entries if n not in wanted]:
        raise BuildError(f"vehicle {own.name!r}: unknown entry {unknown[0]!r} ({len(unknown)} in all)")
    for n, entry in own.entries.items():
        if entry.unit != wanted[n].unit:
            raise BuildError(f"vehicle {own.name!r}: {n} is in {entry.unit}; allowed is {wanted[n].unit}")
    return table(replace(own, entries={n: own.entries[n] for n in wanted}))


def variant_table(name: str, common: SignalTable) -> SignalTable:
    """Table of a variant, which must share the interface of its base. Raises BuildError."""
    own = vehicle_table(name)
    if interface_guid(own) != interface_guid(common):
        raise BuildError(f"vehicle {name!r} has other bounds than {common.name!r}: only an FMU can be made of it")
    return own


def identifier(vehicle: str) -> str:
    """FMI model identifier of a vehicle, from its name."""
    return "jounce_" + re.sub(r"\W", "_", vehicle, flags=re.ASCII)


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

    ``name`` is that of a built-in vehicle, or the path of a folder or its vehicle.toml. That of ``base`` packs the very
    library the host loads; with other start values, as those of another vehicle, it is built with them, has a GUID of
    its own and the model identifier of its vehicle, and must start on this machine. Raises BuildError, DataError,
    DescribeError, FmuError.
    """
    common, sources = checked_sources(base)
    if name == base and not starts:
        return export_fmu(path, common, sources, names=names, platforms=platforms, fmi=fmi, scalars=scalars)
    own = changed(vehicle_table(name, base), starts or {})
    edition = replace(own, edition=repr((own.name, [s.start for s in own.scalars])))
    emitted = table_file(sources)
    with tempfile.TemporaryDirectory() as folder:
        rewritten = Path(folder) / emitted.name
        rewritten.write_text(emit_table(edition, emitted.name.removesuffix(TABLE_SUFFIX)))
        files = tuple(rewritten if f == emitted else f for f in sources.files)
        variant = Sources(identifier(own.name), files)
        if interface_guid(own) == interface_guid(common):  # then the library at hand can tell
            _check_start(own, ensure_library(sources))
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
