"""The contact of a tire near standstill: bristles that hold at rest, and follow the curves of the tire when rolling.

See `jounce.contact.tires.tmeasy` for their meaning and `jounce.contact.bristle` for their law.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import casadi as ca

from jounce.contact.bristle import LEAST, bristle
from jounce.math.algebra import SX, dot
from jounce.math.layout import Layout

__all__ = ["RATE_LIMIT", "SOFT", "STATES", "Hold", "Motion", "Standstill", "rolled_on", "standstill"]

#: States of one tire: deflection of the tread [m] along x and y of the contact frame, elastic part of the rolling and
#: of the turning [rad], distance that the wheel has rolled over the tread on the ground [m], share (0 to 1) in which
#: the contact slides, so that friction is that of sliding.
STATES = Layout(bristle=2, rolled=1, turned=1, travelled=1, sliding=1)

#: Numerical safeguards and choices, not properties of the tire.
RATE_LIMIT: Final = 500.0
"""Half the largest eigenvalue of the bristle states [1/s]: what a 1 ms step resolves."""
ROLLING_DAMPING: Final = 0.3
"""Damping over stiffness of the rolling resistance at rest [s]: a vehicle that has coasted to rest does not swing."""
SLIDING_SPEED: Final = 0.2
"""Speed [m/s] above which a contact counts as sliding, not yielding."""
SLIDING_RATE: Final = 50.0
"""Rate [1/s] at which friction changes between break-away and sliding."""
SOFT: Final = 1.0
"""Least stiffness of the tread [N/m], and least force over slip that it relaxes by [N]."""
NARROW: Final = 1e-3
"""Smallest length of the contact [m]."""


@dataclass(frozen=True)
class Motion:
    """Motion of the contact."""

    sliding: SX
    """Velocity of the contact point (2) [m/s], less what rolls."""
    spin: SX
    """Angular velocity of the wheel about y of the contact frame [rad/s]."""
    rolling: SX
    """Spin rate in the contact frame [rad/s]."""
    turn: SX
    """Angular velocity of the wheel about the normal [rad/s]."""
    yaw: SX
    """Angular velocity of the contact frame about the normal [rad/s]."""


@dataclass(frozen=True)
class Hold:
    """Load, size and limits of the contact."""

    friction: SX
    """Force at break-away [N]."""
    load: SX
    """Vertical force [N]."""
    length: SX
    """Length of the contact [m]."""
    trail: SX
    """Pneumatic trail of a contact that rolls without slip [m]."""
    radius: SX
    """Rolling radius [m]."""
    slope_x: SX
    """Force over slip of the curve at the present slip, along x [N]."""
    slope_y: SX
    """The same along y [N]."""
    sliding: SX
    """Force of full sliding [N]."""
    tread: SX | None = None
    """Force at break-away in the direction in which the tread is bent [N], >= 0; None: `friction` in all."""


@dataclass(frozen=True)
class Standstill:
    """Forces of the contact and rates of its states."""

    rates: SX
    """Rates of the STATES (5)."""
    force: SX
    """Force of the tread (2) [N], against the sliding velocity."""
    resistance: SX
    """Moment of the rolling resistance [N.m], against the spin."""
    bore: SX
    """Bore torque [N.m], against the turning."""
    lever: SX
    """How far the tread's force acts behind the contact point [m]."""
    energy: SX
    """Elastic energy [J]."""


def rolled_on(travelled: SX, trail: SX) -> SX:
    """0 to 1: how far a contact of this trail [m] has begun to roll on; 0 up to half of it."""
    return ca.fmax(ca.fmin(2.0 * ca.fabs(travelled) / (ca.fmax(trail, 0.0) + NARROW) - 1.0, 1.0), 0.0)


def standstill(state: dict[str, SX], motion: Motion, hold: Hold, par: Mapping[str, SX]) -> Standstill:
    """The bristles of one contact; `state` holds the parts of STATES, `par` the numbers of the tire.

    The tread breaks away at the friction force and relaxes to the force of the curve where the contact rolls on, by
    more than the pneumatic trail: one that rocks only bends. The tread that lies on the ground stays where it is: the
    wheel rolls away from it and turns about it, so that the force acts a lever behind the contact point, which is the
    distance rolled and ends at the trail. The deflection of a tread that sticks is then a function of the wheel's pose,
    and a wheel that rolls and is steered in loops comes back to it. Where it slides on, the limit falls to that of
    sliding, by a lag of first order (SLIDING_RATE) on the speed at which it yields. The bore torque reaches friction
    times R_B = 2/3 R_P, R_P = (L/2 + B/2) / 2 for a contact of length L and width B; a contact that rolls on by L/2, or
    slides by R_B psi, forgets a turn psi.

    Source: G. Rill, "Road Vehicle Dynamics: Fundamentals and Modeling", ch. 3 (bore torque and bore radius; first-order
    tire forces, whose relaxation is stiffness times transport velocity over F(s) / s).
    """
    radius, width, pn = par["unloaded_radius"], par["width"], par["nominal_load"]
    stiffness = ca.fmax(par["tread_stiffness"], SOFT)
    damping = ca.fmax(par["tread_damping"] / stiffness, 1.0 / RATE_LIMIT)

    give = par["rolling_deflection"] / radius
    rolled_limit = hold.load * (give / pn)
    rolling = bristle(state["rolled"], motion.spin, limit=rolled_limit, damping=SX(ROLLING_DAMPING),
                      rate_limit=RATE_LIMIT)  # fmt: skip
    length = hold.length + NARROW
    lever = state["travelled"]
    passing = bristle(lever, hold.radius * motion.rolling, limit=ca.fmax(hold.trail, 0.0) + NARROW,
                      damping=SX(1.0 / RATE_LIMIT), rate_limit=RATE_LIMIT)  # fmt: skip
    travel = passing.slip

    slid = ca.fmax(ca.fmin(state["sliding"], 1.0), 0.0)  # an implicit step may end beyond
    friction = hold.friction if hold.tread is None else hold.tread
    held = friction + slid * ca.fmin(hold.sliding - friction, 0.0)
    slope_x, slope_y = ca.fmax(hold.slope_x, SOFT), ca.fmax(hold.slope_y, SOFT)
    relaxation = stiffness * travel / (slope_x * slope_y) * ca.vertcat(slope_y, slope_x)
    moved = motion.sliding - ca.vertcat(0.0, lever * motion.yaw)
    tread = bristle(state["bristle"], moved, limit=held / stiffness, damping=damping, rate_limit=RATE_LIMIT,
                    relaxation=relaxation)  # fmt: skip
    # The part that sticks to the ground does not rotate with the contact frame.
    turned = ca.vertcat(state["bristle"][1], -state["bristle"][0]) * motion.yaw
    slides = ca.fmin((tread.slip / SLIDING_SPEED) ** 2, 1.0) - state["sliding"]

    vertical = ca.fmax(par["vertical_stiffness"], SOFT)
    nominal = par["nominal_friction"] * pn * (2.0 * ca.sqrt(radius * pn / vertical) + width)
    twist = nominal / 6.0 / par["bore_deflection"]
    bore_radius = (length + width) / 6.0
    turned_limit = hold.friction * bore_radius / twist
    passed = passing.rate - ca.fmin(2.0 * tread.slip / length, RATE_LIMIT) * lever  # what has slid lies anywhere
    forgets = 2.0 * travel / length + tread.slip / (bore_radius * ca.fmax(turned_limit, LEAST))
    turning = bristle(state["turned"], motion.turn, limit=turned_limit, damping=damping, rate_limit=RATE_LIMIT,
                      relaxation=forgets)  # fmt: skip

    resisting = par["rolling_resistance"] * pn * radius / give
    energy = stiffness * dot(state["bristle"], state["bristle"])
    energy += resisting * state["rolled"] ** 2 + twist * state["turned"] ** 2
    return Standstill(
        rates=STATES.join(bristle=tread.rate + turned, rolled=rolling.rate, turned=turning.rate, travelled=passed,
                          sliding=SLIDING_RATE * slides),
        force=stiffness * tread.stretch,
        resistance=resisting * rolling.stretch,
        bore=twist * turning.stretch,
        lever=lever,
        energy=0.5 * energy,
    )
