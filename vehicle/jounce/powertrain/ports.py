"""The inertia of the shafts between gearbox and wheels, joined exactly to the equations of the vehicle.

The shafts turn with the carriers of the two differentials, whose speeds are w = G h for the half-shaft speeds h, with
G = [1/2 1/2 0 0; 0 0 1/2 1/2]. Together they are an inertia S, a 2 x 2 matrix, on w. The recursion of the vehicle
(`jounce.dynamics.articulated`) is linear in the torques on the half shafts, so that w' = a + B t for torques t on the
carriers, half of which each of its half shafts gets; a is from a run without the shafts' own torque. t = -S w' then
gives

    t = -(I + S B)^-1 S a

B is symmetric and positive definite since w is what t works on; the elimination needs no pivoting as all eigenvalues of
I + S B are 1 or more. With the inertias J of a wheel and S of its shaft about the spin axis e, the ratio k = J/(J+S),
a = e . u for the upright's partial velocity u, the momentum m and the inertia d of the corner (Jain 2016, Eqs. 6, 7),
the hub ratio i and sense s, a torque on a half shaft turns the wheel by i, the upright by (s - i k) a, and the chassis
by -c, c = [i k e; 0] + m (s - i k) a / d. For the half shafts

    B_ij = delta_ij (i^2/(J+S) + ((s - i k) a)^2 / d) + c_i . M^-1 c_j

with the 6 x 6 inertia M of the chassis and all it carries, and for the carriers G B G^T.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from jounce.dynamics.articulated import full, solve, spatial_inertia
from jounce.math.algebra import SX, cross, dot
from jounce.powertrain.layouts import NUMBERS, PORT, SHAFTS

__all__ = ["carrier_inertia", "function", "speed"]


def speed(spin: SX, axis: SX, upright: SX, n: dict[str, SX]) -> SX:
    """Speed of a half shaft relative to the chassis [rad/s]: ``upright`` is the upright's angular velocity to it."""
    return n["hub"] * spin + n["sense"] * dot(axis, upright)


def carrier_inertia(transfer: SX, n: dict[str, SX]) -> SX:
    """S (2, 2) [kg.m2] of output shaft, propeller shafts and carriers, on the front and the rear carrier."""
    output = transfer * ca.vertcat(n["share"] * n["front_ratio"], (1 - n["share"]) * n["rear_ratio"])
    own = ca.vertcat(n["front_inertia"] * n["front_ratio"] ** 2 + n["carrier_inertia"],
                     n["rear_inertia"] * n["rear_ratio"] ** 2 + n["carrier_inertia"] * n["both"])  # fmt: skip
    return n["output_inertia"] * (output @ output.T) + ca.diag(own)


def ports(own: SX, body: SX, wheels: Sequence[dict[str, SX]], omega: SX, transfer: SX,
          n: dict[str, SX]) -> tuple[SX, SX]:  # fmt: skip
    """(torques T on the half shafts [N.m], what they add to the chassis's acceleration (6)).

    ``own`` and ``body`` as in `articulated.chassis_acceleration`; each of ``wheels`` has the parts of PORT, with the
    accelerations of theta and spin as they are without T; a part of zeros with d = along = 1 stands for no wheel.
    """
    total = spatial_inertia(own[0], own[1:4], own[4:10]) + full(body)
    columns, diagonal, rates = [], [], []
    for w in wheels:
        turn = dot(w["axis"], w["upright_partial"])
        kept = n["hub"] * w["along"] / (w["along"] + w["shaft"])
        by_theta = (n["sense"] - kept) * turn
        columns.append(ca.vertcat(kept * w["axis"], SX(3, 1)) + w["momentum"] * (by_theta / w["d"]))
        diagonal.append(n["hub"] ** 2 / (w["along"] + w["shaft"]) + by_theta**2 / w["d"])
        bias = w["axis_bias"] - dot(w["axis"], cross(omega, w["upright_velocity"]))
        rates.append(n["hub"] * w["spin"] + n["sense"] * (turn * w["theta"] + bias))

    def carriers(of: Sequence[SX]) -> list[SX]:
        return [0.5 * (of[0] + of[1]), 0.5 * (of[2] + of[3])]

    pushes, yields = carriers(columns), [0.5 * d for d in carriers(diagonal)]
    moved = [solve(total, push) for push in pushes]
    by = ca.blockcat([[dot(push, m) for m in moved] for push in pushes]) + ca.diag(ca.vertcat(*yields))
    inertia = carrier_inertia(transfer, n)
    system, right = SX.eye(2) + inertia @ by, -inertia @ ca.vertcat(*carriers(rates))
    factor = system[1, 0] / system[0, 0]
    rear = (right[1] - factor * right[0]) / (system[1, 1] - factor * system[0, 1])
    front = (right[0] - system[0, 1] * rear) / system[0, 0]
    change = -(moved[0] * front + moved[1] * rear)
    return 0.5 * ca.vertcat(front, front, rear, rear), change


def function() -> ca.Function:
    """ports(own 10, body 21, PORT of each of 4 wheels, angular velocity 3, transfer ratio, NUMBERS) -> T 4, change 6.

    """
    own, body, wheels = SX.sym("o", 10), SX.sym("b", 21), SX.sym("w", SHAFTS * PORT.size)
    omega, transfer, n = SX.sym("v", 3), SX.sym("t"), SX.sym("n", NUMBERS.size)
    each = [PORT.split(wheels[k * PORT.size : (k + 1) * PORT.size]) for k in range(SHAFTS)]
    made = ports(own, body, each, omega, transfer, NUMBERS.split(n))
    return ca.Function("ports", [own, body, wheels, omega, transfer, n], [ca.cse(ca.densify(v)) for v in made])
