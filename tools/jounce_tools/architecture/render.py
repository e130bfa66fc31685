"""``jounce render``: a run of a truck as an animation on one page, or its state at a time as a picture.

Every component is drawn as the box that has its mass, centre and inertia, springs are zigzags, rods and struts lines,
joints dots; wheels are circles, the road is where they touched it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from html import escape
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from jounce.architecture import composite
from jounce.architecture.load import truck_names
from jounce.architecture.target import GROUND
from jounce.models.impulse.signals import Truck, truck
from jounce.values import number
from jounce_tools.architecture.figure import EDGES, Box, Line, boxes, lines, slid
from jounce_tools.errors import UsageError, check_output

Array = NDArray[np.float64]

#: Frames per second of the animation.
_RATE = 25
#: Half the width of a drawn spring [m].
_COIL = 0.05

def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.add_argument("architecture", metavar="TRUCK",
                        help=f"TOML file, its folder, or a built-in one: {', '.join(truck_names())}")  # fmt: skip
    parser.add_argument("run", type=Path, metavar="CSV", help="run of that truck, by `jounce simulate`")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE",
                        help="page .html with the animation, or picture .png with --at")  # fmt: skip
    parser.add_argument("--at", type=number, metavar="SECONDS", help="time of the picture")


def run(arguments: argparse.Namespace) -> int:
    """Reads the run and draws."""
    output: Path = arguments.output
    check_output(output, ".png" if arguments.at is not None else ".html")
    scene = Scene(truck(*composite.build(arguments.architecture)), arguments.run)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}") as temporary:
        made = Path(temporary) / output.name
        if arguments.at is None:
            made.write_text(page(scene), encoding="utf-8")
        else:
            picture(scene, arguments.at).savefig(made, dpi=110)
        os.replace(made, output)
    sys.stdout.write(f"wrote {output}\n")
    return 0


class Scene:
    """A truck's boxes and a run of it."""

    def __init__(self, of: Truck, run: Path) -> None:
        """Raises UsageError where the file is no run of that truck."""
        self.truck, self.name = of, of.name
        if not of.model.wheels:
            raise UsageError(f"{of.name} has no wheel; expected a vehicle on wheels")
        columns = _columns(run)
        bodies, wheels = of.labels, [w.name for w in of.model.wheels]
        try:
            self.times = columns["time"]
            self.pos = np.stack([_several(columns, f"body_{b}.pos", "xyz") for b in bodies], 1)
            self.rot = np.stack([_several(columns, f"body_{b}.rot", ("e0", "e1", "e2", "e3")) for b in bodies], 1)
            self.wheels = np.stack([_several(columns, f"wheel_{w}.pos", "xyz") for w in wheels], 1)
            pressed = np.stack([columns[f"wheel_{w}.deflection"] for w in wheels], 1)
        except KeyError as error:
            raise UsageError(f"{run}: has no column {error.args[0]}; expected a run of {of.name}") from error
        self.radii = np.array([w.radius for w in of.model.wheels])
        bottom = self.wheels[:, :, 2] - self.radii + pressed
        touching = pressed > 0
        self.road = np.stack([self.wheels[:, :, 0][touching], bottom[touching]], 1)
        self.road = self.road[np.argsort(self.road[:, 0])]
        self.boxes, self.lines = boxes(of, {}), lines(of, {})

    def at(self, seconds: float) -> int:
        """The row nearest to a time. Raises UsageError where the run does not have it."""
        if not self.times[0] <= seconds <= self.times[-1]:
            raise UsageError(f"--at {seconds:g}: expected {self.times[0]:g} to {self.times[-1]:g} s")
        return int(np.abs(self.times - seconds).argmin())

    def placed(self, box: Box, row: int) -> Array:
        """(8, 3) corners of a box in the world at a row of the run."""
        return self._moved(box.body, box.corners, row)

    def ends(self, line: Line, row: int) -> Array:
        """(n, 3) points of a line in the world at a row of the run: of a spring the bends of its zigzag, too."""
        ends = np.stack([self._moved(line.a, line.on_a, row), self._moved(line.b, line.on_b, row)])
        if line.slides:
            ends[1] = slid(ends[1], ends[0], self._turn(line.b, row)[:, 1], line.slides)
        if line.kind != "spring":
            return ends
        along = ends[1] - ends[0]
        across = np.cross(along, [0.6, 0.8, 0.0] if abs(along[2]) > 1e-6 else [0.0, 0.0, 1.0])
        across *= _COIL / max(float(np.linalg.norm(across)), 1e-9)
        share = np.linspace(0, 1, 12)
        points: Array = ends[0] + share[:, None] * along + np.array([0, *[1, -1] * 5, 0])[:, None] * across
        return points

    def _moved(self, body: int, points: Array, row: int) -> Array:
        if body == GROUND:
            return points
        world: Array = self.pos[row, body] + points @ self._turn(body, row).T
        return world

    def _turn(self, body: int, row: int) -> Array:
        w, x, y, z = self.rot[row, body]
        return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip


def picture(scene: Scene, seconds: float) -> Figure:
    """The state at a time from the left and from behind. Raises UsageError for a time that the run does not have."""
    row = scene.at(seconds)
    figure = Figure(figsize=(11.0, 4.2), layout="constrained")
    side, behind = figure.subplots(1, 2, width_ratios=(2.6, 1))
    for axes, across in ((side, 0), (behind, 1)):
        for box in scene.boxes:
            _draw(axes, scene.placed(box, row)[:, [across, 2]], f"C{box.body % 10}")
        for line in scene.lines:
            at = scene.ends(line, row)[:, [across, 2]]
            if line.kind == "joint":
                axes.plot(*at[:1].T, ".", color="black", markersize=4)
            else:
                axes.plot(*at.T, color="tab:green" if line.kind == "spring" else "black", linewidth=1.0)
    angle = np.linspace(0, 2 * np.pi, 60)
    for centre, radius in zip(scene.wheels[row], scene.radii, strict=True):
        side.plot(centre[0] + radius * np.cos(angle), centre[2] + radius * np.sin(angle), color="black")
        behind.plot([centre[1]] * 2, [centre[2] - radius, centre[2] + radius], color="black", linewidth=4)
    side.plot(*scene.road.T, color="0.5")
    x = scene.wheels[row, :, 0]
    side.set(xlim=(x.min() - 2, x.max() + 2), xlabel="x [m]", ylabel="z [m]", aspect="equal",
             title=f"{scene.name} at {scene.times[row]:.3f} s")  # fmt: skip
    behind.set(xlabel="y [m], from behind", ylim=side.get_ylim(), aspect="equal")
    behind.invert_xaxis()
    return figure


def _draw(axes: Axes, points: Array, colour: str) -> None:
    for i, j in EDGES:
        axes.plot(points[[i, j], 0], points[[i, j], 1], color=colour, linewidth=0.9)


def page(scene: Scene) -> str:
    """The animation, seen from the left, on a page that opens offline."""
    rows = [scene.at(t) for t in np.arange(scene.times[0], scene.times[-1], 1 / _RATE)]
    step = max(len(scene.road) // 2000, 1)
    data = {
        "times": np.round(scene.times[rows], 4).tolist(), "edges": EDGES, "radii": scene.radii.tolist(),
        "boxes": [[box.body, np.round([scene.placed(box, row)[:, [0, 2]] for row in rows], 4).tolist()]
                  for box in scene.boxes],
        "lines": [[line.kind, np.round([scene.ends(line, row)[:, [0, 2]] for row in rows], 4).tolist()]
                  for line in scene.lines],
        "wheels": np.round(scene.wheels[rows][:, :, [0, 2]], 4).tolist(),
        "road": np.round(scene.road[::step], 4).tolist(), "rate": _RATE,
    }  # fmt: skip
    return _PAGE.replace("NAME", escape(scene.name)).replace("DATA", json.dumps(data, separators=(",", ":")))


def _several(columns: Mapping[str, Array], name: str, parts: str | tuple[str, ...]) -> Array:
    return np.stack([columns[f"{name}.{part}"] for part in parts], 1)


def _columns(run: Path) -> dict[str, Array]:
    """Columns of a CSV file by name, units taken off. Raises UsageError."""
    with run.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    if len(rows) < 3:
        raise UsageError(f"{run}: expected a head and two rows or more")
    try:
        values = np.array([[float(v or "nan") for v in row] for row in rows[1:]])
    except ValueError as error:
        raise UsageError(f"{run}: {error}; expected numbers") from error
    return dict(zip((h.partition(" [")[0] for h in rows[0]), values.T, strict=True))


_PAGE = """<!doctype html><meta charset="utf-8"><title>NAME</title>
<style>body{font:15px system-ui,sans-serif;margin:1rem}canvas{width:100%;border:1px solid #ccc}
input{width:60%}</style>
<h1>NAME</h1><canvas id="c" width="1400" height="520"></canvas>
<p><button id="p">pause</button> <input id="t" type="range" min="0" value="0"> <span id="s"></span></p>
<script>
const d = DATA, c = document.getElementById("c"), g = c.getContext("2d"), t = document.getElementById("t");
const colours = ["#1f77b4","#ff7f0e","#2ca02c","#d62728","#9467bd","#8c564b","#e377c2","#7f7f7f","#bcbd22","#17becf"];
let playing = true, start = performance.now();
t.max = d.times.length - 1;
function draw(k) {
  const xs = d.wheels[k].map(w => w[0]), middle = (Math.min(...xs) + Math.max(...xs)) / 2, scale = 130;
  const X = x => 700 + scale * (x - middle), Z = z => 430 - scale * z;
  g.clearRect(0, 0, c.width, c.height);
  const line = (points, colour, width) => {
    g.beginPath(); g.strokeStyle = colour; g.lineWidth = width;
    points.forEach(([x, z], i) => i ? g.lineTo(X(x), Z(z)) : g.moveTo(X(x), Z(z))); g.stroke();
  };
  line(d.road, "#888", 2);
  for (const [body, frames] of d.boxes)
    for (const [i, j] of d.edges) line([frames[k][i], frames[k][j]], colours[body % 10], 1.2);
  for (const [kind, frames] of d.lines)
    if (kind != "joint") line(frames[k], kind == "spring" ? "#2a7d2a" : "#000", kind == "spring" ? 1 : 1.6);
    else { g.fillStyle = "#000"; g.beginPath(); g.arc(X(frames[k][0][0]), Z(frames[k][0][1]), 2.5, 0, 7); g.fill(); }
  d.wheels[k].forEach(([x, z], w) => {
    g.beginPath(); g.strokeStyle = "#000"; g.lineWidth = 2; g.arc(X(x), Z(z), scale * d.radii[w], 0, 7); g.stroke();
  });
  t.value = k; document.getElementById("s").textContent = d.times[k].toFixed(2) + " s";
}
document.getElementById("p").onclick = e => {
  playing = !playing; e.target.textContent = playing ? "pause" : "play";
  start = performance.now() - 1000 * t.value / d.rate;
};
t.oninput = () => { playing = false; document.getElementById("p").textContent = "play"; draw(+t.value); };
(function loop(now) {
  if (playing) draw(Math.floor(Math.max(now - start, 0) * d.rate / 1000) % d.times.length);
  requestAnimationFrame(loop);
})(start);
</script>
"""
