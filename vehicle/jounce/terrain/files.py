"""Terrain from files of other formats, by the end of their names."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from jounce.terrain.crg import read_crg
from jounce.terrain.described import described
from jounce.terrain.packed import SUFFIX, Terrain, TerrainError, check, load, to_bytes


def read(path: str | os.PathLike[str]) -> Terrain:
    """A terrain from a packed file (.jnt), an OpenCRG road (.crg), a description (.toml) or an array of heights (.npy).

    Heights have a row per x and a column per y, 1 m apart, from the origin on. Raises TerrainError.
    """
    path = Path(path)
    if path.suffix == SUFFIX:
        return load(path)
    try:
        if path.suffix == ".crg":
            return read_crg(path)
        if path.suffix == ".toml":
            return described(path, read)
        if path.suffix == ".npy":
            return _heights(path)
    except OSError as error:
        raise TerrainError(f"{path}: {error.strerror or error}") from error
    raise TerrainError(f"{path}: expected a file that ends in {SUFFIX}, .crg, .toml or .npy")


def _heights(path: Path) -> Terrain:
    try:
        heights = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise TerrainError(f"{path}: not a whole array of numbers; expected what numpy.save writes") from error
    if not isinstance(heights, np.ndarray) or heights.dtype.kind not in "fiu":
        kind = getattr(heights, "dtype", type(heights).__name__)
        raise TerrainError(f"{path}: an array of {kind}; expected one of real numbers")
    terrain = Terrain("HEIGHTMAP", heights.astype(float), 1.0)
    check(terrain, str(path))
    return terrain


def packed(path: str | os.PathLike[str]) -> bytes:
    """The contents of the packed file of any file that `read` reads. Raises TerrainError."""
    return to_bytes(read(path), str(path))
