"""The bushing tree (Jain 2016, section 4): a suspension with compliant bushings has no loops, its model is an ODE.

A bushing holds a point of a body to a point of the chassis or of the steering by F = -K d - C d', the same in all
directions; two of them carry an arm. Of a double wishbone the lower arm floats on its two (6 coordinates), the upright
hangs on its ball joint (3), the upper arm on the upright's (3) and on two bushings, the tierod on the upright (2) and
on one. A link without mass is a spring and a damper along its line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from jounce.dynamics.embedding import Moved
from jounce.dynamics.graph import ROOT
from jounce.dynamics.loops import Twist
from jounce.dynamics.masses import total_of
from jounce.dynamics.mechanism import End, Joint, Mechanism
from jounce.formulations.augmented import Gathered, Inputs, Terms, Tree, triangle
from jounce.formulations.bodies import massless, of_rod
from jounce.formulations.recursion import Carried, Swept, swept
from jounce.math.algebra import SX, dot

#: Stiffness [N/m] of each bushing where none is given, between those of Project Chrono's M113 and a softer one.
STIFFNESS = 2e7
#: Loss factor at a frequency [Hz], from which the damping comes where none is given.
LOSS, LOSS_AT = 0.02, 1e3


@dataclass(frozen=True)
class Bushing:
    """Two points that a spring and a damper hold together."""

    name: str
    a: End
    b: End
    length: float = 0.0
    """Where it is free of force [m]."""


def loss_damping(stiffness: float, loss: float = LOSS, frequency: float = LOSS_AT) -> float:
    """Damping [N s/m] of a bushing with that loss factor at a frequency [Hz]: C = loss K / (2 pi f)."""
    return loss * stiffness / (2 * np.pi * frequency)


def with_bushings(mechanism: Mechanism) -> tuple[Mechanism, tuple[Bushing, ...]]:
    """(the tree that is left when bushings hold what hinges and rods' ends held, those bushings).

    Every hinge on the chassis becomes two bushings at the ends of the axis that its data give, and every rod a body
    with a bushing at the end that the chassis or the steering holds; one without mass becomes a bushing along its line.
    Raises ValueError where loops are left.
    """
    hinges = [j for j in mechanism.joints if j.kind == "revolute" and ROOT in (j.a, j.b)]
    bodies, joints = list(mechanism.bodies), [j for j in mechanism.joints if j not in hinges]
    bushings = []
    for j in hinges:
        arm, first = (j.b if j.a == ROOT else j.a), SX(j.point)
        bushings += [Bushing(f"{j.name}.{k}", End(arm, point), End(ROOT, point))
                     for k, point in enumerate((first, first + SX(j.axis)), 1)]  # fmt: skip
    for rod in mechanism.rods:
        if massless(rod):
            length = float(ca.evalf(ca.norm_2(SX(rod.a.point) - SX(rod.b.point))))
            bushings.append(Bushing(rod.name, rod.a, rod.b, length))
            continue
        body, (joint, ball) = of_rod(rod, {ROOT, *mechanism.prescribed})
        bodies.append(body)
        joints.append(joint)
        bushings.append(Bushing(ball.name, End(body.name, ball.point), End(ball.b, ball.point)))
    carried = {j.b for j in joints if not j.cut and j.a == ROOT} | {j.a for j in joints if not j.cut and j.b == ROOT}
    if hinges and not carried:
        floats = next((j for j in hinges if j.name in mechanism.independent), hinges[0])
        joints.insert(0, Joint(floats.name, "free", ROOT, floats.b if floats.a == ROOT else floats.a, floats.point))
    left = replace(mechanism, bodies=tuple(bodies), joints=tuple(joints), rods=(), independent=())
    if cuts := [edge.name for edge in left.tree().cuts]:
        raise ValueError(f"{mechanism.name}: with bushings at hinges and rods {', '.join(cuts)} still close loops")
    return left, tuple(bushings)


class Bushed(Tree):
    """A corner on bushings: coordinates of a tree, no rows."""

    def __init__(
        self, mechanism: Mechanism, side: float = 1.0, *, stiffness: float | SX = STIFFNESS,
        damping: float | SX | None = None,
    ) -> None:  # fmt: skip
        """``stiffness`` [N/m], ``damping`` [N s/m] of every bushing; without the latter that of `loss_damping`."""
        tree, bushings = with_bushings(mechanism)
        mirror = SX([1, side, 1])
        self.bushings = tuple(replace(b, a=End(b.a.on, SX(b.a.point) * mirror), b=End(b.b.on, SX(b.b.point) * mirror))
                              for b in bushings)  # fmt: skip
        self.stiffness = stiffness
        self.damping = loss_damping(1.0) * stiffness if damping is None else damping
        super().__init__(tree, side)

    def terms(self, c: Inputs) -> Terms:
        """The equations of the whole tree; M is dense."""
        moved = self.moved(c)
        return self._held(c, moved, self.size)

    def _held(self, c: Inputs, moved: Moved, size: int) -> Terms:
        sums = total_of(moved, c.omega)
        stored = SX(0)
        for bushing in self.bushings:
            a, at_a = moved.end(bushing.a)
            b, at_b = moved.end(bushing.b)
            gap, rate, partial = a - b, at_a.rate - at_b.rate, at_a.partial - at_b.partial
            if bushing.length:
                long = ca.norm_2(gap)
                partial, rate, gap = (gap / long).T @ partial, dot(gap / long, rate), long - bushing.length
            sums["bt"] += partial.T @ (self.stiffness * gap + self.damping * rate)
            stored += 0.5 * self.stiffness * dot(gap, gap)
        found = self._complete(c, moved, {}, [], sums, triangle(sums["d"], size))
        return replace(found, stored=found.stored + stored)

    def gathered(self, c: Inputs) -> Swept:
        """The equations solved by the recursion over the bodies."""
        moved = self.moved(c)
        bodies = {}
        for body in moved.placed.tree.parent:
            t = self._held(c, self._alone(moved, body), 6)
            p = SX(6, 6)
            for (i, j), v in t.mass.items():
                p[i, j] = p[j, i] = v
            rides = any(body in (tube.lower.on, tube.upper.on) for tube in self.mechanism.tubes)
            bodies[body] = Carried(p, t.h if rides else None, -t.force)
        return swept(moved.placed, bodies, self.terms(c))

    def dense(self, c: Inputs) -> Gathered:
        """As `gathered`, by L D L^T of the whole mass matrix."""
        return super().gathered(c)

    def _alone(self, moved: Moved, body: str) -> Moved:
        """The same motion with partial velocities by the body's own twist [w; v]."""
        none = Twist(SX.zeros(3, 6), SX.zeros(3, 6))
        own = Twist(SX.eye(6)[:3, :], SX.eye(6)[3:, :])
        twists = {b: (own if b == body else none, *t[1:]) for b, t in moved.twists.items()}
        return Moved(moved.placed, moved.told, twists, moved.closure, SX.eye(6), SX.zeros(6))
