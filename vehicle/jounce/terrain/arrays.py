"""Arrays of numbers from files of numpy."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError

import numpy as np
from numpy.typing import NDArray

from jounce.terrain.packed import TerrainError

Array = NDArray[np.float64]


def array(path: Path) -> Array:
    """The numbers of a .npy. Raises TerrainError, OSError."""
    try:
        heights = np.load(path, mmap_mode="r", allow_pickle=False)  # so that the file's size bounds what is allocated
    except (ValueError, TypeError, EOFError, OverflowError, MemoryError, SyntaxError, TokenError) as error:
        raise TerrainError(f"{path}: not a whole array of numbers; expected what numpy.save writes") from error
    if not isinstance(heights, np.ndarray) or heights.dtype.kind not in "fiu":
        kind = getattr(heights, "dtype", type(heights).__name__)
        raise TerrainError(f"{path}: an array of {kind}; expected one of real numbers")
    return heights.astype(float)
