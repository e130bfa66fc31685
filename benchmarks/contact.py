"""Measures a step of the HMMWV on each kind of ground and contact, beside the plane: ``python benchmarks/contact.py``.

All loops run in C, on one thread, interleaved; a step is RK4 at 1 ms and makes all outputs. See README.md.
"""

from __future__ import annotations

from functools import partial

from native import STEP_OUTPUTS, Core
from timing import interleave, loops, machine, table

from jounce.axles import WHEELS
from jounce.terrain.iso8608 import iso_road
from jounce.terrain.packed import save

#: Name in the table -> inputs and parameters; `tire.contact` AREA and `terrain.soil` BEKKER are their second values.
CASES = {
    "plane": {},
    "random road": {"terrain_source": 5.0},
    "random road, AREA": {"terrain_source": 5.0, "tire.contact": 2.0},
    "soft soil": {"terrain.soil": 2.0, **{f"wheel_{w}.drive_torque": 500.0 for w in WHEELS}},
}  # fmt: skip
SPEED = 10.0  # m/s


def main() -> None:
    """Command line."""
    parser = loops(__doc__, 50, "calls a block; few, so that a block ends within a turn of a busy processor")
    parser.add_argument("--lanes", type=int, choices=(1, 4), default=4)
    options = parser.parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    core = Core(options.build)
    variant = min(core.variants - 1, 0 if options.lanes == 1 else 1)
    road = save(iso_road("C", 7, 2000.0), options.build / "contact.jnt").resolve().as_uri()
    subjects = {}
    for name, values in CASES.items():
        place = road if "terrain_source" in values else ""
        instance = core.open(variant, {"init.speed": SPEED, **values}, place)
        subjects[name] = partial(core.measure, instance, STEP_OUTPUTS, blocks=20, calls=options.calls)
    found = interleave(subjects, options.rounds)
    rows = []
    for name, samples in found.items():
        ratio = samples.best() / found["plane"].best()
        rows.append([name, *(f"{t / 1e3:.2f}" for t in (samples.best(), samples.percentile(50))), f"{ratio:.2f}"])
    print(machine())
    print(table(["step with all outputs, us", "best", "median", "of the plane's"], rows))


if __name__ == "__main__":
    main()
