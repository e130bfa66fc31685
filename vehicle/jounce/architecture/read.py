"""Reads the tables of an architecture's TOML file: every refusal names file, entry, value and what is allowed.

A number or a list of numbers may stand alone, or as a table {value, unit, source}. Units are those of the SI.
"""

from __future__ import annotations

import math
import re
import reprlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.data import DataError

Array = NDArray[np.float64]


#: Least number above 0 and largest number of a file: beyond them no vehicle has any, and their products overflow.
LEAST, LARGEST = 1e-9, 1e12
#: What is a name: it stands in names of signals and of files.
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_. -]*[A-Za-z0-9_])?")
_LONGEST = 80


class ArchitectureError(DataError):
    """An architecture's file cannot be read, or makes no vehicle."""


@dataclass
class Table:
    """One table of a file, whose keys are taken one by one."""

    content: Mapping[str, Any]
    where: str
    """File and entry, for messages."""
    sources: dict[str, str] = field(default_factory=dict)
    """Entry -> source of its number, of the whole file."""
    _taken: set[str] = field(default_factory=set)

    def fault(self, text: str) -> ArchitectureError:
        """An error at this entry."""
        return ArchitectureError(f"{self.where}: {text}")

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def note_source(self) -> None:
        """Takes the source of all of the entry's numbers, where it has one."""
        if source := self.text("source", ""):
            self.sources[self.where] = source

    def done(self) -> None:
        """Raises ArchitectureError where a key has not been taken."""
        self.note_source()
        for key in self.content:
            if key not in self._taken:
                near = get_close_matches(key, self._taken, n=1)
                hint = f"did you mean {near[0]}? " if near else ""
                raise self.fault(f"unknown key {shown(key)}; {hint}expected {', '.join(sorted(self._taken))}")

    def _take(self, key: str) -> Any:
        self._taken.add(key)
        return self.content.get(key)

    def text(self, key: str, default: str | None = None, *, of: Iterable[str] = ()) -> str:
        """A text, where `of` is given one of them."""
        item, allowed = self._take(key), tuple(of)
        if item is None:
            if default is None:
                raise self.fault(f"lacks {key}" + (f"; expected one of {', '.join(allowed)}" if allowed else ""))
            return default
        if not isinstance(item, str) or not item or (allowed and item not in allowed):
            wanted = f"one of {', '.join(allowed)}" if allowed else "a text"
            raise self.fault(f"{key} = {shown(item)}: expected {wanted}")
        return item

    def name(self, key: str = "name", default: str | None = None) -> str:
        """A name: letters, digits, _ and, inside, . - and blanks."""
        name = self.text(key, default)
        if key in self and (len(name) > _LONGEST or not _NAME.fullmatch(name)):
            raise self.fault(f"{key} = {shown(name)}: expected at most {_LONGEST} letters, digits and _, between them "
                             "also . - and blanks")  # fmt: skip
        return name

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        item = self._take(key)
        if item is None:
            return default
        if not isinstance(item, bool):
            raise self.fault(f"{key} = {shown(item)}: expected true or false")
        return item

    def number(
        self, key: str, unit: str, default: float | None = None, *, above: float = -math.inf, least: float = -math.inf
    ) -> float:
        """A finite number, larger than `above` and no smaller than `least`."""
        item = self._value(key, unit)
        if item is None:
            if default is None:
                raise self.fault(f"lacks {key} [{unit}]")
            return default
        number = self._finite(key, item, "a number")
        if not (number > above and number >= least) or (above == 0 and number < LEAST):
            wanted = f"more than {above:g}" if above > -math.inf else f"{least:g} or more"
            wanted += f", {LEAST:g} or more" if 0 < number < LEAST else ""
            raise self.fault(f"{key} = {number:g} {unit}: expected {wanted}")
        return number

    def vector(self, key: str, unit: str, default: Array | None = None, *, sizes: tuple[int, ...] = (3,)) -> Array:
        """A list of finite numbers."""
        item = self._value(key, unit)
        count = " or ".join(map(str, sizes))
        if item is None:
            if default is None:
                raise self.fault(f"lacks {key}, {count} numbers [{unit}]")
            return default
        if not isinstance(item, list) or len(item) not in sizes:
            raise self.fault(f"{key} = {shown(item)}: expected a list of {count} numbers [{unit}]")
        return np.array([self._finite(key, part, f"{count} numbers") for part in item])

    def direction(self, key: str, default: Array | None = None) -> Array:
        """A vector, made as long as 1."""
        vector = self.vector(key, "1", default)
        length = float(np.linalg.norm(vector))
        if length < 1e-9:
            raise self.fault(f"{key} = {shown(vector.tolist())}: expected a vector that is not zero")
        unit: Array = vector / length
        return unit

    def points(self, key: str) -> Array:
        """(n, 3) list of points [m]."""
        item = self._value(key, "m")
        if not isinstance(item, list) or not item or any(not isinstance(p, list) or len(p) != 3 for p in item):
            raise self.fault(f"{key} = {shown(item)}: expected a list of points of 3 numbers [m]")
        return np.array([[self._finite(key, part, "points of 3 numbers") for part in p] for p in item])

    def pairs(self, key: str, unit: str) -> tuple[tuple[float, float], ...]:
        """A list of pairs of finite numbers."""
        item = self._value(key, unit)
        if not isinstance(item, list) or any(not isinstance(p, list) or len(p) != 2 for p in item):
            raise self.fault(f"{key} = {shown(item)}: expected a list of pairs [{unit}]")
        wanted = "pairs of numbers"
        return tuple((self._finite(key, a, wanted), self._finite(key, b, wanted)) for a, b in item)

    def triangles(self, key: str, count: int) -> NDArray[np.int64]:
        """(n, 3) numbers of points, from 0 to count - 1."""
        item = self._take(key)
        whole = isinstance(item, list) and item and all(
            isinstance(t, list) and len(t) == 3 and all(type(k) is int and 0 <= k < count for k in t) for t in item
        )  # fmt: skip
        if not whole:
            raise self.fault(f"{key} = {shown(item)}: expected triangles of 3 numbers of points, 0 to {count - 1}")
        return np.array(item)

    def table(self, key: str) -> Table:
        """A table inside; an empty one where there is none."""
        item = self._take(key)
        if item is not None and not isinstance(item, dict):
            raise self.fault(f"{key} = {shown(item)}: expected a table")
        return Table(item or {}, f"{self.where}: {key}", self.sources)

    def tables(self, key: str) -> list[Table]:
        """Tables [[key]], each named in messages by its name or its place."""
        item = self._take(key)
        if isinstance(item, dict):
            item = [item]
        if item is not None and (not isinstance(item, list) or any(not isinstance(t, dict) for t in item)):
            raise self.fault(f"{key}: expected tables [[{key}]]")
        return [Table(t, f"{self.where}: {key} {_label(t, k)}", self.sources) for k, t in enumerate(item or ())]

    def _value(self, key: str, unit: str) -> Any:
        item = self._take(key)
        if not isinstance(item, dict):
            return item
        if "value" not in item or (odd := item.keys() - {"value", "unit", "source"}):
            wrong = f"unknown key {shown(min(odd))}" if "value" in item else "lacks value"
            raise self.fault(f"{key}: {wrong}; expected value, unit, source")
        if item.get("unit", unit) != unit:
            raise self.fault(f"{key}: unit = {shown(item['unit'])}: expected {unit!r}")
        if "source" in item:
            if not isinstance(item["source"], str):
                raise self.fault(f"{key}: source = {shown(item['source'])}: expected a text")
            self.sources[f"{self.where}: {key}"] = item["source"]
        return item["value"]

    def _finite(self, key: str, item: object, wanted: str) -> float:
        if isinstance(item, bool) or not isinstance(item, int | float):
            raise self.fault(f"{key} = {shown(item)}: expected {wanted}")
        try:
            number = float(item)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.fault(f"{key} = {shown(item)}: expected {wanted}, finite")
        if abs(number) > LARGEST:
            raise self.fault(f"{key} = {number:g}: expected {wanted}, at most {LARGEST:g}")
        return number


def read(path: Path) -> Table:
    """The whole file as one table. Raises ArchitectureError where it is no TOML."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ArchitectureError(f"{path}: {error}") from error
    return Table(content, path.name)


_shortened = reprlib.Repr()
_shortened.maxstring = _shortened.maxother = 60
_shortened.maxlevel = 2


def shown(item: object) -> str:
    """A value for messages, on one line, shortened where it is long."""
    return " ".join(_shortened.repr(item).split())


def _label(table: Mapping[str, Any], place: int) -> str:
    if isinstance(name := table.get("name"), str) and _NAME.fullmatch(name[:_LONGEST]):
        return name[:_LONGEST]
    if "a" in table and "b" in table:
        return f"{place + 1} ({shown(table['a'])} - {shown(table['b'])})".replace("'", "")
    return shown(table.get("body", place + 1)).replace("'", "")
