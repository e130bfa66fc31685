"""Force laws of one corner: the spring with bump and rebound stops, the shock, and the shock's ends.

The laws are those of the vehicle data (Project Chrono's HMMWV_DoubleWishbone, and the stops of SpringForce). A positive
force pushes the ends apart.
"""

from __future__ import annotations

from typing import Final

import casadi as ca

from jounce.math.algebra import SX

ONSET: Final = 1e-3
"""Depth [m] over which the damping of a hard contact increases to its full value, so that the force is continuous."""


def _ramp(depth: SX, knots: SX, values: SX) -> tuple[SX, SX]:
    """(force [N], its integral [J]) of a piecewise-linear stop table, which is zero below its first knot."""
    force, energy, slope = SX(0), SX(0), SX(0)
    for k in range(knots.shape[0] - 1):
        new = (values[k + 1] - values[k]) / (knots[k + 1] - knots[k])
        over = ca.fmax(depth - knots[k], 0.0)
        force += (new - slope) * over
        energy += 0.5 * (new - slope) * over * over
        slope = new
    return force, energy


def spring_force(length: SX, n: dict[str, SX]) -> tuple[SX, SX]:
    """(force [N] of the spring with its stops, stored energy [J]) at that length [m].

    The data's table is k1 d + k3 d3 at multiples of table_step, linear between them.
    """
    d = length - n["rest_length"]
    step = n["table_step"]
    low = ca.floor(d / step) * step
    high = low + step

    def cubic(x: SX) -> SX:
        return x * (n["k1"] + n["k3"] * x * x)

    slope = (cubic(high) - cubic(low)) / step
    table = cubic(low) + slope * (d - low)

    def area(x: SX) -> SX:
        # The trapezoidal rule from 0 to the knot x = m step, which is exact for the piecewise-linear law.
        return x * x * (n["k1"] / 2 + n["k3"] * (x * x + step * step) / 4)

    energy = area(low) + 0.5 * (cubic(low) + table) * (d - low)
    # Only one of the stops can be in contact, since max_length is above min_length.
    short, long = n["min_length"] - length, length - n["max_length"]
    stop, stop_energy = _ramp(ca.fmax(short, long), n["stop_depth"], n["stop_force"])
    stop = ca.if_else(short > long, stop, -stop)
    return n["preload"] - table + stop, energy - n["preload"] * d + stop_energy


def shock_force(length: SX, rate: SX, n: dict[str, SX]) -> SX:
    """Shock force [N] at that length [m] and rate [m/s].

    The coefficient is that of rebound or compression, by the sign of the rate; outside mid-stroke another pair is used.
    """
    inside = ca.logic_and(length >= n["shock_min"], length <= n["shock_max"])
    rebound = ca.if_else(inside, n["rebound"], n["bump_rebound"])
    compression = ca.if_else(inside, n["compression"], n["bump_compression"])
    return -rebound * ca.fmax(rate, 0.0) - compression * ca.fmin(rate, 0.0)


def hard_contact(depth: SX, speed: SX, stiffness: SX, damping: SX) -> SX:
    """Force [N] >= 0 of a stiff damped contact, pressed in by ``depth`` [m] at ``speed`` [m/s]; zero if depth <= 0.

    It is a spring and a damper in parallel that cannot pull. The damping increases over the first `ONSET` of depth, so
    that the force starts from zero at any speed, which that of a plain pair does not. (Hunt and Crossley 1975, J. Appl.
    Mech. 42, 440, let the damping grow with the depth without limit, which is unstable in an explicit step.) The
    contact does not generate energy: the damper only dissipates, and if the force is cut off at zero the spring
    releases less than it stored.
    """
    pressed = ca.fmax(depth, 0.0)
    return ca.fmax(stiffness * pressed + damping * ca.fmin(pressed * (1.0 / ONSET), 1.0) * speed, 0.0)


def shock_ends(length: SX, rate: SX, n: dict[str, SX]) -> tuple[SX, SX]:
    """(force [N], stored energy [J]) of the metal contact in the fully closed or fully extended shock."""
    short, long = n["shock_closed"] - length, length - n["shock_extended"]
    closing = short > long  # Only one end can be in contact, since extended_length is above closed_length.
    depth = ca.fmax(short, long)
    force = hard_contact(depth, ca.if_else(closing, -rate, rate), n["end_stiffness"], n["end_damping"])
    pressed = ca.fmax(depth, 0.0)
    return ca.if_else(closing, force, -force), 0.5 * n["end_stiffness"] * pressed * pressed
