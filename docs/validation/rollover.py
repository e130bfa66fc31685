"""Vehicles that leave their wheels, for docs/validation.md: thrown over by steering, and dropped in a spin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from measure import Array, Record, factory

from jounce.data import load_vehicle
from jounce_fmu.importer.host import Value

EVERY = 10  # ticks between samples


@dataclass(frozen=True)
class Way:
    """How a vehicle is thrown over."""

    vehicle: str
    parameters: dict[str, Value]
    steering: float
    """Steering-wheel angle that is reached in 0.3 s [rad]."""
    moment: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """On the chassis in the first 0.3 s [N.m]."""


_FALL: dict[str, Value] = {"init.equilibrium": 0.0, "terrain.mu": 0.8, "init.speed": 5.0}
WAYS = {
    "J-turn, hmmwv, 25 m/s, mu 1.6": Way("hmmwv", {"init.speed": 25.0, "terrain.mu": 1.6}, 6.0),
    "J-turn, utv, 20 m/s, mu 1.6": Way("utv", {"init.speed": 20.0, "terrain.mu": 1.6}, 6.0),
    "drop from 4 m in a roll, hmmwv": Way("hmmwv", {**_FALL, "init.z": 4.0}, 0.0, (20e3, 0.0, 0.0)),
    "drop from 4 m, about all axes, hmmwv": Way("hmmwv", {**_FALL, "init.z": 4.0}, 0.0, (9e3, 14e3, 5e3)),
}


def energy(record: Record, vehicle: str) -> Array:
    """(n,) kinetic, potential, and that of tires and rims, which no output tells [J].

    A wheel's deflection is the coordinate of its springs upright and leaning: load and moment are the derivatives of
    this potential, but for the share that Chrono's measure has at small leans.
    """
    data, deep = load_vehicle(vehicle), record.wheels("deflection")
    onto_rim = np.maximum(deep - (data["tire.unloaded_radius"] - data["tire.rim_radius"]), 0.0)
    tires = data["tire.vertical_stiffness"] * deep**2 + data["tire.rim_stiffness"] * onto_rim**2
    return np.asarray(record("energy.kinetic") + record("energy.potential") + 0.5 * tires.sum(axis=1))


def rise(energies: Array) -> float:
    """Largest climb over any earlier value [J]."""
    return float(np.max(energies - np.minimum.accumulate(energies)))


def tilt(record: Record) -> Array:
    """(n,) angle between the vehicle's z axis and the vertical [deg]."""
    about = record("ref_frame.rot.e1", "ref_frame.rot.e2")
    return np.degrees(np.arccos(1.0 - 2.0 * np.sum(about**2, axis=1)))


@cache
def thrown(name: str, seconds: float = 10.0) -> Record:
    """The outputs from the end of the throw on, every EVERY ticks of 1 ms."""
    way = WAYS[name]
    fmu = factory(way.vehicle).instance("thrown")
    with fmu:
        fmu.setup(way.parameters)
        ramp, rows = way.steering / 0.3, []
        index = {s.name: k for k, s in enumerate(fmu.table.outputs)}
        for k in range(round(seconds / fmu.tick_length / EVERY)):
            t = k * EVERY * fmu.tick_length
            early = t < 0.3
            moments = {f"chassis.ext_moment.{a}": m * early for a, m in zip("xyz", way.moment, strict=True)}
            fmu.set_values({"steering_wheel_angle": min(ramp * t, way.steering),
                            "steering_wheel_rate": ramp if early else 0.0, **moments})  # fmt: skip
            fmu.step(EVERY)
            if not early:
                rows.append(fmu.get_outputs())
    return Record(0.3 + EVERY * fmu.tick_length * np.arange(1, len(rows) + 1), np.array(rows), index)


def loads(record: Record) -> tuple[Array, Array]:
    """((n,) on the body, (n,) on all wheels) [N], vertical."""
    return record("chassis.ground_force.z"), record.wheels("tire_force.z").sum(axis=1)
