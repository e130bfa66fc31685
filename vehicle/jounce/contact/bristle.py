"""Friction that holds at rest: an elastic bristle that yields only at the friction limit.

The same kinematic law is used for the tire's contact patch (two components), for turning and rolling of the tire at
rest, and for the brake disc. Forces are the stretch times a constant stiffness k. With the deflection z, the sliding
velocity v, the limit z_s = (largest friction force) / k, and Z = |z|:

    z_dot = s (v - (P / z_s + shrink) z) - r z
    P = A (z . v)+ / Z,   A = 0 below breakaway z_s, rising to 1 at z_s
    stretch = z min(1, z_s / Z) + d (z_dot but for shrink),   within the circle of radius z_s

- Below break-away z_dot = v: the bristle is a spring, and its motion is bounded under any load. With a law that yields
  at every deflection (Dahl, LuGre), the contact would drift under an oscillating load.
- In steady sliding Z = z_s and z is parallel to v. The part of v along z yields, and the rest rotates z, which is
  plastic flow with a circular yield surface.
- shrink = rate_limit (1 - z_s / Z)+ reduces the deflection if the limit falls below it.
- r is the relaxation of a rolling contact.
- s = 1 / (max(1, V / (rate_limit z_s)) + steep P / (2 z_s rate_limit) + shrink / rate_limit), V = |v|, keeps the
  eigenvalues of steady sliding below 2 rate_limit, so that an explicit step stays stable at any speed, and leaves the
  steady states alone. It is 1 below break-away unless the bristle would cross its whole range within 1 / rate_limit.
- Where the limit grows while a contact slides, z follows it in the narrow range in which A rises, with eigenvalues of
  V / z_s / (1 - breakaway) and more. There one that ``settles`` has
  (V / (rate_limit z_s) - settles)+ (1 / w - 1) more in 1 / s while z loads, w = max(1 - Z / z_s, NEAR): z follows the
  limit with a lag of about 1 / rate_limit and, for settles = NEAR, eigenvalues up to 5 rate_limit. What slides slower
  than settles rate_limit z_s does not feel it; what swings faster yields a little.

The law is passive. With the stored energy k Z^2 / 2, whose k does not depend on the load, the power lost over k is
stretch . v - z . z_dot. The limit may vary in time in any way.

- Z < z_s, loading (z . v >= 0), b = 1 - s + s A Z / z_s <= 1: the power is at least
  r Z^2 + d (1 - b) V^2 - (d r - b) (z . v), which is positive for every d with d r <= 1.
- Z < z_s, unloading: s = 1 and P = 0, the power is d V^2 + r Z^2 - d r (z . v) >= 0.
- Z >= z_s, loading: P Z / z_s >= (z . v), z does not grow, and what is left of the damping's power is covered since
  d (P / z_s + r) <= 1.
- Z >= z_s, unloading: s >= z_s / Z, so that z loses more than the stretch gives back.

d = damping / (1 + damping (P / z_s + r)) meets both conditions; where the circle asks for less, d is reduced.
Where s < 1 without yielding (V > rate_limit z_s), d >= 1 / rate_limit covers the rest of s. `tests` measure all of it.

Source: P. Dupont, V. Hayward, B. Armstrong, F. Altpeter 2002, "Single state elasto-plastic friction models", IEEE
Trans. Automatic Control 47, 787, Eqs. 7-12 (z_dot = v (1 - alpha z / z_ss), alpha = 0 below break-away and where z
unloads; stiction without drift); J. C. Simo, T. J. R. Hughes 1998, "Computational Inelasticity", section 1.2 and 2.7
(the yield surface in more than one dimension). The rate limit, the damping's law and the variable limit are our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import casadi as ca

from jounce.math.algebra import SX, dot

__all__ = ["BREAKAWAY", "NEAR", "Bristle", "bristle"]

BREAKAWAY: Final = 0.98
"""Fraction of the limit below which a tire or a brake does not yield."""
LEAST: Final = 1e-9
"""Smallest limit [m, rad], so that the direction is defined without friction as well."""
NEAR: Final = 0.04
"""Least part of its speed that a bristle which settles has near the limit."""
TINY: Final = 1e-30
"""Added to squares, so that the direction of a zero vector is defined."""


@dataclass(frozen=True)
class Bristle:
    """Result of the law."""

    rate: SX
    """z_dot (n) [m/s] or [rad/s]."""
    stretch: SX
    """Force over stiffness (n) [m] or [rad], against the sliding velocity."""
    slip: SX
    """P: speed at which the contact yields [m/s] or [rad/s], >= 0."""


def bristle(
    deflection: SX, sliding: SX, *, limit: SX, damping: SX, rate_limit: float | SX, relaxation: float | SX = 0.0,
    breakaway: float = BREAKAWAY, settles: float | None = None,
) -> Bristle:  # fmt: skip
    """One bristle of n = 1 or 2 components.

    Args:
        deflection: z (n) [m], or [rad] for what turns.
        sliding: v (n) [m/s] or [rad/s].
        limit: z_s, the deflection at the friction limit [m] or [rad], >= 0.
        damping: damping over stiffness at rest [s], at least 1 / rate_limit.
        rate_limit: half the largest eigenvalue of steady sliding [1/s].
        relaxation: r (n or 1) [1/s], >= 0; counts up to rate_limit / 2, and only beyond what sliding relaxes.
        breakaway: fraction of the limit below which nothing yields, below 1.
        settles: speed over rate_limit z_s from which it comes to a limit that grows as to one that stays; for one
            component. From NEAR on every speed is resolved.
    """
    steep = 1.0 + 1.0 / (1.0 - breakaway)  # eigenvalue of the state over V / z_s in the range where A increases
    plane = deflection.shape[0] > 1
    reach = ca.fmax(limit, LEAST)
    length = ca.sqrt(dot(deflection, deflection) + TINY) if plane else ca.fabs(deflection) + LEAST * LEAST
    speed = ca.sqrt(dot(sliding, sliding)) if plane else ca.fabs(sliding)
    inverse = 1.0 / (reach * length)  # one division for two
    yielding = ca.fmax(ca.fmin((length * length * inverse - breakaway) / (1.0 - breakaway), 1.0), 0.0)
    slip = yielding * ca.fmax(dot(deflection, sliding), 0.0) * (reach * inverse)
    within = ca.fmin(reach * reach * inverse, 1.0)  # z_s / Z
    shrink = rate_limit * (1.0 - within)
    flow = slip + shrink * reach
    resists = ca.fmax(rate_limit * reach, speed) + 0.5 * steep * slip + shrink * reach
    if settles is None:
        slow = rate_limit / resists
    else:
        left = ca.fmax(1.0 - length * length * inverse, NEAR)
        faster = ca.fmax(speed - settles * rate_limit * reach, 0.0) * (1.0 - left)
        slow = rate_limit * left / (resists * left + ca.if_else(dot(deflection, sliding) > 0.0, faster, 0.0))
    moving, given_way = slow * reach, slow * flow  # s, and the rate at which z relaxes by it
    more = ca.fmax(ca.fmin(relaxation, 0.5 * rate_limit) - given_way, 0.0)
    bent = moving * sliding - (slow * slip + more) * deflection
    rate = bent - slow * shrink * reach * deflection
    most = more if more.is_scalar() else ca.fmax(more[0], more[1])
    damping = damping * reach / (reach + damping * (slip + most * reach))
    base = ca.fmin(limit * reach * inverse, 1.0) * deflection
    if plane:
        # the longest step along the damping part that stays within the circle
        added = damping * bent
        square, along = dot(added, added), dot(base, added)
        room = ca.fmax(limit * limit - dot(base, base), 0.0)
        root = ca.sqrt(along * along + square * room)
        out = along > 0.0
        share = ca.if_else(out, room, root - along) / ca.fmax(ca.if_else(out, root + along, square), TINY)
        stretch = base + ca.fmin(share, 1.0) * added
    else:
        stretch = ca.fmax(ca.fmin(base + damping * bent, limit), -limit)
    return Bristle(rate, stretch, slip)
