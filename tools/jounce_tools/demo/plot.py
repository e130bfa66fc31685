"""The picture of the demonstration: paths among the cones; speed, steering, wheel loads and slip along the track."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jounce.axles import WHEELS
from jounce.course import DoubleLaneChange
from jounce_tools.demo.run import Result, front_axle

#: Colours of the runs; the cones have none of them.
_RUNS = ("tab:brown", "tab:blue", "tab:purple")
_WHEEL_COLOURS = ("tab:blue", "tab:cyan", "tab:red", "tab:pink")
_SECTIONS = (("speed [km/h]", "speed", 3.6), ("steering-wheel angle [deg]", "steering_wheel_angle", 180.0 / np.pi),
             ("lateral acceleration [m/s$^2$]", "com.lin_acc.y", 1.0), ("lateral error [m]", "lateral_error", 1.0))
_ROWS = (("wheel load [kN]", "load", 1e-3), ("longitudinal slip [-]", "slip", 1.0))


def draw(results: list[Result], path: Path, model: str) -> None:
    """Write the picture of all runs with ``model`` to ``path``."""
    figure = Figure(figsize=(15.0, 13.0), layout="constrained")
    figure.suptitle(f"{model}: double lane change of ISO 3888-1\n" + "; ".join(r.title for r in results), fontsize=11)
    grid = figure.add_gridspec(4, 12, height_ratios=(1.1, 1.6, 1.6, 1.6))
    course = DoubleLaneChange()
    end = course.lanes[-1].end + 20.0
    top = figure.add_subplot(grid[0, :])
    _course(top, course, results, end)
    axes = []
    for i, (label, column, scale) in enumerate(_SECTIONS):
        axis = figure.add_subplot(grid[1, 3 * i : 3 * i + 3])
        for r, colour in zip(results, _RUNS, strict=False):
            axis.plot(front_axle(r.pilot)[0], scale * r.pilot[column], color=colour)
        axis.set_ylabel(label)
        axes.append(axis)
    axes[0].set_ylim(bottom=0.0)
    width = 12 // len(results)
    for row, (label, what, scale) in enumerate(_ROWS, 2):
        share = None
        for i, r in enumerate(results):
            axis = share = figure.add_subplot(grid[row, width * i : width * (i + 1)], sharey=share)
            _wheels(axis, r, what, scale)
            axis.set_title(r.title, fontsize=9)
            axis.set_ylabel(label)
            axes.append(axis)
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.set(xlim=(0.0, end), xlabel="front axle along the track, x [m]")
    figure.savefig(path, dpi=110)


def _course(axis: Axes, course: DoubleLaneChange, results: list[Result], end: float) -> None:
    cones = course.cones()
    x = np.linspace(0.0, end, 400)
    axis.plot(x, [course.path(v)[0] for v in x], "--", color="grey", linewidth=1.0, label="path wanted")
    for r, colour in zip(results, _RUNS, strict=False):
        axis.plot(*front_axle(r.pilot), color=colour, linewidth=1.2, label=f"front axle, {r.title}")
    axis.plot(cones[:, 0], cones[:, 1], "^", color="tab:orange", markeredgecolor="black", markersize=5, label="cones")
    axis.set(xlim=(0.0, end), ylim=(cones[:, 1].min() - 2.0, cones[:, 1].max() + 2.0), xlabel="x [m]", ylabel="y [m]",
             aspect="equal")
    axis.grid(alpha=0.3)
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="small", frameon=False)


def _wheels(axis: Axes, result: Result, what: str, scale: float) -> None:
    """Per wheel: from the soil program where there is one, else from the model's own tires."""
    x = front_axle(result.pilot)[0]
    for wheel, colour in zip(WHEELS, _WHEEL_COLOURS, strict=True):
        if result.soil:
            place = np.interp(result.soil["time"], result.pilot["time"], x)
            values = result.soil[f"{what}_{wheel}"]
        else:
            place, values = x, result.pilot[f"wheel_{wheel}.{'tire_force.z' if what == 'load' else 'slip'}"]
        axis.plot(place, scale * values, color=colour, linewidth=0.9, label=wheel)
    axis.margins(y=0.15)
    axis.legend(loc="upper right", ncols=4, fontsize="small")
