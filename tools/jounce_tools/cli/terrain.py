"""``jounce terrain``: packs roads and terrain, makes random roads, shows what a file holds."""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jounce.optional import missing
from jounce.terrain.files import read
from jounce.terrain.iso8608 import CLASSES, iso_road
from jounce.terrain.layout import Layout
from jounce.terrain.obstacles import heights
from jounce.terrain.packed import SUFFIX, Terrain, TerrainError, save, to_bytes
from jounce_tools.errors import UsageError, check_output
from jounce_tools.view.surface import surface

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Options of `pack`, for what a file of heights does not say.
_LAYOUT = {
    "spacing": "distance of neighbouring heights [m]; a .png needs it (.npy: 1)",
    "scale": "height of one unit [m]; a .png needs it (others: 1)",
    "offset": "height of 0 units [m] (default: 0)",
    "x": "place of the file's origin, of a picture its south-west corner [m] (default: 0)",
    "y": "the same along y [m]",
    "yaw": "direction of the file's x axis [rad] (default: 0)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the three actions and their options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    pack = actions.add_parser("pack", help="pack an OpenCRG road (.crg), a description (.toml), heights (.npy, .png, "
                              ".tif) or a profile (.csv)")  # fmt: skip
    pack.add_argument("file", type=Path, metavar="FILE")
    for name, text in _LAYOUT.items():
        pack.add_argument(f"--{name}", type=float, help=text)
    pack.add_argument("--smooth", action="store_true", default=None, help="splines in place of bilinear patches")
    iso = actions.add_parser("iso", help="make a random road of a class of ISO 8608")
    iso.add_argument("--class", dest="road_class", choices=CLASSES, required=True, help="A (smooth) to H")
    iso.add_argument("--seed", type=int, default=0, help="the same seed gives the same road everywhere (default: 0)")
    iso.add_argument("--length", type=float, default=1000.0, help="[m], up to 13107.2 (default: %(default)s)")
    iso.add_argument("--track", type=float, default=1.82, help="distance of its two tracks [m] (default: %(default)s)")
    iso.add_argument("--rms", type=float, help="scale it to that root of the mean square of its heights [m]")
    for action in (pack, iso):
        action.add_argument("-o", "--output", type=Path, metavar="FILE", required=True, help="file to write (.jnt)")
    show = actions.add_parser("show", help="print extent, heights and hash of a file, and draw it")
    show.add_argument("file", type=Path, metavar="FILE")
    show.add_argument("--mesh", type=Path, metavar="FILE", help="mesh of up to 256 x 256 points to write (.obj)")
    show.add_argument("--picture", type=Path, metavar="FILE", help="picture to write (.png)")


def run(arguments: argparse.Namespace) -> int:
    """Writes or prints what was asked."""
    try:
        if arguments.action == "show":
            if arguments.mesh:
                check_output(arguments.mesh, ".obj", option="--mesh")
            if arguments.picture:
                if missing("matplotlib"):
                    raise UsageError("--picture needs matplotlib: pip install matplotlib")
                check_output(arguments.picture, ".png", option="--picture")
            return _show(read(arguments.file), arguments)
        check_output(arguments.output, SUFFIX)
        if arguments.action == "pack":
            made = read(arguments.file, Layout(smooth=arguments.smooth, **{k: getattr(arguments, k) for k in _LAYOUT}))
        else:
            made = iso_road(arguments.road_class, arguments.seed, arguments.length, track=arguments.track,
                            rms=arguments.rms)  # fmt: skip
        sys.stdout.write(f"wrote {save(made, arguments.output)}: {_summary(made)}\n")
    except TerrainError as error:
        raise UsageError(str(error)) from error
    return 0


def _summary(t: Terrain) -> str:
    (rows, columns), low, high = t.heights.shape, t.heights.min(), t.heights.max()
    return f"{t.kind}, {rows} x {columns} heights, {t.length:.6g} m long, {low:.4g} to {high:.4g} m"


def _show(t: Terrain, arguments: argparse.Namespace) -> int:
    digest = hashlib.sha256(to_bytes(t)[64:]).hexdigest()
    across = "" if t.kind == "ROAD" else f", {t.dv:.6g} m across"
    lines = [_summary(t), f"spacing {t.du:.6g} m along{across}, edge {t.edge}, mu {t.mu:.4g}"]
    if t.kind == "ROAD":
        ends = ", ".join(f"{x:.6g}" for x in (*t.line[0, :2], *t.line[-1, :2]))
        lines.append(f"from {t.v[0]:.6g} to {t.v[-1]:.6g} m across; reference line from x, y to x, y: {ends} m"
                     f"{', closed' if t.closed else ''}")  # fmt: skip
    else:
        (rows, columns), c, s = t.heights.shape, np.cos(t.yaw), np.sin(t.yaw)
        for i, row in ((0, "first"), (rows - 1, "last")):
            for j, side in ((0, "right"), (columns - 1, "left")):
                u, v = i * t.du, j * t.dv
                x, y = t.origin[0] + c * u - s * v, t.origin[1] + s * u + c * v
                z = t.heights[i, j]
                lines.append(f"height at the {row} row's {side} end: {z:.6g} m, at x, y: {x:.6g}, {y:.6g} m")
    lines += [f"obstacle {o.shape} at {o.x:.6g}, {o.y:.6g} m" for o in t.obstacles]
    lines += [f"friction {a.mu:.4g} around {a.x:.6g}, {a.y:.6g} m" for a in t.areas]
    sys.stdout.write("\n".join((*lines, f"sha256 {digest}")) + "\n")
    if arguments.mesh:
        arguments.mesh.write_text(mesh(t), encoding="ascii")
        sys.stdout.write(f"wrote {arguments.mesh}\n")
    if arguments.picture:
        picture(t).savefig(arguments.picture, dpi=110)
        sys.stdout.write(f"wrote {arguments.picture}\n")
    return 0


def mesh(t: Terrain) -> str:
    """The ground with its obstacles as the text of a Wavefront file: points in the world [m], then quadrangles."""
    whole = np.full(2, 1e9)
    points = surface(t, -whole, whole, most=256 * 256)
    rows, columns, _ = points.shape
    lines = [f"v {x:.6g} {y:.6g} {z:.6g}" for x, y, z in points.reshape(-1, 3)]
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1) + 1).ravel()
    lines += [f"f {k} {k + columns} {k + columns + 1} {k + 1}" for k in first.tolist()]
    return "\n".join(lines) + "\n"


def picture(t: Terrain) -> Figure:
    """Heights from above with an arrow along u, and along its middle and edges."""
    from matplotlib.figure import Figure

    rows, columns = t.heights.shape
    every = max(1, rows // 2000)
    u = t.du * np.arange(0, rows, every)
    v = t.v if t.kind == "ROAD" else t.dv * np.arange(columns)
    if t.kind == "ROAD":
        line = t.line[::every]
        ahead = np.gradient(line[:, :2], axis=0)
        left = np.stack([-ahead[:, 1], ahead[:, 0]], 1) / np.hypot(*ahead.T)[:, None]
        x, y = (line[:, None, k] + v * left[:, None, k] for k in (0, 1))
        z = t.heights[::every] + line[:, None, 2] + v * line[:, None, 3]
    else:
        c, s = np.cos(t.yaw), np.sin(t.yaw)
        x = t.origin[0] + c * u[:, None] - s * v
        y = t.origin[1] + s * u[:, None] + c * v
        z = t.heights[::every] + heights(t.obstacles, x, y)
    figure = Figure(figsize=(9, 6), layout="constrained")
    above, along = figure.subplots(2, 1)
    mesh = above.pcolormesh(x, y, z, shading="gouraud", cmap="viridis")
    figure.colorbar(mesh, ax=above, label="height [m]")
    above.annotate("", (x[len(u) // 10, columns // 2], y[len(u) // 10, columns // 2]), (x[0, columns // 2],
                   y[0, columns // 2]), arrowprops={"arrowstyle": "->", "color": "red"})  # fmt: skip
    above.set(xlabel="x [m]", ylabel="y [m]", title=f"{t.kind}, u along the red arrow")
    for j, name in ((0, "right"), (columns // 2, "middle"), (columns - 1, "left")):
        if columns > 2 or name != "middle":
            along.plot(u, z[:, j], label=name, linewidth=0.9)
    along.set(xlabel="u [m]", ylabel="height [m]")
    along.legend()
    along.grid(alpha=0.3)
    return figure
