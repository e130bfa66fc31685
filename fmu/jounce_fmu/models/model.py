"""One model: its code, its data sets, and what emits its code."""

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
    """A model or a data set that is not known, or that takes another's name."""


@dataclass(frozen=True)
class Model:
    """One model: its code, its data sets, and what emits its code.

    Its table tells the kinds of FMU: co-simulation always, model exchange where it names its states.
    """

    name: str
    """Of the model, as in the names of its files."""
    data_sets: tuple[str, ...]
    """Names of the data sets that come with it, the first one being that of its library."""
    sources: Sources
    """The model's C files, its emitted table among them; the identifier is that of the first data set."""
    read: Callable[[str | Path], SignalTable]
    """Signal table of a data set, by its name or by the path of a user's own. Raises ValueError."""
    emit: Callable[[], Mapping[Path, str]]
    """Path -> text of every emitted file."""
    reads: Callable[[Path], bool] = lambda _path: False
    """Whether a path is a user's own data set for this model."""
    libraries: Path = NATIVE
    """Folder in which its library is kept."""

    @property
    def base(self) -> str:
        """The data set with which the library starts."""
        return self.data_sets[0]

    @property
    def table_file(self) -> Path:
        """The emitted signal table among its files. Raises BuildError."""
        found = [f for f in self.sources.files if f.name.endswith(TABLE_SUFFIX)]
        if len(found) != 1:
            raise BuildError(f"{self.name}: {len(found)} files end in {TABLE_SUFFIX}; expected 1")
        return found[0]

    def library(self) -> Path:
        """Path of its native library, built first where it is missing or stale. Raises BuildError."""
        return ensure_library(self.sources, self.libraries)

    @property
    def table_name(self) -> str:
        """What the emitted table is named after."""
        return self.table_file.name.removesuffix(TABLE_SUFFIX)
