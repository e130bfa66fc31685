"""Pictures and films without a window: polygons in perspective, drawn from far to near."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from jounce_tools.errors import UsageError
from jounce_tools.view.look import Array, Look
from jounce_tools.view.scene import Scene, spun

#: Where each camera stands in axes that turn with the heading [m], and how long its lens is.
CAMERAS = {"chase": ((-7.5, 3.5, 2.9), 2.3), "side": ((0.3, -9.0, 1.2), 2.6), "front": ((8.0, -3.2, 1.8), 2.4),
           "top": ((-0.01, 0.0, 14.0), 2.0)}  # fmt: skip
_INCH = 100
_DARK, _GROUND, _PATH, _WANTED, _FORCE = "#1b1e24", "#c9cdd2", "#c4461f", "#1a94a5", "#2b8a3e"
_TIRE, _RIM, _SPOKE = "#2b2b2b", "#4a4a4a", "#d9d9d9"
_LINKS = {"rod": "#e0a030", "spring": "#3ba55c", "shock": "#7a5bd0"}
#: Length of an arrow per force [m/N]; nearest depth that is drawn [m]; half of the grid and its step [m].
_PER_NEWTON, _NEAR, _GRID, _STEP = 1.5e-4, 0.3, 40.0, 2.0
#: Longest side of a quadrilateral that is drawn as one [m].
_PIECE = 0.5


@dataclass(frozen=True)
class Camera:
    """An eye, and the axes right, down and forward of its picture, (3, 3)."""

    eye: Array
    axes: Array
    lens: float

    def project(self, points: Array) -> tuple[Array, Array]:
        """((n, 2) in the picture, whose half height is 1, y up; (n,) depth [m])."""
        seen = (points - self.eye) @ self.axes.T
        depth = seen[:, 2]
        safe = np.maximum(depth, _NEAR)
        return np.column_stack([seen[:, 0], -seen[:, 1]]) * (self.lens / safe)[:, None], depth


def size_of(look: Look) -> float:
    """How much farther away a camera stands than from a vehicle of 4.5 m."""
    return look.length / 4.5


def looking(scene: Scene, time: float, name: str) -> Camera:
    """The camera of that name; it follows position and heading, not roll and pitch."""
    place, lens = CAMERAS[name]
    at, yaw = scene.vector("ref_frame.pos", time), scene.at("ref_frame.yaw", scene.nearest(time))
    size = size_of(scene)
    c, s = np.cos(yaw), np.sin(yaw)
    eye = at + np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ (np.array(place) * size)
    forward = at + (0.0, 0.0, 0.3) - eye
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right = right / np.linalg.norm(right)
    return Camera(eye, np.array([right, np.cross(forward, right), forward]), lens)


def draw(scene: Scene, time: float, camera: str = "chase", size: tuple[int, int] = (1280, 720)) -> Figure:
    """The run at a time [s], on the frame at or before it."""
    time = scene.nearest(time)
    figure = Figure(figsize=(size[0] / _INCH, size[1] / _INCH), dpi=_INCH, facecolor="#e9edf2")
    FigureCanvasAgg(figure)
    axis = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    wide = size[0] / size[1]
    axis.set(xlim=(-wide, wide), ylim=(-1.0, 1.0))
    axis.axis("off")
    view = looking(scene, time, camera)
    _lines(axis, view, _grid(scene, time), _GROUND, 0.8, 0)
    if scene.surface is not None:
        _net(axis, view, scene.surface)
    path = _path(scene)
    for points, colour in ((scene.wanted, _WANTED), (path, _PATH)):
        _lines(axis, view, np.stack([points[:-1], points[1:]], axis=1), colour, 1.6, 1)
    faces = _faces(scene, time, view.eye)
    seen = [(*view.project(points), colour, edge) for points, colour, edge in faces]
    seen = sorted((s for s in seen if s[1].min() > _NEAR), key=lambda s: -float(s[1].mean()))
    axis.add_collection(PolyCollection([s[0] for s in seen], facecolors=[s[2] for s in seen],
                                       edgecolors=[s[3] for s in seen], linewidths=0.6, zorder=2))  # fmt: skip
    _links(axis, view, scene, time)
    _lines(axis, view, _forces(scene, time), _FORCE, 2.2, 3)
    said = f"{scene.name}   t = {time:.2f} s   {3.6 * scene.at('speed', time):.1f} km/h"
    axis.text(-wide + 0.04, 0.93, said, fontsize=13, color=_DARK)
    return figure


def _lines(axis: Axes, view: Camera, segments: Array, colour: str, width: float, order: int) -> None:
    flat, depth = view.project(segments.reshape(-1, 3))
    keep = (depth.reshape(-1, 2) > _NEAR).all(axis=1)
    shown = list(flat.reshape(-1, 2, 2)[keep])
    axis.add_collection(LineCollection(shown, colors=colour, linewidths=width, zorder=order))


def _net(axis: Axes, view: Camera, surface: Array) -> None:
    """The ground of a file as faces, lighter where it looks up to the left; those far away are left out."""
    near = np.linalg.norm(surface[:, :, :2] - view.eye[:2], axis=2) < _GRID * 1.5
    keep = near[:-1, :-1] & near[1:, 1:]
    corners = np.stack([surface[:-1, :-1], surface[1:, :-1], surface[1:, 1:], surface[:-1, 1:]], axis=2)[keep]
    if not len(corners):
        return
    flat, depth = view.project(corners.reshape(-1, 3))
    flat, depth = flat.reshape(-1, 4, 2), depth.reshape(-1, 4)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 3] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    light = np.clip(0.84 + 1.2 * normal[:, 0] + 0.6 * normal[:, 1] * np.sign(normal[:, 2]), 0.4, 1.0)
    order = [k for k in np.argsort(-depth.mean(axis=1)) if depth[k].min() > _NEAR]
    axis.add_collection(PolyCollection(list(flat[order]), facecolors=[(g, g, g) for g in light[order]], linewidths=0.3,
                                       edgecolors="face", zorder=0))  # fmt: skip


def _links(axis: Axes, view: Camera, scene: Scene, time: float) -> None:
    """Rods, springs and shocks; the wheels and the body hide them."""
    lines = scene.lines(time)
    for kind, colour in _LINKS.items():
        chosen = [k for k, link in enumerate(scene.links) if link.kind == kind]
        _lines(axis, view, lines[chosen], colour, 1.4 if kind == "rod" else 2.4, 1)


def _grid(scene: Scene, time: float) -> Array:
    """(lines, 2, 3) of the plane around the vehicle; nothing on another terrain."""
    if scene.ground is None:
        return np.zeros((0, 2, 3))
    here = np.round(scene.vector("ref_frame.pos", time)[:2] / _STEP) * _STEP
    offsets = np.arange(-_GRID, _GRID + 0.1, _STEP)
    rows = []
    for a in offsets:
        for b0, b1 in zip(offsets[:-1], offsets[1:], strict=True):
            rows += [[here + (a, b0), here + (a, b1)], [here + (b0, a), here + (b1, a)]]
    flat: Array = np.array(rows)
    return np.concatenate([flat, scene.height(flat[..., 0], flat[..., 1])[..., None]], axis=2)


def _path(scene: Scene) -> Array:
    """(n, 3): where the wheels of each side touch, the mean; on the ground."""
    radius = float(np.mean([t.radius for t in scene.tires.values()])) if scene.tires else 0.0
    columns = [[scene.names.index(f"wheel_{w}.pos.{a}") for a in "xyz"] for w in scene.wheels]
    middle: Array = np.mean([scene.values[:, c] for c in columns], axis=0)
    return middle - (0.0, 0.0, 0.97 * radius)


def _faces(scene: Scene, time: float, eye: Array) -> list[tuple[Array, str, str]]:
    """Points (corners, 3) in the world [m], colour and colour of the edges of what is drawn of the vehicle."""
    faces: list[tuple[Array, str, str]] = []
    for part in scene.parts:
        at, turned = scene.pose(part.body, time)
        placed = [face @ turned.T + at for face in part.faces]
        middle = np.concatenate(placed).mean(axis=0)
        for face, colour in zip(placed, part.colours, strict=True):
            out = np.cross(face[1] - face[0], face[2] - face[0])
            if float(out @ (face[0] - middle)) * float(out @ (eye - face[0])) > 0:  # it is on the eye's side
                faces += [(piece, colour, edge) for piece, edge in _split(face, colour)]
    for w, (outer, inner) in [(wheel, ring) for wheel in scene.wheels for ring in scene.tires[wheel].rings]:
        centre, axes = scene.pose(f"wheel_{w}", time)
        whole = spun(axes, scene.at(f"wheel_{w}.angle", time))
        a, b = outer @ whole.T + centre, inner @ whole.T + centre
        faces += [(np.array([a[k - 1], a[k], b[k], b[k - 1]]), _TIRE, _DARK) for k in range(len(a))]
        for side in (a, b):  # some of its sectors are spokes, so that the spin is seen
            middle, spoke = side.mean(axis=0), len(side) // 4
            colours = [_SPOKE if k % spoke == 0 else _RIM for k in range(len(side))]
            faces += [(np.array([middle, side[k - 1], side[k]]), c, c) for k, c in enumerate(colours)]
    return faces


def _split(face: Array, colour: str) -> list[tuple[Array, str]]:
    """A face, or a large quadrilateral in pieces with its edges as lines, as faces are sorted by their middles.

    Each with the colour of its edge.
    """
    sides = np.linalg.norm(np.roll(face, -1, axis=0) - face, axis=1)
    if len(face) != 4 or sides.max() <= _PIECE:
        return [(face, _DARK)]
    n, m = (int(np.ceil(max(sides[k], sides[k + 2]) / _PIECE)) for k in (0, 1))
    u, v = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, m + 1), indexing="ij")
    net = sum(w[..., None] * p for w, p in zip(((1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v), face, strict=True))
    found = [(np.array([net[i, j], net[i + 1, j], net[i + 1, j + 1], net[i, j + 1]]), colour)
             for i in range(n) for j in range(m)]  # fmt: skip
    for edge in (net[:, 0], net[:, -1], net[0], net[-1]):
        found += [(np.array(pair), _DARK) for pair in zip(edge[:-1], edge[1:], strict=True)]
    return found


def _forces(scene: Scene, time: float) -> Array:
    """(wheels, 2, 3): forces of the tires from the contact, in world axes of a level ground."""
    rows = []
    for w in scene.wheels:
        centre, axes = scene.pose(f"wheel_{w}", time)
        left = axes[:, 1]
        heading = np.array([left[1], -left[0], 0.0]) / max(float(np.hypot(left[0], left[1])), 1e-9)
        side = np.cross((0.0, 0.0, 1.0), heading)
        foot = centre - (0.0, 0.0, 0.97 * scene.tires[w].radius)
        x, y, z = scene.vector(f"wheel_{w}.tire_force", time)
        rows.append([foot, foot + _PER_NEWTON * (x * heading + y * side + z * np.array([0.0, 0.0, 1.0]))])
    return np.array(rows)


def write_png(scene: Scene, time: float, camera: str, path: Path) -> None:
    """Writes one picture, whole or not at all."""
    part = path.with_name(path.name + ".part")
    draw(scene, time, camera).savefig(part, format="png", dpi=_INCH)
    part.replace(path)


def write_mp4(scene: Scene, camera: str, path: Path, *, rate: int = 25, told: Callable[[float], object]) -> None:
    """Writes a film in real time with ``rate`` [1/s] pictures. Raises UsageError without ffmpeg, or if it fails."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise UsageError(f"{path}: a film needs the program ffmpeg; expected it on the path (apt-get install ffmpeg)")
    part = path.with_name(f"{path.stem}.part.mp4")
    size = (960, 540)
    command = [program, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{size[0]}x{size[1]}",
               "-r", str(rate), "-i", "-", "-pix_fmt", "yuv420p", str(part)]  # fmt: skip
    frames = max(2, int((scene.time[-1] - scene.time[0]) * rate) + 1)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    try:
        for k in range(frames):
            told(k / frames)
            canvas: Any = FigureCanvasAgg(draw(scene, float(scene.time[0]) + k / rate, camera, size))
            canvas.draw()
            process.stdin.write(bytes(canvas.buffer_rgba()))
        _, errors = process.communicate()
    except BrokenPipeError:
        _, errors = process.communicate()
    except BaseException:
        process.kill()
        part.unlink(missing_ok=True)
        raise
    if process.returncode:
        part.unlink(missing_ok=True)
        raise UsageError(f"{path}: ffmpeg failed: {errors.decode(errors='replace').strip()}")
    part.replace(path)
