"""Heights from pictures: grey PNG of 8 or 16 bits, and GeoTIFF."""

from __future__ import annotations

import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce.optional import missing
from jounce.terrain.packed import TerrainError

Array = NDArray[np.float64]
_PNG = b"\x89PNG\r\n\x1a\n"
_MOST = 10**9
#: Tags of GeoTIFF (OGC 19-008r4, section 7.1): size of a cell, keys, and GDAL's of cells without data.
_SCALE, _KEYS, _NO_DATA = 33550, 34735, 42113
_MODEL_TYPE, _GEOGRAPHIC = 1024, 2


def png(path: Path) -> Array:
    """(rows, columns) grey levels, rows from the top, as they are written. Raises TerrainError.

    Source: W3C, Portable Network Graphics (third edition), sections 5, 9 and 11.2.
    """
    data = path.read_bytes()
    if not data.startswith(_PNG):
        raise TerrainError(f"{path}: not a PNG")
    at, parts, head = len(_PNG), [], b""
    while at + 12 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body, check = data[at + 8 : at + 8 + size], data[at + 8 + size : at + 12 + size]
        if len(check) < 4 or zlib.crc32(kind + body) != struct.unpack(">I", check)[0]:
            raise TerrainError(f"{path}: cut or damaged at byte {at}")
        at += 12 + size
        if kind == b"IHDR":
            head = body
        elif kind == b"IDAT":
            parts.append(body)
        elif kind == b"IEND":
            break
    else:
        raise TerrainError(f"{path}: cut: it has no end")
    if len(head) != 13:
        raise TerrainError(f"{path}: it has no header")
    columns, rows, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", head)
    if colour != 0 or depth not in (8, 16) or interlaced:
        how = ", interlaced" if interlaced else ""
        raise TerrainError(f"{path}: colour type {colour}, {depth} bits{how}: expected grey levels (type 0) of 8 or 16 "
                           "bits, not interlaced")  # fmt: skip
    if not 0 < rows * columns <= _MOST:
        raise TerrainError(f"{path}: {rows} x {columns} points: expected up to {_MOST}")
    width = columns * depth // 8
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(b"".join(parts), rows * (width + 1))
    except zlib.error as error:
        raise TerrainError(f"{path}: damaged: {error}") from error
    if len(raw) != rows * (width + 1):
        raise TerrainError(f"{path}: cut: {len(raw)} bytes of {rows * (width + 1)}")
    lines = _unfiltered(np.frombuffer(raw, np.uint8).reshape(rows, width + 1), depth // 8, path)
    return lines.view(">u2" if depth == 16 else np.uint8).astype(float)


def _unfiltered(lines: NDArray[np.uint8], step: int, path: Path) -> NDArray[np.uint8]:
    """Bytes of the lines without their filters; `step`: bytes of a point."""
    out = np.zeros((len(lines) + 1, lines.shape[1] - 1), np.uint8)
    for k, line in enumerate(lines, 1):
        how, now, above = int(line[0]), line[1:], out[k - 1]
        if how > 4:
            raise TerrainError(f"{path}: damaged: filter {how} in line {k}")
        if how == 0:
            out[k] = now
        elif how == 1:
            for j in range(step):
                out[k, j::step] = np.cumsum(now[j::step], dtype=np.uint8)
        elif how == 2:
            out[k] = now + above
        else:
            out[k] = _by_neighbours(now, above, step, average=how == 3)
    return out[1:]


def _by_neighbours(now: NDArray[np.uint8], above: NDArray[np.uint8], step: int, *, average: bool) -> list[int]:
    """A line whose filter is the average of left and above, or Paeth's."""
    line: list[int] = now.tolist()
    up = above.tolist()
    for j in range(len(line)):
        a, b = line[j - step] if j >= step else 0, up[j]
        if average:
            guess = (a + b) // 2
        else:
            c = up[j - step] if j >= step else 0
            off = abs(b - c), abs(a - c), abs(a + b - 2 * c)
            guess = (a, b, c)[off.index(min(off))]
        line[j] = (line[j] + guess) & 255
    return line


def geotiff(path: Path) -> tuple[Array, float, float]:
    """(rows, columns) heights [m], rows from the north, NaN where there are none, and the size of a cell [m].

    Needs Pillow. Raises TerrainError.
    """
    if missing("PIL"):
        raise TerrainError(f"{path}: reading a GeoTIFF needs Pillow: pip install pillow")
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings(action="error"), Image.open(path) as image:
            tags, mode = dict(getattr(image, "tag_v2", {})), image.mode
            heights = np.asarray(image, dtype=float)
    except (UnidentifiedImageError, Image.DecompressionBombError, Warning, ValueError, SyntaxError, EOFError,
            struct.error) as error:  # fmt: skip
        raise TerrainError(f"{path}: {error}") from error
    if heights.ndim != 2:
        raise TerrainError(f"{path}: mode {mode}: expected one number per point")
    if _SCALE not in tags:
        raise TerrainError(f"{path}: it has no size of a cell (tag {_SCALE}), so it is no GeoTIFF along x and y")
    keys = tags.get(_KEYS, ())
    if any(keys[k] == _MODEL_TYPE and keys[k + 3] == _GEOGRAPHIC for k in range(4, len(keys) - 3, 4)):
        raise TerrainError(f"{path}: its places are in degrees; expected metres (gdalwarp -t_srs makes them)")
    if _NO_DATA in tags:
        none = str(tags[_NO_DATA]).strip("\0 ")
        heights = np.where(heights == float(none), np.nan, heights)
    return heights, float(tags[_SCALE][0]), float(tags[_SCALE][1])
