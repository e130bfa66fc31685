"""A rigid axle on leaf springs, as links that move it as the leaves do."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.dynamics.mechanism import End, Mechanism, Rod, Value
from jounce.math.algebra import SX
from jounce.suspension.mechanisms.entries import Entries, chassis
from jounce.suspension.mechanisms.solid_axle import SIDES, axle_on

#: The torque link lies this far above the leaves [m]; the motion does not depend on it to second order.
RAISED = 0.2
#: Length of the Panhard rod that stands for the leaves' lateral stiffness [m]: long, so that it hardly swings.
PANHARD = 10.0


def mechanism(p: Mapping[str, Value], axle: str) -> Mechanism:
    """The front half of each leaf becomes a link, and a third link sets the axle's pitch.

    SPRING_F is the front eye, SPRING_R the rear one (where the shackle stands), LEAF_A where the axle is clamped, a and
    b the distances from there to the eyes. A leaf of uniform strength bends to an arc. Both halves carry the clamp's
    moment, so the curvature k is the same in front and behind, and with both eyes at one height a rise h of the clamp
    gives k = -2 h / (a b) and a slope of the clamp s = h (1/b - 1/a). The clamp then comes nearer to the front eye by
    the integral of (s + k x)^2 / 2 from 0 to a, which is h^2 / (2 r) with r = a / (1 + (a/b)^2 / 3): it moves on a
    circle of that radius. For equal halves r = 3 a / 4, the three-quarter rule (Society of Automotive Engineers,
    Manual on Design and Application of Leaf Springs, HS-788; derived here, the manual was not at hand).
    """
    e = Entries(p, axle)
    rods = [leaf_link(e, label, side) for label, side in SIDES]
    clamp, front, rear = e.point("LEAF_A"), e.point("SPRING_F"), e.point("SPRING_R")
    link = _pivot(e, 1.0) - clamp
    middle = ca.vertcat(clamp[0], 0, clamp[2] + RAISED)
    # A point RAISED above the clamp moves forwards by RAISED times the pitch (about y, the front down) per rise; a link
    # is at right angles to its end's motion.
    pitch = 1 / (front[0] - clamp[0]) - 1 / (clamp[0] - rear[0])
    way = ca.vertcat(link[0], 0, link[2] - pitch * RAISED * link[0])
    rods.append(Rod("torque_link", End("axle", middle), chassis(middle + way)))
    pan = ca.vertcat(clamp[0], 0, clamp[2])
    rods.append(Rod("panhard", End("axle", pan), chassis(pan + SX([0, PANHARD, 0]))))
    return axle_on(e, tuple(rods))


def leaf_link(e: Entries, label: str, side: float) -> Rod:
    """The link of one leaf, with the leaf's mass."""
    return e.rod(f"leaf_{label}", End("axle", e.point("LEAF_A", side)), chassis(_pivot(e, side)), "leaf")


def _pivot(e: Entries, side: float) -> SX:
    """Centre of the circle on which the clamp moves."""
    clamp, front, rear = (e.point(name, side) for name in ("LEAF_A", "SPRING_F", "SPRING_R"))
    ratio = (front[0] - clamp[0]) / (clamp[0] - rear[0])
    return clamp + (front - clamp) / (1 + ratio * ratio / 3)
