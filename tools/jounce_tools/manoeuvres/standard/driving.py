"""Straight ahead: acceleration, grades, top speed, coast-down, standing on a slope."""

from __future__ import annotations

import math

import numpy as np

from jounce_tools.manoeuvres.bench import Bench, Car, Log, State
from jounce_tools.manoeuvres.found import Array, Found, Plot, Settings, over_time
from jounce_tools.manoeuvres.standard import laws
from jounce_tools.manoeuvres.standard.signals import crossing, distance_between, steady

#: Density of air [kg/m3]: ISO 2533, sea level.
AIR = 1.225
_DRAG = ["chassis.ext_force.x"]


def traction(car: Car, s: Settings, speed: float) -> float:
    """Torque of all wheels together [N.m]: at most ``tractive`` of the weight, and at most ``power`` [W/kg].

    It stands for a powertrain where the vehicle has none.
    """
    force = s["tractive"] * car.mass * car.gravity
    return min(force, s["power"] * car.mass / max(speed, 0.1)) * car.radius


def drag(s: Settings, speed: float) -> float:
    """Force of the air along x [N] on ``drag_area`` [m2]: c_d A."""
    return -0.5 * AIR * s["drag_area"] * speed * abs(speed)


def _full(bench: Bench, title: str, s: Settings, duration: float, parameters: dict[str, float], slow: float) -> Log:
    """Full traction, straight; it ends where the speed has changed by less than ``slow`` [m/s] in 4 s."""
    car, straight, seen = bench.car, laws.straight(bench.car), [0.0, -1.0]

    def command(state: State) -> list[float]:
        v = float(state["speed"])
        return [straight(state), *laws.wheel_torques(car, traction(car, s, v), 0.0), drag(s, v)]

    def stop(state: State) -> tuple[str, bool] | None:
        if state.time >= seen[0] + 4.0:
            before, seen[:] = seen[1], [float(state.time), float(state["speed"])]
            if abs(seen[1] - before) < slow:
                return "the speed changes no more", True
        return None

    return bench.drive(title, command, duration, parameters=parameters, extra=_DRAG, stop=stop)


def acceleration(bench: Bench, s: Settings) -> Found:
    """From standstill at full traction."""
    log = _full(bench, "acceleration", s, s["time"], {"init.speed": 0.0}, 0.0)
    metrics = run_up(log.time, log["speed"])
    return Found(metrics, [
        over_time("Speed", "[km/h]", ("speed", log, 3.6 * log["speed"])),
        over_time("Longitudinal acceleration", "[m/s2]", ("acceleration", log, log["com.lin_acc.x"])),
    ], [log.end], log)  # fmt: skip


def run_up(t: Array, speed: Array) -> dict[str, float]:
    """Times from standstill [s] to speeds, and over 100 and 400 m; speed [m/s] over t [s] from 0."""
    way = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(t))])
    return {
        **{f"time_{v}": crossing(t, speed, v / 3.6) for v in (30, 50, 80)},
        "time_100m": crossing(t, way, 100.0), "time_400m": crossing(t, way, 400.0),
        "largest_acceleration": float(np.max((np.interp(t + 0.5, t, speed) - speed) / 0.5)),
    }  # fmt: skip


def gradeability(bench: Bench, s: Settings) -> Found:
    """Uphill at full traction until the speed is steady."""
    grades = np.arange(0.0, s["steepest"] + 1e-9, s["step"])
    speeds, lines = [], []
    for grade in grades.tolist():
        log = _full(bench, f"grade {100 * grade:.0f} %", s, s["time"],
                    {"init.speed": s["speed"], "terrain.slope": math.atan(grade)}, 0.02)  # fmt: skip
        speeds.append(max(steady(log.time, log["speed"], 1.0), 0.0) if log.whole else 0.0)
        lines.append((f"{100 * grade:.0f} %", log.time, 3.6 * log["speed"]))
    holds = grades[np.array(speeds) > 0.1]
    metrics = {f"speed_{100 * g:.0f}": 3.6 * v for g, v in zip(grades.tolist(), speeds, strict=True)}
    metrics["largest_grade"] = 100.0 * float(holds.max(initial=0.0))
    return Found(metrics, [
        Plot("Steady speed on a grade", "grade [%]", "[km/h]",
             [("full traction", 100.0 * grades, 3.6 * np.array(speeds))], dots=True),
        Plot("Speed", "time [s]", "[km/h]", lines),
    ])  # fmt: skip


def top_speed(bench: Bench, s: Settings) -> Found:
    """Full traction on level ground until the speed is steady."""
    log = _full(bench, "top speed", s, s["time"], {"init.speed": s["speed"]}, 0.02)
    top = steady(log.time, log["speed"], 1.0)
    return Found({"top_speed": 3.6 * top, "reached": float(log.end == "the speed changes no more")},
                 [over_time("Speed", "[km/h]", ("speed", log, 3.6 * log["speed"]))], [log.end], log)  # fmt: skip


def coastdown(bench: Bench, s: Settings) -> Found:
    """No drive, no brake, from ``speed`` to 5 km/h."""
    car, straight = bench.car, laws.straight(bench.car)

    def command(state: State) -> list[float]:
        return [straight(state), *laws.released(car), drag(s, float(state["speed"]))]

    def stop(state: State) -> tuple[str, bool] | None:
        return ("5 km/h", True) if state["speed"] < 5.0 / 3.6 else None

    log = bench.drive("coast-down", command, s["time"], parameters={"init.speed": s["speed"]}, extra=_DRAG, stop=stop)
    part = log.part(1.0)
    v = part["speed"]
    metrics = road_load(part.time, v, car.mass)
    return Found(metrics, [
        over_time("Speed", "[km/h]", ("speed", log, 3.6 * log["speed"])),
        Plot("Road load", "speed [km/h]", "force over mass [m/s2]",
             [("fit", 3.6 * v, (metrics["f0"] + metrics["f1"] * v + metrics["f2"] * v * v) / car.mass)]),
    ], [log.end], log)  # fmt: skip


def road_load(t: Array, speed: Array, mass: float) -> dict[str, float]:
    """F = f0 + f1 v + f2 v^2 [N, N.s/m, N.s2/m2] of a coast-down, by least squares on its integral over half seconds.

    m (v_a - v_b) = f0 dt + f1 int v dt + f2 int v^2 dt, which needs no derivative of the speed. Source: the form of
    SAE J1263; the wheels' inertia is not added to the mass.
    """
    every = max(1, round(0.5 / float(np.mean(np.diff(t)))))
    rows, right = [], []
    for k in range(0, len(t) - every, every):
        part = slice(k, k + every + 1)
        rows.append([np.trapezoid(speed[part] ** n, t[part]) for n in range(3)])
        right.append(mass * (speed[k] - speed[k + every]))
    f0, f1, f2 = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)[0].tolist()
    return {
        "f0": f0, "f1": f1, "f2": f2,
        "deceleration_50": (f0 + f1 * (50 / 3.6) + f2 * (50 / 3.6) ** 2) / mass,
        "time_60_40": crossing(t, speed, 40 / 3.6) - crossing(t, speed, 60 / 3.6),
        "distance": distance_between(t, speed, float(t[0]), float(t[-1])),
    }  # fmt: skip


def park(bench: Bench, s: Settings) -> Found:
    """Brakes on, on a slope, in four headings."""
    car = bench.car
    held = [0.0, *laws.wheel_torques(car, 0.0, 4.0 * car.mass * car.gravity * car.radius)]
    start = dict(zip((f"wheel_{w}.brake_torque" for w in car.wheels), held[-len(car.wheels) :], strict=True))
    metrics, lines, ends = {}, [], []
    for name, yaw in (("uphill", 0.0), ("left", 90.0), ("downhill", 180.0), ("right", 270.0)):
        log = bench.drive(name, lambda _: held, s["time"], start=start, parameters={
            "init.speed": 0.0, "init.yaw": math.radians(yaw), "terrain.slope": math.atan(s["grade"])})  # fmt: skip
        metrics[f"creep_{name}"] = 1e3 * creep(log.time, log["ref_frame.pos"], s["after"])
        lines.append((name, log.time, 1e3 * np.linalg.norm(log["ref_frame.pos"] - log["ref_frame.pos"][0], axis=1)))
        if not log.whole:
            ends.append(f"{name}: {log.end}")
    return Found(metrics, [Plot("Way from the start", "time [s]", "[mm]", lines)], ends)


def creep(t: Array, position: Array, after: float) -> float:
    """How far the vehicle has moved [m] between ``after`` [s], when it has settled, and the end; position (n, 3)."""
    k = int(np.searchsorted(t, after - 1e-9))
    return float(np.linalg.norm(position[-1] - position[min(k, len(t) - 1)]))
