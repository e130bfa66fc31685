"""Runs one instance with inputs over time, and returns outputs at regular intervals.

Between its points a continuous input is interpolated linearly, or held with ``hold``; inputs of other types are always
held. Before its first point an input has the value of that point (with ``hold``, its start value), and after its last
point the value of that one. An input has its value at the start of the tick during the whole tick. The rate of an
interpolated input (`Signal.rate_of`), unless it is given, is the slope in that tick: the model extrapolates the input
with it, so that the input follows the line within the tick as well.
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

#: Distance from a tick [ticks] within which a time counts as on it, since decimal times are not exact.
_ON_TICK: Final = 1e-6
#: Most ticks of a run: up to there a double holds every one of them.
_MOST_TICKS: Final = 2**53
#: Most ticks in one native call, so that an interrupt is noticed soon.
PIECE: Final = 1000


class InputError(ValueError):
    """Inputs or times cannot be used; the message says which, where, and what is expected."""


class Instance(Protocol):
    """The methods that `run` needs of an instance."""

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
    """Points of one or more inputs that share their times."""

    scalars: tuple[Scalar, ...]
    """The inputs, one per column."""
    times: Array
    """(n,) rising [s]."""
    values: Array
    """(n, inputs) [unit of each]."""
    hold: bool = False
    """Whether continuous inputs are held instead of interpolated."""


class Inputs:
    """All inputs that change over time, for one tick length."""

    def __init__(self, tracks: Sequence[Track], table: SignalTable, tick_length: float) -> None:
        """``tick_length`` [s]. Raises InputError for an input in two tracks, and for a slope beyond a rate's bounds."""
        self._courses = [_Course(t, tick_length) for t in tracks if len(t.times)]
        scalars = [s for t in tracks if len(t.times) for s in t.scalars]
        names = [s.name for s in scalars]
        if twice := next((n for i, n in enumerate(names) if n in names[:i]), None):
            raise InputError(f"{twice} is given twice; expected once")
        for course in self._courses:
            scalars += course.add_rates([s for s in table.inputs if s.name not in names])
        #: Indices in the input vector, in the order of the columns of ``block``.
        self.columns = np.array([s.index for c in self._courses for s in c.scalars], dtype=np.intp)

    def block(self, first: int, count: int) -> Array:
        """Values in ``count`` ticks from ``first`` on, shape (count, columns); NaN while a start value still holds."""
        ticks = np.arange(first, first + count, dtype=np.float64)
        return np.hstack([np.empty((count, 0)), *(c.values(ticks) for c in self._courses)])

    def start(self, u: Array) -> Array:
        """Returns the input vector at tick 0; ``u`` has the start values of the table."""
        started = u.copy()
        _put(started, self.columns, self.block(0, 1)[0])
        return started


class _Course:
    """One track, with its times in ticks."""

    def __init__(self, track: Track, tick_length: float) -> None:
        self._track, self._tick_length = track, tick_length
        self._places = _snapped(track.times / tick_length)
        self._on_line = np.array([not track.hold and _continuous(s) for s in track.scalars], dtype=bool)
        self._rates: list[tuple[int, Scalar]] = []

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """The inputs of the track, and then the rates that follow from them."""
        return (*self._track.scalars, *(rate for _, rate in self._rates))

    def add_rates(self, free: Sequence[Scalar]) -> list[Scalar]:
        """Adds the rates of interpolated inputs that are among the ``free`` inputs; returns them.

        Raises InputError if a slope is beyond the bounds of a rate.
        """
        for column, scalar in enumerate(self._track.scalars):
            rate = next((s for s in free if self._on_line[column] and s.signal.rate_of == scalar.name), None)
            if rate is None:
                continue
            self._rates.append((column, rate))
            # These ticks have every slope that occurs: each tick around a point, and one between each two points.
            near = np.unique(np.floor(self._places)[:, None] + [-1.0, 0.0, 1.0])
            near = near[near >= 0.0]
            slopes = self._slopes(near, column)
            if not np.all(good := (rate.minimum <= slopes) & (slopes <= rate.maximum)):
                at = int(np.argmin(good))
                raise InputError(
                    f"{scalar.name} moves at {slopes[at]:g} {rate.signal.unit} at {near[at] * self._tick_length:g} s; "
                    f"expected from {rate.minimum:g} to {rate.maximum:g} "
                    f"(take more time, give {rate.name}, or hold the values)"
                )
        return [rate for _, rate in self._rates]

    def values(self, ticks: Array) -> Array:
        """Values at the starts of ticks, shape (ticks, inputs); NaN before the first point of a track that is held."""
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
        # Rounding must not move the value out of bounds that both ends are within.
        line = np.clip(line, np.minimum(v[a], v[b]), np.maximum(v[a], v[b]))
        found[inside] = np.where(self._on_line[columns], line, v[a])
        return found

    def _slopes(self, ticks: Array, column: int) -> Array:
        """Mean slope in each tick [unit/s]; if the tick lies between two points, it is computed from these points."""
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
    """Times of ticks, as the doubles nearest to the decimal products: tick 700 of 0.001 s is at 0.7 s."""

    def __init__(self, tick_length: float) -> None:
        """``tick_length`` [s]."""
        self._numerator, self._denominator = Decimal(repr(tick_length)).as_integer_ratio()

    def time(self, tick: int) -> float:
        """Time of a tick [s]."""
        return tick * self._numerator / self._denominator  # A ratio of integers, which Python rounds once.


def run(
    instance: Instance, u: Array, inputs: Inputs, *, n_ticks: int, every: int,
    stopped: Callable[[int], bool] = lambda _tick: False,
) -> Iterator[tuple[float, Array]]:  # fmt: skip
    """Yields time [s] and outputs at tick 0, every ``every`` ticks, and at the end; ``u`` has the start inputs.

    Outputs are read at the end of a step, before the inputs of that tick are set, as in every co-simulation master.
    ``stopped`` is called with the tick before each native call, which takes at most `PIECE` ticks. If it returns True,
    the outputs at that tick are yielded, even between two rows, and the run ends.
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
    """Elementwise inequality in which NaN equals NaN."""
    differ: NDArray[np.bool_] = (a != b) & ~(np.isnan(a) & np.isnan(b))
    return differ


def check_time(seconds: float, what: str) -> None:
    """Raises InputError unless a time [s] is finite and not negative. ``what`` names it in the message."""
    if not 0.0 <= seconds < math.inf:
        raise InputError(f"{what} {seconds!r} s: expected a finite time from 0 s")


def ticks(seconds: float, tick_length: float, what: str) -> int:
    """A time [s] in ticks; raises InputError if it is not a whole number of them, or of more than a clock can count.

    ``what`` names it in the message.
    """
    check_time(seconds, what)
    if seconds > _MOST_TICKS * tick_length:
        raise InputError(f"{what} {seconds:g} s: expected up to {_MOST_TICKS * tick_length:g} s")
    count = round(seconds / tick_length)
    if abs(count - seconds / tick_length) > _ON_TICK * max(count, 1):
        raise InputError(f"{what} {seconds!r} s: expected a whole multiple of the tick, {tick_length!r} s")
    return count


def interval(seconds: float | None, tick_length: float, what: str) -> int:
    """The time between rows [s] in ticks, 1 by default; raises InputError if it is less than a tick or not whole."""
    every = 1 if seconds is None else ticks(seconds, tick_length, what)
    if every < 1:
        raise InputError(f"{what} {seconds!r} s: expected at least one tick, {tick_length!r} s")
    return every
