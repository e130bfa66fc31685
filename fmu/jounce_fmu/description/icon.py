"""Draws the FMU's icon: a wheel under its spring."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SIZE = 96  # pixels
_TIRE, _STEEL, _SPRING = (0.13, 0.15, 0.18), (0.62, 0.66, 0.70), (0.85, 0.33, 0.10)
#: The spring's polyline: body above, wheel centre below; unit square, y down.
_COIL = ((0.5, 0.08), (0.5, 0.14), (0.36, 0.18), (0.64, 0.25), (0.36, 0.32), (0.64, 0.39), (0.5, 0.43), (0.5, 0.66))


def _segment(x: Array, y: Array, a: tuple[float, float], b: tuple[float, float]) -> Array:
    """Distance of each point from the segment a b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    along = np.clip(((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy), 0.0, 1.0)
    return np.hypot(x - a[0] - along * dx, y - a[1] - along * dy)


def icon_pixels() -> NDArray[np.uint8]:
    """RGBA, shape (SIZE, SIZE, 4); transparent background, edges one pixel soft."""
    y, x = (np.mgrid[0:SIZE, 0:SIZE] + 0.5) / SIZE
    radius = np.hypot(x - 0.5, y - 0.66)
    coil = np.min([_segment(x, y, a, b) for a, b in zip(_COIL, _COIL[1:], strict=False)], axis=0)
    layers = (
        (np.abs(radius - 0.235) - 0.065, _TIRE),
        (np.abs(radius - 0.15) - 0.02, _STEEL),
        (_segment(x, y, (0.25, 0.08), (0.75, 0.08)) - 0.03, _STEEL),
        (coil - 0.022, _SPRING),
        (radius - 0.045, _STEEL),
    )
    color, alpha = np.zeros((SIZE, SIZE, 3)), np.zeros((SIZE, SIZE))
    for distance, paint in layers:  # each over those before: Porter and Duff 1984, "over"
        cover = np.clip(0.5 - distance * SIZE, 0.0, 1.0)
        color = color * (1.0 - cover)[..., None] + np.array(paint) * cover[..., None]
        alpha = alpha * (1.0 - cover) + cover
    straight = color / np.maximum(alpha, 1e-9)[..., None]
    return np.rint(255.0 * np.dstack([straight, alpha])).astype(np.uint8)


def icon_png() -> bytes:
    """The icon as a PNG file (W3C PNG specification, sections 5 and 11)."""
    rows = b"".join(b"\0" + row.tobytes() for row in icon_pixels())  # filter type 0 before each row
    head = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)  # 8 bits, RGBA
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows, 9)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
