"""A rack: both inner tierod ends (or the draglink's) move along chassis y, in proportion to the steering coordinate.

It has the outputs of `jounce.steering.pitman`, so that all that follows is the same: the rack's travel takes the place
of the arm's end, the link has no length, and an end follows y alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.math.algebra import SX
from jounce.math.layout import Layout
from jounce.steering.pitman import INNER_NUMBERS, LINK

#: Travel of the rack per unit of the steering coordinate [m/rad]; positive moves it to the left.
NUMBERS = Layout(gain=1)


def numbers(p: Mapping[str, SX]) -> SX:
    """The vector NUMBERS, from the vehicle data."""
    return NUMBERS.join(gain=p["steering.rack_gain"])


def inner_numbers(end: SX, gain: SX | float) -> SX:
    """The vector INNER_NUMBERS of an end that stands at ``end`` [m, chassis axes] with the rack in its middle.

    ``gain`` is that of the axle: 1 follows the rack, 0 is fixed, -1 steers against it.
    """
    return INNER_NUMBERS.join(origin=end, follows=ca.vertcat(0, gain, 0), along=0, across=0)


def link_motion(angle: SX, rate: SX, acceleration: SX, n: dict[str, SX]) -> SX:
    """The vector LINK for the steering coordinate [rad], positive for steering left."""

    def travel(of: SX | float) -> SX:
        return ca.vertcat(0, n["gain"] * of)

    still = SX(2, 1)
    return LINK.join(
        arm=travel(angle), link=still, arm_partial=travel(1.0), link_partial=still, arm_velocity=travel(rate),
        link_velocity=still, arm_acceleration=travel(acceleration), link_acceleration=still, discriminant=1,
    )  # fmt: skip


def function() -> ca.Function:
    """rack([steering coordinate, rate, acceleration], NUMBERS) -> LINK."""
    steering, given = SX.sym("s", 3), SX.sym("n", NUMBERS.size)
    out = link_motion(steering[0], steering[1], steering[2], NUMBERS.split(given))
    return ca.Function("rack", [steering, given], [ca.cse(ca.densify(out))])
