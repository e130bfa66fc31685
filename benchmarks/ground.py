"""Time of a query of each kind of terrain, compiled by itself: ``python benchmarks/ground.py``."""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "fmu"))

from ground import build, opened  # noqa: E402

from jounce.terrain.crg import read_crg  # noqa: E402
from jounce.terrain.iso8608 import iso_road  # noqa: E402
from jounce.terrain.obstacles import half_round  # noqa: E402
from jounce.terrain.packed import Terrain, save  # noqa: E402

QUERIES, ROUNDS = 20_000, 60


def main() -> None:
    """Prints the best round of each [ns]."""
    s, rng = np.linspace(0.0, 1.0, QUERIES), np.random.default_rng(0)
    grid = Terrain("HEIGHTMAP", rng.normal(size=(2000, 2000)), 0.5, 0.5)
    road = read_crg(ROOT / "tests" / "data" / "roads" / "banked.crg")
    at = np.stack([np.interp(s * 120, 0.5 * np.arange(241), road.line[:, k]) for k in (0, 1)])
    rounds = [half_round(10.0 + 40 * k, 0.1) for k in range(20)]
    cases = {
        "heightmap along a path": (grid, s * 900, s * 700 + 50),
        "the same with splines": (replace(grid, smooth=True), s * 900, s * 700 + 50),
        "heightmap at random places": (grid, *rng.uniform(0, 999, (2, QUERIES))),
        "random road": (iso_road("C", 1, 1000.0), s * 999, 0 * s + 0.5),
        "OpenCRG road": (road, at[0], at[1] + 0.7),
        "heightmap with 20 obstacles": (grid.with_obstacles(*rounds), s * 900, 0 * s + 1.0),
    }
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        for name, (terrain, x, y) in cases.items():
            with opened(library, save(terrain, Path(folder) / "t.jnt")) as ground:
                times = []
                for _ in range(ROUNDS):
                    start = time.perf_counter()
                    ground(x, y)
                    times.append(time.perf_counter() - start)
            sys.stdout.write(f"{name:30s} {min(times) / QUERIES * 1e9:4.0f} ns\n")


if __name__ == "__main__":
    main()
