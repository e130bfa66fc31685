"""Measures a right-hand side of vehicles on other kinds of axles beside the hmmwv's, in C, on one thread, interleaved.

Ratios are taken round by round, so that a disturbance hits both alike; the median of the rounds is printed.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from native import RHS, Core
from timing import Samples, interleave, machine, table

from jounce.data import load_vehicle
from jounce_fmu.models import find

HMMWV = "hmmwv"
SPEED = 15.0  # m/s
DRIVE = 45.0  # N.m a driven wheel, about the rolling resistance
LANES = ("1 lane", "4 lanes")


def main() -> None:
    """Prints a table of ns and of ratios to the hmmwv by vehicle."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vehicles", nargs="*", default=["car", "microbus"], help="beside the hmmwv")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=2000)
    arguments = parser.parse_args()
    names = [HMMWV, *arguments.vehicles]
    with tempfile.TemporaryDirectory() as kept:
        subjects = {}
        for name in names:
            folder = Path(kept) / name
            folder.mkdir()
            core = Core(folder, find(name).sources)
            vehicle = load_vehicle(name)
            wheels = zip(vehicle.wheels, (a for a in vehicle.axles for _ in "LR"), strict=True)
            values = {"init.speed": SPEED, **{f"wheel_{w}.drive_torque": DRIVE for w, axle in wheels if axle.driven}}
            for variant in range(core.variants):
                subjects[f"{name} {variant}"] = partial(core.measure, core.open(variant, values), RHS, blocks=6,
                                                        calls=arguments.calls)  # fmt: skip
        best: dict[str, list[float]] = {key: [] for key in subjects}
        for _ in range(arguments.rounds):
            round_: dict[str, Samples] = interleave(subjects, 1)
            for key, samples in round_.items():
                best[key].append(samples.best())
    print(machine(), end="\n\n")
    head = ["vehicle", *(f"{lanes}, {what}" for lanes in LANES[: core.variants] for what in ("ns", "of the hmmwv's"))]
    rows = []
    for name in names:
        cells = [name]
        for variant in range(core.variants):
            own, base = (np.array(best[f"{n} {variant}"]) for n in (name, HMMWV))
            cells += [f"{own.min():.0f}", f"{np.median(own / base):.2f}"]
        rows.append(cells)
    print(table(head, rows))


if __name__ == "__main__":
    main()
