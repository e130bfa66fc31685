"""The text of a tire property file: sections, keys with their values and lines, rows of tables.

Sections `[NAME]`, lines `KEY = value`, comments from `$` or `!`, heads of tables in braces, rows of numbers below them,
blocks `(COMMENTS)` with rows of text. Source: MSC Software, "Adams/Tire", tire property file format TeimOrbit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["TireFileError", "TireText", "fault_of", "read_text"]

UNITS: Final = "UNITS"
"""The section whose keys are units; MF-Tyre 6.2 has a MASS in another one."""
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eEdD][-+]?\d+)?")
_KEY: Final = re.compile(r"[A-Z_][A-Z0-9_]*")
_LINE: Final = re.compile(r"\r\n|\r|\n")
#: Lines without data: the head of a table or of a block, and a row of text.
_ASIDE: Final = re.compile(r"""\{[^{}]*\}|\([\w ]+\)|'[^']*'|"[^"]*\"""")
#: What comes before a comment: texts in quotes may have its sign.
_BEFORE_COMMENT: Final = re.compile(r"""(?:'[^']*'|"[^"]*"|[^$!])*?(?=[$!]|$)""")
_LARGEST: Final = 1_000_000
"""Bytes of the largest file that is read."""


class TireFileError(ValueError):
    """A tire file is missing or malformed, or says what jounce does not know."""


@dataclass
class TireText:
    """What the lines say, as they are."""

    path: Path
    numbers: dict[str, float] = field(default_factory=dict)
    """By key."""
    texts: dict[str, str] = field(default_factory=dict)
    """By key."""
    units: dict[str, str] = field(default_factory=dict)
    """The texts of [UNITS] by key."""
    lines: dict[str, int] = field(default_factory=dict)
    """Key -> line; of a key in several sections the first one."""
    unit_lines: dict[str, int] = field(default_factory=dict)
    """The same of [UNITS]."""
    sections: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[tuple[int, tuple[float, ...]]]] = field(default_factory=dict)
    """Section -> line and numbers of each row; of a section that is there twice, those of the first."""
    notes: list[str] = field(default_factory=list)
    count: int = 0
    """Number of lines."""

    def fault(self, line: int, what: str) -> TireFileError:
        """Of a line."""
        return TireFileError(f"{self.path.name}: line {line}: {what}")

    def fault_of(self, key: str, what: str, lines: Mapping[str, int] | None = None) -> TireFileError:
        """Of a key that is there, at its line; of one that is not, at the end."""
        return fault_of(self.path, key, what, self.lines if lines is None else lines, self.count)


def fault_of(path: Path, key: str, what: str, lines: Mapping[str, int], count: int) -> TireFileError:
    """Of a key at its line, or of one that is missing, at the last one of ``count``."""
    there = key in lines
    words = f"{key}: {what}" if there else f"{key} is missing at the end of the file: {what}"
    return TireFileError(f"{path.name}: line {lines[key] if there else max(count, 1)}: {words}")


def read_text(path: Path, numbers: Container[str], texts: Container[str]) -> TireText:
    """Reads a file; ``numbers`` and ``texts`` are the keys that mean something, by what their values must be.

    Raises TireFileError, with the line.
    """
    return _Reader(TireText(path), numbers, texts).read(_content(path))


def _content(path: Path) -> str:
    try:
        if not path.is_file() and path.exists():
            raise TireFileError(f"{path}: not a regular file; expected a tire file (.tir)")
        if path.stat().st_size > _LARGEST:
            raise TireFileError(f"{path}: {path.stat().st_size} bytes; expected a tire file of at most {_LARGEST}")
        raw = path.read_bytes()
    except OSError as error:
        raise TireFileError(f"{path}: {error.strerror}; expected a tire file (.tir)") from error
    # a mark of UTF-8 or the end of a file of DOS; whatever the letters of its comments are
    text = raw.removeprefix(b"\xef\xbb\xbf").rstrip(b"\x1a").decode("latin-1")
    if "\0" in text:
        at = 1 + text.partition("\0")[0].count("\n")
        raise TireFileError(f"{path.name}: line {at}: a zero byte; expected text of one byte a letter, or UTF-8")
    return text


class _Reader:
    """Takes the lines of a file one after the other."""

    def __init__(self, found: TireText, numbers: Container[str], texts: Container[str]) -> None:
        self.found, self.numbers, self.words = found, numbers, texts
        self.section, self.head, self.again, self.prose = "", 0, False, False
        self.places: dict[tuple[str, str], int] = {}

    def read(self, text: str) -> TireText:
        lines, found, data = _LINE.split(text), self.found, ""
        cut = bool(lines[-1])  # the last line has no end
        for at, line in enumerate(lines if cut else lines[:-1], 1):
            found.count, before = at, _BEFORE_COMMENT.match(line)
            data = before.group() if before else line
            self._line(at, data.strip())
        if not found.sections:
            raise found.fault(max(found.count, 1), "the file has no [SECTION]; expected a tire file (.tir)")
        open_end = cut and data == lines[-1].rstrip()  # neither a space nor a comment ends the value
        last = next((key for key, at in found.lines.items() if open_end and at == found.count), "")
        if last in self.numbers or last in self.words:
            raise found.fault_of(last, "the file ends within this line, as one that was cut; expected an end of line")
        return found

    def _line(self, at: int, line: str) -> None:
        key, equals, value = (part.strip() for part in line.partition("="))
        if line.startswith("["):
            self._head(at, line)
        elif _ASIDE.fullmatch(line):
            self.prose = "COMMENT" in line.upper() if line[0] in "({" else self.prose
        elif not line or (self.prose and not (equals and _KEY.fullmatch(key.upper()))):
            return
        elif not self.section:
            raise self.found.fault(at, f"{line[:40]!r}: expected a [SECTION] first")
        elif not equals:
            self._row(at, line)
        elif not _KEY.fullmatch(key.upper()):
            raise self.found.fault(at, f"{key[:40]!r}: expected a KEY before =")
        else:
            self._assign(at, key.upper(), value)

    def _head(self, at: int, line: str) -> None:
        if not line.endswith("]") or not line[1:-1].strip():
            raise self.found.fault(at, f"{line[:40]!r}: expected [SECTION]")
        self.section, self.head, self.prose = line[1:-1].strip().upper(), at, False
        self.again = self.section in self.found.sections
        self.found.sections.setdefault(self.section, at)

    def _assign(self, at: int, key: str, value: str) -> None:
        found, unit = self.found, self.section == UNITS
        means = not unit and (key in self.numbers or key in self.words)
        if there := self.places.get((self.section, key)) or (means and found.lines.get(key)):
            raise found.fault(at, f"{key} is on line {there} already; expected it once")
        self.places[self.section, key] = at
        quoted, number = value[:1] in ("'", '"'), bool(_NUMBER.fullmatch(value))
        if quoted and (len(value) < 2 or value[-1] != value[0]):
            raise found.fault(at, f"{key} = {value[:40]}: expected a closing quote")
        text = value[1:-1].strip() if quoted else value
        if unit:
            found.units[key], found.unit_lines[key] = text, at
            return
        if key in self.numbers and not number:
            raise found.fault(at, f"{key} = {value[:40]!r}: expected a number")
        if number and not math.isfinite(_number(value)):
            raise found.fault(at, f"{key} = {value[:40]}: expected a number of a double")
        if key in found.lines:
            return  # in another section, and nothing that a law reads
        found.lines[key] = at
        if number:
            found.numbers[key] = _number(value)
        else:
            found.texts[key] = text

    def _row(self, at: int, line: str) -> None:
        parts = re.split(r"[\s,]+", line)
        if not all(_NUMBER.fullmatch(p) for p in parts):
            raise self.found.fault(at, f"{line[:40]!r}: expected KEY = value, or a row of numbers")
        if not self.again:
            self.found.tables.setdefault(self.section, []).append((at, tuple(map(_number, parts))))
            return
        note = f"line {self.head}: [{self.section}] is there a second time; the first counts"
        if note not in self.found.notes:
            self.found.notes.append(note)


def _number(text: str) -> float:
    return float(text.lower().replace("d", "e"))
