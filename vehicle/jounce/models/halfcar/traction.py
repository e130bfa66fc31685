"""The four traction laws of the half car, as forces of the ground on its four rows.

rho = b - A M^-1 Q is what is missing to rolling, D = A M^-1 A^T; wheels roll exactly with D^-1 rho.
"""

from __future__ import annotations

import casadi as ca

from jounce.math.algebra import SX, tanh
from jounce.models.halfcar.equations import GROUND, NUMBERS, REDUCED, ROWS, full, solved

#: Loads and limits are counted from here on, so that no ratio has a zero below [N].
LEAST_LOAD, LEAST_LIMIT = 1.0, 1e-6


def weights(rows: dict[str, SX], loads: SX, numbers: dict[str, SX]) -> tuple[SX, SX]:
    """(s, F) of the wheels: weight of the rolling rows (Eq. 32) and sliding friction [N] (Eq. 33, corrected)."""
    s, friction = [], []
    for k in range(2):
        limit = rows["mu"][k] * ca.fmax(loads[k], LEAST_LOAD)
        use = ca.fabs(rows["torque"][k]) / (3 * ca.fmax(limit, LEAST_LIMIT) * numbers["wheel.radius"])
        s.append(1 - tanh(numbers["traction.k_s"] * use) ** 2)
        friction.append(limit * tanh(numbers["traction.k_F"] * use) * tanh(rows["sliding"][k]))
    return ca.vertcat(*s), ca.vertcat(*friction)


def relaxed(matrix: SX, rho: SX, s: SX, friction: SX) -> tuple[SX, SX]:
    """(force of the ground, its ideal part (8a)): lambda = D^-1 N (rho - D F), N = diag(s_f^2, 1, s_r^2, 1) (Eq. 9)."""
    n = ca.vertcat(s[0] ** 2, 1, s[1] ** 2, 1)
    f = ca.vertcat(friction[0], 0, friction[1], 0)
    both = solved(matrix, ca.horzcat(n * (rho - matrix @ f), n * rho))
    return both[:, 0] + f, both[:, 1]


def continuous(matrix: SX, rho: SX, s: SX, friction: SX) -> tuple[SX, SX]:
    """The same weights as a compliance: row i reads sum_j!=i D_ij lambda_j + D_ii lambda_i / s_i^2 = rho_i."""
    w = ca.vertcat(s[0], 1, s[1], 1)
    f = ca.vertcat(friction[0], 0, friction[1], 0)
    soft = ca.diag(w) @ matrix @ ca.diag(w) + ca.diag((1 - w**2) * ca.diag(matrix))
    both = solved(soft, ca.horzcat(w * (rho - matrix @ f), w * rho))
    return w * both[:, 0] + f, w * both[:, 1]


def weighted_function(law: str) -> ca.Function:
    """relaxed or continuous(ROWS, loads (2), NUMBERS) -> GROUND."""
    flat, loads, number = SX.sym("rows", ROWS.size), SX.sym("loads", 2), SX.sym("n", NUMBERS.size)
    rows, numbers = ROWS.split(flat), NUMBERS.split(number)
    s, friction = weights(rows, loads, numbers)
    ground, ideal = {"relaxed": relaxed, "continuous": continuous}[law](full(rows["D"]), rows["rho"], s, friction)
    out = GROUND.join(ground=ground, ideal=ideal, weight=s**2)
    return ca.Function(law, [flat, loads, number], [ca.cse(ca.densify(out))])


def rolling_function() -> ca.Function:
    """rolling(ROWS) -> GROUND: both wheels roll whatever it takes."""
    flat = SX.sym("rows", ROWS.size)
    rows = ROWS.split(flat)
    ground = solved(full(rows["D"]), rows["rho"])
    return ca.Function("rolling", [flat], [ca.densify(GROUND.join(ground=ground, ideal=ground, weight=SX.ones(2)))])


def reduced_function() -> ca.Function:
    """reduced(ROWS) -> REDUCED: the height rows hold, whatever the wheels' traction y."""
    flat = SX.sym("rows", ROWS.size)
    rows = ROWS.split(flat)
    d, rho = full(rows["D"]), rows["rho"]
    by, on = [0, 2], [1, 3]
    both = solved(d[on, on], ca.horzcat(rho[on], -d[on, by]))
    load0, load_by = both[:, 0], both[:, 1:]
    hat0, hat_by = [], []
    for k, i in enumerate(by):
        others = SX.zeros(1, 2)
        others[1 - k] = d[i, by[1 - k]]
        hat0.append((rho[i] - d[i, on] @ load0) / d[i, i])
        hat_by.append(-(others + d[i, on] @ load_by) / d[i, i])
    out = REDUCED.join(load0=load0, load_by=ca.vec(load_by.T), hat0=ca.vertcat(*hat0),
                       hat_by=ca.vec(ca.vertcat(*hat_by).T))  # fmt: skip
    return ca.Function("reduced", [flat], [ca.cse(ca.densify(out))])
