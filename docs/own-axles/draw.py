"""Draws the double lane changes of docs/own-axles.md: python docs/own-axles/draw.py [VEHICLE ...]

The autopilot of the demonstration (`jounce.driver`) drives each vehicle through the cones of ISO 3888-1. Needs jounce
and matplotlib (``pip install '.[test]'``).
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from jounce.course import DoubleLaneChange
from jounce.data import Vehicle, load_vehicle
from jounce.driver import PERIOD, Autopilot, Gains, Sight
from jounce.driver import Vehicle as Driven
from jounce_fmu.importer.host import Factory, open_builtin
from jounce_tools.vehicle.rest import standing

HERE = Path(__file__).resolve().parent
Array = NDArray[np.float64]
#: Vehicle -> speed [km/h] and understeer gradient that its driver reckons with [s2/m].
SPEEDS = {"car": (76.0, 0.0), "microbus": (60.0, 0.003), "pickup": (62.0, 0.004), "offroader": (58.0, 0.003),
          "truck8x8": (56.0, 0.002)}  # fmt: skip
#: Steering of the instance that tells how far the wheels turn [rad].
SMALL = 0.05


@dataclass(frozen=True)
class Run:
    """A vehicle's way through the cones."""

    name: str
    speed: float
    course: DoubleLaneChange
    log: dict[str, Array]


def drive(name: str) -> Run:
    """One lane change."""
    vehicle, factory = load_vehicle(name), open_builtin(name)
    speed, understeer = SPEEDS[name][0] / 3.6, SPEEDS[name][1]
    wheels, driven = vehicle.wheels, [a.driven for a in vehicle.axles for _ in "LR"]
    front, rear = (vehicle[f"{vehicle.axles[k].name}.origin.x"] for k in (0, -1))
    nose, tail = (max(abs(vehicle[f"chassis.outline.{a.name}.{p}.x"]) for p in ("low", "upper"))
                  for a in (vehicle.axles[0], vehicle.axles[-1]))  # fmt: skip
    wide = 2 * max(vehicle[f"chassis.outline.{a.name}.{p}.y"] for a in vehicle.axles for p in ("low", "upper"))
    course = DoubleLaneChange(width=wide, ahead=nose - front, behind=tail + front)
    ratio = road_wheel_ratio(vehicle, factory)
    most = vehicle["steering.max_arm_angle"] * vehicle["steering_ratio"] / ratio
    data = Driven(wheelbase=front - rear, mass=standing(vehicle).mass, wheel_radius=vehicle["tire.unloaded_radius"],
                  steering_ratio=ratio, max_road_wheel_angle=most)  # fmt: skip
    pilot = Autopilot(course, speed, data, Gains(understeer=understeer))
    names = [s.name for s in factory.table.outputs]
    rows: list[Array] = []
    with factory.instance("lane change") as instance:
        instance.setup({"init.speed": speed})
        while True:
            y = dict(zip(names, instance.get_outputs(), strict=True))
            axle = [0.5 * sum(y[f"wheel_{w}.pos.{a}"] for w in wheels[:2]) for a in "xy"]
            command = pilot.command(Sight(axle[0], axle[1], y["ref_frame.yaw"], y["ref_frame.ang_vel.z"], y["speed"]))
            torque = float(command[2] - command[6]) * 4
            given = {"steering_wheel_angle": float(command[0]) - float(command[1]) * PERIOD,
                     "steering_wheel_rate": float(command[1])}  # fmt: skip
            given |= {f"wheel_{w}.drive_torque": max(torque, 0.0) * on / sum(driven)
                      for w, on in zip(wheels, driven, strict=True)}  # fmt: skip
            given |= {f"wheel_{w}.brake_torque": max(-torque, 0.0) / len(wheels) for w in wheels}
            rows.append(np.array([*axle, y["ref_frame.yaw"], command[0], y["com.lin_acc.y"], y["ref_frame.roll"],
                                  y["speed"], *(y[f"wheel_{w}.tire_force.z"] for w in wheels)]))  # fmt: skip
            if axle[0] > course.lanes[-1].end + 15.0 or len(rows) > 2000:
                break
            instance.set_values(given)
            instance.step(round(PERIOD / 0.001))
    columns = ("x", "y", "yaw", "steering", "lateral", "roll", "speed", *(f"load {w}" for w in wheels))
    return Run(name, speed, course, dict(zip(columns, np.array(rows).T, strict=True)))


def road_wheel_ratio(vehicle: Vehicle, factory: Factory) -> float:
    """Steering-wheel angle over the mean angle of the first axle's wheels, for a small one."""
    angles = []
    for steering in (-SMALL, SMALL):
        with factory.instance("ratio") as instance:
            instance.setup({"init.equilibrium": False, "init.z": 10.0}, {"steering_wheel_angle": steering})
            y = dict(zip((s.name for s in factory.table.outputs), instance.get_outputs(), strict=True))
            angles.append(np.mean([y[f"wheel_{w}.steer"] for w in vehicle.wheels[:2]]))
    return float(2 * SMALL / (angles[1] - angles[0]))


def picture(run: Run) -> plt.Figure:
    """Path among the cones, steering, lateral acceleration, roll and wheel loads along the track."""
    log, course = run.log, run.course
    figure = plt.figure(figsize=(11, 6.5), layout="constrained")
    grid = figure.add_gridspec(3, 2)
    path = figure.add_subplot(grid[0, :])
    cones = course.cones()
    path.plot(cones[:, 0], cones[:, 1], "o", color="tab:orange", markersize=4, label="cones")
    path.plot(log["x"], log["y"], color="tab:blue", label="middle of the front axle")
    hit = course.cones_hit(log["x"], log["y"], log["yaw"])
    path.set(ylabel="y, left [m]", title=f"{run.name}: double lane change of ISO 3888-1 at {3.6 * run.speed:.0f} km/h, "
             f"{hit} cones touched")  # fmt: skip
    path.legend(loc="upper right")
    shown = (("steering wheel [deg]", ("steering",), math.degrees(1.0)), ("roll [deg]", ("roll",),
             math.degrees(1.0)), ("lateral acc. [m/s2]", ("lateral",), 1.0))  # fmt: skip
    for k, (label, names, scale) in enumerate(shown):
        axis = figure.add_subplot(grid[1 + k // 2, k % 2])
        for name in names:
            axis.plot(log["x"], scale * log[name], color="tab:blue")
        axis.set(ylabel=label)
    loads = figure.add_subplot(grid[2, 1])
    for name in (n for n in log if n.startswith("load ")):
        loads.plot(log["x"], 1e-3 * log[name], label=name.removeprefix("load "))
    largest = max(v.max() for n, v in log.items() if n.startswith("load "))
    loads.set(ylabel="wheel load [kN]", ylim=(0.0, 1.35e-3 * largest))
    loads.legend(loc="upper right", ncols=4, fontsize=8)
    for axis in figure.axes:
        axis.grid(visible=True, alpha=0.3)
        axis.set(xlim=(0.0, log["x"][-1]))
    for axis in figure.axes[-2:]:
        axis.set(xlabel="front axle along the track, x [m]")
    return figure


def main() -> None:
    """Draws the vehicles that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vehicles", nargs="*", default=list(SPEEDS), help="of " + ", ".join(SPEEDS))
    for name in parser.parse_args().vehicles:
        run = drive(name)
        picture(run).savefig(HERE / f"lane_change_{name}.png", dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
