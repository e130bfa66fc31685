"""Where a vehicle stands at rest on level ground: travel and load of its wheels, height and pitch of the chassis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle
from jounce.dynamics.graph import ROOT
from jounce.dynamics.mechanism import Mechanism, Value
from jounce.suspension.kinematics import Axle, NotClosedError, kinematics_of
from jounce_tools.vehicle.sweeps import Springs

Array = NDArray[np.float64]
_ITERATIONS = 60
_STEP = 0.01


@dataclass(frozen=True)
class Standing:
    """The vehicle at rest."""

    height: float
    """Chassis origin above the ground [m]."""
    pitch: float
    """About y, positive with the front down [rad]."""
    travel: tuple[float, ...]
    """Of the wheels of each axle from the design position [m]."""
    load: tuple[float, ...]
    """Of one wheel of each axle on the ground [N]."""
    mass: float
    """Of the whole vehicle [kg]."""


@dataclass(frozen=True)
class _Stand:
    """One axle: what its springs carry over the travel."""

    x: float
    centre: float
    """Height of the wheel centre in the chassis frame in the design position [m]."""
    travel: Array
    force: Array
    """Of one wheel's suspension [N], rising with the travel."""
    unsprung: float
    """Mass that rides on one wheel [kg]."""
    own: float
    """Mass of the axle in all [kg]."""


def standing(vehicle: Vehicle) -> Standing:
    """The equilibrium, left and right alike. Raises ArithmeticError where the springs do not hold the vehicle."""
    stands = [_stand(vehicle, own.name, kinematics_of(vehicle, own)) for own in vehicle.axles]
    gravity = 9.81
    own = sum(s.own for s in stands)
    carried = vehicle["chassis.mass"] + _on_chassis(vehicle) + own - 2 * sum(s.unsprung for s in stands)
    # what hangs on the chassis of links and shocks is taken to be at the axles, like the links themselves
    moment = (vehicle["chassis.mass"] * vehicle["chassis.com.x"]
              + sum((s.own - 2 * s.unsprung) * s.x for s in stands)) * gravity  # fmt: skip
    mass = vehicle["chassis.mass"] + _on_chassis(vehicle) + own
    unknown = np.array([float(np.mean([vehicle["tire.unloaded_radius"] - s.centre for s in stands])) - 0.05, 0.0])

    def missing(z: Array) -> Array:
        forces = np.array([2 * _on_ground(vehicle, s, z[0] - z[1] * s.x, gravity)[1] for s in stands])
        return np.array([forces.sum() - carried * gravity, forces @ [s.x for s in stands] - moment])

    for _ in range(_ITERATIONS):
        error = missing(unknown)
        if np.abs(error).max() < 1e-6 * carried * gravity:
            break
        h = 1e-6
        slope = np.array([(missing(unknown + d) - missing(unknown - d)) / (2 * h) for d in np.eye(2) * h]).T
        if len(stands) == 1 or abs(np.linalg.det(slope)) < 1e-9:
            raise ArithmeticError("the vehicle does not stand by itself: its axles hold no pitch")
        unknown = unknown + np.clip(np.linalg.solve(slope, -error), -0.05, 0.05)
    else:
        raise ArithmeticError("no equilibrium on level ground: the springs do not hold the vehicle within their travel")
    found = [_on_ground(vehicle, s, unknown[0] - unknown[1] * s.x, gravity) for s in stands]
    return Standing(float(unknown[0]), float(unknown[1]), tuple(t for t, _, _ in found), tuple(n for _, _, n in found),
                    float(mass))  # fmt: skip


def _on_ground(vehicle: Vehicle, stand: _Stand, height: float, gravity: float) -> tuple[float, float, float]:
    """(travel, suspension force, load of the ground) of one wheel, the chassis origin at that height over the axle."""
    linear, quadratic = vehicle["tire.vertical_stiffness"], vehicle["tire.vertical_stiffness_quadratic"]

    def load(travel: float) -> float:
        pressed = max(vehicle["tire.unloaded_radius"] - (height + stand.centre + travel), 0.0)
        return linear * pressed + quadratic * pressed * pressed

    low, high = float(stand.travel[0]), float(stand.travel[-1])
    for _ in range(_ITERATIONS):
        middle = 0.5 * (low + high)
        lifted = load(middle) - stand.unsprung * gravity > float(np.interp(middle, stand.travel, stand.force))
        low, high = (middle, high) if lifted else (low, middle)
    travel = 0.5 * (low + high)
    return travel, float(np.interp(travel, stand.travel, stand.force)), load(travel)


def _stand(vehicle: Vehicle, name: str, axle: Axle) -> _Stand:
    own = next(a for a in vehicle.axles if a.name == name)
    springs = Springs(vehicle, own, axle)
    travels, forces = [], []
    for sign in (-1.0, 1.0):
        coordinates, travel = np.zeros(2), 0.0
        while travel <= 0.25:
            try:
                coordinates = axle.at_travel((sign * travel, sign * travel), 0.0, coordinates)
            except (NotClosedError, np.linalg.LinAlgError):
                break
            travels.append(sign * travel)
            forces.append(float(springs.at_wheels(axle, coordinates)[0]))
            travel += _STEP
    order = np.argsort(travels)
    unsprung, all_of_it = _masses(axle.linkages[0].mechanism)
    share = 2 if axle.whole else 1
    centre = axle.position((0.0, 0.0)).wheels[0].centre
    return _Stand(float(centre[0]), float(centre[2]), np.array(travels)[order], np.array(forces)[order],
                  unsprung / share, all_of_it * 2 / share)  # fmt: skip


def _masses(m: Mechanism) -> tuple[float, float]:
    """(mass that moves with the wheels, mass in all) [kg]: of a link half, of a shock's tubes the lower one."""

    def number(value: Value) -> float:
        return 0.0 if value is None else float(value)

    whole = sum(number(b.mass) for b in m.bodies) + sum(number(w.mass) for w in m.wheels)
    arms = {j.b for j in m.joints if j.a == ROOT and j.kind == "revolute"} - {w.on for w in m.wheels}
    half = sum(number(r.mass) for r in m.rods) + sum(number(b.mass) for b in m.bodies if b.name in arms)
    rods = sum(number(r.mass) for r in m.rods)
    lower, upper = (sum(number(getattr(t, f"{k}_mass")) for t in m.tubes) for k in ("lower", "upper"))
    return whole + rods - 0.5 * half + lower, whole + rods + lower + upper


def _on_chassis(vehicle: Vehicle) -> float:
    """Steering link and Pitman arm, which ride on the chassis [kg]."""
    names = ("steering.link.mass", "steering.arm.mass")
    return sum(vehicle.entries[n].value for n in names if n in vehicle.entries)
