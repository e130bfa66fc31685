"""The brake holds without creep, never exceeds its capacity and stays stable at 1 ms."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce.brakes.disc import PARAMETERS, brake

INERTIA, CAPACITY, STEP = 7.8, 4000.0, 1e-3
PAR = dict(zip(PARAMETERS, (CAPACITY, 0.01, 0.44, 5.0, 1.0, 50.0), strict=True))
STIFFNESS = CAPACITY / PAR["brake.deflection"]


def _build() -> ca.Function:
    omega, torque, phi = ca.SX.sym("omega"), ca.SX.sym("torque"), ca.SX.sym("phi")
    return ca.Function("brake", [omega, torque, phi], list(brake(omega, torque, phi, PAR)))


BRAKE = _build()


def at(omega: float, torque: float, phi: float) -> tuple[float, float]:
    moment, rate = BRAKE(omega, torque, phi)
    return float(moment), float(rate)


def stop(omega: float, torque: float, load: float, seconds: float) -> np.ndarray:
    """(omega, phi, angle) after each RK4 step of a wheel under brake and a constant load [N.m]."""

    def rate(x: np.ndarray) -> np.ndarray:
        moment, phi_rate = at(x[0], torque, x[1])
        return np.array([(moment + load) / INERTIA, phi_rate, x[0]])

    x = np.array([omega, 0.0, 0.0])
    track = []
    for _ in range(round(seconds / STEP)):
        a = rate(x)
        b = rate(x + STEP / 2 * a)
        c = rate(x + STEP / 2 * b)
        x = x + STEP / 6 * (a + 2 * b + 2 * c + rate(x + STEP * c))
        track.append(x)
    return np.array(track)


@pytest.mark.parametrize("torque", [2.0, 400.0, CAPACITY])
def test_a_wheel_at_rest_is_held_without_any_creep(torque: float) -> None:
    moment, rate = at(0.0, torque, 0.4 * torque / STIFFNESS)
    assert rate == 0.0
    assert moment == pytest.approx(-0.4 * torque)


@pytest.mark.parametrize("frequency", [0.5, 5.0, 50.0])
def test_a_held_wheel_does_not_walk_when_it_or_the_brake_is_shaken(frequency: float) -> None:
    """A load of 2000 N.m that swings by 1000 N.m, under a brake torque that swings between 3500 and 4000 N.m."""
    x, t = ca.SX.sym("x", 3), ca.SX.sym("t")

    def rate(x: ca.SX, t: ca.SX) -> ca.SX:
        swing = ca.sin(2 * np.pi * frequency * t)
        moment, phi_rate = BRAKE(x[0], 3750.0 + 250.0 * ca.cos(7.0 * t), x[1])
        return ca.vertcat((moment + 2000.0 + 1000.0 * swing) / INERTIA, phi_rate, x[0])

    a = rate(x, t)
    b = rate(x + STEP / 2 * a, t + STEP / 2)
    c = rate(x + STEP / 2 * b, t + STEP / 2)
    step = ca.Function("s", [x, t], [x + STEP / 6 * (a + 2 * b + 2 * c + rate(x + STEP * c, t + STEP))])
    start = np.array([0.0, 2000.0 / STIFFNESS, 0.0])
    track = np.array(step.mapaccum("run", 60000)(start, STEP * np.arange(60000))).T
    whole = round(2.0 / STEP)  # two seconds are whole periods
    assert abs(track[-whole:, 2].mean() - track[whole : 2 * whole, 2].mean()) < 1e-9


def test_a_loaded_wheel_stops_and_stays_without_chatter() -> None:
    track = stop(30.0, CAPACITY, 0.7 * CAPACITY, 1.5)
    still = track[-500:]
    assert np.ptp(still[:, 2]) < 1e-9
    assert still[-1, 1] == pytest.approx(0.7 * PAR["brake.deflection"], rel=1e-4)


def test_a_spinning_wheel_loses_speed_at_torque_over_inertia() -> None:
    track = stop(60.0, 1000.0, 0.0, 0.2)
    assert (track[-1, 0] - track[99, 0]) / 0.1 == pytest.approx(-1000.0 / INERTIA, rel=1e-3)


def test_a_load_beyond_the_capacity_slips() -> None:
    track = stop(0.0, 1000.0, 1500.0, 1.0)
    assert (track[-1, 0] - track[-101, 0]) / 0.1 == pytest.approx(500.0 / INERTIA, rel=1e-2)


def test_the_presliding_spring_is_slow_enough_for_a_millisecond() -> None:
    assert np.sqrt(CAPACITY / PAR["brake.deflection"] / INERTIA) * STEP < 0.3


@given(st.floats(-500, 500), st.floats(1.0, 4000.0), st.floats(-1.0, 1.0))
def test_the_brake_never_makes_energy_nor_exceeds_its_torque(omega: float, torque: float, stretch: float) -> None:
    phi = stretch * PAR["brake.deflection"]
    moment, rate = at(omega, torque, phi)
    stored = STIFFNESS * phi * rate
    assert moment * omega + stored <= 1e-9 * (1.0 + abs(moment * omega))
    assert abs(moment) <= torque * (1 + 1e-12)


def test_a_released_brake_forgets_its_wind_up() -> None:
    moment, rate = at(10.0, 0.0, 0.01)
    assert moment == 0.0 and rate == pytest.approx(-0.5)
