"""What a tick of the trucks' engines costs: the impulse engine by solver, and minimal coordinates (ce).

usage: python benchmarks/engines.py [--ticks N]

Per truck and engine: microseconds per tick of 1 ms over bumps (CPU time, best of several stretches; direct and ce by
RK4 of the whole vehicle, pgs of the engine alone), those of a right-hand side, and the largest error of the cab's
height over one bump without friction, against ce at 0.1 ms; then its largest difference from the direct solver with
friction.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from native import RHS, Core
from numpy.typing import NDArray
from timing import machine, table

import jounce
from jounce.architecture.composite import build
from jounce.architecture.layout import Piece, layout
from jounce.architecture.target import Multibody
from jounce.architecture.trim import trimmed
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.models import find
from jounce_fmu.models.impulse.engine import Engine

STRETCH = 200


def engine_of(model: Multibody, sweeps: int, road: Piece) -> Engine:
    """At 8 m/s with rolling wheels."""
    engine = Engine(layout(model, road=[road]))
    engine.bodies[:, 7] = 8.0
    for s, k in enumerate(engine.layout.spins):
        engine.x[13 * len(engine.bodies) + 2 * s + 1] = 8.0 / model.wheels[k].centre[2]
    engine.start()
    engine.sweeps = sweeps
    return engine


def cost(engine: Engine, ticks: int) -> float:
    """Microseconds per tick."""
    best = np.inf
    for _ in range(max(ticks // STRETCH, 1)):
        start = time.process_time()
        engine.run(STRETCH)
        best = min(best, time.process_time() - start)
    return float(1e6 * best / STRETCH)


VALUES = {"init.speed": 8.0, "road": 3.0, "road.count": 1000.0}


def cost_of_vehicle(name: str, ticks: int) -> float:
    """Microseconds per tick of the whole vehicle, with its powertrain, brakes and outputs."""
    best = np.inf
    with open_builtin(name).instance("timed") as instance:
        instance.setup(VALUES)
        for _ in range(max(ticks // STRETCH, 1)):
            start = time.process_time()
            instance.step(STRETCH)
            best = min(best, time.process_time() - start)
    return float(1e6 * best / STRETCH)


def cost_of_slope(name: str) -> float:
    """Microseconds per right-hand side."""
    with tempfile.TemporaryDirectory() as kept:
        core = Core(Path(kept), find(name).sources)
        return 1e-3 * core.measure(core.open(0, VALUES), RHS, blocks=40, calls=1000).best()


def height(truck: str, sweeps: int | None, mu: float, tick: float = 1e-3) -> NDArray[np.float64]:
    """Of the cab over a bump, every 1 ms [m]; ``sweeps``: None for ce, 0 for the direct solver."""
    if sweeps is None:
        run = jounce.simulate(f"{truck}-ce", {}, 3.0, ["body_cab.pos.z"], output_interval=1e-3, tick=tick, mu=mu,
                              road="BUMP", **{"init.speed": 8.0})  # fmt: skip
        return run["body_cab.pos.z"][1:]
    model = trimmed(build(truck)[1])
    engine = engine_of(model, sweeps, Piece(6.0, 0.12, length=1.2))
    engine.friction[:] = mu
    return engine.run(3000, [13 * engine.layout.model.index("cab.shell") + 2])[:, 0]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ticks", type=int, default=8000, help="of each engine (default: %(default)s)")
    ticks = parser.parse_args().ticks
    rows = []
    for truck in ("class3", "class7"):
        model = trimmed(build(truck)[1])
        exact, direct = height(truck, None, 0.0, 1e-4), height(truck, 0, 0.8)
        for name, sweeps in (("pgs 10", 10), ("pgs 20", 20), ("pgs 50", 50), ("direct", 0), ("ce", None)):
            rhs = ""
            if sweeps is None:
                us, rhs = cost_of_vehicle(f"{truck}-ce", ticks), f"{cost_of_slope(f'{truck}-ce'):.2f}"
            elif sweeps == 0:
                us = cost_of_vehicle(f"{truck}-impulse", ticks)
            else:
                us = cost(engine_of(model, sweeps, Piece(6.0, 0.12, length=1.2, pitch=3.0, count=1000)), ticks)
            error = np.abs(height(truck, sweeps, 0.0) - exact).max()
            off = np.abs(height(truck, sweeps, 0.8) - direct).max()
            rows.append([truck, name, f"{us:.1f}", rhs, f"{1e3 * error:.4f}", f"{1e3 * off:.4f}"])
    print(machine(), end="\n\n")
    print(table(["truck", "engine", "us per tick", "us per right-hand side", "cab's error [mm]",
                 "from direct, mu 0.8 [mm]"], rows))  # fmt: skip


if __name__ == "__main__":
    main()
