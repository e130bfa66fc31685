"""The seven plots of the comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jounce.formulations.synthesis import ROWS
from jounce_tools.compare.study import SHORT, Found
from jounce_tools.compare.tasks import EMBEDDED

_COLOURS = {EMBEDDED: "tab:green", "ce-newton": "tab:olive", "ta-two-point": "tab:blue", "ta": "tab:purple",
            "fa": "tab:red", "bushing": "tab:brown", "bushing-dense": "tab:gray"}  # fmt: skip
_STYLES = {"nothing": "-", "Baumgarte": "--", "projection": ":"}
_MARKERS = {"nothing": "o", "Baumgarte": "s", "projection": "^"}
_TIME = "time [s]"


def _figure(columns: int, height: float = 3.8) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(11.0, height), layout="constrained")
    axes = [figure.add_subplot(1, columns, k + 1) for k in range(columns)]
    for axis in axes:
        axis.grid(alpha=0.3)
    return figure, axes


def _bars(axis: Axes, names: Sequence[str], values: Sequence[float], text: str, *, ratios: bool = True) -> None:
    """Horizontal bars with their values, and with the ratios to the first."""
    axis.barh(range(len(names)), values, color=[_COLOURS.get(n, "0.5") for n in names])
    axis.set(yticks=range(len(names)), yticklabels=[SHORT.get(n, n) for n in names], title=text)
    axis.set_xlim(0.0, 1.45 * max(values) + 1e-9)
    axis.invert_yaxis()
    for k, value in enumerate(values):
        shown = f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"
        ratio = f"  ({value / values[0]:.1f})" if ratios else ""
        axis.text(value, k, f"  {shown}{ratio}", va="center", fontsize=8)


def cost(costs: Sequence[Mapping[str, Any]], steps: Sequence[tuple[str, float]]) -> Figure:
    """Operations and time of one corner, and time of a step of the whole vehicle."""
    figure, axes = _figure(3)
    names = [str(c["formulation"]) for c in costs]
    _bars(axes[0], names, [c["operations"] for c in costs], "operations, one corner")
    timed = [c for c in costs if c.get("best_ns")]
    if timed:
        _bars(axes[1], [str(c["formulation"]) for c in timed], [c["best_ns"] for c in timed], "ns, one corner")
    if steps:
        _bars(axes[2], [n for n, _ in steps], [1e6 * t for _, t in steps], "us a step, whole vehicle")
    return figure


def closure(found: Found) -> Figure:
    """Largest residual of all rows over time, one line per formulation and correction."""
    figure, (axis,) = _figure(1, 4.6)
    tick = found.choice.middle
    runs = {tuple(parts[:2]): run for parts, run in found.of("released") if float(parts[2]) == tick}
    for (form, correction), run in _ordered(runs):
        axis.semilogy(run["time"], np.maximum(run["closure"], 1e-17), _STYLES[correction], color=_COLOURS[form],
                      label=_label(form, correction), lw=1.4)  # fmt: skip
    axis.set(xlabel=_TIME, ylabel="largest residual of all rows [m]", title=f"tick {1e3 * tick:g} ms")
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _label(form: str, correction: str) -> str:
    return SHORT[form] + ("" if form == EMBEDDED else f", {correction}")


def _ordered(runs: Mapping[tuple[str, ...], Any]) -> list[tuple[tuple[str, ...], Any]]:
    """By formulation, then by correction."""
    forms, corrections = list(_COLOURS), list(_STYLES)
    return sorted(runs.items(), key=lambda item: (forms.index(item[0][0]), corrections.index(item[0][1])))


def precision(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Error of the path's end over the CPU time of the run, one marker per tick."""
    figure, (axis,) = _figure(1, 4.6)
    lines: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        lines.setdefault((row["formulation"], row["correction"]), []).append(row)
    for (form, correction), points in _ordered(lines):
        axis.loglog([p["cpu_s"] for p in points], [max(1e3 * p["error_m"], 1e-9) for p in points],
                    _MARKERS[correction] + _STYLES[correction], color=_COLOURS[form], ms=5,
                    label=_label(form, correction))  # fmt: skip
    axis.set(xlabel="CPU time of the run [s]", ylabel="error of the path's end [mm]")
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def energy(found: Found) -> Figure:
    """Change of the energy with springs only, and how far it is from the embedding's."""
    figure, (left, right) = _figure(2)
    runs = {tuple(parts): run for parts, run in found.of("conservative")}
    judge = runs.get((EMBEDDED, "nothing"))
    for (form, correction), run in _ordered(runs):
        e, label = np.array(run["energy"]), _label(form, correction)
        left.plot(run["time"], e / e[0] - 1.0, _STYLES[correction], color=_COLOURS[form], label=label)
        if judge and form != EMBEDDED:
            apart = np.abs(e - np.array(judge["energy"])) / e[0]
            right.semilogy(run["time"], np.maximum(apart, 1e-17), _STYLES[correction], color=_COLOURS[form],
                           label=label)  # fmt: skip
    left.set(xlabel=_TIME, ylabel="change of energy [-]")
    right.set(xlabel=_TIME, ylabel="from the embedding's energy [-]")
    for axis in (left, right):
        if axis.lines:
            axis.legend(fontsize=8)
    return figure


def limits(rows: Sequence[Mapping[str, Any]], rigid_step: float) -> Figure:
    """Longest stable step and distance from the rigid corner against the stiffness of the bushings."""
    figure, (left, right) = _figure(2)
    stiffness = [r["stiffness"] for r in rows]
    for name in rows[0]["steps"]:
        left.loglog(stiffness, [1e3 * r["steps"][name] for r in rows], "o-", label=f"damping: {name}", ms=4)
    left.axhline(1e3 * rigid_step, color=_COLOURS[EMBEDDED], ls="--", label="rigid joints (CE)")
    left.set(xlabel="stiffness of a bushing [N/m]", ylabel="longest stable RK4 step [ms]")
    left.legend(fontsize=8)
    right.loglog(stiffness, [1e3 * r["distance"] for r in rows], "o-", color=_COLOURS["bushing"], ms=4)
    first = rows[0]
    right.loglog(stiffness, [1e3 * first["distance"] * first["stiffness"] / k for k in stiffness], ":", color="0.4",
                 label="first order in 1/K")  # fmt: skip
    right.set(xlabel="stiffness of a bushing [N/m]", ylabel="wheel centre from the rigid one [mm]")
    right.legend(fontsize=8)
    return figure


def counts(printed: Mapping[str, Any], counted: Mapping[str, Any]) -> Figure:
    """Operations by Song and Kim's rows, as printed and in three conventions."""
    figure, axes = _figure(2, 4.2)
    series = {"printed": printed, **counted}
    for axis, form in zip(axes, ("cartesian", "joint"), strict=True):
        for k, (name, table) in enumerate(series.items()):
            values = [sum(table[form][row][:2]) for row in ROWS]
            axis.bar(np.arange(len(ROWS)) + 0.2 * (k - 1.5), values, 0.2, label=f"{name}: {sum(values)}")
        axis.set(xticks=range(len(ROWS)), title=f"{form} form", ylabel="M.D + A.S")
        axis.set_xticklabels(ROWS, rotation=30, ha="right")
        axis.legend(fontsize=8)
    top = max(axis.get_ylim()[1] for axis in axes)
    for axis in axes:
        axis.set_ylim(0, top)
    return figure


def sizes(found: Found, costs: Sequence[Mapping[str, Any]]) -> Figure:
    """States and rows of the whole vehicle, elements of L of one corner."""
    figure, axes = _figure(3, 3.2)
    order = [f for f in found.choice.driven if f"sizes/{f}" in found.results]
    for axis, key in zip(axes, ("states", "rows"), strict=False):
        values = [found.results[f"sizes/{f}"][key] for f in order]
        _bars(axis, order, values, f"{'mechanical ' * (key == 'states')}{key}, whole vehicle", ratios=False)
    named = [c for c in costs if c["formulation"] != "ce-newton"]
    _bars(axes[2], [str(c["formulation"]) for c in named], [c["entries"] for c in named],
          "elements of L, one corner", ratios=False)  # fmt: skip
    return figure
