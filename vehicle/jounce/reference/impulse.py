"""One tick of the impulse engine with dense matrices, for tests: the judge of the C engine.

Every row stays a row, every wheel a body. The velocity-product terms are central differences of the Jacobian along the
motion. The active set is found by trying all of them (Cottle, Pang, Stone 1992, "The linear complementarity problem",
section 4.1: enumeration), with the circle of friction: a contact is open, sticks, or slides against its own rows.
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
class Rubbing:
    """Two rows along the ground, whose impulses stay within friction times that of a bounded row."""

    normal: int
    """Its place among the bounded rows."""
    rows: Array
    """(2, 6 n)"""
    cfm: Array
    """(2,)"""
    bias: Array
    """(2,)"""
    friction: float


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
    rubbing: tuple[Rubbing, ...] = ()

    def solutions(self) -> list[Array]:
        """Velocities of every active set whose solution keeps all bounds: exactly one, but on the bounds."""
        n = len(self.mass)
        B = np.array([*(b.row for b in self.bounded), *(r for c in self.rubbing for r in c.rows)]).reshape(-1, n)
        K = np.block([[self.mass, self.free.T], [self.free, -np.diag(self.cfm)]])
        right = np.zeros((len(K), 1 + len(B)))
        right[:, 0] = np.concatenate([self.right, -self.bias])
        right[:n, 1:] = B.T
        by = np.linalg.solve(K, right)[:n]
        found: list[Array] = []
        states = [
            [s for s, bound in ((0, 0.0), (-1, b.lower), (1, b.upper)) if np.isfinite(bound)] for b in self.bounded
        ]
        for state in product(*states, *[(False, True)] * len(self.rubbing)):
            if any(state[c.normal] and not s for c, s in zip(self.rubbing, state[len(self.bounded) :], strict=True)):
                continue  # does not touch: nothing to stick
            L = self._impulses(state, B @ by)
            v = by[:, 0] + by[:, 1:] @ L
            if self._keeps(state, B @ v, L) and not any(np.abs(v - other).max() < 1e-9 for other in found):
                found.append(v)
        return found

    def _impulses(self, state: tuple[int, ...], rates: Array) -> Array:
        """Of the bounded and rubbing rows; ``rates`` has theirs without impulses, and per impulse.

        A contact that slides has the direction of its own rows, found by repetition.
        """
        n = len(self.bounded)
        L = np.zeros(len(rates))
        L[:n] = [(0.0, b.upper, b.lower)[s] for b, s in zip(self.bounded, state[:n], strict=True)]
        bias = np.array([*(b.bias for b in self.bounded), *(b for c in self.rubbing for b in c.bias)])
        cfm = np.array([*(b.cfm for b in self.bounded), *(c for r in self.rubbing for c in r.cfm)])
        held = [k for k, s in enumerate(state[:n]) if s == 0]
        moved = [n + 2 * k + i for k, s in enumerate(state[n:]) if not s for i in range(2)]
        on = [*held, *moved]
        matrix = rates[np.ix_(on, [1 + k for k in on])] + np.diag(cfm[on])
        inverse, by, free = np.linalg.inv(matrix), rates[on, 1:], bias[on] + rates[on, 0]
        by[:, on] = 0.0
        slides = [(k, c) for k, c in enumerate(self.rubbing) if state[n + k] and not state[c.normal]]
        for _ in range(40):
            before = L.copy()
            L[on] = -inverse @ (free + by @ L)
            if not slides or any(L[c.normal] < 0 for _, c in slides):
                break
            for k, contact in slides:
                at = slice(n + 2 * k, n + 2 * k + 2)
                trial = -(rates[at, 0] + rates[at, 1:] @ L + bias[at]) / cfm[at]
                L[at] = contact.friction * L[contact.normal] * trial / max(float(np.hypot(*trial)), 1e-300)
            if np.abs(L - before).max() < 1e-14 * (1.0 + np.abs(L).max()):
                break
        return L

    def _keeps(self, state: tuple[int, ...], rates: Array, impulses: Array) -> bool:
        """Whether the rows that hold are within their bounds, and the others would have to push harder still."""
        n = len(self.bounded)
        for k, contact in enumerate(self.rubbing):
            at = slice(n + 2 * k, n + 2 * k + 2)
            trial = float(np.hypot(*((rates[at] + contact.bias) / contact.cfm)))
            limit = contact.friction * float(impulses[contact.normal])
            if (limit - trial if state[n + k] else trial - limit) > ROUNDING * (1.0 + trial):
                return False
        for b, s, rate, L in zip(self.bounded, state[:n], rates[:n], impulses[:n], strict=True):
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
    """(6 n) impulses -h w x I w at the mean of the angular velocities before and ``after``, or half a free tick on."""
    found = np.zeros((len(model.bodies), 6))
    for k, body in enumerate(model.bodies):
        inertia, w = pose.turn[k] @ body.inertia @ pose.turn[k].T, v[k, 3:]
        half = w - 0.5 * h * np.linalg.solve(inertia, np.cross(w, inertia @ w))
        if after is not None:
            half = 0.5 * (w + after[k, 3:])
        found[k, 3:] = -h * np.cross(half, inertia @ half)
    return found.ravel()


def tick(model: Multibody, pose: rows.Pose, v: Array, h: float, targets: tuple[tuple[float, float], ...] = (),
         deflections: Array | None = None) -> Tick:  # fmt: skip
    """The tick of a model on flat ground, from velocities (n, 6), before it, at the pose.

    ``targets`` has rate [rad/s] and bound [N m] of each motor, ``deflections`` (contacts, 2) those of the tires
    forward and left [m].
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
    rubbing = []
    for c, (w, offset) in enumerate(model.contacts()):
        contact = _contact(model, pose, w, offset, old, h)
        if contact is None:
            continue  # a tire that does not touch has no force
        if w.friction > 0:
            z = np.zeros(2) if deflections is None else deflections[c]
            rubbing.append(_friction(model, pose, w, offset, old, h, z, len(bounded)))
        bounded.append(contact)
    return Tick(mass, right, free, np.array([*np.zeros(len(J)), *cfm]), bias, tuple(bounded), tuple(rubbing))


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
    """Spring and damper for the part of the tick, h/2 before the pose to h/2 behind it, in which the tire touches."""
    at = rows.Placed(model, pose)
    centre = at.point(wheel.body, wheel.centre + offset * wheel.axis)
    up = np.array([0.0, 0.0, 1.0])
    point = centre * [1, 1, 0]
    row = _stacked(model, wheel.body, GROUND, *at.across(wheel.body, GROUND, point, point, up))
    gap, rate = float(centre[2]) - wheel.radius, float(row @ old)
    ends = gap - 0.5 * h * rate, gap + 0.5 * h * rate
    low, high = min(ends), max(ends)
    if low >= 0:
        return None
    touching = low / (low - high) if high > 0 else 1.0
    deflected = 0.5 * touching * low if high > 0 else gap
    bias = rate + 2 * wheel.stiffness / (wheel.damping * touching) * deflected
    return Bounded(row, 2.0 / (h * wheel.damping * touching), bias, 0.0, np.inf)


def _friction(model: Multibody, pose: rows.Pose, wheel: Wheel, offset: float, old: Array, h: float, deflection: Array,
              normal: int) -> Rubbing:  # fmt: skip
    """Deflections z' = rate - |rolling| z / relaxation, force -k z at the end of the tick."""
    at = rows.Placed(model, pose)
    centre = at.point(wheel.body, wheel.centre + offset * wheel.axis)
    point = centre * [1, 1, 0]
    axle = at.direction(wheel.body, wheel.axis)
    up = np.array([0.0, 0.0, 1.0])
    forward = np.cross(axle, up) / np.linalg.norm(np.cross(axle, up))
    on = [_stacked(model, wheel.body, GROUND, *at.across(wheel.body, GROUND, point, point, n))
          for n in (forward, np.cross(up, forward))]  # fmt: skip
    turn = float(axle @ old[6 * wheel.body + 3 : 6 * wheel.body + 6])
    rolling = abs(turn) * wheel.radius
    rolling *= rolling**2 / (rolling**2 + 0.01)
    k = wheel.lateral_stiffness
    cfm = (1.0 + h * rolling / wheel.relaxation) / (h * h * k)
    return Rubbing(normal, np.array(on), np.full(2, cfm), deflection / h, wheel.friction)
