"""``jounce tire``: shows what a tire file holds, writes and draws its curves, compares two files."""

from __future__ import annotations

import argparse
import csv
import io
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce.contact.tires.tir import TireFileError
from jounce.optional import missing
from jounce_tools.errors import UsageError, check_output

Array = NDArray[np.float64]
_COUNT = 201
"""Points of a range that names no number."""
_MOST = 1_000_000
"""Most points of all ranges together."""
_UNITS = {"load": "N", "slip": "1", "alpha": "rad", "camber": "rad", "pressure": "Pa", "speed": "m/s",
          "friction": "1"}  # fmt: skip
_NAMES = {"alpha": "slip_angle", "camber": "inclination"}
#: What each may be.
_LIMITS = {"load": (1.0, 1e7), "slip": (-10.0, 10.0), "alpha": (-1.5, 1.5), "camber": (-1.5, 1.5),
           "pressure": (0.0, 5e6), "speed": (0.0, 200.0), "friction": (0.01, 2.0)}  # fmt: skip
_FORCES = {"fx": "N", "fy": "N", "overturning": "N.m", "resistance": "N.m", "aligning": "N.m"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the three actions and their options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    show = actions.add_parser("show", help="print what a file holds, what it leaves out, and its main numbers")
    show.add_argument("file", type=Path, metavar="FILE")
    curve = actions.add_parser("curve", help="write or draw forces and moments over slip, slip angle, or both")
    curve.add_argument("file", type=Path, metavar="FILE")
    ranges = "a number, LOW:HIGH or LOW:HIGH:COUNT"
    curve.add_argument("--load", metavar="N", help="[N]; several with commas between them (default: nominal load)")
    curve.add_argument("--slip", default="0", metavar="RANGE", help=f"longitudinal slip, driving positive: {ranges}")
    curve.add_argument("--alpha", default="0", metavar="RANGE", help=f"slip angle [rad]: {ranges}")
    curve.add_argument("--camber", default="0", metavar="RANGE", help="inclination [rad], top to the right positive")
    for name, text in (("pressure", "[Pa] (default: the file's)"), ("speed", "[m/s] (default: the file's)"),
                       ("friction", "of the ground (default: 1)")):  # fmt: skip
        curve.add_argument(f"--{name}", metavar="NUMBER", help=text)
    compare = actions.add_parser("compare", help="print where two files differ, and draw both")
    compare.add_argument("files", nargs=2, type=Path, metavar="FILE")
    compare.add_argument("--load", metavar="N", help="[N]; several with commas (default: nominal load of the first)")
    for action, text in ((curve, "file to write (.csv or .png; default: CSV to the terminal)"),
                         (compare, "picture to write (.png)")):  # fmt: skip
        action.add_argument("-o", "--output", type=Path, metavar="FILE", help=text)
        # -1:1 is a range and no option
        vars(action)["_negative_number_matcher"] = re.compile(r"^-[\d.].*$")


def run(arguments: argparse.Namespace) -> int:
    """Prints or writes what was asked."""
    if lacking := missing("casadi"):
        raise UsageError(f"jounce tire {arguments.action}: {lacking}")
    try:
        return {"show": _show, "curve": _curve, "compare": _compare}[arguments.action](arguments)
    except TireFileError as error:
        raise UsageError(str(error)) from error


def _show(arguments: argparse.Namespace) -> int:
    from jounce_tools.tire.curves import Tire
    from jounce_tools.tire.show import text

    sys.stdout.write(text(Tire(arguments.file)))
    return 0


def _numbers(name: str, text: str) -> Array:
    """The numbers that an option asks for. Raises UsageError."""
    low, high = _LIMITS[name]
    wanted = f"--{name} {text}: expected {low:g} to {high:g} {_UNITS[name]}"
    parts = text.split(",") if name == "load" else text.split(":")
    try:
        values = [float(part) for part in parts]
    except ValueError:
        raise UsageError(f"{wanted}, as a number or LOW:HIGH:COUNT") from None
    if name != "load" and len(values) > 1:
        count = values.pop() if len(values) == 3 else float(_COUNT)
        if len(values) != 2 or not (2 <= count <= _MOST and count == int(count)) or not values[0] < values[1]:
            raise UsageError(f"{wanted}, as LOW:HIGH or LOW:HIGH:COUNT with LOW below HIGH and 2 to {_MOST} points")
        values = np.linspace(values[0], values[1], int(count)).tolist()
    if any(not (math.isfinite(v) and low <= v <= high) for v in values):
        raise UsageError(wanted)
    return np.array(values)


def _curve(arguments: argparse.Namespace) -> int:
    from jounce_tools.tire.curves import Tire

    if arguments.output is not None:
        check_output(arguments.output, ".csv", ".png")
    asked = {name: _numbers(name, text) for name in _UNITS if (text := getattr(arguments, name)) is not None}
    tire = Tire(arguments.file)
    own = tire.entries["tire.pressure"]
    if tire["NOMPRES"] and any(not own.minimum <= v <= own.maximum for v in asked.get("pressure", ())):
        raise UsageError(f"--pressure {arguments.pressure}: expected {own.minimum:g} to {own.maximum:g} Pa, by "
                         "its file")  # fmt: skip
    asked = {"load": np.array([tire["FNOMIN"]])} | asked
    if math.prod(len(v) for v in asked.values()) > _MOST:
        raise UsageError(f"{' x '.join(str(len(v)) for v in asked.values())} points; expected at most {_MOST}")
    grid = dict(zip(asked, np.meshgrid(*asked.values(), indexing="ij"), strict=True))
    found = tire.at(**{_NAMES.get(name, name): values for name, values in grid.items()})
    if arguments.output is not None and arguments.output.suffix == ".png":
        if lacking := missing("matplotlib"):
            raise UsageError(f"-o {arguments.output}: {lacking}")
        from jounce_tools.tire.picture import curves

        curves(arguments.file.name, asked, found).savefig(arguments.output, dpi=110)
    else:
        _write_csv(arguments.output, grid, found)
    if arguments.output is not None:
        sys.stdout.write(f"wrote {arguments.output}\n")
    return 0


def _write_csv(path: Path | None, grid: Mapping[str, Array], found: Mapping[str, Array]) -> None:
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow([*(f"{n} [{_UNITS[n]}]" for n in grid), *(f"{n} [{unit}]" for n, unit in _FORCES.items())])
    columns = [*(v.ravel() for v in grid.values()), *(found[n].ravel() for n in _FORCES)]
    rows.writerows([repr(float(v)) for v in row] for row in zip(*columns, strict=True))
    if path is None:
        sys.stdout.write(out.getvalue())
    else:
        path.write_text(out.getvalue(), encoding="utf-8")


def _compare(arguments: argparse.Namespace) -> int:
    from jounce_tools.tire.curves import Tire
    from jounce_tools.tire.show import differences

    if arguments.output is not None:
        check_output(arguments.output, ".png")
        if lacking := missing("matplotlib"):
            raise UsageError(f"-o {arguments.output}: {lacking}")
    tires = Tire(arguments.files[0]), Tire(arguments.files[1])
    loads = _numbers("load", arguments.load) if arguments.load is not None else np.array([tires[0]["FNOMIN"]])
    sys.stdout.write(differences(*tires, loads))
    if arguments.output is not None:
        from jounce_tools.tire.picture import both

        both(tires, loads).savefig(arguments.output, dpi=110)
        sys.stdout.write(f"wrote {arguments.output}\n")
    return 0
