"""Rates of the chassis's pose and velocity, and loads converted from world axes to chassis axes."""

from __future__ import annotations

import casadi as ca

from jounce.contact.wheel import CHASSIS
from jounce.math.algebra import SX, cross, rotation


def quaternion_rate(q: SX, omega: SX) -> SX:
    """Rate [1/s] of the quaternion w x y z for the angular velocity in chassis axes [rad/s]."""
    v = q[1:4]
    return 0.5 * ca.vertcat(-ca.dot(v, omega), q[0] * omega + cross(v, omega))


def function() -> ca.Function:
    """motion(CHASSIS, linear acceleration minus gravity 3, gravity) -> rates of position 3, quaternion 4, velocity 3.

    The last one is the rate of the velocity's components in chassis axes [m/s2].
    """
    state, felt, gravity = SX.sym("x", CHASSIS.size), SX.sym("a", 3), SX.sym("g")
    x = CHASSIS.split(state)
    r = rotation(x["quaternion"])
    linear = felt - r.T @ ca.vertcat(0, 0, gravity) - cross(x["angular"], x["linear"])
    rates = [r @ x["linear"], quaternion_rate(x["quaternion"], x["angular"]), linear]
    return ca.Function("motion", [state, felt, gravity], [ca.cse(v) for v in rates])


def external_function() -> ca.Function:
    """external(quaternion, [force; moment] in the world) -> [moment; force] in chassis axes."""
    q, wrench = SX.sym("q", 4), SX.sym("w", 6)
    back = rotation(q).T
    return ca.Function("external", [q, wrench], [ca.cse(ca.vertcat(back @ wrench[3:], back @ wrench[:3]))])
