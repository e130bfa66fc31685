"""Converts numbers, Booleans and texts to the double of a signal, with the same rules for every interface.

Texts are those of XML Schema's ``double`` and of FMI, in any case: ``1``, ``-2.5e3``, ``.5``; for a Boolean ``true``,
``false``, ``1`` or ``0``; for an enumeration the name of an item or its number from 1. Texts that only Python takes as
numbers (``1_000``, digits of other scripts) are refused.
"""

from __future__ import annotations

import math
import numbers
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np

from jounce.signals import Scalar, Signal, SignalTable

Value = float | bool | str

_SPACE = " \t\r\n"
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE)
#: Whole numbers up to this one are exact as doubles.
_WHOLE = 2.0**53
#: Allowance for rounding at a bound, relative to the bound, or to the nominal value if the bound is 0.
_ROUNDING = 1e-9
#: What counts as 0, relative to the nominal value, for an input that may be 0 or above a least value.
_ZERO = 1e-5
_TRUTH = {"true": 1.0, "false": 0.0}


class BadValue(ValueError):
    """A value is not valid for its signal; has the scalar's ``name``, the ``requested`` and the ``expected`` value."""

    def __init__(self, name: str, requested: object, expected: str) -> None:
        """``requested`` is shown with ``repr``."""
        super().__init__(f"{name} = {requested!r}: expected {expected}")
        self.name, self.requested, self.expected = name, repr(requested), expected


class NotFinite(BadValue):
    """The value is NaN, infinite, or too large for a double."""


class OutOfRange(BadValue):
    """The value is outside the bounds."""


def number(text: str) -> float:
    """Returns the double of a text, which may be infinite or NaN. Raises ValueError."""
    if not _NUMBER.fullmatch(text.strip(_SPACE)):
        raise ValueError(f"{text!r}: expected a number")
    return float(text)


def read(name: str, signal: Signal, requested: object) -> float:
    """Returns the double of a value for a scalar of the signal, without checking its bounds (see `check`).

    Raises BadValue if it is not a value of the signal's type. True and False are values only of Booleans.
    """
    value = _meaning(signal, requested)
    if value is None:
        raise BadValue(name, requested, expected(signal))
    return value


def check(scalar: Scalar, value: float) -> float:
    """Returns the value, or the bound if the value is beyond it by rounding only.

    Raises NotFinite, OutOfRange, or BadValue for a fraction where a whole number is expected.
    """
    value, signal = float(value), scalar.signal
    if not math.isfinite(value):
        raise NotFinite(scalar.name, value, expected(signal))
    if signal.type != "Real" and not value.is_integer():
        raise BadValue(scalar.name, value, expected(signal))
    within = min(max(value, signal.minimum), signal.maximum)
    if within != value and abs(within - value) > _rounding(signal, within):
        raise OutOfRange(scalar.name, value, expected(signal))
    if in_gap(signal, within):
        raise OutOfRange(scalar.name, value, expected(signal))
    return within


def in_gap(signal: Signal, value: float) -> bool:
    """Whether it lies between 0, where roundings and difference quotients count as 0, and `Signal.least_nonzero`."""
    least = signal.least_nonzero
    return _ZERO * signal.nominal < value < least - _rounding(signal, least)


def _rounding(signal: Signal, bound: float) -> float:
    """Allowance for rounding at a bound [the signal's unit]; `slack` of `jn_signals.c` is the same rule."""
    return _ROUNDING * abs(bound or signal.nominal) if signal.type == "Real" else 0.0


def in_use(table: SignalTable, parameters: Mapping[str, float]) -> tuple[Scalar, ...]:
    """The inputs; those that are not used with these parameters have no bounds, since their values have no effect.

    ``parameters`` are those that differ from their start values.
    """
    return tuple(s if is_used(table, s.signal, parameters) else _unbounded(s) for s in table.inputs)


def is_used(table: SignalTable, signal: Signal, parameters: Mapping[str, float]) -> bool:
    """Whether an input has an effect with these parameters."""
    if signal.used_where is None:
        return True
    switch = table.by_name(signal.used_where[0])
    return parameters.get(switch.name, switch.start) == switch.signal.item(signal.used_where[1])


def _unbounded(scalar: Scalar) -> Scalar:
    return replace(scalar, signal=replace(scalar.signal, minimum=-math.inf, maximum=math.inf, least_up=0.0,
                                          least_nonzero=0.0))


def check_direction(name: str, signal: Signal, vector: Sequence[float]) -> None:
    """Raises OutOfRange if a direction x y z is zero or does not point up; as in the C runtime (`jn_judge`)."""
    most = max(map(abs, vector))
    if most == 0.0 or vector[2] / most < signal.least_up * (1.0 - _ROUNDING) * math.hypot(*(v / most for v in vector)):
        raise OutOfRange(name, tuple(vector), f"a vector of any length whose z is at least {signal.least_up} of it")


def double(scalar: Scalar, requested: object) -> float:
    """`read` followed by `check`. Raises BadValue, NotFinite or OutOfRange."""
    return check(scalar, read(scalar.name, scalar.signal, requested))


def plain_bounds(scalar: Scalar) -> tuple[float, float]:
    """Bounds within which `double` returns a float as it is; (inf, -inf), with none between, where it checks more."""
    signal, largest = scalar.signal, sys.float_info.max
    simple = signal.type == "Real" and signal.least_nonzero == 0.0
    return (max(signal.minimum, -largest), min(signal.maximum, largest)) if simple else (math.inf, -math.inf)


def expected(signal: Signal) -> str:
    """Text for messages that says which values the signal accepts."""
    if len(signal.items) == 1 or (signal.items and signal.minimum == signal.maximum):
        only = signal.items[0] if len(signal.items) == 1 else signal.items[int(signal.minimum) - 1]
        return f"{only}, which is all that this model has ({signal.description})"
    if signal.items:
        return f"{', '.join(signal.items)}, or the number of one from 1 to {len(signal.items)}"
    if signal.type == "Boolean":
        return "true or false"
    kind = "a finite number" if signal.type == "Real" else "a whole number"
    low, high = signal.least_nonzero or signal.minimum, signal.maximum
    bounds = [f"from {low!r}"] * math.isfinite(low) + [f"to {high!r}"] * math.isfinite(high)
    unit = [] if signal.unit == "1" else [signal.unit if bounds else f"[{signal.unit}]"]
    return " ".join([*["0 or"] * (signal.least_nonzero > 0.0), kind, *bounds, *unit])


def _meaning(signal: Signal, requested: object) -> float | None:
    """The double of a value, or None if it has none."""
    if isinstance(requested, bool | np.bool_):
        return float(requested) if signal.type == "Boolean" else None
    if isinstance(requested, str):
        requested = requested.strip(_SPACE)
        if (item := signal.item(requested)) is not None:
            return item
        if signal.type == "Boolean" and requested.lower() in _TRUTH:
            return _TRUTH[requested.lower()]
    try:
        if isinstance(requested, str):
            value = number(requested)
        elif isinstance(requested, numbers.Real):
            value = _rounded(requested)
        else:
            return None
    except ValueError:
        return None
    return value if signal.type == "Real" or _exact(requested, value) else None


def _rounded(requested: numbers.Real) -> float:
    try:
        return float(requested)
    except OverflowError:
        return -math.inf if requested < 0 else math.inf


def _exact(requested: str | numbers.Real, value: float) -> bool:
    """Whether the double is exactly the requested whole number, which for large numbers may not be so."""
    if not _WHOLE <= abs(value) < math.inf:
        return True
    if isinstance(requested, numbers.Integral):
        return int(requested) == value
    return not isinstance(requested, str) or Decimal(requested) == Decimal(value)
