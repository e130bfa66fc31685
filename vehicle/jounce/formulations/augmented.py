"""Augmented formulations of one corner (Jain 2016, section 2 and Eq. 8): the loops stay as rows with multipliers.

    [M Y^T; Y 0] [q''; -lambda] = [Q - C - h^T A0; gamma],   gamma = -(delta' at q'' = 0) - 2 alpha delta - alpha^2 phi

with delta = Y q' + Phi_t and Baumgarte's alpha (1972). The chassis' acceleration A0 is eliminated last: the system is
solved for the six columns of -h^T and for the rest, q'' = X A0 + x, and the corner is P+ = I + h X, z+ = b + h x on the
chassis. Song and Kim's Eqs. 2 and 28 are the same system.

`Tree` has the coordinates of the spanning tree (tree-augmented); `Cartesian` has a pose for every body and all joints
as rows (fully augmented). Both take any mechanism with one wheel and have its numbers built in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.aggregate import slender, together, total
from jounce.dynamics.articulated import LOADS, spatial_inertia
from jounce.dynamics.embedding import Moved, by_points, largest, spinless
from jounce.dynamics.graph import ROOT
from jounce.dynamics.loops import Moving, Placed, Pose, Row, Told, Twist
from jounce.dynamics.lu import ZERO
from jounce.dynamics.mechanism import Mechanism
from jounce.formulations.bodies import freed, with_bodies
from jounce.formulations.ldl import Factors, factorize
from jounce.math.algebra import SX, cross, dot, matrix, rotation
from jounce.steering.pitman import INNER
from jounce.suspension.embedded import act_forces, act_spin

Array = NDArray[np.float64]

#: An element of Y below it in the design position carries no pivot.
WEAK = 1e-2
#: A moment of inertia below that part of the body's largest is none.
NO_INERTIA = 1e-12


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
    weak: frozenset[tuple[int, int]] = frozenset()
    """(row, column) of Y that vanish in the design position though not everywhere."""

    def gamma(self, alpha: SX) -> SX:
        """Right-hand side of the rows."""
        return -self.acceleration - 2 * alpha * self.rate - alpha * alpha * self.residual


@dataclass(frozen=True)
class Gathered:
    """A corner as an inertia and a wrench on the chassis, and what gives its accelerations."""

    inertia: SX
    bias: SX
    x: SX
    """(n, 6): q'' = x A0 + rest."""
    rest: SX
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
        return Gathered(t.inertia + t.h @ x, t.bias + t.h @ rest, x, rest, factors)

    def placed(self, c: Inputs) -> Placed:
        """The bodies in their poses."""
        raise NotImplementedError

    def position_rate(self, c: Inputs) -> SX:
        """Rate of the position."""
        return c.rates

    def hub(self, c: Inputs) -> tuple[SX, SX]:
        """(place, velocity relative to the chassis) of the wheel's centre."""
        placed = self.placed(c)
        [wheel] = self.mechanism.wheels
        centre = placed.carried(wheel.on, wheel.centre)
        return centre, placed.twist(wheel.on, c.rates).at(centre)

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
        act_spin(wheel, moved, c.omega, c.spin_rate, sums)
        act_forces(moved, sums)
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
        )  # fmt: skip


def built_in(mechanism: Mechanism, side: float) -> Mechanism:
    """The mechanism of that side with its numbers as constants."""
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
        sums = total(moved.bodies(), c.omega)
        upper = iter(range(sums["d"].shape[0]))
        mass = {(j, i): sums["d"][next(upper)] for i in range(self.size) for j in range(i, self.size)}
        return self._complete(c, moved, moving, rows, sums, mass)

    def poses_function(self, cartesian: Cartesian) -> ca.Function:
        """poses(q, q', INNER) -> (position, rates) of the fully augmented model in the same place and motion.

        The bodies of both must have the same names (`bodies.with_bodies`). The rotations come as matrices (rows of 9
        behind each centre of mass) that `cartesian_position` makes quaternions of.
        """
        c = self.symbols()
        moved, _, _ = self._moved(self.placed(c), self._told(c), c.rates)
        places, rates = [], []
        for part in cartesian.parts:
            pose = moved.placed.poses[part.name]
            com = moved.placed.carried(part.name, part.com)
            places += [com, ca.reshape(pose.rotation, 9, 1)]
            rates += [moved.motion(part.name, com).rate, (pose.rotation @ part.axes).T @ moved.turn(part.name).rate]
        return ca.Function("poses", [c.position, c.rates, c.inner], [ca.vertcat(*places), ca.vertcat(*rates)])


@dataclass(frozen=True)
class Part:
    """A body of the fully augmented model, with what rides on it."""

    name: str
    mass: SX
    com: SX
    """In the design position."""
    axes: SX
    """(3, 3) principal axes in the design position, as columns."""
    moments: SX
    """About them."""


class _Loose(Placed):
    """Bodies in poses of their own: six columns of twists each, velocities of com and turn about principal axes."""

    def __init__(self, mechanism: Mechanism, parts: Sequence[Part], position: SX, places: dict[str, SX]) -> None:
        super().__init__(mechanism, SX.zeros(6 * len(parts)), places)
        self.columns, self.poses, self.centres = [], {ROOT: Pose(SX.eye(3), SX.zeros(3), ())}, {}
        for k, part in enumerate(parts):
            com, turned = position[7 * k : 7 * k + 3], rotation(position[7 * k + 3 : 7 * k + 7])
            self.poses[part.name] = Pose(turned, com - turned @ part.com, tuple(range(6 * k, 6 * k + 6)))
            self.centres[part.name] = com
            axes = turned @ part.axes
            self.columns += [Twist(SX.zeros(3), SX.eye(3)[:, j]) for j in range(3)]
            self.columns += [Twist(axes[:, j], cross(com, axes[:, j])) for j in range(3)]

    def moving(self, rates: SX) -> dict[str, Moving]:
        """With v' = 0 and w' = 0 a body's point at the origin has the spatial acceleration v x w."""
        zero = Twist(SX.zeros(3), SX.zeros(3))
        found = {ROOT: Moving(zero, zero)}
        for body, com in self.centres.items():
            twist = self.twist(body, rates)
            found[body] = Moving(twist, Twist(SX.zeros(3), cross(twist.at(com), twist.w)))
        return found


class Cartesian(Augmented):
    """Fully augmented: pose and velocity of every body relative to the chassis, all joints as rows.

    A position is centre of mass and quaternion (from the design position) of each body, 7 numbers; its rates are the
    centre's velocity in chassis axes and the turn in the body's principal axes, 6. M is diagonal and constant.
    """

    #: Y in a closed pose that is not special.
    generic: Array

    def __init__(self, mechanism: Mechanism, side: float = 1.0, *, two_point: bool = False) -> None:
        """``mechanism``: as it is; joints become rows, rods and tubes bodies unless they stay ``two_point``."""
        self.mechanism = built_in(freed(mechanism if two_point else with_bodies(mechanism)), side)
        self.parts = tuple(map(self._part, (b.name for b in self.mechanism.bodies)))
        self.size, self.places = 6 * len(self.parts), 7 * len(self.parts)

    def _part(self, name: str) -> Part:
        m = self.mechanism
        body = next(b for b in m.bodies if b.name == name)
        held = [] if body.mass is None else [(SX(body.mass), SX(body.com), matrix(SX(body.inertia)))]
        held += [(SX(w.mass), SX(w.centre), slender(SX(w.axis), w.across, spinless(w))) for w in m.wheels
                 if w.on == name]  # fmt: skip
        if not held:
            raise ValueError(f"{m.name}: {name} has no mass; the fully augmented model needs one")
        mass, com, inertia = together(held)
        moments, axes = np.linalg.eigh(np.array(ca.evalf(inertia)))
        axes[:, 0] *= np.linalg.det(axes)  # right-handed
        moments[moments < NO_INERTIA * moments.max()] = 0.0
        return Part(name, mass, com, SX(ca.DM(axes)), SX(ca.DM(moments)))

    @property
    def design(self) -> ca.DM:
        """Position with every coordinate of the tree at zero."""
        return ca.evalf(ca.vertcat(*(ca.vertcat(p.com, SX([1, 0, 0, 0])) for p in self.parts)))

    def placed(self, c: Inputs) -> _Loose:
        """The bodies in their poses."""
        places = {name: t.place for name, t in self._told(c).items()}
        return _Loose(self.mechanism, self.parts, c.position, places)

    def terms(self, c: Inputs) -> Terms:
        """The equations: Newton and Euler of each body, seen from a chassis that turns."""
        omega, placed = c.omega, self.placed(c)
        moved, moving, rows = self._moved(placed, self._told(c), c.rates)
        sums = {"mass": SX(0), "moment": SX(3, 1), "inertia": SX(6, 1), "h": SX(6, self.size), "b": SX(6, 1),
                "bt": SX(self.size, 1), "sb": SX(0), "kin": SX(0)}  # fmt: skip
        mass: dict[tuple[int, int], SX] = {}
        for k, part in enumerate(self.parts):
            first, m, r = 6 * k, part.mass, placed.centres[part.name]
            axes = placed.poses[part.name].rotation @ part.axes
            v, w = c.rates[first : first + 3], c.rates[first + 3 : first + 6]
            carried = axes.T @ omega
            whole = carried + w
            force = m * cross(omega, 2 * v + cross(omega, r))
            torque = part.moments * cross(carried, w) + cross(whole, part.moments * whole)
            for j in range(3):
                e = SX.eye(3)[:, j]
                mass[first + j, first + j], mass[first + 3 + j, first + 3 + j] = m, part.moments[j]
                sums["h"][:, first + j] = ca.vertcat(m * cross(r, e), m * e)
                sums["h"][:, first + 3 + j] = ca.vertcat(axes[:, j] * part.moments[j], SX(3, 1))
            inertia = axes @ ca.diag(part.moments) @ axes.T + m * (dot(r, r) * SX.eye(3) - r @ r.T)
            sums["mass"] += m
            sums["moment"] += m * r
            sums["inertia"] += ca.vertcat(*(inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
            sums["b"] += ca.vertcat(cross(r, force) + axes @ torque, force)
            sums["bt"][first : first + 6] = ca.vertcat(force, torque)
        return self._closed(c, self._complete(c, moved, moving, rows, sums, mass))

    def _closed(self, c: Inputs, terms: Terms) -> Terms:
        """Y without the elements that are zero in any closed pose, as where a tube turns about its joint's own axis.

        They must not be taken for what can fill the diagonal of a coordinate without mass.
        """
        y = SX.zeros(len(terms.rows), self.size)
        for i, row in enumerate(terms.jacobian):
            for k, entry in row.items():
                y[i, k] = entry
        step, r = c.rates, np.random.default_rng(1)
        rate = self.position_rate(c)
        look = ca.Function("y", [c.position, step, c.inner], [terms.residual, y, rate])
        ends = [v for place in self.mechanism.prescribed.values()
                for v in (*(np.array(ca.evalf(place)).ravel() + r.uniform(-0.02, 0.02, 3)), *np.zeros(9))]  # fmt: skip
        pose, numbers, design = np.array(self.design).ravel(), np.zeros((0, 0)), np.zeros((0, 0))
        for k in range(30):  # a way off the design position, and Newton's steps of least change behind it
            residual, matrix_y, _ = (np.array(v) for v in look(pose, np.zeros(self.size), ends))
            numbers = matrix_y
            design = numbers if k == 0 else design
            change = -np.linalg.pinv(numbers) @ residual.ravel()
            if k % 5 == 0 and k < 25:
                free = r.normal(size=self.size)
                free -= np.linalg.pinv(numbers) @ (numbers @ free)
                change += 0.03 * free / float(np.linalg.norm(free))
            pose = pose + np.array(look(pose, change, ends)[2]).ravel()
            turns = pose.reshape(-1, 7)[:, 3:]
            turns /= np.linalg.norm(turns, axis=1)[:, None]
        self.generic = numbers
        there = [{k: v for k, v in row.items() if abs(numbers[i, k]) > ZERO} for i, row in enumerate(terms.jacobian)]
        weak = frozenset((i, k) for i, row in enumerate(there) for k in row if abs(design[i, k]) < WEAK)
        return replace(terms, jacobian=there, weak=weak)

    def cartesian_position(self, places: Array) -> Array:
        """Position from centre and rotation matrix (12 numbers a body) of `Tree.poses_function`."""
        found = []
        for block in np.asarray(places, dtype=float).reshape(-1, 12):
            r = block[3:].reshape(3, 3, order="F")
            w = float(np.sqrt(1.0 + np.trace(r))) / 2  # turns stay below half a turn
            skew = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
            found.append(np.concatenate([block[:3], [w], skew / (4 * w)]))
        return np.concatenate(found)

    def position_rate(self, c: Inputs) -> SX:
        """Rate of the position: velocities of the centres, and quaternions by half the turn."""
        rates = []
        for k, part in enumerate(self.parts):
            q, w = c.position[7 * k + 3 : 7 * k + 7], part.axes @ c.rates[6 * k + 3 : 6 * k + 6]
            rates += [c.rates[6 * k : 6 * k + 3], -0.5 * dot(q[1:], w), 0.5 * (q[0] * w + cross(q[1:], w))]
        return ca.vertcat(*rates)
