"""``jounce sweep``: many runs of one model on Ray, over a grid, over draws, or over both. See ``docs/sweep.md``."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final, TextIO

from jounce.optional import missing
from jounce_fmu.importer.host import open_builtin
from jounce_service.hosting.fmu_model import FmuModel
from jounce_service.server.settings import reader
from jounce_tools.cli.assignments import add_vehicle, scalars
from jounce_tools.cli.main import INTERRUPTED
from jounce_tools.errors import UsageError
from jounce_tools.sweep import plan
from jounce_tools.sweep.results import Results
from jounce_tools.sweep.run import run as run_on_ray

#: Width of the bar [characters].
_BAR: Final = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("sweep", type=Path, help="TOML file: see docs/sweep.md")
    parser.add_argument(
        "-o", "--output", type=Path, help="folder of results (default: the name of the file without its suffix)"
    )
    add_vehicle(parser, None, "replaces the vehicle of the file")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="parameter, replaces that of [set] in the file, may repeat",
    )
    parser.add_argument("--retry", action="store_true", help="run failed cases again")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--workers", type=reader(int), metavar="N", help="processes on this machine (default: one per core)"
    )
    where.add_argument(
        "--address", default="local", help="address of a Ray cluster, or auto (default: one on this machine)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Checks the plan, runs cases without a result, and prints a summary."""
    if told := missing("pyarrow", "ray"):
        raise UsageError(told)
    if arguments.workers is not None and arguments.workers < 1:
        raise UsageError(f"--workers {arguments.workers}: expected at least 1")
    path: Path = arguments.sweep
    content = plan.read(path)
    content["vehicle"] = arguments.vehicle or content["vehicle"]
    if arguments.vehicle and "vehicle" in content.get("grid", {}):
        raise UsageError(f"--vehicle {arguments.vehicle}: {path.name} has vehicles in [grid]; expected one of the two")
    if Path(content["vehicle"]).exists():  # workers have another working directory
        content["vehicle"] = str(Path(content["vehicle"]).resolve())
    opened = cache(lambda vehicle: FmuModel(open_builtin(vehicle)))
    if arguments.set:
        table = opened(content["vehicle"]).table
        content["set"] |= scalars(table, arguments.set, "parameter")
    planned, cases = plan.planned(path, content, opened)
    results = Results(arguments.output or Path(path.stem), planned, cases)
    ended = {n for n, failed in results.failures().items() if not (failed and arguments.retry)}
    left = [c for c in cases if c.number not in ended]
    progress = Progress(sys.stderr, len(cases), len(ended))
    code = 0
    try:
        if left:
            progress.show()
            runs = run_on_ray(planned, left, workers=arguments.workers, address=arguments.address)
            with closing(runs):
                for case, encoded in runs:
                    results.put(case, encoded)
                    progress.add()
    except KeyboardInterrupt:
        code = INTERRUPTED
    finally:
        progress.end()
        failures = results.write_table()
    rest = len(cases) - progress.done
    sys.stdout.write(
        f"{progress.done} of {len(cases)} cases in {results.folder}, {len(left) - rest} of them new, "
        f"{len(failures)} failed{f'; {rest} not run: the same command continues with them' if rest else ''}\n"
    )
    for number, reason in list(failures.items())[:3]:
        sys.stdout.write(f"case {number}: {reason}\n")
    return code


class Progress:
    """A bar on a terminal, a line for each tenth in a log."""

    def __init__(self, file: TextIO, total: int, done: int) -> None:
        """``done`` of ``total`` cases have a result already."""
        self._file, self._total, self.done = file, total, done
        self._first, self._start = done, time.monotonic()
        self._terminal = file.isatty()

    def add(self) -> None:
        """Another case has ended."""
        self.done += 1
        if self._terminal or self.done * 10 // self._total != (self.done - 1) * 10 // self._total:
            self.show()

    def show(self) -> None:
        """Shows how many have ended, and how long the rest will take if it goes on like this."""
        text = f"{self.done}/{self._total} cases"
        if (new := self.done - self._first) > 0:
            left = (time.monotonic() - self._start) / new * (self._total - self.done)
            text += f", {left:.0f} s left"
        filled = self.done * _BAR // self._total
        line = f"[{'#' * filled}{'.' * (_BAR - filled)}] {text}"
        self._file.write(f"\r{line:<{_BAR + 40}}" if self._terminal else f"{text}\n")
        self._file.flush()

    def end(self) -> None:
        """Leaves the bar as it stands."""
        if self._terminal:
            self._file.write("\n")
