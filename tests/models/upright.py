"""An upright held by its joints, by hand: rods of fixed length and, for a strut, a line that slides through a point.

In numbers alone, from the points of the data file: nothing of the product's kinematics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle

Array = NDArray[np.float64]
FIVE = ("UPPER_F", "UPPER_B", "LATERAL", "TRAILING", "TIEROD")


def turned(angles: Array) -> Array:
    """(3, 3) rotation by a vector whose length is the angle (Rodrigues)."""
    angle = float(np.linalg.norm(angles))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = angles / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


@dataclass(frozen=True)
class Upright:
    """Points of the left side in the suspension frame."""

    centre: Array
    """Of the wheel."""
    rods: tuple[tuple[Array, Array], ...]
    """(on the chassis, on the upright)"""
    spring: tuple[Array, Array]
    """The same of the spring."""
    rate: float
    preload: float
    rest_length: float
    strut: bool = False
    """The spring stands on the upright and its line goes through the point on the chassis."""

    def missing(self, pose: Array, travel: float) -> Array:
        """(6,) for a pose of turn and shift."""
        r, t = turned(pose[:3]), pose[3:]
        out = [np.linalg.norm(self.at(r, t, b) - a) - np.linalg.norm(b - a) for a, b in self.rods]
        if self.strut:
            top, foot = self.spring
            along = r @ (top - foot)
            out += list(np.cross(along, top - self.at(r, t, foot))[:2])
        return np.array([*out, self.at(r, t, self.centre)[2] - self.centre[2] - travel])

    @staticmethod
    def at(r: Array, t: Array, point: Array) -> Array:
        return np.asarray(r @ point + t)

    def pose(self, travel: float) -> Array:
        """At that height of the wheel centre above its design height, by Newton's method with difference quotients."""
        pose = np.zeros(6)
        for _ in range(12):
            off = self.missing(pose, travel)
            slope = np.array([(self.missing(pose + h, travel) - self.missing(pose - h, travel)) / 2e-6
                              for h in 1e-6 * np.eye(6)]).T  # fmt: skip
            pose = pose - np.linalg.solve(slope, off)
        assert np.abs(self.missing(pose, travel)).max() < 1e-12
        return pose

    def rising(self, travel: float) -> tuple[Array, Array, Array]:
        """(way of the wheel centre, turn of the upright, spin axis) per metre that the centre rises, chassis axes."""
        low, here, high = (self.pose(travel + h) for h in (-1e-4, 0.0, 1e-4))
        turn = turned(high[:3]) @ turned(low[:3]).T / 2e-4
        way = (self.at(turned(high[:3]), high[3:], self.centre) - self.at(turned(low[:3]), low[3:], self.centre)) / 2e-4
        half = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        return np.asarray(way), half, turned(here[:3]) @ np.array([0.0, 1.0, 0.0])

    def force(self, travel: float) -> float:
        """Vertical force at the wheel that the spring balances between its stops [N]."""
        lengths = []
        for h in (-1e-4, 0.0, 1e-4):
            p = self.pose(travel + h)
            lengths.append(np.linalg.norm(self.at(turned(p[:3]), p[3:], self.spring[1]) - self.spring[0]))
        push = self.preload - self.rate * (lengths[1] - self.rest_length)
        return float(-push * (lengths[2] - lengths[0]) / 2e-4)


def of(vehicle: Vehicle, axle: str) -> Upright:
    """The left upright of an axle of five links or of a strut."""

    def point(name: str) -> Array:
        return vehicle.vector(f"{axle}.{name}")

    strut = f"{axle}.STRUT_C.x" in vehicle.entries
    if strut:
        ends = (("LCA_F", "LCA_U"), ("LCA_B", "LCA_U"), ("TIEROD_C", "TIEROD_U"))
        rods = tuple((point(a), point(b)) for a, b in ends)
    else:
        rods = tuple((point(f"{name}_C"), point(f"{name}_U")) for name in FIVE)
    spring = (point("STRUT_C"), point("STRUT_U")) if strut else (point("SPRING_C"), point("SPRING_A"))
    numbers = (vehicle[f"{axle}.spring.{n}"] for n in ("k1", "preload", "rest_length"))
    return Upright(point("SPINDLE"), rods, spring, *numbers, strut)
