"""``jounce replay``: a recording run again in process and compared bit by bit."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jounce.data import example_names
from jounce_service.hosting.fmu_model import registry
from jounce_service.recording import require
from jounce_service.recording.reader import Reader, RecordingError
from jounce_service.recording.replay import Report, replay
from jounce_service.server.config import ServerConfig
from jounce_service.transport.errors import UnknownModel
from jounce_service.transport.security import ConfigError
from jounce_tools.cli.assignments import add_tires_and_road, put_on
from jounce_tools.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("recording", type=Path, help="MCAP file of `jounce serve --record`, `simulate` or `test`")
    parser.add_argument(
        "--fmu", action="append", default=[], help="FMU that the server hosted, or a folder of FMUs; may repeat"
    )
    parser.add_argument(
        "--vehicle", action="append", default=[], metavar="VEHICLE",
        help="your own vehicle of the run, or an example on which it was made; may repeat",
    )  # fmt: skip
    add_tires_and_road(parser)


def _vehicles(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Those of ``--vehicle``; without it and ``--fmu`` the example that the recording names; on tires and a road the
    one that is named, or the HMMWV. Raises UsageError, DataError, RecordingError."""
    if arguments.tire is None and arguments.road is None:
        recorded = [] if arguments.vehicle or arguments.fmu else [Reader(arguments.recording).model.model]
        return tuple(arguments.vehicle or [name for name in recorded if name in example_names()])
    if len(arguments.vehicle) > 1:
        raise UsageError(f"{len(arguments.vehicle)} times --vehicle: expected one with --tire and --road")
    one = argparse.Namespace(vehicle=(arguments.vehicle or ["hmmwv"])[0], tire=arguments.tire, road=arguments.road,
                             meant=lambda given: given.vehicle)  # fmt: skip
    put_on(one)
    return (one.vehicle,)


def run(arguments: argparse.Namespace) -> int:
    """0 where every recorded output is the same to the last bit, 1 where one is not."""
    try:
        require("mcap")
        config = ServerConfig(fmu=tuple(arguments.fmu), vehicle=_vehicles(arguments))
        report = replay(arguments.recording, registry(config))
    except UnknownModel as error:
        raise UsageError(f"{error}; expected --vehicle, --tire and --road, or --fmu, as the run had them") from error
    except (RecordingError, ConfigError) as error:
        raise UsageError(str(error)) from error
    sys.stdout.write(text(report) + "\n")
    return 0 if report.first is None else 1


def text(report: Report) -> str:
    """The report in words."""
    cut = "" if report.complete else "\nThe recording is incomplete: the server was killed, or the file was cut."
    size = f"{report.compared} output vectors over {report.ticks} ticks in {report.epochs} epochs"
    if report.first is None:
        return f"zero differences in {size}{cut}"
    d = report.first
    return (
        f"first difference at tick {d.tick} of epoch {d.epoch}: {d.signal} was {d.recorded!r}, is {d.replayed!r}; "
        f"{report.differing} of {size} differ{cut}"
    )
