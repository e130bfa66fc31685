"""Ride: weighted acceleration on a random road, and the speed at which half-rounds give 2.5 g."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from jounce_tools.manoeuvres.bench import Bench, Car, Log, State
from jounce_tools.manoeuvres.found import Array, Found, G, Plot, Settings, over_time
from jounce_tools.manoeuvres.standard import laws

Profile = Callable[[float], tuple[float, float]]
"""(height [m], slope [1]) of a road at x [m], the same for both tracks."""
#: Time between two queries of the road [s]; length of flat road before it, and in which it grows [m].
_PERIOD, _FLAT, _GROWS = 0.001, 5.0, 5.0
_INCH = 0.0254


def iso_road(road_class: int, seed: int = 1) -> Profile:
    """A road of ISO 8608: class 1 is A, 8 is H; the geometric mean of the class.

    G_d(n) = G_d(n_0) (n / n_0)^-2 with n_0 = 0.1 1/m and G_d(n_0) = 16e-6 m3 for class A, four times as much for each
    next; sines of wave numbers from 0.011 to 2.83 1/m with random phases.
    """
    density = 16e-6 * 4.0 ** (road_class - 1)
    edges = np.geomspace(0.011, 2.83, 201)
    n = np.sqrt(edges[1:] * edges[:-1])
    height: Array = np.sqrt(2.0 * density * (n / 0.1) ** -2 * np.diff(edges))
    phase = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, len(n))
    k = 2.0 * np.pi * n

    def at(x: float) -> tuple[float, float]:
        if x < _FLAT:
            return 0.0, 0.0
        angle = k * x + phase
        share = min((x - _FLAT) / _GROWS, 1.0)
        z, slope = float(height @ np.sin(angle)), float((height * k) @ np.cos(angle))
        return share * z, share * slope + (z / _GROWS if share < 1.0 else 0.0)

    return at


def half_round(radius: float, wheel: float, at: float) -> Profile:
    """What a rigid wheel of the radius ``wheel`` [m] makes of a half-round of ``radius`` [m] at x = ``at`` [m].

    The wheel's centre moves on a circle of the radius sum about the middle of the half-round, as long as that is over
    the centre on flat ground: z(x) = sqrt((R + r)^2 - x^2) - R.
    """
    reach = math.sqrt((wheel + radius) ** 2 - wheel**2)

    def profile(x: float) -> tuple[float, float]:
        s = x - at
        if abs(s) >= reach:
            return 0.0, 0.0
        root = math.sqrt((wheel + radius) ** 2 - s * s)
        return root - wheel, -s / root

    return profile


def over(bench: Bench, title: str, profile: Profile, speed: float, length: float, seat: Sequence[float]) -> Log:
    """Drives over a road at constant speed; the outputs of the IMU are those at ``seat`` [m], chassis axes."""
    car = bench.car
    extra = [f"wheel_{w}.{n}" for w in car.wheels for n in (
        "terrain_height", "terrain_normal.x", "terrain_normal.y", "terrain_normal.z")]  # fmt: skip
    cruise, straight = laws.Cruise(car, lambda _: speed), laws.straight(car)
    held: list[float] = []

    def command(state: State) -> list[float]:
        if round(state.time / _PERIOD) % 10 == 0:  # the driver is slower than the road
            held[:] = [straight(state), *cruise.torques(state)]
        ground: list[float] = []
        for w in car.wheels:
            height, slope = profile(float(state[f"wheel_{w}.query_point"][0]) + 0.5 * speed * _PERIOD)
            ground += [height, -slope, 0.0, 1.0]
        return [*held, *ground]

    def stop(state: State) -> tuple[str, bool] | None:
        return ("the road is driven", True) if state["ref_frame.pos"][0] > length else None

    place = {f"imu.pos.{a}": v for a, v in zip("xyz", seat, strict=True)}
    log = bench.drive(title, command, round(2.0 * length / speed, 2), extra=extra, stop=stop, period=_PERIOD,
                      parameters={"init.speed": speed, "terrain_source": "EXTERNAL", **place})  # fmt: skip
    if log.end == "the time is over":
        log.whole = False
    return log


def vertical(log: Log, car: Car) -> Array:
    """Vertical acceleration at the seat [m/s2], up positive; gravity of the level vehicle taken off."""
    return log["imu.specific_force.z"] - car.gravity


def ride(bench: Bench, s: Settings) -> Found:
    """A random road at one speed; then half-rounds of rising height, each at rising speed."""
    car = bench.car
    seat = (s["seat_x"], s["seat_y"], s["seat_z"])
    road = iso_road(int(s["road_class"]))
    log = over(bench, "random road", road, s["speed"], s["length"], seat)
    part = log.part((_FLAT + _GROWS + car.wheelbase) / s["speed"])
    a = vertical(part, car)
    metrics = {
        "weighted_rms": weighted_rms(part.time, a), "rms": float(np.sqrt(np.mean(np.square(a - a.mean())))),
        "largest": float(np.max(np.abs(a))) / G,
    }  # fmt: skip
    rows, lines = [], []
    tried = np.arange(s["slowest"], s["fastest"] + 1e-9, s["pace"])
    for inches in np.arange(s["lowest"], s["highest"] + 1e-9, s["step"]).tolist():
        peaks = []
        for v in tried.tolist():
            hump = half_round(inches * _INCH, car.radius, 8.0)
            run = over(bench, f"{inches:g} in at {3.6 * v:.1f} km/h", hump, v, 8.0 + 3.0 * car.wheelbase + v, seat)
            peaks.append(float(np.max(np.abs(vertical(run, car)))) / G if run.whole else np.inf)
        speed = gentle(tried, np.array(peaks), s["limit"])
        metrics[f"speed_{inches:g}"] = 3.6 * speed
        rows.append((inches, 3.6 * speed))
        lines.append((f"{inches:g} in", 3.6 * tried, np.where(np.isfinite(peaks), peaks, np.nan)))
    heights, speeds = np.array(rows).T
    return Found(metrics, [
        over_time("Acceleration at the seat on the random road", "[g]", ("vertical", part, a / G)),
        Plot("Profile", "x [m]", "z [m]", [("road", x := np.linspace(0.0, s["length"], 600),
                                            np.array([road(v)[0] for v in x]))]),
        Plot("Highest speed over half-rounds", "height [in]", "[km/h]", [(f"{s['limit']:g} g", heights, speeds)],
             dots=True),
        Plot("Largest acceleration over half-rounds", "speed [km/h]", "[g]", lines, dots=True),
    ], [], log)  # fmt: skip


def gentle(speed: Array, peak: Array, limit: float) -> float:
    """Speed at which the peak first goes beyond the limit, on straight lines between the runs; 0 if it begins there."""
    if peak[0] > limit:
        return 0.0
    beyond = np.flatnonzero(peak > limit)
    if not len(beyond):
        return float(speed[-1])
    k = int(beyond[0])
    if not np.isfinite(peak[k]):
        return float(speed[k - 1])
    return float(speed[k - 1] + (limit - peak[k - 1]) / (peak[k] - peak[k - 1]) * (speed[k] - speed[k - 1]))


def weighting(frequency: Array) -> Array:
    """|W_k| of ISO 2631-1:1997 for vertical vibration of a seated person, at frequencies [Hz].

    Product of the band limits at 0.4 and 100 Hz (Butterworth, second order), the transition at 12.5 Hz (Q 0.63) and
    the upward step at 2.37 and 3.35 Hz (Q 0.91 both): its annex A, Table A.1; also in ISO 8041-1.
    """
    p = 2j * np.pi * np.asarray(frequency)
    w1, w2, w3, w5, w6 = (2.0 * np.pi * f for f in (0.4, 100.0, 12.5, 2.37, 3.35))
    root = math.sqrt(2.0)
    band = p**2 / (p**2 + root * w1 * p + w1**2) * w2**2 / (p**2 + root * w2 * p + w2**2)
    transition = (1.0 + p / w3) / (1.0 + p / (0.63 * w3) + (p / w3) ** 2)
    step = (1.0 + p / (0.91 * w5) + (p / w5) ** 2) / (1.0 + p / (0.91 * w6) + (p / w6) ** 2) * (w5 / w6) ** 2
    shape: Array = np.abs(band * transition * step)
    return shape


def weighted_rms(t: Array, a: Array) -> float:
    """Rms of the weighted acceleration, by Parseval's theorem over the whole signal; its mean is left out."""
    spectrum = np.fft.rfft(a - a.mean()) / len(a)
    frequency: Array = np.asarray(np.fft.rfftfreq(len(a), float(np.mean(np.diff(t)))), np.float64)
    power = 2.0 * np.abs(spectrum[1:]) ** 2 * weighting(frequency[1:]) ** 2
    return float(np.sqrt(power.sum()))
