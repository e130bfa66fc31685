"""Rows of a run as CSV, Parquet or a recording, as the file's name asks for; whole, or with a note where it ends."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol, TextIO

import numpy as np

from jounce.optional import missing
from jounce_tools.errors import UsageError, check_output

#: How units are written: behind each name, in a second line, or not at all.
UNITS: Final = ("header", "line", "none")
_CSV: Final = (".csv", ".txt")
#: The suffix of the other format.
PARQUET: Final = ".parquet"
#: The suffix of recordings.
MCAP: Final = ".mcap"
#: Suffix -> the package that writes it.
_NEEDED: Final = {PARQUET: "pyarrow", MCAP: "mcap"}
#: Rows of one group in a Parquet file.
_GROUP: Final = 4096

Columns = Sequence[tuple[str, str]]


class Rows(Protocol):
    """Takes rows, and a note where they end early."""

    def add(self, row: Sequence[float]) -> None:
        """One row, time first."""

    def end(self, note: str) -> None:
        """No more rows; ``note`` says why they end early, "" where they do not."""


class CsvRows:
    """Each number so that it reads back the same double."""

    def __init__(self, file: TextIO, columns: Columns, units: str) -> None:
        """Writes the names and, as ``units`` says, the units."""
        self._file, self._writer = file, csv.writer(file, lineterminator="\n")
        self._writer.writerow([f"{n} [{u}]" for n, u in columns] if units == "header" else [n for n, _ in columns])
        if units == "line":
            self._writer.writerow([u for _, u in columns])

    def add(self, row: Sequence[float]) -> None:
        """One row, time first."""
        self._writer.writerow(map(repr, row))

    def end(self, note: str) -> None:
        """A note is a last line that starts with ``#``."""
        if note:
            self._file.write(f"# {note}\n")
        self._file.flush()


class ParquetRows:
    """A column of doubles per signal, its unit in the field's metadata, all else in the schema's."""

    def __init__(self, path: Path, columns: Columns, facts: Mapping[str, str]) -> None:
        """Opens the file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        fields = [pa.field(n, pa.float64(), nullable=False, metadata={"unit": u}) for n, u in columns]
        self._schema = pa.schema(fields, metadata=dict(facts))
        self._writer: Any = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Sequence[float]] = []

    def add(self, row: Sequence[float]) -> None:
        """One row, time first."""
        self._rows.append(row)
        if len(self._rows) == _GROUP:
            self._write()

    def end(self, note: str) -> None:
        """A note is ``stopped`` in the file's metadata."""
        if self._rows:
            self._write()
        if note:
            self._writer.add_key_value_metadata({"stopped": note})
        self._writer.close()

    def _write(self) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.table(list(np.array(self._rows).T), schema=self._schema))
        self._rows.clear()


def check_name(path: Path | None) -> None:
    """Raises UsageError for a name of no format, or where a package is missing."""
    if path is None:
        return
    if not _special(path):
        check_output(path, *_CSV, PARQUET, MCAP)
    if path.suffix in _NEEDED and (told := missing(_NEEDED[path.suffix])):
        raise UsageError(told)


@contextmanager
def writing(
    path: Path | None, columns: Columns, units: str, facts: Mapping[str, str], record: Callable[[Path], Rows]
) -> Iterator[Rows]:
    """A place for rows: standard output for None. A file takes its name at the end, and is gone after an exception.

    ``record`` opens a recording, for a name that ends in .mcap.
    """
    if path is None:
        yield CsvRows(sys.stdout, columns, units)
    elif _special(path):
        with path.open("w", newline="", encoding="utf-8") as file:
            yield CsvRows(file, columns, units)
    else:
        part = path.with_name(path.name + ".part")
        try:
            if path.suffix == PARQUET:
                yield ParquetRows(part, columns, facts)
            elif path.suffix == MCAP:
                part.unlink(missing_ok=True)
                yield record(part)
            else:
                with part.open("w", newline="", encoding="utf-8") as file:
                    yield CsvRows(file, columns, units)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def _special(path: Path) -> bool:
    """A device or a pipe, which has no other name beside it."""
    return path.exists() and not path.is_file() and not path.is_dir()

