"""The closed-form corner against Project Chrono's linkage, finite differences and its own closures."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from ce import Ce
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.axles import WHEELS
from jounce.data import load_vehicle
from jounce.reference.kkt_geometry import design
from jounce.reference.kkt_steering import link_point, turn

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


@pytest.mark.slow(but=("0-kc_jounce", "2-kc_steer"))
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


@pytest.mark.parametrize("k", range(4))
def test_every_joint_holds_over_the_whole_travel_and_full_steer(k: int) -> None:
    # from the dead centre of the upper arm (-0.46107, -0.50159) to the last entry of the bump stop's table
    low, high = ((-0.461, 0.662), (-0.5015, 0.979))[k // 2]
    corner, full = design(HMMWV.vehicle).corners[k], HMMWV.vehicle["steering.max_arm_angle"]
    p = corner.points
    rod = np.linalg.norm(p["TIEROD_U"] - p["TIEROD_C"])
    for arm in (-full, -0.5 * full, 0.0, 0.5 * full, full):
        end = link_point(HMMWV.vehicle, p["TIEROD_C"], arm).position if k < 2 else p["TIEROD_C"]
        for theta in np.linspace(low, high, 80):
            o = HMMWV.at(k, theta, arm=(arm, 0.0, 0.0))
            assert min(o["margin_upper"][0], o["margin_tierod"][0]) > 0.0
            assert o["closure"][0] < 1e-12
            turned = o["upright_axes"].reshape(3, 3).T
            ball, top, outer = (o["centre"] + turned @ (p[n] - p["SPINDLE"]) for n in ("LCA_U", "UCA_U", "TIEROD_U"))
            carried = p["LCA_F"] + turn(corner.lower_axis, theta) @ (p["LCA_U"] - p["LCA_F"])
            before, after = p["UCA_U"] - p["UCA_F"], top - p["UCA_F"]
            gaps = [np.linalg.norm(ball - carried), (after - before) @ corner.upper_axis,
                    np.linalg.norm(after) - np.linalg.norm(before), np.linalg.norm(outer - end) - rod]  # fmt: skip
            assert np.abs(gaps).max() < 1e-12


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
    assert np.allclose(o["centre_velocity"], o["centre_partial"] * rate + o["centre_steer"] * arm_rate, atol=1e-12)


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


@pytest.mark.parametrize("seed", range(12))
def test_every_bias_term_is_what_the_kinetic_energy_asks_for_with_steering_and_chassis_moving(seed: int) -> None:
    # Lagrange's equations for theta and the arm, Euler's for the chassis (turning about its fixed origin at a constant
    # rate), at zero theta acceleration; the wheel spins freely
    r, k, h = np.random.default_rng(seed), seed % 4, 1e-5
    theta, arm = r.uniform(-0.4, 0.6), (r.uniform(-0.52, 0.52), r.normal(), 5 * r.normal())
    rates = np.array([2 * r.normal(), arm[1], 20 * r.normal(), *r.normal(size=3)])  # theta, arm, spin, chassis

    def at(t: float, extra: np.ndarray | None = None, shift: tuple[float, float] = (0.0, 0.0)) -> dict[str, np.ndarray]:
        """The corner at a time, with rates added and the coordinates theta and arm shifted."""
        v = rates + (0.0 if extra is None else extra)
        v[1] += arm[2] * t
        v[2] += spin_acceleration * t
        angle = arm[0] + arm[1] * t + 0.5 * arm[2] * t * t + shift[1]
        here, motion = theta + rates[0] * t + shift[0], (angle, v[1], arm[2])
        return HMMWV.at(k, here, rate=v[0], spin=v[2], arm=motion, omega=v[3:])

    def momenta(t: float) -> np.ndarray:
        """Of theta, arm and chassis; exact, since the energy is quadratic in the rates."""
        pairs = [(at(t, e)["kinetic"][0], at(t, -e)["kinetic"][0]) for e in np.eye(6)[[0, 1, 3, 4, 5]]]
        return np.array([0.5 * (ahead - behind) for ahead, behind in pairs])

    spin_acceleration = 0.0
    along, shaft = HMMWV.wheel_axial[k]
    o = at(0.0)
    spin_acceleration = -along * o["axis_bias"][0] / (along + shaft)

    def slope(name: str, shift: tuple[float, float]) -> float:
        back = (-shift[0], -shift[1])
        return float((at(0.0, shift=shift)[name] - at(0.0, shift=back)[name])[0]) / (2 * h)

    ahead, behind, omega = at(h), at(-h), rates[3:]
    change = (momenta(h) - momenta(-h)) / (2 * h)
    expected = {
        "axis_bias": o["axis"] @ ((ahead["upright_velocity"] - behind["upright_velocity"]) / (2 * h)
                                  + np.cross(omega, o["upright_velocity"])),
        "bias_theta": change[0] - slope("kinetic", (h, 0.0)) - o["spring_force"] * slope("spring_length", (h, 0.0))
        - o["shock_force"] * slope("shock_length", (h, 0.0)),
        "steer_bias": change[1] - slope("kinetic", (0.0, h)),
        "bias": np.concatenate([
            change[2:] + np.cross(omega, momenta(0.0)[2:]),
            (ahead["linear_momentum"] - behind["linear_momentum"]) / (2 * h) + np.cross(omega, o["linear_momentum"]),
        ]),
    }  # fmt: skip
    for name, value in expected.items():
        assert np.abs(o[name] - value).max() < 1e-6 * max(10.0, np.abs(value).max()), name
