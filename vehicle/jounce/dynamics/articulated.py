"""The articulated-body recursion over the corners and the chassis (Jain 2016, Eqs. 4, 6, 7).

`inward_sweep` reduces one corner to an articulated body on the chassis, `solve` solves the chassis's symmetric 6x6
system, and `outward_sweep` computes the corner's accelerations. Accelerations are [angular; linear] of the chassis
reference frame in chassis axes. Gravity is subtracted from the linear one, so it needs no term of its own. Song and Kim
derive the same steps as subsystem synthesis (effective mass and force, Eqs. 17-20 and 29-32).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from jounce.math.algebra import SX, cross, dot, matrix, symmetric
from jounce.math.layout import Layout
from jounce.suspension.double_wishbone import OUTPUTS

#: Loads on one corner: tire force [N] and moment [N.m] at the wheel centre in chassis axes, drive torque and signed
#: brake torque [N.m].
LOADS = Layout(force=3, moment=3, drive=1, brake=1)
#: A corner as an articulated body on the chassis: the lower triangle of its inertia by columns, its bias wrench, and
#: two numbers for `outward_sweep`.
ARTICULATED_BODY = Layout(inertia=21, bias=6, epsilon=1, torque=1)


def spatial_inertia(mass: SX, moment: SX, inertia: SX) -> SX:
    """6x6 inertia about the chassis origin from mass [kg], first moment [kg.m] and xx yy zz xy xz yz [kg.m2]."""
    s = ca.blockcat([[0, -moment[2], moment[1]], [moment[2], 0, -moment[0]], [-moment[1], moment[0], 0]])
    return ca.blockcat([[matrix(inertia), s], [-s, mass * SX.eye(3)]])


def lower(m: SX) -> SX:
    """(21,) lower triangle, by columns, of a symmetric 6x6 matrix."""
    return ca.vertcat(*(m[row, col] for col in range(6) for row in range(col, 6)))


def full(v: SX) -> SX:
    """The symmetric 6x6 matrix of `lower`."""
    m = SX(6, 6)
    at = 0
    for col in range(6):
        for row in range(col, 6):
            m[row, col] = m[col, row] = v[at]
            at += 1
    return m


def inward_sweep(corner: dict[str, SX], load: dict[str, SX], along: SX, shaft: SX) -> SX:
    """ARTICULATED_BODY of one corner: its P+ and z+ on the chassis (Eqs. 4 and 6 with the aggregates of 9-11).

    ``along`` and ``shaft`` [kg.m2] are the inertias of wheel and axle shaft about the spin axis.
    """
    axis, centre = corner["axis"], corner["centre"]
    force, moment = load["force"], load["moment"]
    torque = dot(axis, moment) + load["drive"] + load["brake"]
    kept = axis * (along / (along + shaft) * torque)
    applied = ca.vertcat(moment + cross(centre, force) - kept, force)
    q = dot(corner["upright_partial"], moment - kept + axis * load["drive"]) + dot(corner["centre_partial"], force)
    h, d = corner["momentum"], corner["d"]
    epsilon = q - corner["bias_theta"]
    inertia = spatial_inertia(corner["mass"], corner["moment"], corner["inertia"]) - h @ h.T / d
    bias = corner["bias"] - applied + h * (epsilon / d)
    return ARTICULATED_BODY.join(inertia=lower(inertia), bias=bias, epsilon=epsilon, torque=torque)


def outward_sweep(corner: dict[str, SX], body: dict[str, SX], acceleration: SX, along: SX, shaft: SX) -> SX:
    """(theta acceleration, spin acceleration) [rad/s2] of one corner (Eq. 7)."""
    theta = (body["epsilon"] - dot(corner["momentum"], acceleration)) / corner["d"]
    turn = dot(corner["axis"], acceleration[:3] + corner["upright_partial"] * theta) + corner["axis_bias"]
    return ca.vertcat(theta, (body["torque"] - along * turn) / (along + shaft))


def _inverse(m: SX) -> SX:
    """Inverse of a symmetric 3x3 matrix by cofactors, with one division."""
    a, b, c, d, e, f = m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]
    first = ca.vertcat(b * c - f * f, e * f - d * c, d * f - b * e)
    v = ca.vertcat(first[0], a * c - e * e, a * b - d * d, first[1], first[2], d * e - a * f)
    return matrix(v / (a * first[0] + d * first[1] + e * first[2]))


@dataclass(frozen=True)
class Factored:
    """A symmetric positive definite 6x6 matrix, ready to be solved by 3x3 blocks.

    The linear rows are eliminated first, since their block, the mass, is nearly isotropic; the rest is the Schur
    complement. This has two dependent divisions, where L D L* has six.
    """

    mass: SX
    """Inverse of the linear block."""
    by_mass: SX
    across: SX
    """Rows of the linear block, columns of the angular one."""
    angular: SX
    """Inverse of the Schur complement."""

    def solve(self, wrench: SX) -> SX:
        """x of inertia x = wrench."""
        angular = self.angular @ (wrench[:3] - self.by_mass @ wrench[3:])
        return ca.vertcat(angular, self.mass @ (wrench[3:] - self.across @ angular))


def factored(inertia: SX) -> Factored:
    """Of a symmetric positive definite 6x6 matrix."""
    mass = _inverse(inertia[3:, 3:])
    by_mass = inertia[:3, 3:] @ mass
    left = symmetric(inertia[:3, :3] - by_mass @ inertia[3:, :3])
    return Factored(mass, by_mass, inertia[3:, :3], _inverse(matrix(left)))


def solve(inertia: SX, wrench: SX) -> SX:
    """x of inertia x = wrench for a symmetric positive definite 6x6 matrix."""
    return factored(inertia).solve(wrench)


def chassis_system(own: SX, omega: SX, body: SX, external: SX) -> tuple[SX, SX]:
    """(6 x 6 inertia of the chassis and all it carries, wrench (6,) that accelerates it).

    ``own`` (10,) is the chassis's mass, first moment and inertia; ``body`` (27,) the sum of the corners' inertias (21)
    and biases (6); ``external`` (6,) the [moment; force] at the chassis origin [N.m, N].
    """
    mass, moment, inertia = own[0], own[1:4], own[4:10]
    gyro = ca.vertcat(cross(omega, matrix(inertia) @ omega), cross(omega, cross(omega, moment)))
    total = spatial_inertia(mass, moment, inertia) + full(body[:21])
    return total, external - gyro - body[21:27]


def chassis_acceleration(own: SX, omega: SX, body: SX, external: SX) -> SX:
    """(6,) acceleration [angular; linear minus gravity] of the chassis frame in chassis axes [rad/s2, m/s2].

    Of a chassis as in `chassis_system`.
    """
    return solve(*chassis_system(own, omega, body, external))


def inward_sweep_function() -> ca.Function:
    """inward_sweep(corner outputs, loads, [along, shaft]) -> ARTICULATED_BODY."""
    c, u, w = SX.sym("c", OUTPUTS.size), SX.sym("u", LOADS.size), SX.sym("w", 2)
    return ca.Function("inward_sweep", [c, u, w], [ca.cse(inward_sweep(OUTPUTS.split(c), LOADS.split(u), w[0], w[1]))])


def outward_sweep_function() -> ca.Function:
    """outward_sweep(corner outputs, ARTICULATED_BODY, chassis acceleration, [along, shaft]) -> (theta, spin) rates."""
    c, g, a, w = SX.sym("c", OUTPUTS.size), SX.sym("g", ARTICULATED_BODY.size), SX.sym("a", 6), SX.sym("w", 2)
    found = outward_sweep(OUTPUTS.split(c), ARTICULATED_BODY.split(g), a, w[0], w[1])
    return ca.Function("outward_sweep", [c, g, a, w], [ca.cse(found)])


def chassis_function() -> ca.Function:
    """chassis(own 10, angular velocity 3, body 27, external 6) -> acceleration 6."""
    own, omega, g, e = SX.sym("own", 10), SX.sym("omega", 3), SX.sym("g", 27), SX.sym("e", 6)
    return ca.Function("chassis", [own, omega, g, e], [ca.cse(chassis_acceleration(own, omega, g, e))])
