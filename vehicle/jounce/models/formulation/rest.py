"""Where a vehicle rests on level ground: chassis and lower arms without acceleration, tires without a force along it.

The same search as in the constraint-embedded vehicle's start (`double_wishbone_start.c`), with the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.axles import CORNERS
from jounce.contact import tires
from jounce.contact.states import inner
from jounce.contact.wheel import HUB, Wheel
from jounce.data import DataError, Vehicle
from jounce.dynamics.articulated import LOADS
from jounce.models.double_wishbone.functions import functions, numbers
from jounce.models.double_wishbone.signals import table

Array = NDArray[np.float64]
#: Newton's rounds, acceleration that counts as rest [m/s2, rad/s2], longest step and step of the differences [m, rad].
ROUNDS, ENOUGH, LONGEST, NUDGE = 60, 1e-9, 0.05, 1e-7
#: Tire deflection of the first guess [m].
COMPRESSED = 0.01


@dataclass(frozen=True)
class Rest:
    """Pose of a vehicle that stands on level ground at z = 0 and heads along x."""

    height: float
    quaternion: Sequence[float]
    angles: Sequence[float]
    """Of the lower arms [rad]."""


def gravity(vehicle: Vehicle) -> float:
    """As the vehicle's own model starts with it [m/s2]."""
    return table(vehicle).by_name("gravity").start


def find(vehicle: Vehicle) -> Rest:
    """The rest. Raises DataError where there is none."""
    look, v = _balance(vehicle), np.zeros(3 + len(CORNERS))
    v[0] = vehicle.of_tires(vehicle.axles[0], "unloaded_radius") - COMPRESSED - float(np.mean(_hubs(vehicle)))
    for _ in range(ROUNDS):
        residual, quaternion = (np.array(m) for m in look(v))
        # tires have no derivative where nothing moves, so differences it is
        moved = np.array(look(v[:, None] + NUDGE * np.eye(v.size))[0])
        slope = (moved - residual) / NUDGE
        if not (np.isfinite(residual).all() and np.isfinite(slope).all()):
            break
        if np.abs(residual).max() < ENOUGH:
            return Rest(float(v[0]), quaternion.ravel().tolist(), v[3:].tolist())
        step = -np.linalg.lstsq(slope, residual.ravel(), rcond=None)[0]
        v += step * min(1.0, LONGEST / float(np.abs(step).max()))
    raise DataError(f"{vehicle.name}: no rest on level ground was found; expected springs and tires that carry it")


def _hubs(vehicle: Vehicle) -> list[float]:
    """Heights of the wheels' centres in the design position [m]."""
    return [vehicle[f"{axle}.origin.z"] + vehicle[f"{axle}.SPINDLE.z"] for axle, _ in CORNERS]


def _balance(vehicle: Vehicle) -> ca.Function:
    """balance(height, pitch, roll, arms' angles) -> (accelerations that vanish at rest, quaternion).

    The accelerations: chassis along z, in pitch, in roll, and of the arms.
    """
    wheel, vectors = Wheel(tires.find(vehicle.tire)), cast("dict[str, Any]", numbers(vehicle))
    made, own = functions(wheel.law), [0.0, *(s.start for s in inner(wheel.law))]
    v = ca.MX.sym("v", 3 + len(CORNERS))
    quaternion, up = _orientation(v[1], v[2])
    chassis = ca.vertcat(ca.MX.zeros(2), v[0], quaternion, ca.MX.zeros(6))
    link = made["steering"]([0.0, 0.0, 0.0], vectors["linkage"])
    normal = {"normal": [0.0, 0.0, 1.0]}
    inputs = [x for name, size in wheel.inputs.sizes.items() for x in normal.get(name, [0.0] * size)]
    total, bodies = ca.MX.zeros(27), []
    for k, (axle, side) in enumerate(CORNERS):
        end = made["inner"](link, vectors["inner numbers"][k])
        corner = made["corner"](ca.vertcat(v[3 + k], 0, 0), end, [0.0] * 3, vectors["corner numbers"][k])
        of_wheel = [vehicle[name] for name in wheel.entries(side, vehicle.tires(axle)).values()]
        results = made["wheel"](corner[: HUB.size], chassis, own, inputs, of_wheel)
        body = made["inward_sweep"](corner, results[: LOADS.size], vectors["axial"][k])
        total += body[:27]
        bodies.append((corner, body))
    acceleration = made["chassis"](vectors["chassis numbers"], [0.0] * 3, total, [0.0] * 6)
    arms = [made["outward_sweep"](corner, body, acceleration, vectors["axial"][k])[0]
            for k, (corner, body) in enumerate(bodies)]  # fmt: skip
    residual = ca.vertcat(ca.dot(up, acceleration[3:]) - gravity(vehicle), acceleration[1], acceleration[0], *arms)
    return ca.Function("balance", [v], [residual, quaternion])


def _orientation(pitch: Any, roll: Any) -> tuple[Any, Any]:
    """(quaternion w x y z; the world's z axis in chassis axes) at that pitch and roll (ISO 8855)."""
    cp, sp, cr, sr = ca.cos(pitch / 2), ca.sin(pitch / 2), ca.cos(roll / 2), ca.sin(roll / 2)
    q = ca.vertcat(cp * cr, cp * sr, sp * cr, -sp * sr)
    up = ca.vertcat(2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]), 1 - 2 * (q[1] ** 2 + q[2] ** 2))
    return q, up
