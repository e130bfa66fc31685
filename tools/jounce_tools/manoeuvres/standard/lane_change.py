"""Double lane changes: the highest speed without a cone, found by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from jounce.course import DoubleLaneChange, nato_lane_change, obstacle_avoidance
from jounce.driver import PERIOD, Autopilot, Gains, Vehicle, gives, sight
from jounce_tools.manoeuvres.bench import Bench, Car, Log, State
from jounce_tools.manoeuvres.found import DEGREE, Found, G, Plot, Settings, lateral, over_time, path_of

#: How far from the path the vehicle has left the course [m], and how far behind the last cone the run ends [m].
_OFF, _BEHIND = 5.0, 10.0
Track = Callable[[float, float, float, float], DoubleLaneChange]
#: The setting ``track`` -> the course of (width, ahead, behind, start).
TRACKS: dict[int, Track] = {
    1: lambda width, ahead, behind, start: DoubleLaneChange(width, ahead, behind, start),
    2: obstacle_avoidance,
    3: nato_lane_change,
}


def double_lane_change(bench: Bench, s: Settings) -> Found:
    """Bisects the entry speed between ``low`` and ``high``, and drives the highest clean one once more."""
    car = bench.car
    course = TRACKS[int(s["track"])](car.width, car.front, car.back, 20.0)
    logs: dict[float, Log] = {}

    def clean(speed: float) -> bool:
        logs[speed] = log = through(bench, course, speed)
        return log.whole and cones(log, course, car) == 0

    low, high = s["low"], s["high"]
    again = None
    if not clean(low):
        best, notes = float("nan"), [f"a cone falls at the lowest speed of {3.6 * low:.1f} km/h"]
        shown = logs[low]
    elif clean(high):
        best, notes, shown = high, [f"no cone falls at the highest speed of {3.6 * high:.1f} km/h"], logs[high]
    else:
        best, worst = highest(clean, low, high, s["resolution"])
        notes, shown = [f"cones fall at {3.6 * worst:.1f} km/h: {logs[worst].end}"], logs[best]
    if not math.isnan(best):
        again = through(bench, course, best)
    x = shown["wheel_" + car.wheels[0] + ".pos.x"]
    metrics = {
        "entry_speed": 3.6 * best,
        "cones": float(cones(shown, course, car)),
        "repeats": float(again is not None and np.array_equal(again.y, shown.y)),
        "peak_lateral": float(np.max(np.abs(lateral(shown)))) / G,
        "peak_yaw_rate": float(np.max(np.abs(shown["ref_frame.ang_vel.z"]))) / DEGREE,
        "peak_roll": float(np.max(np.abs(shown["ref_frame.roll"]))) / DEGREE,
        "peak_steering": float(np.max(np.abs(shown["steering_wheel_angle"]))) / DEGREE,
        "exit_speed": 3.6 * float(shown["speed"][-1]),
    }
    wanted = np.array([(at, course.path(at)[0]) for at in np.arange(0.0, float(x.max()), 0.5)])
    runs = [("highest without a cone", shown), *(("next", log) for v, log in logs.items() if v == _next(logs, best))]
    return Found(metrics, [
        Plot("Course and paths", "x [m]", "y [m]",
             [("wanted path of the first axle", *wanted.T), *((n, *path_of(g)[1:]) for n, g in runs)],
             points=course.cones()),
        over_time("Steering-wheel angle", "[deg]", *((n, g, g["steering_wheel_angle"] / DEGREE) for n, g in runs)),
        over_time("Lateral acceleration", "[g]", *((n, g, lateral(g) / G) for n, g in runs)),
        over_time("Roll angle", "[deg]", *((n, g, g["ref_frame.roll"] / DEGREE) for n, g in runs)),
    ], notes, shown)  # fmt: skip


def _next(logs: dict[float, Log], best: float) -> float:
    """The lowest speed above the best that was driven."""
    return min((v for v in logs if v > best), default=float("nan"))


def highest(clean: Callable[[float], bool], low: float, high: float, resolution: float) -> tuple[float, float]:
    """(highest speed seen to be clean, lowest above it seen not to be), ``low`` being clean and ``high`` not.

    By bisection on multiples of the resolution, so that the answer does not depend on rounding.
    """
    below, above = 0, max(1, round((high - low) / resolution))
    step = (high - low) / above
    while above - below > 1:
        middle = (below + above) // 2
        if clean(low + middle * step):
            below = middle
        else:
            above = middle
    return low + below * step, low + above * step


def driver(car: Car, course: DoubleLaneChange, speed: float) -> Autopilot:
    """The autopilot of `jounce.driver` with the data of this vehicle; its gains are those of the example."""
    road = min(DEGREE * 35.0, car.most_steering / car.ratio)
    per_wheel = car.mass * car.radius / len(car.wheels)
    vehicle = Vehicle(car.wheelbase, car.mass, car.radius, car.ratio, road, 4.0 * per_wheel * len(car.wheels)
                      / max(len(car.driven), 1), 6.0 * per_wheel, car.wheels, car.driven or car.wheels)  # fmt: skip
    return Autopilot(course, speed, vehicle, Gains())


def through(bench: Bench, course: DoubleLaneChange, speed: float) -> Log:
    """One run at that entry speed [m/s], which the driver holds."""
    pilot, car = driver(bench.car, course, speed), bench.car
    end = course.lanes[-1].end + _BEHIND
    rate = gives(car.wheels).index("steering_wheel_rate")

    def command(state: State) -> list[float]:
        given = pilot.command(sight(state, car.wheels)).tolist()
        turning = given.pop(rate)
        return [*given, turning]

    def stop(state: State) -> tuple[str, bool] | None:
        at = sight(state, car.wheels)
        if abs(course.lateral_error(at.x, at.y)) > _OFF:
            return f"the vehicle left the course at x = {at.x:.0f} m", False
        if abs(math.remainder(at.yaw, 2.0 * math.pi)) > 0.5 * math.pi or at.speed < 1.0:
            return f"the vehicle spun at x = {at.x:.0f} m", False
        return ("the course is driven", True) if at.x > end else None

    log = bench.drive(f"{3.6 * speed:.1f} km/h", command, 3.0 * end / speed, parameters={"init.speed": speed},
                      extra=["steering_wheel_rate"], stop=stop, period=PERIOD)  # fmt: skip
    if log.end == "the time is over":
        log.whole = False
    return log


def cones(log: Log, course: DoubleLaneChange, car: Car) -> int:
    """Cones that the body touches, or lane edges that it crosses between two of them (then at least 1)."""
    x, y = (0.5 * (log[f"wheel_{car.wheels[0]}.pos.{a}"] + log[f"wheel_{car.wheels[1]}.pos.{a}"]) for a in "xy")
    yaw = log["ref_frame.yaw"]
    return max(course.cones_hit(x, y, yaw), int(course.excursion(x, y, yaw) > 0.0))
