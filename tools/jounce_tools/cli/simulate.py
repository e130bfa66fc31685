"""``jounce simulate``: one model in process, inputs as CSV, outputs as CSV, Parquet or a recording."""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from itertools import starmap
from pathlib import Path
from textwrap import fill

import numpy as np

from jounce.data import with_pedals
from jounce.values import number
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.trajectory import Track, check_time, interval, ticks
from jounce_fmu.importer.trajectory import run as trajectory
from jounce_fmu.importer.until import LONGEST, Until, longest_time, speed_of
from jounce_service.hosting.fmu_model import FmuModel
from jounce_service.hosting.models import HostedModel
from jounce_tools.cli.assignments import add_vehicle, scalar, scalars
from jounce_tools.cli.main import FAILED, INTERRUPTED
from jounce_tools.cli.progress import Progress
from jounce_tools.errors import UsageError, check_output
from jounce_tools.interrupt import asked_to_stop
from jounce_tools.simulate import csv_inputs
from jounce_tools.simulate.recorded import RecordedRows
from jounce_tools.simulate.rows import MCAP, PARQUET, UNITS, check_name, writing
from jounce_tools.simulate.run import selected, started, write

#: Position of the selector -> value of the input `gear_selector`.
GEARS = {"P": -2.0, "R": -1.0, "N": 0.0, "D": 1.0}

EPILOG = "inputs as CSV (--sample writes an example):\n" + "\n".join(
    fill(line.replace("`", ""), 100, initial_indent="  - ", subsequent_indent="    ") for line in csv_inputs.FORMAT
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add_vehicle(parser, meant=_vehicle)
    parser.add_argument("--inputs", type=Path, metavar="CSV", help="inputs over time (default: the start values hold)")
    parser.add_argument(
        "--hold", action="store_true", help="hold each line of --inputs until the next, instead of interpolating"
    )
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME=VALUE", help="input with a constant value, may repeat"
    )
    pedals = "0 to 1; these three drive hmmwv_pedals in place of hmmwv, truck8x8_pedals in place of truck8x8"
    parser.add_argument("--throttle", type=number, metavar="SHARE", help=f"accelerator pedal, {pedals}")
    parser.add_argument("--brake", type=number, metavar="SHARE", help="brake pedal, 0 to 1")
    parser.add_argument("--gear", choices=tuple(GEARS), help="position of the selector (default: D)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="parameter, may repeat")
    parser.add_argument(
        "--duration", type=number, metavar="T",
        help=f"simulated time in s (default: the last time of --inputs; with --until alone {LONGEST:g})",
    )  # fmt: skip
    parser.add_argument(
        "--until", metavar="SPEED",
        help="end at the first tick with this speed, forward or in reverse, reached from below or from above: 60km/h, "
             "60kmh, 16.7m/s, 37mph, a number alone in m/s; --duration is then the longest time",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE",
        help="name.csv, name.parquet or a recording, name.mcap (default: CSV on standard output)",
    )  # fmt: skip
    parser.add_argument(
        "--outputs", action="append", default=[], metavar="NAME[,NAME]",
        help="columns to write: scalars, vectors or *, may repeat (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--output-interval", type=number, metavar="S", help="time between two rows in s (default: one row per tick)"
    )
    parser.add_argument(
        "--units", choices=UNITS,
        help="units in a CSV: after each name (header, the default), as a second line, or none",
    )  # fmt: skip
    parser.add_argument("--sample", type=Path, metavar="CSV", help="write an example of --inputs to this file and exit")


def run(arguments: argparse.Namespace) -> int:
    """Reads, simulates, writes; nothing is written before the inputs are read and the model has started."""
    _check(arguments)
    speed = None if arguments.until is None else speed_of(arguments.until, "--until")
    pressed = _pedals(arguments)
    model = FmuModel(open_builtin(arguments.vehicle))
    if arguments.sample is not None:
        return _write_sample(arguments.sample, model)
    table = model.table
    until = None if speed is None else Until(speed, table, f"--until {arguments.until}")
    parameters = scalars(table, arguments.set, "parameter")
    tracks = [*starmap(partial(_held, model), pressed), *(_held(model, text) for text in arguments.input)]
    if arguments.inputs:
        tracks.append(csv_inputs.read_inputs(arguments.inputs, table, hold=arguments.hold))
    outputs = selected(model, arguments.outputs or ["*"])
    progress: Progress = arguments.progress
    if arguments.output is None and sys.stdout.isatty():
        progress.be_quiet()
    with started(model, parameters, tracks) as begun, asked_to_stop() as stop:
        tick_length = begun.instance.tick_length
        duration = arguments.duration
        if duration is None:
            duration = float(tracks[-1].times[-1]) if arguments.inputs else longest_time(tick_length)
        n_ticks = ticks(duration, tick_length, "--duration")
        every = interval(arguments.output_interval, tick_length, "--output-interval")
        if until:
            until.begin(begun.instance.get_outputs())

        def stopped(at: int) -> bool:
            progress.at(at / n_ticks)
            return stop()

        columns = [("time", "s"), *((s.name, s.signal.unit) for s in outputs.scalars)]
        facts = {"model": str(arguments.vehicle), "build": model.build, "parameters": repr(parameters)}
        record = partial(RecordedRows, model=model, parameters=parameters, begun=begun)
        with writing(arguments.output, columns, arguments.units or "header", facts, record) as rows:
            begin = time.perf_counter()
            instance = rows if isinstance(rows, RecordedRows) else begun.instance
            ran = trajectory(instance, begun.u, begun.inputs, n_ticks=n_ticks, every=1 if until else every,
                             stopped=stopped)  # fmt: skip
            done = write(rows, outputs, until.rows(ran, every) if until else ran)
            passed = time.perf_counter() - begin
            ended = done.time >= duration - 0.5 * tick_length or (until is not None and until.reached is not None)
            complete = not done.failure and ended
            reason = "" if complete else done.failure or "interrupted"
            note = "" if complete else f"stopped at {done.time!r} s of {duration!r} s: {reason}"
            rows.end(note)
    where = "" if arguments.output is None else f"wrote {arguments.output}: "
    factor = f", real-time factor {done.time / passed:.3g}" if passed > 0.0 else ""
    told = sys.stderr if arguments.output is None else sys.stdout
    told.write(f"{where}{done.count} rows of {len(columns)} columns; {done.time:g} s in {passed:.2f} s{factor}\n")
    if until and until.reached:
        told.write(f"{until}\n")
    elif until and complete:
        note = f"--until {arguments.until}: {until}"
    if note:
        sys.stderr.write(f"jounce simulate: {note}\n")
    return 0 if not note else FAILED if complete or done.failure else INTERRUPTED


def _check(arguments: argparse.Namespace) -> None:
    """What can be told before the model is opened. Raises UsageError, InputError."""
    check_name(arguments.output)
    if arguments.sample is not None:
        check_output(arguments.sample, ".csv", ".txt", option="--sample")
    elif arguments.duration is None and not arguments.inputs and arguments.until is None:
        raise UsageError("expected --duration, or --inputs, whose last time is then the end, or --until with a speed")
    if arguments.hold and not arguments.inputs:
        raise UsageError("--hold: expected --inputs, whose lines it holds")
    suffix = arguments.output.suffix if arguments.output else ""
    if arguments.units and suffix in (PARQUET, MCAP):
        raise UsageError(f"--units {arguments.units}: expected a CSV; {arguments.output.name} has units by column")
    if arguments.outputs and suffix == MCAP:
        raise UsageError(f"--outputs: expected none for {arguments.output.name}, a recording, which has them all")
    for name in ("duration", "output_interval"):
        if (asked := getattr(arguments, name)) is not None:
            check_time(asked, "--" + name.replace("_", "-"))


def _vehicle(arguments: argparse.Namespace) -> str:
    """With pedals the example that has them, in place of the vehicle without."""
    return with_pedals(arguments.vehicle) if _pedals(arguments) else str(arguments.vehicle)


def _pedals(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """The pedals and the selector as constant inputs NAME=VALUE, each with its option."""
    gear = None if arguments.gear is None else GEARS[arguments.gear]
    told = (("throttle", "--throttle", arguments.throttle), ("brake_pedal", "--brake", arguments.brake),
            ("gear_selector", "--gear", gear))  # fmt: skip
    return [(f"{name}={value!r}", option) for name, option, value in told if value is not None]


def _held(model: HostedModel, text: str, option: str | None = None) -> Track:
    if option and text.partition("=")[0] not in {s.name for s in model.table.inputs}:
        raise UsageError(f"{option}: {model.table.name} has no pedals; expected a vehicle with a powertrain, such as "
                         "hmmwv_pedals")  # fmt: skip
    name, value = scalar(model.table, text, "input", option)
    return Track((model.table.by_name(name),), np.zeros(1), np.array([[value]]))


def _write_sample(path: Path, model: HostedModel) -> int:
    if path.exists():
        raise UsageError(f"--sample {path}: the file exists; expected a new file")
    path.write_text(csv_inputs.sample(model.table), encoding="utf-8")
    sys.stdout.write(f"wrote {path}; try: jounce simulate --inputs {path} -o out.csv\n")
    return 0
