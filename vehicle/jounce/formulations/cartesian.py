"""Fully augmented corners (Jain 2016, section 3): a pose for every body, all joints as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.aggregate import slender, together
from jounce.dynamics.graph import ROOT
from jounce.dynamics.loops import Moving, Placed, Pose, Row, Twist
from jounce.dynamics.lu import ZERO
from jounce.dynamics.masses import spinless
from jounce.dynamics.mechanism import Mechanism
from jounce.formulations.augmented import Augmented, Inputs, Terms, built_in
from jounce.formulations.bodies import Part, freed, with_bodies
from jounce.math.algebra import SX, cross, dot, matrix, rotation

Array = NDArray[np.float64]

#: An element of Y below it in the design position carries no pivot.
WEAK = 1e-2
#: A moment of inertia below that part of the body's largest is none.
NO_INERTIA = 1e-12


class _Loose(Placed):
    """Bodies in poses of their own: six columns of twists each, velocities of com and turn about principal axes."""

    def __init__(self, mechanism: Mechanism, parts: Sequence[Part], position: SX, places: dict[str, SX]) -> None:
        super().__init__(mechanism, SX.zeros(6 * len(parts)), places)
        self.columns, self.poses = [], {ROOT: Pose(SX.eye(3), SX.zeros(3), ())}
        self.centres, self.axes = dict[str, SX](), dict[str, SX]()
        for k, part in enumerate(parts):
            com, turned = position[7 * k : 7 * k + 3], rotation(position[7 * k + 3 : 7 * k + 7])
            self.poses[part.name] = Pose(turned, com - turned @ part.com, tuple(range(6 * k, 6 * k + 6)))
            self.centres[part.name] = com
            axes = self.axes[part.name] = turned @ part.axes
            self.columns += [Twist(SX.zeros(3), SX.eye(3)[:, j]) for j in range(3)]
            self.columns += [Twist(axes[:, j], cross(com, axes[:, j])) for j in range(3)]

    def moving(self, rates: SX) -> dict[str, Moving]:
        """With v' = 0 and w' = 0 a body's point at the origin has the spatial acceleration v x w."""
        zero = Twist(SX.zeros(3), SX.zeros(3))
        found = {ROOT: Moving(zero, zero)}
        for k, (body, com) in enumerate(self.centres.items()):
            v, w = rates[6 * k : 6 * k + 3], self.axes[body] @ rates[6 * k + 3 : 6 * k + 6]
            found[body] = Moving(Twist(w, v + cross(com, w)), Twist(SX.zeros(3), cross(v, w)))
        return found

    def row_jacobian(self, row: Row) -> dict[int, SX]:
        """By moments about the centre of mass, about which a body's coordinates turn it: half the operations."""
        found: dict[int, SX] = {}
        for body, wrench, sign in ((row.a, row.wrench_a, 1), (row.b, row.wrench_b, -1)):
            if (chain := self.chain(body)) and row.a != row.b:
                force = wrench[3:]
                turns = self.axes[body].T @ (wrench[:3] - cross(self.centres[body], force))
                found |= {k: sign * v for k, v in zip(chain, (*ca.vertsplit(force), *ca.vertsplit(turns)), strict=True)}
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
        if not held or SX(ca.evalf(sum((mass for mass, *_ in held), SX(0)))).is_zero():
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
            axes = placed.axes[part.name]
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
