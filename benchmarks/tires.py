"""Measures a step on tires of the Magic Formula, and beside it that of the HMMWV on its own tires.

All loops run in C, on one thread, interleaved; a step is RK4 at 1 ms and makes all outputs. See README.md.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from native import STEP_OUTPUTS, Core
from timing import interleave, loops, machine, table

from jounce_fmu.models import find
from jounce_fmu.models.tires import on_tires

DATA = Path(__file__).parents[1] / "tests" / "data" / "tires"
#: Name in the table -> tire file; None: the vehicle's own.
FILES = {"TMeasy": None, "PAC2002": DATA / "HMMWV_Pac02Tire.tir", "MF 6.1": DATA / "synthetic_mf61_large.tir"}
SPEED = 15.0  # m/s
MOTIONS = {
    "straight": {"init.speed": SPEED},
    "turn": {"init.speed": SPEED, "steering_wheel_angle": 1.0, "wheel_RL.drive_torque": 300.0,
             "wheel_RR.drive_torque": 300.0},
}  # fmt: skip


def main() -> None:
    """Command line."""
    options = loops(__doc__).parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    print(machine())
    subjects = {}
    for name, file in FILES.items():
        model = find(on_tires("hmmwv", file)) if file else None
        core = Core(options.build, model.sources if model else None)
        for motion, values in MOTIONS.items():
            instance = core.open(core.variants - 1, values)
            subjects[name, motion] = partial(core.measure, instance, STEP_OUTPUTS, blocks=5, calls=options.calls)
    found = interleave(subjects, options.rounds)
    rows = []
    for (name, motion), samples in found.items():
        ratio = samples.best() / found["TMeasy", motion].best()
        times = [samples.best(), samples.percentile(50), min(samples.cpu)]
        rows.append([f"{name}, {motion}", *(f"{t / 1e3:.2f}" for t in times), f"{ratio:.2f}"])
    print(table(["step with all outputs, us", "best", "median", "best cpu", "of TMeasy"], rows))
    print(machine())


if __name__ == "__main__":
    main()
