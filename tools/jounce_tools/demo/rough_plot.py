"""The picture of the second act: the road, pedals and speed, engine and gears, wheel loads along the track."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jounce.axles import WHEELS
from jounce.terrain.files import read
from jounce_tools.demo.rough import ROAD, Drive
from jounce_tools.demo.run import Table, front_axle

_COLOURS = {"FL": "tab:blue", "FR": "tab:cyan", "RL": "tab:red", "RR": "tab:pink"}
_SLIPPERY = 0.5
"""Friction below which a part of the road is marked."""


def draw(drive: Drive, path: Path) -> None:
    """Write the picture to ``path``."""
    log, x = drive.log, front_axle(drive.log)[0]
    figure = Figure(figsize=(15.0, 12.0), layout="constrained")
    figure.suptitle(drive.title, fontsize=11)
    axes = figure.subplots(4, 1, sharex=True, height_ratios=(1.4, 1.2, 1.0, 1.2))
    _road(axes[0], log)
    axes[1].plot(x, 3.6 * log["wanted"], "--", color="grey", label="speed wanted")
    axes[1].plot(x, 3.6 * log["speed"], color="tab:brown", label="speed")
    axes[1].set(ylabel="speed [km/h]", ylim=(0.0, 1.5 * 3.6 * log["speed"].max()))
    pedals = axes[1].twinx()
    pedals.fill_between(x, log["throttle"], color="tab:green", alpha=0.35, linewidth=0.0, label="throttle")
    pedals.fill_between(x, log["brake_pedal"], color="tab:red", alpha=0.5, linewidth=0.0, label="brake pedal")
    pedals.set(ylabel="pedals [-]", ylim=(0.0, 3.0))
    pedals.legend(loc="upper right", ncols=2, fontsize="small")
    axes[2].plot(x, log["engine.speed"] * 30 / np.pi, color="tab:purple", label="engine")
    axes[2].plot(x, log["gearbox.turbine_speed"] * 30 / np.pi, color="tab:olive", linewidth=0.9, label="turbine")
    axes[2].set(ylabel="[rpm]", ylim=(0.0, 3800.0))
    gear = axes[2].twinx()
    gear.step(x, log["gearbox.gear"], where="post", color="black", linewidth=1.0, label="gear")
    gear.set(ylabel="gear", ylim=(-0.5, 4.5))
    gear.legend(loc="upper right", fontsize="small")
    for wheel, colour in _COLOURS.items():
        place = log[f"wheel_{wheel}.pos.x"]
        axes[3].plot(place, 1e-3 * log[f"wheel_{wheel}.tire_force.z"], color=colour, linewidth=0.8, label=wheel)
    axes[3].set(ylabel="wheel load [kN]", xlabel="x [m]")
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.legend(loc="upper left", ncols=4, fontsize="small")
        axis.set_xlim(0.0, x[-1] + 5.0)
    figure.savefig(path, dpi=110)


def _road(axis: Axes, log: Table) -> None:
    road = read(ROAD)
    u = road.origin[0] + road.du * np.arange(len(road.heights))
    for column, side, colour in ((-1, "left", "tab:blue"), (0, "right", "tab:cyan")):
        axis.plot(u, road.heights[:, column], color=colour, linewidth=1.2, label=f"ground for a wheel, {side}")
    radius = log["wheel_FL.pos.z"][0] - np.interp(log["wheel_FL.pos.x"][0], u, road.heights[:, -1])
    for wheel in WHEELS:
        axis.plot(log[f"wheel_{wheel}.pos.x"], log[f"wheel_{wheel}.pos.z"] - radius, color=_COLOURS[wheel],
                  linewidth=0.6, linestyle=":")  # fmt: skip
    for area in road.areas:
        if area.mu < _SLIPPERY:
            axis.axvspan(area.x, area.x + area.length, color="tab:blue", alpha=0.12,
                         label=f"friction {area.mu:g} on the left")  # fmt: skip
    axis.set(ylabel="height [m]")
    axis.set_title("dotted: wheel centres, lowered by their height at rest", fontsize=9)
