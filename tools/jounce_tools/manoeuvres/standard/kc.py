"""Kinematics and compliance: the body is pushed and rolled on wheels without friction, slowly."""

from __future__ import annotations

import numpy as np

from jounce_tools.manoeuvres.bench import Bench, Log
from jounce_tools.manoeuvres.found import DEGREE, Array, Found, Plot, Settings
from jounce_tools.manoeuvres.standard.signals import gradient_at


def kc(bench: Bench, s: Settings) -> Found:
    """Pushes the body down and up, then rolls it, by forces on the chassis; wheels on ground without friction."""
    car = bench.car
    weight = car.mass * car.gravity
    heave = pushed(bench, "heave", "chassis.ext_force.z", s["push"] * weight, s["time"])
    roll = pushed(bench, "roll", "chassis.ext_moment.x", s["roll"] * weight * 0.5 * car.track, s["time"])
    metrics: dict[str, float] = {}
    lines: dict[str, list[tuple[str, Array, Array]]] = {"rate": [], "toe": [], "camber": [], "roll": []}
    for k in range(len(car.wheels) // 2):
        left, right = car.wheels[2 * k : 2 * k + 2]
        axle = str(k + 1)
        travel, load = heave[f"wheel_{left}.travel"], heave[f"wheel_{left}.tire_force.z"]
        toe, camber = -heave[f"wheel_{left}.steer"], heave[f"wheel_{left}.inclination"]
        angle = roll["ref_frame.roll"]
        shift = 0.5 * (roll[f"wheel_{right}.tire_force.z"] - roll[f"wheel_{left}.tire_force.z"]) * 2.0
        steer = 0.5 * (roll[f"wheel_{left}.steer"] + roll[f"wheel_{right}.steer"])
        ground = np.abs(roll[f"wheel_{left}.pos.y"] - roll[f"wheel_{right}.pos.y"])
        stiffness = slope(angle, 0.5 * shift * ground)
        metrics |= {
            f"wheel_rate_{axle}": slope(travel, load) / 1e3,
            f"bump_steer_{axle}": slope(travel, toe) / DEGREE / 1e3 * 100.0,
            f"bump_camber_{axle}": slope(travel, camber) / DEGREE / 1e3 * 100.0,
            f"roll_stiffness_{axle}": stiffness * DEGREE,
            f"roll_steer_{axle}": slope(angle, steer) * 100.0,
        }
        name = f"axle {axle}"
        lines["rate"].append((name, 1e3 * travel, load / 1e3))
        lines["toe"].append((name, 1e3 * travel, toe / DEGREE))
        lines["camber"].append((name, 1e3 * travel, camber / DEGREE))
        lines["roll"].append((name, angle / DEGREE, 0.5 * shift * ground / 1e3))
    down = "travel [mm], jounce positive"
    return Found(metrics, [
        Plot("Load of the left wheel", down, "[kN]", lines["rate"]),
        Plot("Toe of the left wheel", down, "toe in [deg]", lines["toe"]),
        Plot("Inclination of the left wheel", down, "[deg]", lines["camber"]),
        Plot("Roll moment of the axle", "roll angle [deg]", "[kN.m]", lines["roll"]),
    ], [f"{g.title}: {g.end}" for g in (heave, roll) if not g.whole], heave)  # fmt: skip


def slope(x: Array, y: Array) -> float:
    """dy/dx where the run began, from a parabola over a third of the range to the nearer side."""
    at = float(x[0])
    return gradient_at(x, y, at, min(at - float(x.min()), float(x.max()) - at) / 3.0)


def pushed(bench: Bench, title: str, name: str, height: float, time: float) -> Log:
    """One slow sine of an input of the chassis, from rest on ground without friction."""
    still = [0.0] * (1 + 2 * len(bench.car.wheels))
    own = {"init.speed": 0.0, "terrain.mu": 0.0}
    return bench.drive(title, lambda state: [*still, -height * np.sin(2.0 * np.pi * state.time / time)], time,
                       parameters=own, extra=[name])  # fmt: skip
