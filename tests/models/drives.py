"""Runs of vehicles with a powertrain, by pedals."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from jounce_fmu.importer.host import Factory, FmuInstance, open_builtin

Array = np.ndarray
Plan = Sequence[tuple[float, Mapping[str, float]]]
DATA = Path(__file__).parents[1] / "data" / "full_drive.csv"
ROW = 0.01
"""Time between two rows of a run [s]."""


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
