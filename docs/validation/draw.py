"""The pictures of docs/validation.md from what `measure` and `judge` give. Axes and signs after ISO 8855."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import linkage
import matplotlib.pyplot as plt
import measure
import numpy as np
import rollover
from coast import WHEELS
from judge import STEPS
from linkage import KINEMATIC_GOALS, Sweep
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from measure import Coast, Record
from numpy.typing import NDArray
from PIL import Image

Array = NDArray[np.float64]
COLOURS = dict(zip(WHEELS, ("tab:blue", "tab:cyan", "tab:red", "tab:orange"), strict=True))
GOAL: dict[str, Any] = {"color": "black", "linestyle": "--", "linewidth": 1.0}
ERRORS = ("wheel-centre position [mm]", "steer [deg]", "inclination [deg]", "shock length [mm]")
PATH = ("x [m]", "y [m]", "heading [deg]")


def save(figure: Figure, path: Path) -> None:
    """As a small PNG: 64 colours are enough for lines."""
    canvas = FigureCanvasAgg(figure)
    figure.set_dpi(100)
    canvas.draw()
    colours = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    colours.quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
    plt.close(figure)


def _grid(ax: Axes, **labels: Any) -> None:
    ax.grid(alpha=0.3)
    ax.set(**labels)


_RIDE = "ride height [mm]\n(- rebound, + jounce)"


def jounce(sweeps: Mapping[str, Sweep]) -> Figure:
    """Toe, camber, track and shock over the wheel travel, and the differences."""
    figure, axes = plt.subplots(2, 4, figsize=(12.5, 6.4), layout="constrained")
    for w, s in sweeps.items():
        k = WHEELS.index(w)
        design = linkage.linkage(k, 0.0, 0.0)[0][2]
        curve = np.array([linkage.linkage(k, t, 0.0)[0] for t in np.linspace(s.theta.min(), s.theta.max(), 60)])
        outwards = np.sign(s.chrono[0, 1])
        # To the left of the vehicle, steering right is toe in, and a spin axis that points up leans the top inwards.
        for ax, place, scale in zip(axes[0], (1, 3, 4, 5), (outwards, -outwards, -outwards, 1.0), strict=True):
            ax.plot(curve[:, 2] - design, scale * curve[:, place], color=COLOURS[w], label=f"{w} jounce")
            ax.plot(s.chrono[::3, 2] - design, scale * s.chrono[::3, place], color=COLOURS[w], label=f"{w} Chrono",
                    **_marker(w))  # fmt: skip
        _differences(axes[1], s.chrono[:, 2] - design, s.errors, w)
    _grid(axes[0, 0], ylabel="wheel centre, outwards [mm]")
    _grid(axes[0, 1], ylabel="toe angle [deg]\n(+ toe in, - toe out)")
    _grid(axes[0, 2], ylabel="camber angle [deg]\n(+ top outwards, - top inwards)")
    _grid(axes[0, 3], ylabel="shock length [mm]")
    for ax in axes[0]:
        _grid(ax, xlabel=_RIDE)
    _goals(axes[1], _RIDE)
    handles = axes[0, 0].get_legend_handles_labels()[0] + axes[1, 0].get_legend_handles_labels()[0][-1:]
    figure.legend(handles=handles, loc="outside lower center", fontsize=8, ncols=9)
    return figure


def steer(sweeps: Mapping[str, Sweep], delayed: Mapping[str, Sweep]) -> Figure:
    """Steer angle, camber and place of the front wheels over the Pitman-arm angle, and the differences."""
    figure, axes = plt.subplots(2, 4, figsize=(12.5, 6.4), layout="constrained")
    for w in WHEELS[:2]:
        s, dropped = sweeps[w], sweeps[w].time >= 2.0
        arm = np.degrees(s.arm[dropped])
        outwards = np.sign(s.chrono[0, 1])  # as above: camber has the sign of its side
        for ax, place, scale in zip(axes[0], (3, 4, 0, 2), (1.0, -outwards, 1.0, 1.0), strict=True):
            ax.plot(arm, scale * s.ours[dropped, place], color=COLOURS[w], label=f"{w} jounce")
            ax.plot(arm[::4], scale * s.chrono[dropped][::4, place], color=COLOURS[w], label=f"{w} Chrono",
                    **_marker(w))  # fmt: skip
        _differences(axes[1], arm, s.errors[dropped], w, f"{w}, equal steering")
        _differences(axes[1], np.degrees(delayed[w].arm[dropped]), delayed[w].errors[dropped], w,
                     f"{w}, steering of one Chrono step earlier", marker="x")  # fmt: skip
    _grid(axes[0, 0], ylabel="steer angle [deg]\n(+ left, - right)")
    _grid(axes[0, 1], ylabel="camber angle [deg]\n(+ top outwards, - top inwards)")
    _grid(axes[0, 2], ylabel="wheel centre, forward [mm]")
    _grid(axes[0, 3], ylabel="wheel centre, up [mm]")
    _goals(axes[1], "Pitman-arm angle [deg]\n(+ left, - right)")
    handles = [h for ax in axes[:, 0] for h in ax.get_legend_handles_labels()[0]]
    figure.legend(handles=handles, loc="outside lower center", fontsize=8, ncols=5)
    return figure


def _marker(wheel: str) -> dict[str, Any]:
    """Right wheels as rings, so that a left one under it shows."""
    if wheel[1] == "R":
        return {"ls": "", "marker": "o", "ms": 6, "mfc": "none"}
    return {"ls": "", "marker": ".", "ms": 5}


def _differences(axes: Array, x: Array, errors: Array, wheel: str, label: str = "", **options: Any) -> None:
    style = {**_marker(wheel), "color": COLOURS[wheel], "label": label or wheel, **options}
    for ax, error in zip(axes, errors.T, strict=True):
        ax.semilogy(x, np.maximum(error, 1e-12), **style)


def _goals(axes: Array, x: str) -> None:
    for ax, goal, name in zip(axes, KINEMATIC_GOALS, ERRORS, strict=True):
        ax.axhline(goal, label="goal", **GOAL)
        _grid(ax, xlabel=x, ylabel="|jounce - Chrono|,\n" + name)


def coast(c: Coast, plain: Record) -> Figure:
    """Path, heading, steering and wheel loads of the free coast."""
    figure, axes = plt.subplots(2, 2, figsize=(10.5, 7.4), layout="constrained")
    t = plain.time
    (path, heading), (turn, load) = axes
    for ax, place in ((path, 1), (heading, 2)):
        against = [p[0][0] if ax is path else time for p, time in ((c.plain, t), (c.with_couple, t), (c.fine, c.time))]
        ax.plot(against[0], c.plain[0][place], color="tab:blue", label="jounce (FMU)")
        ax.plot(against[1], c.with_couple[0][place], "--", color="tab:green",
                label="jounce with the couple of Chrono's idler")  # fmt: skip
        ax.plot(against[2][::2], c.fine[0][place][::2], "k.", ms=4, label="Chrono, step 1e-4 s")
    _grid(path, xlabel="x, forward [m]", ylabel="y, left [m]")
    _grid(heading, xlabel="time [s]", ylabel="heading, left positive [deg]")
    heading.legend(fontsize=8)
    arm = np.degrees(plain("steering.pitman_angle"))
    turn.plot(t, arm, color="tab:purple", label="Pitman arm")
    for w in WHEELS[:2]:
        turn.plot(t, np.degrees(plain(f"wheel_{w}.steer")), color=COLOURS[w], label=f"steer {w}")
    _grid(turn, xlabel="time [s]", ylabel="angle, left positive [deg]")
    turn.legend(fontsize=8)
    for k, w in enumerate(WHEELS):
        load.plot(t, c.plain[1][k] / 1e3, color=COLOURS[w], lw=1, label=f"{w} jounce")
        load.plot(c.time, c.fine[1][k] / 1e3, ".", ms=4, color=COLOURS[w], label=f"{w} Chrono")
    _grid(load, xlabel="time [s]", ylabel="wheel load [kN]", ylim=(2.5, 10.0))
    load.legend(fontsize=7, ncols=4, loc="upper right")
    return figure


def coast_differences(c: Coast) -> Figure:
    """Differences from Chrono at 1e-4 s with the band of Chrono's own difference."""
    figure = plt.figure(figsize=(12.5, 6.6), layout="constrained")
    spec = figure.add_gridspec(2, 12)
    axes = [figure.add_subplot(spec[0, 4 * k : 4 * k + 4]) for k in range(3)]
    axes += [figure.add_subplot(spec[1, 3 * k : 3 * k + 3]) for k in range(4)]
    rows = [np.vstack(pair) for pair in (c.coarse, c.fine, c.at_records(c.plain), c.at_records(c.with_couple))]
    names = [f"difference in {name}" for name in PATH] + [f"difference in load {w} [N]" for w in WHEELS]
    for ax, name, coarse, fine, plain, couple in zip(axes, names, *rows, strict=True):
        band = np.abs(coarse - fine)
        ax.fill_between(c.time, -band, band, color="0.8", label="Chrono 1e-3 s against 1e-4 s, at each time")
        goal = (band[c.late] if "load" in name else band).max()
        ax.axhline(goal, label="its largest (loads: after 1 s), the goal", **GOAL)
        ax.axhline(-goal, **GOAL)
        ax.plot(c.time, plain - fine, color="tab:blue", label="jounce (FMU) against Chrono 1e-4 s")
        ax.plot(c.time, couple - fine, color="tab:green", label="the same with the couple of Chrono's idler")
        _grid(ax, xlabel="time [s]", ylabel=name)
        if "load" in name:
            ax.set_ylim(-90, 90)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", fontsize=8, ncols=4)
    return figure


def standstill(parked: Mapping[str, Record], rest: Record) -> Figure:
    """Creep on the slope, and the equilibrium start."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.4), layout="constrained")
    for name, record in parked.items():
        moved = measure.creep(record)
        left.semilogy(record.time[: len(moved)], np.maximum(moved, 1e-13), lw=1, label=name)
    left.axhline(1e-3, label="goal", **GOAL)
    _grid(left, xlabel="time [s]", ylabel="distance from the first place [m]")
    left.legend(fontsize=8, title="30 % slope, all brakes 4000 N.m", title_fontsize=8)
    right.semilogy(rest.time, np.maximum(rest.speed(), 1e-17), label="speed of the chassis [m/s]")
    travel = np.abs(rest.wheels("travel_rate")).max(1)
    right.semilogy(rest.time, np.maximum(travel, 1e-17), lw=1, label="fastest wheel travel [m/s]")
    right.axhline(1e-6, label="goal", **GOAL)
    _grid(right, xlabel="time [s]", ylabel="speed [m/s]")
    right.legend(fontsize=8, title="start at equilibrium, level ground", title_fontsize=8)
    return figure


def shaken(runs: Mapping[str, Record]) -> Figure:
    """Way of the parked vehicle that is shaken, and its mean over two seconds."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.4), layout="constrained")
    for k, (name, record) in enumerate(runs.items()):
        color = f"C{k}"
        place = record.vector("ref_frame.pos")
        way = np.linalg.norm(place - place[0], axis=1)
        mean = np.array([place[i : i + 200].mean(axis=0) for i in range(0, len(place) - 200, 200)])
        gone = np.linalg.norm(mean[2:] - mean[1], axis=1)
        left.plot(record.time, 1e3 * way, color=color, lw=0.5)
        right.semilogy(2.0 * np.arange(2, len(mean)), np.maximum(1e3 * gone, 1e-7), color=color, lw=1, label=name)
    right.axhline(1.0, label="goal", **GOAL)
    _grid(left, xlabel="time [s]", ylabel="distance from the first place [mm]")
    _grid(right, xlabel="time [s]", ylabel="drift of the mean over 2 s [mm]")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", fontsize=8, ncols=5)
    return figure


def rollovers(runs: Mapping[str, Record]) -> Figure:
    """Tilt, load of the body, and energy of vehicles that roll over."""
    figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.4), layout="constrained")
    for k, (name, record) in enumerate(runs.items()):
        body, wheels = rollover.loads(record)
        energy = rollover.energy(record, rollover.WAYS[name].vehicle)
        late = record.time > record.time[-1] - 1.0
        weight = float(np.mean(body[late] + wheels[late]))
        for ax, values in zip(axes, (rollover.tilt(record), body / weight, energy / energy[0]), strict=True):
            ax.plot(record.time, values, color=f"C{k}", lw=1, label=name)
    _grid(axes[0], xlabel="time [s]", ylabel="angle of the vehicle's z axis to the vertical [deg]")
    axes[0].axhline(80.0, label="rolled_over", **GOAL)
    axes[1].set_yscale("symlog", linthresh=1.0)
    _grid(axes[1], xlabel="time [s]", ylabel="force of the ground on the body, over the weight [1]")
    _grid(axes[2], xlabel="time [s]", ylabel="energy, tires and rims included, over that at first [1]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", fontsize=8, ncols=5)
    return figure


def stops(runs: Mapping[float, Record], delivered: Mapping[float, Array]) -> Figure:
    """Speed, spin and brake torque of the stops from 20 km/h."""
    figure, axes = plt.subplots(3, len(runs), figsize=(11.0, 8.6), layout="constrained", squeeze=False)
    for column, (torque, record) in zip(axes.T, runs.items(), strict=True):
        speed, spin, brake = column
        speed.semilogy(record.time, np.maximum(record.speed(), 1e-16), color="tab:purple", label="chassis speed")
        speed.axhline(1e-4, label="goal of the 10 s after the stop", **GOAL)
        _grid(speed, xlabel="time [s]", ylabel="speed [m/s]", title=f"from 20 km/h, {torque:.0f} N.m per wheel")
        speed.legend(fontsize=8)
        start = record.time <= 3.0
        for k, w in enumerate(WHEELS):
            style = {"color": COLOURS[w], "lw": 1.2, "ls": "-" if k % 2 == 0 else "--", "label": w}
            spin.plot(record.time[start], record.wheels("omega")[start, k], **style)
            brake.plot(record.time[start], delivered[torque][start, k], **style)
        _grid(spin, xlabel="time [s]", ylabel="wheel spin,\nforward positive [rad/s]")
        _grid(brake, xlabel="time [s]", ylabel="brake torque on the wheel,\nforward positive [N.m]")
        spin.legend(fontsize=8, ncols=4)
    return figure


def balances(errors: Mapping[str, Array]) -> Figure:
    """Errors of the balances over the step."""
    figure, ax = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
    steps = 1e3 * np.array(STEPS)
    for (name, error), marker in zip(errors.items(), "osd^", strict=True):
        ax.loglog(steps, error, marker=marker, label=name)
    ax.loglog(steps, 1e-11 * steps**4, color="black", ls=":", label="fourth order")
    ax.set_xticks(steps, [f"{s:g}" for s in steps])
    ax.minorticks_off()
    _grid(ax, xlabel="step [ms]", ylabel="relative error")
    ax.legend(fontsize=8)
    return figure
