"""A mechanism's position without sines and cosines, and velocities of its ball joints in chassis axes.

What an embedding solves for is free to be anything that says where the bodies are. A dependent turn is told by
tan(angle / 2), of which its sine and cosine are fractions. Where all three turns of a ball joint are dependent they are
the Gibbs vector g = axis tan(angle / 2) of the whole turn of the outer body out of its design position:

    R = 1 + 2 / (1 + g.g) (g g^T - g.g 1 + [g x]),    g' = (w + w x g + (w.g) g) / 2

(Hughes 1986, Spacecraft Attitude Dynamics, section 2.2 and 2.3, with w in the axes that do not turn). Rates of the
three are the components of the joint's angular velocity in chassis axes, so that their columns are S = [e; p x e], and
with q'' = 0 what a joint at p adds to the acceleration is [0; p' x w].
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import casadi as ca

from jounce.dynamics.graph import ROOT
from jounce.dynamics.loops import Moving, Placed, Pose, Row, Twist, coordinate_axis, turn
from jounce.dynamics.mechanism import Joint, Mechanism
from jounce.math.algebra import SX, cross, dot


class Rational(Placed):
    """A mechanism at independent coordinates, which are as they are, and at such dependent ones."""

    def __init__(
        self, mechanism: Mechanism, q: SX, places: Mapping[str, SX], dependent: Collection[int], *, angles: bool = False
    ) -> None:
        """``dependent``: places in q. With ``angles`` q has the angles of all turns; rates are as ever."""
        self._dependent, self._angles = frozenset(dependent), angles
        #: First coordinate of a ball joint -> its centre now, its body, and its names' axes in order.
        self.balls: dict[int, tuple[SX, str, tuple[int, int, int]]] = {}
        self._q = q
        super().__init__(mechanism, q, places)

    def _joined(self, joint: Joint, carrier: str, q: SX) -> Pose:
        pose, scalars = self.poses[carrier], list(joint.scalars(carrier))
        body = joint.b if joint.a == carrier else joint.a
        while scalars:
            k = len(self.columns)
            trio = scalars[:3]
            axes = tuple("xyz".find(name[-1:]) for _, _, name in trio)
            whole = sorted(axes) == [0, 1, 2] and all(kind == "R" for _, kind, _ in trio)
            if whole and {k, k + 1, k + 2} <= self._dependent:
                pose = self._ball(joint, body, pose, (axes[0], axes[1], axes[2]))
                del scalars[:3]
            else:
                _, kind, name = scalars.pop(0)
                pose = self._step(joint, kind, name, pose, q[k])
        return pose

    def _turned(self, axis: SX, value: SX, k: int) -> SX:
        if k not in self._dependent or self._angles:
            return super()._turned(axis, value, k)
        square = value * value
        inverse = 1 / (1 + square)
        return turn(axis, (1 - square) * inverse, 2 * value * inverse)

    def _ball(self, joint: Joint, body: str, pose: Pose, axes: tuple[int, int, int]) -> Pose:
        k, centre = len(self.columns), SX(joint.point)
        point = pose.rotation @ centre + pose.shift
        self.balls[k] = (point, body, axes)
        if self._angles:
            rotation = pose.rotation
            for i, axis in enumerate(axes):
                rotation = rotation @ super()._turned(coordinate_axis(joint, "R", "xyz"[axis], self.mechanism.side),
                                                      self._q[k + i], k + i)  # fmt: skip
        else:
            g = self._mirrored(self.ball_vector(self._q, k))
            rotation = _whole_turn(g)
        for axis in axes:
            unit = SX(3, 1)
            unit[axis] = 1
            self._carriers.append(pose.chain)
            self.columns.append(Twist(unit, cross(point, unit)))
        return Pose(rotation, point - rotation @ centre, (*pose.chain, k, k + 1, k + 2))

    def _mirrored(self, v: SX) -> SX:
        """A pseudo-vector of the left side on this one, and the other way round."""
        side = self.mechanism.side
        return ca.vertcat(side * v[0], v[1], side * v[2])

    def ball_vector(self, values: SX, k: int) -> SX:
        """Of a vector by coordinates, those of the ball joint with the first coordinate k, in the order x y z."""
        v = SX.zeros(3)
        for i, axis in enumerate(self.balls[k][2]):
            v[axis] = values[k + i]
        return v

    def values(self, turns: Mapping[str, SX]) -> SX:
        """Values that tell the position for Gibbs vectors by body; 0 for all others."""
        made = SX.zeros(len(self.names))
        for k, (_, body, axes) in self.balls.items():
            g = self._mirrored(turns[body])
            for i, axis in enumerate(axes):
                made[k + i] = g[axis]
        return made

    def slope(self, rates: SX) -> SX:
        """Rates of the values that tell the position, for rates of all coordinates."""
        made = SX(rates)
        for k in self._dependent:
            if self._scalar_turn(k):
                made[k] = rates[k] * (1 + self._q[k] * self._q[k]) * 0.5
        for k, (_, body, axes) in self.balls.items():
            w, g = self._mirrored(self.twist(body, rates).w), self.ball_vector(self._q, k)
            slope = 0.5 * (w + cross(w, g) + dot(w, g) * g)
            for i, axis in enumerate(axes):
                made[k + i] = slope[axis]
        return made

    def _scalar_turn(self, k: int) -> bool:
        return not self.columns[k].w.is_zero() and not any(first <= k < first + 3 for first in self.balls)

    def moving(self, rates: SX) -> dict[str, Moving]:
        """Motion of every body for rates q' and q'' = 0."""
        zero = Twist(SX.zeros(3), SX.zeros(3))
        found = {ROOT: Moving(zero, zero)}
        for body, (carrier, _) in self.tree.parent.items():
            now = found[carrier]
            ks = list(self.chain(body)[len(self.chain(carrier)) :])
            while ks:
                k = ks.pop(0)
                if k not in self.balls:
                    now = self._moved_on(now, k, rates[k])
                    continue
                del ks[:2]
                point, w = self.balls[k][0], self.ball_vector(rates, k)
                bias = Twist(now.bias.w, now.bias.v + cross(now.velocity(point), w))
                now = Moving(Twist(now.rate.w + w, now.rate.v + cross(point, w)), bias)
            found[body] = now
        return found

    def _power(self, row: Row, side: str, k: int) -> SX:
        first = next((j for j in self.balls if j <= k < j + 3), None)
        if first is None:
            return super()._power(row, side, k)
        point, _, axes = self.balls[first]
        return row.moment(side, point)[axes[k - first]]


def _whole_turn(g: SX) -> SX:
    """Rotation matrix of a Gibbs vector."""
    x, y, z = g[0], g[1], g[2]
    k = 2 / (1 + dot(g, g))
    return SX.eye(3) + k * ca.blockcat([
        [-(y * y + z * z), x * y - z, x * z + y],
        [x * y + z, -(x * x + z * z), y * z - x],
        [x * z - y, y * z + x, -(x * x + y * y)],
    ])  # fmt: skip
