"""Exports FMUs by the names of data sets."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jounce.signals import SignalTable
from jounce.values import Value
from jounce_fmu.build.library import ensure_library
from jounce_fmu.build.library import identifier as identifier
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.description.fmi2 import NameStyle, interface_guid
from jounce_fmu.description.starts import changed
from jounce_fmu.importer.foreign import Interface
from jounce_fmu.importer.host import Factory
from jounce_fmu.importer.tables import checked_table, retabled
from jounce_fmu.models import find
from jounce_fmu.models.roads import road_place, road_resources


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
    """Writes the FMU of a data set; ``starts`` replaces start values, and the other options are those of `export_fmu`.

    ``name`` is the name of a data set or the path of a user's own. The FMU of a model's first data set holds the same
    library that jounce itself loads. With other start values or another data set, the library is built with these
    values; the FMU then has its own GUID and the data set's model identifier. The start values are checked by starting
    the model on this machine. Raises BuildError, DataError, DescribeError, FmuError or ModelError.
    """
    model = find(name)
    common = checked_table(model)
    if name == model.base and not starts:
        return export_fmu(path, common, model.sources, names=names, platforms=platforms, library_folder=model.libraries,
                          fmi=fmi, scalars=scalars, resources=road_resources(name))  # fmt: skip
    own = changed(model.read(name), starts or {})
    edition = replace(own, edition=repr((own.name, [s.start for s in own.scalars])))
    with tempfile.TemporaryDirectory() as folder:
        variant = retabled(model, edition, identifier(own.name), Path(folder))
        if interface_guid(own) == interface_guid(common):  # The model's own library can run the check.
            _check_start(own, model.library(), road_place(name))
        else:
            _check_start(edition, ensure_library(variant, Path(folder)), road_place(name))
        return export_fmu(
            path,
            edition,
            variant,
            names=names,
            platforms=platforms,
            library_folder=Path(folder),
            fmi=fmi,
            scalars=scalars,
            resources=road_resources(name),
        )


def _check_start(own: SignalTable, library: Path, resources: str) -> None:
    """Raises FmuError, which names the parameter, if the model cannot start."""
    with Factory(own.name, library, Interface.of_table(own), resources=resources).instance("check") as check:
        check.setup({s.name: s.start for s in own.parameters}, {s.name: s.start for s in own.inputs})
