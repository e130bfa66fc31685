"""The course and the autopilot's law, on a kinematic bicycle."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jounce.course import DoubleLaneChange
from jounce.driver import GIVES, PERIOD, Autopilot, Gains, Sight, Vehicle, road_wheel_angle

COURSE = DoubleLaneChange()
VEHICLE = Vehicle()


def drive(speed: float, x: float = 0.0, y: float = 0.0, yaw: float = 0.0, time: float = 15.0) -> np.ndarray:
    """A neutral-steering bicycle with yaw lag; returns (n, 3) x, y, steering of the front axle."""
    pilot, rows = Autopilot(COURSE, speed, gains=Gains(understeer=0.0)), []
    rear = np.array([x - VEHICLE.wheelbase, y])
    rate, v = 0.0, speed
    for _ in range(int(time / PERIOD)):
        front = rear + VEHICLE.wheelbase * np.array([math.cos(yaw), math.sin(yaw)])
        u = pilot.command(Sight(front[0], front[1], yaw, rate, v))
        rows.append((front[0], front[1], u[0]))
        for _ in range(20):
            target = v / VEHICLE.wheelbase * math.tan(u[0] / VEHICLE.steering_ratio)
            rate += (target - rate) * 0.001 / 0.1
            yaw += rate * 0.001
            rear = rear + 0.001 * v * np.array([math.cos(yaw), math.sin(yaw)])
            v += 0.001 * (4.0 * (u[2] - u[6]) / VEHICLE.wheel_radius / VEHICLE.mass - 0.3)
    return np.array(rows)


def test_the_track_is_125_metres_with_the_lanes_of_the_standard() -> None:
    first, second, third = COURSE.lanes
    assert third.end - first.start == pytest.approx(125.0)
    assert [lane.left - lane.right for lane in COURSE.lanes] == pytest.approx([2.648, 2.866, 3.084])
    assert second.right - first.right == pytest.approx(3.5)
    assert third.right == first.right


def test_the_path_stays_inside_the_cones_with_the_whole_width() -> None:
    x = np.linspace(0.0, 180.0, 1801)
    assert COURSE.cones_hit(x, np.array([COURSE.path(v)[0] for v in x])) == 0


def test_heading_and_curvature_are_the_derivatives_of_the_path() -> None:
    x = np.linspace(5.0, 160.0, 3101)
    y, heading, curvature = (np.array(c) for c in zip(*(COURSE.path(v) for v in x), strict=True))
    slope = np.gradient(y, x)
    np.testing.assert_allclose(np.tan(heading), slope, atol=1e-4)
    np.testing.assert_allclose(np.gradient(heading, x) * np.cos(heading), curvature, atol=1e-4)


def test_the_law_steers_back_to_the_path_from_either_side() -> None:
    left = road_wheel_angle(COURSE, Sight(0.0, 0.5, 0.0, 0.0, 10.0), VEHICLE, Gains())
    right = road_wheel_angle(COURSE, Sight(0.0, -0.5, 0.0, 0.0, 10.0), VEHICLE, Gains())
    assert left < 0.0 < right and left == pytest.approx(-right)


@pytest.mark.parametrize("speed", [8.0, 12.0, 15.0])
def test_a_bicycle_passes_the_cones(speed: float) -> None:
    path = drive(speed)
    assert COURSE.cones_hit(path[:, 0], path[:, 1]) == 0


def test_an_initial_error_dies_out() -> None:
    path = drive(10.0, x=-60.0, y=1.0, yaw=0.1, time=6.0)
    assert abs(path[-1, 1]) < 0.05


def test_the_steering_rate_is_limited_and_told() -> None:
    pilot = Autopilot(COURSE, 10.0)
    u = pilot.command(Sight(0.0, 5.0, 0.5, 0.0, 10.0))
    assert u.shape == (len(GIVES),)
    assert u[1] == pytest.approx(-Gains().max_steering_rate) and u[0] == pytest.approx(u[1] * PERIOD)


def test_it_brakes_or_drives_but_never_both() -> None:
    for v in (5.0, 15.0):
        u = Autopilot(COURSE, 10.0).command(Sight(0.0, 0.0, 0.0, 0.0, v))
        assert (u[2:6] >= 0.0).all() and (u[6:] >= 0.0).all() and not (u[2:6] * u[6:]).any()
        assert (u[2:6].sum() > 0.0) == (v < 10.0)
