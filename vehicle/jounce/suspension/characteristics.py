"""Kinematic characteristics (K&C) of an axle at one position, by the usual definitions, from positions and twists.

Chassis axes (x forward, y left, z up), so jounce is a rise of the wheel centre. A twist is [w; v], the angular velocity
of a body and the velocity of its point at the chassis origin. All rates are exact (no differences of positions), of
wheels that are locked to their carriers, per metre that the wheel centre rises.

Source of the definitions: ISO 8855:2011 (steer, inclination, camber, toe, castor, kingpin inclination, scrub radius,
trail); roll centre, anti-dive and anti-squat: Milliken and Milliken 1995, Race Car Vehicle Dynamics, chapter 17, as the
kinematics of the contact point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SIDES = (1.0, -1.0)
"""y of the left and of the right wheel."""


@dataclass(frozen=True)
class Wheel:
    """One wheel of an axle at one position, chassis axes."""

    centre: Array
    """(3,) [m]"""
    axis: Array
    """(3,) unit vector along the spin axis, to the left"""
    twist: Array
    """(6, 2) twist of the carrier per unit rate of each coordinate of the axle"""
    steer: Array
    """(6,) twist of the carrier per unit motion of the steering, coordinates at rest; zeros where nothing steers it"""


@dataclass(frozen=True)
class Position:
    """An axle at one position; its motion has two coordinates (two wheels, or heave and roll)."""

    wheels: tuple[Wheel, Wheel]
    """Left, right."""
    lengths: Mapping[str, Array]
    """"spring", "shock" -> (2,) lengths left and right [m]"""
    length_rates: Mapping[str, Array]
    """The same -> (2, 2): of the left and the right one per unit rate of each coordinate"""
    steer_length_rates: Mapping[str, Array]
    """The same -> (2,): per unit motion of the steering, coordinates at rest"""


def contact(wheel: Wheel, radius: float) -> Array:
    """(3,) lowest point of the wheel's circle [m]: where it touches level ground."""
    down = np.array([0.0, 0.0, -1.0]) + wheel.axis[2] * wheel.axis
    return np.asarray(wheel.centre + radius * down / np.linalg.norm(down))


def velocity(twist: Array, point: Array) -> Array:
    """(3,) or (3, n) velocity of the body's point for twists (6,) or (6, n)."""
    across = np.cross(twist[:3].T, point).T
    return np.asarray(twist[3:] + across)


def motions(position: Position) -> tuple[Array, Array]:
    """Rates (2,) of the coordinates for parallel travel (both wheel centres rise 1 m/s) and opposite (left up)."""
    rise = np.array([velocity(w.twist, w.centre)[2] for w in position.wheels])
    parallel, opposite = np.linalg.solve(rise, np.array([[1.0, 1.0], [1.0, -1.0]])).T
    return parallel, opposite


def angles(wheel: Wheel) -> tuple[float, float]:
    """(steer angle, positive left; inclination angle, positive where the wheel leans to the right) [rad]."""
    x, y, z = wheel.axis
    return float(np.arctan2(-x, y)), float(np.arcsin(z))


def angle_rates(wheel: Wheel, rates: Array) -> tuple[float, float]:
    """Rates of the two angles [rad/s] for rates (2,) of the coordinates."""
    x, y, z = wheel.axis
    dx, dy, dz = np.cross((wheel.twist @ rates)[:3], wheel.axis)
    return float((x * dy - y * dx) / (x * x + y * y)), float(dz / np.sqrt(1.0 - z * z))


def steer_axis(position: Position) -> tuple[tuple[Array, Array] | None, ...]:
    """Per wheel (point, unit direction upwards) of the steer axis; None where steering does not turn the wheel.

    It is the instant axis of the carrier's turn while the steering moves and the springs keep their length (held by the
    coordinates where a spring does not follow them). For a double wishbone it passes through the two ball joints, for a
    strut through ball joint and strut top.
    """
    rate = position.length_rates["spring"]
    held = np.zeros(2)
    if np.linalg.cond(rate) < 1e6:
        held = np.asarray(-np.linalg.solve(rate, position.steer_length_rates["spring"]), dtype=np.float64)
    return tuple(_instant_axis(w.steer + w.twist @ held) for w in position.wheels)


def _instant_axis(twist: Array) -> tuple[Array, Array] | None:
    w, v = twist[:3], twist[3:]
    turn = float(np.linalg.norm(w))
    if turn < 1e-9 * (1.0 + np.linalg.norm(v)):
        return None
    up = np.sign(w[2]) or 1.0
    return np.cross(w, v) / turn**2, up * w / turn


def characteristics(position: Position, radius: float) -> tuple[dict[str, float], dict[str, float]]:
    """All kinematic numbers of the left and the right wheel at that position; see `COLUMNS`.

    ``radius`` [m] is that of the wheel's circle on the ground. What the axle does not have is NaN.
    """
    parallel, opposite = motions(position)
    axes = steer_axis(position)
    contacts = [contact(w, radius) for w in position.wheels]
    roll = _roll_centre(position, contacts, opposite)
    found = []
    for k, (wheel, side, axis) in enumerate(zip(position.wheels, SIDES, axes, strict=True)):
        steer, inclination = angles(wheel)
        steer_rate, inclination_rate = angle_rates(wheel, parallel)
        ground = velocity(wheel.twist @ parallel, contacts[k])
        centre = velocity(wheel.twist @ parallel, wheel.centre)
        numbers = {
            "steer": np.degrees(steer), "toe": -side * np.degrees(steer), "inclination": np.degrees(inclination),
            "camber": -side * np.degrees(inclination),
            "steer_rate": np.degrees(steer_rate), "inclination_rate": np.degrees(inclination_rate),
            "contact_x": contacts[k][0], "contact_y": contacts[k][1],
            "track_rate": side * ground[1], "wheelbase_rate": ground[0], "centre_rate": centre[0],
            "brake_angle": np.degrees(np.arctan(ground[0])), "drive_angle": np.degrees(np.arctan(centre[0])),
            "roll_centre": roll[0], "roll_steer": roll[1][k],
        }  # fmt: skip
        for name in ("spring", "shock"):
            numbers[f"{name}_length"] = position.lengths[name][k]
            numbers[f"{name}_ratio"] = -(position.length_rates[name] @ parallel)[k]
            numbers[f"{name}_roll_ratio"] = -side * (position.length_rates[name] @ opposite)[k]
        found.append({name: float(value) for name, value in (numbers | _kingpin(axis, contacts[k], side)).items()})
    return found[0], found[1]


def _kingpin(axis: tuple[Array, Array] | None, ground: Array, side: float) -> dict[str, float]:
    """Castor, kingpin inclination [deg], scrub radius and trail [m] at the height of the contact point."""
    if axis is None:
        return dict.fromkeys(("caster", "kingpin_inclination", "scrub_radius", "trail"), np.nan)
    point, way = axis
    foot = point + way * ((ground[2] - point[2]) / way[2])
    return {
        "caster": np.degrees(np.arctan2(-way[0], way[2])),
        "kingpin_inclination": np.degrees(np.arctan2(-side * way[1], way[2])),
        "scrub_radius": side * (ground[1] - foot[1]), "trail": foot[0] - ground[0],
    }  # fmt: skip


def _roll_centre(position: Position, contacts: list[Array], opposite: Array) -> tuple[float, list[float]]:
    """(height of the roll centre above the contact points [m], roll steer of each wheel [rad/rad]).

    In opposite travel the contact points turn about the roll centre: height = lateral rate / roll rate, as means of
    left and right. Roll is that of the axle against the chassis, positive where the left wheel goes up.
    """
    moved = [velocity(w.twist @ opposite, c) for w, c in zip(position.wheels, contacts, strict=True)]
    roll = (moved[0][2] - moved[1][2]) / (contacts[0][1] - contacts[1][1])
    lateral = 0.5 * (moved[0][1] + moved[1][1])
    return float(lateral / roll), [angle_rates(w, opposite)[0] / float(roll) for w in position.wheels]


@dataclass(frozen=True)
class Column:
    """One characteristic: its unit and what it means, for tables and pages."""

    unit: str
    """SI, but angles in degrees."""
    label: str
    """For an axis of a plot."""
    meaning: str
    """One sentence for people."""


COLUMNS = {
    "steer": Column("deg", "steer angle", "Angle of the wheel to the vehicle's x axis; positive to the left."),
    "toe": Column("deg", "toe angle", "The same towards the vehicle: positive is toe-in, negative toe-out."),
    "inclination": Column("deg", "inclination angle", "Lean of the wheel; positive to the right on both sides."),
    "camber": Column("deg", "camber angle", "Lean of the wheel's top; positive outwards, negative inwards."),
    "steer_rate": Column("deg/m", "bump steer", "How fast the steer angle changes as the wheel rises."),
    "inclination_rate": Column("deg/m", "bump inclination", "How fast the inclination changes as the wheel rises."),
    "contact_x": Column("m", "contact point, forward", "Where the wheel touches the ground, in chassis axes."),
    "contact_y": Column("m", "contact point, left", "Where the wheel touches the ground, in chassis axes."),
    "track_rate": Column("m/m", "half-track change", "How fast the contact point moves outwards as the wheel rises."),
    "wheelbase_rate": Column(
        "m/m", "wheelbase change", "How fast the contact point of a locked wheel moves forwards as the wheel rises."),
    "centre_rate": Column("m/m", "wheel-centre recession", "How fast the wheel centre moves forwards as it rises."),
    "brake_angle": Column(
        "deg", "support angle, braking",
        "Slope of the path of a locked wheel's contact point: brake forces lift the chassis by it, at the front where "
        "it is positive (anti-dive), at the rear they pull it down where it is negative (anti-lift)."),
    "drive_angle": Column(
        "deg", "support angle, driving by shafts",
        "Slope of the path of the wheel centre, for torque that reacts on the chassis: negative at the rear is "
        "anti-squat, positive at the front is anti-lift."),
    "roll_centre": Column(
        "m", "roll centre above ground", "Height of the point about which side forces roll the chassis at first."),
    "roll_steer": Column("rad/rad", "roll steer", "Steer angle per roll of the axle, left side up."),
    "spring_length": Column("m", "spring length", "Distance of the spring's seats."),
    "spring_ratio": Column("m/m", "spring motion ratio", "How far the spring closes per rise of both wheels."),
    "spring_roll_ratio": Column("m/m", "spring motion ratio in roll", "The same where the other wheel falls as much."),
    "shock_length": Column("m", "shock length", "Distance of the shock's ends."),
    "shock_ratio": Column("m/m", "shock motion ratio", "How far the shock closes per rise of both wheels."),
    "shock_roll_ratio": Column("m/m", "shock motion ratio in roll", "The same where the other wheel falls as much."),
    "caster": Column("deg", "castor angle", "Lean of the steer axis in the side view; positive: top rearwards."),
    "kingpin_inclination": Column(
        "deg", "kingpin inclination", "Lean of the steer axis in the front view; positive with the top inwards."),
    "scrub_radius": Column(
        "m", "scrub radius", "How far the steer axis meets the ground inboard of the contact point."),
    "trail": Column("m", "castor trail", "How far the steer axis meets the ground in front of the contact point."),
}  # fmt: skip


def ackermann(inner: float, outer: float, wheelbase: float, track: float) -> float:
    """Ackermann [%] for steer angles of the inner and the outer wheel [rad], positive into the turn.

    100 where both wheels roll about one point on the rear axle's line, 0 where they are parallel: cot(outer) -
    cot(inner) = track/wheelbase (Milliken and Milliken 1995, Race Car Vehicle Dynamics, chapter 19). NaN straight on.
    """
    if abs(inner) < 1e-6:
        return float("nan")
    ideal = np.arctan2(np.tan(inner), 1.0 + track / wheelbase * np.tan(inner))
    return float(100.0 * (inner - outer) / (inner - ideal))
