"""The road that an OpenCRG file describes, with its modifiers.

Source: ASAM OpenCRG 1.2, chapters on the reference line and on modifiers, and its C library, which the order of what is
done is taken from: scales, heights that are missing, reference line, place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce.terrain.packed import Terrain, TerrainError

Array = NDArray[np.float64]
#: A closed road's ends are this close, in position [m] and direction [rad].
_CLOSED = 1e-3
#: Largest heading [rad], slope and banking of a road.
_MOST = {"phi": 1e3, "slope": 10.0, "banking": 10.0}
_REFPOINT = ("x", "y", "z", "phi", "u_fraction", "u_offset", "u", "v_fraction", "v_offset", "v")
_OFFSET = ("offset_x", "offset_y", "offset_z", "offset_phi", "rotcenter_x", "rotcenter_y")
#: Keys of $ROAD_CRG_MODS.
MODIFIERS = (
    *(f"scale_{name}" for name in ("z_grid", "slope", "banking", "length", "width", "curvature")),
    *("grid_nan_mode", "grid_nan_offset"), *(f"refline_{name}" for name in _OFFSET),
    *(f"refpoint_{name}" for name in _REFPOINT),
)  # fmt: skip


@dataclass
class Header:
    """What stands before the data."""

    road: dict[str, float] = field(default_factory=dict)
    """Keys of $ROAD_CRG."""
    modifiers: dict[str, float] = field(default_factory=dict)
    channels: list[str] = field(default_factory=list)
    sections: list[tuple[int, float, bool]] = field(default_factory=list)
    """Of the long sections: place among the channels, v [m] or number, whether it is v."""
    start: float | None = None
    increment: float | None = None
    format: str = ""
    placed: bool = False
    """The file has a section of modifiers, if an empty one: its road stays where it is."""
    data_at: int = -1
    """Byte where the data begin."""
    data_line: int = 0


def _start_and_step(h: Header) -> tuple[float, float]:
    """u of the first row, and from row to row [m]; 0 where it is not said."""
    r = h.road
    return r.get("reference_line_start_u", h.start or 0.0), r.get("reference_line_increment", h.increment or 0.0)


def expected_rows(h: Header) -> int:
    """Number of rows, 0 where the header does not say it."""
    (start, step), end = _start_and_step(h), h.road.get("reference_line_end_u")
    return 0 if end is None or not step > 0.0 else round(min(max((end - start) / step, 0.0), 1e12)) + 1


def _columns(h: Header, path: Path) -> tuple[list[int], Array]:
    """Places of the long sections among the channels, from right to left, and their positions v."""
    sections = sorted(h.sections, key=lambda s: s[1])
    if len(sections) < 2:
        raise TerrainError(f"{path}: {len(sections)} long sections; expected 2 or more")
    places, at = [place for place, _, _ in sections], np.array([v for _, v, _ in sections])
    by_position = {of_v for _, _, of_v in sections}
    if len(by_position) > 1:
        raise TerrainError(f"{path}: long sections by position v and by number; expected one of them")
    if by_position == {True}:
        return places, at
    if np.any(at != np.arange(1, len(at) + 1)):
        raise TerrainError(f"{path}: numbers of long sections: expected 1 to {len(at)}, each once")
    right, left = h.road.get("long_section_v_right"), h.road.get("long_section_v_left")
    step = h.road.get("long_section_v_increment")
    if right is None or (left is None and step is None):
        raise TerrainError(f"{path}: no positions of the long sections: expected long_section_v_right and _increment")
    if step is None and left is not None:
        step = (left - right) / (len(at) - 1)
    v = right + (step or 0.0) * np.arange(len(at), dtype=float)
    if left is not None and abs(v[-1] - left) > 1e-3 * max(abs(step or 0.0), 1e-3):
        raise TerrainError(f"{path}: {len(at)} long sections from {right:g} m by {step:g} m do not end at "
                           f"long_section_v_left = {left:g} m")  # fmt: skip
    return places, v


def road(h: Header, rows: Array, path: Path, *, as_written: bool) -> Terrain:
    """The road of these rows. Raises TerrainError."""
    m, n = {} if as_written else h.modifiers, len(rows)
    r = dict(h.road)
    places, v = _columns(h, path)
    start, du = _start_and_step(h)
    if n < 2 or not du > 0.0:
        raise TerrainError(f"{path}: {n} rows, reference_line_increment = {du:g}: expected 2 rows or more, and a "
                           "spacing above 0")  # fmt: skip
    if n != (expected_rows(h) or n):
        raise TerrainError(f"{path}: {n} rows of data where the header says {expected_rows(h)}: cut")
    if (as_written or h.placed) and any(r.get(f"reference_line_offset_{name}", 0.0) for name in ("x", "y", "z", "phi")):
        raise TerrainError(f"{path}: offsets of the reference line are not read; expected none, or a road without a "
                           "section of modifiers")  # fmt: skip
    for key in ("scale_length", "scale_width"):
        if not m.get(key, 1.0) > 0.0:
            raise TerrainError(f"{path}: the modifier {key} = {m[key]:g}: expected more than 0")

    def channel(name: str, key: str) -> Array:
        found = f"reference line {name}"
        column = rows[:, h.channels.index(found)] if found in h.channels else np.full(n, r.get(key, 0.0))
        if np.any(np.isnan(column[1:])):
            raise TerrainError(f"{path}: {found} is missing in row {int(np.argmax(np.isnan(column[1:]))) + 2}")
        if np.any(wild := np.abs(column[1:]) > _MOST[name]):
            k = int(np.argmax(wild)) + 1
            raise TerrainError(f"{path}: {found} in row {k + 1}: {column[k]:g}: expected numbers up to {_MOST[name]:g}")
        return column

    phi, slope = channel("phi", "reference_line_start_phi")[1:], channel("slope", "reference_line_start_s")[1:]
    bank = channel("banking", "reference_line_start_b")
    bank = np.where(np.isnan(bank), bank[1], bank) * m.get("scale_banking", 1.0)
    first = r.get("reference_line_start_phi", 0.0)
    if abs(first) > _MOST["phi"]:
        raise TerrainError(f"{path}: reference_line_start_phi = {first:g}: expected up to {_MOST['phi']:g}")
    phi, slope = first + m.get("scale_curvature", 1.0) * (phi - first), slope * m.get("scale_slope", 1.0)
    du, v = du * m.get("scale_length", 1.0), v * m.get("scale_width", 1.0)
    for scale, ends in (("slope", "z"), ("length", "xyz"), ("curvature", "xy")):
        for name in ends if f"scale_{scale}" in m else "":
            r.pop(f"reference_line_end_{name}", None)
    heights = rows[:, places].astype(np.float32) * np.float32(m.get("scale_z_grid", 1.0))
    heights = _filled(heights.astype(float), m, path)
    line = _line(h, r, phi, slope, du)
    line[:, 3] = bank
    if not as_written:
        line[:, :3] = _placed(h, m, line, first, start, float(np.interp(0.0, v, heights[0]))
                              + bank[0] * float(np.clip(0.0, v[0], v[-1])), path)  # fmt: skip
    turned = np.angle(np.exp(1j * (phi[-1] - phi[0])))
    closed = bool(n > 3 and np.hypot(*(line[-1, :2] - line[0, :2])) < _CLOSED and abs(turned) < 1.0)
    return Terrain("ROAD", heights, du, v=v, line=line, closed=closed, start=start)


def _line(h: Header, r: dict[str, float], phi: Array, slope: Array, du: float) -> Array:
    """(rows, 4): x, y, z of the reference line where the file has it, and 0.

    Where the file says its end, the line leads there: what the sum of the steps lacks is shared out along it.
    """
    n = len(phi) + 1
    line = np.zeros((n, 4))
    start, end = ([r.get(f"reference_line_{of}_{name}") for name in "xyz"] for of in ("start", "end"))
    for k, steps in enumerate((du * np.cos(phi), du * np.sin(phi), du * slope)):
        line[:, k] = np.cumsum(np.concatenate([[start[k] or 0.0], steps]))
        wanted = end[k]
        if k < 2 and (None in end[:2] or "reference line phi" not in h.channels):
            continue
        if wanted is None or (k == 2 and "reference line slope" not in h.channels and not np.any(slope)):
            continue
        back = np.cumsum(np.concatenate([[wanted], -steps[::-1]]))[::-1]
        for i in range(n - 1 if k < 2 else n - 2):
            share = (i + 1 if k < 2 else i) / (n - 1)  # of the library, which lags a row in z
            line[i + 1, k] = (1.0 - share) * (line[i, k] + steps[i]) + share * back[i + 1]
        line[-1, k] = wanted
    return line


def _placed(h: Header, m: dict[str, float], line: Array, phi: float, start: float, height: float, path: Path) -> Array:
    """x, y, z of the line after the modifiers; ``height``: of the first row over the line, at v = 0."""
    point = {name: m[f"refpoint_{name}"] for name in _REFPOINT if f"refpoint_{name}" in m}
    offset = {name: m[f"refline_{name}"] for name in _OFFSET if f"refline_{name}" in m}
    if point and offset:
        raise TerrainError(f"{path}: refpoint_{next(iter(point))} and refline_{next(iter(offset))}: expected modifiers "
                           "of one way to place the road")  # fmt: skip
    if point or not h.placed:
        for name, usual in (("u", start), *((n, 0.0) for n in ("u_fraction", "u_offset", "v", "v_offset"))):
            if point.get(name, usual) != usual:
                raise TerrainError(f"{path}: the modifier refpoint_{name} = {point[name]:g} is not read; expected "
                                   f"{usual:g}, the beginning of the reference line")  # fmt: skip
        if "v_fraction" in point:
            raise TerrainError(f"{path}: the modifier refpoint_v_fraction is not read; expected refpoint_v = 0")
        centre, turn = line[0, :2], point.get("phi", 0.0) - phi
        to = np.array([point.get("x", 0.0), point.get("y", 0.0)])
        rise = point.get("z", 0.0) - line[0, 2] - height
    else:
        centre = np.array([offset.get("rotcenter_x", line[0, 0]), offset.get("rotcenter_y", line[0, 1])])
        turn, rise = offset.get("offset_phi", 0.0), offset.get("offset_z", 0.0)
        to = centre + [offset.get("offset_x", 0.0), offset.get("offset_y", 0.0)]
    if not (turn or rise or np.any(to != centre)):
        return line[:, :3]
    x, y = (line[:, :2] - centre).T
    c, s = np.cos(turn), np.sin(turn)
    return np.stack([to[0] + c * x - s * y, to[1] + s * x + c * y, line[:, 2] + rise], 1)


def _filled(heights: Array, m: dict[str, float], path: Path) -> Array:
    """Heights with those that are missing as to the right of them, at the right border as to the left.

    With grid_nan_mode 1 they are grid_nan_offset.
    """
    mode, offset = m.get("grid_nan_mode", 2.0), m.get("grid_nan_offset", 0.0)
    missing = np.isnan(heights)
    if mode not in (0.0, 1.0, 2.0) or (offset and mode != 1.0 and missing.any()):
        raise TerrainError(f"{path}: grid_nan_mode = {mode:g}, grid_nan_offset = {offset:g}: these are not read; "
                           "expected 0, 1 or 2, and an offset with 1")  # fmt: skip
    if mode == 1.0:
        return np.where(missing, np.float32(offset), heights)
    filled = heights.copy()
    for i in np.flatnonzero(missing.any(axis=1)):
        known = np.flatnonzero(~missing[i])
        if not known.size:
            raise TerrainError(f"{path}: no height at all in row {i + 1}")
        filled[i] = heights[i, known[np.maximum(np.searchsorted(known, np.arange(missing.shape[1]), "right") - 1, 0)]]
    return filled
