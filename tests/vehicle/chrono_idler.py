"""The couple that Project Chrono's idler puts on the chassis without a reaction.

The Pitman steering's idler is a ChLinkRevoluteSpherical: a massless rod from the pin R on the chassis (axis z of
the steering frame) to the ball S on the link. One of its two constraints is phi = z . (S - R) = 0, with the idler's
force along z as multiplier. A turn of the chassis changes phi by z x (S - c) per radian, c being the chassis's
centre of mass. ChLinkRevoluteSpherical.cpp (`Update`, `Phi_pi1` of the dot constraint, the same in every version
looked at) uses z x (R - c) - u x (R - c) instead, u = unit(S - R). The multiplier times the difference is a couple
on the chassis alone: an external moment, as far as the balance of the vehicle goes.

Everything here follows from the vehicle data; nothing is fitted. See docs/decisions/0001-chrono-drift.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle
from jounce.models.double_wishbone import composition as vehicle
from jounce.reference.kkt_steering import turn

Array = NDArray[np.float64]
STATES, REPORTS = vehicle.STATES.first, vehicle.REPORTS.first


def cross(a: Array, b: Array) -> Array:
    """Of two vectors; np.cross takes ten times as long."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


class ChronoIdler:
    """The idler of one vehicle, for arm and idler of equal length: the link then moves without turning."""

    def __init__(self, data: Vehicle) -> None:
        frame = turn(np.array([0.0, 1.0, 0.0]), data["steering.tilt"])
        origin = data.vector("steering.origin")

        def place(name: str) -> Array:
            return np.asarray(origin + frame @ data.vector(f"steering.{name}"))

        self.along, self.axis = frame[:, 0], frame[:, 2]
        self.pin, self.arm = place("REVSPH_R"), place("UNIV") - place("REV")
        assert np.allclose(place("REVSPH_S") - self.pin, self.arm)
        left = data.vector("front.origin") + data.vector("front.TIEROD_C")
        self.joint, self.ball, self.link = (place(n) for n in ("UNIV", "REVSPH_S", "STEERINGLINK"))
        self.ends = (left, left * [1.0, -1.0, 1.0])
        self.mass, self.com = data["steering.link.mass"], data.vector("chassis.com")

    def force(self, tierods: tuple[Array, Array], alpha: Array, lift: Array) -> float:
        """The idler's force on the link along the pin's axis [N].

        The universal joint of the Pitman arm leaves the link free to turn about its own x axis through that joint:
        the moments of tierods, idler and weight about it vanish. tierods [N]; alpha [rad/s2] of the chassis; lift
        [m/s2]: acceleration less gravity of its origin. The link's mass rides on the chassis, as in the model.
        """
        weight = -self.mass * (lift + cross(alpha, self.link))
        moment = cross(self.link - self.joint, weight)
        for end, pull in zip(self.ends, tierods, strict=True):
            moment += cross(end - self.joint, pull)
        return float(-(moment @ self.along) / (cross(self.ball - self.joint, self.axis) @ self.along))

    def rows(self, angle: float) -> tuple[Array, Array]:
        """(what a turn of the chassis changes phi by, what Chrono takes for it) at a Pitman-arm angle."""
        rod = turn(self.axis, -angle) @ self.arm
        pin, u = self.pin - self.com, rod / np.linalg.norm(rod)
        return cross(self.axis, pin + rod), cross(self.axis, pin) - cross(u, pin)

    def couple(self, angle: float, state: Array, rate: Array, reports: Array) -> Array:
        """[moment; force] on the chassis, chassis axes, from what `vehicle.right_hand_side` gave."""

        def part(v: Array, name: str) -> Array:
            return v[STATES[name] : STATES[name] + 3]

        w, x, y, z = state[3:7]
        up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
        lift = part(rate, "linear") + cross(part(state, "angular"), part(state, "linear")) + 9.81 * up
        pulls = reports[REPORTS["tierod"] : REPORTS["tierod"] + 3]
        force = self.force((pulls[:, 0], pulls[:, 1]), part(rate, "angular"), lift)
        true, taken = self.rows(angle)
        return np.concatenate([force * (taken - true), np.zeros(3)])
