"""Roads in OpenCRG files (.crg): a grid of heights along a reference line with slope and banking.

Source: ASAM OpenCRG 1.2, file format and evaluation. The OpenCRG library keeps the grid in single precision, which is
what a packed terrain holds, and everything else in double.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce.terrain.packed import Terrain, TerrainError

Array = NDArray[np.float64]
#: Data format -> bytes of a value, or characters of a field; big-endian numbers or text of 80 characters a line.
_FORMATS = {"KRBI": 4, "KDBI": 8, "LRFI": 10, "LDFI": 20}
_LINE = 80
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?")
#: A closed road's ends are this close, in position [m] and direction [rad].
_CLOSED = 1e-3
_LIKE_LINE = ("phi", "banking", "slope")


@dataclass
class _Header:
    road: dict[str, float] = field(default_factory=dict)
    channels: list[str] = field(default_factory=list)
    start: float | None = None
    increment: float | None = None
    format: str = ""
    placed: bool = False
    """The file has a section of modifiers, if an empty one: its road stays where it is."""
    data_at: int = -1


def read_crg(path: str | os.PathLike[str], *, as_written: bool = False) -> Terrain:
    """The road of an OpenCRG file, with heights that are missing filled from the nearest ones across the road.

    A file without a section of modifiers has those of the standard: its road starts in the origin, along x, at
    height 0.
    With ``as_written`` it stays where the file has it.

    Raises TerrainError, with path and line where the file is wrong, and for what is not read: modifiers other than the
    standard's defaults, and a reference to another file.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TerrainError(f"{path}: {error.strerror}; expected an OpenCRG road (.crg)") from error
    header = _header(data, path)
    rows = _rows(data[header.data_at :], header, path)
    return _road(header, rows, path, as_written or header.placed)


def _header(data: bytes, path: Path) -> _Header:
    h, section, at = _Header(), "", 0
    for number, raw in enumerate(data.splitlines(keepends=True), 1):
        at += len(raw)
        line = raw.decode("latin-1").rstrip("\r\n")
        if line.lstrip().startswith("$"):
            word = line.split()[0].upper()
            if word.startswith("$$$$"):
                h.data_at = at
                return h
            section = word if word != "$" else ""
            h.placed |= section.startswith("$ROAD_CRG_MODS")
            if section.startswith("$ROAD_CRG_FILE"):
                raise TerrainError(f"{path}, line {number}: the data are in another file; expected them in this one")
            continue
        text = line.partition("!")[0].strip()
        if not text or section.startswith("$CT") or text.startswith("*"):
            continue
        if section == "$ROAD_CRG" or section.startswith("$ROAD_CRG_MODS"):
            _entry(h, section, text, number, path)
        elif section.startswith("$KD_DEFINITION"):
            _channel(h, text, number, path)
    raise TerrainError(f"{path}: no line of $$$$ that ends the header: not an OpenCRG file, or cut")


def _entry(h: _Header, section: str, text: str, number: int, path: Path) -> None:
    key, equals, value = text.partition("=")
    key, found = key.strip().lower(), _NUMBER.match(value.strip())
    if not equals or not found:
        raise TerrainError(f"{path}, line {number}: {text!r}: expected KEY = a number")
    if section == "$ROAD_CRG":
        h.road[key] = float(found[0].upper().replace("D", "E"))
    elif key not in ("grid_nan_mode", "grid_nan_offset"):
        raise TerrainError(f"{path}, line {number}: the modifier {key} is not read; expected a road without modifiers")


def _channel(h: _Header, text: str, number: int, path: Path) -> None:
    if text.startswith("#:"):
        h.format = text[2:6].strip().upper()
        if h.format not in _FORMATS:
            raise TerrainError(f"{path}, line {number}: data format {text[2:]!r}: expected {', '.join(_FORMATS)}")
    elif text[:2].upper() in ("U:", "D:"):
        fields = [part.strip() for part in text[2:].split(",")]
        if text[0].upper() == "D":
            h.channels.append(fields[0].lower())
        elif len(fields) >= 4:
            h.start, h.increment = float(fields[2]), float(fields[3])


def _rows(data: bytes, h: _Header, path: Path) -> Array:
    """(rows, channels), NaN where a value is missing."""
    n, width = len(h.channels), _FORMATS.get(h.format, 0)
    if not n or not width:
        raise TerrainError(f"{path}: expected $KD_DEFINITION with a data format and channels")
    if h.format.startswith("K"):
        count = min(_expected(h) or len(data), len(data) // (width * n))  # the last record of 80 bytes is padded
        return np.frombuffer(data, f">f{width}", count * n).astype(float).reshape(count, n)
    lines = [line for line in data.splitlines() if line.strip()]
    each = -(-n * width // _LINE)  # lines of a row
    if len(lines) % each:
        raise TerrainError(f"{path}: {len(lines)} lines of data, {each} to a row: the last row is cut")
    text = b"".join(line.ljust(_LINE) for line in lines)
    found = np.empty((len(lines) // each, n))
    for i in range(len(found)):
        for k in range(n):
            at = i * each * _LINE + k * width
            piece = text[at : at + width].strip()
            try:
                found[i, k] = np.nan if not piece or piece.startswith(b"*") or b"**" in piece else float(piece)
            except ValueError:
                what = f"{path}: row {i + 1}, {h.channels[k]}: {piece.decode('latin-1')!r}"
                raise TerrainError(f"{what} is no number") from None
    return found


def _start_and_step(h: _Header) -> tuple[float, float]:
    """u of the first row, and from row to row [m]; 0 where it is not said."""
    r = h.road
    return r.get("reference_line_start_u", h.start or 0.0), r.get("reference_line_increment", h.increment or 0.0)


def _expected(h: _Header) -> int:
    """Number of rows, 0 where the header does not say it."""
    (start, step), end = _start_and_step(h), h.road.get("reference_line_end_u")
    return 0 if end is None or not step > 0.0 else round((end - start) / step) + 1


def _columns(h: _Header, path: Path) -> tuple[list[int], Array]:
    """Places of the long sections among the channels, from right to left, and their positions v."""
    sections = [(k, name) for k, name in enumerate(h.channels) if name.startswith("long section")]
    at = [_NUMBER.search(name.partition("=")[2]) for _, name in sections]
    if len(sections) < 2:
        raise TerrainError(f"{path}: {len(sections)} long sections; expected 2 or more")
    if all(at):
        v = np.array([float(found[0]) for found in at if found])
    else:
        right, left = h.road.get("long_section_v_right"), h.road.get("long_section_v_left")
        step = h.road.get("long_section_v_increment")
        if right is None or (left is None and step is None):
            raise TerrainError(f"{path}: no positions of the long sections: expected long_section_v_right and _left")
        span = (step or 0.0) * (len(sections) - 1) if left is None else left - right
        v = right + span * np.arange(len(sections)) / (len(sections) - 1)
    order = np.argsort(v)
    return [sections[k][0] for k in order], v[order]


def _road(h: _Header, rows: Array, path: Path, placed: bool) -> Terrain:
    r, n = h.road, len(rows)
    places, v = _columns(h, path)
    start, du = _start_and_step(h)
    if n < 2 or not du > 0.0:
        raise TerrainError(f"{path}: {n} rows, increment {du}: expected 2 rows or more, and a spacing above 0")
    if n != (_expected(h) or n):
        raise TerrainError(f"{path}: {n} rows of data where the header says {_expected(h)}: cut")
    if unknown := [c for c in h.channels if not c.startswith("long section")
                   and c not in {f"reference line {name}" for name in _LIKE_LINE}]:  # fmt: skip
        raise TerrainError(f"{path}: channel {unknown[0]!r} is not read; expected phi, banking, slope "
                           "and long sections")

    def channel(name: str, key: str) -> Array:
        found = f"reference line {name}"
        column = rows[:, h.channels.index(found)] if found in h.channels else np.full(n, r.get(key, 0.0))
        if np.any(np.isnan(column[1:])):
            raise TerrainError(f"{path}: {found} is missing in row {int(np.argmax(np.isnan(column[1:]))) + 2}")
        return column

    phi = channel("phi", "reference_line_start_phi")[1:]
    slope, bank = channel("slope", "reference_line_start_s")[1:], channel("banking", "reference_line_start_b")
    bank = np.where(np.isnan(bank), bank[1], bank)
    heights = _filled(rows[:, places], v, path)
    if placed and any(r.get(f"reference_line_offset_{name}", 0.0) for name in ("x", "y", "z", "phi")):
        raise TerrainError(f"{path}: offsets of the reference line are not read; expected none, or a road "
                           "without a section of modifiers")
    if not placed:
        phi = phi - r.get("reference_line_start_phi", phi[0])
        r = r | {f"reference_line_start_{name}": 0.0 for name in "xy"}
        r["reference_line_start_z"] = -float(np.interp(0.0, v, heights[0].astype(np.float32)))
    line = np.stack([
        _summed(r.get("reference_line_start_x", 0.0), du * np.cos(phi)),
        _summed(r.get("reference_line_start_y", 0.0), du * np.sin(phi)),
        _summed(r.get("reference_line_start_z", 0.0), du * slope),
        bank,
    ], 1)  # fmt: skip
    turned = np.angle(np.exp(1j * (phi[-1] - phi[0])))
    closed = bool(n > 3 and np.hypot(*(line[-1, :2] - line[0, :2])) < _CLOSED and abs(turned) < 1.0)
    return Terrain("ROAD", heights, du, v=v, line=line, closed=closed, start=start)


def _summed(first: float, steps: Array) -> Array:
    return np.cumsum(np.concatenate([[first], steps]))


def _filled(heights: Array, v: Array, path: Path) -> Array:
    """Heights with those that are missing taken from the nearest v of the same row."""
    filled = heights.copy()
    for i in np.flatnonzero(np.isnan(heights).any(axis=1)):
        known = np.flatnonzero(~np.isnan(heights[i]))
        if not known.size:
            raise TerrainError(f"{path}: no height at all in row {i + 1}")
        nearest = np.abs(v[:, None] - v[known][None, :]).argmin(axis=1)
        filled[i] = heights[i, known[nearest]]
    return filled
