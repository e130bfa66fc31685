"""Other start values in a signal table, for an FMU that starts with them in tools that set no parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from jounce.signals import Scalar, SignalTable
from jounce_fmu.build import BuildError

Value = float | str


def changed(table: SignalTable, starts: Mapping[str, Value]) -> SignalTable:
    """The table with other start values, by scalar name; enumerations by item. Raises BuildError."""
    signals = {s.name: s for s in table.signals}
    for name, value in starts.items():
        try:
            scalar = table.by_name(name)
            g = signals[scalar.signal.name]
            if g.causality == "output":
                raise ValueError(f"{name} is an output: allowed are inputs and parameters")
            if g.type == "String":
                signals[g.name] = replace(g, text=str(value))
                continue
            start = list(g.start or (0.0,) * len(g.components))
            start[g.components.index(name.removeprefix(g.name))] = number(scalar, value)
            signals[g.name] = replace(g, start=tuple(start))
        except KeyError as error:
            raise BuildError(str(error.args[0])) from None
        except ValueError as error:
            raise BuildError(str(error)) from None
    return replace(table, signals=tuple(signals.values()))


def number(scalar: Scalar, value: Value) -> float:
    """A value as a number within the scalar's bounds; ValueError names what is allowed."""
    g = scalar.signal
    if isinstance(value, str):
        if value in g.items:
            return float(g.items.index(value) + 1)
        try:
            value = {"true": 1.0, "false": 0.0}[value] if g.type == "Boolean" else float(value)
        except (KeyError, ValueError):
            allowed = ", ".join(g.items) or ("true, false" if g.type == "Boolean" else "numbers")
            raise ValueError(f"{scalar.name} = {value!r}: allowed are {allowed}") from None
    if not (math.isfinite(value) and scalar.minimum <= value <= scalar.maximum):
        raise ValueError(f"{scalar.name} = {value!r}: allowed are finite numbers from {scalar.minimum:g} to "
                         f"{scalar.maximum:g} {g.unit}")
    if g.type != "Real" and not float(value).is_integer():
        raise ValueError(f"{scalar.name} = {value!r}: allowed are whole numbers")
    return float(value)
