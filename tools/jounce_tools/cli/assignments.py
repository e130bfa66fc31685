"""Options that several commands have: assignments NAME=VALUE, the vehicle."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal

from jounce.signals import SignalTable
from jounce_fmu.models import impulse
from jounce_fmu.models.roads import on_road
from jounce_fmu.models.tires import on_tires
from jounce_service.hosting.values import parse, scalar_of
from jounce_service.transport import errors
from jounce_tools.errors import UsageError, with_expected
from jounce_tools.pairs import once, pair

#: Kind of a signal -> the option that sets it.
_OPTIONS: Final = {"parameter": "--set", "input": "--input"}


def scalar(
    table: SignalTable, text: str, what: Literal["parameter", "input"], option: str | None = None
) -> tuple[str, float]:
    """The same for a signal of the table, its value checked; a parameter is ``--set``, an input ``--input``.

    ``option`` is named in errors where another one stands for such an assignment.
    """
    name, value = pair(text, option or _OPTIONS[what])
    where = option or f"{_OPTIONS[what]} {text!r}"
    groups = {"parameter": table.parameters, "input": table.inputs}
    try:
        found = scalar_of(table, groups[what], name, what)
        return found.name, parse(found, value)
    except errors.ServiceError as error:
        other = next((k for k, group in groups.items() if k != what and name in {s.name for s in group}), "")
        wanted = f"{error}; expected {_OPTIONS[other]} for this {other}" if other else with_expected(error)
        raise UsageError(f"{where}: {wanted}") from error


def scalars(table: SignalTable, texts: Sequence[str], what: Literal["parameter", "input"]) -> dict[str, float]:
    """`scalar` for each text, by name. Raises UsageError, also for a signal that is there twice."""
    return dict(once((scalar(table, text, what) for text in texts), _OPTIONS[what]))


def add_vehicle(
    parser: argparse.ArgumentParser, default: str | None = "hmmwv", text: str = "",
    meant: Callable[[argparse.Namespace], str | None] = lambda arguments: arguments.vehicle,
) -> None:  # fmt: skip
    """``--vehicle``, the one name for it in all commands; ``--model``, which some had before, is taken silently.

    ``meant`` gives the vehicle where the command's other options ask for another one.
    """
    text = text or ("name of a built-in vehicle, or the folder or vehicle.toml of your own, or the TOML file of its "
                    "architecture (default: %(default)s)")  # fmt: skip
    parser.add_argument("--vehicle", default=default, metavar="VEHICLE", help=text)
    parser.add_argument("--model", dest="vehicle", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.set_defaults(meant=meant)
    add_tires_and_road(parser)


def add_tires_and_road(parser: argparse.ArgumentParser) -> None:
    """``--tire`` and ``--road``, as `put_on` takes them."""
    tire = ("tire file (.tir) of the Magic Formula: PAC2002, MF 6.1 or 6.2; AXLE=FILE for the tires of one axle, once "
            "for each (default: the vehicle's tires)")  # fmt: skip
    parser.add_argument("--tire", action="append", metavar="[AXLE=]FILE", help=tire)
    road = "terrain under it: a packed file (.jnt), an OpenCRG road (.crg), a description (.toml), heights (.npy ...)"
    parser.add_argument("--road", type=Path, metavar="FILE", help=road)


def _on_tires(vehicle: str, texts: Sequence[str]) -> Path:
    """The vehicle on tires as ``--tire`` has them. Raises UsageError, DataError, BuildError."""
    files: dict[str, str] = {}
    for text in texts:
        axle, separator, file = text.partition("=")
        if not separator or not re.fullmatch("[a-z][a-z0-9_]*", axle) or Path(text).exists():
            axle, file = "", text
        if axle in files:
            raise UsageError(f"--tire {text!r}: a second file for {axle or 'all axles'}; expected one")
        files[axle] = file
    return on_tires(vehicle, files)


def put_on(arguments: argparse.Namespace) -> None:
    """Replaces ``vehicle`` by the one that is meant, and that by one on the tires and the road that are asked for.

    Raises UsageError, DataError, BuildError.
    """
    if "meant" not in arguments:
        return
    arguments.vehicle = arguments.meant(arguments)
    for option, put in (("tire", _on_tires), ("road", on_road)):
        file = getattr(arguments, option)
        if file is None:
            continue
        if arguments.vehicle is None:
            raise UsageError(f"--{option}: expected --vehicle with it")
        if impulse.has_own_model(arguments.vehicle):
            instead = "the tires of its [[wheel_type]]" if option == "tire" else "--set road=BUMP, and road.*"
            raise UsageError(f"--{option}: {arguments.vehicle} is an architecture; expected {instead}")
        arguments.vehicle = str(put(arguments.vehicle, file))
