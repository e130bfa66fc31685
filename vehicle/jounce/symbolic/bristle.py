"""A friction bristle that holds at rest without creep and never makes energy.

One scalar law serves the tire's contact patch and the brake disc. With deflection z [m or rad], sliding speed
v, the relaxation rate L >= k |v| / mu [1/s] and s = 1 / (1 + L / rate_limit):

    z_dot = s (v - L z),      traction (per unit of normal load) = k z + c z_dot

At rest (v = 0, no rolling) z_dot = 0 whatever z is: the traction stands still. In steady sliding k z = mu.
The factor s keeps the eigenvalue s L below `rate_limit`, so an explicit step stays stable at any speed, and
leaves the steady states alone.

With the stored energy k z^2 / 2 the power lost is s times the quadratic form
k L z^2 + L (k / rate_limit - c) z v + c v^2. It is positive when L (c - k / rate_limit)^2 <= 4 k c, which the
damping c = c_min + e / (1 + e L / (2 k)), e = c_rest - c_min, c_min = k / rate_limit meets for every L.

Source: P. R. Dahl 1968, "A solid friction model"; C. Canudas de Wit et al. 1995, "A new model for control of
systems with friction", Eqs. 1-4 and the passivity condition on sigma_1; the rate limit and this damping law
are ours.
"""

from __future__ import annotations

from jounce.symbolic.algebra import SX

__all__ = ["bristle"]


def bristle(
    *, deflection: SX, sliding: SX, relaxation: SX, stiffness: SX, damping: SX, rate_limit: float | SX
) -> tuple[SX, SX]:
    """(deflection rate, traction per unit of normal load, opposed to the sliding speed's sign convention).

    The force on the sliding body is -traction x load.

    Args:
        deflection: z [m], or [rad] for a disc.
        sliding: v [m/s] or [rad/s].
        relaxation: L [1/s], at least stiffness |v| / mu; more of it where the contact rolls on.
        stiffness: k, traction per deflection [1/m] or [1/rad].
        damping: c_rest, traction per deflection rate at rest [s/m] or [s/rad].
        rate_limit: largest eigenvalue of the state [1/s].
    """
    least = stiffness / rate_limit
    extra = damping - least
    slowed, thinned = 1.0 + relaxation / rate_limit, 1.0 + extra * relaxation / (2.0 * stiffness)
    both = slowed * thinned  # the emitted code divides by it once
    rate = (sliding - relaxation * deflection) * thinned / both
    damping_now = least + extra * slowed / both
    return rate, stiffness * deflection + damping_now * rate
