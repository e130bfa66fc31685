"""Terrain from files of other formats, by the end of their names."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from jounce.terrain.arrays import array
from jounce.terrain.crg import read_crg
from jounce.terrain.described import described
from jounce.terrain.images import geotiff, png
from jounce.terrain.layout import Layout
from jounce.terrain.packed import SUFFIX, Terrain, TerrainError, check, load, to_bytes

_SUFFIXES = (SUFFIX, ".crg", ".toml", ".npy", ".png", ".tif", ".csv")


def read(path: str | os.PathLike[str], layout: Layout | None = None) -> Terrain:
    """A terrain from a packed file (.jnt), an OpenCRG road (.crg), a description (.toml), heights or a profile.

    Heights: an array (.npy) with a row per x and a column per y; a grey picture (.png of 8 or 16 bits) or a GeoTIFF
    (.tif), whose first row is the northernmost, at the largest y. A profile (.csv) has the columns x, left and right
    [m], x in equal steps. Raises TerrainError.
    """
    path, layout = Path(path), layout or Layout()
    try:
        if path.suffix.lower() == ".crg":
            return layout.elsewhere(read_crg(path))
        if path.suffix.lower() == ".toml":
            return layout.elsewhere(described(path, read))
        made = _other(path, layout)
    except OSError as error:
        raise TerrainError(f"{path}: {error.strerror or error}; expected a road or terrain that can be read") from error
    except TerrainError as error:
        raise error if str(path) in str(error) else TerrainError(f"{path}: {error}") from error
    check(made, str(path))
    return made


def _other(path: Path, layout: Layout) -> Terrain:
    suffix = path.suffix.lower()  # of Windows, too
    if suffix == SUFFIX:
        return layout.elsewhere(load(path))
    if suffix == ".npy":
        return layout.grid(array(path))
    if suffix == ".png":
        return layout.grid(png(path)[::-1].T, needs=("spacing", "scale"))
    if suffix in (".tif", ".tiff"):
        found = geotiff(path)
        if none := int(np.isnan(found.heights).sum()):
            raise TerrainError(f"{path}: {none} of {found.heights.size} points have no height; gdal_fillnodata fills "
                               "them")  # fmt: skip
        if found.scaled and {"scale", "offset"} & set(layout.given()):
            raise TerrainError("scale, offset: the file has its own")
        t = layout.grid(found.heights, cell=found.cell)
        return replace(t, yaw=t.yaw + found.yaw) if found.yaw else t
    if suffix == ".csv":
        return layout.elsewhere(_profile(path))
    raise TerrainError(f"{path}: expected a file that ends in {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}")


def _profile(path: Path, track: float = 1.82) -> Terrain:
    """Two tracks that far apart [m], around the file's x axis."""
    try:
        lines = path.read_text(encoding="utf-8-sig").rstrip().splitlines()
    except UnicodeDecodeError as error:
        raise TerrainError(f"{path}: byte {error.start} is not UTF-8; expected a text (CSV)") from error
    if not lines or [c.strip() for c in lines[0].split(",")] != ["x", "left", "right"]:
        raise TerrainError(f"{path}: its first line is {(lines or [''])[0][:60]!r}: expected x,left,right")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        try:
            x, left, right = map(float, line.split(","))
            if not math.isfinite(x):
                raise ValueError
        except ValueError as error:
            raise TerrainError(f"{path}: line {number} is {line[:60]!r}: expected three numbers") from error
        rows.append((x, left, right))
    if len(rows) < 2:
        raise TerrainError(f"{path}: {len(rows)} places: expected two or more")
    x, left, right = np.array(rows).T
    step = (x[-1] - x[0]) / (len(x) - 1)
    if not step > 0.0 or not np.all(np.abs(np.diff(x) - step) <= 1e-6 * step):
        uneven = int(np.argmax(np.abs(np.diff(x) - step))) + 3
        raise TerrainError(f"{path}: line {uneven}: x does not go on by {step:.6g} m; expected equal steps, rising")
    return Terrain("PROFILE", np.stack([right, left], 1), float(step), track, (float(x[0]), -track / 2))


def packed(path: str | os.PathLike[str]) -> bytes:
    """The contents of the packed file of any file that `read` reads. Raises TerrainError."""
    return to_bytes(read(path), str(path))
