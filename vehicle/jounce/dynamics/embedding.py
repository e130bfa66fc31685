"""Constraint embedding of any aggregate: X, velocities and biases of a mechanism with loops (Jain 2016, 3.2-3.3).

The coordinates are [u; theta], dependent and independent. With points that move as they are told, Eq. 12 reads
Y q' + Phi_t = 0, hence

    u' = -Y1^-1 (Y2 theta' + Phi_t),   X = [-Y1^-1 Y2; 1],   X_s = [-Y1^-1 Phi_s; 0]

per unit of the coordinates and of the steering coordinate, and the part of u'' that theta'' does not drive is -Y1^-1
(acceleration of the rows at q'' = 0), Eq. 14. One factorization of Y1 at the closed position serves all of them.

u itself comes from a closed form where the mechanism has one, else from `guess` (`jounce.dynamics.chebyshev`) and
exactly two calls of `close`, each one full Newton step: no warm start and no loop to a tolerance, so that the
right-hand side stays a function of the state.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.aggregate import Motion
from jounce.dynamics.graph import ROOT
from jounce.dynamics.loops import Moving, Placed, Row, Told, Twist
from jounce.dynamics.lu import Factors, factorize, pivot_order
from jounce.dynamics.mechanism import End, Mechanism
from jounce.dynamics.rational import Rational
from jounce.math.algebra import SX, cross, dot
from jounce.steering.pitman import INNER

Array = NDArray[np.float64]

#: Random positions, steps to each from the design position, their length [rad or m].
POSITIONS, STEPS, LENGTH = 20, 5, 0.02
#: Largest error [m] of a closed loop; beyond it the aggregate is out of its range.
OPEN = 1e-9


@dataclass(frozen=True)
class Coordinates:
    """What the functions of an aggregate read."""

    theta: SX
    """Independent coordinates."""
    rates: SX
    u: SX
    """What tells the dependent coordinates (`jounce.dynamics.rational`)."""
    told: SX
    """INNER of each prescribed point, one after the other."""
    numbers: SX
    """`Mechanism.layout`."""


class Embedding:
    """The equations of one aggregate."""

    def __init__(self, mechanism: Mechanism, *, whole: bool = False) -> None:
        """``mechanism`` has the numbers of a vehicle of its kind; with them the order of the pivots is chosen.

        ``whole``: all bodies are one aggregate, even where no loop ties them together. Raises ValueError where the
        independent coordinates are not as many as the motions that the rows leave, and where they do not give the
        position.
        """
        self.mechanism = mechanism
        self.layout = mechanism.layout()
        placed = Placed(mechanism, SX.zeros(64))
        self.names = placed.names
        self.independent = tuple(self.names.index(n) for n in mechanism.independent)
        self.dependent = tuple(k for k in range(len(self.names)) if k not in self.independent)
        self.tree = placed.tree
        #: Of each independent coordinate: R turns, P slides.
        self.kinds = tuple("P" if placed.columns[k].w.is_zero() else "R" for k in self.independent)
        if not whole and (len(self.tree.aggregates) != 1 or self.tree.aggregates[0].parent != ROOT):
            groups = "; ".join(", ".join(a.bodies) for a in self.tree.aggregates)
            raise ValueError(f"{mechanism.name}: its bodies make {len(self.tree.aggregates)} aggregates ({groups}), "
                             "expected is one that the chassis carries")  # fmt: skip

    @cached_property
    def order(self) -> tuple[tuple[int, int], ...]:
        """Pivots of Y1, from a position near the design position where nothing vanishes by symmetry.

        Rows that hold nothing of their own have no pivot; `Moved.closure` tells if they do not stay closed.
        """
        numbers, rows = ca.evalf(self.mechanism.numbers()), self.rows_function(solved=True)
        q = np.array([0.03 * np.sin(1.0 + 2.3 * k) for k in range(len(self.names))])
        if rows.size1_out(0) != len(self.dependent):
            q = self.positions(numbers)[1]  # rows are combinations of others where the loops are closed
        return pivot_order(np.array(rows(q, self.rest, numbers)[1])[:, self.dependent])

    def positions(self, numbers: ca.DM) -> tuple[Array, ...]:
        """All coordinates at the design position and at random positions that its motions reach."""
        rows, size = self.rows_function(), len(self.names)
        r = np.random.default_rng(0)
        found = [np.zeros(size)]
        for _ in range(POSITIONS):
            q, way = np.zeros(size), r.normal(size=size)
            for _ in range(STEPS):
                y = np.array(rows(q, self.rest, numbers)[1])
                free = way - np.linalg.pinv(y, rcond=1e-6) @ (y @ way)
                q = q + LENGTH * free / max(float(np.linalg.norm(free)), 1e-3)
                for _ in range(6):
                    residual, y = map(np.array, rows(q, self.rest, numbers))
                    q = q - np.linalg.pinv(y, rcond=1e-4) @ residual.ravel()
            found.append(q)
        return tuple(found)

    @property
    def rest(self) -> ca.DM:
        """INNER of the prescribed points, at rest in the design position."""
        ends = [ca.vertcat(SX(ca.DM(v)) if not isinstance(v, SX) else v, SX.zeros(9))
                for v in self.mechanism.prescribed.values()]  # fmt: skip
        return ca.evalf(ca.vertcat(*ends)) if ends else ca.DM(0, 1)

    def told(self, inner: SX) -> dict[str, Told]:
        """Motions of the prescribed points by name."""
        found = {}
        for k, name in enumerate(self.mechanism.prescribed):
            e = INNER.split(inner[INNER.size * k : INNER.size * (k + 1)])
            found[name] = Told(e["end"], e["end_partial"], e["end_velocity"], e["end_acceleration"])
        return found

    def symbols(self) -> Coordinates:
        """Fresh symbols of every input."""
        n, told = len(self.independent), INNER.size * len(self.mechanism.prescribed)
        return Coordinates(SX.sym("theta", n), SX.sym("rate", n), SX.sym("u", len(self.dependent)), SX.sym("e", told),
                           SX.sym("n", self.layout.size))  # fmt: skip

    def position(self, theta: SX, u: SX) -> SX:
        """All coordinates in the order of `names`."""
        q = SX.zeros(len(self.names))
        for values, places in ((theta, self.independent), (u, self.dependent)):
            for k, place in enumerate(places):
                q[place] = values[k]
        return q

    def placed(self, c: Coordinates) -> Rational:
        """The mechanism with the numbers, at the coordinates."""
        places = {name: told.place for name, told in self.told(c.told).items()}
        return Rational(self.mechanism.on(c.numbers), self.position(c.theta, c.u), places, self.dependent)

    def factors(self, placed: Placed, rows: list[Row]) -> tuple[list[dict[int, SX]], Factors]:
        """(entries of Y by row, factors of Y1)."""
        y = [placed.row_jacobian(row) for row in rows]
        place = {k: i for i, k in enumerate(self.dependent)}
        left = [{place[k]: v for k, v in row.items() if k in place} for row in y]
        return y, factorize(left, self.order)

    def rows_function(self, *, solved: bool = False) -> ca.Function:
        """rows(q, INNER of each prescribed point, numbers) -> (residuals as lengths [m], Y of such rows).

        ``solved``: Y by the rates for which the embedding solves (`jounce.dynamics.rational`).
        """
        q, c = SX.sym("q", len(self.names)), self.symbols()
        places = {name: told.place for name, told in self.told(c.told).items()}
        own = self.mechanism.on(c.numbers)
        placed = Rational(own, q, places, self.dependent, angles=True) if solved else Placed(own, q, places)
        rows = placed.rows()
        y = SX.zeros(len(rows), len(self.names))
        for i, row in enumerate(rows):
            for k, entry in placed.row_jacobian(row).items():
                y[i, k] = entry / row.unit
        residual = ca.vertcat(*(row.residual / row.unit for row in rows)) if rows else SX(0, 1)
        return ca.Function("rows", [q, c.told, c.numbers], [residual, y])

    def closing(self, c: Coordinates) -> tuple[SX, SX, SX, SX]:
        """(u after one Newton step, largest error of the given position [m], least pivot as part of its row,
        determinant of Y1)."""
        placed = self.placed(c)
        rows = placed.rows()
        _, factors = self.factors(placed, rows)
        step = factors.solve([-row.residual for row in rows])
        u = c.u + self._told_by(placed, self.position(SX.zeros(len(self.independent)), ca.vertcat(*step)))
        return u, largest([row.residual / row.unit for row in rows]), factors.quality(), factors.determinant()

    def closed(self, c: Coordinates) -> SX:
        """u of the closed position by the mechanism's closed form, whatever ``c.u`` is."""
        assert self.mechanism.closed_form is not None
        places = {name: told.place for name, told in self.told(c.told).items()}
        turns = self.mechanism.closed_form(self.mechanism.on(c.numbers), c.theta, places)
        values = self.placed(c).values(turns)
        return ca.vertcat(*(values[k] for k in self.dependent))

    def slope(self, c: Coordinates, theta: SX, told: SX) -> SX:
        """Tangent of the closed u for tangents of theta and of the prescribed points."""
        placed = self.placed(c)
        rows = placed.rows()
        y, factors = self.factors(placed, rows)
        move = by_points(rows, {name: t.place for name, t in self.told(told).items()})
        right = []
        for row, rate in zip(y, move, strict=True):
            by_theta = sum((row[k] * theta[j] for j, k in enumerate(self.independent) if k in row), SX(0))
            right.append(-(by_theta + rate))
        return self._told_by(placed, self.position(theta, ca.vertcat(*factors.solve(right))))

    def _told_by(self, placed: Rational, rates: SX) -> SX:
        """Rates of u for rates of all coordinates."""
        slope = placed.slope(rates)
        return ca.vertcat(*(slope[k] for k in self.dependent))

    def moved(self, c: Coordinates) -> Moved:
        """Position, X, X_s and biases at a closed position."""
        return self.moving(c)[0]

    def moving(self, c: Coordinates) -> tuple[Moved, SX]:
        """The same, and the rates of u."""
        placed = self.placed(c)
        told = self.told(c.told)
        rows = placed.rows()
        y, factors = self.factors(placed, rows)
        n, size = len(self.independent), len(self.names)

        def spread(u: list[SX], theta: SX | None = None) -> SX:
            return self.position(SX.zeros(n) if theta is None else theta, ca.vertcat(*u) if u else SX(0, 1))

        def by_told(of: str) -> list[SX]:
            return [-rate for rate in by_points(rows, {name: getattr(t, of) for name, t in told.items()})]

        x = SX.zeros(size, n)
        for j, k in enumerate(self.independent):
            unit = SX.zeros(n)
            unit[j] = 1
            x[:, j] = spread(factors.solve([-row.get(k, SX(0)) for row in y]), unit)
        steer = spread(factors.solve(by_told("partial")))
        rates = x @ c.rates + spread(factors.solve(by_told("rate")))
        moving = placed.moving(rates)
        motions: dict[str, Moving | Told] = {**moving, **told}
        bias = spread(factors.solve([-row.acceleration(motions[row.a], motions[row.b]) for row in rows]))
        by_u = {b: placed.twist(b, bias) for b in moving}
        turns = {b: Twist(m.bias.w + by_u[b].w, m.bias.v + by_u[b].v) for b, m in moving.items()}
        closure = largest([row.residual / row.unit for row in rows])
        return Moved(placed, told, {b: (placed.twist(b, x), placed.twist(b, steer), moving[b].rate, turns[b])
                                    for b in moving}, closure, x, steer), self._told_by(placed, rates)  # fmt: skip


@dataclass(frozen=True)
class Moved:
    """An aggregate in motion: how each body follows the independent coordinates, steering and time."""

    placed: Placed
    told: dict[str, Told]
    twists: dict[str, tuple[Twist, Twist, Twist, Twist]]
    """Body -> per unit of each coordinate, of steering, velocity, acceleration without theta''."""
    closure: SX
    """Largest error of a loop [m]."""
    x: SX
    """X of Eq. 13, by `Embedding.names`."""
    steer: SX
    """X_s."""

    def turn(self, body: str) -> Motion:
        """Turn of a body."""
        partial, steer, rate, bias = self.twists[body]
        return Motion(partial.w, steer.w, rate.w, bias.w)

    def motion(self, body: str, point: SX) -> Motion:
        """Motion of the body's point that is there now."""
        partial, steer, rate, bias = self.twists[body]
        velocity = rate.at(point)
        return Motion(partial.at(point), steer.at(point), velocity, bias.at(point) + cross(rate.w, velocity))

    def end(self, end: End) -> tuple[SX, Motion]:
        """Place and motion of the end of a rod, spring or the like."""
        place = self.placed.point(end)
        if (told := self.told.get(end.on)) is None:
            return place, self.motion(end.on, place)
        return place, Motion(SX.zeros(3, self.x.shape[1]), told.partial, told.rate, told.bias)


def by_points(rows: list[Row], velocities: dict[str, SX]) -> list[SX]:
    """Rates of the rows when the prescribed points alone move: Phi_t."""
    found = []
    for row in rows:
        rate = SX(0)
        if row.a in velocities:
            rate += dot(row.wrench_a[3:], velocities[row.a])
        if row.b in velocities:
            rate -= dot(row.wrench_b[3:], velocities[row.b])
        found.append(rate)
    return found


def largest(residuals: list[SX]) -> SX:
    """Largest size of the residuals; 0 where there are none."""
    found = SX(0)
    for r in residuals:
        found = ca.fmax(found, ca.fabs(r))
    return found
