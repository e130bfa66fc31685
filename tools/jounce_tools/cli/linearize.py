"""``jounce linearize``: A, B, C and D of a model at an operating point, as .npz with all names."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from jounce.values import number
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.linear import linearize
from jounce_tools.cli.assignments import add_vehicle, scalars
from jounce_tools.errors import UsageError, check_output
from jounce_tools.linearize import settle, summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="NAME.npz", help="file to write")
    add_vehicle(parser)
    parser.add_argument(
        "--speed", type=number, default=0.0, metavar="V", help="speed in m/s, which is held (default: 0)"
    )
    parser.add_argument(
        "--time",
        type=number,
        default=10.0,
        metavar="T",
        help="time in s that the vehicle runs before (default: %(default)s)",
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="parameter, may repeat")
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME=VALUE", help="input with a constant value, may repeat"
    )


def run(arguments: argparse.Namespace) -> int:
    """Settles, linearises, writes the matrices and prints the oscillating modes."""
    path: Path = arguments.output
    check_output(path, ".npz")
    factory = open_builtin(arguments.vehicle)
    parameters = scalars(factory.table, arguments.set, "parameter")
    inputs = scalars(factory.table, arguments.input, "input")
    if not math.isfinite(arguments.speed):
        raise UsageError(f"--speed {arguments.speed!r} m/s: expected a finite number")
    if not 0.0 <= arguments.time < math.inf:
        raise UsageError(f"--time {arguments.time!r} s: expected a finite time from 0 s")
    x, u = settle(
        factory, parameters, inputs, speed=arguments.speed, time=arguments.time, progress=arguments.progress.at
    )
    found = linearize(factory, parameters, x, u)
    found.save(path)
    sys.stdout.write("\n".join(summary(found, path)) + "\n")
    return 0
