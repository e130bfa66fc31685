"""A run of one instance: inputs as values over time, outputs at every so many ticks.

Between its points a continuous input is on the straight line, or holds with ``hold``; inputs of other types always
hold. The first point holds before its time (with ``hold`` the start value does), the last one after it. An input acts
with its value at the start of each tick. The rate of an input that is on a line (`Signal.rate_of`) is the slope of
that tick, unless it is given: the model moves the angle on with it, so that the angle is the line within the tick, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from jounce.signals import Scalar, SignalTable

Array = NDArray[np.float64]

#: Times this close to a tick [fraction of a tick] are meant to be on it: decimal times are not exact.
_ON_TICK: Final = 1e-6
#: Most ticks of one native call, so that an interrupt is seen soon whatever the output interval is.
PIECE: Final = 1000


class InputError(ValueError):
    """Inputs over time, or times, that cannot be used; the text says what, where and what is expected."""


class Instance(Protocol):
    """What is needed of an instance, in process or hosted."""

    @property
    def tick_length(self) -> float:
        """Length of a tick [s]."""

    def set_inputs(self, values: Array) -> None:
        """Sets all inputs, in the table's order."""

    def step(self, n_ticks: int) -> None:
        """Advances by whole ticks."""

    def get_outputs(self) -> Array:
        """All outputs, in the table's order."""


@dataclass(frozen=True)
class Track:
    """Points of some inputs, which share their times."""

    scalars: tuple[Scalar, ...]
    """The inputs, one per column."""
    times: Array
    """(n,) rising [s]."""
    values: Array
    """(n, inputs) [unit of each]."""
    hold: bool = False
    """Whether continuous inputs hold, too."""


class Inputs:
    """All inputs that change over time, for a tick length."""

    def __init__(self, tracks: Sequence[Track], table: SignalTable, tick_length: float) -> None:
        """Raises InputError for an input that two tracks give, and for a slope beyond the bounds of a rate."""
        self._courses = [_Course(t, tick_length) for t in tracks if len(t.times)]
        scalars = [s for t in tracks if len(t.times) for s in t.scalars]
        names = [s.name for s in scalars]
        if twice := next((n for i, n in enumerate(names) if n in names[:i]), None):
            raise InputError(f"{twice} is given twice; expected once")
        for course in self._courses:
            scalars += course.add_rates([s for s in table.inputs if s.name not in names])
        #: Places in the input vector, in the order of the columns of ``block``.
        self.columns = np.array([s.index for c in self._courses for s in c.scalars], dtype=np.intp)

    def block(self, first: int, count: int) -> Array:
        """(count, columns): the values of ``count`` ticks from ``first`` on; NaN where a start value still holds."""
        ticks = np.arange(first, first + count, dtype=np.float64)
        return np.hstack([np.empty((count, 0)), *(c.values(ticks) for c in self._courses)])

    def start(self, u: Array) -> Array:
        """The input vector at tick 0; ``u`` are the start values of the table."""
        started = u.copy()
        _put(started, self.columns, self.block(0, 1)[0])
        return started


class _Course:
    """One track in ticks."""

    def __init__(self, track: Track, tick_length: float) -> None:
        self._track, self._tick_length = track, tick_length
        self._places = _snapped(track.times / tick_length)
        self._on_line = np.array([not track.hold and _continuous(s) for s in track.scalars], dtype=bool)
        self._rates: list[tuple[int, Scalar]] = []

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """The inputs, given ones first, then rates that follow."""
        return (*self._track.scalars, *(rate for _, rate in self._rates))

    def add_rates(self, free: Sequence[Scalar]) -> list[Scalar]:
        """Adds those of the free inputs that are rates of inputs on a line. Raises InputError for too steep a slope."""
        for column, scalar in enumerate(self._track.scalars):
            rate = next((s for s in free if self._on_line[column] and s.signal.rate_of == scalar.name), None)
            if rate is None:
                continue
            self._rates.append((column, rate))
            # Every slope shows in one of these ticks: the whole ones between two points, and those around a point.
            near = np.unique(np.floor(self._places)[:, None] + [-1.0, 0.0, 1.0])
            near = near[near >= 0.0]
            slopes = self._slopes(near, column)
            if not np.all(good := (rate.minimum <= slopes) & (slopes <= rate.maximum)):
                at = int(np.argmin(good))
                raise InputError(
                    f"{scalar.name} moves at {slopes[at]:g} {rate.signal.unit} at {near[at] * self._tick_length:g} s; "
                    f"expected from {rate.minimum:g} to {rate.maximum:g} "
                    f"(let it take longer, give {rate.name}, or hold the values)"
                )
        return [rate for _, rate in self._rates]

    def values(self, ticks: Array) -> Array:
        """(ticks, inputs) at the starts of ticks; NaN before the first point of a track that holds."""
        given = self._given(ticks)
        return np.column_stack([given, *(self._slopes(ticks, column) for column, _ in self._rates)])

    def _given(self, ticks: Array, columns: slice = slice(None)) -> Array:
        at, v, n = self._places, self._track.values[:, columns], len(self._places)
        i = np.searchsorted(at, ticks, side="right") - 1
        left = np.maximum(i, 0)
        found: Array = v[left].copy()
        if self._track.hold:
            found[i < 0] = math.nan
            return found
        inside = np.flatnonzero((i >= 0) & (i < n - 1) & (at[left] != ticks))
        a, b = left[inside], left[inside] + 1
        weight = ((ticks[inside] - at[a]) / (at[b] - at[a]))[:, None]
        line = v[a] + (v[b] - v[a]) * weight
        # Rounding must not leave the bounds that both ends keep.
        line = np.clip(line, np.minimum(v[a], v[b]), np.maximum(v[a], v[b]))
        found[inside] = np.where(self._on_line[columns], line, v[a])
        return found

    def _slopes(self, ticks: Array, column: int) -> Array:
        """Mean slope over each tick [unit/s]: that of the points where the tick lies between two of them."""
        at, times, v = self._places, self._track.times, self._track.values[:, column]
        i = np.searchsorted(at, ticks, side="right") - 1
        j = np.searchsorted(at, ticks + 1.0, side="left")
        between = (i >= 0) & (j == i + 1) & (j < len(at))
        own = slice(column, column + 1)
        found: Array = (self._given(ticks + 1.0, own) - self._given(ticks, own))[:, 0] / self._tick_length
        a = i[between]
        found[between] = (v[a + 1] - v[a]) / (times[a + 1] - times[a])
        return found


def _continuous(scalar: Scalar) -> bool:
    return scalar.signal.type == "Real" and scalar.signal.variability == "continuous"


def _snapped(ticks: Array) -> Array:
    whole = np.round(ticks)
    return np.where(np.abs(ticks - whole) <= _ON_TICK, whole, ticks)


def _put(u: Array, columns: NDArray[np.intp], row: Array) -> None:
    known = ~np.isnan(row)
    u[columns[known]] = row[known]


class Clock:
    """Times of ticks as one writes them: tick 700 of 0.001 s is 0.7 s, the double nearest to the decimal product."""

    def __init__(self, tick_length: float) -> None:
        """``tick_length`` [s]."""
        self._numerator, self._denominator = Decimal(repr(tick_length)).as_integer_ratio()

    def time(self, tick: int) -> float:
        """Time of a tick [s]."""
        return tick * self._numerator / self._denominator  # of whole numbers, which Python rounds once


def run(
    instance: Instance, u: Array, inputs: Inputs, *, n_ticks: int, every: int,
    stopped: Callable[[int], bool] = lambda _tick: False,
) -> Iterator[tuple[float, Array]]:  # fmt: skip
    """Time [s] and outputs at tick 0, every ``every`` ticks, and at the end; ``u`` holds the start inputs.

    Outputs are those at the end of a step, as every master sees them: the inputs of a tick come after its outputs.
    ``stopped`` is asked before each native call, which is of `PIECE` ticks at most, with the tick [1]; once it says
    yes, the state there is the last one, also between two rows.
    """
    clock, u = Clock(instance.tick_length), u.copy()
    last = None
    yield 0.0, instance.get_outputs()
    for first in range(0, n_ticks, PIECE):
        count = min(PIECE, n_ticks - first)
        block = inputs.block(first, count)
        changes = {0} | {int(k) + 1 for k in np.flatnonzero((_differ(block[1:], block[:-1])).any(axis=1))}
        rows = set(range(every - first % every, count + 1, every)) | ({count} if first + count == n_ticks else set())
        at = 0
        for mark in sorted({*changes, *rows, count} - {0}):
            if stopped(first + at):
                if at not in rows and not (at == 0 and first % every == 0):
                    yield clock.time(first + at), instance.get_outputs()
                return
            if at in changes and (last is None or _differ(block[at], last).any()):
                last = block[at]
                _put(u, inputs.columns, last)
                instance.set_inputs(u)
            instance.step(mark - at)
            at = mark
            if at in rows:
                yield clock.time(first + at), instance.get_outputs()


def _differ(a: Array, b: Array) -> NDArray[np.bool_]:
    """NaN is like NaN."""
    differ: NDArray[np.bool_] = (a != b) & ~(np.isnan(a) & np.isnan(b))
    return differ


def ticks(seconds: float, tick_length: float, what: str) -> int:
    """The time in ticks; raises InputError where it is not a whole number of them."""
    if not 0.0 <= seconds < math.inf:
        raise InputError(f"{what} {seconds!r} s: expected a finite time from 0 s")
    count = round(seconds / tick_length)
    if abs(count - seconds / tick_length) > _ON_TICK * max(count, 1):
        raise InputError(f"{what} {seconds!r} s: expected a whole multiple of the tick, {tick_length!r} s")
    return count


def interval(seconds: float | None, tick_length: float, what: str) -> int:
    """The same for the time between rows: at least a tick, and one where none is given."""
    every = 1 if seconds is None else ticks(seconds, tick_length, what)
    if every < 1:
        raise InputError(f"{what} {seconds!r} s: expected at least one tick, {tick_length!r} s")
    return every
