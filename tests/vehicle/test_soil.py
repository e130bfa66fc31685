"""The soil under rigid wheels: closed forms, symmetry, dissipation, stability."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from jounce.contact.soil import (
    SOILS,
    ContactWrench,
    SoilContact,
    WheelGeometry,
    WheelMotion,
    plate_sinkage,
    soil_displacement,
    towed_wheel_sinkage,
    wong_displacement,
)

WHEEL = WheelGeometry()
LEFT = np.array([0.0, 1.0, 0.0])
LOAD = 643.0 * 9.81
Displacement = Callable[[np.ndarray, float, float, float], np.ndarray]


def motion(z: float, v: tuple[float, float, float] = (0.0, 0.0, 0.0), omega: float = 0.0,
           axis: np.ndarray = LEFT, n: int = 1) -> WheelMotion:
    return WheelMotion(np.tile([0.0, 0.0, z], (n, 1)), np.tile(v, (n, 1)), np.tile(axis, (n, 1)), np.full(n, omega))


def roll(soil: str, sinkage: float, slip: float, speed: float = 1.0, v_y: float = 0.0, dt: float = 1e-3,
         time: float = 1.0) -> ContactWrench:
    """Steady rolling at fixed sinkage; slip i = 1 - v / (r omega)."""
    contact = SoilContact(SOILS[soil], wheels=1)
    omega = speed / (WHEEL.radius * (1.0 - slip))
    for _ in range(int(time / dt)):
        wrench = contact.advance(motion(WHEEL.radius - sinkage, (speed, v_y, 0.0), omega), dt)
    return wrench


def test_plate_sinkage_agrees_with_the_hand_computed_value() -> None:
    # 10 kN on 0.5 m x 0.25 m: 80 kPa; k = 0.99/0.25 + 1528.43 = 1532.39 kN/m^3.1; (80/1532.39)^(1/1.1) = 0.0683
    assert plate_sinkage(SOILS["dry_sand"], 10e3, 0.5, 0.25) == pytest.approx(0.0683, abs=1e-4)


def test_the_pressure_under_a_wheel_at_rest_integrates_to_the_arc_integral() -> None:
    soil, z0 = SOILS["sandy_loam"], 0.03
    wrench = SoilContact(soil, wheels=1, cell=0.0005).advance(motion(WHEEL.radius - z0), 1e-3)
    entry = math.acos(1.0 - z0 / WHEEL.radius)
    theta = np.linspace(-entry, entry, 20001)
    z = WHEEL.radius * (np.cos(theta) - math.cos(entry))
    p = (soil.k_c / WHEEL.width + soil.k_phi) * np.maximum(z, 0.0) ** soil.n
    expected = WHEEL.width * WHEEL.radius * np.trapezoid(p * np.cos(theta), theta)
    assert wrench.load[0] == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(("slip", "law", "within"), [
    (0.0, wong_displacement, 0.02),
    (0.1, wong_displacement, 0.03),
    (0.1, soil_displacement, 0.02),
    (0.3, soil_displacement, 0.02),
])
def test_steady_rolling_agrees_with_the_integrals_over_the_arc(slip: float, law: Displacement, within: float) -> None:
    soil, z0, r = SOILS["dry_sand"], 0.05, WHEEL.radius
    stiff = SoilContact(replace(soil, unload=1e10), wheels=1, cell=0.001)
    omega = 1.0 / (r * (1.0 - slip))
    for _ in range(1000):
        wrench = stiff.advance(motion(r - z0, (1.0, 0.0, 0.0), omega), 1e-3)
    entry = math.acos(1.0 - z0 / r)
    theta = np.linspace(0.0, entry, 4001)
    p = soil.modulus(WHEEL.width) * np.maximum(r * (np.cos(theta) - math.cos(entry)), 0.0) ** soil.n
    j = law(theta, entry, slip, r)
    tau = (soil.cohesion + p * math.tan(soil.friction)) * (1.0 - np.exp(-j / soil.shear_modulus))
    pull = WHEEL.width * r * np.trapezoid(tau * np.cos(theta) - p * np.sin(theta), theta)
    load = WHEEL.width * r * np.trapezoid(p * np.cos(theta) + tau * np.sin(theta), theta)
    torque = WHEEL.width * r * r * np.trapezoid(tau, theta)
    about_centre = wrench.moment + np.cross(wrench.point - [[0.0, 0.0, r - z0]], wrench.force)
    assert wrench.load[0] == pytest.approx(load, rel=within)
    assert wrench.force[0, 0] == pytest.approx(pull, abs=within * load)
    assert -about_centre[0, 1] == pytest.approx(torque, abs=within * load * r)


def test_a_slowly_towed_wheel_carries_the_load_of_the_closed_form() -> None:
    soil = SOILS["dry_sand"]
    z0 = towed_wheel_sinkage(soil, LOAD, WHEEL)
    entry = math.acos(1.0 - z0 / WHEEL.radius)
    theta = np.linspace(0.0, entry, 4001)
    p = soil.modulus(WHEEL.width) * np.maximum(WHEEL.radius * (np.cos(theta) - math.cos(entry)), 0.0) ** soil.n
    load = WHEEL.width * WHEEL.radius * np.trapezoid(p * np.cos(theta), theta)
    assert load == pytest.approx(LOAD, rel=0.1)


@pytest.mark.slow(but="sandy_loam")
@pytest.mark.parametrize("soil", sorted(SOILS))
def test_drawbar_pull_rises_with_slip(soil: str) -> None:
    pull = [float(roll(soil, 0.04, slip).force[0, 0]) for slip in (-0.2, 0.0, 0.1, 0.2, 0.4, 0.6)]
    assert np.all(np.diff(pull) > 0.0)
    assert pull[1] < 0.0


def test_a_wheel_at_rest_is_pushed_neither_along_nor_across() -> None:
    wrench = SoilContact(SOILS["sandy_loam"], wheels=1).advance(motion(WHEEL.radius - 0.03), 1e-3)
    assert abs(wrench.force[0, 0]) < 0.02 * wrench.load[0]
    assert wrench.force[0, 1] == 0.0


def test_mirroring_the_motion_mirrors_the_wrench() -> None:
    left, right = roll("sandy_loam", 0.04, 0.1, v_y=0.2), roll("sandy_loam", 0.04, 0.1, v_y=-0.2)
    np.testing.assert_allclose(left.force * [1, -1, 1], right.force, rtol=1e-12)
    np.testing.assert_allclose(left.moment * [-1, 1, -1], right.moment, rtol=1e-12, atol=1e-9)
    assert left.force[0, 1] < 0.0


def test_turning_the_world_turns_the_wrench() -> None:
    c, s = math.cos(0.7), math.sin(0.7)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    a, b = SoilContact(SOILS["dry_sand"], wheels=1), SoilContact(SOILS["dry_sand"], wheels=1)
    v = np.array([2.0, 0.3, -0.1])
    for _ in range(200):
        straight = a.advance(motion(0.43, tuple(v), 5.0), 1e-3)
        turned = b.advance(motion(0.43, tuple(turn @ v), 5.0, turn @ LEFT), 1e-3)
    np.testing.assert_allclose(straight.force @ turn.T, turned.force, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(straight.moment @ turn.T, turned.moment, rtol=1e-9, atol=1e-6)


@pytest.mark.slow(but="[6.0-")
@pytest.mark.parametrize("velocity", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-2.0, 0.5, 0.0), (0.01, 0.0, 0.0)])
@pytest.mark.parametrize("omega", [0.0, 6.0, -3.0])
def test_a_sliding_wheel_never_gains_power_from_the_soil(velocity: tuple[float, float, float], omega: float) -> None:
    contact = SoilContact(SOILS["sandy_loam"], wheels=1)
    contact.advance(motion(WHEEL.radius - 0.03), 1e-3)
    for _ in range(600):
        state = motion(WHEEL.radius - 0.03, velocity, omega)
        wrench = contact.advance(state, 1e-3)
        point_velocity = state.velocity + np.cross(omega * state.axis, wrench.point - state.position)
        power = np.sum(wrench.force * point_velocity) + np.sum(wrench.moment * omega * state.axis)
        assert power <= 1e-6


def test_shear_never_exceeds_mohr_coulomb() -> None:
    soil = SOILS["dry_sand"]
    contact = SoilContact(soil, wheels=1)
    for _ in range(500):
        wrench = contact.advance(motion(WHEEL.radius - 0.04, (0.0, 3.0, 0.0)), 1e-3)
    arc = 2.0 * WHEEL.radius * math.acos(1.0 - 0.04 / WHEEL.radius)
    limit = 1.02 * wrench.load[0] * math.tan(soil.friction) + 1.05 * soil.cohesion * arc * WHEEL.width
    assert 0.9 * wrench.load[0] * math.tan(soil.friction) < -wrench.force[0, 1] <= limit


@pytest.mark.slow
def test_a_closed_push_and_pull_cycle_dissipates() -> None:
    contact = SoilContact(SOILS["sandy_loam"], wheels=1)
    work, dt = 0.0, 1e-3
    for k in range(4000):
        v = 0.05 * math.sin(2.0 * math.pi * k * dt)
        work += float(contact.advance(motion(0.44, (0.0, v, 0.0)), dt).force[0, 1]) * v * dt
    assert work < -10.0


def drop(soil: str, v: tuple[float, float, float], omega: float, time: float) -> tuple[np.ndarray, np.ndarray, float]:
    """A free 643 kg corner (57 kg below a spring is stiffer still) coupled with a one-tick delay."""
    contact, dt, mass, inertia = SoilContact(SOILS[soil], wheels=1), 1e-3, 643.0, 2.5
    p, vel, spin = np.array([0.0, 0.0, 0.48]), np.array(v), omega
    for _ in range(int(time / dt)):
        state = WheelMotion(p[None], vel[None], LEFT[None], np.array([spin]))
        wrench = contact.advance(state, dt)
        torque = wrench.moment[0, 1] + np.cross(wrench.point[0] - p, wrench.force[0])[1]
        vel = vel + dt * (wrench.force[0] / mass - [0.0, 0.0, 9.81])
        spin += dt * torque / inertia
        p = p + dt * vel
    return p, vel, spin


@pytest.mark.slow(but="dry_sand")
@pytest.mark.parametrize("soil", sorted(SOILS))
def test_a_dropped_wheel_comes_to_rest_and_stays(soil: str) -> None:
    early, _, _ = drop(soil, (0.0, 0.0, 0.0), 0.0, 2.0)
    late, vel, spin = drop(soil, (0.0, 0.0, 0.0), 0.0, 4.0)
    assert np.abs(vel).max() < 1e-6 and abs(spin) < 1e-6
    assert np.abs(late - early).max() < 1e-6
    assert abs(late[0]) < 0.02


@pytest.mark.slow
def test_a_rolling_wheel_coasts_to_a_stop() -> None:
    p, vel, spin = drop("sandy_loam", (5.0, 0.0, 0.0), 5.0 / WHEEL.radius, 14.0)
    assert p[0] > 2.0
    assert abs(vel[0]) < 1e-3 and abs(spin) < 1e-2


def test_a_light_unsprung_mass_is_stable_with_the_one_tick_delay() -> None:
    contact, dt, mass = SoilContact(SOILS["clayey_soil"], wheels=1), 1e-3, 80.0
    z, v = 0.45, 0.0
    for _ in range(3000):
        wrench = contact.advance(motion(z, (0.0, 0.0, v)), dt)
        v += dt * ((wrench.load[0] - LOAD) / mass)
        z += dt * v
    assert abs(v) < 1e-6
