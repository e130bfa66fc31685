"""The emitted functions of a branch: its motion and its articulated inertia on the root (Jain 2016, Eqs. 4-14)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from jounce.dynamics.articulated import full, lower, solve, spatial_inertia
from jounce.dynamics.embedding import Coordinates, Embedding
from jounce.dynamics.masses import total_of
from jounce.math.algebra import SX, cross
from jounce.math.layout import Layout
from jounce.models.ce.forest import Branch
from jounce.models.ce.mechanism import embedding

#: Of one body behind a root, in the root's axes: its rotation by rows, its centre from the root's, its angular velocity
#: and velocity against the root, and what its acceleration and the rate of its angular velocity have beside those of
#: root and coordinates.
BODY = Layout(rotation=9, place=3, turn=3, velocity=3, bias=3, turn_bias=3)


def results(branch: Branch) -> Layout:
    """What the function of a branch gives.

    u: dependent coordinates on the loops; u_rate: their rates; closure: how far loops are open [m]. With the forces Q
    on its coordinates, coordinates'' = rest + inverse Q - follow A, A the acceleration [angular; linear] of the root;
    on the root it is the inertia `inertia` with the bias wrench `bias` + follow^T Q. Then of every body BODY and its
    partial velocities, linear and angular.
    """
    n, m, bodies = branch.independent, branch.dependent, len(branch.bodies)
    parts = {"u": m, "u_rate": m, "closure": 1, "inertia": 21, "bias": 6, "follow": 6 * n, "rest": n, "inverse": n * n}
    for k in range(bodies):
        parts |= {f"body{k}": BODY.size, f"partial{k}": 3 * n, f"turning{k}": 3 * n}
    return Layout(**parts)


@dataclass(frozen=True)
class Functions:
    """Of one kind of branch."""

    branch: Branch
    own: Embedding

    def all(self) -> list[ca.Function]:
        """What is emitted of it.

        NAME(theta, rates, u, angular velocity of the root, INNER of each told point, numbers) -> `results`;
        NAME_close(theta, u, told, numbers) -> u after two of Newton's steps, gap before the second [m].
        """
        c, omega = self.own.symbols(), SX.sym("omega", 3)
        name = self.branch.function
        found = [_function(name, [c.theta, c.rates, c.u, omega, c.told, c.numbers], [self.motion(c, omega)])]
        if self.branch.dependent:
            once = self.own.closing(c)[0]
            twice, gap, *_ = self.own.closing(replace(c, u=once))
            found.append(_function(f"{name}_close", [c.theta, c.u, c.told, c.numbers], [twice, gap]))
        return found

    def motion(self, c: Coordinates, omega: SX) -> SX:
        """`results`, after one of Newton's steps from u."""
        branch, n = self.branch, self.branch.independent
        if branch.dependent:
            c = replace(c, u=self.own.closing(c)[0])
        moved, u_rate = self.own.moving(c)
        bodies = {b.name: b for b in moved.placed.mechanism.bodies}
        sums = total_of(moved, omega)
        h, d = sums["h"], _symmetric(sums["d"], n)
        inverse = _inverse(d)
        follow, rest = inverse @ h.T, -inverse @ sums["bt"]
        inertia = spatial_inertia(sums["mass"], sums["moment"], sums["inertia"]) - h @ follow
        parts = {"u": c.u, "u_rate": u_rate, "closure": moved.closure,
                 "inertia": lower(inertia), "bias": sums["b"] + h @ rest, "follow": ca.vec(follow.T), "rest": rest,
                 "inverse": ca.vec(inverse)}  # fmt: skip
        for k in range(len(branch.bodies)):
            place = moved.placed.carried(f"b{k}", bodies[f"b{k}"].com)
            at, turn = moved.motion(f"b{k}", place), moved.turn(f"b{k}")
            bias = at.bias + cross(omega, 2 * at.rate + cross(omega, place))
            rotation = ca.vec(moved.placed.poses[f"b{k}"].rotation.T)
            body = BODY.join(rotation=rotation, place=place, turn=turn.rate, velocity=at.rate, bias=bias,
                             turn_bias=turn.bias + cross(omega, turn.rate))  # fmt: skip
            parts |= {f"body{k}": body, f"partial{k}": ca.vec(at.partial), f"turning{k}": ca.vec(turn.partial)}
        return results(branch).join(**parts)


def of(branch: Branch) -> Functions:
    """Raises ArithmeticError, ValueError where its loops leave no independent coordinates."""
    return Functions(branch, embedding(branch))


def root_function() -> ca.Function:
    """root(inertia 21, wrench 6) -> [angular; linear] acceleration, for `lower` of a 6x6 matrix."""
    inertia, wrench = SX.sym("i", 21), SX.sym("w", 6)
    return _function("root", [inertia, wrench], [solve(full(inertia), wrench)])


def _function(name: str, inputs: list[SX], outputs: list[SX]) -> ca.Function:
    together = ca.cse(ca.densify(ca.vertcat(*outputs)))
    sizes = [0]
    for out in outputs:
        sizes.append(sizes[-1] + out.numel())
    return ca.Function(name, inputs, ca.vertsplit(together, sizes))


def _symmetric(upper: SX, n: int) -> SX:
    """The matrix of an upper triangle by rows."""
    found, at = SX(n, n), 0
    for i in range(n):
        for j in range(i, n):
            found[i, j] = found[j, i] = upper[at]
            at += 1
    return found


def _inverse(d: SX) -> SX:
    """Inverse of a positive definite matrix, by elimination without exchanges."""
    n = d.shape[0]
    a, inverse = SX(d), SX.eye(n)
    for k in range(n):
        pivot = 1 / a[k, k]
        for i in range(n):
            if i == k or a[i, k].is_zero():
                continue
            by = a[i, k] * pivot
            a[i, :] -= by * a[k, :]
            inverse[i, :] -= by * inverse[k, :]
        a[k, :] *= pivot
        inverse[k, :] *= pivot
    return inverse
