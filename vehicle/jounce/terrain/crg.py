"""Roads in OpenCRG files (.crg): a grid of heights along a reference line with slope and banking.

Source: ASAM OpenCRG 1.2, file format and evaluation. The OpenCRG library keeps the grid in single precision, which is
what a packed terrain holds, and everything else in double.
"""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce.terrain.crg_road import MODIFIERS, Header, expected_rows, road
from jounce.terrain.packed import Terrain, TerrainError, check

Array = NDArray[np.float64]
#: Data format -> bytes of a value, or characters of a field; big-endian numbers or text of 80 characters a line.
_FORMATS = {"KRBI": 4, "KDBI": 8, "LRFI": 10, "LDFI": 20}
_LINE = 80
#: As the OpenCRG library: what follows a number after a space does not count.
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?(?=\s|$)")
_SECTION = re.compile(r"long section\s*(?:at v\s*=\s*(?P<v>\S+)|(?P<number>\d+))")
#: Channels of the reference line -> unit.
_CHANNELS = {"reference line phi": "rad", "reference line banking": "m/m", "reference line slope": "m/m"}
#: Keys of $ROAD_CRG that mean something; others are passed over.
_KEYS = (
    *(f"reference_line_{end}_{name}" for end in ("start", "end") for name in ("u", "x", "y", "z", "phi", "b", "s")),
    *(f"reference_line_offset_{name}" for name in ("x", "y", "z", "phi")), "reference_line_increment",
    *(f"long_section_v_{name}" for name in ("right", "left", "increment")),
)  # fmt: skip
#: Options of $ROAD_CRG_OPTS that change the ground beyond the edges -> values that are read.
_OPTIONS = {"border_mode_u": (0.0, 2.0), "border_mode_v": (0.0, 2.0), "border_offset_u": (0.0,),
            "border_offset_v": (0.0,), "border_smooth_ubeg": (0.0,), "border_smooth_uend": (0.0,)}  # fmt: skip


def read_crg(path: str | os.PathLike[str], *, as_written: bool = False) -> Terrain:
    """The road of an OpenCRG file, with heights that are missing filled from those across the road.

    A file without a section of modifiers has those of the standard: its road starts in the origin, along x, at
    height 0.
    With ``as_written`` it stays where the file has it.

    Raises TerrainError, with path and line where the file is wrong, and for what is not read: a reference to another
    file, and what a border of the road would have other than its last height.
    """
    path = Path(path)
    try:
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")  # a mark of UTF-8
    except OSError as error:
        raise TerrainError(f"{path}: {error.strerror}; expected an OpenCRG road (.crg)") from error
    header = _header(data, path)
    rows = _rows(data, header, path)
    made = road(header, rows, path, as_written=as_written)
    check(made, str(path))
    return made


def _header(data: bytes, path: Path) -> Header:
    h, section, at = Header(), "", 0
    for number, raw in enumerate(data.splitlines(keepends=True), 1):
        at += len(raw)
        line = raw.decode("latin-1").rstrip("\r\n")
        if line.lstrip().startswith("$"):
            word = line.split()[0].upper()
            if word.startswith("$$$$"):
                h.data_at, h.data_line = at, number + 1
                return h
            section = word if word != "$" else ""
            h.placed |= section.startswith("$ROAD_CRG_MODS")
            if section.startswith("$ROAD_CRG_FILE"):
                raise TerrainError(f"{path}, line {number}: the data are in another file; expected them in this one")
            continue
        text = line.partition("!")[0].strip()
        if not text or section.startswith("$CT") or text.startswith("*"):
            continue
        try:
            if section == "$ROAD_CRG" or section.startswith(("$ROAD_CRG_MODS", "$ROAD_CRG_OPTS")):
                _entry(h, section, text)
            elif section.startswith("$KD_DEFINITION"):
                _channel(h, text)
        except ValueError as error:
            raise TerrainError(f"{path}, line {number}: {error}") from error
    raise TerrainError(f"{path}: no line of $$$$ that ends the header: not an OpenCRG file, or cut")


def _number(text: str) -> float:
    """Raises ValueError."""
    found = _NUMBER.match(text.strip())
    number = float(found[0].upper().replace("D", "E")) if found else math.nan
    if not math.isfinite(number):
        raise ValueError(f"{text.strip()[:40]!r}: expected a number")
    return number


def _entry(h: Header, section: str, text: str) -> None:
    key, equals, value = text.partition("=")
    key = key.strip().lower()
    if not equals:
        raise ValueError(f"{text[:60]!r}: expected KEY = a number")
    if section == "$ROAD_CRG":
        known, into = key in _KEYS, h.road
    elif section.startswith("$ROAD_CRG_MODS"):
        known, into = True, h.modifiers
        if key not in MODIFIERS:
            raise ValueError(f"{key}: expected a modifier of OpenCRG: {', '.join(MODIFIERS)}")
    else:
        known, into = key in _OPTIONS, {}
    if not known:
        return
    try:
        into[key] = _number(value)
    except ValueError as error:
        raise ValueError(f"{key} = {error}") from error
    if key in _OPTIONS and into[key] not in _OPTIONS[key]:
        raise ValueError(f"{key} = {into[key]:g} is not read; expected {' or '.join(f'{v:g}' for v in _OPTIONS[key])}: "
                         "beyond its edge a road goes on as at the edge")  # fmt: skip


def _channel(h: Header, text: str) -> None:
    if text.startswith("#:"):
        h.format = text[2:6].strip().upper()
        if h.format not in _FORMATS:
            raise ValueError(f"data format {text[2:42]!r}: expected {', '.join(_FORMATS)}")
    elif text[:2].upper() == "U:":
        fields = text[2:].split(",")
        if len(fields) >= 4:
            h.start, h.increment = _number(fields[2]), _number(fields[3])
    elif text[:2].upper() == "D:":
        name, _, unit = (part.strip().lower() for part in text[2:].partition(","))
        name = " ".join(name.split())
        section = _SECTION.fullmatch(name)
        if not section and name not in _CHANNELS:
            raise ValueError(f"channel {name[:60]!r} is not read; expected phi, banking, slope and long sections")
        if unit != (wanted := _CHANNELS.get(name, "m")):
            raise ValueError(f"{name[:60]}: unit {unit[:20]!r}: expected {wanted}")
        if not section and name in h.channels:
            raise ValueError(f"{name} is there already; expected it once")
        if section:
            h.sections.append((len(h.channels), *_place(section)))
        h.channels.append(name)


def _place(section: re.Match[str]) -> tuple[float, bool]:
    """Position v [m], or number, and which of them it is."""
    return (float(section["number"]), False) if section["number"] else (_number(section["v"]), True)


def _rows(data: bytes, h: Header, path: Path) -> Array:
    """(rows, channels), NaN where a value is missing."""
    n, width = len(h.channels), _FORMATS.get(h.format, 0)
    if not n or not width:
        raise TerrainError(f"{path}: expected $KD_DEFINITION with a data format and channels")
    if h.format.startswith("K"):
        wanted = expected_rows(h)
        if not wanted:
            raise TerrainError(f"{path}: no reference_line_end_u: expected it, as the data are binary")
        count = min(wanted, (len(data) - h.data_at) // (width * n))  # the last record of 80 bytes is padded
        return np.frombuffer(data, f">f{width}", count * n, h.data_at).astype(float).reshape(count, n)
    lines = [(at, line) for at, line in enumerate(data[h.data_at :].splitlines(), h.data_line) if line.strip()]
    each, whole = -(-n * width // _LINE), _LINE // width  # lines of a row, and numbers of a line
    if len(lines) % each:
        raise TerrainError(f"{path}: {len(lines)} lines of data, {each} to a row: the last row is cut")
    fields = [min(whole, n - i * whole) for i in range(each)]
    with suppress(ValueError):
        return _at_once([line for _, line in lines], fields, width)
    found = np.empty((len(lines) // each, n))
    for i, (number, line) in enumerate(lines):
        first = i % each * whole
        for k in range(fields[i % each]):
            piece = line[k * width : (k + 1) * width]
            try:
                found[i // each, first + k] = _value(piece, width)
            except ValueError:
                what = f"row {i // each + 1}, {h.channels[first + k]}: {piece.decode('latin-1')!r}"
                raise TerrainError(f"{path}, line {number}: {what} is no number of {width} characters") from None
    return found


def _at_once(lines: list[bytes], fields: list[int], width: int) -> Array:
    """All fields in one step; ``fields``: how many in each line of a row. Raises ValueError where one is no number."""
    wanted = [count * width for count in fields] * (len(lines) // len(fields))
    if any(len(line) < size or b"_" in line for line, size in zip(lines, wanted, strict=True)):
        raise ValueError
    pieces = np.frombuffer(b"".join(line[:size] for line, size in zip(lines, wanted, strict=True)), f"S{width}")
    marked = np.char.find(pieces, b"*") >= 0
    found: Array = np.where(marked, b"0", pieces).astype(float)
    found[marked] = [_value(piece, width) for piece in pieces[marked].tolist()]
    return found.reshape(-1, sum(fields))


def _value(piece: bytes, width: int) -> float:
    """A field of a line. Raises ValueError, as for one that is cut."""
    if len(piece) < width or b"_" in piece:  # Python takes 1_0 for 10
        raise ValueError
    text = piece.strip().lower()
    if text == b"**unused**":
        return 0.0  # as in the OpenCRG library
    if text.startswith(b"*") or b"**" in text or text == b"nan":
        return math.nan
    return float(text.replace(b"d", b"e"))
