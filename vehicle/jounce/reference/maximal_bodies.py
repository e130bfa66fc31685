"""Bodies of vehicles in maximal coordinates: what a mechanism's records say, on the left or mirrored to the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.mechanism import Mechanism

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """A mechanism on the chassis, its state and loads."""

    mechanism: Mechanism
    """With numbers; the left side or a whole axle."""
    theta: Array
    """(n,) independent coordinates; `rate` their rates."""
    rate: Array
    spin: Array
    """(wheels,) spin rates relative to the carrier [rad/s]."""
    told: Array
    """(12 prescribed points,) place, velocity per unit of steering, velocity, acceleration; chassis axes."""
    side: int = 1
    """-1: the mirror image on the right."""
    push: Mapping[tuple[str, int], float] = field(default_factory=dict)
    """(kind, wheel) of a force element -> force that pushes its ends apart [N]."""
    force: Array = field(default_factory=lambda: np.zeros((2, 3)))
    """(wheels, 3) at the wheel centres, chassis axes [N]; `moment` on the wheels [N m]."""
    moment: Array = field(default_factory=lambda: np.zeros((2, 3)))
    drive: Array = field(default_factory=lambda: np.zeros(2))
    """(wheels,) about the spin axis, reacts on the chassis; `brake` reacts on the carrier [N m]."""
    brake: Array = field(default_factory=lambda: np.zeros(2))
    propeller: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) moment on the first body, reacts on the chassis; chassis axes [N m]."""


@dataclass(frozen=True)
class Chassis:
    """The chassis: its data, and its motion in chassis axes."""

    mass: float
    com: Array
    inertia: Array
    """(3, 3) about the centre of mass [kg m2]."""
    omega: Array
    """Angular velocity [rad/s]."""
    gravity: Array
    """(3,) acceleration of free fall [m/s2]."""


@dataclass
class Solid:
    """A rigid body, in the design position and now."""

    mass: float
    com: Array
    """(3,) centre of mass in the design position [m]."""
    inertia: Array
    """(3, 3) about it, in the design position [kg m2]."""
    rotation: Array = field(default_factory=lambda: np.eye(3))
    place: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) of the centre of mass, now [m]."""


class System:
    """All bodies, in chassis axes; body 0 is the chassis, which stays where it is."""

    def __init__(self, chassis: Chassis, parts: Sequence[Part]) -> None:
        """All of them in the design position."""
        self.parts = parts
        self.solids = [Solid(chassis.mass, np.asarray(chassis.com), np.asarray(chassis.inertia))]
        self.index: dict[tuple[int, str], int] = {}
        self.rotors = [(k, w.name) for k, part in enumerate(parts) for w in part.mechanism.wheels]
        for k, part in enumerate(parts):
            self._add(k, part)
        for solid in self.solids:
            solid.place = solid.com.copy()
        self.size = 6 * len(self.solids) + len(self.rotors)

    def _add(self, k: int, part: Part) -> None:
        m = part.mechanism
        self.index[k, "chassis"] = 0

        def point(value: Any) -> Array:
            return mirrored_point(value, part.side)

        def add(name: str, mass: object, com: Array, inertia: Array) -> None:
            self.index[k, name] = len(self.solids)
            self.solids.append(Solid(0.0 if mass is None else float(array(mass)[0]), com, inertia))

        for body in m.bodies:
            if body.mass is None:
                add(body.name, 0.0, np.zeros(3), np.zeros((3, 3)))
            else:
                add(body.name, body.mass, point(body.com), mirrored_inertia(body.inertia, part.side))
        for wheel in m.wheels:
            axis, along, across = unit(mirrored_axis(wheel.axis, part.side)), float(wheel.along), float(wheel.across)
            add(wheel.name, wheel.mass, point(wheel.centre), round_inertia(axis, across, along))
        for rod in m.rods:
            if rod.compliant and rod.mass is not None:
                raise NotImplementedError(f"rod {rod.name!r} is compliant and has a mass")
            if not rod.compliant:
                a, b = point(rod.a.point), point(rod.b.point)
                across = 0.0 if rod.across is None else float(rod.across)
                add(rod.name, rod.mass, (a + b) / 2, round_inertia(unit(a - b), across, 0.0))
        for t in m.tubes:
            foot, top = point(t.lower.point), point(t.upper.point)
            axis = unit(top - foot)
            add(f"{t.name} lower", t.lower_mass, foot + float(t.lower_com) * axis,
                round_inertia(axis, float(t.lower_across), float(t.lower_along)))  # fmt: skip
            add(f"{t.name} upper", t.upper_mass, top - float(t.upper_com) * axis,
                round_inertia(axis, float(t.upper_across), float(t.upper_along)))  # fmt: skip

    def arm(self, i: int, point: Array) -> Array:
        """From body i's centre of mass to its point of the design position."""
        return np.asarray(self.solids[i].rotation @ (point - self.solids[i].com))

    def at(self, i: int, point: Array) -> Array:
        """Where that point is now."""
        return np.asarray(self.solids[i].place + self.arm(i, point))

    def way(self, i: int, axis: Array) -> Array:
        """A direction of body i now."""
        return np.asarray(self.solids[i].rotation @ axis)


def array(value: Any) -> Array:
    """Numbers of a record, (n,)."""
    if isinstance(value, ca.SX):
        value = ca.evalf(value)
    return np.atleast_1d(np.array(value, dtype=float)).ravel()


def mirrored_point(value: Any, side: int) -> Array:
    """(3,) point on that side: 1 as it is, -1 mirrored to the right."""
    return array(value) * [1.0, side, 1.0]


def mirrored_axis(value: Any, side: int) -> Array:
    """(3,) axis of a turn on that side: a mirror turns it against the mirrored vector."""
    return side * array(value) * [1.0, side, 1.0]


def mirrored_inertia(value: Any, side: int) -> Array:
    """(3, 3) from xx, yy, zz and, where they are given, xy, xz, yz [kg m2]."""
    xx, yy, zz, xy, xz, yz = np.concatenate([array(value), np.zeros(3)])[:6]
    return np.array([[xx, side * xy, xz], [side * xy, yy, side * yz], [xz, side * yz, zz]])


def round_inertia(axis: Array, across: float, along: float) -> Array:
    """(3, 3) of a body that is round about a unit axis [kg m2]."""
    return np.asarray(across * np.eye(3) + (along - across) * np.outer(axis, axis))


def unit(v: Array) -> Array:
    """The unit vector along v."""
    return np.asarray(v / np.linalg.norm(v))
