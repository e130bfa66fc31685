"""The articulated-body recursion over the bodies of one tree (Jain 2016, Eqs. 4, 6, 7), a scalar joint at a time.

All twists are about the chassis origin, so the shifts phi are identities. A body's wrench z has the accelerations that
velocities give it along its whole chain, so the joints' own Coriolis terms (a in Eq. 6) need no place in the recursion.
From the tips inward, for each scalar joint with axis S of the body k

    U = P S,  D = S.U,  epsilon = -S.z,  P -= U U^T / D,  z += U epsilon / D,

then P and z are added to those of the body that carries it; outward q'' = (epsilon - U.alpha) / D, alpha += S q''.

A tube between a body and the chassis has a momentum that is no rigid body's: its inertia against the body's own
acceleration (P) and against the chassis' (H) differ. Bodies that carry one keep both; elsewhere H is P.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from jounce.dynamics.graph import ROOT
from jounce.dynamics.loops import Placed
from jounce.formulations.augmented import Gathered, Terms
from jounce.math.algebra import SX, dot


@dataclass(frozen=True)
class Carried:
    """What a body brings to the recursion."""

    inertia: SX
    """P (6, 6) against its acceleration relative to the chassis."""
    momentum: SX | None
    """H (6, 6) on the chassis per unit of that; None where it is P."""
    wrench: SX
    """z (6,)."""


@dataclass(frozen=True)
class _Step:
    """One scalar joint."""

    k: int
    body: str
    carrier: str
    axis: SX
    inward: SX
    """U."""
    on_chassis: SX
    """H S."""
    divisor: SX
    epsilon: SX


@dataclass(frozen=True)
class Swept(Gathered):
    """A corner that the recursion has solved."""

    steps: tuple[_Step, ...]

    def acceleration(self, chassis: SX) -> SX:
        """q'' outward, Eq. 7."""
        return _outward(self.steps, chassis, [step.epsilon for step in self.steps])


def _outward(steps: Sequence[_Step], chassis: SX, epsilons: Sequence[SX]) -> SX:
    found: list[SX] = [SX(0)] * len(steps)
    moved: dict[str, SX] = {ROOT: SX.zeros(6)}
    for step, epsilon in zip(reversed(steps), reversed(epsilons), strict=True):
        alpha = moved[step.carrier] if step.body not in moved else moved[step.body]
        apart = epsilon - dot(step.on_chassis, chassis) - dot(step.inward, alpha)
        found[step.k] = apart / step.divisor
        moved[step.body] = alpha + step.axis * found[step.k]
    return ca.vertcat(*found)


def swept(placed: Placed, bodies: Mapping[str, Carried], whole: Terms) -> Swept:
    """The recursion over a tree; ``whole``: inertia and wrench on the chassis with the joints locked."""
    left, steps, order = dict(bodies), list[_Step](), list(placed.tree.parent.items())
    inertia, bias = whole.inertia, whole.bias
    for body, (carrier, _) in reversed(order):
        own, inner = placed.poses[body].chain, placed.poses[carrier].chain
        here = left.pop(body)
        p, h, z = here.inertia, here.momentum, here.wrench
        for k in reversed(own[len(inner) :]):
            s = ca.vertcat(placed.columns[k].w, placed.columns[k].v)
            u = p @ s
            w = u if h is None else h @ s
            d, epsilon = dot(s, u), -dot(s, z)
            steps.append(_Step(k, body, carrier, s, u, w, d, epsilon))
            by = w / d
            inertia, bias = inertia - _outer(by, w), bias + by * epsilon
            if carrier == ROOT and k == own[0]:
                break
            inward = by if h is None else u / d
            p, z = p - _outer(inward, u), z + inward * epsilon
            h = None if h is None else h - by @ u.T
        if carrier != ROOT:
            left[carrier] = _sum(left[carrier], Carried(p, h, z))
    still, unit = [SX(0)] * len(steps), SX.eye(6)
    x = ca.horzcat(*(_outward(steps, unit[:, k], still) for k in range(6)))
    rest = _outward(steps, SX.zeros(6), [step.epsilon for step in steps])
    return Swept(inertia, bias, x, rest, whole, tuple(steps))


def _outer(a: SX, b: SX) -> SX:
    """a b^T where that is symmetric: one triangle."""
    m = SX(6, 6)
    for i in range(6):
        for j in range(i, 6):
            m[i, j] = m[j, i] = a[i] * b[j]
    return m


def _sum(a: Carried, b: Carried) -> Carried:
    both = None
    if a.momentum is not None or b.momentum is not None:
        both = (a.inertia if a.momentum is None else a.momentum) + (b.inertia if b.momentum is None else b.momentum)
    return Carried(a.inertia + b.inertia, both, a.wrench + b.wrench)
