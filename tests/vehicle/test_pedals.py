"""The driver by pedals, on a point mass and a kinematic bicycle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce.driver import PERIOD, Sight
from jounce.pedals import GIVES, Foot, PedalDriver

PLACE = {name: k for k, name in enumerate(GIVES)}


def drive(driver: PedalDriver, time: float, y: float = 0.0) -> dict[str, np.ndarray]:
    """A point mass: 3.5 m/s2 at full throttle, 8 at full brake, 0.2 of rolling; a bicycle of 3.302 m without slip."""
    x = v = yaw = 0.0
    rows = []
    for _ in range(round(time / PERIOD)):
        u = driver.command(Sight(x, y, yaw, 0.0, v))
        rows.append([x, y, v, *u])
        parked = u[PLACE["gear_selector"]] == -2.0
        a = -v / PERIOD if parked else 3.5 * u[0] - (8.0 * u[1] + 0.2) * (v > 0.0)
        v = max(v + a * PERIOD, 0.0)
        yaw += v / 3.302 * math.tan(u[PLACE["steering_wheel_angle"]] / 26.0) * PERIOD
        x, y = x + v * math.cos(yaw) * PERIOD, y + v * math.sin(yaw) * PERIOD
    table = np.array(rows).T
    return dict(zip(["x", "y", "v", *GIVES], table, strict=True))


def test_speed_wanted_is_that_of_the_stretch_and_falls_at_a_constant_deceleration_before_a_slower_one() -> None:
    driver = PedalDriver([(0.0, 10.0), (100.0, 4.0), (200.0, 8.0)], Foot(slowing=2.0))
    assert driver.wanted(-5.0) == driver.wanted(50.0) == 10.0
    assert driver.wanted(100.0) == driver.wanted(150.0) == 4.0
    assert driver.wanted(90.0) == pytest.approx(math.sqrt(4.0**2 + 2 * 2.0 * 10.0))
    assert driver.wanted(250.0) == 8.0


def test_it_keeps_the_speeds_stops_where_it_should_and_parks() -> None:
    driver = PedalDriver([(0.0, 8.0), (60.0, 3.0), (100.0, 0.0)])
    o = drive(driver, 40.0)
    assert o["v"][np.searchsorted(o["x"], 55.0)] < 8.8
    assert o["v"][np.searchsorted(o["x"], 85.0)] == pytest.approx(3.0, abs=0.3)
    assert o["x"][-1] == pytest.approx(100.0, abs=1.0)
    assert o["gear_selector"][-1] == -2.0 and driver.parked_for(1.0)
    assert not (o["throttle"] * o["brake_pedal"]).any()  # one pedal at a time


def test_it_comes_back_to_the_middle_of_the_track() -> None:
    o = drive(PedalDriver([(0.0, 8.0)]), 15.0, y=1.0)
    assert abs(o["y"][-1]) < 0.02
    assert o["y"].min() > -0.2


@given(st.floats(-1e3, 1e3), st.floats(-50.0, 50.0), st.floats(-3.0, 3.0), st.floats(-30.0, 60.0))
def test_whatever_it_sees_pedals_are_within_0_and_1(x: float, y: float, yaw: float, v: float) -> None:
    driver = PedalDriver([(0.0, 8.0), (60.0, 0.0)])
    for _ in range(20):
        u = driver.command(Sight(x, y, yaw, 0.0, v))
        assert np.isfinite(u).all() and (u[:2] >= 0.0).all() and (u[:2] <= 1.0).all()


@pytest.mark.parametrize("stretches", [[], [(0.0, 1.0), (0.0, 2.0)], [(5.0, 1.0), (1.0, 2.0)], [(0.0, -1.0)],
                                       [(0.0, math.nan)]])  # fmt: skip
def test_stretches_that_are_none_are_refused(stretches: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="expected ascending x"):
        PedalDriver(stretches)
