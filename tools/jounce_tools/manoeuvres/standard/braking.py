"""Braking: straight, in a turn, with different friction left and right. The driver limits the slip of each wheel."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from jounce_tools.manoeuvres.bench import PERIOD, Bench, Car, Log, State
from jounce_tools.manoeuvres.found import DEGREE, Array, Found, Plot, Settings, lateral, over_time
from jounce_tools.manoeuvres.standard import laws
from jounce_tools.manoeuvres.standard.signals import crossing, distance_between

#: Speed at which the vehicle counts as standing [m/s].
STANDS = 0.05
#: Straight ahead before the brake [s].
_BEFORE = 1.0
#: Change of the side-slip angle beyond which the vehicle counts as spun [deg].
SPUN = 15.0


@dataclass
class SlipLimit:
    """Brake torque of each wheel, which grows and falls with what is left to the wanted slip; 1 locks the wheels.

    An integral law on the slip, since the torque of a slip below the peak is stable and beyond it is not.
    ``brisk`` [1/s] is in parts of the static load times the wheel radius, per unit of slip. So that different friction
    left and right does not turn the vehicle at once, both wheels of every axle but the first have the torque of the
    lower, and those of the first may differ by no more than what grows with ``build_up`` [1/s] (select low and
    yaw-moment build-up delay: Robert Bosch GmbH, Automotive Handbook, chapter on anti-lock systems).
    """

    car: Car
    slip: float
    brisk: float = 60.0
    build_up: float = 0.4
    _torque: dict[str, float] = field(default_factory=dict)
    _apart: float = 0.0

    def torques(self, state: State) -> list[float]:
        """Brake torques [N.m], one per wheel."""
        part = self.car.mass * self.car.gravity * self.car.radius / len(self.car.wheels)
        for wheel in self.car.wheels:
            before = self._torque.get(wheel, 0.0)
            if self.slip >= 1.0:
                self._torque[wheel] = 10.0 * part
            elif float(state["speed"]) > 1.5:
                left = self.slip + min(float(state[f"wheel_{wheel}.slip"]), 0.0)
                self._torque[wheel] = min(max(before + self.brisk * part * left * PERIOD, 0.0), 3.0 * part)
        self._apart += self.build_up * part * PERIOD
        for k in range(0, len(self.car.wheels), 2):
            pair = self.car.wheels[k : k + 2]
            most = min(self._torque[w] for w in pair) + (self._apart if k == 0 else 0.0)
            for w in pair:
                self._torque[w] = min(self._torque[w], most)
        return [self._torque[w] for w in self.car.wheels]


def brake_straight(bench: Bench, s: Settings) -> Found:
    """Straight ahead to a stop."""
    log = stop_run(bench, "stop", s, {})
    return _stopped(log, [], bench.car)


def brake_split(bench: Bench, s: Settings) -> Found:
    """The wheels on the left on high friction, those on the right on low; the driver keeps straight."""
    car = bench.car
    extra = [f"wheel_{w}.terrain_mu" for w in car.wheels]
    side = [s["high"] if k % 2 == 0 else s["low"] for k in range(len(car.wheels))]
    log = stop_run(bench, "stop", s, dict(zip(extra, side, strict=True)))
    found = _stopped(log, [], car)
    a_high, a_low = s["high"] * car.gravity, s["low"] * car.gravity
    found.metrics["used_friction"] = 100.0 * found.metrics["mean_deceleration"] / (0.5 * (a_high + a_low))
    return found


def stop_run(bench: Bench, title: str, s: Settings, held: dict[str, float]) -> Log:
    """From ``speed`` [m/s] to a stop; ``held`` are extra inputs with their values, of a terrain of our own."""
    car = bench.car
    brake, straight = SlipLimit(car, s["slip"]), laws.straight(car)
    cruise = laws.Cruise(car, lambda _: s["speed"])

    def command(state: State) -> list[float]:
        if state.time < _BEFORE - 1e-9:
            return [straight(state), *cruise.torques(state), *held.values()]
        return [straight(state), *[0.0] * len(car.wheels), *brake.torques(state), *held.values()]

    def stop(state: State) -> tuple[str, bool] | None:
        return ("the vehicle stands", True) if state.time > _BEFORE and state["speed"] < STANDS else None

    own = {"terrain_source": "EXTERNAL"} if held else {}
    return bench.drive(title, command, s["time"], parameters={"init.speed": s["speed"], **own}, start=held,
                       extra=list(held), stop=stop)  # fmt: skip


def _stopped(log: Log, notes: list[str], car: Car) -> Found:
    v, t = log["speed"], log.time
    metrics = stop_metrics(t, v, _BEFORE)
    metrics |= {
        "yaw_deviation": float(np.max(np.abs(log["ref_frame.yaw"]))) / DEGREE,
        "lateral_deviation": float(np.max(np.abs(log["ref_frame.pos.y"]))),
        "steering_correction": float(np.max(np.abs(log["steering_wheel_angle"]))) / DEGREE,
    }
    return Found(metrics, [
        over_time("Speed", "[km/h]", ("stop", log, 3.6 * v)),
        over_time("Longitudinal acceleration", "[m/s2]", ("stop", log, log["com.lin_acc.x"])),
        over_time("Brake torque", "[N.m]", *((w, log, log[f"wheel_{w}.brake_torque"]) for w in car.wheels)),
        over_time("Slip", "[1]", *((w, log, np.where(v > 1.0, log[f"wheel_{w}.slip"], np.nan)) for w in car.wheels)),
        over_time("Yaw angle and steering", "[deg]", ("yaw", log, log["ref_frame.yaw"] / DEGREE),
                  ("steering wheel", log, log["steering_wheel_angle"] / DEGREE)),
    ], [*notes, log.end], log)  # fmt: skip


def stop_metrics(t: Array, speed: Array, begin: float) -> dict[str, float]:
    """Of a stop whose brake is applied at ``begin`` [s]: speed [m/s] over t [s].

    MFDD = (v_b^2 - v_e^2) / (2 s_be) with v_b = 0.8 and v_e = 0.1 of the initial speed: UN Regulation 13-H, annex 3,
    1.1.3 (which has 25.92 for speeds in km/h).
    """
    first = float(np.interp(begin, t, speed))
    end = crossing(t, speed, STANDS, begin)
    b, e = (crossing(t, speed, part * first, begin) for part in (0.8, 0.1))
    between = distance_between(t, speed, b, e)
    distance = distance_between(t, speed, begin, end)
    return {
        "initial_speed": 3.6 * first,
        "distance": distance,
        "time": end - begin,
        "mean_deceleration": first**2 / (2.0 * distance),
        "mfdd": (0.8**2 - 0.1**2) * first**2 / (2.0 * between),
    }


def brake_in_turn(bench: Bench, s: Settings) -> Found:
    """A circle at steady speed; then the steering wheel is held and the brakes pressed, harder from run to run."""
    logs = {}
    for a in np.arange(1.0, s["hardest"] + 1e-9, 1.0).tolist():
        logs[a] = turn_run(bench, s, a)
    rows = {a: turn_metrics(g.time, g["speed"], g["ref_frame.ang_vel.z"], lateral(g), g["sideslip"], s["settle"])
            for a, g in logs.items()}  # fmt: skip
    wanted = min(rows, key=lambda a: abs(a - s["deceleration"]))
    metrics, log = rows[wanted], logs[wanted]
    x, y = log["ref_frame.pos.x"], log["ref_frame.pos.y"]
    off = np.hypot(x, y - s["radius"]) - s["radius"]
    metrics["path_deviation"] = float(off[np.argmax(np.abs(off))])
    held = [a for a in rows if all(rows[b]["sideslip_change"] < SPUN for b in rows if b <= a)]
    metrics["stable_deceleration"] = max(held, default=0.0)
    at = np.array(list(rows))

    def over(title: str, unit: str, name: str) -> Plot:
        return Plot(title, "deceleration of the brakes [m/s2]", unit,
                    [(bench.place.vehicle, at, np.array([r[name] for r in rows.values()]))], dots=True)  # fmt: skip

    return Found(metrics, [
        over("Yaw rate after 1 s over that of the circle", "[1]", "yaw_ratio"),
        over("Largest change of the side-slip angle", "[deg]", "sideslip_change"),
        Plot("Path", "x [m]", "y [m]", [(f"{a:g} m/s2", g["ref_frame.pos.x"], g["ref_frame.pos.y"])
                                        for a, g in logs.items()], equal=True),
        over_time("Speed", "[km/h]", *((f"{a:g} m/s2", g, 3.6 * g["speed"]) for a, g in logs.items())),
        over_time("Yaw rate", "[deg/s]",
                  *((f"{a:g} m/s2", g, g["ref_frame.ang_vel.z"] / DEGREE) for a, g in logs.items())),
    ], [f"{a:g} m/s2: {g.end}" for a, g in logs.items() if not g.whole], log)  # fmt: skip


def turn_run(bench: Bench, s: Settings, deceleration: float) -> Log:
    """One run of braking in a turn."""
    car = bench.car
    before, circle = s["settle"], laws.Circle(car, s["radius"])
    speed = math.sqrt(s["lateral"] * s["radius"])
    cruise = laws.Cruise(car, lambda _: speed)
    held: list[float] = []

    def command(state: State) -> list[float]:
        if state.time < before - 1e-9:
            held[:] = [circle.steering(state)]
            return [*held, *cruise.torques(state)]
        return [*held, *[0.0] * len(car.wheels), *by_load(car, state, deceleration * car.mass * car.radius)]

    def stop(state: State) -> tuple[str, bool] | None:
        return ("the vehicle stands", True) if state.time > before and abs(state["speed"]) < STANDS else None

    return bench.drive(f"braking at {deceleration:g} m/s2", command, before + s["time"], stop=stop,
                       parameters={"init.speed": speed},
                       start={"steering_wheel_angle": car.wheelbase / s["radius"] * car.ratio})  # fmt: skip


def by_load(car: Car, state: State, torque: float) -> list[float]:
    """Brake torques that share ``torque`` [N.m] among the axles as their loads are now, equal left and right."""
    loads = [float(state[f"wheel_{w}.tire_force"][2]) for w in car.wheels]
    axles = [max(loads[k // 2 * 2] + loads[k // 2 * 2 + 1], 0.0) for k in range(len(loads))]
    return [torque * load / max(sum(axles), 1.0) for load in axles]


def turn_metrics(t: Array, speed: Array, yaw_rate: Array, acceleration: Array, sideslip: Array,
                 begin: float) -> dict[str, float]:  # fmt: skip
    """Of braking in a turn from ``begin`` [s] on; the reference is the mean of the second before.

    One second after the brake (ISO 7975): deceleration, and yaw rate over that of the same circle at the speed then.
    """
    before = (t >= begin - 1.0) & (t <= begin)
    v0, r0, b0 = (float(np.mean(y[before])) for y in (speed, yaw_rate, sideslip))
    at, v1 = begin + 1.0, float(np.interp(begin + 1.0, t, speed))
    after = (t >= begin) & (speed > 2.0)
    return {
        "initial_speed": 3.6 * v0,
        "initial_lateral": float(np.mean(acceleration[before])),
        "mean_deceleration": v0 - v1,
        "yaw_ratio": float(np.interp(at, t, yaw_rate)) / (r0 * v1 / v0),
        "peak_yaw_ratio": float(np.max(yaw_rate[after] / (r0 * speed[after] / v0))),
        "sideslip_change": float(np.max(np.abs(sideslip[after] - b0))) / DEGREE,
    }
