"""Texts NAME=VALUE of an option that may repeat, each name once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from jounce_tools.errors import UsageError

_T = TypeVar("_T")


def pair(text: str, option: str = "--set") -> tuple[str, str]:
    """Name and value; raises UsageError with the option's name."""
    name, _, value = text.partition("=")
    if not name.strip() or "=" not in text:
        raise UsageError(f"{option} {text!r}: expected NAME=VALUE")
    return name.strip(), value.strip()


def pairs(texts: Sequence[str], option: str = "--set") -> dict[str, str]:
    """Values by name of an option that may repeat. Raises UsageError, also for a name that is there twice."""
    return dict(once((pair(text, option) for text in texts), option))


def once(found: Iterable[tuple[str, _T]], option: str) -> Iterator[tuple[str, _T]]:
    """Passes names with their values on. Raises UsageError for a name that comes again."""
    names: set[str] = set()
    for name, value in found:
        if name in names:
            raise UsageError(f"{option}: {name} is given twice; expected once")
        names.add(name)
        yield name, value
