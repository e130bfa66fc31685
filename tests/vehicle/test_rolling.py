"""Starts on soil: the equilibrium against Bekker's integral, and that nothing moves when a vehicle starts there."""

from __future__ import annotations

import numpy as np
import pytest

from jounce.contact.rolling import equilibrium, roll_in
from jounce.contact.soil import SOILS, SoilContact, WheelGeometry, WheelMotion

WHEEL = WheelGeometry()
LOADS = np.array([5500.0, 6500.0, 8000.0])


def rolling(sinkage: np.ndarray, speed: float, spin: np.ndarray) -> WheelMotion:
    n = len(sinkage)
    position = np.column_stack([np.zeros((n, 2)), WHEEL.radius - sinkage])
    return WheelMotion(position, np.tile([speed, 0.0, 0.0], (n, 1)), np.tile([0.0, 1.0, 0.0], (n, 1)), spin)


@pytest.mark.parametrize("name", sorted(SOILS))
def test_at_rest_the_sinkage_is_that_of_bekkers_pressure_over_the_whole_arc(name: str) -> None:
    soil = SOILS[name]
    sinkage, torque = equilibrium(soil, LOADS, 0.0)
    x = np.linspace(-WHEEL.radius, WHEEL.radius, 200_001)
    for z, load in zip(sinkage, LOADS, strict=True):
        depth = np.maximum(np.sqrt(WHEEL.radius**2 - x**2) - WHEEL.radius + z, 0.0)
        carried = WHEEL.width * np.trapezoid(soil.modulus(WHEEL.width) * depth**soil.n, x)
        assert carried == pytest.approx(load, rel=0.01)
    assert np.abs(torque).max() < 1e-6


@pytest.mark.slow(but="12.0-dry_sand")
@pytest.mark.parametrize("name", sorted(SOILS))
@pytest.mark.parametrize("speed", [0.5, 12.0])
def test_wheels_that_roll_at_the_equilibrium_go_on_with_that_load_and_without_a_force_forwards(name: str,
                                                                                               speed: float) -> None:
    sinkage, torque = equilibrium(SOILS[name], LOADS, speed)
    contact = SoilContact(SOILS[name], wheels=len(LOADS))
    start = roll_in(contact, rolling(sinkage, speed, np.zeros(len(LOADS))))
    assert start.load == pytest.approx(LOADS, rel=2e-3)
    assert np.abs(start.force[:, 0]).max() < 1e-3 * LOADS.min()
    # The spin with the same slip as on the way, over one more metre at another step.
    spin = start.slip
    omega = speed / WHEEL.radius / (1.0 - spin)
    for _ in range(round(1.0 / speed / 1e-3)):
        wrench = contact.advance(rolling(sinkage, speed, omega), 1e-3)
    assert wrench.load == pytest.approx(LOADS, rel=5e-3)
    assert np.all(np.abs(wrench.force[:, 0]) < 0.02 * LOADS)
    assert -wrench.moment[:, 1] == pytest.approx(torque, rel=0.05)
    # What the axle gives is Bekker's work of compaction, b k z^(n+1) / (n+1) per metre, less what springs back, and
    # what slip takes.
    soil = SOILS[name]
    pressure = soil.modulus(WHEEL.width) * sinkage**soil.n
    compaction = WHEEL.width * (pressure * sinkage / (soil.n + 1.0) - pressure**2 / (2.0 * soil.unload))
    assert np.all(torque * omega / speed > compaction)
    assert torque * omega / speed == pytest.approx(compaction, rel=0.2)


def test_a_soil_that_cannot_carry_the_wheel_is_said() -> None:
    with pytest.raises(ValueError, match="clayey_soil does not carry"):
        equilibrium(SOILS["clayey_soil"], np.array([1e6]), 5.0)
