"""Heights from pictures: grey PNG of 8 or 16 bits, and GeoTIFF. They need Pillow."""

from __future__ import annotations

import re
import struct
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.optional import missing
from jounce.terrain.packed import TerrainError

Array = NDArray[np.float64]
#: Tags of TIFF, of GeoTIFF (OGC 19-008r4, section 7.1), and GDAL's: what it knows beside, and cells without data.
_BITS, _SCALE, _TRANSFORMATION, _KEYS, _METADATA, _NO_DATA = 258, 33550, 34264, 34735, 42112, 42113
#: Keys of GeoTIFF: kind of coordinates (2: degrees), unit of places and of heights (9001: metre).
_MODEL_TYPE, _GEOGRAPHIC, _UNITS, _METRE = 1024, 2, {3076: "places", 4099: "heights"}, 9001


def _read(path: Path, kind: str) -> tuple[Array, Mapping[int, Any]]:
    """(rows, columns) numbers of a picture of one number per point, rows from the top, and its tags."""
    if missing("PIL"):
        raise TerrainError(f"{path}: reading a {kind} needs Pillow: pip install pillow")
    from PIL import Image

    try:
        with warnings.catch_warnings(action="error"):
            with Image.open(path, formats=[kind]) as image:
                image.verify()  # reads all of it and its checksums; nothing can be read behind it
            with Image.open(path, formats=[kind]) as image:
                tags, mode, swapped = dict(getattr(image, "tag_v2", {})), image.mode, _swapped_numbers(image)
                values = np.asarray(image)
    except FileNotFoundError:
        raise
    except (OSError, Image.DecompressionBombError, Warning, ValueError, SyntaxError, struct.error) as error:
        if kind == "TIFF" and (odd := _odd_numbers(path)):
            raise TerrainError(f"{path}: {odd}") from error
        raise TerrainError(f"{path}: cut, damaged, or not a {kind}: {error}") from error
    if values.ndim != 2 or mode in ("P", "1"):
        raise TerrainError(f"{path}: mode {mode}: expected grey levels, one number per point")
    if swapped:
        values = values.astype(swapped).byteswap()
    return values.astype(float), tags


def _swapped_numbers(image: Any) -> str:
    """The numbers whose bytes Pillow is about to turn round; empty: none.

    libtiff unpacks big-endian numbers to those of the machine, which Pillow (up to 13.0 at least) then takes for
    big-endian ones, in 32 bits and in 16 bits with a sign.
    """
    codec, _, _, how = image.tile[0]
    kinds = {"F;32BF": "f4", "I;32BS": "i4", "I;16BS": "i2"}
    return kinds.get(how[0], "") if codec == "libtiff" and sys.byteorder == "little" else ""


def png(path: Path) -> Array:
    """(rows, columns) grey levels, rows from the top, as they are written. Raises TerrainError."""
    return _read(path, "PNG")[0]


def _odd_numbers(path: Path) -> str:
    """What a TIFF has that Pillow cannot read, by its tags; empty where these cannot be read either."""
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    try:
        with path.open("rb") as file, warnings.catch_warnings(action="ignore"):
            head = file.read(16)
            tags = ImageFileDirectory_v2(head if head[2:3] == b"+" or head[3:4] == b"+" else head[:8])
            file.seek(tags.next)
            tags.load(file)
        bits = tuple(map(int, tags.get(_BITS, (1,))))
    except (OSError, SyntaxError, ValueError, TypeError, LookupError, struct.error):  # damaged: the caller says so
        return ""
    if len(bits) > 1:
        return f"{len(bits)} numbers per point; expected one (gdal_translate -b 1 takes the first)"
    if bits[0] > 32:
        return f"numbers of {bits[0]} bits; expected up to 32 (gdal_translate -ot Float32 makes them)"
    return ""


@dataclass(frozen=True)
class GeoTiff:
    """What a GeoTIFF says of its heights."""

    heights: Array
    """(along x, along y) [m], or units where it is `scaled`; NaN where there are none."""
    cell: tuple[float, float]
    """Distance of neighbours along x and y [m]."""
    yaw: float
    """Direction of x from the east [rad]."""
    scaled: bool
    """Whether the file itself says how high its units are."""


def geotiff(path: Path) -> GeoTiff:
    """Heights of a GeoTIFF. Raises TerrainError."""
    numbers, tags = _read(path, "TIFF")
    along, down = _axes(path, tags)
    keys = _keys(tags.get(_KEYS, ()))
    if keys.get(_MODEL_TYPE) == _GEOGRAPHIC:
        raise TerrainError(f"{path}: its places are in degrees; expected metres (gdalwarp -t_srs makes them)")
    for key, what in _UNITS.items():
        if keys.get(key, _METRE) != _METRE:
            raise TerrainError(f"{path}: its {what} are in the unit {keys[key]} of EPSG; expected metres ({_METRE})")
    heights = numbers
    if _NO_DATA in tags:
        none = np.array(_number(path, str(tags[_NO_DATA]).strip("\0 "), "its value for points without height"))
        close = np.float32(none) == numbers.astype(np.float32) if np.isfinite(none) else numbers != numbers
        heights = np.where(close, np.nan, numbers)
    known = _metadata(path, tags)
    heights = heights * known.get("scale", 1.0) + known.get("offset", 0.0)
    upward = along[0] * down[1] - along[1] * down[0] < 0.0  # usual: rows follow each other to the right of x
    return GeoTiff((heights[::-1] if upward else heights).T, (float(np.hypot(*along)), float(np.hypot(*down))),
                   float(np.arctan2(along[1], along[0])), bool(known))  # fmt: skip


def _axes(path: Path, tags: Mapping[int, Any]) -> tuple[tuple[float, float], tuple[float, float]]:
    """From a point to the next one of its row, and of its column [m], to the east and north."""
    if _TRANSFORMATION in tags:
        m = tuple(map(float, tags[_TRANSFORMATION]))
        along, down = (m[0], m[4]), (m[1], m[5])
    elif _SCALE in tags:
        along, down = (float(tags[_SCALE][0]), 0.0), (0.0, -float(tags[_SCALE][1]))
    else:
        raise TerrainError(f"{path}: it has no size of a cell (tag {_SCALE} or {_TRANSFORMATION}), so it is no GeoTIFF")
    sizes = np.hypot(*along), np.hypot(*down)
    if not all(np.isfinite(s) and s > 0.0 for s in sizes):
        raise TerrainError(f"{path}: a cell of {sizes[0]:g} x {sizes[1]:g} m; expected sizes above 0")
    if abs(along[0] * down[0] + along[1] * down[1]) > 1e-6 * sizes[0] * sizes[1]:
        raise TerrainError(f"{path}: its rows and columns are not at right angles (gdalwarp makes them so)")
    return along, down


def _keys(directory: tuple[int, ...]) -> dict[int, int]:
    """GeoTIFF's keys whose value stands in the directory itself."""
    rows = (directory[k : k + 4] for k in range(4, len(directory) - 3, 4))
    return {key: value for key, place, _, value in rows if place == 0}


def _metadata(path: Path, tags: Mapping[int, Any]) -> dict[str, float]:
    """Height of a unit and of 0 units [m], where GDAL has written them."""
    found = {}
    for item in re.findall(r"<Item\b[^>]*>[^<]*", str(tags.get(_METADATA, ""))):
        head, _, text = item.partition(">")
        if role := re.search(r'\brole="(scale|offset)"', head):
            found[role[1]] = _number(path, text.strip(), f"its {role[1]}")
    return found


def _number(path: Path, text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise TerrainError(f"{path}: {what} is {text[:40]!r}: expected a number") from error
