"""The packed terrain file (.jnt) that the model maps into memory, and what it holds.

Little-endian: 64 bytes of magic, version, size and SHA-256 of what follows; 32 doubles of header; arrays, each at a
multiple of 64 bytes. ``jn_terrain.c`` reads the same layout.
"""

from __future__ import annotations

import hashlib
import os
import struct
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jounce.terrain.buckets import Buckets, buckets
from jounce.terrain.obstacles import Obstacle, packed_obstacles

Array = NDArray[np.float64]
Kind = Literal["HEIGHTMAP", "ROAD", "PROFILE"]
Edge = Literal["CLAMP", "PLANE", "FAULT"]

#: Kinds of files, numbered from 1.
KINDS: tuple[Kind, ...] = ("HEIGHTMAP", "ROAD", "PROFILE")
#: What lies beyond the edge: the ground goes on as at the edge, or is level at `Terrain.height`, or the run fails.
EDGES: tuple[Edge, ...] = ("CLAMP", "PLANE", "FAULT")
SUFFIX = ".jnt"
MAGIC, VERSION = b"JNTERR\r\n", 1
_START, _ALIGNED = 64, 64
_HEADER = ("kind", "edge", "rows", "columns", "du", "dv", "x", "y", "cos", "sin", "height", "closed", "obstacles",
           "friction", "mu", "areas", "buckets_x", "buckets_y", "bucket_x", "bucket_y", "bucket", "runs", "smooth",
           "start", *(f"spare{k}" for k in range(8)))  # fmt: skip
_MOST_CELLS = 10**9
_LEAST, _MOST_SPACING, _FARTHEST, _MOST_HEIGHT = 1e-6, 1e6, 1e9, 1e6


class TerrainError(ValueError):
    """A terrain or its file is wrong; the message has the path."""


@dataclass(frozen=True)
class Area:
    """A rectangle with a friction of its own; of several, the last counts."""

    x: float
    """Centre, world [m]."""
    y: float
    yaw: float
    """Direction of its length [rad]."""
    length: float
    width: float
    mu: float

    def __post_init__(self) -> None:
        for name in ("x", "y", "yaw", "length", "width", "mu"):
            value = getattr(self, name)
            ranges = {"mu": (0.0, 2.0), "length": (1e-9, _FARTHEST), "width": (1e-9, _FARTHEST)}
            least, most = ranges.get(name, (-_FARTHEST, _FARTHEST))
            if not least <= value <= most:
                raise TerrainError(f"friction area: {name} = {value:g}: expected {least:g} to {most:g}")


@dataclass(frozen=True, eq=False)
class Terrain:
    """Heights over u (rows) and v (columns), with obstacles on them and friction.

    HEIGHTMAP and PROFILE: u and v are straight from ``origin`` in the directions of ``yaw`` and left of it. ROAD: u
    runs along a reference line, v to its left, and the height is that of the grid with slope and bank added.
    """

    kind: Kind
    heights: Array
    """(rows, columns) [m], rounded to float32 in the file."""
    du: float
    """Distance of rows [m]."""
    dv: float = 1.0
    """Distance of columns [m]; not of a ROAD."""
    origin: tuple[float, float] = (0.0, 0.0)
    """Place of the first row and column, world [m]."""
    yaw: float = 0.0
    edge: Edge = "CLAMP"
    height: float = 0.0
    """Of the plane beyond the edge [m]."""
    mu: float = 0.8
    """Friction where no other is given."""
    friction: Array | None = None
    """(rows, columns): friction of the nearest point; NaN where it is `mu`."""
    smooth: bool = False
    """Catmull-Rom splines in place of bilinear patches; not of a ROAD."""
    obstacles: tuple[Obstacle, ...] = ()
    areas: tuple[Area, ...] = ()
    v: Array = field(default_factory=lambda: np.zeros(0))
    """(columns) [m], rising: of a ROAD."""
    line: Array = field(default_factory=lambda: np.zeros((0, 4)))
    """(rows, 4) of a ROAD: x, y of the reference line [m], height of it [m], bank (slope to the left)."""
    closed: bool = False
    """A ROAD whose last point lies on the first."""
    start: float = 0.0
    """u of the first row of a ROAD [m]."""

    @property
    def length(self) -> float:
        """Along u [m]."""
        return float(self.du * (len(self.heights) - 1))

    def with_obstacles(self, *obstacles: Obstacle) -> Terrain:
        """The same with more obstacles."""
        return replace(self, obstacles=(*self.obstacles, *obstacles))


def check(t: Terrain, name: str = "terrain") -> None:
    """Raises TerrainError for what no file may hold; ``name`` begins the message."""
    def wrong(text: str) -> TerrainError:
        return TerrainError(f"{name}: {text}")

    if t.kind not in KINDS or t.edge not in EDGES:
        raise wrong(f"kind {t.kind!r}, edge {t.edge!r}: expected {', '.join(KINDS)} and {', '.join(EDGES)}")
    if t.heights.ndim != 2 or min(t.heights.shape) < 2 or t.heights.size > _MOST_CELLS:
        raise wrong(f"heights of shape {t.heights.shape}: expected at least 2 x 2 and up to {_MOST_CELLS} of them")
    numbers = (t.du, t.dv, *t.origin, t.yaw, t.height, t.mu, t.start)
    if not np.all(np.isfinite(numbers)) or not (_spacing(t.du) and _spacing(t.dv) and 0 <= t.mu <= 2):
        raise wrong(f"du = {t.du}, dv = {t.dv}, mu = {t.mu}: expected spacings of {_LEAST} to {_MOST_SPACING:g} m and "
                    "friction of 0 to 2, and numbers everywhere")  # fmt: skip
    if max(map(abs, (*t.origin, t.start))) > _FARTHEST or abs(t.height) > _MOST_HEIGHT:
        raise wrong(f"origin {t.origin}, start {t.start}, height {t.height}: expected places up to {_FARTHEST:g} m and "
                    f"heights up to {_MOST_HEIGHT:g} m")  # fmt: skip
    if (bad := np.argwhere(~np.isfinite(t.heights) | (np.abs(t.heights) > _MOST_HEIGHT))).size:
        i, j = bad[0]
        raise wrong(f"height {t.heights[i, j]} in row {i}, column {j}: expected numbers up to 1e6 m")
    if t.friction is not None:
        known = t.friction[~np.isnan(t.friction)]
        if t.friction.shape != t.heights.shape or np.any((known < 0) | (known > 2)):
            raise wrong(f"friction of shape {t.friction.shape}: expected that of the heights, with numbers of 0 to 2")
    if t.kind != "ROAD":
        return
    if t.smooth:
        raise wrong("smooth: expected a HEIGHTMAP or PROFILE; a ROAD is bilinear")
    if t.v.shape != t.heights.shape[1:] or np.any(np.diff(t.v) < _LEAST) or not np.all(np.abs(t.v) < _FARTHEST):
        raise wrong(f"{len(t.v)} positions v: expected {t.heights.shape[1]}, rising")
    if t.line.shape != (len(t.heights), 4) or not np.all(np.abs(t.line) < _FARTHEST):
        raise wrong(f"line of shape {t.line.shape}: expected {(len(t.heights), 4)}, numbers below {_FARTHEST:g}")
    along = np.diff(t.line[:, :2], axis=0)
    if np.any(np.hypot(*along.T) < _LEAST):
        raise wrong("two neighbouring points of the reference line coincide")
    turned = along[1:] + along[:-1]
    if np.any(back := np.minimum((turned * along[1:]).sum(1), (turned * along[:-1]).sum(1)) <= 0):
        raise wrong(f"the reference line turns back at its point {int(np.argmax(back)) + 1}")


def _spacing(d: float) -> bool:
    return bool(_LEAST <= d <= _MOST_SPACING)


def to_bytes(t: Terrain, name: str = "terrain") -> bytes:
    """The packed file's contents; equal terrains give equal bytes. Raises TerrainError."""
    check(t, name)
    rows, columns = t.heights.shape
    near = buckets(t.line[:, :2], t.v) if t.kind == "ROAD" else None
    numbers: dict[str, float] = dict.fromkeys(_HEADER, 0.0) | {
        "kind": KINDS.index(t.kind) + 1, "edge": EDGES.index(t.edge) + 1, "rows": rows, "columns": columns, "du": t.du,
        "dv": t.dv, "x": t.origin[0], "y": t.origin[1], "cos": float(np.cos(t.yaw)), "sin": float(np.sin(t.yaw)),
        "height": t.height, "closed": t.closed, "obstacles": len(t.obstacles), "friction": t.friction is not None,
        "mu": t.mu, "areas": len(t.areas), "smooth": t.smooth, "start": t.start,
    }  # fmt: skip
    arrays: list[NDArray[Any]] = [t.heights.astype("<f4")]
    if t.friction is not None:
        arrays.append(np.where(np.isnan(t.friction), t.mu, t.friction).astype("<f4"))
    arrays += [packed_obstacles(t.obstacles).astype("<f8"), _areas(t.areas).astype("<f8")]
    if near is not None:
        numbers |= {"buckets_x": near.shape[0], "buckets_y": near.shape[1], "bucket_x": near.origin[0],
                    "bucket_y": near.origin[1], "bucket": near.size, "runs": len(near.runs)}  # fmt: skip
        arrays += [t.v.astype("<f8"), t.line.astype("<f8"), near.first.astype("<u4"), near.runs.astype("<u4")]
    body = np.array([numbers[n] for n in _HEADER], "<f8").tobytes()
    for array in arrays:
        body += b"\0" * (-(len(body) + _START) % _ALIGNED) + np.ascontiguousarray(array).tobytes()
    head = struct.pack("<8sIIQ32sQ", MAGIC, VERSION, 0, _START + len(body), hashlib.sha256(body).digest(), 0)
    return head + body


def save(t: Terrain, path: str | os.PathLike[str]) -> Path:
    """Writes a packed file, which appears whole or not at all. Raises TerrainError, OSError."""
    path = Path(path)
    if path.suffix != SUFFIX:
        raise TerrainError(f"{path}: expected a name that ends in {SUFFIX}")
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(to_bytes(t, str(path)))
    os.replace(part, path)
    return path


def kind_of(path: str | os.PathLike[str]) -> Kind:
    """Kind of a packed file, by its header and size alone. Raises TerrainError."""
    try:
        with Path(path).open("rb") as file:
            start, size = file.read(_START + 8), os.fstat(file.fileno()).st_size
    except OSError as error:
        raise TerrainError(f"terrain file {path}: {error.strerror}; expected a packed terrain (.jnt)") from error
    _check_start(start, size, path)
    number = struct.unpack_from("<d", start, _START)[0]
    if number not in (1.0, 2.0, 3.0):
        raise TerrainError(f"terrain file {path}: kind {number}: expected 1 to {len(KINDS)}")
    return KINDS[int(number) - 1]


def load(path: str | os.PathLike[str]) -> Terrain:
    """Reads a packed file. Raises TerrainError, with the path, where it is missing, cut or damaged."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise TerrainError(f"terrain file {path}: {error.strerror}; expected a packed terrain (.jnt)") from error
    check_bytes(data, path)
    try:
        found = _unpacked(data)
        check(found)
    except (ValueError, IndexError, OverflowError) as error:
        raise TerrainError(f"terrain file {path}: its header and its arrays do not fit together: {error}") from error
    return found


def _unpacked(data: bytes) -> Terrain:
    h = dict(zip(_HEADER, np.frombuffer(data, "<f8", len(_HEADER), _START).tolist(), strict=True))
    sizes = {"rows": 2, "columns": 2, "obstacles": 0, "areas": 0}
    for name, low, high in (("kind", 1, len(KINDS)), ("edge", 1, len(EDGES)),
                            *((n, k, _MOST_CELLS) for n, k in sizes.items())):  # fmt: skip
        if not (low <= h[name] <= high and h[name] == int(h[name])):
            raise ValueError(f"{name} = {h[name]}: expected a whole number of {low} to {high}")
    at, kind = _START + 8 * len(_HEADER), KINDS[int(h["kind"]) - 1]

    def array(kind_of_number: str, *shape: float) -> NDArray[Any]:
        nonlocal at
        at += -at % _ALIGNED
        size = tuple(int(n) for n in shape)
        found = np.frombuffer(data, kind_of_number, int(np.prod(size)), at).reshape(size)
        at += found.nbytes
        return found

    heights = array("<f4", h["rows"], h["columns"]).astype(float)
    friction = array("<f4", h["rows"], h["columns"]).astype(float) if h["friction"] else None
    obstacles = tuple(Obstacle.of_numbers(row) for row in array("<f8", h["obstacles"], 16))
    areas = tuple(Area(a[0], a[1], float(np.arctan2(a[3], a[2])), 2 * a[4], 2 * a[5], a[6])
                  for a in array("<f8", h["areas"], 8).tolist())  # fmt: skip
    road = {} if kind != "ROAD" else {"v": array("<f8", h["columns"]), "line": array("<f8", h["rows"], 4)}
    return Terrain(kind, heights, h["du"], h["dv"], (h["x"], h["y"]), float(np.arctan2(h["sin"], h["cos"])),
                   EDGES[int(h["edge"]) - 1], h["height"], h["mu"], friction, bool(h["smooth"]), obstacles, areas,
                   closed=bool(h["closed"]), start=h["start"], **road)  # fmt: skip


def check_bytes(data: bytes, path: str | os.PathLike[str]) -> None:
    """Raises TerrainError, with the path, where the contents of a packed file are cut or damaged."""
    _check_start(data, len(data), path)
    if hashlib.sha256(data[_START:]).digest() != data[24:56]:
        raise TerrainError(f"terrain file {path}: damaged: its SHA-256 is not that of its contents")


def _check_start(data: bytes, size: int, path: str | os.PathLike[str]) -> None:
    if len(data) < _START + 8 or not data.startswith(MAGIC):
        raise TerrainError(f"terrain file {path}: not a packed terrain ({SUFFIX})")
    if struct.unpack_from("<I", data, 8)[0] != VERSION:
        raise TerrainError(f"terrain file {path}: of another version than this one reads ({VERSION})")
    if struct.unpack_from("<Q", data, 16)[0] != size:
        raise TerrainError(f"terrain file {path}: cut or too long: its size is not the one it names")


def _areas(areas: tuple[Area, ...]) -> Array:
    rows = [(a.x, a.y, np.cos(a.yaw), np.sin(a.yaw), a.length / 2, a.width / 2, a.mu, 0.0) for a in areas]
    return np.array(rows, dtype=float).reshape(len(rows), 8)


__all__ = ["EDGES", "KINDS", "SUFFIX", "Area", "Buckets", "Edge", "Kind", "Terrain", "TerrainError", "check", "kind_of",
           "load", "save", "to_bytes"]  # fmt: skip
