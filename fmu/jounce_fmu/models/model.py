"""The record of one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jounce.data import DataError
from jounce.signals import SignalTable
from jounce_fmu.build.library import NATIVE, BuildError, Sources, ensure_library

#: How the name of a model's emitted signal table ends.
TABLE_SUFFIX = "_table.c"


class ModelError(DataError):
    """A model or data set is not known, or its name is taken."""


@dataclass(frozen=True)
class Model:
    """One model: its C code, its data sets, and the function that emits its code.

    Its FMUs offer co-simulation, and model exchange if its table names the states.
    """

    name: str
    """Name of the model, as in the names of its files."""
    data_sets: tuple[str, ...]
    """Names of the data sets that come with it. The library has the start values of the first."""
    sources: Sources
    """The model's C files including its emitted table; the identifier is that of the first data set."""
    read: Callable[[str | Path], SignalTable]
    """Returns the signal table of a data set, given its name or the path of a user's own. Raises ValueError."""
    emit: Callable[[], Mapping[Path, str]]
    """Returns path -> text of every emitted file."""
    reads: Callable[[Path], bool] = lambda _path: False
    """Whether a path is a user's own data set for this model."""
    libraries: Path = NATIVE
    """Folder in which its library is kept."""

    @property
    def base(self) -> str:
        """The data set whose start values the library has."""
        return self.data_sets[0]

    @property
    def table_file(self) -> Path:
        """The emitted signal table among the C files. Raises BuildError."""
        found = [f for f in self.sources.files if f.name.endswith(TABLE_SUFFIX)]
        if len(found) != 1:
            raise BuildError(f"{self.name}: {len(found)} files end in {TABLE_SUFFIX}; expected 1")
        return found[0]

    def library(self) -> Path:
        """Path of the native library, which is built first if it is missing or stale. Raises BuildError."""
        return ensure_library(self.sources, self.libraries)

    @property
    def table_name(self) -> str:
        """Name of the emitted table, without its suffix."""
        return self.table_file.name.removesuffix(TABLE_SUFFIX)
