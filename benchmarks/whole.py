"""Measures a step of the whole vehicle: powertrain, Magic Formula and a heightmap, one by one and together.

Beside it that of the HMMWV with torques in, on its own tires and a plane. All loops run in C, on one thread,
interleaved; a step is RK4 at 1 ms and makes all outputs, the last two rows without them. The goal is 6 us where a step
of that HMMWV takes 3.6 us without outputs, and the ratio of the two elsewhere. See README.md.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from native import STEP, STEP_OUTPUTS, Core
from timing import interleave, loops, machine, table

from jounce.terrain.packed import Terrain, save
from jounce_fmu.models import find
from jounce_fmu.models.roads import on_road, road_place
from jounce_fmu.models.tires import on_tires

DATA = Path(__file__).parents[1] / "tests" / "data" / "tires"
TIRE, LARGE = DATA / "HMMWV_Pac02Tire.tir", DATA / "synthetic_mf61_large.tir"
GOAL, BESIDE = 6.0, 3.6  # [us]
WHOLE, BARE = "powertrain, Magic Formula, heightmap", "the same on PAC2002, without outputs"
PLAIN = "torques in, TMeasy, plane, without outputs"
MOVING = {"init.speed": 15.0, "steering_wheel_angle": 0.2}
HEIGHTMAP = {"terrain_source": 3.0}
BY_TORQUE = {"steering.mode": 2.0, "steering_wheel_torque": 1.0}


def heights(folder: Path) -> Path:
    """Waves of 5 cm on 400 x 400 m, points every 0.25 m."""
    x = 0.25 * np.arange(1600)
    waves = 0.05 * np.sin(0.5 * x)[:, None] * np.sin(0.4 * x)[None, :]
    return save(Terrain("HEIGHTMAP", waves, 0.25, 0.25, (-100.0, -200.0)), folder / "waves.jnt")


def main() -> None:
    """Command line."""
    options = loops(__doc__).parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    print(machine())
    ground, pedals = heights(options.build), {"throttle": 0.5}
    magic, newer = (on_tires("hmmwv_pedals", file) for file in (TIRE, LARGE))
    cases = {
        "torques in, TMeasy, plane: the default": ("hmmwv", {}),
        "powertrain": ("hmmwv_pedals", pedals),
        "powertrain, heightmap": (on_road("hmmwv_pedals", ground), pedals | HEIGHTMAP),
        "powertrain, Magic Formula (PAC2002)": (magic, pedals),
        WHOLE: (on_road(magic, ground), pedals | HEIGHTMAP),
        "the same, tires of MF 6.1": (on_road(newer, ground), pedals | HEIGHTMAP),
        "the same on PAC2002, steered by torque": (on_road(magic, ground), pedals | HEIGHTMAP | BY_TORQUE),
        BARE: (on_road(magic, ground), pedals | HEIGHTMAP),
        PLAIN: ("hmmwv", {}),
    }
    subjects = {}
    for name, (vehicle, values) in cases.items():
        core = Core(options.build, find(vehicle).sources)
        instance = core.open(core.variants - 1, MOVING | values, road_place(vehicle))
        what = STEP if name in (BARE, PLAIN) else STEP_OUTPUTS
        subjects[name] = partial(core.measure, instance, what, blocks=5, calls=options.calls)
    found = interleave(subjects, options.rounds)
    first = next(iter(found.values())).best()
    rows = []
    for name, samples in found.items():
        times = [samples.best(), samples.percentile(50), min(samples.cpu)]
        rows.append([name, *(f"{t / 1e3:.2f}" for t in times), f"{samples.best() / first:.2f}"])
    print(table(["step with all outputs, us", "best", "median", "best cpu", "of the default"], rows))
    whole, bare, plain = (found[name].best() / 1e3 for name in (WHOLE, BARE, PLAIN))
    print(f"{WHOLE}: {whole:.2f} us with outputs, {bare:.2f} without\n{whole / plain:.2f} times the {plain:.2f} us of "
          f"{PLAIN}; goal: at most {GOAL:g} us where that takes {BESIDE:g}, {GOAL / BESIDE:.2f} times it")
    print(machine())


if __name__ == "__main__":
    main()
