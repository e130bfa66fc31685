"""First guess of the dependent coordinates: Chebyshev polynomials over a box, made once from a vehicle's numbers.

`close` brings a guess that is off by at most GUESS to rounding in two Newton steps, without knowing the last position.
The same algorithm stands in C (`jn_chebyshev.c`), where derived numbers are made; here it serves checks and reports.

1. The box: from the design position outward along each coordinate, at both ends of the steering, until the determinant
   of the loops falls to TOGGLE of its design value, or a spring or shock is at its end.
2. Nodes are closed by continuation from the design position, which identifies the branch (a linkage may have eight).
3. The degree rises in each variable alone, then in the one with the largest last coefficients, until the polynomial is
   within GUESS. Of the products those are kept that have (i / degree)^2 + (j / degree)^2 + .. <= 1 (`kept`).

Sources: L. N. Trefethen 2013, "Approximation Theory and Approximation Practice", chapters 3 and 4; 2017, "Multivariate
polynomial approximation in the hypercube", Proc. AMS 145, 4837 (why that ball of degrees).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Largest error of the polynomial [rad or m] from which two Newton steps reach rounding.
GUESS = 2e-4
#: Error of a loop after those two steps [m].
ROUNDED = 1e-13
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
#: Degrees to begin with, and the highest.
LOWEST, HIGHEST = 3, 12
#: What may end the box in one direction; `corner`: what is out of range is a corner, with the other variables.
ENDS = ("limit", "toggle", "spring or shock", "pivot", "open loop", "corner")


@dataclass(frozen=True)
class Probe:
    """What is known of positions, (points,) each."""

    closure: Array
    """Largest error of a loop [m]."""
    quality: Array
    """Least pivot as part of its row."""
    determinant: Array
    room: Array
    """Distance of springs and shocks from their ends [m], negative beyond."""


@dataclass(frozen=True)
class Problem:
    """The loops of one aggregate over x = (coordinates, then the steering coordinate where it is steered).

    Arrays of u and x have a column for each point.
    """

    coordinates: int
    dependent: int
    close: Callable[[Array, Array], Array]
    """(u, x) -> u after one Newton step."""
    probe: Callable[[Array, Array], Probe]
    """(u, x) -> what is known of the positions."""
    limits: tuple[float, ...]
    """How far each coordinate is searched, both ways."""
    steering: tuple[float, float] | None = None
    """Range of the steering coordinate."""
    closed: Callable[[Array], Array] | None = None
    """x -> u of the closed positions, where there is a closed form."""

    @property
    def variables(self) -> int:
        """Of the polynomial."""
        return self.coordinates + (self.steering is not None)

    @property
    def design(self) -> Probe:
        """The design position, as the only point."""
        return self.probe(np.zeros((self.dependent, 1)), np.zeros((self.variables, 1)))


@dataclass(frozen=True)
class Box:
    """Range of each variable, and what ends it."""

    low: Array
    high: Array
    ends: tuple[tuple[str, str], ...]
    """Of the coordinates: below, above (ENDS)."""

    def unit(self, x: Array) -> Array:
        """x as -1 .. 1 of the box, clamped."""
        low, high = self.low[:, None], self.high[:, None]
        return np.asarray(np.clip((2 * x - (low + high)) / (high - low), -1.0, 1.0))


@dataclass(frozen=True)
class Guess:
    """Polynomials of the dependent coordinates."""

    box: Box
    coefficients: Array
    """(dependent, degree + 1 of each variable), zero where `kept` is not."""
    error: float
    """Largest difference from the closed position where it was tried [rad or m]."""

    @property
    def degrees(self) -> tuple[int, ...]:
        """In each variable."""
        return tuple(n - 1 for n in self.coefficients.shape[1:])

    def at(self, x: Array) -> Array:
        """u at the points x; outside the box that of its nearest point."""
        values = np.broadcast_to(self.coefficients[..., None], (*self.coefficients.shape, x.shape[1]))
        for t, n in zip(self.box.unit(x), self.coefficients.shape[1:], strict=True):
            values = np.einsum("kn...p,np->k...p", values, _polynomials(t, n))
        return values


def kept(degrees: Sequence[int]) -> NDArray[np.bool_]:
    """Which products of polynomials are used: (degree + 1 of each variable)."""
    there = [max(d, 1) for d in degrees]
    whole = int(np.prod(there))  # in whole numbers, as in C
    used = np.zeros([d + 1 for d in degrees], dtype=int)
    for k, d in enumerate(degrees):
        shape = [-1 if j == k else 1 for j in range(len(degrees))]
        used = used + (np.arange(d + 1) ** 2 * (whole // there[k]) ** 2).reshape(shape)
    return np.asarray(used <= whole * whole)


def _polynomials(t: Array, n: int) -> Array:
    values = np.ones((n, len(t)))
    if n > 1:
        values[1] = t
    for k in range(2, n):
        values[k] = 2 * t * values[k - 1] - values[k - 2]
    return values


def closed(problem: Problem, x: Array, u: Array) -> Array:
    """u after STEPS Newton steps at the points x."""
    for _ in range(STEPS):
        u = problem.close(u, x)
    return u


def follow(problem: Problem, x: Array) -> Array:
    """u at the points x, by continuation from the design position."""
    u = np.zeros((problem.dependent, x.shape[1]))
    for part in range(1, PARTS + 1):
        u = closed(problem, x * (part / PARTS), u)
    return closed(problem, x, u)


def _ends(probe: Probe, design: Probe) -> list[str]:
    """What each position is beyond, "" where nothing is (NaN is)."""
    good = {"open loop": probe.closure < CLOSED, "toggle": probe.determinant / design.determinant > TOGGLE,
            "spring or shock": probe.room > 0.0, "pivot": probe.quality > PIVOT}  # fmt: skip
    return [next((name for name, fine in good.items() if not fine[k]), "") for k in range(len(probe.closure))]


def find_box(problem: Problem) -> Box:
    """The box of a problem. Raises ArithmeticError where the design position is not closed and inside itself."""
    n, steering, design = problem.coordinates, problem.steering, problem.design
    if end := _ends(design, design)[0]:
        raise ArithmeticError(f"the design position is out of range: {end}")
    low, high = np.zeros(problem.variables), np.zeros(problem.variables)
    reasons = []
    for k in range(n):
        found = []
        for sign in (-1.0, 1.0):
            reach, reason = problem.limits[k], "limit"
            for steer in (0.0,) if steering is None else (0.0, *steering):
                far, why = _outward(problem, design, k, sign, steer, reach)
                if far < reach:
                    reach, reason = far, why
            if reach < 1.5 * problem.limits[k] / OUTWARD:
                where = f"coordinate {k + 1} cannot leave the design position {'down' if sign < 0 else 'up'}ward"
                raise ArithmeticError(f"{where}: {reason}")
            (low if sign < 0 else high)[k] = sign * reach
            found.append(reason)
        reasons.append((found[0], found[1]))
    if steering is not None:
        low[-1], high[-1] = steering
    return Box(low, high, tuple(reasons))


def _outward(problem: Problem, design: Probe, k: int, sign: float, steer: float, limit: float) -> tuple[float, str]:
    """(how far coordinate k may go, what ends it) at a steering coordinate."""
    x = np.zeros((problem.variables, 1))
    if problem.steering is not None:
        x[-1] = steer
    u = follow(problem, x)
    for step in range(OUTWARD + 1):
        x[k] = sign * limit * step / OUTWARD
        u = closed(problem, x, u)
        if reason := _ends(problem.probe(u, x), design)[0]:
            if step == 0:
                raise ArithmeticError(f"the design position is out of range with the steering at {steer:g}: {reason}")
            return limit * (step - 1) / OUTWARD, reason
    return limit, "limit"


def fit(problem: Problem) -> Guess:
    """Box and polynomials of a problem.

    Raises ArithmeticError where the loops cannot be followed over a box.
    """
    box, why = find_box(problem), ""
    for _ in range(TRIES):
        try:
            return _fit_over(problem, box)
        except _Beyond as beyond:
            why, less = str(beyond), np.where(np.arange(problem.variables) < problem.coordinates, NARROWER, 1.0)
            box = Box(less * box.low, less * box.high, (("corner", "corner"),) * problem.coordinates)
    raise ArithmeticError(f"the loops cannot be followed over a box around the design position: {why}")


class _Beyond(Exception):
    """The box is too wide: a position is out of range, or the highest degree is not enough."""


def _fit_over(problem: Problem, box: Box) -> Guess:
    n = problem.variables
    degrees = [_alone(problem, box, k) for k in range(n)]
    while True:
        tensor = _interpolated(problem, box, degrees)
        coefficients = tensor * kept(degrees)
        error = _error(problem, Guess(box, coefficients, 0.0), range(n))
        if error < GUESS and _rounded(problem, guess := Guess(box, coefficients, error)):
            return guess
        tails = [np.abs(np.take(tensor, -1, axis=k + 1)).max() if degrees[k] < HIGHEST else -1.0 for k in range(n)]
        k = int(np.argmax(tails))
        if tails[k] < 0.0:
            raise _Beyond(f"a polynomial of degree {HIGHEST} is off by {error:.1e}, allowed is {GUESS:.0e}")
        degrees[k] += 1


def _alone(problem: Problem, box: Box, k: int) -> int:
    """Degree that is enough along variable k, the others in the middle of the box."""
    for degree in range(LOWEST, HIGHEST + 1):
        degrees = [degree if j == k else 0 for j in range(problem.variables)]
        if _error(problem, Guess(box, _interpolated(problem, box, degrees), 0.0), [k]) < GUESS:
            return degree
    raise _Beyond(f"a polynomial of degree {HIGHEST} in variable {k + 1} is off by more than {GUESS:.0e}")


def _grid(axes: Sequence[Array]) -> Array:
    """Points of a grid, a column each, the last axis fastest."""
    return np.array([v.ravel() for v in np.meshgrid(*axes, indexing="ij")])


def _interpolated(problem: Problem, box: Box, degrees: Sequence[int]) -> Array:
    """Coefficients from the values at the Chebyshev points of the first kind."""
    nodes = [np.cos(np.pi * (np.arange(d + 1) + 0.5) / (d + 1)) for d in degrees]
    x = ((box.high + box.low) / 2)[:, None] + ((box.high - box.low) / 2)[:, None] * _grid(nodes)
    u = follow(problem, x)
    _inside(problem, u, x)
    values = u.reshape(problem.dependent, *(d + 1 for d in degrees))
    for axis, (d, node) in enumerate(zip(degrees, nodes, strict=True), 1):
        t = _polynomials(node, d + 1) * (2.0 / (d + 1))
        t[0] *= 0.5
        values = np.moveaxis(np.tensordot(values, t, axes=([axis], [1])), -1, axis)
    return values


def _tried(guess: Guess, along: Sequence[int]) -> Array:
    """A grid with the box's edges, along some variables."""
    ranges = zip(guess.box.low, guess.box.high, guess.degrees, strict=True)
    return _grid([np.linspace(a, b, 2 * d + 3) if k in along else np.array([(a + b) / 2])
                  for k, (a, b, d) in enumerate(ranges)])  # fmt: skip


def _rounded(problem: Problem, guess: Guess) -> bool:
    """Whether two Newton steps from it close the loops to rounding; near a dead centre they need a better one."""
    x = _tried(guess, range(problem.variables))
    u = problem.close(problem.close(guess.at(x), x), x)
    return bool(problem.probe(u, x).closure.max() < ROUNDED)


def _error(problem: Problem, guess: Guess, along: Sequence[int]) -> float:
    """Largest error of the polynomials there."""
    x = _tried(guess, along)
    first = guess.at(x)
    u = closed(problem, x, first)
    _inside(problem, u, x)
    return float(np.abs(u - first).max())


def _inside(problem: Problem, u: Array, x: Array) -> None:
    probe, design = problem.probe(u, x), problem.design
    good = (probe.closure < CLOSED) & (probe.determinant / design.determinant > 0.0) & (probe.quality > PIVOT)
    if not good.all():
        at = ", ".join(f"{v:.3g}" for v in x[:, int(np.argmin(good))])
        raise _Beyond(f"a loop is open or at its dead centre at ({at})")
