"""The picture of the demonstration: path against cones, speed, steering, acceleration, wheel loads, slip."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jounce.course import DoubleLaneChange
from jounce_service.demo import Result, front_axle

_WHEELS = ("FL", "FR", "RL", "RR")
_SECTIONS = (("speed [m/s]", "speed"), ("steering-wheel angle [rad]", "steering_wheel_angle"),
             ("lateral acceleration [m/s$^2$]", "com.lin_acc.y"))


def draw(results: list[Result], path: Path) -> None:
    """Write the picture of all runs to ``path``."""
    figure = Figure(figsize=(13.0, 15.0), layout="constrained")
    axes = figure.subplots(6, 1)
    _course(axes[0], results)
    for axis, (label, column) in zip(axes[1:4], _SECTIONS, strict=True):
        for r in results:
            axis.plot(r.pilot["time"], r.pilot[column], label=r.ground)
        axis.set_ylabel(label)
    for axis, label, what in ((axes[4], "wheel load [kN]", "load"), (axes[5], "slip [1]", "slip")):
        _wheels(axis, results, what)
        axis.set_ylabel(label)
    for axis in axes[1:]:
        axis.grid(alpha=0.3)
        axis.set_xlabel("time [s]")
        axis.legend(loc="upper right", ncols=4, fontsize="small")
    figure.savefig(path, dpi=110)


def _course(axis: Axes, results: list[Result]) -> None:
    course = DoubleLaneChange()
    cones = course.cones()
    axis.plot(cones[:, 0], cones[:, 1], "^", color="tab:orange", markersize=5, label="cones (ISO 3888-1)")
    x = np.linspace(0.0, course.lanes[-1].end + 20.0, 400)
    axis.plot(x, [course.path(v)[0] for v in x], "--", color="grey", label="path wanted")
    for r in results:
        axis.plot(*front_axle(r.pilot), label=f"front axle, {r.ground}")
    axis.set(xlim=(0.0, x[-1]), xlabel="x [m]", ylabel="y [m]")
    axis.grid(alpha=0.3)
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, fontsize="small")


def _wheels(axis: Axes, results: list[Result], what: str) -> None:
    """Per wheel: from the soil program where there is one, else from the model's own tires."""
    for r, style in zip(results, ("-", "--"), strict=False):
        for i, wheel in enumerate(_WHEELS):
            if r.soil:
                time, values = r.soil["time"], r.soil[f"{what}_{wheel}"]
            else:
                column = "tire_force.z" if what == "load" else "slip"
                time, values = r.pilot["time"], r.pilot[f"wheel_{wheel}.{column}"]
            scale = 1e-3 if what == "load" else 1.0
            axis.plot(time, scale * values, style, color=f"C{i}", linewidth=0.9, label=f"{wheel} {r.ground}")
