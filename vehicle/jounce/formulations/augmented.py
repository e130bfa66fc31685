"""Augmented formulations of one corner (Jain 2016, section 2 and Eq. 8): the loops stay as rows with multipliers.

    [M Y^T; Y 0] [q''; -lambda] = [Q - C - h^T A0; gamma],   gamma = -(delta' at q'' = 0) - 2 alpha delta - alpha^2 phi

with delta = Y q' + Phi_t and Baumgarte's alpha (1972). The chassis' acceleration A0 is eliminated last: the system is
solved for the six columns of -h^T and for the rest, q'' = X A0 + x, and the corner is P+ = I + h X, z+ = b + h x on the
chassis. Song and Kim's Eqs. 2 and 28 are the same system.

`Tree` has the coordinates of the spanning tree (tree-augmented); `cartesian.Cartesian` has a pose for every body and
all joints as rows (fully augmented). Both take any mechanism with one wheel and have its numbers built in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import casadi as ca

from jounce.dynamics.articulated import LOADS, spatial_inertia
from jounce.dynamics.embedding import Moved, by_points, largest
from jounce.dynamics.loops import Moving, Placed, Row, Told, Twist
from jounce.dynamics.masses import total_of
from jounce.dynamics.mechanism import Mechanism
from jounce.formulations.bodies import Part
from jounce.formulations.ldl import Factors, factorize
from jounce.math.algebra import SX, cross, dot
from jounce.steering.pitman import INNER
from jounce.suspension.embedded import act_forces, act_spin


@dataclass(frozen=True)
class Inputs:
    """Symbols of what a corner reads."""

    position: SX
    rates: SX
    spin_rate: SX
    inner: SX
    """INNER of the prescribed point."""
    omega: SX
    """Angular velocity of the chassis [rad/s]."""
    loads: SX
    """LOADS."""
    alpha: SX
    """Baumgarte's [1/s]."""

    def all(self) -> list[SX]:
        """In order."""
        return [self.position, self.rates, self.spin_rate, self.inner, self.omega, self.loads, self.alpha]


@dataclass(frozen=True)
class Terms:
    """The corner's equations before they are solved."""

    moved: Moved
    rows: list[Row]
    jacobian: list[dict[int, SX]]
    mass: dict[tuple[int, int], SX]
    """Lower triangle of M."""
    h: SX
    """(6, n) momentum on the chassis per unit rate."""
    inertia: SX
    """(6, 6)."""
    bias: SX
    """(6,)."""
    force: SX
    """(n,) Q - C."""
    residual: SX
    rate: SX
    """delta."""
    acceleration: SX
    """delta' at q'' = 0."""
    stored: SX
    """Energy of springs [J]."""
    spun: SX
    """Kinetic energy of the wheel's spin that the bodies' inertia leaves out [J]."""
    weak: frozenset[tuple[int, int]] = frozenset()
    """(row, column) of Y that vanish in the design position though not everywhere."""

    def gamma(self, alpha: SX) -> SX:
        """Right-hand side of the rows."""
        return -self.acceleration - 2 * alpha * self.rate - alpha * alpha * self.residual

    def energy(self, c: Inputs, velocity: SX) -> SX:
        """Kinetic energy and that of the springs [J]; ``velocity``: [angular; linear] of the chassis origin."""
        own = sum((v * c.rates[i] * c.rates[j] * (0.5 if i == j else 1) for (i, j), v in self.mass.items()), SX(0))
        carried = dot(velocity, 0.5 * self.inertia @ velocity + self.h @ c.rates)
        total_energy: SX = own + carried + self.spun + self.stored
        return total_energy


@dataclass(frozen=True)
class Gathered:
    """A corner as an inertia and a wrench on the chassis, and what gives its accelerations."""

    inertia: SX
    """P+."""
    bias: SX
    """z+."""
    x: SX
    """(n, 6): q'' = x A0 + rest."""
    rest: SX
    terms: Terms

    def acceleration(self, chassis: SX) -> SX:
        """q'' (n,) for the chassis' acceleration [angular; linear less gravity]."""
        found: SX = self.x @ chassis + self.rest
        return found

    def spin_acceleration(self, c: Inputs, chassis: SX) -> SX:
        """Acceleration [rad/s2] of the wheel's spin, which is eliminated before all else."""
        moved = self.terms.moved
        [wheel] = moved.placed.mechanism.wheels
        axis, turn = moved.placed.poses[wheel.on].rotation @ SX(wheel.axis), moved.turn(wheel.on)
        carrier = turn.partial @ self.acceleration(chassis) + turn.bias + cross(c.omega, turn.rate)
        load = LOADS.split(c.loads)
        torque = dot(axis, load["moment"]) + load["drive"] + load["brake"]
        left: SX = torque - wheel.along * dot(axis, chassis[:3] + carrier)
        return left / SX(wheel.along + wheel.shaft)


@dataclass(frozen=True)
class Factored(Gathered):
    """A corner that L D L^T has solved."""

    factors: Factors


class Augmented:
    """What both forms share: from `Terms` to `Gathered`, to functions."""

    mechanism: Mechanism
    size: int
    """Of the rates."""
    places: int
    """Of the position."""

    def terms(self, c: Inputs) -> Terms:
        """The equations."""
        raise NotImplementedError

    def symbols(self) -> Inputs:
        """Fresh symbols of every input."""
        told = INNER.size * len(self.mechanism.prescribed)
        return Inputs(SX.sym("q", self.places), SX.sym("v", self.size), SX.sym("s"), SX.sym("e", told),
                      SX.sym("w", 3), SX.sym("load", LOADS.size), SX.sym("alpha"))  # fmt: skip

    def gathered(self, c: Inputs) -> Gathered:
        """The equations solved for the chassis' acceleration."""
        t = self.terms(c)
        n, m = self.size, len(t.rows)
        entries = dict(t.mass)
        for i, row in enumerate(t.jacobian):
            entries |= {(n + i, k): v for k, v in row.items()}
        factors = factorize(n + m, entries, {(n + i, k) for i, k in t.weak})
        columns = [factors.solve([-t.h[k, j] for j in range(n)] + [SX(0)] * m)[:n] for k in range(6)]
        gamma = t.gamma(c.alpha)
        rest = ca.vertcat(*factors.solve([t.force[j] for j in range(n)] + [gamma[i] for i in range(m)])[:n])
        x = ca.horzcat(*(ca.vertcat(*column) for column in columns))
        return Factored(t.inertia + t.h @ x, t.bias + t.h @ rest, x, rest, t, factors)

    def placed(self, c: Inputs) -> Placed:
        """The bodies in their poses."""
        raise NotImplementedError

    def position_rate(self, c: Inputs) -> SX:
        """Rate of the position."""
        return c.rates

    def hub(self, c: Inputs) -> tuple[SX, SX]:
        """(place, velocity relative to the chassis) of the wheel's centre."""
        moved = self.moved(c)
        [wheel] = self.mechanism.wheels
        centre = moved.placed.carried(wheel.on, wheel.centre)
        return centre, moved.motion(wheel.on, centre).rate

    def moved(self, c: Inputs) -> Moved:
        """The bodies in motion, with a partial velocity for each rate."""
        return self._moved(self.placed(c), self._told(c), c.rates)[0]

    def gather_function(self, name: str = "gather") -> ca.Function:
        """gather(Inputs) -> (P+ 6x6, z+ 6, X n x 6, x n), all in chassis axes about the chassis origin."""
        c = self.symbols()
        g = self.gathered(c)
        return ca.Function(name, c.all(), [*ca.cse([ca.densify(v) for v in (g.inertia, g.bias, g.x, g.rest)])])

    def rows_function(self, name: str = "rows") -> ca.Function:
        """rows(Inputs) -> (phi, delta, Y, delta' at q'' = 0, largest error of a loop as a length [m])."""
        c = self.symbols()
        t = self.terms(c)
        y = SX.zeros(len(t.rows), self.size)
        for i, row in enumerate(t.jacobian):
            for k, entry in row.items():
                y[i, k] = entry
        return ca.Function(name, c.all(), [t.residual, t.rate, y, t.acceleration, t.moved.closure])

    def _told(self, c: Inputs) -> dict[str, Told]:
        found = {}
        for k, name in enumerate(self.mechanism.prescribed):
            e = INNER.split(c.inner[INNER.size * k : INNER.size * (k + 1)])
            found[name] = Told(e["end"], e["end_partial"], e["end_velocity"], e["end_acceleration"])
        return found

    def _moved(self, placed: Placed, told: dict[str, Told], rates: SX) -> tuple[Moved, dict[str, Moving], list[Row]]:
        rows, moving = placed.rows(), placed.moving(rates)
        unit, still = SX.eye(self.size), Twist(SX.zeros(3), SX.zeros(3))
        twists = {b: (placed.twist(b, unit), still, m.rate, m.bias) for b, m in moving.items()}
        closure = largest([row.residual / row.unit for row in rows])
        return Moved(placed, told, twists, closure, unit, SX.zeros(self.size)), moving, rows

    def _complete(
        self,
        c: Inputs,
        moved: Moved,
        moving: dict[str, Moving],
        rows: list[Row],
        sums: dict[str, SX],
        mass: dict[tuple[int, int], SX],
    ) -> Terms:
        """Terms from the sums over the bodies: springs, wheel loads, rows."""
        placed = moved.placed
        [wheel] = placed.mechanism.wheels
        sums["kin"] = SX(0)
        act_spin(wheel, moved, c.omega, c.spin_rate, sums)
        springs = act_forces(moved, sums)
        load = LOADS.split(c.loads)
        centre, axis = placed.carried(wheel.on, wheel.centre), placed.poses[wheel.on].rotation @ SX(wheel.axis)
        torque = dot(axis, load["moment"]) + load["drive"] + load["brake"]
        kept = load["moment"] - axis * (wheel.along / (wheel.along + wheel.shaft) * torque)
        hub, turn = moved.motion(wheel.on, centre).partial, moved.turn(wheel.on).partial
        force = turn.T @ (kept + axis * load["drive"]) + hub.T @ load["force"] - sums["bt"]
        applied = ca.vertcat(kept + cross(centre, load["force"]), load["force"])
        jacobian = [placed.row_jacobian(row) for row in rows]
        motions: dict[str, Moving | Told] = {**moving, **moved.told}
        shift = by_points(rows, {name: t.rate for name, t in moved.told.items()})
        rate = ca.vertcat(*(sum((v * c.rates[k] for k, v in row.items()), s)
                            for row, s in zip(jacobian, shift, strict=True)))  # fmt: skip
        return Terms(
            moved, rows, jacobian, mass, sums["h"], spatial_inertia(sums["mass"], sums["moment"], sums["inertia"]),
            sums["b"] - applied, force, ca.vertcat(*(row.residual for row in rows)), rate,
            ca.vertcat(*(row.acceleration(motions[row.a], motions[row.b]) for row in rows)),
            sum((out["spring_energy"] for out in springs), SX(0)), sums["kin"],
        )  # fmt: skip


class Parts(Protocol):
    """A fully augmented corner, as far as the tree's poses need it."""

    parts: tuple[Part, ...]


def triangle(elements: SX, size: int) -> dict[tuple[int, int], SX]:
    """Lower triangle of a symmetric matrix from the upper one by rows (`aggregate.total`)."""
    upper = iter(range(elements.shape[0]))
    return {(j, i): elements[next(upper)] for i in range(size) for j in range(i, size)}


def built_in(mechanism: Mechanism, side: float) -> Mechanism:
    """The mechanism of that side with its numbers as constants. Raises ValueError where it has not one wheel."""
    if len(mechanism.wheels) != 1:
        raise ValueError(f"{mechanism.name}: {len(mechanism.wheels)} wheels on one aggregate, expected is one: "
                         "axles whose wheels share a body have no corners")  # fmt: skip
    return mechanism.on(SX(ca.evalf(mechanism.numbers(side))))


class Tree(Augmented):
    """Tree-augmented: the coordinates of the spanning tree, the cut joints and rods as rows."""

    def __init__(self, mechanism: Mechanism, side: float = 1.0) -> None:
        """``mechanism``: as it is (rods and tubes without coordinates), or `bodies.with_bodies` of it."""
        self.mechanism = built_in(mechanism, side)
        self.names = Placed(self.mechanism, SX.zeros(64)).names
        self.size = self.places = len(self.names)

    def placed(self, c: Inputs) -> Placed:
        """The mechanism at the coordinates."""
        return Placed(self.mechanism, c.position, {name: t.place for name, t in self._told(c).items()})

    def terms(self, c: Inputs) -> Terms:
        """The equations: M is dense, h its coupling with the chassis."""
        moved, moving, rows = self._moved(self.placed(c), self._told(c), c.rates)
        sums = total_of(moved, c.omega)
        return self._complete(c, moved, moving, rows, sums, triangle(sums["d"], self.size))

    def poses_function(self, cartesian: Parts) -> ca.Function:
        """poses(q, q', INNER) -> (position, rates) of the fully augmented model in the same place and motion.

        The bodies of both must have the same names (`bodies.with_bodies`). The rotations come as matrices (rows of 9
        behind each centre of mass) that `cartesian_position` makes quaternions of.
        """
        c = self.symbols()
        moved = self.moved(c)
        places, rates = [], []
        for part in cartesian.parts:
            pose = moved.placed.poses[part.name]
            com = moved.placed.carried(part.name, part.com)
            places += [com, ca.reshape(pose.rotation, 9, 1)]
            rates += [moved.motion(part.name, com).rate, (pose.rotation @ part.axes).T @ moved.turn(part.name).rate]
        return ca.Function("poses", [c.position, c.rates, c.inner], [ca.vertcat(*places), ca.vertcat(*rates)])
