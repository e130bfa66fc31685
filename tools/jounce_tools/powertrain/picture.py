"""The picture of a powertrain's maps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jounce_tools.powertrain import motors as electric
from jounce_tools.powertrain.maps import Maps, Standing, Traction

_SLOPES = (0.1, 0.2, 0.3, 0.45, 0.6)
_RPM = 30 / np.pi


def draw(name: str, maps: Maps, standing: Standing, gears: Sequence[Traction], throttle: float) -> Figure:
    """Engine, converter, and tractive force over speed with what slopes ask for."""
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    engine, converter, traction = figure.subplots(1, 3, width_ratios=(1, 1, 1.5))
    figure.suptitle(f"{name}, throttle {throttle:g}")
    _engine(engine, maps, throttle)
    at, ratio, factor = maps.converter
    converter.plot(at, ratio, ".-", color="C0")
    converter.set(title="converter", xlabel="turbine over engine speed", ylabel="torque ratio")
    twin = converter.twinx()
    twin.plot(at, factor, ".-", color="C3")
    twin.set_ylabel("K in rad/s/√(N m)", color="C3")
    _traction(traction, standing, gears)
    for axes in (engine, converter, traction):
        axes.grid(alpha=0.3)
    return figure


def _engine(axes: Axes, maps: Maps, throttle: float) -> None:
    speed = np.linspace(0.0, max(maps.full_load[0][-1], maps.closed_throttle[0][-1]), 200)
    full = np.interp(speed, *maps.full_load)
    axes.plot(speed * _RPM, full, label="full load")
    axes.plot(speed * _RPM, np.interp(speed, *maps.closed_throttle), label="closed throttle")
    if throttle < 1:
        axes.plot(speed * _RPM, maps.engine_torque(speed, throttle), ":", label=f"throttle {throttle:g}")
    axes.plot(speed * _RPM, speed * full / 1e3, "--", color="C0", label="power at full load in kW")
    axes.set(title="engine", xlabel="speed in rpm", ylabel="torque in N m")
    axes.legend(fontsize="small")


def _traction(axes: Axes, standing: Standing, gears: Sequence[Traction]) -> None:
    for g in gears:
        axes.plot(g.speed * 3.6, g.force / 1e3, label=f"gear {g.gear}")
    _slopes(axes, standing, 3.6 * max(g.speed[-1] for g in gears))
    axes.set(title="tractive force, and what slopes ask for", xlabel="speed in km/h", ylabel="force in kN",
             ylim=(min(0.0, min(float(g.force.min()) for g in gears) / 1e3), None))  # fmt: skip
    axes.legend(fontsize="small")


def _slopes(axes: Axes, standing: Standing, fastest: float) -> None:
    """What slopes ask for, up to that speed [km/h]."""
    for slope in _SLOPES:
        asked = standing.weight * slope / np.hypot(1.0, slope) / 1e3
        axes.axhline(asked, color="0.6", linewidth=0.8)
        axes.annotate(f"{slope:.0%}", (fastest, asked), fontsize="x-small", color="0.4", ha="right", va="bottom")


def draw_motors(name: str, motors: electric.Motors, standing: Standing, found: electric.Traction,
                throttle: float) -> Figure:  # fmt: skip
    """Motors, and tractive and braking force over speed with what slopes ask for."""
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    of_motors, traction = figure.subplots(1, 2, width_ratios=(1, 1.4))
    figure.suptitle(f"{name}, throttle {throttle:g}")
    for axle, style, width in zip(motors.axles, ("-", "--"), (1.2, 2.5), strict=False):
        w = found.speed / standing.radius * motors.ratio(axle)
        torque = motors.torque(axle, w, throttle)
        each = f"{axle}{', each of two' if motors.count(axle) > 1 else ''}"
        of_motors.plot(w * _RPM, torque, style, color="C0", linewidth=width, label=f"torque, {each}")
        of_motors.plot(w * _RPM, torque * w / 1e3, style, color="C3", linewidth=width, label=f"power in kW, {each}")
    of_motors.set(title="motors", xlabel="speed in rpm", ylabel="torque in N m")
    for force, label in ((found.force, "driving"), (found.released, "accelerator released"),
                         (found.braked, "brake pedal too, motors alone")):  # fmt: skip
        traction.plot(found.speed * 3.6, force / 1e3, label=label)
    _slopes(traction, standing, found.speed[-1] * 3.6)
    traction.set(title="tractive force, and what slopes ask for", xlabel="speed in km/h", ylabel="force in kN")
    for axes in (of_motors, traction):
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    return figure
