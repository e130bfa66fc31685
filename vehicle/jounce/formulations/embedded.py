"""Constraint embedding (Jain 2016, sections 3.2 and 3.3) with the interface of the augmented corners.

The independent coordinates alone are left, so there are no rows; the dependent ones come from Newton's method on the
loops, by as many full steps from the design position as reach rounding anywhere in the travel. The product takes two
from a better first guess (`jounce.dynamics.chebyshev`), or the closed form; here the equations count, not the cost.
"""

from __future__ import annotations

import casadi as ca

from jounce.dynamics.embedding import Coordinates, Embedding, Moved
from jounce.dynamics.masses import total_of
from jounce.dynamics.mechanism import Mechanism
from jounce.formulations.augmented import Augmented, Inputs, Terms, built_in, triangle
from jounce.math.algebra import SX

#: Newton's steps from the design position.
STEPS = 8


class Embedded(Augmented):
    """Constraint embedding of any mechanism with one wheel."""

    def __init__(self, mechanism: Mechanism, side: float = 1.0) -> None:
        """``mechanism``: as it is."""
        self.mechanism = built_in(mechanism, side)
        self.embedding = Embedding(mechanism)
        self.size = self.places = len(self.embedding.independent)
        self._numbers = SX(ca.evalf(mechanism.numbers(side)))
        c = self.embedding.symbols()
        built = Coordinates(c.theta, c.rates, c.u, c.told, self._numbers)
        self._step = ca.Function("step", [c.u, c.theta, c.told], [self.embedding.closing(built)[0]])

    def _coordinates(self, c: Inputs) -> Coordinates:
        u = SX.zeros(len(self.embedding.dependent))
        for _ in range(STEPS if u.numel() else 0):
            u = self._step(u, c.position, c.inner)
        return Coordinates(c.position, c.rates, u, c.inner, self._numbers)

    def moved(self, c: Inputs) -> Moved:
        """The bodies in motion on closed loops."""
        return self.embedding.moved(self._coordinates(c))

    def terms(self, c: Inputs) -> Terms:
        """The equations, without rows."""
        moved = self.moved(c)
        sums = total_of(moved, c.omega)
        return self._complete(c, moved, {}, [], sums, triangle(sums["d"], self.size))

    def rows_function(self, name: str = "rows") -> ca.Function:
        """As of `Augmented`: phi is what Newton's steps leave of the loops; there is no row for the integrator."""
        c, none = self.symbols(), SX(0, 1)
        moved = self.moved(c)
        phi = ca.vertcat(*(row.residual for row in moved.placed.rows()))
        return ca.Function(name, c.all(), [phi, none, SX(0, self.size), none, moved.closure])
