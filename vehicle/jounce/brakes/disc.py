"""Disc brake of one wheel: friction that holds at rest, without creep and without chatter."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.contact.bristle import bristle
from jounce.math.algebra import SX

__all__ = ["PARAMETERS", "brake", "function"]

SETTLES = 1.0
"""Spin rate over the one in which a disc winds up within 1 / rate_limit, from which on it settles: slower, it may be
that of a vehicle that is shaken."""
LEAST_CAPACITY = 1e-9
"""Keeps the division regular where a vehicle has no brakes [N.m]."""

#: Names of the vehicle data that `brake` reads.
PARAMETERS = (
    "brake.capacity",
    "brake.deflection",
    "brake.damping",
    "brake.spin_limit",
    "brake.release_torque",
    "brake.release_rate",
)


def brake(omega: SX, torque: SX, phi: SX, par: Mapping[str, SX], *,
          settles: float | None = None) -> tuple[SX, SX]:  # fmt: skip
    """(torque on the wheel [N.m] about the spin axis, rate of phi [rad/s]).

    Pads and disc wind up by phi before they slide; the brake is a damped torsion spring in that range and gives
    -torque sign(omega) in steady sliding. The spring is the same at every torque, brake.capacity over
    brake.deflection, and the limit moves: a torque that swings neither pumps nor walks. The magnitude never exceeds
    `torque`.

    Args:
        omega: spin rate of the wheel against its upright [rad/s], rolling forward positive.
        torque: friction torque asked of the calipers [N.m]; they give 0 to brake.capacity.
        phi: elastic wind-up of pads and disc [rad], the brake's state.
        par: numbers of PARAMETERS: largest torque [N.m], wind-up at slip under it [rad], damping at rest over the
            stiffness times that wind-up [s/rad], spin rate [rad/s] above which the state's eigenvalue is limited,
            torque below which the brake is released [N.m] and the rate at which the wind-up then fades [1/s].
        settles: as of `bristle`, from which spin rate steps of 1 ms resolve a torque that grows.

    Source: see `jounce.contact.bristle`.
    """
    capacity, full = par["brake.capacity"], par["brake.deflection"]
    asked = ca.fmax(ca.fmin(torque, capacity), 0.0)
    spring = bristle(
        phi,
        omega,
        limit=asked * (full / ca.fmax(capacity, LEAST_CAPACITY)),
        damping=par["brake.damping"] * full,
        rate_limit=par["brake.spin_limit"] / full,
        settles=settles,
    )
    released = torque < par["brake.release_torque"]
    moment = -(capacity / full) * spring.stretch
    return moment, ca.if_else(released, -par["brake.release_rate"] * phi, spring.rate)


def function() -> ca.Function:
    """disc(omega, torque, phi, numbers of PARAMETERS) -> [torque on the wheel, rate of phi], as `brake`."""
    omega, torque, phi, numbers = SX.sym("w"), SX.sym("t"), SX.sym("x"), SX.sym("n", len(PARAMETERS))
    out = brake(omega, torque, phi, dict(zip(PARAMETERS, ca.vertsplit(numbers), strict=True)), settles=SETTLES)
    return ca.Function("disc", [omega, torque, phi, numbers], [ca.cse(ca.vertcat(*out))])
