"""Names and values from the wire, checked against the signal table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce import values
from jounce.signals import Scalar, SignalTable
from jounce_service import errors

Vector = NDArray[np.float64]
Columns = NDArray[np.intp]
_MOST = sys.float_info.max
_REASONS = {values.NotFinite: errors.NotFinite, values.OutOfRange: errors.InputOutOfRange}


@dataclass(frozen=True)
class Selection:
    """Scalars of one vector, in the order asked for; ``columns`` are their places in the vector."""

    scalars: tuple[Scalar, ...]
    columns: Columns
    #: Bounds, all finite: what is within them is finite, too.
    minimum: Vector
    maximum: Vector
    #: Whether some of them must be whole numbers.
    whole: bool = False

    @property
    def names(self) -> list[str]:
        """Scalar names."""
        return [s.name for s in self.scalars]

    @cached_property
    def places(self) -> slice | Columns:
        """``columns``, as a slice where they follow each other."""
        columns = self.columns
        first = int(columns[0]) if len(columns) else 0
        whole = slice(first, first + len(columns))
        return whole if np.array_equal(columns, np.arange(whole.start, whole.stop)) else columns


def select(scalars: Sequence[Scalar], names: Iterable[str], what: str) -> Selection:
    """The scalars that the names stand for: a scalar, a vector with all components, or ``*`` for all.

    Raises UnknownSignal, or BadField where one is named twice.
    """
    by_name = {s.name: [s] for s in scalars}
    for s in scalars:
        if s.signal.shape:
            by_name.setdefault(s.signal.name, []).append(s)
    by_name["*"] = list(scalars)
    chosen: list[Scalar] = []
    for name in names:
        if name not in by_name:
            raise errors.UnknownSignal(
                f"no {what} named {name!r}", field=name, given=name, allowed=_near(name, by_name, what)
            )
        chosen += by_name[name]
    seen: set[str] = set()
    for s in chosen:
        if s.name in seen:
            raise errors.BadField(f"{what} {s.name!r} is named twice", field=s.name, given=s.name, allowed="once")
        seen.add(s.name)
    return Selection(
        tuple(chosen),
        np.array([s.index for s in chosen], dtype=np.intp),
        np.maximum([s.minimum for s in chosen], -_MOST),
        np.minimum([s.maximum for s in chosen], _MOST),
        any(s.signal.type != "Real" for s in chosen),
    )


def check(selection: Selection, values: Sequence[float] | Vector) -> Vector:
    """The values as a vector in the selection's order.

    Raises WrongLength, NotFinite, InputOutOfRange or BadField, naming the signal, the value and what is allowed.
    """
    vector = np.asarray(values, dtype=np.float64)
    if vector.shape != selection.columns.shape:
        raise errors.WrongLength(
            f"{len(selection.scalars)} inputs are due, {vector.size} were given",
            field="inputs",
            given=vector.size,
            allowed=str(len(selection.scalars)),
        )
    # NaN, and what is out of bounds, come back as other bytes; so may -0.0, which is good.
    within = np.fmax(np.fmin(vector, selection.maximum), selection.minimum)
    if selection.whole or within.tobytes() != vector.tobytes():
        for scalar, value in zip(selection.scalars, vector.tolist(), strict=True):
            check_scalar(scalar, value)
    return vector


def check_scalar(scalar: Scalar, value: float) -> float:
    """The value; raises NotFinite, InputOutOfRange or BadField, naming the signal, the value and what is expected."""
    return _told(values.check, scalar, value)


def parse(scalar: Scalar, requested: object) -> float:
    """The double of a number, a truth value or a text; raises as `check_scalar` does."""
    return _told(values.double, scalar, requested)


def _told(rule: Callable[[Scalar, Any], float], scalar: Scalar, requested: object) -> float:
    try:
        return rule(scalar, requested)
    except values.BadValue as error:
        kind = _REASONS.get(type(error), errors.BadField)
        raise kind(str(error), field=error.name, given=error.requested, allowed=error.expected) from None


def scalar_of(table: SignalTable, scalars: Sequence[Scalar], name: str, what: str) -> Scalar:
    """The scalar of that name among ``scalars``; raises UnknownSignal."""
    for s in scalars:
        if s.name == name:
            return s
    raise errors.UnknownSignal(
        f"no {what} named {name!r} in {table.name}",
        field=name,
        given=name,
        allowed=_near(name, [s.name for s in scalars], what),
    )


def _near(name: str, names: Iterable[str], what: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(names), n=3)
    return " or ".join(near) if near else f"the {what}s of DescribeModel (`jounce describe` prints them)"
