"""The paper's figures 5 to 14 and those that it lacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from jounce.models.halfcar.signals import TRACTION
from jounce_tools.uk.runs import BEFORE_GRIP, Case

Array = NDArray[np.float64]

_COLOURS = dict(zip(TRACTION, ("tab:red", "tab:orange", "tab:blue", "tab:green"), strict=True))
_TIME = "time [s]"


def _figure(rows: int, columns: int, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(11.0, height * rows), layout="constrained")
    axes = [figure.add_subplot(rows, columns, k + 1) for k in range(rows * columns)]
    for axis in axes:
        axis.grid(alpha=0.3)
    return figure, axes


def profiles(c: Case) -> Figure:
    """Torques and friction (Fig. 5)."""
    figure, (left, right) = _figure(1, 2)
    for axle, style in (("rear", "-"), ("front", "--")):
        left.plot(c.run.time, c.run[f"{axle}.torque"], style, label=f"{axle} wheel")
    left.set(xlabel=_TIME, ylabel="motor and brake torque [N.m]", title=f"T_max = {c.torque:g} N.m")
    left.legend()
    right.plot(c.run.time, c.run["rear.mu"], color="tab:purple")
    right.set(xlabel=_TIME, ylabel="friction [-]", ylim=(0.0, 1.0))
    return figure


def _grip(axis: Axes, cases: Sequence[Case]) -> None:
    if any(c.ended for c in cases):
        axis.axvspan(BEFORE_GRIP, cases[0].run.time[-1], color="0.92", zorder=0)


def speeds(cases: Sequence[Case]) -> Figure:
    """Rear slip and car speed of the laws at one torque (Figs. 6, 7, 9)."""
    figure, (left, right) = _figure(1, 2)
    for c in cases:
        left.plot(c.run.time, c.run["rear.slip"], color=_COLOURS[c.law], label=c.law)
        right.plot(c.run.time, c.run["speed"], color=_COLOURS[c.law], label=c.law)
    left.set(xlabel=_TIME, ylabel="slip of the rear wheel [rad/s]", title=f"T_max = {cases[0].torque:g} N.m")
    left.set_yscale("symlog", linthresh=1.0)
    right.set(xlabel=_TIME, ylabel="speed of the car [m/s]")
    for axis in (left, right):
        _grip(axis, cases)
    right.legend()
    return figure


def reactions(c: Case) -> Figure:
    """Force of the ground on the car along x, its parts, and the band of friction (Figs. 8 to 12)."""
    figure, axes = _figure(1, 2)
    for axis, axle in zip(axes, ("rear", "front"), strict=True):
        time, limit = c.run.time, c.run[f"{axle}.limit"]
        shown = time <= (BEFORE_GRIP if c.ended else time[-1])
        axis.fill_between(time[shown], -limit[shown], limit[shown], color="0.9", label="within mu N")
        for name, label, colour in (("traction", "whole", "black"), ("traction.ideal", "ideal (8a)", "tab:red"),
                                    ("traction.non_ideal", "non-ideal (8b)", "tab:blue")):  # fmt: skip
            axis.plot(time[shown], c.run[f"{axle}.{name}"][shown], color=colour, lw=1.2, label=label)
        axis.set(xlabel=_TIME, ylabel=f"traction, {axle} wheel [N]", title=c.title)
    axes[0].legend(fontsize=8)
    return figure


def gammas(cases: Sequence[Case]) -> Figure:
    """Slip of the rear wheel by the stabilisation (Figs. 13, 14)."""
    figure, axes = _figure(1, 3)
    for axis, law in zip(axes, TRACTION[:3], strict=True):
        for c in (c for c in cases if c.law == law):
            axis.plot(c.run.time, c.run["rear.slip"], label=f"gamma = {c.gamma:g}/s", lw=1.2)
        axis.set_yscale("symlog", linthresh=0.1)
        axis.set(xlabel=_TIME, ylabel="slip of the rear wheel [rad/s]", title=law, xlim=(0.0, BEFORE_GRIP))
    axes[0].legend(fontsize=8)
    return figure


def force_by_weight(s: Array, relaxed: Array, continuous: Array) -> Figure:
    """What is left of the traction as the weight of its row goes to 0."""
    figure, (left, right) = _figure(1, 2)
    for axis in (left, right):
        axis.plot(s, relaxed, color=_COLOURS["RELAXED"], label="RELAXED")
        axis.plot(s, continuous, color=_COLOURS["CONTINUOUS"], label="CONTINUOUS")
        axis.plot([0.0 if axis is left else s.min()], [0.0], "o", color=_COLOURS["RELAXED"], label="RELAXED at s = 0")
        axis.set(xlabel="weight s [-]", ylabel="traction of the rear wheel [N]")
    right.set_xscale("log")
    left.legend()
    return figure


def load_map(loads: Array, came: Array, fixed: Array) -> Figure:
    """The wheel load that comes out, against the one that goes in."""
    figure, (axis,) = _figure(1, 1, 4.0)
    axis.loglog(loads, np.maximum(came, 1.0), label="load that comes out")
    axis.loglog(loads, loads, "--", color="0.5", label="the same")
    axis.plot(fixed, fixed, "o", color="tab:red", label="solutions")
    axis.set(xlabel="load that weight and friction go by [N]", ylabel="load that comes out [N]")
    axis.legend()
    return figure
