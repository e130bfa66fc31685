"""Transient cornering: step steer, frequency response, sine with dwell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jounce_tools.manoeuvres.bench import PERIOD, Bench, Log
from jounce_tools.manoeuvres.found import DEGREE, Array, Found, G, Plot, Settings, lateral, over_time
from jounce_tools.manoeuvres.standard import laws, linear
from jounce_tools.manoeuvres.standard.cornering import angle_at, speed_ramp
from jounce_tools.manoeuvres.standard.signals import bandwidth, crossing, gradient, low_pass, peak, response, steady

Gains = NDArray[np.complex128]
#: Window at the end of a step in which the state counts as steady [s].
_WINDOW = 1.0


def step_steer(bench: Bench, s: Settings) -> Found:
    """A step to the angle that gives the wanted lateral acceleration; and a small one beside the linear model."""
    height = amplitude(bench, s["speed"], s["lateral"], s)
    log = _step(bench, "step", s, height)
    t, r, a = log.time, log["ref_frame.ang_vel.z"], lateral(log)
    metrics = step_metrics(t, log.steering, r, a, log["sideslip"])
    metrics["steering"] = height / DEGREE
    plots = [
        over_time("Steering-wheel angle", "[deg]", ("step", log, log.steering / DEGREE)),
        over_time("Yaw rate", "[deg/s]", ("step", log, r / DEGREE)),
        over_time("Lateral acceleration", "[m/s2]", ("step", log, a)),
        over_time("Side-slip angle", "[deg]", ("step", log, log["sideslip"] / DEGREE)),
    ]
    if model := linear.at(bench, s["speed"]):
        gain = linear.gain(model, 1e-4, "ref_frame.ang_vel.z").real
        small = _step(bench, "small step", s, s["linear"] * G / (gain * s["speed"]))
        judged = linear.step_response(model, small["steering_wheel_angle"], "ref_frame.ang_vel.z")
        shown = small["ref_frame.ang_vel.z"]
        metrics["linear_error"] = 100.0 * float(np.max(np.abs(shown - judged)) / abs(judged[-1]))
        plots.append(over_time(f"Yaw rate of a step to {s['linear']:g} g and of the linear model", "[deg/s]",
                               ("vehicle", small, shown / DEGREE),
                               ("linear model", small, judged / DEGREE)))  # fmt: skip
    return Found(metrics, plots, [log.end], log)


def _step(bench: Bench, title: str, s: Settings, height: float) -> Log:
    cruise = laws.Cruise(bench.car, lambda _: s["speed"])
    rate = s["steering_rate"] * DEGREE
    return bench.drive(title, laws.steered(laws.step(1.0, height, rate), cruise.torques), 1.0 + s["time"],
                       parameters={"init.speed": s["speed"]})  # fmt: skip


def amplitude(bench: Bench, speed: float, wanted: float, s: Settings) -> float:
    """Steering-wheel angle of a steady lateral acceleration [rad], from a slow ramp; the largest where it has less."""
    ramp = speed_ramp(bench, speed, s["rate"], 1.1 * wanted)
    return angle_at(ramp, wanted)


def step_metrics(t: Array, steering: Array, yaw_rate: Array, acceleration: Array, sideslip: Array) -> dict[str, float]:
    """Metrics of a step [s, rad, rad/s, m/s2, rad]; times count from half of the steering input."""
    begin = crossing(t, steering, 0.5 * steering[-1])
    found: dict[str, float] = {}
    for name, y in (("yaw", yaw_rate), ("lateral", acceleration)):
        last = steady(t, y, _WINDOW)
        after = t >= begin
        top_at, top = peak(t[after], y[after])
        rises = abs(top) > abs(last) * 1.001
        found[f"{name}_response_time"] = crossing(t, y, 0.9 * last, begin) - begin
        found[f"{name}_peak_time"] = top_at - begin if rises else float("nan")
        found[f"{name}_overshoot"] = 100.0 * (top / last - 1.0) if rises else 0.0
        found[f"{name}_steady"] = last / (DEGREE if name == "yaw" else G)
    found["yaw_gain"] = steady(t, yaw_rate, _WINDOW) / steering[-1]
    found["sideslip_steady"] = steady(t, sideslip, _WINDOW) / DEGREE
    found["tb_factor"] = found["yaw_peak_time"] * abs(found["sideslip_steady"])
    return found


def frequency_response(bench: Bench, s: Settings) -> Found:
    """Sines of steering at one frequency after the other."""
    speed = s["speed"]
    height = amplitude(bench, speed, s["lateral"], s)
    frequencies = np.geomspace(s["lowest"], s["highest"], int(s["count"]))
    rows: list[tuple[complex, complex]] = []
    for f in frequencies.tolist():
        settle = max(2.0, 1.0 / f)
        cruise = laws.Cruise(bench.car, lambda _: speed)
        log = bench.drive(f"{f:.2f} Hz", laws.steered(laws.sine(0.5, f, height, 1e9), cruise.torques),
                          _whole(0.5 + settle + s["periods"] / f), parameters={"init.speed": speed})  # fmt: skip
        part = log.part(log.time[-1] - s["periods"] / f)
        steer = part["steering_wheel_angle"]
        rows.append((response(part.time, steer, part["ref_frame.ang_vel.z"], f) * _half(f),
                     response(part.time, steer, lateral(part), f) * _half(f)))  # fmt: skip
    yaw, side = np.array([y for y, _ in rows]), np.array([a for _, a in rows])
    metrics = response_metrics(frequencies, yaw, side)
    metrics["steering"] = height / DEGREE
    lines: dict[str, list[tuple[str, Array, Array]]] = {"gain": [], "phase": [], "again": [], "aphase": []}
    _bode(lines, "vehicle", frequencies, yaw, side)
    if model := linear.at(bench, speed):
        fine = np.geomspace(s["lowest"], s["highest"], 80)
        judges = (np.array([linear.gain(model, f, n) for f in fine]) for n in ("ref_frame.ang_vel.z", "com.lin_acc.y"))
        _bode(lines, "linear model", fine, *judges)
        judged = linear.gain(model, frequencies[0], "ref_frame.ang_vel.z")
        metrics["linear_error"] = 100.0 * abs(yaw[0] / judged - 1.0)
    hz = "frequency [Hz]"
    return Found(metrics, [
        Plot("Yaw rate over steering wheel: gain", hz, "[1/s]", lines["gain"], log=True),
        Plot("Yaw rate over steering wheel: phase", hz, "[deg]", lines["phase"], log=True),
        Plot("Lateral acceleration over steering wheel: gain", hz, "[m/s2 per rad]", lines["again"], log=True),
        Plot("Lateral acceleration over steering wheel: phase", hz, "[deg]", lines["aphase"], log=True),
    ])  # fmt: skip


def _half(f: float) -> complex:
    """The logged steering of a row is held from then on: its fundamental is half a period late, which is known."""
    return complex(np.exp(2j * np.pi * f * 0.5 * PERIOD))


def _whole(time: float) -> float:
    return round(time / PERIOD) * PERIOD


def _bode(lines: dict[str, list[tuple[str, Array, Array]]], label: str, f: Array, yaw: Gains, side: Gains) -> None:
    for gain, phase, h in (("gain", "phase", yaw), ("again", "aphase", side)):
        lines[gain].append((label, f, np.abs(h)))
        lines[phase].append((label, f, np.unwrap(np.angle(h)) / DEGREE))


def response_metrics(f: Array, yaw: Gains, side: Gains) -> dict[str, float]:
    """Metrics of complex gains over steering [1/s, m/s2 per rad] at rising frequencies [Hz]."""
    top = int(np.argmax(np.abs(yaw)))
    return {
        "yaw_gain": float(np.abs(yaw[0])),
        "yaw_bandwidth": bandwidth(f, yaw),
        "yaw_peak_ratio": float(np.abs(yaw[top]) / np.abs(yaw[0])),
        "yaw_peak_frequency": float(f[top]) if top else float("nan"),
        "lateral_gain": float(np.abs(side[0])) / G * DEGREE * 100.0,
        "lateral_bandwidth": bandwidth(f, side),
    }


def sine_with_dwell(bench: Bench, s: Settings) -> Found:
    """Steering to A of 0.3 g, then the sine with dwell at rising amplitudes to both sides."""
    ramp = slowly_increasing(bench, s)
    a = low_pass(ramp.time, lateral(ramp), 5.0)
    unit = 0.3 * G * gradient(a, ramp["steering_wheel_angle"], 0.1 * G, 0.375 * G)
    most = max(s["most_angle"] * DEGREE, 6.5 * unit)
    factors = [k for k in np.arange(1.5, 6.5 + 1e-9, s["increment"]) if k * unit <= most]
    rows, lines, ends = [], [], []
    released = laws.released(bench.car)
    for k in factors:
        steering = laws.sine_with_dwell(1.0, min(k * unit, most))
        log = bench.drive(f"{k:.1f} A", laws.steered(steering, lambda _: released), 1.0 + 1.0 / 0.7 + 0.5 + 2.2,
                          parameters={"init.speed": s["speed"]})  # fmt: skip
        found = dwell_metrics(log.time, log["ref_frame.ang_vel.z"], log["com.pos.y"], 1.0)
        rows.append((k, found, log.whole))
        lines.append((f"{k:.1f} A", log.time, log["ref_frame.ang_vel.z"] / DEGREE))
        if not log.whole:
            ends.append(f"{k:.1f} A: {log.end}")
    big = [f for k, f, _ in rows if k >= 5.0 - 1e-9] or [rows[-1][1]]
    metrics = {
        "A": unit / DEGREE,
        "ratio_100": max((f["ratio_100"] for _, f, ok in rows if ok), default=float("nan")),
        "ratio_175": max((f["ratio_175"] for _, f, ok in rows if ok), default=float("nan")),
        "displacement": min(f["displacement"] for f in big),
        "runs_lost": float(sum(not ok for _, _, ok in rows)),
    }
    return Found(metrics, [
        Plot("Yaw rate", "time [s]", "[deg/s]", lines),
        Plot("Yaw-rate ratio after the end of steering", "amplitude [A]", "[%]",
             [(f"{t} s", np.array(factors), np.array([f[n] for _, f, _ in rows]))
              for t, n in (("1.00", "ratio_100"), ("1.75", "ratio_175"))], dots=True),
        Plot("Displacement 1.07 s after the start of steering", "amplitude [A]", "[m]",
             [("displacement", np.array(factors), np.array([f["displacement"] for _, f, _ in rows]))], dots=True),
    ], ends)  # fmt: skip


def slowly_increasing(bench: Bench, s: Settings) -> Log:
    """13.5 deg/s of steering wheel at 80 km/h, throttle held, to 0.5 g or 40 s (49 CFR 571.126, S7.6)."""
    cruise = laws.Cruise(bench.car, lambda _: s["speed"])
    limit = s["ramp_rate"] * DEGREE

    def stop(state: object) -> tuple[str, bool] | None:
        return ("0.5 g", True) if float(state["com.lin_acc"][1]) > 0.5 * G else None  # type: ignore[index]

    return bench.drive("slowly increasing steer", laws.steered(laws.step(1.0, bench.car.most_steering, limit),
                       cruise.torques), 40.0, parameters={"init.speed": s["speed"]}, stop=stop)  # fmt: skip


def dwell_metrics(t: Array, yaw_rate: Array, y: Array, begin: float) -> dict[str, float]:
    """Of one sine with dwell that begins at ``begin`` [s]: yaw rate [rad/s], lateral position [m].

    Source: 49 CFR 571.126, S5.2: yaw rate 1.0 and 1.75 s after completion of steer over its first local peak after
    the steering changes sign, and lateral displacement 1.07 s after the beginning of steer.
    """
    period, dwell = 1.0 / 0.7, 0.5
    reversal, complete = begin + 0.5 * period, begin + period + dwell
    start = float(np.interp(begin, t, yaw_rate))
    window = (t >= reversal) & (t <= complete + 1.0)
    side = np.sign(float(np.interp(begin + 0.25 * period, t, yaw_rate)) - start)
    values = -side * (yaw_rate[window] - start)
    top = _first_peak(values)
    moved = abs(float(np.interp(begin + 1.07, t, y)) - float(np.interp(begin, t, y)))
    later = np.interp([complete + 1.0, complete + 1.75], t, yaw_rate, right=np.nan)
    first, second = (-100.0 * side * (later - start) / top).tolist()
    return {"ratio_100": first, "ratio_175": second, "displacement": moved if t[-1] >= begin + 1.07 else float("nan")}


def _first_peak(values: Array) -> float:
    """The first local maximum above half of the largest value."""
    for k in range(1, len(values) - 1):
        if values[k] >= values[k - 1] and values[k] > values[k + 1] and values[k] > 0.5 * values.max():
            return float(values[k])
    return float(values.max(initial=np.nan))
