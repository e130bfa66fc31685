"""The rates of any vehicle's model against the maximal-coordinate judge, which shares no equation with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.axles import Axle
from jounce.data import Vehicle
from jounce.math.algebra import SX
from jounce.models.double_wishbone.arrange import gear_of
from jounce.models.double_wishbone.parameters import chassis_inertia
from jounce.reference import maximal
from jounce.suspension.inner_ends import inner_end
from jounce.suspension.mechanisms.templates import mechanism_of, with_dual_wheels
from jounce_fmu.importer.host import Factory
from jounce_fmu.importer.linear import Exchange

Array = NDArray[np.float64]
#: Step of the steering in the difference quotient of an inner end's motion [rad].
NUDGE = 1e-3


def difference(
    vehicle: Vehicle, factory: Factory, seed: int, reach: float = 0.06, turn: float = 0.8
) -> dict[str, float]:
    """Largest difference of model and judge by kind of acceleration, as part of the largest of them.

    At a random state with wheels loaded from outside, while the steering moves. ``reach``: of the coordinates [rad or
    m]; ``turn``: of the steering, as part of its range.
    """
    r, table, wheels = np.random.default_rng(seed), factory.table, vehicle.wheels
    n, place = len(wheels), {s.name: k for k, s in enumerate(table.states)}

    def rows(*names: str) -> list[int]:
        return [place[f"state.{name}"] for name in names]

    def of_wheels(name: str) -> list[int]:
        return rows(*(f"wheel_{w}.{name}" for w in wheels))

    x, q, omega, linear = np.zeros(len(table.states)), r.normal(size=4), r.normal(size=3), 5 * r.normal(size=3)
    theta, rate, spin = reach * r.uniform(-1, 1, n), r.normal(size=n), 20 * r.normal(size=n)
    x[rows("rot.e0", "rot.e1", "rot.e2", "rot.e3")] = q / np.linalg.norm(q)
    x[rows(*(f"pos.{a}" for a in "xyz"))] = r.normal(size=3) + [0.0, 0.0, 50.0]
    x[rows(*(f"ang_vel.{a}" for a in "xyz"))], x[rows(*(f"lin_vel.{a}" for a in "xyz"))] = omega, linear
    x[of_wheels("arm_angle")], x[of_wheels("arm_rate")], x[of_wheels("omega")] = theta, rate, spin
    steer = turn * vehicle["steering.max_arm_angle"] * r.uniform(-1, 1)
    steering, ratio = r.normal(), vehicle["steering_ratio"]
    force, moment, drive = 3e3 * r.normal(size=(n, 3)), 3e2 * r.normal(size=(n, 3)), 3e2 * r.normal(size=n)
    drive = np.where([axle.driven for axle in vehicle.axles for _ in range(2)], drive, 0.0)
    given = {"steering_wheel_angle": ratio * steer, "steering_wheel_rate": ratio * steering}
    for k, w in enumerate(wheels):
        given[f"wheel_{w}.drive_torque"] = drive[k]
        given |= {f"wheel_{w}.force.{a}": v for a, v in zip("xyz", force[k], strict=True)}
        given |= {f"wheel_{w}.moment.{a}": v for a, v in zip("xyz", moment[k], strict=True)}
    with replace(factory, kind=Exchange).instance("judged") as instance:
        instance.setup({"tire_source": "EXTERNAL", "init.equilibrium": False, "gravity": 0.0}, given)
        instance.set_states(x)

        def outputs() -> dict[str, float]:
            return dict(zip((s.name for s in table.outputs), instance.get_outputs(), strict=True))

        y = outputs()
        instance.set_values({f"wheel_{w}.point.{a}": y[f"wheel_{w}.pos.{a}"] for w in wheels for a in "xyz"})
        y, dx = outputs(), np.array(instance.get_rates())
    r_chassis = rotation(q / np.linalg.norm(q))
    force, moment = force @ r_chassis, moment @ r_chassis  # the judge works in chassis axes
    parts, of = [], []
    for number, axle in enumerate(vehicle.axles):
        mechanism = mechanism_of(vehicle, axle.name, axle.kind, shafts(vehicle, axle))
        whole = len(mechanism.wheels) == 2
        for side, own in ((1, [0, 1]),) if whole else ((1, [0]), (-1, [1])):
            lanes = [2 * number + k for k in own]
            push = {(kind, k): y[f"wheel_{wheels[lane]}.{kind}_force"] for k, lane in enumerate(lanes)
                    for kind in ("spring", "shock")}  # fmt: skip
            on_carrier = axle.drive_reaction == "carrier"  # a torque between wheel and carrier, as a brake's
            turned = np.array([-drive[lanes].sum() / axle.final_drive, 0, 0]) if on_carrier and whole else np.zeros(3)
            told = [told_of(vehicle, axle, name, side, steer, steering) for name in mechanism.prescribed]
            parts.append(maximal.Part(
                mechanism, theta[lanes], rate[lanes], spin[lanes], np.concatenate([*told, []]), side, push,
                force[lanes], moment[lanes], drive[lanes] * (not on_carrier), drive[lanes] * on_carrier, turned,
            ))  # fmt: skip
            of.append(lanes)
    judged = maximal.accelerations(chassis(vehicle, omega), parts)
    pairs = {
        "angular": (dx[rows(*(f"ang_vel.{a}" for a in "xyz"))], judged["angular"]),
        "linear": (dx[rows(*(f"lin_vel.{a}" for a in "xyz"))] + np.cross(omega, linear), judged["linear"]),
    }
    for name, state in (("theta", "arm_rate"), ("spin", "omega")):
        his = np.zeros(n)
        for lanes, values in zip(of, judged[name], strict=True):
            his[lanes] = values
        known = np.isfinite(his)
        pairs[name] = dx[of_wheels(state)][known], his[known]
    found = {k: float(np.abs(a - b).max() / np.abs(b).max()) for k, (a, b) in pairs.items()}
    return found | {"closure": y["closure_residual"]}


def rotation(q: Array) -> Array:
    """(3, 3) of a unit quaternion w x y z."""
    w, x, y, z = q
    s = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + 2 * w * s + 2 * s @ s)


def shafts(vehicle: Vehicle, axle: Axle) -> Mapping[str, float]:
    """The entries; an axle that is not driven has no shafts."""
    p = with_dual_wheels(vehicle, axle.name)
    return p if axle.driven else p | {"driveline.inertia": 0.0}


def told_of(vehicle: Vehicle, axle: Axle, name: str, side: int, steer: float, rate: float) -> Array:
    """(12,) place, motion per unit of steering, velocity and acceleration of an inner end; the steering does not
    accelerate."""
    end = inner_end(vehicle, axle, name, side)
    place, partial = end.at(steer)
    if axle.steered == "none":
        return np.concatenate([place, np.zeros(9)])
    wide, narrow = ((end.at(steer + h)[1] - end.at(steer - h)[1]) / (2 * h) for h in (NUDGE, NUDGE / 2))
    bend = (4 * narrow - wide) / 3
    return np.concatenate([place, partial, partial * rate, bend * rate**2])


def chassis(vehicle: Vehicle, omega: Array) -> maximal.Chassis:
    """The chassis of a vehicle, free of gravity; a Pitman linkage is part of it."""
    p = {name: SX(entry.value) for name, entry in vehicle.entries.items()}
    own = np.array(ca.evalf(chassis_inertia(p, linkage=gear_of(vehicle.axles) == "pitman"))).ravel()
    xx, yy, zz, xy, xz, yz = own[4:]
    about, com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), own[1:4] / own[0]
    inertia = about - own[0] * (com @ com * np.eye(3) - np.outer(com, com))
    return maximal.Chassis(own[0], com, inertia, omega, np.zeros(3))
