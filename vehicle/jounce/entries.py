"""Entries of a data file: a number or a choice, each with its unit and source, read from TOML and checked."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from jounce.renamed import present

__all__ = ["DataError", "Entry", "EntryError", "Lists", "checked", "expected", "fields_of", "take"]

_KEYS = ("value", "unit", "source", "description", "minimum", "maximum", "items")
#: Arrays of tables by dotted name.
Lists = dict[str, tuple[Mapping[str, Any], ...]]
#: Largest magnitude of a value by its unit, beyond which it is a slip: a point a kilometre away. Other units: `_MOST`.
_LARGEST: Final = {"m": 1e3, "kg": 1e8, "kg.m2": 1e10}
_MOST: Final = 1e15


class DataError(ValueError):
    """A vehicle data file is missing, malformed or out of its bounds."""


class EntryError(DataError):
    """An entry is missing, unknown, in another unit, or on the wrong side of the vehicle."""


@dataclass(frozen=True)
class Entry:
    """One number of a vehicle."""

    value: float
    """Value in `unit`."""
    unit: str
    """SI unit; "1" for dimensionless numbers."""
    source: str
    """Source of the number; starts with "assumption:" if none is published."""
    description: str
    """Meaning of the number, with its frame."""
    minimum: float = -math.inf
    """Smallest value allowed."""
    maximum: float = math.inf
    """Largest value allowed."""
    items: tuple[str, ...] = ()
    """Names of the values 1, 2, ... of a choice; empty for a number."""
    file: str = field(default="", compare=False, repr=False)
    """Name of the file that its value stands in."""


def take(content: Mapping[str, Any], file: str, entries: dict[str, Entry], lists: Lists,
         today: Container[str] = ()) -> None:  # fmt: skip
    """Adds the entries and lists of one file to those of the files before.

    ``today``: names that entries of older files may stand for. Raises DataError.
    """
    for key, tables in _lists(content, ""):
        if key in lists:
            raise DataError(f"list {key!r} is in two files; expected in one")
        lists[key] = tables
    for was, table in _each(_walk(content, "")):
        key = present(was, today)
        if key in entries:
            raise DataError(f"entry {key!r} is in two files; expected in one")
        fields = fields_of(key, table)
        if missing := [k for k in _KEYS[:4] if k not in fields]:
            raise DataError(f"entry {key!r} lacks {', '.join(missing)}")
        entries[key] = checked(key, Entry(**fields, file=file))


def fields_of(name: str, table: Mapping[str, Any], items: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of an `Entry` from its table; ``items`` are those of the entry that it changes. Raises DataError."""
    if unknown := [k for k in table if k not in _KEYS]:
        near = get_close_matches(unknown[0].lower(), _KEYS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(_KEYS)}"
        raise DataError(f"entry {name!r}: unknown key {unknown[0]!r}; {hint}")
    fields = dict(table)
    if items := _items(name, fields.pop("items", items)):
        if fields.get("value") not in items:
            raise DataError(f"entry {name!r}: value = {fields.get('value')!r}: expected one of {', '.join(items)}")
        fields |= {"value": 1 + items.index(fields["value"]), "items": items, "minimum": 1, "maximum": len(items)}
    for key, value in fields.items():
        if key in ("value", "minimum", "maximum"):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise DataError(f"entry {name!r}: {key} = {value!r}: expected a number")
            try:
                fields[key] = float(value)
            except OverflowError:
                raise DataError(f"entry {name!r}: {key} = {value!r:.20}...: expected a number of a double") from None
        elif key != "items" and (not isinstance(value, str) or not value.strip()):
            raise DataError(f"entry {name!r}: {key} = {value!r}: expected a text")
    return fields


def _items(name: str, given: object) -> tuple[str, ...]:
    if given == ():
        return ()
    items = tuple(given) if isinstance(given, list | tuple) else ()
    if not items or not all(isinstance(item, str) and item for item in items) or len(set(items)) < len(items):
        raise DataError(f"entry {name!r}: items = {given!r}: expected a list of names that differ")
    return items


def checked(name: str, entry: Entry) -> Entry:
    """The entry itself. Raises DataError for a value out of its bounds."""
    if not entry.minimum <= entry.maximum:  # also where one is no number
        raise DataError(f"entry {name!r}: minimum = {entry.minimum:g}, maximum = {entry.maximum:g}: expected a minimum "
                        "up to the maximum")  # fmt: skip
    most = _LARGEST.get(entry.unit, _MOST)
    if not (math.isfinite(entry.value) and entry.minimum <= entry.value <= entry.maximum) or abs(entry.value) > most:
        raise DataError(f"{name} = {entry.value}: expected {expected(entry)}")
    if entry.items and not entry.value.is_integer():
        raise DataError(f"{name} = {entry.value}: expected a whole number, 1 is {entry.items[0]}")
    return entry


def expected(entry: Entry) -> str:
    """Words for the values that an entry may have."""
    most = _LARGEST.get(entry.unit, _MOST)
    low, high = max(entry.minimum, -most), min(entry.maximum, most)
    return f"a number from {low:g} to {high:g}{'' if entry.unit == '1' else f' {entry.unit}'}"


def _of_tables(item: object) -> bool:
    return isinstance(item, list) and bool(item) and all(isinstance(table, dict) for table in item)


def _lists(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, tuple[Mapping[str, Any], ...]]]:
    for key, item in table.items():
        if _of_tables(item):
            yield prefix + key, tuple(item)
        elif isinstance(item, dict) and "value" not in item:
            yield from _lists(item, f"{prefix}{key}.")


def _each(tables: Iterator[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A table whose value is a list stands for one of each, `name.0`, `name.1` and on, alike but for the value."""
    for name, table in tables:
        if isinstance(table["value"], list):
            yield from ((f"{name}.{k}", {**table, "value": value}) for k, value in enumerate(table["value"]))
        else:
            yield name, table


def _walk(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key, item in table.items():
        if _of_tables(item):
            continue
        if not isinstance(item, dict):
            raise DataError(f"entry {prefix + key!r} = {item!r:.60}: expected a table with a value")
        if "value" in item:
            yield prefix + key, item
        else:
            yield from _walk(item, f"{prefix}{key}.")
