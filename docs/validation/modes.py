"""Draws docs/validation/modes.png: frequency sweeps of the nonlinear vehicle at 20 m/s and its linearisation there.

Runs from a clone with jounce and its test extra installed: python docs/validation/modes.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests" / "vehicle"), str(HERE.parents[1] / "tests" / "fmu")]
from draw import save  # noqa: E402
from sweep import PROBES, even_shocks, frequencies, measured  # noqa: E402

from jounce_fmu.importer.host import open_builtin  # noqa: E402
from jounce_fmu.importer.linear import linearize  # noqa: E402
from jounce_tools.linearize import settle  # noqa: E402

SPEED = 20.0  # m/s


def main() -> None:
    """Sweep, linearise, draw, and print the largest differences."""
    factory = open_builtin()
    figure, axes = plt.subplots(2, len(PROBES), figsize=(12, 5), sharex=True, layout="constrained")
    for own, colour, label in (({}, "tab:blue", "two slopes"), (even_shocks(factory), "tab:red", "one slope")):
        x, u = settle(factory, own, {}, speed=SPEED, time=10.0)
        linear = linearize(factory, own, x, u)
        with factory.instance("sweep") as steps:
            steps.setup({**own, "init.speed": SPEED})
            steps.set_inputs(u)
            steps.step(10000)
            start = steps.get_state()
            for column, probe in zip(axes.T, PROBES, strict=True):
                at = frequencies(factory, 0.4, 8.0, 16)
                points = np.array([measured(steps, start, u, probe, f) for f in at])
                fine = np.geomspace(0.3, 9.0, 200)
                line = np.array([linear.response(f, probe.given, probe.shown) for f in fine])
                column[0].loglog(fine, np.abs(line), color=colour, linewidth=1.0, label=f"linear, {label}")
                column[0].loglog(at, np.abs(points), "o", color=colour, markersize=3, label=f"sweep, {label}")
                column[1].semilogx(fine, np.degrees(np.unwrap(np.angle(line))), color=colour, linewidth=1.0)
                column[1].semilogx(at, np.degrees(np.unwrap(np.angle(points))), "o", color=colour, markersize=3)
                column[0].set_title(f"{probe.name}: {probe.shown}\nby {probe.given}", fontsize=8)
                same = np.array([linear.response(f, probe.given, probe.shown) for f in at])
                worst = (np.abs(points - same) / np.maximum(np.abs(same), 0.1 * np.abs(line).max())).max()
                sys.stdout.write(f"{label}, {probe.name}: largest difference {100 * worst:.2f} %\n")
        for m in linear.modes:
            sys.stdout.write(f"{label}: {m.frequency:.3f} Hz, damping {m.damping:.3f}: {', '.join(m.states)}\n")
    for axis, probe in zip(axes[0], PROBES, strict=True):
        output, given = (factory.table.by_name(name).signal.unit for name in (probe.shown, probe.given))
        axis.set_ylabel(f"gain [({output})/({given})]", fontsize=8)
    axes[1, 0].set_ylabel("phase [deg]")
    axes[0, 0].legend(fontsize=6)
    for a in axes[1]:
        a.set_xlabel("frequency [Hz]")
    save(figure, HERE / "modes.png")


if __name__ == "__main__":
    main()
