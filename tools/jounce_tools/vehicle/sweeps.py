"""Kinematic sweeps of an axle: parallel and opposite travel, and steering at three heights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.axles import Axle as AxleData
from jounce.data import Vehicle
from jounce.math.algebra import SX
from jounce.suspension.characteristics import COLUMNS, Column, ackermann, characteristics, motions
from jounce.suspension.kinematics import Axle, NotClosedError, kinematics_of
from jounce.suspension.springs import spring_force

Array = NDArray[np.float64]
#: Largest travel either way, and its step [m].
TRAVEL, STEP = 0.1, 0.005
#: Heights of the steering sweep [m].
HEIGHTS = (-0.05, 0.0, 0.05)
STEERS = 25
#: Turn of the inner wheel from which Ackermann is given [rad]; below, two small numbers are divided.
LEAST_TURN = 0.05
#: Half the travel over which the wheel rate is taken [m].
RATE_OVER = 1e-3
#: What the sweeps add to the characteristics of a position.
MORE = {
    "travel": Column("m", "ride height", "Rise of the wheel centre from the design position; jounce is positive."),
    "steering": Column("rad", "steering coordinate", "Pinion or Pitman-arm angle; positive steers to the left."),
    "wheel_force": Column("N", "suspension force at the wheel", "Vertical force at the wheel that holds the spring."),
    "wheel_rate": Column("N/m", "wheel rate", "Slope of that force over the travel, without the tire."),
    "ackermann": Column(
        "%", "Ackermann", "100 where both wheels roll about one point on the line of the unsteered axle, 0 parallel."),
}  # fmt: skip
ALL = MORE | COLUMNS


@dataclass(frozen=True)
class Sweep:
    """One sweep of one axle."""

    axle: str
    kind: str
    """`parallel`, `opposite`, or `steer` with the height in mm."""
    wheels: tuple[str, str]
    columns: dict[str, Array]
    """Name -> (n, 2) values of the left and the right wheel."""


class Springs:
    """The springs of one axle, in numbers."""

    def __init__(self, axle: Axle) -> None:
        """The law's numbers are read once."""
        law = {n: SX(v) for f in axle.linkages[0].mechanism.forces if f.kind == "spring" for n, v in f.law.items()}
        length = SX.sym("l")
        self._force = ca.Function("force", [length], [spring_force(length, law)[0]]) if law else None

    def at_wheels(self, axle: Axle, coordinates: Array, steer: float = 0.0) -> Array:
        """(2,) vertical forces at the wheels in parallel travel that the springs balance [N]."""
        if self._force is None:
            return np.full(2, np.nan)
        position = axle.position(coordinates, steer)
        parallel, _ = motions(position)
        ratio = -(position.length_rates["spring"] @ parallel)
        return np.array([float(self._force(float(x))) for x in position.lengths["spring"]]) * ratio


def travel_range(axle: Axle, ends: tuple[tuple[float, float], tuple[float, float]], steers: Iterable[float]) -> Array:
    """(rebound, jounce) as far as TRAVEL, in whole steps, that loops, springs and shocks allow in parallel travel [m].

    ``ends``: least and largest length of the spring and of the shock [m].
    """
    found = np.array([-TRAVEL, TRAVEL])
    for steer in steers:
        for side, sign in enumerate((-1.0, 1.0)):
            reach, coordinates = 0.0, np.zeros(2)
            while reach + STEP <= abs(found[side]) + 1e-9:
                travel = sign * (reach + STEP)
                try:
                    coordinates = axle.at_travel((travel, travel), steer, coordinates)
                except (NotClosedError, np.linalg.LinAlgError):
                    break
                lengths = axle.position(coordinates, steer).lengths
                if not all(low <= x <= high for name, (low, high) in zip(("spring", "shock"), ends, strict=True)
                           for x in lengths[name]):  # fmt: skip
                    break
                reach += STEP
            found[side] = sign * reach
    return found


def sweeps(vehicle: Vehicle, own: AxleData) -> list[Sweep]:
    """All sweeps of one axle. Raises DataError for entries, NotClosedError for loops that do not close."""
    axle = kinematics_of(vehicle, own)
    springs = Springs(axle)
    wheels = vehicle.wheels[2 * vehicle.axles.index(own) :][:2]
    radius, deepest = vehicle.of_tires(own, "unloaded_radius"), vehicle[f"{own.name}.stop.depth.10"]
    ends = tuple((vehicle[f"{own.name}.{low}"] - d, vehicle[f"{own.name}.{high}"] + d) for low, high, d in (
        ("spring.min_length", "spring.max_length", deepest),
        ("shock.closed_length", "shock.extended_length", 0.0)))  # fmt: skip
    most = vehicle["steering.max_arm_angle"] if own.steered != "none" else 0.0
    low, high = travel_range(axle, (ends[0], ends[1]), (0.0, -most, most) if most else (0.0,))
    heights = np.arange(round(low / STEP), round(high / STEP) + 1) * STEP
    even = np.array([h for h in heights if low <= -h <= high])
    found = [
        _sweep(axle, springs, radius, (own.name, "parallel", wheels), [((h, h), 0.0) for h in heights]),
        _sweep(axle, springs, radius, (own.name, "opposite", wheels), [((h, -h), 0.0) for h in even]),
    ]
    if most:
        for height in HEIGHTS:
            if low <= height <= high:
                points = [((height, height), s) for s in np.linspace(-most, most, STEERS)]
                name = f"steer_{1e3 * height:+.0f}mm" if height else "steer"
                sweep = _sweep(axle, springs, radius, (own.name, name, wheels), points)
                found.append(_with_ackermann(vehicle, own, sweep))
    return found


def _sweep(axle: Axle, springs: Springs, radius: float, what: tuple[str, str, tuple[str, ...]],
           points: list[tuple[tuple[float, float], float]]) -> Sweep:  # fmt: skip
    rows: dict[str, list[tuple[float, float]]] = {}
    coordinates = np.zeros(2)
    for travel, steer in points:
        coordinates = axle.at_travel(travel, steer, coordinates)
        position = axle.position(coordinates, steer)
        left, right = characteristics(position, radius)
        force = springs.at_wheels(axle, coordinates, steer)
        step = RATE_OVER * motions(position)[0]
        rate = (springs.at_wheels(axle, coordinates + step, steer)
                - springs.at_wheels(axle, coordinates - step, steer)) / (2 * RATE_OVER)  # fmt: skip
        own: dict[str, Sequence[float] | Array] = {"travel": travel, "steering": (steer, steer), "wheel_force": force,
                                                   "wheel_rate": rate}  # fmt: skip
        own |= {n: (left[n], right[n]) for n in left}
        for name, pair in own.items():
            rows.setdefault(name, []).append((float(pair[0]), float(pair[1])))
    return Sweep(what[0], what[1], (what[2][0], what[2][1]), {n: np.array(v) for n, v in rows.items()})


def _with_ackermann(vehicle: Vehicle, own: AxleData, sweep: Sweep) -> Sweep:
    """Ackermann of the pair of wheels, the same on both; about the middle of the axles that are not steered."""
    fixed = [a for a in vehicle.axles if a.steered == "none"] or [a for a in vehicle.axles if a is not own]
    if not fixed:
        return sweep
    behind = vehicle[f"{own.name}.origin.x"] - float(np.mean([vehicle[f"{a.name}.origin.x"] for a in fixed]))
    base = abs(behind)
    track = float(sweep.columns["contact_y"][STEERS // 2] @ [1.0, -1.0])
    # against the toe that the wheels have at that height with the steering in its middle
    turns = np.radians(sweep.columns["steer"] - sweep.columns["steer"][STEERS // 2])
    ahead = np.sign(behind) or 1.0
    values = []
    for left, right in turns * ahead:
        inner, outer = (left, right) if left + right > 0 else (-right, -left)
        values.append(ackermann(inner, outer, base, track) if inner > LEAST_TURN else np.nan)
    pair = np.array([values, values]).T
    return Sweep(sweep.axle, sweep.kind, sweep.wheels, sweep.columns | {"ackermann": pair})
