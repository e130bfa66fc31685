"""Inputs over time as CSV: the description of the format, the reader, and a sample file."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jounce.signals import Scalar, SignalTable
from jounce.values import number
from jounce_fmu.importer.trajectory import Track
from jounce_service.hosting.values import parse, scalar_of
from jounce_service.transport import errors
from jounce_tools.errors import UsageError, with_expected

#: The format, line by line: the help of the command and the page on CSV have it from here.
FORMAT: Final = (
    "The first line names the columns: `time`, then inputs by name, each with or without its unit: `time [s]`.",
    "Alternatively a second line gives the units; it starts with `s`. Units are checked, not converted.",
    "Columns are separated by commas, semicolons or tabs, the same in all lines; the decimal mark is a point.",
    "`time` is in s from the start of the run and rises from line to line. Lines that start with `#` are skipped.",
    "Continuous inputs are interpolated linearly between two lines; inputs of other types hold.",
    "The first line holds before its time, the last one after it. With `--hold` each line holds until the next, and "
    "the start values hold before the first.",
    "An input acts with its value at the start of a tick. Inputs without a column keep their start value.",
    "Without a column `steering_wheel_rate` the rate is the slope of `steering_wheel_angle` (0 with `--hold`).",
)
Array = NDArray[np.float64]
_HEADER: Final = re.compile(r"\s*([^\[\]]*?)\s*(?:\[([^\[\]]*)\])?\s*")


@dataclass(frozen=True)
class Column:
    """What a column's name stands for."""

    name: str
    unit: str
    value: Callable[[str, str], float]
    """Of a place in the file and the text there. Raises UsageError."""


def read_inputs(path: Path, table: SignalTable, *, hold: bool = False) -> Track:
    """Reads a CSV of inputs. Raises UsageError naming line, column, value and what is expected."""
    scalars: list[Scalar] = []

    def column(where: str, name: str) -> Column:
        scalar = _column(where, table, name)
        scalars.append(scalar)
        return Column(scalar.name, scalar.signal.unit, lambda place, text: _value(place, scalar, text))

    times, values = read_columns(path, column)
    return Track(tuple(scalars), times, values, hold)


def read_columns(path: Path, column: Callable[[str, str], Column]) -> tuple[Array, Array]:
    """Reads a CSV whose first column is the time: times (n,) [s], which rise, and values (n, other columns).

    ``column`` gives a place in the file and the name there a meaning, or raises UsageError, as this does.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        lines = list(_lines(text))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name}: byte {error.start} is not UTF-8; expected a text (CSV)") from error
    except csv.Error as error:
        raise UsageError(f"{path.name}: {error}; expected a text (CSV)") from error
    if not lines:
        raise UsageError(f"{path.name} line 1 column 1: '': expected time")
    (at, header), *rows = lines
    names, units = zip(*map(_name_and_unit, header), strict=True)
    if names[0] != "time":
        raise UsageError(f"{path.name} line {at} column 1: {header[0]!r}: expected time")
    if twice := next((n for i, n in enumerate(names) if n in names[:i]), None):
        raise UsageError(f"{path.name} line {at}: column {twice!r} is there twice; expected once")
    columns = [column(f"{path.name} line {at} column {i}", name) for i, name in enumerate(names[1:], 2)]
    _check_units(f"{path.name} line {at}", columns, units)
    if rows and rows[0][1][0].strip() in ("s", "[s]"):
        (at, row), *rows = rows
        _check_length(f"{path.name} line {at}", row, header)
        _check_units(f"{path.name} line {at}", columns, [u.strip().removeprefix("[").removesuffix("]") for u in row])
    times: list[float] = []
    values: list[list[float]] = []
    for at, row in rows:
        where = f"{path.name} line {at}"
        _check_length(where, row, header)
        time = finite(where, "time", row[0])
        if times and time <= times[-1]:
            raise UsageError(f"{where} column time: {row[0]!r}: expected more than {times[-1]!r} s")
        times.append(time)
        values.append([c.value(where, text) for c, text in zip(columns, row[1:], strict=True)])
    if not times:
        raise UsageError(f"{path.name}: no line has values; expected at least one")
    return np.array(times), np.array(values).reshape(len(times), len(columns))


def sample(table: SignalTable) -> str:
    """A sample of inputs for the model. A vehicle accelerates and steers left, then right."""
    names = {s.name for s in table.inputs}
    # the last axle that is driven
    driven = [s.name for s in table.inputs if s.name.endswith(".drive_torque") and s.maximum > 0.0][-2:]
    if len(driven) == 2 and "steering_wheel_angle" in names:
        columns = ["steering_wheel_angle", *driven]
        rows = [(0, 0, 0), (1, 0, 400), (4, 0, 400), (5, 1.5, 200), (6, 1.5, 200), (7, -1.5, 200), (8, -1.5, 200),
                (9, 0, 200), (10, 0, 0)]  # fmt: skip
        lines: list[tuple[float, ...]] = [(time, angle, torque, torque) for time, angle, torque in rows]
    else:
        scalars = [s for s in table.inputs if s.signal.type == "Real"][:3]
        columns = [s.name for s in scalars]
        lines = [(time, *(s.start for s in scalars)) for time in (0, 10)]
    file = io.StringIO()
    file.write("# Inputs over time for `jounce simulate --inputs`; docs/csv.md has the format.\n")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["time [s]", *(f"{n} [{table.by_name(n).signal.unit}]" for n in columns)])
    writer.writerows(lines)
    return file.getvalue()


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of each line that is neither empty nor a comment."""
    kept = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    header = next(kept, "")
    delimiter = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    for row in reader:
        if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#"):
            yield reader.line_num, row


def _name_and_unit(cell: str) -> tuple[str, str]:
    found = _HEADER.fullmatch(cell)
    return (cell.strip(), "") if found is None else (found[1], (found[2] or "").strip())


def _column(where: str, table: SignalTable, name: str) -> Scalar:
    try:
        return scalar_of(table, table.inputs, name, "input")
    except errors.UnknownSignal as error:
        raise UsageError(f"{where}: {with_expected(error)}") from error


def _check_units(where: str, columns: Sequence[Column], units: Sequence[str]) -> None:
    for name, unit, own in zip(
        ("time", *(c.name for c in columns)), units, ("s", *(c.unit for c in columns)), strict=True
    ):
        if unit and unit != own and not (own == "1" and unit == "-"):
            raise UsageError(f"{where}: {name} is in {unit}; expected {own}")


def _check_length(where: str, row: list[str], header: list[str]) -> None:
    if len(row) != len(header):
        raise UsageError(f"{where}: {len(row)} columns; expected {len(header)}")


def finite(where: str, name: str, text: str) -> float:
    """The number of a cell. Raises UsageError."""
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{where} column {name}: {text!r}: expected a finite number")
    return value


def _value(where: str, scalar: Scalar, text: str) -> float:
    try:
        return parse(scalar, text)
    except errors.ServiceError as error:
        raise UsageError(f"{where} column {scalar.name}: {text!r}: expected {error.allowed}") from error
