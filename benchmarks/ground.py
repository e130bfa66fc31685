"""Time of a query of each kind of terrain, compiled by itself: ``python benchmarks/ground.py``. See README.md."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "fmu"))

from ground import Array, build, opened  # noqa: E402
from timing import machine, table  # noqa: E402

from jounce.terrain.crg import read_crg  # noqa: E402
from jounce.terrain.iso8608 import iso_road  # noqa: E402
from jounce.terrain.obstacles import half_round  # noqa: E402
from jounce.terrain.packed import Terrain, save  # noqa: E402

QUERIES, ROUNDS = 20_000, 60
GOAL = 100.0  # ns a wheel


def along(road: Terrain, s: Array) -> list[Array]:
    """Places along a road, 0.7 m beside its line."""
    points = np.linspace(0.0, 1.0, len(road.line))
    return [np.interp(s, points, road.line[:, k]) + 0.7 * k for k in (0, 1)]


def best(call: Callable[[], object]) -> float:
    """Least time of a round [ns a query]."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) / QUERIES * 1e9


def main() -> None:
    """Prints the best round of each, of single queries and of four wheels at once [ns a wheel]."""
    print(machine())
    s, rng = np.linspace(0.0, 1.0, QUERIES), np.random.default_rng(0)
    grid = Terrain("HEIGHTMAP", rng.normal(size=(2000, 2000)), 0.5, 0.5)
    road = read_crg(ROOT / "tests" / "data" / "roads" / "banked.crg")
    rounds = [half_round(10.0 + 40 * k, 0.1) for k in range(20)]
    closed, holes = (read_crg(ROOT / "tests" / "data" / "roads" / f"{name}.crg") for name in ("closed", "nan_border"))
    cases = {
        "heightmap along a path": (grid, s * 900, s * 700 + 50),
        "the same with splines": (replace(grid, smooth=True), s * 900, s * 700 + 50),
        "heightmap at random places": (grid, *rng.uniform(0, 999, (2, QUERIES))),
        "random road": (iso_road("C", 1, 1000.0), s * 999, 0 * s + 0.5),
        "OpenCRG road": (road, *along(road, s)),
        "closed OpenCRG road": (closed, *along(closed, s)),
        "OpenCRG road with a NaN border": (holes, *along(holes, s)),
        "heightmap with 20 obstacles": (grid.with_obstacles(*rounds), s * 900, 0 * s + 1.0),
    }
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        for name, (terrain, x, y) in cases.items():
            with opened(library, save(terrain, Path(folder) / "t.jnt")) as ground:
                rows.append([name, *(f"{best(partial(call, x, y)):.0f}" for call in (ground, ground.fours))])
    print(table(["ns a wheel", "single query", "four at once"], rows))
    worst = max(float(row[2]) for row in rows)
    print(f"slowest of four at once: {worst:.0f} ns a wheel; goal: at most {GOAL:.0f}")
    print(machine())


if __name__ == "__main__":
    main()
