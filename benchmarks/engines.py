"""What a tick of the impulse engine costs on the trucks, by solver, and how far each is from the direct one.

usage: python benchmarks/engines.py [--ticks N]

Per truck and solver: microseconds per tick of 1 ms over bumps (CPU time, best of several stretches, everything
included), and the largest difference of the cab's height from the direct solver over one bump.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from jounce.architecture.composite import build
from jounce.architecture.layout import Piece, layout
from jounce.architecture.target import Multibody
from jounce.architecture.trim import trimmed
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


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ticks", type=int, default=8000, help="of each solver (default: %(default)s)")
    ticks = parser.parse_args().ticks
    for truck in ("class3", "class7"):
        model = trimmed(build(truck)[1])
        exact: NDArray[np.float64] | None = None
        for name, sweeps in (("direct", 0), ("pgs 10", 10), ("pgs 20", 20), ("pgs 50", 50)):
            us = cost(engine_of(model, sweeps, Piece(6.0, 0.12, length=1.2, pitch=3.0, count=1000)), ticks)
            engine = engine_of(model, sweeps, Piece(6.0, 0.12, length=1.2))
            cab = 13 * engine.layout.model.index("cab.shell") + 2
            height = engine.run(3000, [cab])[:, 0]
            exact = height if exact is None else exact
            print(f"{truck}  {name:8} {us:6.1f} us   cab off by {np.abs(height - exact).max():.2g} m")


if __name__ == "__main__":
    main()
