"""``jounce simulate``: one model in process, inputs and outputs as CSV.

The first column is the time [s], the others are scalar signals by name. A row of inputs holds until the
next row. Rows fall on ticks: a row acts from the first tick at or after its time.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from jounce.signals import Scalar, SignalTable
from jounce.values import number
from jounce_fmu.host import open_builtin
from jounce_service import errors
from jounce_service.cli.given import scalar, with_expected
from jounce_service.cli.main import UsageError
from jounce_service.hosted import FmuModel
from jounce_service.models import HostedInstance, HostedModel, Vector
from jounce_service.values import parse, scalar_of

#: Times this close to a tick [fraction of a tick] are meant to be on it: decimal times are not exact.
_ON_TICK = 1e-6


@dataclass(frozen=True)
class InputRows:
    """Input rows of a CSV file: time [s] and values [unit of each] by column."""

    scalars: tuple[Scalar, ...]
    times: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("--model", default="hmmwv", help="vehicle name (default: %(default)s)")
    parser.add_argument("--inputs", type=Path, help="CSV of inputs; without it the start values hold")
    parser.add_argument("--duration", type=float, required=True, metavar="T", help="simulated time in s")
    parser.add_argument("-o", "--output", type=Path, help="CSV to write (default: standard output)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="parameter, may repeat")
    parser.add_argument("--output-interval", type=float, metavar="S", help="in s (default: one row per tick)")


def run(arguments: argparse.Namespace) -> int:
    """Reads, simulates, writes; nothing is written before the inputs are read and the model has started."""
    model = FmuModel(open_builtin(arguments.model))
    table = model.table
    parameters = dict(scalar(table, text, "parameter") for text in arguments.set)
    rows = read_inputs(arguments.inputs, table) if arguments.inputs else InputRows((), (), ())
    with started(model, parameters, rows) as (instance, u):
        n_ticks = ticks(arguments.duration, instance.tick, "--duration")
        every = interval(arguments.output_interval, instance.tick, "--output-interval")
        trajectory = simulate(instance, u, rows, n_ticks=n_ticks, every=every)
        if arguments.output is None:
            write(sys.stdout, table, trajectory)
        else:
            with arguments.output.open("w", newline="", encoding="utf-8") as file:
                write(file, table, trajectory)
    return 0


@contextmanager
def started(
    model: HostedModel, parameters: Mapping[str, float], rows: InputRows
) -> Iterator[tuple[HostedInstance, Vector]]:
    """An instance at tick 0 and its start inputs, which the first row gives where it is not later."""
    u = np.array([s.start for s in model.table.inputs])
    first = {}
    if rows.times and rows.times[0] <= 0.0:
        first = {s.name: v for s, v in zip(rows.scalars, rows.values[0], strict=True)}
    instance = model.create("simulate", parameters, first)
    try:
        yield instance, u
    finally:
        instance.free()


def read_inputs(path: Path, table: SignalTable) -> InputRows:
    """Reads a CSV of inputs. Raises UsageError naming line, column, value and what is allowed."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        header = [h.strip() for h in next(reader, [])]
        if not header or header[0] != "time":
            raise UsageError(f"{path.name} line 1 column 1: {header[0] if header else ''!r}: allowed is time")
        scalars = tuple(_column(path, table, place, name) for place, name in enumerate(header[1:], 2))
        if len(set(header)) != len(header):
            twice = next(h for i, h in enumerate(header) if h in header[:i])
            raise UsageError(f"{path.name} line 1: column {twice!r} is there twice: allowed is once")
        times: list[float] = []
        values: list[tuple[float, ...]] = []
        for row in reader:
            if not row:
                continue
            where = f"{path.name} line {reader.line_num}"
            if len(row) != len(header):
                raise UsageError(f"{where}: {len(row)} columns: allowed are {len(header)}")
            time = _number(where, "time", row[0])
            if times and time <= times[-1]:
                raise UsageError(f"{where} column time: {row[0]!r}: allowed is more than {times[-1]!r} s")
            times.append(time)
            values.append(tuple(_value(where, s, text) for s, text in zip(scalars, row[1:], strict=True)))
    return InputRows(scalars, tuple(times), tuple(values))


def simulate(
    instance: HostedInstance, u: Vector, rows: InputRows, *, n_ticks: int, every: int
) -> Iterator[tuple[float, Vector]]:
    """Time [s] and outputs at tick 0, every ``every`` ticks, and at the end; ``u`` holds the start inputs.

    Outputs are those at the end of a step, as every master sees them: the inputs of a tick come after its outputs.
    """
    columns = np.array([s.index for s in rows.scalars], dtype=np.intp)
    changes = [math.ceil(t / instance.tick - _ON_TICK) for t in rows.times]
    place, tick = 0, 0
    while True:
        if tick % every == 0 or tick == n_ticks:
            yield tick * instance.tick, instance.get_outputs()
        if tick == n_ticks:
            return
        before = place
        while place < len(changes) and changes[place] <= tick:
            u[columns] = rows.values[place]
            place += 1
        if place != before or tick == 0:
            instance.set_inputs(u)
        ahead = min(n_ticks, (tick // every + 1) * every, *changes[place : place + 1])
        instance.step(ahead - tick)
        tick = ahead


def write(file: TextIO, table: SignalTable, trajectory: Iterator[tuple[float, Vector]]) -> None:
    """Writes time and every output, each number so that it reads back the same double."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["time", *(s.name for s in table.outputs)])
    for time, y in trajectory:
        writer.writerow([repr(time), *map(repr, y.tolist())])


def _column(path: Path, table: SignalTable, place: int, name: str) -> Scalar:
    try:
        return scalar_of(table, table.inputs, name, "input")
    except errors.UnknownSignal as error:
        raise UsageError(f"{path.name} line 1 column {place}: {with_expected(error)}") from error


def _number(where: str, column: str, text: str) -> float:
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{where} column {column}: {text!r}: allowed are finite numbers")
    return value


def _value(where: str, scalar: Scalar, text: str) -> float:
    try:
        return parse(scalar, text)
    except errors.ServiceError as error:
        raise UsageError(f"{where} column {scalar.name}: {text!r}: expected {error.allowed}") from error


def ticks(seconds: float, tick: float, what: str) -> int:
    """The time in ticks; raises UsageError where it is not a whole number of them."""
    if not 0.0 <= seconds < math.inf:
        raise UsageError(f"{what} {seconds!r} s: allowed are finite times from 0 s")
    count = round(seconds / tick)
    if abs(count - seconds / tick) > _ON_TICK * max(count, 1):
        raise UsageError(f"{what} {seconds!r} s: allowed are whole multiples of the tick, {tick!r} s")
    return count


def interval(seconds: float | None, tick: float, what: str) -> int:
    """The same for the time between rows: at least a tick, and one where none is given."""
    every = 1 if seconds is None else ticks(seconds, tick, what)
    if every < 1:
        raise UsageError(f"{what} {seconds!r} s: allowed is at least one tick, {tick!r} s")
    return every
