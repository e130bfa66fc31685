"""Disc brake of one wheel: friction that holds at rest, without creep and without chatter."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.symbolic.algebra import SX
from jounce.symbolic.bristle import bristle

__all__ = ["PARAMETERS", "brake"]

#: Names of the vehicle data that `brake` reads.
PARAMETERS = (
    "brake.deflection",
    "brake.damping",
    "brake.spin_limit",
    "brake.release_torque",
    "brake.release_rate",
)


def brake(omega: SX, torque: SX, phi: SX, par: Mapping[str, SX]) -> tuple[SX, SX]:
    """(torque on the wheel [N.m] about the spin axis, rate of phi [rad/s]).

    Pads and disc wind up by phi before they slide; the brake is a stiff damped torsion spring in that range
    and gives -torque sign(omega) in steady sliding. The magnitude never exceeds `torque`.

    Args:
        omega: spin rate of the wheel against its upright [rad/s], rolling forward positive.
        torque: friction torque the calipers can give now [N.m], >= 0 (input x brake.capacity).
        phi: elastic wind-up of pads and disc [rad], the brake's state.
        par: numbers of PARAMETERS: wind-up at slip [rad], damping at rest [s/rad], spin rate [rad/s] above
            which the state's eigenvalue is limited, torque below which the brake is released [N.m] and the
            rate at which the wind-up then fades [1/s].

    Source: see `jounce.symbolic.bristle`.
    """
    limit = par["brake.deflection"]
    stiffness = 1.0 / limit
    rate, traction = bristle(
        deflection=phi,
        sliding=omega,
        relaxation=stiffness * ca.fabs(omega),
        stiffness=stiffness,
        damping=par["brake.damping"],
        rate_limit=par["brake.spin_limit"] * stiffness,
    )
    released = torque < par["brake.release_torque"]
    capacity = ca.fmax(torque, 0.0)
    moment = -capacity * ca.fmax(ca.fmin(traction, 1.0), -1.0)
    return moment, ca.if_else(released, -par["brake.release_rate"] * phi, rate)
