"""``jounce compare``: the papers' formulations of one vehicle, on one page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jounce.axles import DEFAULT
from jounce.data import load_vehicle
from jounce.optional import missing
from jounce.values import number
from jounce_tools.errors import UsageError
from jounce_tools.interrupt import asked_to_stop

if TYPE_CHECKING:
    from jounce_tools.compare import study

#: Between two samples of a run [s] (`jounce.formulations.whole`).
SAMPLE = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("name", nargs="?", default="hmmwv", metavar="VEHICLE", help="name of a built-in vehicle, or "
                        "folder or vehicle.toml of your own, on double wishbones (default: %(default)s)")  # fmt: skip
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="folder to write")
    parser.add_argument("--only", metavar="NAMES", help="formulations, with commas between them, of "
                        "ce,ta-two-point,ta,fa,bushing,synthesis (default: all)")  # fmt: skip
    parser.add_argument("--seconds", type=number, default=None, metavar="T",
                        help="length of the runs in s (default: 5, with --quick 1)")  # fmt: skip
    parser.add_argument("--ticks", type=number, nargs="+", default=None, metavar="H",
                        help="steps in s (default: 0.0005 0.001 0.002)")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="shorter runs and rougher times, for a first look")


def run(arguments: argparse.Namespace) -> int:
    """Runs the comparison and writes its page."""
    if lacking := missing("casadi", "matplotlib"):
        raise UsageError(f"the comparison makes the equations and plots itself: {lacking}")
    from jounce_tools.compare import page, study

    choice = _choice(arguments)
    folder: Path = arguments.output
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"-o {folder}: expected a folder")
    with asked_to_stop() as stopped:
        found = study.compare(choice, lambda s: arguments.progress.at(0.95 * s), stopped)
    if not found.results:
        raise KeyboardInterrupt
    folder.mkdir(parents=True, exist_ok=True)
    files = page.write(found, folder)
    arguments.progress.at(1.0)
    sys.stdout.write(f"wrote {folder / 'index.html'}, compare.json and {files - 2} CSV and PNG files\n")
    if found.interrupted:
        sys.stderr.write("jounce compare: interrupted; the page has what was done\n")
        return 130
    return 0


def _choice(arguments: argparse.Namespace) -> study.Choice:
    from jounce_tools.compare import study

    vehicle = load_vehicle(arguments.name)
    if vehicle.axles != DEFAULT or vehicle.powertrain:
        raise UsageError(f"vehicle {vehicle.name!r}: expected two axles on double wishbones with a Pitman arm, and no "
                         "powertrain, which all formulations have")  # fmt: skip
    names = study.FORMULATIONS if arguments.only is None else tuple(arguments.only.split(","))
    if unknown := [n for n in names if n not in study.FORMULATIONS]:
        raise UsageError(f"--only {unknown[0]}: expected names of {', '.join(study.FORMULATIONS)}")
    usual = 1.0 if arguments.quick else 5.0
    seconds = _within("--seconds", usual if arguments.seconds is None else arguments.seconds, 0.5, 60.0)
    ticks = [_within("--ticks", t, 1e-4, 2e-3) for t in arguments.ticks or (0.0005, 0.001, 0.002)]
    for option, value, of in (("--seconds", seconds, SAMPLE), *(("--ticks", SAMPLE, t) for t in ticks)):
        if abs(value / of - round(value / of)) > 1e-9:
            raise UsageError(f"{option}: expected {SAMPLE:g} s to be a multiple of every tick, and the length of it")
    if len(set(ticks)) < 2:
        raise UsageError("--ticks: expected two steps or more, to see how errors fall with them")
    return study.Choice(str(arguments.name), names, seconds, sorted(set(ticks)), arguments.quick)


def _within(option: str, value: float, least: float, most: float) -> float:
    if not least <= value <= most:
        raise UsageError(f"{option} {value:g} s: expected {least:g} to {most:g} s")
    return value
