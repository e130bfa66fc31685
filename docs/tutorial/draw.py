"""Draws the pictures of docs/tutorial/drive.md from the programs on that page: python docs/tutorial/draw.py

Needs jounce and matplotlib (``pip install '.[test]'``).
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent


def programs() -> list[dict[str, Any]]:
    """What is left of the page's programs in process, each run in a namespace of its own."""
    blocks = re.findall(r"```python\n(.*?)```", (HERE / "drive.md").read_text(encoding="utf-8"), re.DOTALL)
    done: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        for block in blocks:
            if named := re.match(r"# file: (\S+)\n", block):
                (Path(folder) / named[1]).write_text(block, encoding="utf-8")
            elif "jounce_client" not in block:
                done.append({})
                exec(compile(block, "drive.md", "exec"), done[-1])
        sys.path.remove(folder)
    return done


def turn(runs: dict[float, Any]) -> plt.Figure:
    """Path and lateral acceleration of the first program."""
    figure, (path, lateral) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for mu, run in runs.items():
        path.plot(*run["ref_frame.pos"][:, :2].T, label=f"mu = {mu}")
        lateral.plot(run.time, run["com.lin_acc.y"], label=f"mu = {mu}")
    path.set(xlabel="x [m]", ylabel="y [m]", title="path, to the left", aspect="equal")
    lateral.set(xlabel="time [s]", ylabel="lateral acceleration [m/s2]", title="steering wheel turned from 1 s on")
    path.legend()
    return figure


def lane(log: list[tuple[float, ...]]) -> plt.Figure:
    """Lateral position, steering wheel and speed of the second program."""
    time, *columns = np.array(log).T
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    for ax, values, label in zip(axes, columns, ("y [m]", "steering-wheel angle [rad]", "speed [m/s]"), strict=True):
        ax.plot(time, values)
        ax.set(xlabel="time [s]", ylabel=label)
    axes[0].axhline(3.5, color="grey", linewidth=0.8, linestyle="--", label="wanted")
    axes[0].legend(loc="lower right")
    axes[2].set_ylim(14.0, 16.0)
    return figure


def main() -> None:
    """Run the page's programs and draw what they found."""
    first, second = programs()
    for name, figure in (("turn", turn(first["runs"])), ("lane", lane(second["log"]))):
        for ax in figure.axes:
            ax.grid(visible=True, alpha=0.3)
        figure.savefig(HERE / f"{name}.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
