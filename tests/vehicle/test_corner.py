"""The closed-form corner against Project Chrono's linkage, finite differences and its own closures."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from ce import Ce
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.data import load_vehicle

WHEELS = ("FL", "FR", "RL", "RR")
DATA = Path(__file__).parents[1] / "data"
CHRONO = Ce(load_vehicle("hmmwv_chrono"))
HMMWV = Ce(load_vehicle("hmmwv"))
ANGLES = st.floats(-0.35, 0.35)
ARM = st.floats(-0.52, 0.52)


def _rows(name: str) -> list[dict[str, float]]:
    lines = [line for line in (DATA / name).read_text().splitlines() if not line.startswith("#")]
    return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(lines)]


def _theta_of_spring(k: int, arm: float, length: float) -> float:
    low, high = -0.42, 0.42
    for _ in range(60):
        mid = 0.5 * (low + high)
        longer = CHRONO.at(k, mid, arm=(arm, 0.0, 0.0))["spring_length"][0] > length
        low, high = (mid, high) if longer else (low, mid)
    return 0.5 * (low + high)


@pytest.mark.parametrize("sweep", ["kc_steer.csv", "kc_jounce.csv"])
@pytest.mark.parametrize("k", range(4))
def test_the_corner_follows_chronos_linkage_over_the_whole_sweep(sweep: str, k: int) -> None:
    w = WHEELS[k]
    for row in _rows(sweep)[::2]:
        arm = row["steering"] * CHRONO.vehicle["steering.max_arm_angle"]
        o = CHRONO.at(k, _theta_of_spring(k, arm, row[f"{w}_spring_len"]), arm=(arm, 0.0, 0.0))
        centre = [row[f"{w}_spindle_{a}"] - row[f"ref_{a}"] for a in "xyz"]
        assert np.abs(o["centre"] - centre).max() < 0.05e-3
        axis = np.array([row[f"{w}_axis_{a}"] for a in "xyz"])
        steer = np.arctan2(-o["axis"][0], o["axis"][1]) - np.arctan2(-axis[0], axis[1])
        inclination = np.arcsin(o["axis"][2]) - np.arcsin(axis[2])
        assert np.degrees(max(abs(steer), abs(inclination))) < 0.01
        assert abs(o["shock_length"][0] - row[f"{w}_shock_len"]) < 0.02e-3
        if row["t"] > 0.0:  # at t = 0 Chrono has not yet evaluated its force elements
            assert o["spring_force"][0] == pytest.approx(row[f"{w}_spring_force"], rel=1e-6, abs=0.5)


@settings(max_examples=60, deadline=None)
@given(ANGLES, ARM, st.integers(0, 3))
def test_every_loop_stays_closed(theta: float, arm: float, k: int) -> None:
    assert HMMWV.at(k, theta, arm=(arm, 0.0, 0.0))["closure"][0] < 1e-12


@settings(max_examples=60, deadline=None)
@given(ANGLES, ARM)
def test_left_and_right_are_mirror_images(theta: float, arm: float) -> None:
    left, right = HMMWV.at(0, theta, arm=(arm, 0.0, 0.0)), HMMWV.at(1, theta, arm=(-arm, 0.0, 0.0))
    assert np.allclose(left["centre"], right["centre"] * [1, -1, 1], atol=1e-13)
    assert left["d"] == pytest.approx(right["d"], rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(ANGLES, ARM, st.floats(-3, 3), st.floats(-1, 1), st.integers(0, 3))
def test_velocities_and_unit_velocities_are_the_derivatives_of_the_positions(
    theta: float, arm: float, rate: float, arm_rate: float, k: int
) -> None:
    h = 1e-6
    o = HMMWV.at(k, theta, rate=rate, arm=(arm, arm_rate, 0.0))
    ahead = HMMWV.at(k, theta + rate * h, arm=(arm + arm_rate * h, 0.0, 0.0))
    behind = HMMWV.at(k, theta - rate * h, arm=(arm - arm_rate * h, 0.0, 0.0))
    for value, derivative in (("centre", "centre_velocity"), ("shock_length", "shock_rate")):
        assert np.allclose((ahead[value] - behind[value]) / (2 * h), o[derivative], atol=2e-7)
    axis_rate = (ahead["axis"] - behind["axis"]) / (2 * h)
    assert np.allclose(np.cross(o["upright_velocity"], o["axis"]), axis_rate, atol=2e-7)
    assert np.allclose(o["centre_velocity"], o["centre_unit"] * rate + o["centre_steer"] * arm_rate, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(ANGLES, ARM, st.floats(-3, 3), st.floats(-1, 1), st.floats(-5, 5))
def test_the_bias_force_is_the_rate_of_change_of_the_corners_momentum(
    theta: float, arm: float, rate: float, arm_rate: float, arm_acc: float
) -> None:
    # chassis at rest, theta acceleration zero: the linear bias is d/dt of the corner's linear momentum
    h = 1e-5

    def momentum(t: float) -> np.ndarray:
        a = (arm + arm_rate * t + 0.5 * arm_acc * t * t, arm_rate + arm_acc * t, 0.0)
        return HMMWV.at(0, theta + rate * t, rate=rate, arm=a)["linear_momentum"]

    bias = HMMWV.at(0, theta, rate=rate, arm=(arm, arm_rate, arm_acc))["bias"][3:]
    assert np.allclose((momentum(h) - momentum(-h)) / (2 * h), bias, rtol=1e-6, atol=1e-4)
