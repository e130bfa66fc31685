"""Checks names and values from the wire against the signal table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from jounce import values
from jounce.renamed import present
from jounce.signals import XYZ, Scalar, SignalTable, named_groups
from jounce.values import in_gap
from jounce_service.transport import errors

Vector = NDArray[np.float64]
Columns = NDArray[np.intp]
_T = TypeVar("_T")
_R = TypeVar("_R")
_MOST = sys.float_info.max
_REASONS = {values.NotFinite: errors.NotFinite, values.OutOfRange: errors.InputOutOfRange}
#: Longest name of a participant [characters].
LONGEST_NAME: Final = 200
#: Limits of the search for similar names, so that it takes little time: names compared [1], and characters of a name.
_COMPARED: Final = 200


@dataclass(frozen=True)
class Selection:
    """Selected scalars of a vector, in the order of the request; ``columns`` are their indices in the vector."""

    scalars: tuple[Scalar, ...]
    columns: Columns
    #: Bounds. They are finite, so a value within them is finite, too.
    minimum: Vector
    maximum: Vector
    #: Indices, in this selection, of inputs with a gap between 0 and their least other value.
    gaps: tuple[int, ...] = ()
    #: Whether some scalars must be whole numbers.
    whole: bool = False
    #: Indices, in this selection, of x, y and z of each direction vector.
    directions: tuple[tuple[int, ...], ...] = ()
    #: One scalar of each direction vector that is selected only in part.
    parts: tuple[Scalar, ...] = ()

    @property
    def names(self) -> list[str]:
        """Scalar names."""
        return [s.name for s in self.scalars]

    @cached_property
    def places(self) -> slice | Columns:
        """``columns``, as a slice if they are consecutive, since numpy is faster with a slice."""
        columns = self.columns
        first = int(columns[0]) if len(columns) else 0
        whole = slice(first, first + len(columns))
        return whole if np.array_equal(columns, np.arange(whole.start, whole.stop)) else columns


class Selector:
    """Makes selections among the same scalars. It caches the last few, since most clients repeat their requests."""

    def __init__(self, scalars: Sequence[Scalar], what: str) -> None:
        """``what`` is the word for one of the scalars in messages, such as ``input``."""
        self._scalars, self._what = scalars, what
        self._by_name = named_groups(scalars)
        self._cached = lru_cache(8)(self._select)

    def __call__(self, names: Sequence[str]) -> Selection:
        """Selects by names; each is a scalar, a vector with all components, or ``*`` for all scalars.

        Raises UnknownSignal, or BadField if a scalar is named twice. The number of names is limited before they are
        expanded, so a bad request costs no more than a good one.
        """
        if len(names) > len(self._by_name):
            raise errors.BadField(
                f"{len(names)} names of {self._what}s are too many",
                field=self._what,
                requested=len(names),
                allowed=f"up to {len(self._by_name)} names, each scalar once",
            )
        return self._cached(tuple(names))

    def _select(self, names: tuple[str, ...]) -> Selection:
        chosen: dict[str, Scalar] = {}
        for name in names:
            if name not in self._by_name:
                raise _unknown(name, self._by_name, self._what)
            for s in self._by_name[name]:
                if s.name in chosen:
                    raise errors.BadField(
                        f"{self._what} {s.name!r} is named twice", field=s.name, requested=s.name, allowed="once"
                    )
                chosen[s.name] = s
        scalars = tuple(chosen.values())
        return Selection(
            scalars,
            np.array([s.index for s in scalars], dtype=np.intp),
            np.maximum([s.minimum for s in scalars], -_MOST),
            np.minimum([s.maximum for s in scalars], _MOST),
            tuple(k for k, s in enumerate(scalars) if s.signal.least_nonzero),
            any(s.signal.type != "Real" for s in scalars),
            *_directions(scalars),
        )


def _directions(scalars: tuple[Scalar, ...]) -> tuple[tuple[tuple[int, ...], ...], tuple[Scalar, ...]]:
    places: dict[str, dict[str, int]] = {}
    for i, s in enumerate(scalars):
        if s.signal.least_up:
            places.setdefault(s.signal.name, {})[s.name.removeprefix(s.signal.name)] = i
    whole = [p for p in places.values() if len(p) == 3]
    parts = tuple(scalars[next(iter(p.values()))] for p in places.values() if len(p) < 3)
    return tuple(tuple(p[axis] for axis in XYZ) for p in whole), parts


def select(scalars: Sequence[Scalar], names: Sequence[str], what: str) -> Selection:
    """Makes one selection; see Selector."""
    return Selector(scalars, what)(names)


def check(selection: Selection, values: Sequence[float] | Vector) -> Vector:
    """Returns the values as a vector in the selection's order, each rounded as ``check_scalar`` does.

    Raises WrongLength, NotFinite, InputOutOfRange or BadField, naming the signal, the value and what is allowed.
    """
    vector = np.asarray(values, dtype=np.float64)
    if vector.shape != selection.columns.shape:
        raise errors.WrongLength(
            f"{len(selection.scalars)} inputs are due, {vector.size} were given",
            field="inputs",
            requested=vector.size,
            allowed=str(len(selection.scalars)),
        )
    # Fast path: clipping leaves the bytes of valid values alone. NaN and values out of bounds change, and -0.0 may.
    within = np.fmax(np.fmin(vector, selection.maximum), selection.minimum)
    gap = any(in_gap(selection.scalars[k].signal, vector[k]) for k in selection.gaps)
    if gap or selection.whole or within.tobytes() != vector.tobytes():
        pairs = zip(selection.scalars, vector.tolist(), strict=True)
        vector = np.array([check_scalar(scalar, value) for scalar, value in pairs], dtype=np.float64)
    check_directions(selection, vector)
    return vector


def check_directions(selection: Selection, vector: Vector) -> None:
    """Raises InputOutOfRange for a direction vector that has no direction, such as one of zeros."""
    for places in selection.directions:
        signal = selection.scalars[places[0]].signal
        _apply(partial(values.check_direction, signal.name), signal, vector[list(places)].tolist())


def check_scalar(scalar: Scalar, value: float) -> float:
    """Returns the value; raises NotFinite, InputOutOfRange or BadField, naming signal, value and what is expected."""
    return _apply(values.check, scalar, value)


def parse(scalar: Scalar, requested: object) -> float:
    """Returns the double for a number, a Boolean or a text; raises as ``check_scalar`` does."""
    return _apply(values.double, scalar, requested)


def _apply(rule: Callable[[_T, Any], _R], what: _T, requested: object) -> _R:
    try:
        return rule(what, requested)
    except values.BadValue as error:
        kind = _REASONS.get(type(error), errors.BadField)
        raise kind(str(error), field=error.name, requested=error.requested, allowed=error.expected) from None


def named(name: str, field: str = "name") -> str:
    """Returns a participant's name; raises BadField if it is empty, too long, or has control characters."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise errors.BadField(
            "the name of a participant is not valid",
            field=field,
            requested=name[:LONGEST_NAME],
            allowed=f"1 to {LONGEST_NAME} printable characters",
        )
    return name


def scalar_of(table: SignalTable, scalars: Sequence[Scalar], name: str, what: str) -> Scalar:
    """Finds a scalar by name, or by a former one, among ``scalars``; raises UnknownSignal."""
    names = {s.name: s for s in scalars}
    today = present(name, names)
    if today not in names:
        raise _unknown(name, names, what, f" in {table.name}")
    return names[today]


def _unknown(name: str, names: Iterable[str], what: str, where: str = "") -> errors.UnknownSignal:
    from difflib import get_close_matches

    short = name[:_COMPARED]
    alike = [n for n in names if n[:2] == short[:2] or n[-3:] == short[-3:]]
    near = " or ".join(get_close_matches(short, alike[:_COMPARED], n=3))
    return errors.UnknownSignal(
        f"no {what} named {short!r}{where}",
        field=name,
        requested=name,
        allowed=near or f"the {what}s of DescribeModel (`jounce describe` prints them)",
    )
