"""``jounce demo``: lane changes on soil and asphalt, and a drive by pedals over a rough road."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Final, TextIO

import numpy as np

from jounce.axles import WHEELS, wheels_in
from jounce.contact.soil import SOILS
from jounce.signals import SignalTable
from jounce.terrain.packed import Terrain
from jounce.values import number
from jounce_fmu.importer.tables import model_table
from jounce_tools.cli.assignments import add_vehicle
from jounce_tools.cli.main import FAILED
from jounce_tools.demo.acts import ACTS, demonstrate
from jounce_tools.demo.rough import ROAD, Drive, drives, obstacle, vehicle
from jounce_tools.demo.run import DemoError, Result, Settings, hosting, recording, report, table_of
from jounce_tools.errors import UsageError

#: Options of the lane changes, with the names of their settings.
_OF_LANES: Final = ("soil", "duration", "speed")
#: Seconds between two lines of progress where there is no terminal.
_EVERY: Final = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("-o", "--output", "--out", type=Path, default=Path("jounce-demo"), metavar="FOLDER",
                        help="folder to write (default: %(default)s)")
    add_vehicle(parser)
    parser.add_argument("--soil", choices=sorted(SOILS), help=f"soil (default: {Settings.soil})")
    parser.add_argument("--duration", type=number,
                        help=f"simulated time in s of the runs at --speed (default: {Settings.duration})")
    parser.add_argument("--speed", type=number,
                        help="speed on soil and on asphalt in m/s; a third run is at the 80 km/h of ISO 3888-1 "
                             f"(default: {Settings.speed})")
    parser.add_argument("--only", choices=ACTS, help="one act: the lane changes, or the drive by pedals over a rough "
                                                     "road (default: both)")


def run(arguments: argparse.Namespace) -> int:
    """Runs on soil and on asphalt, prints the table, writes CSV files and a picture."""
    for name in _OF_LANES:
        if getattr(arguments, name) is None:
            setattr(arguments, name, getattr(Settings, name))
        elif arguments.only == "rough":
            raise UsageError(f"--{name}: expected without --only rough, whose drive has its own")
    if not arguments.duration >= 0.1:
        raise UsageError(f"--duration {arguments.duration:g} s: expected 0.1 s or more")
    if not 0.0 < arguments.speed <= 40.0:
        raise UsageError(f"--speed {arguments.speed:g} m/s: expected more than 0 and at most 40 m/s")
    if arguments.output.exists() and not arguments.output.is_dir():
        raise UsageError(f"-o {arguments.output}: expected a folder, which may be new")
    table = model_table(arguments.vehicle)
    acts: tuple[str, ...] = (arguments.only,) if arguments.only else ACTS
    _check_acts(arguments, acts, table)
    settings = Settings(arguments.output, table.name, arguments.soil, arguments.duration, arguments.speed,
                        hosting(arguments.vehicle))  # fmt: skip
    if "rough" in acts and (why := obstacle()):
        sys.stderr.write(f"jounce demo: no drive by pedals: {why}\n")
        acts = tuple(act for act in acts if act != "rough")
    progress = Progress(sys.stderr)
    try:
        results, drive = demonstrate(settings, arguments.vehicle, acts, progress)
        progress("drawing")
        shown = [*(_lanes(results, settings) if results else []), *(_rough(drive, settings) if drive else [])]
    except DemoError as error:
        progress.end()
        sys.stderr.write(f"jounce demo: {error}\n")
        return FAILED
    finally:
        progress.end()
    tables = [*([report(results)] if results else []), *([table_of([("rough road", drive.facts)])] if drive else [])]
    pictures = ", ".join(str(settings.out / name) for name in shown)
    told = "".join(f"{table}\n\n" for table in tables)
    beside = "the CSV files and recordings beside them; `jounce view` shows these"
    sys.stdout.write(f"{told}wrote {pictures}, and {beside}\n" if shown else "nothing was run\n")
    return 0


def _check_acts(arguments: argparse.Namespace, acts: tuple[str, ...], table: SignalTable) -> None:
    """Says which vehicle drives by pedals where it is another one. Raises UsageError for one that cannot drive."""
    if "tire_source" not in (p.name for p in table.parameters):
        raise UsageError(f"--vehicle {arguments.vehicle}: expected a vehicle of axles, such as hmmwv")
    if wheels_in(s.name for s in table.outputs) != WHEELS:
        raise UsageError(f"--vehicle {arguments.vehicle}: expected a vehicle of two axles, such as hmmwv")
    if "lanes" in acts and not all(table.by_name(f"wheel_{w}.drive_torque").maximum > 0.0 for w in WHEELS):
        raise UsageError(f"--vehicle {arguments.vehicle}: expected one whose wheels are all driven, such as hmmwv")
    if acts == ("rough",) and arguments.road:
        raise UsageError("--road: expected without --only rough, whose drive has its own")
    if "rough" in acts and not drives(arguments.vehicle):
        missing = f"{table.name} has no engine and gearbox"
        if acts == ("rough",):
            raise UsageError(f"--only rough: {missing}; expected --vehicle {vehicle(arguments.vehicle)} or one like it")
        sys.stderr.write(f"jounce demo: {vehicle(arguments.vehicle)} drives by pedals: {missing}\n")


def _lanes(results: list[Result], settings: Settings) -> list[str]:
    """Names of the pictures of the lane changes."""
    from jounce_tools.demo.plot import draw  # matplotlib takes a second to import

    draw(results, settings.out / "demo.png", settings.model)
    if not (fastest := results[-1]).recorded:
        return ["demo.png"]
    hardest = np.argmax(np.abs(fastest.pilot["com.lin_acc.y"]))
    _view(settings, fastest.ground, float(fastest.pilot["time"][hardest]), "vehicle.png")
    return ["demo.png", "vehicle.png"]


def _rough(drive: Drive, settings: Settings) -> list[str]:
    """Names of the pictures of the drive over the rough road."""
    from jounce.terrain.files import read
    from jounce_tools.demo.rough_plot import draw

    draw(drive, settings.out / "rough.png")
    if not drive.recorded:
        return ["rough.png"]
    _view(settings, "rough", drive.steepest, "rough_vehicle.png", read(ROAD))
    return ["rough.png", "rough_vehicle.png"]


def _view(settings: Settings, ground: str, time: float, name: str, terrain: Terrain | None = None) -> None:
    from jounce_tools.view import picture
    from jounce_tools.view import scene as seen

    scene = seen.read(recording(settings.out, ground), terrain)
    picture.write_png(scene, min(time, float(scene.time[-1])), "chase", settings.out / name)


class Progress:
    """A line that says what is going on: written over on a terminal, elsewhere anew every few seconds."""

    def __init__(self, stream: TextIO) -> None:
        """Writes to ``stream``."""
        self._stream, self._terminal = stream, stream.isatty()
        self._next, self._width = 0.0, 0

    def __call__(self, text: str) -> None:
        """Shows ``text``."""
        if self._terminal:
            self._stream.write(f"\r{text:<{self._width}}")
            self._width = len(text)
        elif time.monotonic() >= self._next:
            self._stream.write(text + "\n")
            self._next = time.monotonic() + _EVERY
        self._stream.flush()

    def end(self) -> None:
        """What follows starts on a line of its own."""
        if self._terminal and self._width:
            self._stream.write("\n")
            self._width = 0
        self._stream.flush()
