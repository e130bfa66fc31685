"""Small OpenCRG files in the many ways in which other programs write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ROWS, STEP = 41, 0.5
V = (-1.5, -1.25, -1.0, 0.0, 1.0, 1.25, 1.5)
U = np.arange(ROWS) * STEP
PHI, SLOPE, BANK = 0.3 * np.sin(U / 8) + U / 200, 0.05 * np.sin(U / 5), 0.04 * np.cos(U / 4)
HEIGHTS = 0.1 * np.sin(U[:, None] / 2 + np.arange(len(V)))
EDGES = "LONG_SECTION_V_RIGHT =-1.50  ! explicit below\nLONG_SECTION_V_LEFT  = 1.50\n"
AT_V = tuple(f"long section at v = {v:.3f},m" for v in V)
NUMBERED = tuple(f"long section {k},m" for k in range(1, len(V) + 1))
LINES = ("reference line phi,rad", "reference line slope,m/m", "reference line banking,m/m")


def made(
    folder: Path, *, road: str = EDGES, mods: str | None = None, opts: str | None = None, lines: Sequence[str] = LINES,
    sections: Sequence[str] = AT_V, heights: Array = HEIGHTS, order: Sequence[int] | None = None, width: int = 10,
    changed: Callable[[str], str] = str,
) -> Path:  # fmt: skip
    """A road of text, whose first row has no value of the reference line; ``order``: of the channels."""
    columns = dict(zip(LINES, (PHI, SLOPE, BANK), strict=True))
    channels = [(name, columns[name]) for name in lines] + [(name, heights[:, k]) for k, name in enumerate(sections)]
    channels = [channels[k] for k in order or range(len(channels))]
    text = "$CT   ! made up\nreference_line_increment = 9, D:long section 8, #:KRBI\n$!****\n"
    text += f"$ROAD_CRG  ! parameters\nREFERENCE_LINE_INCREMENT = 0.5\n{road}$!****\n"
    for name, section in (("MODS", mods), ("OPTS", opts)):
        text += "" if section is None else f"$ROAD_CRG_{name}   ! of a run\n* a comment\n{section}$!****\n"
    text += f"$KD_Definition   ! of data\n#:{'LRFI' if width == 10 else 'LDFI'}   ! as text\n"
    text += "U:reference line x,m,0,0.5\n" + "".join(f"D:{name}   ! a channel\n" for name, _ in channels)
    text += "$!****\n* phi  slope\n" + "$" * 80 + "\n"
    for i in range(ROWS):
        row = [_field("**unused**" if i == 0 and name in LINES else column[i], width) for name, column in channels]
        text += "".join("".join(row[k : k + 80 // width]) + "\n" for k in range(0, len(row), 80 // width))
    path = folder / "made.crg"
    path.write_bytes(changed(text).encode("latin-1"))
    return path


def _field(value: float | str, width: int) -> str:
    if isinstance(value, str):
        return value.rjust(width)
    return "*" * width if np.isnan(value) else f"{value:{width}.{width - 3}f}"
