"""The inertia of the shafts between gearbox and wheels, and the steering column, joined to the vehicle's equations.

The shafts turn with the carriers of the driven axles' differentials, whose speeds are w = G h for the half-shaft speeds
h: each is the mean of its two. Together they are an inertia S on w, a matrix with a row for each axle. With the ports
of `jounce.powertrain.ports`, summed over each carrier's two half shafts, and the 6 x 6 inertia M of the chassis and all
it carries,

    M a = f - P t - q p,    w' = r - P^T a + Y t + c p,    t = -S w',    L = l - q . a + c . t - m p

for torques t on the carriers, half of which each of its half shafts gets, and the acceleration p of the steering arm.
Steered by angle p is known, and r and f have its part. Steered by torque the column's equation closes the system with
the linkage's torque L on the arm. The elimination needs no pivoting: all eigenvalues of I + S (Y + P^T M^-1 P) are 1 or
more, and what axles share through the chassis, P^T M^-1 P, is small beside what each yields by its wheels. Taken from
the last step, S w' would diverge where S is above the wheels' own inertia.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from jounce.dynamics.articulated import Factored, chassis_system, factored
from jounce.math.algebra import SX, dot
from jounce.math.layout import Layout
from jounce.powertrain import driveline
from jounce.powertrain.layouts import COLUMN_NUMBERS, COLUMN_STATES, numbers_of
from jounce.powertrain.train import TWO, Split, Train
from jounce.steering.column import by_torque

__all__ = ["FACTOR", "carrier_inertia", "part_functions", "whole_function"]


def carrier_inertia(transfer: SX, n: dict[str, SX], train: Train = TWO) -> SX:
    """S [kg.m2] of output shaft, propeller shafts and carriers, on the carriers of the driven axles."""
    ratios = [n[f"{axle}_ratio"] for axle in train.axles]

    def turned(of: int | Split) -> SX:
        """How the shaft to an axle or a differential turns with the carriers."""
        parts = [SX(0)] * len(ratios)
        for k, share in enumerate(train.shares(lambda split: n[split.share], of)):
            parts[k] = share * ratios[k]
        return ca.vertcat(*parts)

    output = transfer * turned(train.centre)
    shafts = ((n["front_inertia"], train.centre.near), (n["rear_inertia"], train.centre.far),
              *((n["through_inertia"], split.far) for split in train.through))  # fmt: skip
    own = [n["carrier_inertia"] * (n.get("both", 1) if k else 1) for k in range(len(ratios))]
    whole = SX(len(ratios), len(ratios))
    for inertia, of in shafts:
        if isinstance(of, int):
            own[of] = inertia * ratios[of] ** 2 + own[of]
        else:
            whole += inertia * (turned(of) @ turned(of).T)
    return n["output_inertia"] * (output @ output.T) + whole + ca.diag(ca.vertcat(*own))


@dataclass(frozen=True)
class _Carriers:
    """The chassis with the ports of all carriers: right-hand sides, and what the chassis does with them."""

    wrench: SX
    pushes: SX
    """P (6, axles)."""
    free: SX
    """Acceleration without the shafts' own torque."""
    moved: SX
    """M^-1 P."""
    yields: SX
    inertia: SX

    def torques(self, rates: SX) -> SX:
        """t for carriers that would accelerate so [rad/s2] without it."""
        p, moved, size = self.pushes, self.moved, self.pushes.shape[1]
        across = {(i, j): dot(p[:, i], moved[:, j]) for i in range(size) for j in range(i, size)}
        by = ca.blockcat([[across[min(i, j), max(i, j)] + (self.yields[i] if i == j else 0) for j in range(size)]
                          for i in range(size)])  # fmt: skip
        s, right = SX.eye(size) + self.inertia @ by, -self.inertia @ rates
        for k in range(size):
            for row in range(k + 1, size):
                factor = s[row, k] / s[k, k]
                for column in range(k + 1, size):
                    s[row, column] -= factor * s[k, column]
                right[row] -= factor * right[k]
        t = [SX(0)] * size
        for k in reversed(range(size)):
            known = sum((s[k, column] * t[column] for column in range(k + 1, size)), SX(0))
            t[k] = (right[k] - known) / s[k, k]
        return ca.vertcat(*t)

    def by_angle(self, rates: SX) -> SX:
        """(torque on each half shaft by axles, acceleration of the chassis)."""
        t = self.torques(rates - self.pushes.T @ self.free)
        return ca.vertcat(0.5 * t, self.free - self.moved @ t)

    def by_torque(self, rates: SX, q: SX, follows: SX, by: SX, linkage: SX, column: Sequence[SX]) -> tuple[SX, SX]:
        """(the same with the arm's acceleration behind, rates of the column's states); ``follows``: M^-1 q."""
        state, given, number = column
        t, felt = self.torques(rates - self.pushes.T @ self.free), by + self.moved.T @ q
        more = self.torques(felt)
        load = linkage[0] - dot(q, self.free) + dot(felt, t)
        moved, arm = by_torque(state, given, load, linkage[1] - dot(felt, more) - dot(q, follows), number)
        torques = t + more * arm
        return ca.vertcat(0.5 * torques, self.free - self.moved @ torques - follows * arm, arm), moved


#: The chassis's matrix, ready to be solved (`articulated.Factored`), by columns.
FACTOR = Layout(mass=9, by_mass=9, across=9, angular=9)


def whole_function(train: Train = TWO) -> ca.Function:
    """joined(own 10, angular velocity 3, body 27, external 6, P by columns, r, Y, transfer ratio, numbers).

    -> torque on each half shaft by axles [N.m], acceleration 6 of the chassis.
    """
    size, number = len(train.axles), numbers_of(train)
    names = {"own": 10, "omega": 3, "body": 27, "external": 6, "pushes": 6 * size, "rates": size, "yields": size,
             "transfer": 1, "n": number.size}  # fmt: skip
    v = {name: SX.sym(name, size) for name, size in names.items()}
    total, wrench = chassis_system(v["own"], v["omega"], v["body"], v["external"])
    solver, p = factored(total), ca.reshape(v["pushes"], 6, size)
    moved = ca.horzcat(*(solver.solve(p[:, k]) for k in range(size)))
    c = _Carriers(wrench, p, solver.solve(wrench), moved, v["yields"],
                  carrier_inertia(v["transfer"], number.split(v["n"]), train))  # fmt: skip
    return ca.Function("joined", list(v.values()), [ca.cse(c.by_angle(v["rates"]))])


def part_functions(train: Train = TWO) -> tuple[list[ca.Function], ca.Function]:
    """The same in parts, of which the second is for all right-hand sides at once.

    joined_factor(own, angular velocity, body, external) -> FACTOR, wrench 6;
    joined_solve(FACTOR, 6) -> 6;
    joined_angle(right-hand sides and solutions by rows of `driveline.sides`, of the chassis's own wrench, every
    carrier's port and the arm's, r, Y, transfer ratio, numbers) -> as `whole_function`;
    joined_torque(..., c, [l, m], column's states, [driver's torque, speed], its numbers)
    -> the same with the arm's acceleration [rad/s2] behind, rates of the column's states.
    Returns the functions of one lane, and that of the right-hand sides' lanes.
    """
    v = {name: SX.sym(name, size) for name, size in {"own": 10, "omega": 3, "body": 27, "external": 6}.items()}
    total, wrench = chassis_system(*v.values())
    f = factored(total)
    parts = FACTOR.join(**{n: ca.reshape(getattr(f, n), 9, 1) for n in FACTOR.sizes})
    factor = ca.Function("joined_factor", list(v.values()), [ca.cse(ca.densify(parts)), ca.cse(wrench)])

    number, side = SX.sym("f", FACTOR.size), SX.sym("w", 6)
    ready = Factored(**{n: ca.reshape(m, 3, 3) for n, m in FACTOR.split(number).items()})
    lanes = ca.Function("joined_solve", [number, side], [ca.cse(ready.solve(side))])

    size, row, numbers = len(train.axles), driveline.sides(train), numbers_of(train)
    sides, solved = SX.sym("w", 6 * row), SX.sym("x", 6 * row)
    rates, yields, transfer = SX.sym("r", size), SX.sym("y", size), SX.sym("t")
    n = SX.sym("n", numbers.size)
    right, made = (ca.reshape(m, row, 6).T for m in (sides, solved))
    c = _Carriers(right[:, 0], right[:, 1 : size + 1], made[:, 0], made[:, 1 : size + 1], yields,
                  carrier_inertia(transfer, numbers.split(n), train))  # fmt: skip
    inputs = [sides, solved, rates, yields, transfer, n]
    by, linkage = SX.sym("c", size), SX.sym("l", 2)
    column = [SX.sym("s", len(COLUMN_STATES)), SX.sym("g", 2), SX.sym("m", COLUMN_NUMBERS.size)]
    by_arm = c.by_torque(rates, right[:, size + 1], made[:, size + 1], by, linkage, column)
    return [
        factor, ca.Function("joined_angle", inputs, [ca.cse(c.by_angle(rates))]),
        ca.Function("joined_torque", [*inputs, by, linkage, *column],
                    ca.vertsplit(ca.cse(ca.vertcat(*by_arm)), [0, size + 7, size + 7 + len(COLUMN_STATES)])),
    ], lanes  # fmt: skip
