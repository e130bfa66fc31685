"""The inertia of the shafts between gearbox and wheels, joined exactly to the equations of the vehicle.

The shafts turn with the half shafts: together they are an inertia J_s, a 4 x 4 matrix, on the half-shaft speeds h. The
recursion of the vehicle (`jounce.dynamics.articulated`) is linear in the torques on the half shafts, so that
h' = a + B T with a from a run without the shafts' own torque T. T = -J_s h' then gives

    T = -(I + J_s B)^-1 J_s a

B is symmetric and positive definite since h is what T works on; the elimination needs no pivoting as all eigenvalues of
I + J_s B are 1 or more. With the inertias J of a wheel and S of its shaft about the spin axis e, the ratio k = J/(J+S),
a = e . u for the upright's partial velocity u, the momentum m and the inertia d of the corner (Jain 2016, Eqs. 6, 7),
the hub ratio i and sense s, a torque on the half shaft turns the wheel by i, the upright by (s - i k) a, and the
chassis by -c, c = [i k e; 0] + m (s - i k) a / d:

    B_ij = delta_ij (i^2/(J+S) + ((s - i k) a)^2 / d) + c_i . M^-1 c_j

with the 6 x 6 inertia M of the chassis and all it carries.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from jounce.dynamics.articulated import full, solve, spatial_inertia
from jounce.math.algebra import SX, cross, dot
from jounce.powertrain.layouts import NUMBERS, PORT, SHAFTS

__all__ = ["function", "shaft_inertia", "speed"]


def speed(spin: SX, axis: SX, upright: SX, n: dict[str, SX]) -> SX:
    """Speed of a half shaft relative to the chassis [rad/s]: ``upright`` is the upright's angular velocity to it."""
    return n["hub"] * spin + n["sense"] * dot(axis, upright)


def shaft_inertia(transfer: SX, n: dict[str, SX]) -> SX:
    """J_s (4, 4) [kg.m2] of output shaft, propeller shafts and carriers, on the half shafts."""
    front, rear = SX([0.5, 0.5, 0, 0]), SX([0, 0, 0.5, 0.5])
    props = n["front_ratio"] * front, n["rear_ratio"] * rear
    output = transfer * (n["share"] * props[0] + (1 - n["share"]) * props[1])
    shafts: Sequence[tuple[SX, SX]] = (
        (n["output_inertia"], output), (n["front_inertia"], props[0]), (n["rear_inertia"], props[1]),
        (n["carrier_inertia"], front), (n["carrier_inertia"] * n["both"], rear),
    )  # fmt: skip
    return sum((j * (g @ g.T) for j, g in shafts), SX(SHAFTS, SHAFTS))


def _eliminated(m: SX, right: SX) -> SX:
    """x of m x = right by Gauss, without pivoting."""
    n = right.shape[0]
    rows = [[m[i, j] for j in range(n)] for i in range(n)]
    b = [right[i] for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [SX(0)] * (k + 1) + [rows[i][j] - factor * rows[k][j] for j in range(k + 1, n)]
            b[i] = b[i] - factor * b[k]
    x = [SX(0)] * n
    for i in reversed(range(n)):
        x[i] = (b[i] - sum((rows[i][j] * x[j] for j in range(i + 1, n)), SX(0))) / rows[i][i]
    return ca.vertcat(*x)


def ports(own: SX, body: SX, wheels: Sequence[dict[str, SX]], omega: SX, transfer: SX,
          n: dict[str, SX]) -> tuple[SX, SX]:  # fmt: skip
    """(torques T on the half shafts [N.m], what they add to the chassis's acceleration (6)).

    ``own`` and ``body`` as in `articulated.chassis_acceleration`; each of ``wheels`` has the parts of PORT, with the
    accelerations of theta and spin as they are without T; a part of zeros with d = along = 1 stands for no wheel.
    """
    total = spatial_inertia(own[0], own[1:4], own[4:10]) + full(body)
    columns, moved, diagonal, rates = [], [], [], []
    for w in wheels:
        turn = dot(w["axis"], w["upright_partial"])
        kept = n["hub"] * w["along"] / (w["along"] + w["shaft"])
        by_theta = (n["sense"] - kept) * turn
        columns.append(ca.vertcat(kept * w["axis"], SX(3, 1)) + w["momentum"] * (by_theta / w["d"]))
        moved.append(solve(total, columns[-1]))
        diagonal.append(n["hub"] ** 2 / (w["along"] + w["shaft"]) + by_theta**2 / w["d"])
        bias = w["axis_bias"] - dot(w["axis"], cross(omega, w["upright_velocity"]))
        rates.append(n["hub"] * w["spin"] + n["sense"] * (turn * w["theta"] + bias))
    by = ca.blockcat([[dot(c, m) for m in moved] for c in columns]) + ca.diag(ca.vertcat(*diagonal))
    inertia = shaft_inertia(transfer, n)
    torque = _eliminated(SX.eye(SHAFTS) + inertia @ by, -inertia @ ca.vertcat(*rates))
    return torque, -sum((m * torque[k] for k, m in enumerate(moved)), SX(6, 1))


def function() -> ca.Function:
    """ports(own 10, body 21, PORT of each of 4 wheels, angular velocity 3, transfer ratio, NUMBERS) -> T 4, change 6.

    """
    own, body, wheels = SX.sym("o", 10), SX.sym("b", 21), SX.sym("w", SHAFTS * PORT.size)
    omega, transfer, n = SX.sym("v", 3), SX.sym("t"), SX.sym("n", NUMBERS.size)
    each = [PORT.split(wheels[k * PORT.size : (k + 1) * PORT.size]) for k in range(SHAFTS)]
    made = ports(own, body, each, omega, transfer, NUMBERS.split(n))
    return ca.Function("ports", [own, body, wheels, omega, transfer, n], [ca.cse(ca.densify(v)) for v in made])
