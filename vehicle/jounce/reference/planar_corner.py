"""Applies the planar loops of `planar` to vehicle data: motions of all bodies of a corner, and the Pitman steering.

As in Jain 2016, section 4.1, the tree is chassis-A-D-F, A-B and E-K, and the loops are cut at G, J and L. The motion of
the bodies follows the tree with the coordinates, X and X-dot theta-dot of `planar`. The closure of the loops is not
imposed, so it can be checked. Vectors are in chassis axes; angles are measured from the design position, jounce
positive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.axles import AXLES
from jounce.data import Vehicle
from jounce.reference.kkt_geometry import design
from jounce.reference.kkt_steering import turn
from jounce.reference.planar import FourBar, ShockLoop, Spindle

__all__ = ["Body", "Linkage", "PlanarCorner", "PointMotion", "corner", "linkage", "projected", "steering"]

Array = NDArray[np.float64]
#: (position, velocity, acceleration) of a point, each (3,).
PointMotion = tuple[Array, Array, Array]

_X = np.array([1.0, 0.0, 0.0])
#: Largest sine of the angle between parallel hinge axes, and largest offset [m] along them that counts as zero.
_PARALLEL = 1e-12


@dataclass(frozen=True)
class Body:
    """Motion of one rigid body relative to the chassis."""

    turned: Array
    """(3, 3) rotation from the design position"""
    angular: Array
    """(3,) angular velocity [rad/s]"""
    angular_rate: Array
    """(3,) angular acceleration [rad/s2]"""
    point: Array
    """(3,) a point of the body in the design position [m]"""
    now: PointMotion
    """the motion of that point"""

    def at(self, point: Array) -> PointMotion:
        """Motion of the point of the body that is at `point` (3,) [m] in the design position."""
        return self.seen(self.now[0] + self.turned @ (point - self.point))

    def seen(self, place: Array) -> PointMotion:
        """Motion of the point of the body that is at `place` (3,) [m] now."""
        arm = place - self.now[0]
        swing = np.cross(self.angular, arm)
        acceleration = self.now[2] + np.cross(self.angular_rate, arm) + np.cross(self.angular, swing)
        return place, self.now[1] + swing, acceleration

    def child(self, axis: Array, pivot: Array, angle: float, rate: float, acceleration: float) -> Body:
        """A body on a hinge of this one: `axis` (3,) as it stands now, through `pivot` (3,) of the design position."""
        return Body(
            turn(axis, angle) @ self.turned,
            self.angular + axis * rate,
            self.angular_rate + axis * acceleration + np.cross(self.angular, axis) * rate,
            pivot,
            self.at(pivot),
        )


_STILL = np.zeros(3)
_CHASSIS = Body(np.eye(3), _STILL, _STILL, _STILL, (_STILL, _STILL, _STILL))


@dataclass(frozen=True)
class Linkage:
    """A four-bar placed in space: arm A-D, coupler D-F, arm F-G, turning about one axis."""

    loop: FourBar
    axis: Array
    """(3,) unit hinge axis"""
    points: Mapping[str, Array]
    """A, D, F, G in the design position [m]"""
    start: float
    """theta of the design position"""

    def bodies(self, angle: float, rate: float, acceleration: float = 0.0) -> tuple[Body, Body, Body]:
        """(arm A-D, coupler D-F, arm F-G) for the motion of the arm A-D; along the tree A-D-F.

        Raises ArithmeticError where the loop does not close.
        """
        theta = self.start + angle
        moved = self.loop.coordinates(theta) - self.loop.coordinates(self.start)
        x = self.loop.x_column(theta)
        second = x * acceleration + self.loop.velocity_product(theta, rate)
        lower = _CHASSIS.child(self.axis, self.points["A"], angle, rate, acceleration)
        coupler = lower.child(self.axis, self.points["D"], moved[0], x[0] * rate, second[0])
        return lower, coupler, coupler.child(self.axis, self.points["F"], moved[1], x[1] * rate, second[1])


def linkage(points: Mapping[str, Array], axis: Array) -> Linkage:
    """The four-bar of A, D, F, G (3,) [m] about the unit hinge axis; offsets along the axis do not matter."""
    plane = _plane(points["G"], points["A"], axis)
    a, b, c, d = (_complex(points[j] - points[i], plane) for i, j in (("G", "A"), ("A", "D"), ("F", "D"), ("G", "F")))
    branch = float(np.sign(np.angle(d / (a + b))))
    return Linkage(FourBar(abs(a), abs(b), abs(c), abs(d), branch), axis, dict(points), float(np.angle(b)))


@dataclass(frozen=True)
class PlanarCorner:
    """One planar double wishbone with its spindle loop; `corner` makes it from vehicle data."""

    arms: Linkage
    shock: ShockLoop
    spring: ShockLoop
    spindle: Spindle
    frame: Array
    """(3, 3) axes of the vertical arm frame in the design position, as columns"""
    near: Array
    """(3,) E: the point of D-F next to the wheel centre, design position [m]"""
    points: Mapping[str, Array]
    """hardpoints (3,) [m] by the names of the vehicle data, design position"""

    def theta(self, angle: float) -> float:
        """The paper's theta."""
        return self.arms.start + angle

    def bodies(self, angle: float, rate: float, end: PointMotion) -> dict[str, Body]:
        """Motions of the bodies (by `kkt_geometry.CORNER_BODIES`, and "DF") at zero acceleration of the lower arm.

        `end` is the motion of the inner tierod end. Raises ArithmeticError where a loop does not close.
        """
        lower, upright, upper = self.arms.bodies(angle, rate)
        spindle, rod = self._steered(upright, end)
        theta, p, axis = self.theta(angle), self.points, self.arms.axis
        moved = self.shock.coordinates(theta) - self.shock.coordinates(self.arms.start)
        x, second = self.shock.x_column(theta), self.shock.velocity_product(theta, rate)
        low = lower.child(axis, p["SHOCK_A"], moved[0], x[0] * rate, second[0])
        top = p["SHOCK_C"]
        high = Body(low.turned, low.angular, low.angular_rate, top, (top, _STILL, _STILL))
        return {"LCA": lower, "UCA": upper, "DF": upright, "upright": spindle, "wheel": spindle, "tierod": rod,
                "shock_lower": low, "shock_upper": high}  # fmt: skip

    def _steered(self, upright: Body, end: PointMotion) -> tuple[Body, Body]:
        """(spindle, tierod) of the upright D-F and the motion of L."""
        frame = upright.turned @ self.frame
        el = frame.T @ (end[0] - upright.at(self.near)[0])
        carried = upright.seen(end[0])
        relative = end[1] - carried[1]
        coriolis = 2.0 * np.cross(upright.angular, relative)
        start = self.spindle.coordinates(self.frame.T @ (self.points["TIEROD_C"] - self.near))
        q = self.spindle.coordinates(el)
        rates = self.spindle.rates(q, frame.T @ relative)
        second = self.spindle.accelerations(q, rates, frame.T @ (end[2] - carried[2] - coriolis))
        (alpha, chi, zeta), azimuth = q - start, start[2]
        king, outer = frame[:, 2], self.points["TIEROD_U"]
        spindle = upright.child(king, self.near, alpha, rates[0], second[0])
        swung = spindle.child(king, outer, zeta, rates[2], second[2])
        level = swung.turned @ self.frame @ np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
        return spindle, swung.child(level, outer, chi, rates[1], second[1])


def corner(vehicle: Vehicle, index: int) -> PlanarCorner:
    """The planar corner FL FR RL RR of a vehicle whose arm hinges, shocks and springs lie in planes normal to x.

    Raises ValueError for a spatial linkage (see `projected`).
    """
    parts = design(vehicle).corners[index]
    p, axis = parts.points, parts.lower_axis
    for name, along in (("LCA", axis), ("UCA", parts.upper_axis)):
        if np.linalg.norm(np.cross(_X, along)) > _PARALLEL:
            raise ValueError(f"corner {index}: the hinge {name}_B - {name}_F is not parallel to x; planar form only")
    for name in ("SHOCK", "SPRING"):
        if abs(float((p[f"{name}_C"] - p[f"{name}_A"]) @ _X)) > _PARALLEL:
            raise ValueError(f"corner {index}: {name}_A and {name}_C differ in x; planar form only")
    arms = linkage({"A": p["LCA_F"], "D": p["LCA_U"], "F": p["UCA_U"], "G": p["UCA_F"]}, axis)
    king = _unit(p["UCA_U"] - p["LCA_U"])
    across = _unit(np.cross([0.0, 1.0, 0.0], king))
    frame = np.column_stack([across, np.cross(king, across), king])
    near = p["LCA_U"] + king * (king @ (p["SPINDLE"] - p["LCA_U"]))
    el, ek0 = frame.T @ (p["TIEROD_C"] - near), frame.T @ (p["TIEROD_U"] - near)
    kl = float(np.linalg.norm(el - ek0))
    # Of the two roots, that nearer to alpha = 0, the design position.
    branch = min((1.0, -1.0), key=lambda sign: abs(np.sin(0.5 * Spindle(ek0, kl, sign).coordinates(el)[0])))
    shock, spring = (_shock(p, name, axis) for name in ("SHOCK", "SPRING"))
    return PlanarCorner(arms, shock, spring, Spindle(ek0, kl, branch), frame, near, p)


def projected(vehicle: Vehicle) -> Vehicle:
    """A copy whose arm hinges are parallel to x, through the old hinges' points in the planes of their ball joints.

    The chassis ends of shocks and springs move into the planes of their ends on the arm.
    """
    values: dict[str, float] = {}
    for axle in AXLES:
        for arm in ("LCA", "UCA"):
            front, back, ball = (vehicle.vector(f"{axle}.{arm}_{k}") for k in "FBU")
            hinge = back + (front - back) * (ball[0] - back[0]) / (front[0] - back[0])
            values |= {f"{axle}.{arm}_{end}.{'xyz'[k]}": float(hinge[k]) for end in "FB" for k in (1, 2)}
        for strut in ("SHOCK", "SPRING"):
            values[f"{axle}.{strut}_C.x"] = vehicle[f"{axle}.{strut}_A.x"]
    return vehicle.replaced(values, name=f"{vehicle.name}, planar")


def steering(vehicle: Vehicle) -> Linkage:
    """The Pitman four-bar T-U-V-W (section 5.4 by the equations of section 5.1) as A-D-F-G; left turns are positive.

    Its coupler, the steering link, carries the inner tierod ends.
    """
    frame, origin = turn(np.array([0.0, 1.0, 0.0]), vehicle["steering.tilt"]), vehicle.vector("steering.origin")
    names = {"A": "REV", "D": "UNIV", "F": "REVSPH_S", "G": "REVSPH_R"}
    points = {k: origin + frame @ vehicle.vector(f"steering.{v}") for k, v in names.items()}
    return linkage(points, -frame[:, 2])


def _shock(p: Mapping[str, Array], name: str, axis: Array) -> ShockLoop:
    plane = _plane(p["UCA_F"], p["LCA_F"], axis)
    d, b, j = (_complex(p[k] - p["LCA_F"], plane) for k in ("LCA_U", f"{name}_A", f"{name}_C"))
    return ShockLoop(abs(j), abs(b), float(np.angle(j / 1j)), float(np.angle(b / d)), abs(j - b))


def _plane(start: Array, to: Array, axis: Array) -> tuple[Array, Array]:
    """Real and imaginary axes of the plane normal to `axis`, the real one along `start`-`to`."""
    along = to - start
    real = _unit(along - axis * (axis @ along))
    return real, np.cross(axis, real)


def _complex(v: Array, plane: tuple[Array, Array]) -> complex:
    return complex(float(v @ plane[0]), float(v @ plane[1]))


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))
