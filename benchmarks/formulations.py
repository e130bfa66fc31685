"""One evaluation of one corner in every formulation: operations, and time of CasADi's C with one compiler.

    python benchmarks/formulations.py

Everything up to the accelerations, springs and gather included, the vehicle's numbers built in. The ratios count.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from jounce.data import load_vehicle
from jounce_tools.compare.cost import COSTS, evaluation, time_of


def main() -> None:
    """Print the table."""
    vehicle, rows = load_vehicle("hmmwv"), []
    with tempfile.TemporaryDirectory() as folder:
        for name in COSTS:
            found = evaluation(vehicle, name, Path(folder))
            rows.append((name, found.operations, time_of(found.programs)))
    print(f"{'':20}{'operations':>12}{'ratio':>7}{'ns, best':>10}{'ratio':>7}{'median':>8}")
    for name, count, time in rows:
        print(f"{name:20}{count:12}{count / rows[0][1]:7.2f}{time.best:10.0f}{time.best / rows[0][2].best:7.2f}"
              f"{time.median:8.0f}")  # fmt: skip


if __name__ == "__main__":
    main()
