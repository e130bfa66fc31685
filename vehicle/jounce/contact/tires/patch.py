"""Geometry and load of a tire on a plane: what laws of different curves share.

Contact frame: x along the wheel's heading in the terrain plane, y to the left, z along the terrain normal.
The patch is a single point: where the disc's own radius towards the plane meets it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import casadi as ca

from jounce.contact.tires.law import TILT_MIN, Hub, Plane
from jounce.math.algebra import SX, cross, dot
from jounce.suspension.springs import hard_contact

__all__ = ["LEAN", "Patch", "patch", "spring"]

LEAN: Final = 0.15
"""Sine of the lean up to which the deflection is Chrono's."""
LEVEL: Final = math.sqrt(1.0 - LEAN * LEAN)
"""Its cosine."""


@dataclass(frozen=True)
class Patch:
    """Where the tire touches, and its load."""

    lean: SX
    """Sine between spin axis and plane."""
    upright: SX
    """Its cosine."""
    heading: SX
    """x axis of the contact frame (3), world axes."""
    left: SX
    """y axis of the contact frame (3), world axes."""
    down: SX
    """Unit vector in the disc towards the plane (3), world axes."""
    height: SX
    """Height of the wheel centre above the plane [m]."""
    deflection: SX
    """Radial deflection [m], >= 0."""
    by_level: SX
    """One over the cosine of the lean up to LEAN."""
    by_tilted: SX
    """One over the cosine of the lean up to where the wheel lies flat."""
    flat: SX
    """Whether it lies flat."""
    arm: SX
    """Distance from the wheel centre to the contact point in the disc [m]."""
    reach: SX
    """Contact point from the wheel centre (3) [m], world axes."""
    camber: SX
    """Inclination [rad], positive about x."""
    velocity: SX
    """Velocity of the wheel centre (3) [m/s], contact frame."""
    load: SX
    """Normal force [N], >= 0."""


def spring(deflection: SX, par: Mapping[str, SX]) -> SX:
    """Force of a radial spring [N], linear and quadratic."""
    return deflection * (par["vertical_stiffness"] + par["vertical_stiffness_quadratic"] * deflection)


def patch(hub: Hub, terrain: Plane, par: Mapping[str, SX], radial: Callable[[SX], SX] | None = None) -> Patch:
    """The patch of a wheel; ``par`` has radii, width, vertical stiffness and damping of tire and rim.

    ``radial``: deflection [m] -> force of the tire's radial spring [N], else that of `spring`.

    Up to `LEAN` the measure of the deflection is Chrono's, upright (R - h) - R lean^2, with the spring's force as load.
    It falls off with the lean by half R lean^2 more than the radial gap R - h / upright, and the plane gives no work in
    return: a wheel that comes back from 50 degrees would gain 20 kJ. Beyond, that difference stays what it is at
    `LEAN`, and the load is that of a radial spring, force / upright, so that load and moment come from one potential. A
    wheel within half its width of lying flat touches with its side, right below its centre.
    """
    radius, n = par["unloaded_radius"], terrain.normal
    lean = dot(hub.axis, n)
    upright = ca.sqrt(ca.fmax(1.0 - lean * lean, TILT_MIN))
    heading = cross(hub.axis, n) / upright
    left = cross(n, heading)
    down = (lean * hub.axis - n) / upright  # unit vector in the disc, towards the plane
    height = dot(hub.position - terrain.point, n)
    edge = par["width"] / (2.0 * radius)
    level, by_upright = ca.fmax(upright, LEVEL), 1.0 / upright
    by_level, by_tilted = ca.fmin(by_upright, 1.0 / LEVEL), ca.fmin(by_upright, 1.0 / edge)
    more = level * (radius - height) - radius * (2.0 - level * level) + height * by_level
    deflection, flat = ca.fmax(radius - height * by_tilted + more, 0.0), upright < edge
    arm = height * by_tilted
    reach = ca.if_else(flat, -height * n, arm * down)
    camber = ca.atan(lean / upright)

    vx, vy, vz = dot(hub.velocity, heading), dot(hub.velocity, left), dot(hub.velocity, n)
    pushed = spring(deflection, par) if radial is None else radial(deflection)
    pushed *= by_tilted * level
    # beyond LEAN dampers meet the speed at the contact, which tilting moves along the normal: with the hub's they push
    beyond = ca.if_else(flat, 0.0, lean - ca.fmax(ca.fmin(lean, LEAN), -LEAN))
    rising = vz + beyond * arm * dot(hub.turning, heading)
    rim = hard_contact(deflection - (radius - par["rim_radius"]), -rising, par["rim_stiffness"], par["rim_damping"])
    rim *= by_tilted * level  # as the spring's: load and moment from one potential
    load = ca.if_else(deflection > 0.0, ca.fmax(pushed - par["vertical_damping"] * rising, 0.0) + rim, 0.0)
    return Patch(lean, upright, heading, left, down, height, deflection, by_level, by_tilted, flat, arm, reach, camber,
                 ca.vertcat(vx, vy, vz), load)  # fmt: skip
