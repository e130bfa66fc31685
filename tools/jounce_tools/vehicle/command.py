"""``jounce vehicle``: start, check and describe a vehicle of one's own."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from jounce.data import Vehicle, load_vehicle
from jounce.optional import missing
from jounce_fmu.models import impulse
from jounce_tools.errors import UsageError
from jounce_tools.vehicle import new

#: As in `jounce_tools.cli.main`.
FAILED: Final = 1
_DIR = "name of a built-in vehicle or example, or the folder or vehicle.toml of your own"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the actions with their options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    own = actions.add_parser("new", help="write a filled example to start from")
    own.add_argument("kind", metavar="KIND", help=f"kind of axle: {', '.join(new.EXAMPLES)}")
    own.add_argument("folder", type=Path, metavar="DIR", help="folder to write, not there yet or empty")
    check = actions.add_parser("check", help="say whether the suspension works, and how far it may travel")
    check.add_argument("vehicle", metavar="DIR", help=_DIR)
    check.add_argument("--json", action="store_true", help="one JSON object, for programs")
    kc = actions.add_parser("kc", help="write kinematic characteristics as CSV, pictures and one HTML page")
    kc.add_argument("vehicle", metavar="DIR", help=_DIR)
    kc.add_argument("-o", "--output", type=Path, required=True, metavar="OUT", help="folder for the files")
    graph = actions.add_parser("graph", help="print bodies, joints, loops and aggregates")
    graph.add_argument("vehicle", metavar="DIR", help=_DIR)
    graph.add_argument("--dot", action="store_true", help="as DOT, for Graphviz")


def run(arguments: argparse.Namespace) -> int:
    """Runs the action."""
    place = getattr(arguments, "vehicle", None)
    if place is not None and impulse.has_own_model(place):
        raise UsageError(f"{place} is an architecture; expected a vehicle of axles: `jounce build` checks it")
    actions: dict[str, Callable[[argparse.Namespace], int]] = {"new": _new, "check": _check, "kc": _kc, "graph": _graph}
    return actions[arguments.action](arguments)


def _need_casadi() -> None:
    if lacking := missing("casadi"):
        raise UsageError(lacking)


def _loaded(arguments: argparse.Namespace) -> Vehicle:
    _need_casadi()
    return load_vehicle(arguments.vehicle)


def _new(arguments: argparse.Namespace) -> int:
    paths = new.write(arguments.kind, arguments.folder)
    sys.stdout.write("".join(f"wrote {p}\n" for p in paths))
    return 0


def _check(arguments: argparse.Namespace) -> int:
    _need_casadi()
    from jounce_tools.vehicle import check

    found = check.check(arguments.vehicle, progress=arguments.progress.at)
    if arguments.json:
        json.dump(check.as_json(found), sys.stdout, indent=1)
        sys.stdout.write("\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in check.text(found)))
    for fault in found.faults:
        sys.stderr.write(f"jounce vehicle check: {fault}\n")
    return FAILED if found.faults else 0


def _kc(arguments: argparse.Namespace) -> int:
    vehicle = _loaded(arguments)
    output: Path = arguments.output
    if output.exists() and not output.is_dir():
        raise UsageError(f"-o {output}: expected a folder")
    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: expected a folder in one that exists")
    from jounce.suspension.kinematics import NotClosedError
    from jounce_tools.vehicle import report
    from jounce_tools.vehicle.sweeps import sweeps

    found = []
    try:
        for k, axle in enumerate(vehicle.axles):
            arguments.progress.at(k / (len(vehicle.axles) + 1))
            found += sweeps(vehicle, axle)
    except NotClosedError as error:
        raise UsageError(f"{vehicle.name}: axle {error}; `jounce vehicle check` says more") from error
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}") as temporary:
        paths = report.write(vehicle, found, Path(temporary))
        output.mkdir(exist_ok=True)
        for path in paths:
            os.replace(path, output / path.name)
    sys.stdout.write("".join(f"wrote {output / p.name}\n" for p in paths))
    return 0


def _graph(arguments: argparse.Namespace) -> int:
    vehicle = _loaded(arguments)
    from jounce_tools.vehicle import graph

    lines: Sequence[str] = list(graph.dot(vehicle) if arguments.dot else graph.text(vehicle))
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0
