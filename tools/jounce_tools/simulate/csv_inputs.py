"""Inputs over time as CSV: the description of the format, the reader, and a sample file."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

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
_HEADER: Final = re.compile(r"\s*([^\[\]]*?)\s*(?:\[([^\[\]]*)\])?\s*")


def read_inputs(path: Path, table: SignalTable, *, hold: bool = False) -> Track:
    """Reads a CSV of inputs. Raises UsageError naming line, column, value and what is expected."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        lines = list(_lines(text))
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path.name}: {error}") from error
    if not lines:
        raise UsageError(f"{path.name} line 1 column 1: '': expected time")
    (at, header), *rows = lines
    names, units = zip(*map(_name_and_unit, header), strict=True)
    if names[0] != "time":
        raise UsageError(f"{path.name} line {at} column 1: {header[0]!r}: expected time")
    if twice := next((n for i, n in enumerate(names) if n in names[:i]), None):
        raise UsageError(f"{path.name} line {at}: column {twice!r} is there twice; expected once")
    scalars = tuple(_column(f"{path.name} line {at} column {i}", table, name) for i, name in enumerate(names[1:], 2))
    _check_units(f"{path.name} line {at}", scalars, units)
    if rows and rows[0][1][0].strip() in ("s", "[s]"):
        (at, row), *rows = rows
        _check_length(f"{path.name} line {at}", row, header)
        _check_units(f"{path.name} line {at}", scalars, [u.strip().removeprefix("[").removesuffix("]") for u in row])
    times: list[float] = []
    values: list[list[float]] = []
    for at, row in rows:
        where = f"{path.name} line {at}"
        _check_length(where, row, header)
        time = _time(where, row[0])
        if times and time <= times[-1]:
            raise UsageError(f"{where} column time: {row[0]!r}: expected more than {times[-1]!r} s")
        times.append(time)
        values.append([_value(where, s, text) for s, text in zip(scalars, row[1:], strict=True)])
    if not times:
        raise UsageError(f"{path.name}: no line has values; expected at least one")
    return Track(scalars, np.array(times), np.array(values).reshape(len(times), len(scalars)), hold)


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


def _check_units(where: str, scalars: tuple[Scalar, ...], units: tuple[str, ...] | list[str]) -> None:
    for name, unit, own in zip(
        ("time", *(s.name for s in scalars)), units, ("s", *(s.signal.unit for s in scalars)), strict=True
    ):
        if unit and unit != own and not (own == "1" and unit == "-"):
            raise UsageError(f"{where}: {name} is in {unit}; expected {own}")


def _check_length(where: str, row: list[str], header: list[str]) -> None:
    if len(row) != len(header):
        raise UsageError(f"{where}: {len(row)} columns; expected {len(header)}")


def _time(where: str, text: str) -> float:
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{where} column time: {text!r}: expected a finite number")
    return value


def _value(where: str, scalar: Scalar, text: str) -> float:
    try:
        return parse(scalar, text)
    except errors.ServiceError as error:
        raise UsageError(f"{where} column {scalar.name}: {text!r}: expected {error.allowed}") from error
