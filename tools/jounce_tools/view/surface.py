"""The ground of a terrain file as a mesh: a part of it, fine where there are obstacles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jounce.terrain.obstacles import Obstacle, heights
from jounce.terrain.packed import Terrain
from jounce_tools.architecture.figure import road_height
from jounce_tools.view.look import Look

Array = NDArray[np.float64]
#: How far the ground is drawn beyond the edge of a file whose ground goes on there [m], and in how many columns.
_BEYOND, _STEPS = 15.0, 6
#: Distance of points on an obstacle [m], and most points along and across that obstacles may add.
_FINE, _MOST_FINE = 0.04, 400
#: Distance of points along a truck's own road [m].
_ALONG = 0.02


def mesh(look: Look, terrain: Terrain | None, low: Array, high: Array, most: int = 40000) -> Array | None:
    """(rows, columns, 3) [m]: the ground of a file, or the road of a truck's parameters; None where it is a plane.

    From ``low`` to ``high``, both (2,), with about ``most`` points.
    """
    if terrain is not None:
        return surface(terrain, low, high, raised=look.raised, most=most)
    if look.road is None:
        return None
    x = np.linspace(low[0], high[0], int(np.clip((high[0] - low[0]) / _ALONG, 2, most // 16)))
    left, right = (road_height(look.road, x, side) for side in (1.0, -1.0))
    far = max(float(np.abs([low[1], high[1]]).max()), _BEYOND)
    across = np.linspace(1e-3, far, 8)  # narrow enough for pictures, which leave out faces that reach behind the eye
    sides = [(-y, right) for y in across[::-1]] + [(y, left) for y in across]
    return np.stack([np.column_stack([x, np.full_like(x, y), z]) for y, z in sides], axis=1)


def surface(t: Terrain, low: Array, high: Array, *, raised: float = 0.0, most: int = 40000) -> Array:
    """(rows, columns, 3) [m]: points of the ground in the world, at least those from ``low`` to ``high``, both (2,).

    Rows follow u and columns v of the terrain. ``raised`` is `terrain.height`. With more than ``most`` points the
    ground is drawn more coarsely; a file ends at its edge, or goes on a little where its ground does.
    """
    u, v = _all(t)
    i = _inside(t, u, low, high)
    u = u[i]
    if t.kind != "ROAD":
        corners = np.array([[x, y] for x in (low[0], high[0]) for y in (low[1], high[1])])
        across = _straight(t, corners)[:, 1]
        keep = _between(v, across.min(), across.max())
        v = v[keep]
    beyond = _BEYOND if t.edge != "FAULT" else 0.0
    more = 2 * _STEPS if beyond else 0
    share = (len(u) * (len(v) + more) / most) ** 0.5
    if share > 1.0:
        v = _thinned(v, max(min(len(v), 12), int(len(v) / share)))
        u = _thinned(u, max(2, most // (len(v) + more)))
    if t.obstacles and t.kind != "ROAD":
        u, v = _refined(t, u, v)
    uu, vv = np.meshgrid(u, _padded(v, beyond), indexing="ij")
    return _points(t, uu, vv, raised)


def _all(t: Terrain) -> tuple[Array, Array]:
    """Positions of rows and columns."""
    v = t.v if t.kind == "ROAD" else t.dv * np.arange(t.heights.shape[1], dtype=np.float64)
    return t.du * np.arange(len(t.heights), dtype=np.float64), v


def _straight(t: Terrain, places: Array) -> Array:
    """(n, 2): u, v of places (n, 2), of a grid that lies straight."""
    c, s = np.cos(t.yaw), np.sin(t.yaw)
    found: Array = (places - np.array(t.origin)) @ np.array([[c, -s], [s, c]])
    return found


def _inside(t: Terrain, u: Array, low: Array, high: Array) -> slice:
    """The rows that the box needs."""
    if t.kind == "ROAD":
        wide = float(np.abs(t.v).max())
        near = np.all((t.line[:, :2] >= low - wide) & (t.line[:, :2] <= high + wide), axis=1)
        rows = np.flatnonzero(near)
        return slice(int(rows[0]), int(rows[-1]) + 1) if len(rows) > 1 else slice(None)
    along = _straight(t, np.array([[x, y] for x in (low[0], high[0]) for y in (low[1], high[1])]))[:, 0]
    return _between(u, along.min(), along.max())


def _between(x: Array, low: float, high: float) -> slice:
    """At least two neighbouring positions, which lie around the range where they can."""
    first = int(np.clip(np.searchsorted(x, low) - 1, 0, len(x) - 2))
    return slice(first, int(np.clip(np.searchsorted(x, high) + 1, first + 2, len(x))))


def _thinned(x: Array, count: int) -> Array:
    return np.asarray(x[np.unique(np.linspace(0, len(x) - 1, count).round().astype(int))], np.float64)


def _refined(t: Terrain, u: Array, v: Array) -> tuple[Array, Array]:
    """More rows and columns where obstacles are."""
    for o in t.obstacles:
        corners = _corners(o)
        box = _straight(t, corners)
        u = _finer(u, box[:, 0])
        v = _finer(v, box[:, 1])
    return u, v


def _corners(o: Obstacle) -> Array:
    """(4, 2): a rectangle around an obstacle."""
    along = np.array([np.cos(o.yaw), np.sin(o.yaw)])
    left = np.array([-along[1], along[0]])
    back = o.extent if o.shape in ("HALF_ROUND", "BUMP") else 0.1
    return np.array([np.array([o.x, o.y]) + s * along + w * left
                     for s in (-back, o.extent) for w in (-o.width / 2 - 0.05, o.width / 2 + 0.05)])  # fmt: skip


def _finer(x: Array, reach: Array) -> Array:
    low, high = max(reach.min(), x[0]), min(reach.max(), x[-1])
    if high <= low:
        return x
    count = int(min((high - low) / _FINE + 2, _MOST_FINE))
    return np.unique(np.concatenate([x, np.linspace(low, high, count)]))


def _padded(v: Array, beyond: float) -> Array:
    # A plane beyond the edge may begin with a step; pictures leave out what reaches behind the eye, so in pieces.
    outside = np.array([1e-3, *np.linspace(0.0, beyond, _STEPS)[1:]])
    return np.concatenate([v[0] - outside[::-1], v, v[-1] + outside]) if beyond else v


def _points(t: Terrain, u: Array, v: Array, raised: float) -> Array:
    """Places at u, v with their height: bilinear, as the model has it without `smooth`, with the obstacles on it."""
    rows, columns = _all(t)
    inner = np.clip(v, columns[0], columns[-1])
    i = np.clip(np.floor(u / t.du).astype(int), 0, len(rows) - 2)
    j = np.clip(np.searchsorted(columns, inner, side="right") - 1, 0, len(columns) - 2)
    f, g = u / t.du - i, (inner - columns[j]) / (columns[j + 1] - columns[j])
    h = t.heights
    z = (1 - f) * ((1 - g) * h[i, j] + g * h[i, j + 1]) + f * ((1 - g) * h[i + 1, j] + g * h[i + 1, j + 1])
    if t.edge == "PLANE":
        z = np.where(inner == v, z, t.height)
    if t.kind == "ROAD":
        line = (1 - f)[..., None] * t.line[i] + f[..., None] * t.line[i + 1]
        ahead = np.gradient(t.line[:, :2], axis=0)
        ahead = (1 - f)[..., None] * ahead[i] + f[..., None] * ahead[i + 1]
        ahead /= np.linalg.norm(ahead, axis=-1, keepdims=True)
        x, y = line[..., 0] - v * ahead[..., 1], line[..., 1] + v * ahead[..., 0]
        z = z + line[..., 2] + line[..., 3] * inner
    else:
        c, s = np.cos(t.yaw), np.sin(t.yaw)
        x, y = t.origin[0] + c * u - s * v, t.origin[1] + s * u + c * v
    if t.obstacles:
        z = z + heights(t.obstacles, x, y)
    return np.stack([x, y, z + raised], axis=-1)
