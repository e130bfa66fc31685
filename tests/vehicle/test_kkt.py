"""The maximal-coordinate reference stands on its own: closures, rates, momentum, power."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from jounce.axles import WHEELS
from jounce.data import Vehicle, load_vehicle
from jounce.reference.kkt import (
    Loads,
    Minimal,
    State,
    accelerations,
    constraint_rows,
    solve,
    state_from_minimal,
)
from jounce.reference.kkt_geometry import BODIES, body, design
from jounce.reference.kkt_steering import link_point, turn

VEHICLES = ("hmmwv", "hmmwv_chrono")
SEEDS = (1, 2, 3)


@pytest.fixture(scope="module", params=VEHICLES)
def vehicle(request: pytest.FixtureRequest) -> Vehicle:
    return load_vehicle(request.param)


def minimal(seed: int) -> Minimal:
    r = np.random.default_rng(seed)
    return Minimal(
        position=r.normal(size=3),
        quaternion=r.normal(size=4),
        theta=r.uniform(-0.3, 0.3, 4),
        spin=r.uniform(-3.0, 3.0, 4),
        angular_velocity=r.normal(size=3),
        linear_velocity=5.0 * r.normal(size=3),
        theta_rate=2.0 * r.normal(size=4),
        spin_rate=20.0 * r.normal(size=4),
        steering_angle=float(r.uniform(-12.0, 12.0)),
        steering_rate=float(10.0 * r.normal()),
        steering_acceleration=float(50.0 * r.normal()),
    )


def loads(seed: int) -> Loads:
    r = np.random.default_rng(100 + seed)
    return Loads(
        wheel_force=1e4 * r.normal(size=(4, 3)),
        wheel_moment=1e3 * r.normal(size=(4, 3)),
        spring=2e4 * r.normal(size=4),
        shock=3e3 * r.normal(size=4),
        drive=1e3 * r.normal(size=4),
        brake=1e3 * r.normal(size=4),
        chassis_force=1e3 * r.normal(size=3),
        chassis_moment=1e3 * r.normal(size=3),
    )


def product(q: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quaternion of the rotation q followed by the body-fixed rotation vector w."""
    angle = float(np.linalg.norm(w))
    p = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * w / angle])
    s, v = q[0] * p[0] - q[1:] @ p[1:], q[0] * p[1:] + p[0] * q[1:] + np.cross(q[1:], p[1:])
    return np.concatenate([[s], v])


def moved(m: Minimal, h: float, result: dict[str, NDArray[np.float64]] | None = None) -> Minimal:
    """The coordinates a time h later, to second order with the accelerations and to first without them."""
    w = m.angular_velocity
    velocity = m.linear_velocity
    chassis = state_from_minimal(load_vehicle("hmmwv"), m).chassis
    if result is None:
        zero = np.zeros(4)
        result = {
            "angular_acceleration": np.zeros(3),
            "linear_acceleration": np.cross(w, velocity),
            "theta_dd": zero,
            "spin_dd": zero,
        }
    wd, a = result["angular_acceleration"], result["linear_acceleration"]
    return replace(
        m,
        position=m.position + chassis @ (velocity * h + a * h * h / 2),
        quaternion=product(m.quaternion / np.linalg.norm(m.quaternion), w * h + wd * h * h / 2),
        theta=m.theta + m.theta_rate * h + result["theta_dd"] * h * h / 2,
        spin=m.spin + m.spin_rate * h + result["spin_dd"] * h * h / 2,
        angular_velocity=w + wd * h,
        linear_velocity=velocity + (a - np.cross(w, velocity)) * h,
        theta_rate=m.theta_rate + result["theta_dd"] * h,
        spin_rate=m.spin_rate + result["spin_dd"] * h,
        steering_angle=m.steering_angle + m.steering_rate * h + m.steering_acceleration * h * h / 2,
        steering_rate=m.steering_rate + m.steering_acceleration * h,
    )


def gaps(state: State) -> list[float]:
    """Distances that must be zero, from the body poses alone."""
    found = []
    for c, corner in enumerate(state.design.corners):
        p = corner.points
        for name, i, j in (
            ("LCA_U", "LCA", "upright"),
            ("UCA_U", "UCA", "upright"),
            ("SPINDLE", "wheel", "upright"),
            ("TIEROD_U", "tierod", "upright"),
            ("SHOCK_A", "shock_lower", "LCA"),
        ):
            gap = state.point(body(c, i), p[name]) - state.point(body(c, j), p[name])
            found.append(float(np.linalg.norm(gap)))
        for name, i in (
            ("LCA_F", "LCA"),
            ("LCA_B", "LCA"),
            ("UCA_F", "UCA"),
            ("UCA_B", "UCA"),
            ("SHOCK_C", "shock_upper"),
        ):
            found.append(float(np.linalg.norm(state.point(body(c, i), p[name]) - state.point(0, p[name]))))
        inner = state.origin + state.chassis @ state.local.inner[c].position
        found.append(float(np.linalg.norm(state.point(body(c, "tierod"), p["TIEROD_C"]) - inner)))
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_every_loop_closes(vehicle: Vehicle, seed: int) -> None:
    assert max(gaps(state_from_minimal(vehicle, minimal(seed)))) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_velocities_satisfy_every_constraint(vehicle: Vehicle, seed: int) -> None:
    state = state_from_minimal(vehicle, minimal(seed))
    rows = constraint_rows(state)
    residual = np.array(rows.matrix) @ state.velocity - np.array(rows.rate)
    assert np.max(np.abs(residual)) < 1e-12


def test_the_constraint_rows_are_independent_and_leave_fourteen_freedoms(vehicle: Vehicle) -> None:
    matrix = np.array(constraint_rows(state_from_minimal(vehicle, minimal(1))).matrix)
    assert matrix.shape == (164, 178)
    assert np.linalg.matrix_rank(matrix) == 164


@pytest.mark.parametrize("seed", SEEDS)
def test_velocities_are_the_derivatives_of_the_poses(seed: int) -> None:
    vehicle, m, h = load_vehicle("hmmwv"), minimal(seed), 1e-5
    before, now, after = (state_from_minimal(vehicle, moved(m, x) if x else m) for x in (-h, 0.0, h))
    np.testing.assert_allclose((after.com - before.com) / (2 * h), now.v, atol=2e-6)
    for i in range(BODIES):
        turning = (after.rotation[i] - before.rotation[i]) / (2 * h) @ now.rotation[i].T
        w = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
        axis_free = i == 0 or (i - 1) % 7 < 4
        if axis_free:
            np.testing.assert_allclose(w, now.w[i], atol=2e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_accelerations_are_the_derivatives_of_the_velocities(seed: int) -> None:
    vehicle, m, h = load_vehicle("hmmwv"), minimal(seed), 1e-5
    result = accelerations(vehicle, m, loads(seed))
    before, after = (state_from_minimal(vehicle, moved(m, x, result)) for x in (-h, h))
    difference = (after.velocity - before.velocity) / (2 * h)
    np.testing.assert_allclose(difference, result["body_acceleration"], atol=1e-6 * np.max(np.abs(difference)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_rate_of_momentum_is_the_total_external_force_and_moment(vehicle: Vehicle, seed: int) -> None:
    m, load = minimal(seed), loads(seed)
    state = state_from_minimal(vehicle, m)
    a = solve(state, load)["body_acceleration"][: 6 * BODIES].reshape(BODIES, 6)
    mass = state.design.mass
    weight = np.array([0.0, 0.0, -load.gravity])
    wheels = [body(c, "wheel") for c in range(4)]
    force = load.wheel_force.sum(axis=0) + load.chassis_force + weight * mass.sum()
    np.testing.assert_allclose(mass @ a[:, :3], force, atol=1e-11 * float(np.linalg.norm(force)))
    moment = load.wheel_moment.sum(axis=0) + load.chassis_moment + np.cross(state.origin, load.chassis_force)
    moment = moment + np.cross(mass @ state.com, weight)
    moment = moment + np.cross(state.com[wheels], load.wheel_force).sum(axis=0)
    rate = np.zeros(3)
    for i in range(BODIES):
        inertia, w = state.inertia(i), state.w[i]
        rate += mass[i] * np.cross(state.com[i], a[i, :3]) + inertia @ a[i, 3:] + np.cross(w, inertia @ w)
    np.testing.assert_allclose(rate, moment, atol=1e-11 * float(np.linalg.norm(moment)))


def lengths(state: State, kind: str) -> NDArray[np.float64]:
    return np.array(
        [
            np.linalg.norm(
                state.point(0, corner.points[f"{kind}_C"]) - state.point(body(c, "LCA"), corner.points[f"{kind}_A"])
            )
            for c, corner in enumerate(state.design.corners)
        ]
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_rate_of_kinetic_energy_is_the_power_of_loads_and_steering(seed: int) -> None:
    vehicle, m, load, h = load_vehicle("hmmwv"), minimal(seed), loads(seed), 1e-5
    now = state_from_minimal(vehicle, m)
    result = solve(now, load)
    before, after = (state_from_minimal(vehicle, moved(m, x, result)) for x in (-h, h))
    gained = (after.kinetic_energy() - before.kinetic_energy()) / (2 * h)
    wheels = [body(c, "wheel") for c in range(4)]
    power = float(np.sum(load.wheel_force * now.v[wheels]) + np.sum(load.wheel_moment * now.w[wheels]))
    power += float(-load.gravity * now.design.mass @ now.v[:, 2] + load.brake @ m.spin_rate)
    power += sum(load.drive[c] * float(now.spin_axis(c) @ (now.w[wheels[c]] - now.w[0])) for c in range(4))
    power += float(load.chassis_force @ (now.chassis @ m.linear_velocity) + load.chassis_moment @ now.w[0])
    for kind, force in (("SPRING", load.spring), ("SHOCK", load.shock)):
        power += float(force @ (lengths(after, kind) - lengths(before, kind))) / (2 * h)
    steering = -float(result["steering_load_torque"]) * m.steering_rate / vehicle["steering_ratio"]
    assert abs(steering) > 1.0
    scale = float(np.sum(np.abs(load.wheel_force * now.v[wheels])))
    assert gained == pytest.approx(power + steering, abs=1e-7 * scale)


def test_positive_arm_angle_lifts_both_wheels_and_mirrors(vehicle: Vehicle) -> None:
    state = state_from_minimal(vehicle, Minimal(theta=np.full(4, 0.1)))
    rise = state.com - state.design.com
    mirror = np.array([1.0, -1.0, 1.0])
    for left, right in ((0, 1), (2, 3)):
        assert rise[body(left, "wheel"), 2] > 0.03
        np.testing.assert_allclose(rise[body(left, "wheel")], mirror * rise[body(right, "wheel")], atol=1e-13)


def test_positive_steering_turns_the_front_wheels_left_only(vehicle: Vehicle) -> None:
    state = state_from_minimal(vehicle, Minimal(steering_angle=5.0))
    steer = [np.arctan2(-axis[0], axis[1]) for axis in (state.spin_axis(c) for c in range(4))]
    assert steer[0] > 0.1 and steer[1] > 0.1
    assert max(abs(steer[2]), abs(steer[3])) < 1e-13


@pytest.mark.parametrize("time", [2.0, 4.0])
def test_hub_poses_at_full_droop_match_chrono_without_and_with_full_steering(vehicle: Vehicle, time: float) -> None:
    """Arm angles follow from Chrono's spring lengths; hub positions and spin axes must then agree."""
    row = chrono_row(time)
    theta = np.array([arm_angle(vehicle, c, row[f"{name}_spring_len"]) for c, name in enumerate(WHEELS)])
    angle = row["steering"] * vehicle["steering.max_arm_angle"] * vehicle["steering_ratio"]
    state = state_from_minimal(vehicle, Minimal(theta=theta, steering_angle=angle))
    for c, name in enumerate(WHEELS):
        hub = np.array([row[f"{name}_spindle_{k}"] - row[f"ref_{k}"] for k in "xyz"])
        axis = np.array([row[f"{name}_axis_{k}"] for k in "xyz"])
        np.testing.assert_allclose(state.com[body(c, "wheel")], hub, atol=1e-8)
        np.testing.assert_allclose(state.spin_axis(c), axis, atol=1e-8)


def chrono_row(time: float) -> dict[str, float]:
    path = Path(__file__).parents[1] / "data" / "kc_steer.csv"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(lines)]
    return next(row for row in rows if abs(row["t"] - time) < 1e-9)


def arm_angle(vehicle: Vehicle, corner: int, spring: float) -> float:
    """The arm angle of a given spring length, by bisection; the lower arm alone carries the spring."""
    c = design(vehicle).corners[corner]
    pivot, foot = c.points["LCA_F"], c.points["SPRING_A"]
    low, high = -0.44, 0.3
    for _ in range(50):
        theta = (low + high) / 2
        at = pivot + turn(c.lower_axis, theta) @ (foot - pivot)
        long = np.linalg.norm(c.points["SPRING_C"] - at) > spring
        low, high = (theta, high) if long else (low, theta)
    return low


def test_a_free_vehicle_in_the_design_position_falls_with_gravity(vehicle: Vehicle) -> None:
    result = accelerations(vehicle, Minimal(), Loads())
    np.testing.assert_allclose(result["linear_acceleration"], [0.0, 0.0, -9.81], atol=1e-10)
    for key in ("angular_acceleration", "theta_dd", "spin_dd", "tierod_force"):
        np.testing.assert_allclose(result[key], 0.0, atol=1e-8)


def test_drive_torque_speeds_up_spindle_wheel_tire_and_axle_shaft(vehicle: Vehicle) -> None:
    """Near the hand value with 7.38782 + 0.4 kg.m2; the upright turns a little with the arm."""
    result = accelerations(vehicle, Minimal(), Loads(gravity=0.0, drive=np.full(4, 100.0)))
    np.testing.assert_allclose(result["spin_dd"], 100.0 / 7.78782, rtol=0.05)


def test_the_steered_point_rates_are_the_derivatives_of_its_position(vehicle: Vehicle) -> None:
    point, h = np.array([1.44, 0.45, 0.05]), 1e-5
    for delta in (-0.5, -0.1, 0.3):
        before, now, after = (link_point(vehicle, point, delta + x) for x in (-h, 0.0, h))
        np.testing.assert_allclose((after.position - before.position) / (2 * h), now.first, atol=1e-9)
        np.testing.assert_allclose((after.first - before.first) / (2 * h), now.second, atol=1e-9)


def test_a_four_bar_that_is_no_parallelogram_keeps_its_link_length(vehicle: Vehicle) -> None:
    skewed = vehicle.replaced({"steering.REVSPH_R.x": 0.02, "steering.REVSPH_S.y": -0.36})
    h = 1e-5
    point = np.array([1.44, 0.45, 0.05])
    for delta in (-0.4, 0.35):
        before, now, after = (link_point(skewed, point, delta + x) for x in (-h, 0.0, h))
        np.testing.assert_allclose((after.position - before.position) / (2 * h), now.first, atol=1e-9)
        np.testing.assert_allclose((after.first - before.first) / (2 * h), now.second, atol=1e-8)


def test_a_loop_beyond_the_dead_centre_is_refused_with_its_corner(vehicle: Vehicle) -> None:
    with pytest.raises(ArithmeticError, match=r"corner 2: .*theta = -0\.[5-9]"):
        state_from_minimal(vehicle, Minimal(theta=np.array([0.0, 0.0, -0.8, 0.0])))
