"""Measures a right-hand side of vehicles on one to eight axles of the hmmwv's double wishbones: the cost per axle.

In C, on one thread, interleaved. An axle fills two of four lanes: on four lanes an odd number of axles costs as much as
the next even one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from native import RHS, Core
from timing import interleave, machine, table

from jounce.axles import MOST, wheel_names
from jounce_fmu.models import find

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models"))
import own_axles

SPEED = 15.0  # m/s
DRIVE = 45.0  # N.m a wheel, about the rolling resistance
LANES = ("1 lane", "4 lanes")


def main() -> None:
    """Prints a table of ns by axles, and the straight line through each column."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=MOST, help="axles of the longest vehicle")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--calls", type=int, default=2000)
    arguments = parser.parse_args()
    subjects, numbers = {}, range(1, arguments.most + 1)
    with tempfile.TemporaryDirectory() as kept:
        for axles in numbers:
            folder = Path(kept) / str(axles)
            vehicle = own_axles.write(folder, own_axles.straight(axles), name=f"axles_{axles}")
            core = Core(folder, find(vehicle).sources)
            values = {"init.speed": SPEED, **{f"wheel_{w}.drive_torque": DRIVE for w in wheel_names(axles)}}
            for variant in range(core.variants):
                subjects[axles, variant] = partial(core.measure, core.open(variant, values), RHS, blocks=6,
                                                   calls=arguments.calls)  # fmt: skip
        measured = interleave({str(key): run for key, run in subjects.items()}, arguments.rounds)
    times = np.array([[measured[str((k, v))].best() for v in range(core.variants)] for k in numbers])
    print(machine(), end="\n\n")
    head = ["axles", *(f"{name}, ns" for name in LANES[: core.variants])]
    print(table(head, [[str(k), *(f"{t:.0f}" for t in row)] for k, row in zip(numbers, times, strict=True)]))
    even = np.array([k for k in numbers if k % 2 == 0])
    for variant, name in enumerate(LANES[: core.variants]):
        at = np.array(numbers) if variant == 0 else even
        if len(at) > 1:
            slope, start = np.polyfit(at, times[at - 1, variant], 1)
            off = np.abs(times[at - 1, variant] - start - slope * at).max() / times[at[-1] - 1, variant]
            print(f"\n{name}: {start:.0f} ns and {slope:.0f} ns an axle; farthest from that line by {100 * off:.1f} % "
                  f"of the time of {at[-1]} axles")  # fmt: skip


if __name__ == "__main__":
    main()
