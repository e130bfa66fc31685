"""One tick of the impulse engine with dense matrices, for tests: the judge of the C engine.

Every row stays a row, every wheel a body. The velocity-product terms are central differences of the Jacobian along the
motion. The active set is found by trying all of them (Cottle, Pang, Stone 1992, "The linear complementarity problem",
section 4.1: enumeration), which is for systems without friction.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import rows
from jounce.architecture.target import GROUND, Limit, Motor, Multibody, Wheel

Array = NDArray[np.float64]

#: Step of the differences along the motion [s].
STEP = 1e-4
#: Error of a complementarity condition that counts as rounding, as part of the largest impulse or velocity.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Bounded:
    """A row whose impulse has bounds [N s]: J v + cfm L + bias = 0 within them."""

    row: Array
    cfm: float
    bias: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Tick:
    """M (v1 - v0) = impulse + J^T L with J v1 + cfm L + bias = 0, and bounded rows."""

    mass: Array
    right: Array
    """M v0 + h f."""
    free: Array
    """(rows, 6 n) of joints and dampers."""
    cfm: Array
    bias: Array
    bounded: tuple[Bounded, ...]

    def solutions(self) -> list[Array]:
        """Velocities of every active set whose solution keeps all bounds: exactly one, but on the bounds."""
        n, B = len(self.mass), np.array([b.row for b in self.bounded])
        K = np.block([[self.mass, self.free.T], [self.free, -np.diag(self.cfm)]])
        right = np.zeros((len(K), 1 + len(B)))
        right[:, 0] = np.concatenate([self.right, -self.bias])
        right[:n, 1:] = B.T
        by = np.linalg.solve(K, right)[:n]
        found: list[Array] = []
        states = [
            [s for s, bound in ((0, 0.0), (-1, b.lower), (1, b.upper)) if np.isfinite(bound)] for b in self.bounded
        ]
        for state in product(*states):
            L = self._impulses(state, B @ by)
            v = by[:, 0] + by[:, 1:] @ L
            if self._keeps(state, B @ v, L) and not any(np.abs(v - other).max() < 1e-9 for other in found):
                found.append(v)
        return found

    def _impulses(self, state: tuple[int, ...], rates: Array) -> Array:
        """Of the bounded rows; ``rates`` has theirs without impulses, and per impulse."""
        L = np.array([(0.0, b.upper, b.lower)[s] for b, s in zip(self.bounded, state, strict=True)])
        on = [k for k, s in enumerate(state) if s == 0]
        left = [-float(self.bounded[k].bias + rates[k, 0] + rates[k, 1:] @ L) for k in on]
        matrix = rates[np.ix_(on, [1 + k for k in on])] + np.diag([self.bounded[k].cfm for k in on])
        L[on] = np.linalg.solve(matrix, left)
        return L

    def _keeps(self, state: tuple[int, ...], rates: Array, impulses: Array) -> bool:
        """Whether the rows that hold are within their bounds, and the others would have to push harder still."""
        for b, s, rate, L in zip(self.bounded, state, rates, impulses, strict=True):
            if s == 0:
                slack = ROUNDING * (1.0 + abs(L))
                if not b.lower - slack <= L <= b.upper + slack:
                    return False
            else:
                over = rate + b.bias + b.cfm * L
                if (over if s < 0 else -over) < -ROUNDING * (1.0 + abs(over)):
                    return False
        return True


def gyroscopic(model: Multibody, pose: rows.Pose, v: Array, h: float, after: Array | None = None) -> Array:
    """(6 n) impulses -h w x I w at the mean of the turn rates before and ``after``; else half a free tick on."""
    found = np.zeros((len(model.bodies), 6))
    for k, body in enumerate(model.bodies):
        inertia, w = pose.turn[k] @ body.inertia @ pose.turn[k].T, v[k, 3:]
        half = w - 0.5 * h * np.linalg.solve(inertia, np.cross(w, inertia @ w))
        if after is not None:
            half = 0.5 * (w + after[k, 3:])
        found[k, 3:] = -h * np.cross(half, inertia @ half)
    return found.ravel()


def tick(model: Multibody, pose: rows.Pose, v: Array, h: float,
         targets: tuple[tuple[float, float], ...] = ()) -> Tick:  # fmt: skip
    """The tick of a model on flat ground without friction, from velocities (n, 6), before it, at the pose.

    ``targets`` has rate [rad/s] and bound [N m] of each motor.
    """
    n, old = 6 * len(model.bodies), v.ravel()
    mass, right = np.zeros((n, n)), np.zeros(n)
    for k, body in enumerate(model.bodies):
        inertia = pose.turn[k] @ body.inertia @ pose.turn[k].T
        mass[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.mass * np.eye(3)
        mass[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = inertia
        right[6 * k + 2] = -h * body.mass * model.gravity
    right += mass @ old + gyroscopic(model, pose, v, h)
    _, J = rows.joints(model, pose)
    bend = (rows.joints(model, pose.moved(STEP * old))[1] - rows.joints(model, pose.moved(-STEP * old))[1]) @ old
    length, G = rows.springs(model, pose)
    drawn, _ = rows.springs(model, rows.drawn(model))
    for s, g, at, at0 in zip(model.springs, G, length, drawn, strict=True):
        right += h * g * (s.preload - s.stiffness * (at - at0))
    damped = [k for k, s in enumerate(model.springs) if s.damping > 0]
    cfm = [2.0 / (h * model.springs[k].damping) for k in damped]
    free = np.vstack([J, G[damped]]) if len(damped) else J
    bias = np.concatenate([0.5 * h * bend / (2 * STEP), (G @ old)[damped]])
    bounded = [_motor(model, pose, m, *t, h) for m, t in zip(model.motors, targets, strict=True)]
    bounded += [_limit(model, pose, limit, h) for limit in model.limits]
    contacts = [_contact(model, pose, w, offset, old, h) for w, offset in model.contacts()]
    bounded += [c for c in contacts if c is not None]  # a tire that does not touch has no force, however fast it comes
    return Tick(mass, right, free, np.array([*np.zeros(len(J)), *cfm]), bias, tuple(bounded))


def _stacked(model: Multibody, a: int, b: int, on_a: Array, on_b: Array) -> Array:
    row: Array = rows.stacked(model, [(a, b, rows.Row(0.0, on_a, on_b))])[0]
    return row


def _motor(model: Multibody, pose: rows.Pose, motor: Motor, rate: float, bound: float, h: float) -> Bounded:
    turn = np.concatenate([np.zeros(3), pose.turn[motor.a] @ motor.axis])
    return Bounded(_stacked(model, motor.a, motor.b, turn, -turn), 0.0, -rate, -h * bound, h * bound)


def _limit(model: Multibody, pose: rows.Pose, limit: Limit, h: float) -> Bounded:
    """Of a limit along an axis."""
    at = rows.Placed(model, pose)
    p, q = at.point(limit.a, limit.point_a), at.point(limit.b, limit.point_b)
    n = at.direction(limit.b, limit.axis)
    value = float(n @ (p - q))
    sign, gap = (1, value - limit.lower) if value - limit.lower < limit.upper - value else (-1, limit.upper - value)
    on_a, on_b = at.across(limit.a, limit.b, p, p, n)
    return Bounded(sign * _stacked(model, limit.a, limit.b, on_a, on_b), 0.0, gap / h, 0.0, np.inf)


def _contact(model: Multibody, pose: rows.Pose, wheel: Wheel, offset: float, old: Array, h: float) -> Bounded | None:
    at = rows.Placed(model, pose)
    centre = at.point(wheel.body, wheel.centre + offset * wheel.axis)
    up = np.array([0.0, 0.0, 1.0])
    point = centre * [1, 1, 0]
    row = _stacked(model, wheel.body, GROUND, *at.across(wheel.body, GROUND, point, point, up))
    gap = float(centre[2]) - wheel.radius
    if gap >= 0:
        return None
    bias = float(row @ old) + 2 * wheel.stiffness / wheel.damping * gap
    return Bounded(row, 2.0 / (h * wheel.damping), bias, 0.0, np.inf)
