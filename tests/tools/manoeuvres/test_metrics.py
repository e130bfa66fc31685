"""Metrics of signals whose answers are known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce_tools.manoeuvres.found import DEGREE, G
from jounce_tools.manoeuvres.standard import braking, cornering, driving, kc, ride, transient
from jounce_tools.manoeuvres.standard import signals as sig
from jounce_tools.manoeuvres.standard.lane_change import highest

T = np.arange(0.0, 10.0, 0.01)


def test_a_level_is_crossed_where_the_straight_line_between_the_samples_crosses_it() -> None:
    t, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 4.0, 0.0, 4.0])
    assert sig.crossing(t, y, 1.0) == 0.25
    assert sig.crossing(t, y, 1.0, after=0.5) == 1.75
    assert math.isnan(sig.crossing(t, y, 5.0))


@given(st.floats(0.3, 9.7), st.floats(-5.0, 5.0).filter(lambda v: abs(v) > 1.0))
def test_the_peak_of_a_parabola_is_found_between_the_samples(at: float, height: float) -> None:
    when, value = sig.peak(T, height - math.copysign(0.01, height) * (T - at) ** 2)
    assert when == pytest.approx(at, abs=1e-6) and value == pytest.approx(height, rel=1e-9)


def test_slopes_of_a_line_and_of_a_parabola_are_exact() -> None:
    x = np.linspace(0.0, 2.0, 50)
    assert sig.gradient(x, 3.0 - 7.0 * x, 0.5, 1.5) == pytest.approx(-7.0)
    assert sig.gradient_at(x, 1.0 + 2.0 * x + 5.0 * x * x, 1.0, 0.5) == pytest.approx(12.0)
    assert math.isnan(sig.gradient(x, x, 5.0, 6.0))


@given(st.floats(0.2, 4.0), st.floats(0.1, 10.0), st.floats(-3.0, 3.0))
def test_gain_and_phase_of_sines_with_mean_and_drift_are_exact(f: float, gain: float, phase: float) -> None:
    u = 2.0 * np.sin(2 * np.pi * f * T) + 1.0
    y = 2.0 * gain * np.sin(2 * np.pi * f * T + phase) - 3.0 + 0.1 * T
    assert abs(sig.response(T, u, y, f) / (gain * np.exp(1j * phase)) - 1.0) < 1e-9


def test_the_bandwidth_of_a_first_order_lag_is_its_corner_frequency() -> None:
    f = np.geomspace(1e-3, 10.0, 400)
    lag = np.asarray(1.0 / (1.0 + 1j * f / 0.8), np.complex128)
    assert sig.bandwidth(f, lag) == pytest.approx(0.8, rel=0.01)


def test_the_filter_halves_the_power_at_its_cutoff_and_leaves_lines_and_slow_sines() -> None:
    middle = slice(300, 700)
    for f, gain in ((1.0, math.sqrt(0.5)), (0.1, 1.0)):
        y = np.sin(2 * np.pi * f * T)
        assert np.abs(sig.response(T[middle], y[middle], sig.low_pass(T, y, 1.0)[middle], f)) == pytest.approx(
            gain, rel=2e-3
        )
    assert sig.low_pass(T, 3.0 + 2.0 * T, 1.0) == pytest.approx(3.0 + 2.0 * T, abs=1e-3)


@given(st.floats(0.05, 1.5))
def test_the_hysteresis_of_an_ellipse_is_twice_amplitude_times_sine_of_the_lag(lag: float) -> None:
    u, y = np.sin(2 * np.pi * 0.2 * T), 3.0 * np.sin(2 * np.pi * 0.2 * T - lag)
    assert sig.hysteresis(u, y) == pytest.approx(6.0 * math.sin(lag), rel=1e-3)


def test_a_step_of_a_second_order_system_has_its_textbook_peak_overshoot_and_rise() -> None:
    """Peak at pi / w_d, overshoot exp(-zeta pi / sqrt(1 - zeta^2)): e.g. Ogata, Modern Control Engineering, 5-3."""
    w, zeta, begin = 4.0, 0.5, 1.0
    wd, t = w * math.sqrt(1 - zeta**2), np.arange(0.0, 12.0, 0.01)
    s = np.maximum(t - begin, 0.0)
    y = 1.0 - np.exp(-zeta * w * s) * (np.cos(wd * s) + zeta * w / wd * np.sin(wd * s))
    steering = np.where(t < begin, 0.0, 0.5)
    found = transient.step_metrics(t, steering, 0.3 * y, 4.0 * y, -0.02 * y)
    late = 0.5 * 0.01  # the step is between two samples: its half is in the middle
    assert found["yaw_peak_time"] == pytest.approx(math.pi / wd + late, abs=2e-3)
    assert found["yaw_overshoot"] == pytest.approx(100 * math.exp(-zeta * math.pi / math.sqrt(1 - zeta**2)), rel=1e-3)
    rise = float(np.interp(0.9, y[t < 1.6], s[t < 1.6]))
    assert found["lateral_response_time"] == pytest.approx(rise + late, abs=2e-3)
    assert found["yaw_gain"] == pytest.approx(0.6, rel=1e-4) and found["lateral_steady"] == pytest.approx(
        4.0 / G, rel=1e-4
    )
    assert found["tb_factor"] == pytest.approx(found["yaw_peak_time"] * 0.02 / DEGREE, rel=1e-3)


def test_a_step_without_overshoot_has_no_peak_time() -> None:
    y = 1.0 - np.exp(-np.maximum(T - 1.0, 0.0))
    found = transient.step_metrics(T, np.where(T < 1.0, 0.0, 1.0), y, y, y)
    assert found["yaw_overshoot"] == 0.0 and math.isnan(found["yaw_peak_time"])
    assert found["yaw_response_time"] == pytest.approx(math.log(10.0), abs=0.02)


def test_the_frequency_response_of_a_second_order_system_has_its_resonance() -> None:
    """Largest gain 1 / (2 zeta sqrt(1 - zeta^2)) at w sqrt(1 - 2 zeta^2); 45 deg where 1 - r^2 = 2 zeta r."""
    f, zeta, f0 = np.geomspace(0.01, 5.0, 2000), 0.3, 1.2
    r = f / f0
    h = np.asarray(1.0 / (1.0 - r * r + 2j * zeta * r), np.complex128)
    found = transient.response_metrics(f, 0.2 * h, 30.0 * h)
    assert found["yaw_peak_ratio"] == pytest.approx(1.0 / (2 * zeta * math.sqrt(1 - zeta**2)), rel=1e-3)
    assert found["yaw_peak_frequency"] == pytest.approx(f0 * math.sqrt(1 - 2 * zeta**2), rel=3e-3)
    assert found["yaw_bandwidth"] == pytest.approx(f0 * (math.sqrt(1 + zeta**2) - zeta), rel=0.02)
    assert found["lateral_gain"] == pytest.approx(30.0 / G * DEGREE * 100.0, rel=1e-3)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_sine_with_dwell_ratios_and_displacement_of_a_made_signal(side: float) -> None:
    """49 CFR 571.126 S5.2: after the completion of steer the yaw rate falls as exp(-s / 0.8)."""
    begin, t = 1.0, np.arange(0.0, 6.0, 0.005)
    complete = begin + 1.0 / 0.7 + 0.5
    rate = np.where(t < complete, 0.5 * np.sin(2 * np.pi * 0.7 * np.clip(t - begin, 0.0, 0.75 / 0.7)),
                    -0.5 * np.exp(-(t - complete) / 0.8))  # fmt: skip
    y = np.where(t > begin, 1.7 * (t - begin) ** 2, 0.0)
    found = transient.dwell_metrics(t, side * rate, -side * y, begin)
    assert found["ratio_100"] == pytest.approx(100 * math.exp(-1.0 / 0.8), rel=0.01)
    assert found["ratio_175"] == pytest.approx(100 * math.exp(-1.75 / 0.8), rel=0.01)
    assert found["displacement"] == pytest.approx(1.7 * 1.07**2, rel=1e-3)


def test_gradients_of_a_vehicle_of_known_understeer() -> None:
    a = np.linspace(0.0, 3.0, 400)
    steering = 27.0 * (3.3 / 400.0 + 0.003) * a
    assert sig.gradient_at(a, steering, cornering.AT, cornering.AROUND) / 27.0 - 3.3 / 400.0 == pytest.approx(0.003)


def test_a_weave_of_known_slope_lag_and_torque() -> None:
    t = np.arange(0.0, 20.0, 0.01)
    steering, lag = 0.4 * np.sin(2 * np.pi * 0.2 * t), 0.25
    a = 2.0 * np.sin(2 * np.pi * 0.2 * t - lag)
    found = cornering.weave(steering, a, 0.7 * a + 0.05 * a**3)
    # the middle line of the ellipse has the in-phase part of the amplitude
    assert found["sensitivity"] == pytest.approx(2.0 * math.cos(lag) / 0.4 / G * 100 * DEGREE, rel=1e-3)
    assert found["acceleration_hysteresis"] == pytest.approx(2 * 2.0 * math.sin(lag) / G, rel=1e-3)
    assert found["angle_hysteresis"] == pytest.approx(2 * 0.4 * math.sin(lag) / DEGREE, rel=1e-3)
    assert found["torque_gradient"] == pytest.approx(0.7 * G, rel=1e-6)
    assert found["torque_gradient_01g"] == pytest.approx((0.7 + 0.15 * (0.1 * G) ** 2) * G, rel=1e-6)
    assert found["torque_hysteresis"] == pytest.approx(0.0, abs=1e-6)


@given(st.floats(5.0, 40.0), st.floats(1.0, 9.0))
def test_a_stop_at_constant_deceleration(speed: float, a: float) -> None:
    t = np.arange(0.0, 1.0 + speed / a + 0.5, 0.01)
    found = braking.stop_metrics(t, np.maximum(speed - a * np.maximum(t - 1.0, 0.0), 0.0), 1.0)
    assert found["distance"] == pytest.approx(speed**2 / (2 * a), rel=1e-3)
    assert found["mean_deceleration"] == pytest.approx(a, rel=1e-3) and found["mfdd"] == pytest.approx(a, rel=1e-4)
    assert found["time"] == pytest.approx((speed - braking.STANDS) / a, abs=0.01)


def test_a_vehicle_that_stays_on_the_circle_has_a_yaw_ratio_of_one() -> None:
    speed = 20.0 - 3.0 * np.maximum(T - 4.0, 0.0)
    found = braking.turn_metrics(T, speed, speed / 100.0, speed**2 / 100.0, np.where(T < 5.0, 0.0, 0.01), 4.0)
    assert found["yaw_ratio"] == pytest.approx(1.0) and found["peak_yaw_ratio"] == pytest.approx(1.0)
    assert found["mean_deceleration"] == pytest.approx(3.0) and found["sideslip_change"] == pytest.approx(0.01 / DEGREE)
    assert found["initial_lateral"] == pytest.approx(4.0)


def test_times_of_a_constant_acceleration() -> None:
    t = np.arange(0.0, 40.0, 0.01)
    found = driving.run_up(t, 2.0 * t)
    assert found["time_50"] == pytest.approx(50 / 3.6 / 2.0) and found["largest_acceleration"] == pytest.approx(2.0)
    assert found["time_100m"] == pytest.approx(10.0, abs=1e-4) and found["time_400m"] == pytest.approx(20.0, abs=1e-4)


def test_the_road_load_of_a_point_mass_is_found_again() -> None:
    """m v' = -f0 - f2 v^2 has v = c tan(atan(v0 / c) - c f2 t / m) with c^2 = f0 / f2."""
    m, f0, f2, v0 = 2600.0, 400.0, 1.2, 27.0
    c, t = math.sqrt(f0 / f2), np.arange(0.0, 80.0, 0.01)
    found = driving.road_load(t, c * np.tan(math.atan(v0 / c) - c * f2 * t / m), m)
    assert found["f0"] == pytest.approx(f0, rel=1e-3) and found["f2"] == pytest.approx(f2, rel=1e-3)
    assert abs(found["f1"]) < 0.05
    assert found["deceleration_50"] == pytest.approx((f0 + f2 * (50 / 3.6) ** 2) / m, rel=1e-4)


def test_creep_counts_from_the_time_at_which_the_vehicle_has_settled() -> None:
    position = np.column_stack([np.where(T < 2.0, T, 2.0) + 0.001 * T, np.zeros_like(T), np.zeros_like(T)])
    assert driving.creep(T, position, 2.0) == pytest.approx(0.001 * (9.99 - 2.0))


@given(st.floats(8.01, 35.9), st.sampled_from([0.1, 0.25, 1.0]))
def test_bisection_finds_the_highest_speed_to_its_resolution(limit: float, resolution: float) -> None:
    asked: list[float] = []

    def clean(speed: float) -> bool:
        asked.append(speed)
        return speed <= limit

    low, high = highest(clean, 8.0, 36.0, resolution)
    assert low <= limit < high and high - low <= 1.01 * resolution and len(asked) <= 10


@pytest.mark.parametrize(
    ("frequency", "factor"),
    [(0.5, 0.418), (1.0, 0.482), (2.0, 0.531), (4.0, 0.967), (5.0, 1.039), (8.0, 1.036), (16.0, 0.768), (31.5, 0.405),
     (80.0, 0.132)],
)  # fmt: skip
def test_the_weighting_of_vertical_vibration_is_the_published_one(frequency: float, factor: float) -> None:
    """ISO 2631-1:1997, Table 3, factors of W_k."""
    t = np.arange(0.0, 40.0 / frequency, 0.02 / frequency)
    rms = ride.weighted_rms(t, 3.0 * np.sin(2 * np.pi * frequency * t) + 7.0)
    assert rms / (3.0 / math.sqrt(2.0)) == pytest.approx(factor, rel=0.005)


def test_a_random_road_has_the_density_of_its_class() -> None:
    """ISO 8608: the rms between two wave numbers is the root of the integral of G_d, n_0^2 G_0 (1/n_a - 1/n_b)."""
    x = np.arange(20.0, 2020.0, 0.05)
    for road_class in (1, 4):
        road = ride.iso_road(road_class)
        z = np.array([road(v)[0] for v in x])
        n = np.fft.rfftfreq(len(z), 0.05)
        power = 2.0 * np.abs(np.fft.rfft(z * np.hanning(len(z))) / len(z)) ** 2 / np.mean(np.hanning(len(z)) ** 2)
        band = (n > 0.05) & (n < 0.5)
        by_hand = 0.01 * 16e-6 * 4.0 ** (road_class - 1) * (1 / 0.05 - 1 / 0.5)
        assert power[band].sum() == pytest.approx(by_hand, rel=0.15)


@given(st.floats(0.0, 60.0), st.sampled_from([0, 1]))
def test_slopes_of_roads_are_those_of_their_heights(x: float, which: int) -> None:
    road = ride.iso_road(5) if which else ride.half_round(0.2, 0.45, 30.0)
    h = 1e-6
    slope = (road(x + h)[0] - road(x - h)[0]) / (2 * h)
    if abs(abs(x - 30.0) - math.sqrt(0.65**2 - 0.45**2)) > 1e-4 and min(abs(x - 5.0), abs(x - 10.0)) > 1e-4:
        assert road(x)[1] == pytest.approx(slope, abs=1e-4)


def test_a_wheel_touches_the_half_round_that_it_rolls_over() -> None:
    """Distance of the wheel's centre from the middle of the half-round is the sum of the radii."""
    hump = ride.half_round(0.2, 0.45, 3.0)
    for x in np.linspace(2.6, 3.4, 9):
        assert math.hypot(x - 3.0, hump(x)[0] + 0.45) == pytest.approx(0.65)
    assert hump(3.0)[0] == pytest.approx(0.2) and hump(2.0) == hump(4.0) == (0.0, 0.0)


def test_the_speed_of_a_limit_is_that_of_its_first_crossing() -> None:
    v = np.array([2.0, 4.0, 6.0, 8.0])
    assert ride.gentle(v, np.array([1.0, 2.0, 3.0, 1.0]), 2.5) == 5.0
    assert ride.gentle(v, np.array([3.0, 2.0, 2.0, 2.0]), 2.5) == 0.0
    assert ride.gentle(v, np.array([1.0, 2.0, np.inf, 2.0]), 2.5) == 4.0 and ride.gentle(v, v, 9.0) == 8.0


def test_slopes_at_rest_are_exact_for_parabolas() -> None:
    x = 0.02 + 0.05 * np.sin(np.linspace(0.0, 2 * np.pi, 200))
    assert kc.slope(x, 3.0 + 40.0 * (x - x[0]) - 90.0 * (x - x[0]) ** 2) == pytest.approx(40.0)
