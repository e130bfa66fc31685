"""One evaluation of one corner in every formulation: operations, and time of the product's emitted C.

    python benchmarks/formulations.py [--rounds 40]

Front left corner of the hmmwv, everything up to its acceleration, springs and gather included, the vehicle's numbers
built in; the product's lane header and flags, in one lane and in four lanes with a corner each, interleaved in one run.
The ratios count.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from timing import machine, table

from jounce.data import load_vehicle
from jounce_tools.compare.cost import BLOCKS, CALLS, COSTS, evaluation, lanes, times
from jounce_tools.compare.study import LABELS


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=BLOCKS, help="interleaved blocks of each (default: %(default)s)")
    parser.add_argument("--calls", type=int, default=CALLS, help="calls in a block (default: %(default)s)")
    options = parser.parse_args()
    vehicle = load_vehicle("hmmwv")
    with tempfile.TemporaryDirectory() as folder:
        made = {name: evaluation(vehicle, name, Path(folder)) for name in COSTS}
        took = times(made, options.rounds, options.calls)
    print(machine())
    rows = []
    for name, of in made.items():
        pairs = [(took[name][k].best, took[COSTS[0]][k].best) for k in lanes()]
        rows.append([LABELS[name], str(of.operations), f"{of.operations / made[COSTS[0]].operations:.2f}",
                     *(text for t, first in pairs for text in (f"{t:.0f}", f"{t / first:.2f}"))])  # fmt: skip
    heads = [head for k in lanes() for head in (f"ns, {k} lane{'s' * (k > 1)}", "ratio")]
    print(table(["", "operations", "ratio", *heads], rows))


if __name__ == "__main__":
    main()
