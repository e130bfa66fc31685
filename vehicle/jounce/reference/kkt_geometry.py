"""Bodies, poses and loop closure of the maximal-coordinate reference.

Every body's frame has chassis axes in the design position and its origin at its centre of mass. Body 0 is the
chassis (with the steering link and arm as point masses); corner c (FL FR RL RR, or more) owns bodies 1 + 7 c + k, k in
the order of `CORNER_BODIES`. The wheel body holds spindle, wheel and tire.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.axles import corners as corners_of
from jounce.data import Vehicle
from jounce.reference.kkt_steering import InnerEnd, link_point, turn

Array = NDArray[np.float64]

CORNER_BODIES = ("UCA", "LCA", "upright", "wheel", "tierod", "shock_lower", "shock_upper")
#: Number of bodies of a vehicle on two axles.
BODIES = 1 + 4 * len(CORNER_BODIES)
_POINTS = [
    "SPINDLE",
    "UPRIGHT",
    "UCA_F",
    "UCA_B",
    "UCA_U",
    "UCA_CM",
    "LCA_F",
    "LCA_B",
    "LCA_U",
    "LCA_CM",
    "SHOCK_C",
    "SHOCK_A",
    "SPRING_C",
    "SPRING_A",
    "TIEROD_C",
    "TIEROD_U",
]
_LARGEST_STEP = 0.04
_ITERATIONS = 25
_Y = np.array([0.0, 1.0, 0.0])


def body(corner: int, name: str) -> int:
    """Index of a corner's body."""
    return 1 + len(CORNER_BODIES) * corner + CORNER_BODIES.index(name)


def skew(v: Array) -> Array:
    """(3, 3) cross-product matrix of v."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


@dataclass(frozen=True)
class Corner:
    """One corner in the design position, chassis frame."""

    points: dict[str, Array]
    """Hardpoints (3,) [m], already mirrored on the right side."""
    lower_axis: Array
    """Unit vector of the lower arm's axis; positive theta is jounce on both sides."""
    upper_axis: Array
    """Unit vector of the upper arm's axis, same sign rule."""
    gain: float
    """Motion of TIEROD_C over that of a point which rides on the steering link; 0 where it is fixed."""
    shift: Array
    """(3,) from the first steered axle to this one, which has a copy of the linkage there [m]."""


@dataclass(frozen=True)
class Design:
    """The vehicle in the design position, chassis frame."""

    corners: tuple[Corner, ...]
    com: Array
    """(29, 3) centres of mass [m]"""
    mass: Array
    """(29,) [kg]"""
    inertia: Array
    """(29, 3, 3) about the centre of mass, chassis axes at design [kg.m2]"""
    rotor: Array
    """Inertia of each corner's axle shaft, which turns at the wheel's spin rate relative to the upright; 0 where the
    axle is not driven [kg.m2]"""


@dataclass(frozen=True)
class Poses:
    """All bodies relative to the chassis frame, plus the steered inner tierod ends."""

    com: Array
    """(29, 3) [m]"""
    rotation: Array
    """(29, 3, 3) from body to chassis axes"""
    inner: tuple[InnerEnd, ...]
    """Inner tierod ends FL FR RL RR in the chassis frame"""


def design(vehicle: Vehicle) -> Design:
    """Makes the design position from the vehicle data."""
    bodies = 1 + len(CORNER_BODIES) * len(vehicle.wheels)
    com, mass, inertia = np.zeros((bodies, 3)), np.zeros(bodies), np.zeros((bodies, 3, 3))
    com[0], mass[0], inertia[0] = _chassis(vehicle)
    corners = []
    first = next((a.name for a in vehicle.axles if a.steered != "none"), vehicle.axles[0].name)
    for c, (data, side) in enumerate(corners_of(vehicle.axles)):
        axle = data.name
        mirror = np.array([1.0, side, 1.0])
        p = {n: mirror * (vehicle.vector(f"{axle}.origin") + vehicle.vector(f"{axle}.{n}")) for n in _POINTS}
        corner = Corner(
            points=p,
            lower_axis=side * _unit(p["LCA_F"] - p["LCA_B"]),
            upper_axis=side * _unit(p["UCA_F"] - p["UCA_B"]),
            gain=data.gain if data.steered != "none" else 0.0,
            shift=vehicle.vector(f"{axle}.origin") - vehicle.vector(f"{first}.origin"),
        )
        corners.append(corner)
        rod, strut = _unit(p["TIEROD_U"] - p["TIEROD_C"]), (p["SHOCK_C"] - p["SHOCK_A"]) / 4.0
        for name, centre, axes in (
            ("UCA", p["UCA_CM"], _arm_axes(p["UCA_F"], p["UCA_B"], p["UCA_U"])),
            ("LCA", p["LCA_CM"], _arm_axes(p["LCA_F"], p["LCA_B"], p["LCA_U"])),
            ("upright", p["UPRIGHT"], np.eye(3)),
            ("wheel", p["SPINDLE"], np.eye(3)),
            ("tierod", (p["TIEROD_C"] + p["TIEROD_U"]) / 2.0, _rod_axes(rod)),
            ("shock_lower", p["SHOCK_A"] + strut, _rod_axes(_unit(strut))),
            ("shock_upper", p["SHOCK_C"] - strut, _rod_axes(_unit(strut))),
        ):
            i = body(c, name)
            sources = (f"{axle}.spindle", "wheel") if name == "wheel" else (f"{axle}.{name}",)
            com[i], mass[i] = centre, sum(vehicle[f"{s}.mass"] for s in sources)
            moments = sum(np.array([vehicle[f"{s}.inertia.{k}"] for k in ("xx", "yy", "zz")]) for s in sources)
            inertia[i] = axes @ np.diag(moments) @ axes.T
    rotor = vehicle["driveline.inertia"] * np.array([float(a.driven) for a, _ in corners_of(vehicle.axles)])
    return Design(tuple(corners), com, mass, inertia, rotor)


def poses(vehicle: Vehicle, d: Design, theta: Array, spin: Array, delta: float) -> Poses:
    """Closes all loops for arm angles theta, spin angles and the Pitman arm angle delta [rad].

    Raises ArithmeticError that names the corner if a loop does not close.
    """
    com, rotation = d.com.copy(), np.tile(np.eye(3), (len(d.mass), 1, 1))
    inner = []
    for c, corner in enumerate(d.corners):
        p = corner.points

        def end(x: float, corner: Corner = corner) -> InnerEnd:
            at, gain = corner.points["TIEROD_C"], corner.gain
            if gain == 0.0:
                return InnerEnd(at, np.zeros(3), np.zeros(3))
            rides = link_point(vehicle, at - corner.shift, x)
            moved = rides.position + corner.shift - at
            return InnerEnd(at + gain * moved, gain * rides.first, gain * rides.second)

        phi, origin, upright = 0.0, p["LCA_U"], np.eye(3)
        steps = max(1, int(np.ceil((abs(theta[c]) + abs(corner.gain * delta)) / _LARGEST_STEP)))
        for s in np.linspace(0.0, 1.0, steps + 1)[1:]:
            phi, origin, upright = _close(c, corner, s * float(theta[c]), end(s * delta), (phi, origin, upright))
        tip = end(delta)
        inner.append(tip)

        lower, upper = turn(corner.lower_axis, float(theta[c])), turn(corner.upper_axis, phi)
        about = {
            "LCA": (lower, p["LCA_F"], p["LCA_F"]),
            "UCA": (upper, p["UCA_F"], p["UCA_F"]),
            "upright": (upright, p["LCA_U"], origin),
            "wheel": (upright, p["LCA_U"], origin),
        }
        for name, (r, pivot, now) in about.items():
            i = body(c, name)
            rotation[i], com[i] = r, now + r @ (d.com[i] - pivot)
        rotation[body(c, "wheel")] = upright @ turn(_Y, float(spin[c]))

        outer = origin + upright @ (p["TIEROD_U"] - p["LCA_U"])
        i = body(c, "tierod")
        rotation[i] = _swing(p["TIEROD_U"] - p["TIEROD_C"], outer - tip.position)
        com[i] = (outer + tip.position) / 2.0
        foot, quarter = p["LCA_F"] + lower @ (p["SHOCK_A"] - p["LCA_F"]), (p["SHOCK_C"] - p["SHOCK_A"]) / 4.0
        tilt = _swing(4.0 * quarter, p["SHOCK_C"] - foot)
        for name, at in (
            ("shock_lower", foot + tilt @ quarter),
            ("shock_upper", p["SHOCK_C"] - tilt @ quarter),
        ):
            rotation[body(c, name)], com[body(c, name)] = tilt, at
    return Poses(com, rotation, tuple(inner))


def _close(
    index: int, corner: Corner, theta: float, end: InnerEnd, guess: tuple[float, Array, Array]
) -> tuple[float, Array, Array]:
    """Newton iteration for the upper arm's angle and the upright's pose: two ball joints and the tierod's length."""
    p = corner.points
    phi, origin, upright = guess
    ball = p["LCA_F"] + turn(corner.lower_axis, theta) @ (p["LCA_U"] - p["LCA_F"])
    rod = float(np.linalg.norm(p["TIEROD_U"] - p["TIEROD_C"]))
    for _ in range(_ITERATIONS):
        arm = turn(corner.upper_axis, phi) @ (p["UCA_U"] - p["UCA_F"])
        kingpin, steer = upright @ (p["UCA_U"] - p["LCA_U"]), upright @ (p["TIEROD_U"] - p["LCA_U"])
        reach = origin + steer - end.position
        error = np.concatenate([origin - ball, origin + kingpin - p["UCA_F"] - arm, [(reach @ reach - rod**2) / 2.0]])
        jacobian = np.zeros((7, 7))
        jacobian[0:3, 1:4] = jacobian[3:6, 1:4] = np.eye(3)
        jacobian[3:6, 0], jacobian[3:6, 4:7] = -np.cross(corner.upper_axis, arm), -skew(kingpin)
        jacobian[6, 1:4], jacobian[6, 4:7] = reach, np.cross(steer, reach)
        step = np.linalg.solve(jacobian, -error)
        size = float(np.linalg.norm(step[4:7]))
        phi, origin = phi + float(step[0]), origin + step[1:4]
        if size > 0.0:
            upright = turn(step[4:7] / size, size) @ upright
        if float(np.max(np.abs(step))) < 2e-15:
            break
    if not float(np.max(np.abs(step))) < 1e-11:
        raise ArithmeticError(f"corner {index}: the loops do not close at theta = {theta} rad")
    return phi, origin, upright


def _chassis(vehicle: Vehicle) -> tuple[Array, float, Array]:
    """Chassis with the steering link and arm as point masses: centre of mass, mass, inertia."""
    frame, origin = turn(_Y, vehicle["steering.tilt"]), vehicle.vector("steering.origin")
    parts = [(vehicle["chassis.mass"], vehicle.vector("chassis.com"))]
    for name, point in (("link", "STEERINGLINK"), ("arm", "PITMANARM")):
        parts.append((vehicle[f"steering.{name}.mass"], origin + frame @ vehicle.vector(f"steering.{point}")))
    mass = sum(m for m, _ in parts)
    com = np.asarray(sum((m * p for m, p in parts), np.zeros(3)) / mass)
    entry = {k: vehicle[f"chassis.inertia.{k}"] for k in ("xx", "yy", "zz", "xy", "xz", "yz")}
    inertia = np.array([[entry["".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])
    for m, p in parts:
        inertia = inertia - m * skew(p - com) @ skew(p - com)
    return com, mass, inertia


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))


def _arm_axes(front: Array, back: Array, ball: Array) -> Array:
    """Axes of a control arm: x = F - B, z = (B - U) x (F - U), y = z x x, as columns."""
    x, z = _unit(front - back), _unit(np.cross(back - ball, front - ball))
    return np.column_stack([x, np.cross(z, x), z])


def _rod_axes(z: Array) -> Array:
    """Axes with the given z; x and y are any normals (xx = yy)."""
    x = _unit(np.cross(_Y if abs(z[1]) < 0.9 else np.array([1.0, 0.0, 0.0]), z))
    return np.column_stack([x, np.cross(z, x), z])


def _swing(old: Array, new: Array) -> Array:
    """The shortest rotation that takes the direction of `old` to that of `new`."""
    normal = np.cross(_unit(old), _unit(new))
    sine = float(np.linalg.norm(normal))
    return np.eye(3) if sine == 0.0 else turn(normal / sine, float(np.arctan2(sine, _unit(old) @ _unit(new))))
