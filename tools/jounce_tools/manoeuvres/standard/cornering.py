"""Steady cornering and the weave: understeer, roll and side-slip gradients; feel on centre."""

from __future__ import annotations

import math

import numpy as np

from jounce_tools.manoeuvres.bench import Bench, Car, Log, State
from jounce_tools.manoeuvres.found import DEGREE, Array, Found, G, Plot, Settings, lateral
from jounce_tools.manoeuvres.standard import laws, linear
from jounce_tools.manoeuvres.standard.signals import gradient_at, hysteresis, low_pass

#: Lateral acceleration at which gradients are taken, and how far around it the fit goes [m/s2].
AT, AROUND = 0.1 * G, 0.08 * G


def steady_circle(bench: Bench, s: Settings) -> Found:
    """Steady turns at one speed, the same speed up to the limit, and one radius with speed that slowly grows."""
    car = bench.car
    ramp = speed_ramp(bench, s["speed"], s["rate"], s["most"])
    turns = steady_turns(bench, s["speed"], s["hold"], angle_at(ramp, AT))
    circle = radius_ramp(bench, s["radius"], s["acceleration"], s["time"])
    a, steering, roll, _ = turns
    a_circle = centripetal(circle)
    at_turns = gradient_at(a, steering, AT, AROUND)
    at_radius = {n: gradient_at(a_circle, circle[n], AT, AROUND) for n in ("steering_wheel_angle", "sideslip")}
    metrics = {
        "understeer": (at_turns / car.ratio - car.wheelbase / s["speed"] ** 2) / DEGREE * G,
        "understeer_radius": at_radius["steering_wheel_angle"] / car.ratio / DEGREE * G,
        "steering_gradient": at_turns / DEGREE * G,
        "roll_gradient": gradient_at(a, roll, AT, AROUND) / DEGREE * G,
        "sideslip_gradient": at_radius["sideslip"] / DEGREE * G,
        "largest_lateral": float(np.max(low_pass(ramp.time, lateral(ramp), 1.0))) / G,
        "largest_lateral_radius": float(np.max(low_pass(circle.time, lateral(circle), 1.0))) / G,
    }
    notes = [f"constant speed: {ramp.end}", f"constant radius: {circle.end}"]
    if model := linear.at(bench, s["speed"], float(np.interp(AT, a, steering))):
        metrics["understeer_linear"] = linear.understeer(model, car, s["speed"]) / DEGREE * G
        metrics["understeer_error"] = 100.0 * (metrics["understeer"] / metrics["understeer_linear"] - 1.0)
    both = ((f"{s['speed'] * 3.6:.0f} km/h", ramp), (f"radius {s['radius']:g} m", circle))

    def over(title: str, y: str, of: str) -> Plot:
        return Plot(title, "lateral acceleration [g]", y,
                    [(n, low_pass(log.time, lateral(log), 2.0) / G, log[of] / DEGREE) for n, log in both])  # fmt: skip

    return Found(metrics, [
        over("Steering-wheel angle", "steering-wheel angle [deg]", "steering_wheel_angle"),
        over("Roll angle", "roll [deg]", "ref_frame.roll"), over("Side slip", "side-slip angle [deg]", "sideslip"),
        Plot("Circle: path of the reference frame", "x [m]", "y [m]",
             [("path", circle["ref_frame.pos.x"], circle["ref_frame.pos.y"])], equal=True),
    ], notes, ramp)  # fmt: skip


def centripetal(log: Log) -> Array:
    """Speed times yaw rate [m/s2]: lateral acceleration in a steady turn, without that of a growing side slip."""
    return log["speed"] * log["ref_frame.ang_vel.z"]


def angle_at(ramp: Log, wanted: float) -> float:
    """Steering-wheel angle at a lateral acceleration [m/s2] of a ramp [rad]; the largest where it has less."""
    a, steering = low_pass(ramp.time, lateral(ramp), 1.0), ramp["steering_wheel_angle"]
    upto = int(np.argmax(a)) + 1
    return float(np.interp(wanted, a[:upto], steering[:upto]))


def steady_turns(bench: Bench, speed: float, hold: float, angle: float) -> tuple[Array, Array, Array, Array]:
    """Lateral acceleration [m/s2], steering-wheel angle, roll and side slip [rad] of six turns around the ``angle``.

    Each turn is held for ``hold`` [s]; the values are means of the last second.
    """
    car = bench.car
    heights = [angle * k for k in (0.5, 0.7, 0.9, 1.1, 1.3, 1.5)]

    def steering(t: float) -> float:
        k = min(int(t / hold), len(heights) - 1)
        before = heights[k - 1] if k else 0.0
        return before + (heights[k] - before) * min((t - k * hold) / 1.0, 1.0)

    cruise = laws.Cruise(car, lambda _: speed)
    log = bench.drive("steady turns", laws.steered(steering, cruise.torques), hold * len(heights),
                      parameters={"init.speed": speed})  # fmt: skip
    rows = []
    for k in range(1, len(heights) + 1):
        part = log.part(k * hold - 1.0, k * hold - 0.005)
        rows.append([float(np.mean(y)) for y in (centripetal(part), part["steering_wheel_angle"],
                                                 part["ref_frame.roll"], part["sideslip"])])  # fmt: skip
    a, turned, roll, slip = np.array(rows).T
    return a, turned, roll, slip


def speed_ramp(bench: Bench, speed: float, rate: float, most: float) -> Log:
    """Straight for 1 s, then steering grows so that lateral acceleration would by ``rate`` [m/s3] in a neutral car.

    It ends where lateral acceleration falls again for 2 s, at ``most`` [m/s2], or where steering is at its end.
    """
    car = bench.car
    growth = rate * car.wheelbase / speed**2 * car.ratio
    cruise = laws.Cruise(car, lambda _: speed)
    turns = laws.step(1.0, car.most_steering, growth)
    return bench.drive("constant speed", laws.steered(turns, cruise.torques), 1.0 + car.most_steering / growth,
                       parameters={"init.speed": speed}, stop=Saturated(most))  # fmt: skip


class Saturated:
    """Ends a run where lateral acceleration is at ``most`` [m/s2] or has not grown for 2 s."""

    def __init__(self, most: float, after: float = 3.0) -> None:
        """It does not end before ``after`` [s]."""
        self._most, self._after, self._best, self._when, self._smooth = most, after, 0.0, 0.0, 0.0

    def __call__(self, state: State) -> tuple[str, bool] | None:
        """See `bench.Stop`."""
        self._smooth += 0.05 * (float(state["com.lin_acc"][1]) - self._smooth)
        if self._smooth > self._best or state.time < self._after - 2.0:  # a start may have a peak
            self._best, self._when = self._smooth, float(state.time)
        if self._smooth >= self._most:
            return f"lateral acceleration is at {self._most:g} m/s2", True
        if state.time > self._after and state.time - self._when > 2.0:
            return "lateral acceleration grows no more", True
        return None


def radius_ramp(bench: Bench, radius: float, acceleration: float, time: float) -> Log:
    """A circle, speed growing from 3 m/s; it ends where the vehicle is 1.5 m off, or lateral acceleration falls."""
    car, grows = bench.car, Saturated(20.0, 10.0)
    circle = laws.Circle(car, radius)
    cruise = laws.Cruise(car, lambda t: 3.0 + acceleration * max(t - 3.0, 0.0))

    def stop(state: State) -> tuple[str, bool] | None:
        x, y = laws.front(state, car)
        if abs(math.hypot(x, y - radius) - radius) > 1.5:
            return "the vehicle is 1.5 m off the circle", True
        return grows(state)

    return bench.drive(f"radius {radius:g} m", lambda at: [circle.steering(at), *cruise.torques(at)], time,
                       parameters={"init.speed": 3.0}, stop=stop,
                       start={"steering_wheel_angle": car.wheelbase / radius * car.ratio})  # fmt: skip


def on_centre(bench: Bench, s: Settings) -> Found:
    """A weave of sine steering about straight ahead."""
    car = bench.car
    height = weave_height(car, s)
    cruise = laws.Cruise(car, lambda _: s["speed"])
    begin = 1.0
    log = bench.drive("weave", laws.steered(laws.sine(begin, s["frequency"], height, 1e9), cruise.torques),
                      begin + s["periods"] / s["frequency"], parameters={"init.speed": s["speed"]})  # fmt: skip
    part = log.part(begin + 1.0 / s["frequency"])
    steering, a = part["steering_wheel_angle"], lateral(part)
    torque = -part["steering.load_torque"] / car.ratio
    metrics = weave(steering, a, torque)
    return Found(metrics, [
        Plot("Lateral acceleration over steering", "steering-wheel angle [deg]", "lateral acceleration [g]",
             [("weave", steering / DEGREE, a / G)]),
        Plot("Steering torque over lateral acceleration", "lateral acceleration [g]", "steering-wheel torque [N.m]",
             [("weave", a / G, torque)]),
    ], [], log)  # fmt: skip


def weave_height(car: Car, s: Settings) -> float:
    """Steering-wheel angle that gives the wanted lateral acceleration in a car of the understeer that is set [rad]."""
    return (car.wheelbase / s["speed"] ** 2 + s["understeer"]) * s["lateral"] * car.ratio


def weave(steering: Array, acceleration: Array, torque: Array) -> dict[str, float]:
    """Metrics of whole periods of a weave: angles [rad], accelerations [m/s2], torque at the steering wheel [N.m].

    Sensitivity is the slope of the middle line between the branches, by least squares of a cubic in the steering.
    """
    cubic = np.polyfit(steering, acceleration, 3)
    slope = np.polyder(cubic)
    at = float(np.interp(0.1 * G, np.polyval(cubic, x := np.linspace(0.0, steering.max(), 400)), x))
    by_torque = np.polyder(np.polyfit(acceleration, torque, 3))
    return {
        "sensitivity": float(np.polyval(slope, at)) / G * 100.0 * DEGREE,
        "sensitivity_centre": float(slope[-1]) / G * 100.0 * DEGREE,
        "angle_hysteresis": hysteresis(acceleration, steering) / DEGREE,
        "acceleration_hysteresis": hysteresis(steering, acceleration) / G,
        "torque_gradient": float(by_torque[-1]) * G,
        "torque_gradient_01g": float(np.polyval(by_torque, 0.1 * G)) * G,
        "torque_hysteresis": hysteresis(acceleration, torque),
    }
