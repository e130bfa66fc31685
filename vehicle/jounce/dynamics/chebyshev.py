"""First guess of the dependent coordinates: Chebyshev polynomials over a box, made once from a vehicle's numbers.

`close` brings a guess that is off by at most GUESS to rounding in two Newton steps, without knowing the last position.
The same algorithm stands in C (`jn_chebyshev.c`), where derived numbers are made; here it serves checks and reports.

1. The box: from the design position outward along each coordinate, at both ends of the steering, until the determinant
   of the loops falls to TOGGLE of its design value, or a spring or shock is at its end.
2. Nodes are closed by continuation from the design position, which identifies the branch (a linkage may have eight).
3. The degree rises in the direction with the largest last coefficients, until the polynomial is within GUESS.

Source: L. N. Trefethen 2013, "Approximation Theory and Approximation Practice", chapters 3 and 4.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Largest error of the polynomial [rad or m] from which two Newton steps reach rounding.
GUESS = 2e-4
#: Part of the design position's determinant at which the box ends.
TOGGLE = 0.2
#: Least pivot, as part of its row, over the box.
PIVOT = 1e-3
#: Error of a loop that counts as closed while the box is searched and nodes are solved [m].
CLOSED = 1e-10
#: Continuation: parts of the way from the design position, Newton steps in each.
PARTS, STEPS = 12, 4
#: Steps outward along a coordinate up to its limit.
OUTWARD = 60
#: What is left of a box that has a position out of range, and how often it may be narrowed.
NARROWER, TRIES = 0.93, 20
#: Highest degree in each of one, two or three variables.
HIGHEST = {1: 12, 2: 12, 3: 8}
#: What may end the box in one direction.
ENDS = ("limit", "toggle", "spring or shock", "pivot", "open loop")


@dataclass(frozen=True)
class Probe:
    """What is known of a position."""

    closure: float
    """Largest error of a loop [m]."""
    quality: float
    """Least pivot as part of its row."""
    determinant: float
    room: float
    """Distance of springs and shocks from their ends [m], negative beyond."""


@dataclass(frozen=True)
class Problem:
    """The loops of one aggregate over x = (coordinates, then the steering coordinate where it is steered)."""

    coordinates: int
    dependent: int
    close: Callable[[Array, Array], Array]
    """(u, x) -> u after one Newton step."""
    probe: Callable[[Array, Array], Probe]
    """(u, x) -> what is known of the position."""
    limits: tuple[float, ...]
    """How far each coordinate is searched, both ways."""
    steering: tuple[float, float] | None = None
    """Range of the steering coordinate."""

    @property
    def variables(self) -> int:
        """Of the polynomial."""
        return self.coordinates + (self.steering is not None)


@dataclass(frozen=True)
class Box:
    """Range of each variable, and what ends it."""

    low: Array
    high: Array
    ends: tuple[tuple[str, str], ...]
    """Of the coordinates: below, above (ENDS)."""

    def unit(self, x: Array) -> Array:
        """x as -1 .. 1 of the box, clamped."""
        return np.asarray(np.clip((2 * x - (self.low + self.high)) / (self.high - self.low), -1.0, 1.0))


@dataclass(frozen=True)
class Guess:
    """Polynomials of the dependent coordinates."""

    box: Box
    coefficients: Array
    """(dependent, degree + 1 of each variable)."""
    error: float
    """Largest difference from the closed position where it was tried [rad or m]."""

    @property
    def degrees(self) -> tuple[int, ...]:
        """In each variable."""
        return tuple(n - 1 for n in self.coefficients.shape[1:])

    def at(self, x: Array) -> Array:
        """u at x; outside the box that of its nearest point."""
        values = self.coefficients
        for t, n in zip(self.box.unit(x)[::-1], values.shape[:0:-1], strict=True):
            values = values @ _polynomials(float(t), n)
        return values


def _polynomials(t: float, n: int) -> Array:
    values = np.ones(n)
    if n > 1:
        values[1] = t
    for k in range(2, n):
        values[k] = 2 * t * values[k - 1] - values[k - 2]
    return values


def follow(problem: Problem, x: Array, start: Array | None = None, of: Array | None = None) -> Array:
    """u at x by continuation from the design position, or from u = ``of`` at x = ``start``."""
    begin = np.zeros(problem.variables) if start is None else start
    u = np.zeros(problem.dependent) if of is None else of
    for part in range(1, PARTS + 1):
        here = begin + (x - begin) * (part / PARTS)
        for _ in range(STEPS):
            u = problem.close(u, here)
    return u


def _end(problem: Problem, probe: Probe, design: float) -> str | None:
    """What the position is beyond, if anything (NaN is)."""
    if not probe.closure < CLOSED:
        return "open loop"
    if not probe.determinant / design > TOGGLE:
        return "toggle"
    if not probe.room > 0.0:
        return "spring or shock"
    return None if probe.quality > PIVOT else "pivot"


def find_box(problem: Problem) -> Box:
    """The box of a problem. Raises ArithmeticError where the design position is not closed and inside itself."""
    n, steering = problem.coordinates, problem.steering
    zero = np.zeros(problem.variables)
    first = problem.probe(np.zeros(problem.dependent), zero)
    if end := _end(problem, first, first.determinant):
        raise ArithmeticError(f"the design position is out of range: {end}")
    ends_of_steering = (0.0,) if steering is None else (0.0, *steering)
    low, high = np.zeros(problem.variables), np.zeros(problem.variables)
    reasons = []
    for k in range(n):
        found = []
        for sign in (-1.0, 1.0):
            reach, reason = problem.limits[k], "limit"
            for steer in ends_of_steering:
                far, why = _outward(problem, first.determinant, k, sign, steer, reach)
                if far < reach:
                    reach, reason = far, why
            (low if sign < 0 else high)[k] = sign * reach
            found.append(reason)
        reasons.append((found[0], found[1]))
    if steering is not None:
        low[-1], high[-1] = steering
    return Box(low, high, tuple(reasons))


def _outward(problem: Problem, design: float, k: int, sign: float, steer: float, limit: float) -> tuple[float, str]:
    """(how far coordinate k may go, what ends it) at a steering coordinate."""
    x = np.zeros(problem.variables)
    if problem.steering is not None:
        x[-1] = steer
    u = follow(problem, x)
    for step in range(OUTWARD + 1):
        x[k] = sign * limit * step / OUTWARD
        for _ in range(STEPS):
            u = problem.close(u, x)
        if reason := _end(problem, problem.probe(u, x), design):
            if step == 0:
                raise ArithmeticError(f"the design position is out of range with the steering at {steer:g}: {reason}")
            return limit * (step - 1) / OUTWARD, reason
    return limit, "limit"


def fit(problem: Problem) -> Guess:
    """Box and polynomials of a problem.

    Raises ArithmeticError where the loops cannot be followed over a box.
    """
    box = find_box(problem)
    design = problem.probe(np.zeros(problem.dependent), np.zeros(problem.variables)).determinant
    for _ in range(TRIES):
        try:
            return _fit_over(problem, box, design)
        except _Beyond:  # where coordinates and steering meet
            less = np.where(np.arange(problem.variables) < problem.coordinates, NARROWER, 1.0)
            box = Box(less * box.low, less * box.high, box.ends)
    raise ArithmeticError("the loops cannot be followed over a box around the design position")


class _Beyond(Exception):
    """The box is too wide: a position is out of range, or the highest degree is not enough."""


def _fit_over(problem: Problem, box: Box, design: float) -> Guess:
    highest = HIGHEST[problem.variables]
    degrees = [3] * problem.variables
    while True:
        coefficients = _interpolated(problem, box, degrees, design)
        guess = Guess(box, coefficients, 0.0)
        error = _error(problem, guess, design)
        if error < GUESS:
            return Guess(box, coefficients, error)
        tails = [np.abs(np.take(coefficients, -1, axis=k + 1)).max() if degrees[k] < highest else -1.0
                 for k in range(problem.variables)]  # fmt: skip
        k = int(np.argmax(tails))
        if tails[k] < 0.0:
            raise _Beyond
        degrees[k] += 1


def _interpolated(problem: Problem, box: Box, degrees: Sequence[int], design: float) -> Array:
    """Coefficients from the values at the Chebyshev points of the first kind."""
    nodes = [np.cos(np.pi * (np.arange(d + 1) + 0.5) / (d + 1)) for d in degrees]
    values = np.zeros((problem.dependent, *(d + 1 for d in degrees)))
    centre, half = (box.high + box.low) / 2, (box.high - box.low) / 2
    for place in itertools.product(*(range(d + 1) for d in degrees)):
        x = centre + half * np.array([nodes[k][i] for k, i in enumerate(place)])
        u = follow(problem, x)
        _inside(problem, u, x, design)
        index: Any = (slice(None), *place)
        values[index] = u
    for axis, d in enumerate(degrees, 1):
        t = np.array([_polynomials(x, d + 1) for x in nodes[axis - 1]]) * (2.0 / (d + 1))
        t[:, 0] *= 0.5
        values = np.moveaxis(np.tensordot(values, t, axes=([axis], [0])), -1, axis)
    return values


def _error(problem: Problem, guess: Guess, design: float) -> float:
    """Largest error of the polynomials on a grid with the box's edges."""
    grids = [np.linspace(a, b, 2 * d + 3) for a, b, d in zip(guess.box.low, guess.box.high, guess.degrees, strict=True)]
    worst = 0.0
    for point in itertools.product(*grids):
        x = np.array(point)
        first = u = guess.at(x)
        for _ in range(STEPS):
            u = problem.close(u, x)
        _inside(problem, u, x, design)
        worst = max(worst, float(np.abs(u - first).max()))
    return worst


def _inside(problem: Problem, u: Array, x: Array, design: float) -> None:
    probe = problem.probe(u, x)
    good = probe.closure < CLOSED and probe.determinant / design > 0.0 and probe.quality > PIVOT
    if not good:
        raise _Beyond
