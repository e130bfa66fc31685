"""TIFF files written by hand: in strips or tiles, packed or not, of any numbers and byte order, with any tags."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping

import numpy as np

Tag = tuple[str, tuple[float, ...]] | str
_TYPES = {"s": (2, "s"), "H": (3, "H"), "I": (4, "I"), "d": (12, "d"), "Q": (16, "Q")}


def tiff(numbers: np.ndarray, tags: Mapping[int, Tag] | None = None, *, tile: int = 0, packed: bool = False,
         order: str = "<", big: bool = False) -> bytes:  # fmt: skip
    """A file of (rows, columns) or (rows, columns, samples) numbers; a tag is a text, or a type and numbers."""
    rows, columns, *samples = numbers.shape
    stored = numbers.astype(numbers.dtype.newbyteorder(order))
    if tile:
        full = np.pad(stored, [(0, -rows % tile), (0, -columns % tile), *[(0, 0)] * len(samples)])
        corners = ((i, j) for i in range(0, rows, tile) for j in range(0, columns, tile))
        blocks = [full[i : i + tile, j : j + tile].tobytes() for i, j in corners]
    else:
        blocks = [stored[i : i + 3].tobytes() for i in range(0, rows, 3)]
    blocks = [zlib.compress(b) for b in blocks] if packed else blocks
    each = samples[0] if samples else 1
    all_tags: dict[int, Tag] = {
        256: ("I", (columns,)), 257: ("I", (rows,)), 258: ("H", (8 * numbers.dtype.itemsize,) * each),
        259: ("H", (8 if packed else 1,)), 262: ("H", (1,)), 277: ("H", (each,)),
        339: ("H", ({"u": 1, "i": 2, "f": 3}[numbers.dtype.kind],) * each),
    }  # fmt: skip
    start = 16 if big else 8
    places = tuple(start + sum(map(len, blocks[:k])) for k in range(len(blocks)))
    sizes = tuple(map(len, blocks))
    if tile:
        all_tags |= {322: ("I", (tile,)), 323: ("I", (tile,)), 324: ("I", places), 325: ("I", sizes)}
    else:
        all_tags |= {273: ("I", places), 278: ("I", (3,)), 279: ("I", sizes)}
    body = b"".join(blocks) + b"\0" * (sum(sizes) % 2)
    return _file(dict(sorted((all_tags | dict(tags or {})).items())), body, start, order, big)


def _file(tags: Mapping[int, Tag], body: bytes, start: int, order: str, big: bool) -> bytes:
    count, offset, inline = ("Q", "Q", 8) if big else ("I", "I", 4)
    at = start + len(body)
    entries, behind = b"", b""
    after = at + (8 + 20 * len(tags) + 8 if big else 2 + 12 * len(tags) + 4)
    for number, tag in tags.items():
        kind, values = ("s", (tag,)) if isinstance(tag, str) else tag
        data = (str(values[0]).encode() + b"\0" if kind == "s" else
                struct.pack(f"{order}{len(values)}{_TYPES[kind][1]}", *values))  # fmt: skip
        n = len(data) if kind == "s" else len(values)
        entries += struct.pack(f"{order}HH{count}", number, _TYPES[kind][0], n)
        if len(data) <= inline:
            entries += data.ljust(inline, b"\0")
        else:
            entries += struct.pack(f"{order}{offset}", after + len(behind))
            behind += data + b"\0" * (len(data) % 2)
    mark = b"II" if order == "<" else b"MM"
    head = struct.pack(f"{order}HHHQ", 43, 8, 0, at) if big else struct.pack(f"{order}HI", 42, at)
    directory = struct.pack(f"{order}{'Q' if big else 'H'}", len(tags)) + entries + struct.pack(f"{order}{offset}", 0)
    return mark + head + body + directory + behind
