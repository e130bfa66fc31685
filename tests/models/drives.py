"""Runs of vehicles with a powertrain, by pedals."""

from __future__ import annotations

import csv
import json
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from jounce.data import vehicle_file
from jounce_fmu.importer.host import Factory, FmuInstance, open_builtin

Array = np.ndarray
Plan = Sequence[tuple[float, Mapping[str, float]]]
DATA = Path(__file__).parents[1] / "data" / "full_drive.csv"
ROW = 0.01
"""Time between two rows of a run [s]."""
SLOPE = {"terrain.slope": math.atan(0.3)}
#: How a vehicle is held at rest: name -> inputs.
HELD = {
    "P": {"gear_selector": -2.0},
    "P, engine off": {"gear_selector": -2.0, "engine.run": 0.0},
    "D at idle against the brake": {"brake_pedal": 0.8},
    "hand brake": {"gear_selector": 0.0, "hand_brake": 1.0},
}


def powertrain_of(example: str) -> str:
    """The line of a vehicle.toml that gives the vehicle the powertrain of an example."""
    manifest = vehicle_file(example)
    files = tomllib.loads(manifest.read_text())["powertrain"]
    return f"powertrain = {json.dumps([str((manifest.parent / file).resolve()) for file in files])}\n"


@cache
def factory(vehicle: str = "hmmwv_pedals") -> Factory:
    return open_builtin(vehicle)


def run(
    plan: Plan, end: float, parameters: Mapping[str, float] | None = None, *, vehicle: str = "hmmwv_pedals",
    every_row: Callable[[FmuInstance, float], None] = lambda _fmu, _t: None,
) -> dict[str, Array]:
    """Outputs by name every ROW, and "time"; ``plan``: time [s] and the inputs that are set then."""
    made, steps = factory(vehicle), [(t, dict(values)) for t, values in plan]
    with made.instance("drive") as fmu:
        fmu.setup({**(parameters or {}), **(steps.pop(0)[1] if steps[0][0] <= 0.0 else {})})
        ticks, rows = round(ROW / fmu.tick_length), [fmu.get_outputs().copy()]
        for k in range(round(end / ROW)):
            while steps and steps[0][0] <= k * ROW + 1e-9:
                fmu.set_values(steps.pop(0)[1])
            every_row(fmu, k * ROW)
            fmu.step(ticks)
            rows.append(fmu.get_outputs().copy())
    table = np.array(rows)
    found = {s.name: table[:, s.index] for s in made.table.outputs}
    return {**found, "time": ROW * np.arange(len(table))}


def record() -> dict[str, Array]:
    """Project Chrono's drive."""
    lines = [line for line in DATA.read_text().splitlines() if not line.startswith("#")]
    head, *rows = csv.reader(lines)
    return dict(zip(head, np.array(rows, float).T, strict=True))


def position(o: Mapping[str, Array]) -> Array:
    return np.array([o[f"ref_frame.pos.{a}"] for a in "xyz"])


@cache
def in_the_air() -> dict[str, float]:
    """Wheels in the air, no gravity; dampers off, and the springs' stops, which have kinks."""
    table, off = factory().table, {"gravity": 0.0, "tire_source": 2, "init.equilibrium": False, "init.z": 100.0}
    off |= {s.name: 0.0 for s in table.parameters if ".shock." in s.name and s.signal.unit == "N.s/m"}
    off |= {s.name: 0.0 for s in table.parameters
            if s.name.endswith((".k3", "end_stiffness")) or ".stop.force." in s.name}  # fmt: skip
    off |= {"front.spring.rest_length": 0.246463, "rear.spring.rest_length": 0.306016}  # as they stand
    return off | {"chassis.contact.stiffness": 0.0}


def unaccounted(o: Mapping[str, Array]) -> float:
    """Largest energy [J] that has come or gone without a source: all that moves counts."""
    whole = o["energy.kinetic"] + o["energy.potential"] + o["energy.driveline"] + o["energy.losses"]
    return float(np.abs(whole - o["energy.engine"] - (whole - o["energy.engine"])[0]).max())
