"""The inertia of the shafts between gearbox and wheels, and the steering column, joined to the vehicle's equations.

The shafts turn with the carriers of the two differentials, whose speeds are w = G h for the half-shaft speeds h, with
G = [1/2 1/2 0 0; 0 0 1/2 1/2]. Together they are an inertia S, a 2 x 2 matrix, on w. With the ports of
`jounce.powertrain.ports`, summed over each carrier's two half shafts, and the 6 x 6 inertia M of the chassis and all it
carries,

    M a = f - P t - q p,    w' = r - P^T a + Y t + c p,    t = -S w',    L = l - q . a + c . t - m p

for torques t on the carriers, half of which each of its half shafts gets, and the acceleration p of the steering arm.
Steered by angle p is known, and r and f have its part. Steered by torque the column's equation closes the system with
the linkage's torque L on the arm. The elimination needs no pivoting, as all eigenvalues of I + S (Y + P^T M^-1 P) are 1
or more. Taken from the last step, S w' would diverge where S is above the wheels' own inertia.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from jounce.dynamics.articulated import Factored, chassis_system, factored
from jounce.math.algebra import SX, dot
from jounce.math.layout import Layout
from jounce.powertrain.layouts import COLUMN_NUMBERS, COLUMN_STATES, NUMBERS
from jounce.steering.column import by_torque

__all__ = ["FACTOR", "SIDES", "carrier_inertia", "part_functions", "whole_function"]


def carrier_inertia(transfer: SX, n: dict[str, SX]) -> SX:
    """S (2, 2) [kg.m2] of output shaft, propeller shafts and carriers, on the front and the rear carrier."""
    output = transfer * ca.vertcat(n["share"] * n["front_ratio"], (1 - n["share"]) * n["rear_ratio"])
    own = ca.vertcat(n["front_inertia"] * n["front_ratio"] ** 2 + n["carrier_inertia"],
                     n["rear_inertia"] * n["rear_ratio"] ** 2 + n["carrier_inertia"] * n["both"])  # fmt: skip
    return n["output_inertia"] * (output @ output.T) + ca.diag(own)


@dataclass(frozen=True)
class _Carriers:
    """The chassis with the ports of both carriers: right-hand sides, and what the chassis does with them."""

    wrench: SX
    pushes: SX
    """P (6, 2)."""
    free: SX
    """Acceleration without the shafts' own torque."""
    moved: SX
    """M^-1 P."""
    yields: SX
    inertia: SX

    def torques(self, rates: SX) -> SX:
        """t for carriers that would accelerate so [rad/s2] without it."""
        p, moved = self.pushes, self.moved
        across = dot(p[:, 0], moved[:, 1])
        by = ca.blockcat([[dot(p[:, 0], moved[:, 0]) + self.yields[0], across],
                          [across, dot(p[:, 1], moved[:, 1]) + self.yields[1]]])  # fmt: skip
        s, right = SX.eye(2) + self.inertia @ by, -self.inertia @ rates
        factor = s[1, 0] / s[0, 0]
        rear = (right[1] - factor * right[0]) / (s[1, 1] - factor * s[0, 1])
        return ca.vertcat((right[0] - s[0, 1] * rear) / s[0, 0], rear)

    def by_angle(self, rates: SX) -> SX:
        """(torque on each half shaft of front and rear, acceleration of the chassis)."""
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
#: Right-hand sides side by side: of the chassis's own wrench, of the front and the rear carrier's port, of the arm's.
SIDES = 4


def whole_function() -> ca.Function:
    """joined(own 10, angular velocity 3, body 27, external 6, P 12 by columns, r 2, Y 2, transfer ratio, NUMBERS).

    -> torque on each half shaft of front and rear 2 [N.m], acceleration 6 of the chassis.
    """
    names = {"own": 10, "omega": 3, "body": 27, "external": 6, "pushes": 12, "rates": 2, "yields": 2, "transfer": 1,
             "n": NUMBERS.size}  # fmt: skip
    v = {name: SX.sym(name, size) for name, size in names.items()}
    total, wrench = chassis_system(v["own"], v["omega"], v["body"], v["external"])
    solver, p = factored(total), ca.reshape(v["pushes"], 6, 2)
    moved = ca.horzcat(solver.solve(p[:, 0]), solver.solve(p[:, 1]))
    c = _Carriers(wrench, p, solver.solve(wrench), moved, v["yields"],
                  carrier_inertia(v["transfer"], NUMBERS.split(v["n"])))  # fmt: skip
    return ca.Function("joined", list(v.values()), [ca.cse(c.by_angle(v["rates"]))])


def part_functions() -> tuple[list[ca.Function], ca.Function]:
    """The same in parts, of which the second is for all right-hand sides at once.

    joined_factor(own, angular velocity, body, external) -> FACTOR, wrench 6;
    joined_solve(FACTOR, 6) -> 6;
    joined_angle(right-hand sides 24 and solutions 24 by rows, r, Y, transfer ratio, NUMBERS) -> as `whole_function`;
    joined_torque(..., c 2, [l, m], column's states, [driver's torque, speed], its numbers)
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

    sides, solved = SX.sym("w", 6 * SIDES), SX.sym("x", 6 * SIDES)
    rates, yields, transfer, n = SX.sym("r", 2), SX.sym("y", 2), SX.sym("t"), SX.sym("n", NUMBERS.size)
    right, made = (ca.reshape(m, SIDES, 6).T for m in (sides, solved))
    c = _Carriers(right[:, 0], right[:, 1:3], made[:, 0], made[:, 1:3], yields,
                  carrier_inertia(transfer, NUMBERS.split(n)))  # fmt: skip
    inputs = [sides, solved, rates, yields, transfer, n]
    by, linkage = SX.sym("c", 2), SX.sym("l", 2)
    column = [SX.sym("s", len(COLUMN_STATES)), SX.sym("g", 2), SX.sym("m", COLUMN_NUMBERS.size)]
    by_arm = c.by_torque(rates, right[:, 3], made[:, 3], by, linkage, column)
    return [
        factor, ca.Function("joined_angle", inputs, [ca.cse(c.by_angle(rates))]),
        ca.Function("joined_torque", [*inputs, by, linkage, *column],
                    ca.vertsplit(ca.cse(ca.vertcat(*by_arm)), [0, 9, 9 + len(COLUMN_STATES)])),
    ], lanes  # fmt: skip
