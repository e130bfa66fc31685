"""``jounce demo``: an autopilot and a terramechanics program drive the vehicle, in three processes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jounce.contact.soil import SOILS
from jounce_service.cli.main import UsageError
from jounce_service.demo import DemoError, Settings, demonstrate, report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("--out", type=Path, default=Path("jounce-demo"), help="folder to write (default: %(default)s)")
    parser.add_argument("--model", default="hmmwv", help="vehicle name (default: %(default)s)")
    parser.add_argument("--soil", choices=sorted(SOILS), default="sandy_loam", help="soil (default: %(default)s)")
    parser.add_argument("--duration", type=float, default=20.0, help="simulated seconds (default: %(default)s)")
    parser.add_argument("--speed", type=float, default=12.0, help="speed to keep, m/s (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Runs on soil and on asphalt, prints the table, writes CSV files and a picture."""
    if not arguments.duration >= 0.1:
        raise UsageError(f"--duration: {arguments.duration:g} s given; allowed is 0.1 s or more")
    if not 0.0 < arguments.speed <= 40.0:
        raise UsageError(f"--speed: {arguments.speed:g} m/s given; allowed is more than 0 and at most 40 m/s")
    settings = Settings(arguments.out, arguments.model, arguments.soil, arguments.duration, arguments.speed)
    try:
        results = demonstrate(settings, _progress)
    except DemoError as error:
        sys.stderr.write(f"\njounce demo: {error}\n")
        return 1
    from jounce_service.demo_plot import draw  # matplotlib takes a second to import

    picture = settings.out / "demo.png"
    draw(results, picture)
    sys.stdout.write(f"\n{report(results)}\n\nwrote {picture} and the CSV files beside it\n")
    return 0


def _progress(text: str) -> None:
    """One line that is written over on a terminal; quiet elsewhere."""
    if sys.stdout.isatty():
        sys.stdout.write(f"\r{text}")
        sys.stdout.flush()
