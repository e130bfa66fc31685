"""``jounce powertrain``: maps of a vehicle's powertrain as numbers and one picture, and a check of its data."""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle, load_vehicle
from jounce.optional import missing
from jounce.powertrain.kinds import ELECTRIC, powertrain_kind
from jounce.values import number
from jounce_fmu.models import impulse
from jounce_tools.errors import UsageError
from jounce_tools.powertrain.maps import Maps, Standing
from jounce_tools.powertrain.motors import Motors

#: As in `jounce_tools.cli.main`.
FAILED: Final = 1
_VEHICLE = "name of a vehicle with a powertrain, or the folder or vehicle.toml of your own"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the actions with their options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    drawn = actions.add_parser("map", help="write engine and converter, or motors, and tractive force over speed as "
                                           "CSV and a picture")  # fmt: skip
    drawn.add_argument("vehicle", metavar="VEHICLE", help=_VEHICLE)
    drawn.add_argument("-o", "--output", type=Path, required=True, metavar="OUT", help="folder for the files")
    drawn.add_argument("--throttle", type=number, default=1.0, metavar="SHARE", help="0 to 1 (default: 1)")
    drawn.add_argument("--low", action="store_true", help="in the low range of the transfer case")
    check = actions.add_parser("check", help="say whether the data can be used, its shifts, wind-ups and sources")
    check.add_argument("vehicle", metavar="VEHICLE",
                       help=f"{_VEHICLE}, or a data file with all of a powertrain, for the HMMWV")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Runs the action."""
    if lacking := missing("casadi"):
        raise UsageError(lacking)
    return _map(arguments) if arguments.action == "map" else _check(arguments)


def _loaded(name: str | Path) -> Vehicle:
    if impulse.has_own_model(name):
        raise UsageError(f"{name} is an architecture; expected a vehicle of axles: `jounce build` tells of its "
                         "[powertrain]")  # fmt: skip
    vehicle = load_vehicle(name)
    if not vehicle.powertrain:
        raise UsageError(f"{vehicle.name} has no powertrain; expected a vehicle.toml with powertrain = its data "
                         "files, or hmmwv_pedals")  # fmt: skip
    return vehicle


@contextmanager
def _vehicle_of(name: str) -> Iterator[str | Path]:
    """The vehicle meant by ``name``: itself, or the HMMWV with the powertrain of a data file."""
    path = Path(name)
    try:
        data = path.suffix == ".toml" and not {"base", "files"} & tomllib.loads(path.read_text("utf-8")).keys()
    except OSError:
        data = False  # whoever reads it says why
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    if not data:
        yield name
        return
    with tempfile.TemporaryDirectory(prefix="jounce-powertrain-") as folder:
        manifest = Path(folder, "vehicle.toml")
        text = f'name = "powertrain"\nbase = "hmmwv"\npowertrain = {json.dumps(str(path.resolve()))}\n'
        manifest.write_text(text, encoding="utf-8")
        yield manifest


def standing(vehicle: Vehicle, name: str | Path) -> Standing:
    """How the model stands at rest. Raises FmuError with the model's words where it refuses the data."""
    from jounce_fmu.importer.host import open_builtin

    model = open_builtin(name)
    with model.instance("powertrain") as instance:
        instance.setup()
        o = dict(zip((s.name for s in model.table.outputs), instance.get_outputs(), strict=True))
    radii = [vehicle.of_tires(axle, "unloaded_radius") - o[f"wheel_{wheel}.deflection"]
             for k, axle in enumerate(vehicle.axles) if axle.driven
             for wheel in vehicle.wheels[2 * k : 2 * k + 2]]  # fmt: skip
    weight = sum(o[f"wheel_{wheel}.tire_force.z"] for wheel in vehicle.wheels)
    return Standing(float(np.mean(radii)), float(weight))


def _map(arguments: argparse.Namespace) -> int:
    output: Path = arguments.output
    if not 0 <= arguments.throttle <= 1:  # not a number is refused too
        raise UsageError(f"--throttle {arguments.throttle:g}: expected 0 to 1")
    if output.exists() and not output.is_dir() or not output.parent.is_dir():
        raise UsageError(f"-o {output}: expected a folder, in one that exists")
    if lacking := missing("matplotlib"):
        raise UsageError(lacking)
    vehicle = _loaded(arguments.vehicle)
    electric = powertrain_kind(vehicle.powertrain) is ELECTRIC
    if electric and arguments.low:
        raise UsageError(f"--low: {vehicle.name} has no transfer case; expected no --low with electric motors")
    rests = standing(vehicle, arguments.vehicle)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}") as temporary:
        folder = Path(temporary)
        (_of_motors if electric else _of_engine)(vehicle, rests, arguments, folder)
        output.mkdir(exist_ok=True)
        written = sorted(folder.iterdir())
        for path in written:
            os.replace(path, output / path.name)
    sys.stdout.write("".join(f"wrote {output / path.name}\n" for path in written))
    return 0


def _of_motors(vehicle: Vehicle, rests: Standing, arguments: argparse.Namespace, folder: Path) -> None:
    from jounce_tools.powertrain.picture import draw_motors

    motors, throttle = Motors(vehicle), arguments.throttle
    speed = np.linspace(0.0, vehicle["motor.limit_speed"], 301)
    _write(folder / "motor.csv", {"speed [rad/s]": speed, **{
        f"{axle} {share:g} [N.m]": motors.torque(axle, speed, share) for axle in motors.axles
        for share in dict.fromkeys((1.0, throttle))}})  # fmt: skip
    found = motors.traction(rests, throttle)
    _write(folder / "traction.csv", {
        "speed [m/s]": found.speed, "force [N]": found.force, "released [N]": found.released,
        "braked [N]": found.braked, "battery_power [W]": found.power,
    })  # fmt: skip
    draw_motors(vehicle.name, motors, rests, found, throttle).savefig(folder / "map.png", dpi=110)


def _of_engine(vehicle: Vehicle, rests: Standing, arguments: argparse.Namespace, folder: Path) -> None:
    from jounce_tools.powertrain.picture import draw

    maps = Maps(vehicle)
    gears = maps.traction(rests, arguments.throttle, low=arguments.low)
    _write(folder / "engine.csv", _engine(maps, arguments.throttle))
    at, ratio, factor = maps.converter
    _write(folder / "converter.csv", {"speed_ratio [1]": at, "torque_ratio [1]": ratio,
                                      "K [rad/s/sqrt(N.m)]": factor})  # fmt: skip
    _write(folder / "traction.csv", {
        "gear [1]": np.concatenate([np.full(len(g.speed), g.gear) for g in gears]),
        "speed [m/s]": np.concatenate([g.speed for g in gears]),
        "force [N]": np.concatenate([g.force for g in gears]),
        "engine_speed [rad/s]": np.concatenate([g.engine_speed for g in gears]),
        "engine_torque [N.m]": np.concatenate([g.engine_torque for g in gears]),
        "turbine_speed [rad/s]": np.concatenate([g.turbine_speed for g in gears]),
        "turbine_torque [N.m]": np.concatenate([g.turbine_torque for g in gears]),
        "locked [1]": np.concatenate([g.locked.astype(float) for g in gears]),
    })  # fmt: skip
    draw(vehicle.name, maps, rests, gears, arguments.throttle).savefig(folder / "map.png", dpi=110)


def _engine(maps: Maps, throttle: float) -> dict[str, NDArray[np.float64]]:
    speed = np.linspace(0.0, max(maps.full_load[0][-1], maps.closed_throttle[0][-1]), 101)
    return {"speed [rad/s]": speed, "full_load [N.m]": np.interp(speed, *maps.full_load),
            "closed_throttle [N.m]": np.interp(speed, *maps.closed_throttle),
            f"throttle {throttle:g} [N.m]": maps.engine_torque(speed, throttle)}  # fmt: skip


def _write(path: Path, columns: Mapping[str, NDArray[np.float64]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(columns)
        rows.writerows([f"{v:.9g}" for v in row] for row in zip(*columns.values(), strict=True))


def _check(arguments: argparse.Namespace) -> int:
    from jounce_fmu.importer.instance import FmuError
    from jounce_tools.powertrain import check, motors

    with _vehicle_of(arguments.vehicle) as place:
        vehicle = _loaded(place)
        of = motors if powertrain_kind(vehicle.powertrain) is ELECTRIC else check
        refused = ""
        try:
            standing(vehicle, place)
        except FmuError as error:
            refused = str(error).partition(": ")[2]
        sys.stdout.write("".join(f"{line}\n" for line in (*of.text(vehicle), *check.sources(vehicle))))
    if refused:
        sys.stderr.write(f"jounce powertrain check: {refused}\n")
        return FAILED
    sys.stdout.write("the model takes it\n")
    return 0
