"""Where a vehicle stands at rest on level ground: travel and load of its wheels, height and pitch of the chassis.

By virtual work of all weights, the springs and the ground, left and right alike. A first guess takes links and shocks
for half sprung; Newton's method goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.axles import Axle as AxleData
from jounce.contact.tires.vertical import load_at
from jounce.data import Vehicle
from jounce.dynamics.graph import ROOT
from jounce.dynamics.loops import Placed
from jounce.dynamics.mechanism import Mechanism, Value
from jounce.math.algebra import SX
from jounce.suspension.characteristics import motions, velocity
from jounce.suspension.kinematics import Axle, NotClosedError, kinematics_of
from jounce_tools.vehicle.sweeps import Springs

Array = NDArray[np.float64]
_ITERATIONS = 60
_STEP = 0.01
#: Step of a difference quotient [m or rad]; error that counts as balance, as part of the weight.
_NUDGE, _BALANCED = 1e-6, 1e-7


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

    axle: str
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
    radii = [vehicle.of_tires(own, "unloaded_radius") for own in vehicle.axles]
    unknown = np.array([float(np.mean([r - s.centre for r, s in zip(radii, stands, strict=True)])) - 0.05, 0.0])

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
    guess = [_on_ground(vehicle, s, unknown[0] - unknown[1] * s.x, gravity)[0] for s in stands]
    return _balanced(vehicle, float(mass), np.concatenate([unknown, guess]))


def _balanced(vehicle: Vehicle, mass: float, guess: Array) -> Standing:
    """The equilibrium near a guess of height, pitch and the axles' travels."""
    axles, gravity, z = [_Weights(vehicle, own) for own in vehicle.axles], 9.81, guess
    body = vehicle["chassis.mass"] * np.array([vehicle[f"chassis.com.{a}"] for a in "xyz"]) + _linkage_moment(vehicle)

    def missing(z: Array) -> tuple[Array, Array]:
        c, s = np.cos(z[1]), np.sin(z[1])
        up, ahead = np.array([-s, 0.0, c]), np.array([c, 0.0, s])
        found = [w.at(travel, z[0], up, gravity) for w, travel in zip(axles, z[2:], strict=True)]
        loads = np.array([f.load for f in found])
        tilting = sum(f.load * (f.contact @ ahead) - gravity * (f.moment @ ahead) for f in found)
        out = [loads.sum() - mass * gravity, tilting - gravity * (body @ ahead), *(f.missing for f in found)]
        return np.array(out), loads

    for _ in range(_ITERATIONS):
        error, loads = missing(z)
        if np.abs(error).max() < _BALANCED * mass * gravity:
            travels = tuple(float(t) for t in z[2:])
            return Standing(float(z[0]), float(z[1]), travels, tuple(0.5 * loads), mass)
        slope = np.array([(missing(z + d)[0] - error) / _NUDGE for d in np.eye(len(z)) * _NUDGE]).T
        z = z + np.clip(np.linalg.solve(slope, -error), -_STEP, _STEP)
    raise ArithmeticError("no equilibrium on level ground: the springs do not hold the vehicle within their travel")


@dataclass(frozen=True)
class _Carried:
    """An axle at one travel, both sides together."""

    missing: float
    """Work of all its forces per metre of travel [N]."""
    load: float
    contact: Array
    """(3,) mean of its contact points, chassis axes [m]."""
    moment: Array
    """(3,) first moment of its masses [kg m]."""


class _Weights:
    """The masses, springs and tires of one axle."""

    def __init__(self, vehicle: Vehicle, own: AxleData) -> None:
        self.vehicle, self.own, self.axle = vehicle, own, kinematics_of(vehicle, own)
        self.springs, self.coordinates = Springs(self.axle), np.zeros(2)
        linkage = self.axle.linkages[0]
        q, place, numbers = SX.sym("q", len(linkage.names)), SX.sym("e", 3), SX.sym("n", linkage.numbers.shape[0])
        moment = _moment(Placed(linkage.mechanism.on(numbers), q, {linkage.end.name: place} if linkage.end else {}))
        self.moment = ca.Function("moment", [q, place, numbers], [moment, ca.densify(ca.jacobian(moment, q))])

    def at(self, travel: float, height: float, up: Array, gravity: float) -> _Carried:
        """At that travel, the chassis origin at that height [m]; ``up``: unit vector in chassis axes."""
        axle = self.axle
        radius = self.vehicle.of_tires(self.own, "unloaded_radius")
        self.coordinates = axle.at_travel((travel, travel), 0.0, self.coordinates)
        position, solved = axle.position(self.coordinates), axle.solve(self.coordinates)
        parallel, _ = motions(position)
        moment, work, load, contacts = np.zeros(3), 0.0, 0.0, []
        rates = [parallel] if axle.whole else [parallel[:1], parallel[1:]]
        for linkage, s, rate in zip(axle.linkages, solved, rates, strict=True):
            place = linkage.end.at(0.0)[0] if linkage.end else np.zeros(3)
            now, slope = (np.array(v, dtype=float) for v in self.moment(s.q, place, linkage.numbers))
            moment += now.ravel()
            work -= gravity * float(up @ slope @ s.motion @ rate)
        for wheel in position.wheels:
            tilt = float(wheel.axis @ up)
            upright = np.sqrt(1.0 - tilt * tilt)
            away = (height + float(wheel.centre @ up)) / upright
            pressed = max(radius - away, 0.0)
            force = _load(self.vehicle, self.own.name, pressed)
            contacts.append(wheel.centre + away * (tilt * wheel.axis - up) / upright)
            load += force
            work += force * float(up @ velocity(wheel.twist @ parallel, contacts[-1]))
        work -= float(self.springs.at_wheels(axle, self.coordinates).sum())
        return _Carried(work, load, np.asarray(np.mean(contacts, axis=0)), moment)


def _moment(placed: Placed) -> SX:
    """First moment (3,) [kg m] of a mechanism's masses."""
    m, found = placed.mechanism, SX(3, 1)
    for body in m.bodies:
        if body.mass is not None:
            found += body.mass * placed.carried(body.name, body.com)
    for wheel in m.wheels:
        found += wheel.mass * placed.carried(wheel.on, wheel.centre)
    for rod in m.rods:
        if rod.mass is not None:
            found += rod.mass * 0.5 * (placed.point(rod.a) + placed.point(rod.b))
    for t in m.tubes:
        low, top = placed.point(t.lower), placed.point(t.upper)
        along = (top - low) / ca.sqrt(ca.dot(top - low, top - low))
        found += t.lower_mass * (low + t.lower_com * along) + t.upper_mass * (top - t.upper_com * along)
    return found


def _linkage_moment(vehicle: Vehicle) -> Array:
    """First moment (3,) [kg m] of steering link and Pitman arm in the design position."""
    if not _on_chassis(vehicle):
        return np.zeros(3)
    c, s, found = np.cos(vehicle["steering.tilt"]), np.sin(vehicle["steering.tilt"]), np.zeros(3)
    for body, point in (("link", "STEERINGLINK"), ("arm", "PITMANARM")):
        x, y, z = (vehicle[f"steering.{point}.{a}"] for a in "xyz")
        place = [c * x + s * z, y, c * z - s * x]
        found += vehicle[f"steering.{body}.mass"] * (place + np.array([vehicle[f"steering.origin.{a}"] for a in "xyz"]))
    return found


def _load(vehicle: Vehicle, axle: str, deflection: float) -> float:
    """Of one wheel, on one tire or two [N]."""
    start, count = vehicle.tires(axle), 2 if any(a.dual for a in vehicle.axles if a.name == axle) else 1
    of_one = load_at(lambda n: entry.value if (entry := vehicle.entries.get(f"{start}.{n}")) else None, deflection)
    return count * of_one


def _on_ground(vehicle: Vehicle, stand: _Stand, height: float, gravity: float) -> tuple[float, float, float]:
    """(travel, suspension force, load of the ground) of one wheel, the chassis origin at that height over the axle."""
    radius = vehicle.of_tires(stand.axle, "unloaded_radius")

    def load(travel: float) -> float:
        return _load(vehicle, stand.axle, radius - (height + stand.centre + travel))

    low, high = float(stand.travel[0]), float(stand.travel[-1])
    for _ in range(_ITERATIONS):
        middle = 0.5 * (low + high)
        lifted = load(middle) - stand.unsprung * gravity > float(np.interp(middle, stand.travel, stand.force))
        low, high = (middle, high) if lifted else (low, middle)
    travel = 0.5 * (low + high)
    return travel, float(np.interp(travel, stand.travel, stand.force)), load(travel)


def _stand(vehicle: Vehicle, name: str, axle: Axle) -> _Stand:
    springs = Springs(axle)
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
    return _Stand(name, float(centre[0]), float(centre[2]), np.array(travels)[order], np.array(forces)[order],
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
