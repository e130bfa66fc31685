"""What `jounce vehicle kc` writes: a CSV file per sweep, a picture per axle, and one page of HTML that has it all."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jounce.data import Vehicle
from jounce_tools.page import Page
from jounce_tools.vehicle.sweeps import ALL, Sweep

_COLOURS = ("tab:blue", "tab:red")
_LINES = ("-", "--", ":")
#: What is drawn over the travel, and over the steering; in the units of the plots.
_PARALLEL = ("toe", "camber", "track_rate", "wheelbase_rate", "caster", "kingpin_inclination", "scrub_radius", "trail",
             "spring_ratio", "shock_ratio", "wheel_force", "wheel_rate", "roll_centre", "brake_angle",
             "drive_angle")  # fmt: skip
_OPPOSITE = ("steer", "inclination", "roll_steer", "spring_roll_ratio")
_STEER = ("steer", "inclination", "ackermann", "caster", "scrub_radius", "trail")
#: Unit of the data -> (unit of the plot, factor).
_SHOWN = {"m": ("mm", 1e3), "N": ("kN", 1e-3), "N/m": ("N/mm", 1e-3), "rad": ("deg", 180.0 / np.pi)}
#: In the order of the table.
_TABLE = ("toe", "camber", "steer_rate", "inclination_rate", "track_rate", "wheelbase_rate", "centre_rate", "caster",
          "kingpin_inclination", "scrub_radius", "trail", "spring_ratio", "spring_roll_ratio", "shock_ratio",
          "wheel_rate", "roll_centre", "roll_steer", "brake_angle", "drive_angle")  # fmt: skip


def write(vehicle: Vehicle, found: Sequence[Sweep], folder: Path) -> list[Path]:
    """Writes all files into an existing folder; their paths."""
    paths = []
    for sweep in found:
        paths.append(folder / f"{sweep.axle}_{sweep.kind}.csv")
        _csv(sweep, paths[-1])
    page = Page(f"Kinematics of {vehicle.name}").text(
        "Chassis axes: x forward, y left, z up. Ride height is the rise of the wheel centre against the chassis from "
        "the design position: positive in jounce, negative in rebound. Angles and their signs follow ISO 8855; rates "
        "are per metre that the wheel centre rises, with wheels locked to their carriers."
    ).text(
        "The joints are rigid: longitudinal and lateral forces at the wheels change neither toe nor camber, so all "
        "compliances are zero."
    )  # fmt: skip
    for axle in vehicle.axles:
        own = [s for s in found if s.axle == axle.name]
        if not own:
            continue
        steered = {"none": "not steered", "rack": "steered by a rack", "pitman": "steered by a Pitman arm"}
        page.heading(f"Axle {axle.name}: {axle.kind.replace('_', ' ')}, {steered[axle.steered]}")
        _design(page, own[0])
        _figures(page, own)
        paths.append(folder / f"{axle.name}.png")
        _overview(vehicle, own).savefig(paths[-1], dpi=100)
    paths.append(folder / "kc.html")
    page.write(paths[-1])
    return paths


def _csv(sweep: Sweep, path: Path) -> None:
    """A row per point; a column per wheel, with its unit in the head."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        names = list(sweep.columns)
        writer.writerow([f"{n}_{w} [{ALL[n].unit}]" for n in names for w in sweep.wheels])
        for k in range(len(sweep.columns["travel"])):
            values = [sweep.columns[n][k, side] for n in names for side in range(2)]
            writer.writerow(["" if np.isnan(v) else f"{v:.9g}" for v in values])


def _design(page: Page, sweep: Sweep) -> None:
    """The numbers of the design position, with a sentence for each."""
    k = int(np.argmin(np.abs(sweep.columns["travel"][:, 0])))
    rows = []
    for name in _TABLE:
        values = sweep.columns[name][k]
        if not np.isnan(values).all():
            left, right = (0.0 if abs(v) < 1e-9 else float(f"{v:.5g}") for v in values)
            rows.append((ALL[name].label, left, right, ALL[name].unit, ALL[name].meaning))
    page.text("In the design position:")
    page.table(("", *sweep.wheels, "unit", "what it is"), rows)


def _figures(page: Page, own: list[Sweep]) -> None:
    parallel, opposite, *steers = own
    for name in _PARALLEL:
        _figure(page, name, [parallel], "travel", "parallel travel")
    for name in _OPPOSITE:
        _figure(page, name, [opposite], "travel", "opposite travel: the right wheel falls as the left one rises")
    for name in _STEER if steers else ():
        _figure(page, name, steers, "steering", "steering, at " + " and ".join(map(_height, steers)))


def _figure(page: Page, name: str, sweeps: Sequence[Sweep], over: str, what: str) -> None:
    if all(np.isnan(s.columns[name]).all() for s in sweeps):
        return
    figure = Figure(figsize=(6.0, 3.3))
    _plot(figure.add_axes((0.16, 0.16, 0.8, 0.79)), name, sweeps, over)
    page.figure(figure, f"{ALL[name].label}, {what}. {ALL[name].meaning}")


def _overview(vehicle: Vehicle, own: list[Sweep]) -> Figure:
    parallel, opposite, *steers = own
    plots: list[tuple[str, Sequence[Sweep], str]] = [(n, [parallel], "travel") for n in _PARALLEL]
    plots += [(n, [opposite], "travel") for n in _OPPOSITE] + [(n, steers, "steering") for n in _STEER if steers]
    plots = [p for p in plots if not all(np.isnan(s.columns[p[0]]).all() for s in p[1])]
    rows = -(-len(plots) // 4)
    figure = Figure(figsize=(17.0, 3.2 * rows))
    figure.subplots_adjust(left=0.06, right=0.98, top=1 - 0.25 / rows, bottom=0.2 / rows, wspace=0.33, hspace=0.42)
    figure.suptitle(f"{vehicle.name}, axle {own[0].axle}")
    for k, (name, sweeps, over) in enumerate(plots):
        axes = figure.add_subplot(rows, 4, k + 1)
        _plot(axes, name, sweeps, over)
        axes.set_title({"travel": "parallel travel", "steering": "steering"}[over] if sweeps != [opposite]
                       else "opposite travel", fontsize=9)  # fmt: skip
    return figure


def _plot(axes: Axes, name: str, sweeps: Iterable[Sweep], over: str) -> None:
    unit, scale = _SHOWN.get(ALL[name].unit, (ALL[name].unit, 1.0))
    x_unit, x_scale = _SHOWN[ALL[over].unit]
    for sweep, line in zip(sweeps, _LINES, strict=False):
        once = name in ("roll_centre", "ackermann")
        for side in range(1 if once else 2):
            # over the travel of the left wheel in opposite travel, so that roll to both sides shows
            x = sweep.columns[over][:, 0]
            label = f"{'' if once else sweep.wheels[side]} {_height(sweep) if over == 'steering' else ''}".strip()
            y = np.where(np.abs(sweep.columns[name][:, side]) < 1e-12, 0.0, sweep.columns[name][:, side])
            axes.plot(x_scale * x, scale * y, line, color=_COLOURS[side], label=label or None,
                      linewidth=2.2 if side == 0 else 1.2)  # fmt: skip
    ends = ("rebound", "jounce") if over == "travel" else ("right", "left")
    axes.set_xlabel(f"{ALL[over].label} [{x_unit}]  (- {ends[0]}, + {ends[1]})")
    axes.set_ylabel(f"{ALL[name].label}\n[{unit}]")
    axes.grid(alpha=0.3)
    axes.axvline(0.0, color="grey", linewidth=0.8)
    low, high = axes.get_ylim()
    if high - low < 1e-6 * max(abs(low), abs(high), 1e-3):
        middle = (low + high) / 2
        axes.set_ylim(middle - max(abs(middle) * 0.1, 1e-3), middle + max(abs(middle) * 0.1, 1e-3))
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="x-small", frameon=False)


def _height(sweep: Sweep) -> str:
    mm = 1e3 * sweep.columns["travel"][0, 0]
    return f"{mm:+.0f} mm" if mm else "design height"
