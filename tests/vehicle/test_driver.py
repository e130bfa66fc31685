"""The course and the autopilot's law, on a kinematic bicycle."""

from __future__ import annotations

import math
from dataclasses import replace

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
    y, yaw, _ = (np.array(c) for c in zip(*(COURSE.path(v) for v in x), strict=True))
    front_only = replace(COURSE, behind=0.0)
    assert front_only.cones_hit(x, y, yaw) == 0 and front_only.excursion(x, y, yaw) == 0.0


def test_a_cone_counts_once_wherever_the_body_touches_it_and_the_lane_s_edge_between_cones_counts_too() -> None:
    x = np.arange(10.0, 40.0, 0.5)
    straight = np.zeros_like(x)
    # The first lane is 1.324 m to each side, the body 1.09 m.
    assert COURSE.cones_hit(x, straight, straight) == 0
    assert COURSE.excursion(x, straight + 0.2, straight) == 0.0
    assert COURSE.cones_hit(x, straight + 0.25, straight) == 4
    assert COURSE.excursion(x, straight + 0.25, straight) == pytest.approx(0.016, abs=1e-6)
    assert COURSE.excursion(x, straight - 0.3, straight) == pytest.approx(0.066, abs=1e-6)
    # Turned by 0.1 rad to the left about the middle of the front axle, the rear right corner swings out by 0.4 m.
    there, turn = np.array([30.0]), np.array([0.1])
    out = 4.02 * math.sin(0.1) + 1.09 * math.cos(0.1) - 1.324
    assert COURSE.excursion(there, there * 0.0, turn) == pytest.approx(out, abs=1e-6)
    # 2.6 m behind the axle the side stands 1.34 m to the right, past the cone at x = 27.5 if one were there.
    assert COURSE.cones_hit(there - 2.0, there * 0.0, turn) == 1


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
    yaw = np.arctan(np.gradient(path[:, 1], path[:, 0]))
    assert replace(COURSE, behind=0.0).cones_hit(path[:, 0], path[:, 1], yaw) == 0


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


def test_the_autopilot_goes_on_from_the_torque_and_the_angle_that_the_session_starts_with() -> None:
    pilot = Autopilot(COURSE, 12.0)
    pilot.take_over(np.array([0.2, 0.0] + [250.0] * 4 + [0.0] * 4))
    inputs = pilot.command(Sight(0.0, 0.0, 0.0, 0.0, 12.0))
    assert inputs[2:6] == pytest.approx([250.0] * 4) and not inputs[6:10].any()
    assert inputs[0] == pytest.approx(0.0) and inputs[1] == pytest.approx(-0.2 / PERIOD)
    pilot.take_over(np.array([0.0, 0.0] + [0.0] * 4 + [100.0] * 4))
    assert pilot.command(Sight(0.0, 0.0, 0.0, 0.0, 12.0))[6:10] == pytest.approx([100.0] * 4)
