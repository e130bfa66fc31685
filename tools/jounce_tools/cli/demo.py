"""``jounce demo``: an autopilot and a terramechanics program drive the vehicle, in three processes."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Final, TextIO

import numpy as np

from jounce.contact.soil import SOILS
from jounce.values import number
from jounce_fmu.importer.tables import model_table
from jounce_fmu.models import data_sets
from jounce_tools.cli.assignments import add_vehicle
from jounce_tools.cli.main import FAILED
from jounce_tools.demo.run import DemoError, Settings, demonstrate, recording, report
from jounce_tools.errors import UsageError

#: Seconds between two lines of progress where there is no terminal.
_EVERY: Final = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("-o", "--output", "--out", type=Path, default=Path("jounce-demo"), metavar="FOLDER",
                        help="folder to write (default: %(default)s)")
    add_vehicle(parser)
    parser.add_argument("--soil", choices=sorted(SOILS), default="sandy_loam", help="soil (default: %(default)s)")
    parser.add_argument("--duration", type=number, default=Settings.duration,
                        help="simulated time in s of the runs at --speed (default: %(default)s)")
    parser.add_argument("--speed", type=number, default=Settings.speed,
                        help="speed on soil and on asphalt in m/s; a third run is at the 80 km/h of ISO 3888-1 "
                             "(default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Runs on soil and on asphalt, prints the table, writes CSV files and a picture."""
    if not arguments.duration >= 0.1:
        raise UsageError(f"--duration {arguments.duration:g} s: expected 0.1 s or more")
    if not 0.0 < arguments.speed <= 40.0:
        raise UsageError(f"--speed {arguments.speed:g} m/s: expected more than 0 and at most 40 m/s")
    model, vehicle = model_table(arguments.vehicle).name, Path(arguments.vehicle)
    own = () if arguments.vehicle in data_sets() else (f"--vehicle={vehicle.resolve()}",)
    settings = Settings(arguments.output, model, arguments.soil, arguments.duration, arguments.speed, own)
    progress = Progress(sys.stderr)
    try:
        results = demonstrate(settings, progress)
        progress("drawing")
        from jounce_tools.demo.plot import draw  # matplotlib takes a second to import
        from jounce_tools.view import picture as view
        from jounce_tools.view.scene import read

        picture = settings.out / "demo.png"
        draw(results, picture, settings.model)
        wrote = f"{picture} and the CSV files beside it"
        if (fastest := results[-1]).recorded:
            shown, pilot = settings.out / "vehicle.png", fastest.pilot
            scene = read(recording(settings.out, fastest.ground))
            hardest = float(pilot["time"][np.argmax(np.abs(pilot["com.lin_acc.y"]))])
            view.write_png(scene, min(hardest, float(scene.time[-1])), "chase", shown)
            wrote = f"{picture}, {shown}, and the CSV files and recordings beside them; `jounce view` shows these"
    except DemoError as error:
        progress.end()
        sys.stderr.write(f"jounce demo: {error}\n")
        return FAILED
    finally:
        progress.end()
    sys.stdout.write(f"{report(results)}\n\nwrote {wrote}\n")
    return 0


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
