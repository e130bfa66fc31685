"""SI units as FMI base-unit exponents: a symbol table and a small parser for texts like ``N.m/rad``."""

from __future__ import annotations

import re

#: Exponents of each symbol over the SI base units and rad. FMI 2.0.4 section 2.2.2, ``BaseUnit``.
SYMBOLS: dict[str, dict[str, int]] = {
    "1": {},
    "kg": {"kg": 1},
    "m": {"m": 1},
    "s": {"s": 1},
    "A": {"A": 1},
    "K": {"K": 1},
    "mol": {"mol": 1},
    "cd": {"cd": 1},
    "rad": {"rad": 1},
    "Hz": {"s": -1},
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "V": {"kg": 1, "m": 2, "s": -3, "A": -1},
}

_TOKEN = re.compile(r"(1|[A-Za-z]+)\^?(-?\d+)?\Z")
BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


class UnitError(ValueError):
    """A unit is not made of the known SI symbols."""


def exponents(unit: str) -> dict[str, int]:
    """Non-zero base exponents of ``unit``, e.g. ``N.m`` -> kg 1, m 2, s -2.

    Factors are joined by ``.``; everything after a ``/`` up to the next one divides, and a number after a
    symbol is its power: ``kg.m2/s2``, ``N/(m/s)`` is written ``N.s/m``. Raises UnitError for anything else.
    """
    total: dict[str, int] = {}
    for place, part in enumerate(unit.split("/")):
        for factor in part.split("."):
            match = _TOKEN.match(factor.strip("()"))
            if match is None or match[1] not in SYMBOLS:
                raise UnitError(f"unit {unit!r}: {factor!r} is not one of {', '.join(SYMBOLS)} with a power")
            power = int(match[2] or 1) * (-1 if place else 1)
            for base, exponent in SYMBOLS[match[1]].items():
                total[base] = total.get(base, 0) + power * exponent
    return {base: total[base] for base in BASE if total.get(base)}
