"""Heights from pictures: grey PNG of 8 or 16 bits, and GeoTIFF. They need Pillow."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.optional import missing
from jounce.terrain.packed import TerrainError

Array = NDArray[np.float64]
#: Tags of GeoTIFF (OGC 19-008r4, section 7.1): size of a cell, keys, and GDAL's of cells without data.
_SCALE, _KEYS, _NO_DATA = 33550, 34735, 42113
_MODEL_TYPE, _GEOGRAPHIC = 1024, 2


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
                tags, mode = dict(getattr(image, "tag_v2", {})), image.mode
                values = np.asarray(image)
    except FileNotFoundError:
        raise
    except (OSError, Image.DecompressionBombError, Warning, ValueError, SyntaxError, struct.error) as error:
        raise TerrainError(f"{path}: cut, damaged, or not a {kind}: {error}") from error
    if values.ndim != 2 or mode in ("P", "1"):
        raise TerrainError(f"{path}: mode {mode}: expected grey levels, one number per point")
    return values.astype(float), tags


def png(path: Path) -> Array:
    """(rows, columns) grey levels, rows from the top, as they are written. Raises TerrainError."""
    return _read(path, "PNG")[0]


def geotiff(path: Path) -> tuple[Array, float, float]:
    """(rows, columns) heights [m], rows from the north, NaN where there are none, and the size of a cell [m].

    Raises TerrainError.
    """
    heights, tags = _read(path, "TIFF")
    if _SCALE not in tags:
        raise TerrainError(f"{path}: it has no size of a cell (tag {_SCALE}), so it is no GeoTIFF along x and y")
    keys = tags.get(_KEYS, ())
    if any(keys[k] == _MODEL_TYPE and keys[k + 3] == _GEOGRAPHIC for k in range(4, len(keys) - 3, 4)):
        raise TerrainError(f"{path}: its places are in degrees; expected metres (gdalwarp -t_srs makes them)")
    if _NO_DATA in tags:
        none = str(tags[_NO_DATA]).strip("\0 ")
        heights = np.where(heights == float(none), np.nan, heights)
    return heights, float(tags[_SCALE][0]), float(tags[_SCALE][1])
