"""The report of a manoeuvre: one HTML page that opens offline and prints, with drawings as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from jounce_tools.manoeuvres.bench import Log
from jounce_tools.manoeuvres.files import Result, plots_of
from jounce_tools.manoeuvres.found import DEGREE, Array, Plot, lateral
from jounce_tools.manoeuvres.manoeuvre import Manoeuvre
from jounce_tools.manoeuvres.measured import Judged
from jounce_tools.page import Page

_COLOURS = ("#1f5fa8", "#c4461f", "#2b8a3e", "#7b4fa3", "#a07a12", "#1c8c8c", "#b03a6f", "#666666")
_DASHES = ("-", "--", ":", "-.")


def write(manoeuvre: Manoeuvre, results: Sequence[Result], logs: Sequence[Log], path: Path,
          beside: tuple[Sequence[Judged], Sequence[Plot]] | None = None) -> None:  # fmt: skip
    """Writes the page for one vehicle, or for several beside each other; ``logs`` are their main runs.

    ``beside`` is what was measured.
    """
    first = results[0]
    names = _names(results)
    page = Page(f"{manoeuvre.title}: {' and '.join(names)}")
    page.table(["", *names], _block(results))
    for found, name in zip(results, names, strict=True):
        page.text(f"{name}: {verdict(found)}")
    page.heading("Metrics")
    if len(results) == 1:
        page.table(["metric", "value", "unit", "limit", "definition", "result"], [
            [n, _number(m["value"]), m["unit"], m["limits"].replace("= ", "=\N{NO-BREAK SPACE}"), m["text"],
             _passed(m["passed"])]
            for n, m in first.metrics.items()
        ], [m["passed"] for m in first.metrics.values()])  # fmt: skip
    else:
        _compared(page, results, names)
    page.heading("Plots")
    sets = [{p.title: p for p in plots_of(r)} for r in results]
    page.drawings([(drawn([s.get(title) for s in sets], names), title) for title in sets[0]])
    if logs:
        page.heading("Time histories of the main run")
        page.text("; ".join(f"{n}: {g.title}, {g.end}" for n, g in zip(names, logs, strict=False)) + ".")
        page.drawings(histories(logs, names))
    if beside:
        page.heading("Measured and simulated")
        page.text("The boundaries are a constant distance from the simulated line, the largest of it times --band. "
                  "ISO 19364 and ISO 19365 compare so; their tolerances are not public and were not used.")  # fmt: skip
        page.table(["signal", "half of the band", "largest difference", "rms difference", "unit", "inside"], [
            [j.signal, _number(j.band), _number(j.largest), _number(j.rms), j.unit, f"{100.0 * j.inside:.1f} %"]
            for j in beside[0]])  # fmt: skip
        page.drawings([(drawn([plot], names), plot.title) for plot in beside[1]])
    page.heading("What was done")
    page.text(manoeuvre.text).text(f"After: {manoeuvre.source}.")
    if manoeuvre.unchecked:
        page.text(f"Not checked: {manoeuvre.unchecked}")
    for found, name in zip(results, names, strict=True):
        for note in found.notes:
            page.text(f"{name}: {note}.")
    page.heading("Settings")
    page.table(["setting", "value", "unit", "meaning"], [
        [n, _number(v), manoeuvre.settings[n].unit, manoeuvre.settings[n].text] for n, v in first.settings.items()
        if n in manoeuvre.settings])  # fmt: skip
    page.heading("Vehicle as the driver knows it")
    page.text("Measured on the vehicle standing on level ground.")
    page.table(["", *names, "unit"], _facts(results))
    page.heading("Runs")
    page.table(["vehicle", "run", "simulated [s]", "end"], [
        [name, r["title"], _number(r["time"]), r["end"]] for found, name in zip(results, names, strict=True)
        for r in found.runs])  # fmt: skip
    page.write(path)


def verdict(found: Result) -> str:
    """Whether the limits are met, in words."""
    limited = [m for m in found.metrics.values() if m["passed"] is not None]
    if not limited:
        return "no limits were set."
    broken = [n for n, m in found.metrics.items() if m["passed"] is False]
    met = "the limit is met." if len(limited) == 1 else f"all {len(limited)} limits are met."
    return met if not broken else f"limits broken: {', '.join(broken)}."


def _names(results: Sequence[Result]) -> list[str]:
    names = [r.vehicle for r in results]
    return [f"{n} ({r.date})" if names.count(n) > 1 else n for n, r in zip(names, results, strict=True)]


def _block(results: Sequence[Result]) -> list[list[str]]:
    rows = [
        ["vehicle", *(r.vehicle for r in results)],
        ["data (hash of all parameters)", *(r.data for r in results)],
        ["parameters set", *(", ".join(f"{k} = {v}" for k, v in r.parameters.items()) or "none" for r in results)],
        ["build", *(r.build for r in results)],
        ["run", *(r.place for r in results)],
        ["date (UTC)", *(r.date for r in results)],
        ["program", *(f"jounce {r.version}" for r in results)],
        ["to repeat it", *(r.command for r in results)],
    ]
    return rows


def _compared(page: Page, results: Sequence[Result], names: Sequence[str]) -> None:
    rows = []
    for n, m in results[0].metrics.items():
        values = [r.metrics.get(n, {}).get("value") for r in results]
        first, last = values[0], values[-1]
        change = (100.0 * (last / first - 1.0) if isinstance(first, float) and isinstance(last, float) and first
                  else None)  # fmt: skip
        rows.append([n, *map(_number, values), m["unit"], "-" if change is None else f"{change:+.1f} %", m["text"]])
    page.table(["metric", *names, "unit", "last against first", "definition"], rows)


def _facts(results: Sequence[Result]) -> list[list[object]]:
    rows: list[list[object]] = []
    for key, unit, what in (
        ("mass", "kg", "mass"), ("wheelbase", "m", "wheelbase"), ("track", "m", "track of the first axle"),
        ("ahead", "m", "centre of gravity before the rear"), ("radius", "m", "height of the wheel centres"),
        ("width", "m", "width"), ("ratio", "1", "steering ratio"), ("gravity", "m/s2", "gravity"),
    ):  # fmt: skip
        rows.append([what, *(_number(r.car[key]) for r in results), unit])
    rows.append(["driven wheels", *(" ".join(r.car["driven"]) or "none" for r in results), ""])
    return rows


def _number(value: object) -> object:
    return "-" if value is None else float(f"{value:.5g}") if isinstance(value, float) else value


def _passed(value: bool | None) -> str:
    return "" if value is None else "pass" if value else "FAIL"


def drawn(plots: Sequence[Plot | None], names: Sequence[str]) -> Figure:
    """One plot; of several vehicles over each other, each with its own dashes and colours."""
    given = [(k, p) for k, p in enumerate(plots) if p is not None]
    first = given[0][1]
    course = first.points is not None
    figure = Figure(figsize=(10.0, 2.6) if course else (5.2, 3.2), layout="constrained")
    axis = figure.add_subplot()
    several = len(given) > 1
    for k, plot in given:
        for i, (label, x, y) in enumerate(plot.lines):
            colour = k if several and len(plot.lines) == 1 else i
            axis.plot(
                x,
                y,
                _DASHES[k % 4],
                marker="o" if plot.dots else None,
                markersize=4,
                linewidth=1.3,
                color=_COLOURS[colour % len(_COLOURS)],
                label=f"{names[k]}: {label}" if several else label,
            )
    if first.points is not None:
        axis.plot(first.points[:, 0], first.points[:, 1], "^", markersize=4, color="#d9822b", label="cones")
    if first.log:
        axis.set_xscale("log")
        ticks = [t for t in (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 10.0) if axis.get_xlim()[0] <= t <= axis.get_xlim()[1]]
        axis.set_xticks(ticks, [f"{t:g}" for t in ticks])
    if first.equal:
        axis.set_aspect("equal", "datalim")
    axis.set(xlabel=first.x, ylabel=first.y)
    axis.grid(alpha=0.3)
    count = sum(len(p.lines) for _, p in given) + course
    if count > 1:
        axis.legend(fontsize=7, ncols=2 if count > 6 else 1, loc="best")
    return figure


def histories(logs: Sequence[Log], names: Sequence[str]) -> list[tuple[Figure, str]]:
    """Speed, steering, yaw rate, lateral acceleration, roll and wheel loads over time."""
    each = [_lines(log) for log in logs]
    shown = [
        ("Speed", "[km/h]", 0, 1),
        ("Steering-wheel angle", "[deg]", 1, 2),
        ("Yaw rate", "[deg/s]", 2, 3),
        ("Lateral acceleration", "[m/s2]", 3, 4),
        ("Roll angle", "[deg]", 4, 5),
        ("Wheel loads", "[kN]", 5, None),
    ]
    return [(drawn([Plot(title, "time [s]", unit, lines[low:high]) for lines in each], names), title)
            for title, unit, low, high in shown]  # fmt: skip


def _lines(log: Log) -> list[tuple[str, Array, Array]]:
    keep = np.unique(np.linspace(0, len(log.time) - 1, min(len(log.time), 600)).round().astype(int))
    log = Log(log.title, log.inputs, log.outputs, log.time[keep], log.u[keep], log.y[keep], log.end, log.whole)
    loads = [n for n in log.outputs if n.endswith(".tire_force.z")]
    lines = [("speed", 3.6 * log["speed"]), ("steering", log["steering_wheel_angle"] / DEGREE),
             ("yaw rate", log["ref_frame.ang_vel.z"] / DEGREE), ("acceleration", lateral(log)),
             ("roll", log["ref_frame.roll"] / DEGREE),
             *((n.split(".")[0].removeprefix("wheel_"), log[n] / 1e3) for n in loads)]  # fmt: skip
    return [(label, log.time, values) for label, values in lines]


def printed(found: Result) -> str:
    """The metrics as text for the terminal."""
    rows = [(n, "-" if m["value"] is None else f"{m['value']:.5g}", m["unit"], m["limits"], _passed(m["passed"]))
            for n, m in found.metrics.items()]  # fmt: skip
    widths = [max(len(r[i]) for r in rows) for i in range(5)]
    lines = [f"{found.title}, {found.vehicle}"]
    for r in rows:
        lines.append(
            f"  {r[0]:<{widths[0]}}  {r[1]:>{widths[1]}}  {r[2]:<{widths[2]}}  {r[3]:<{widths[3]}}  {r[4]}".rstrip()
        )
    return "\n".join(lines)
