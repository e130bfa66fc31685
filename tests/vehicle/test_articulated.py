"""Accelerations of the constraint-embedding recursion against the maximal-coordinate system of `kkt`."""

from __future__ import annotations

import numpy as np
import pytest
from ce import Ce, rotation
from numpy.typing import NDArray

from jounce.data import load_vehicle
from jounce.reference import kkt

VEHICLES = {name: Ce(load_vehicle(name)) for name in ("hmmwv", "hmmwv_chrono")}


def _random_state(rng: np.random.Generator) -> tuple[kkt.Minimal, kkt.Loads, tuple[float, float, float]]:
    steering = (float(rng.uniform(-12, 12)), float(rng.uniform(-20, 20)), float(rng.uniform(-100, 100)))
    q = rng.normal(size=4)
    minimal = kkt.Minimal(
        position=rng.normal(size=3), quaternion=q / np.linalg.norm(q), theta=rng.uniform(-0.3, 0.3, 4),
        spin=rng.uniform(-3, 3, 4), angular_velocity=rng.normal(size=3), linear_velocity=10 * rng.normal(size=3),
        theta_rate=2 * rng.normal(size=4), spin_rate=20 * rng.normal(size=4), steering_angle=steering[0],
        steering_rate=steering[1], steering_acceleration=steering[2],
    )  # fmt: skip
    loads = kkt.Loads(
        wheel_force=5000 * rng.normal(size=(4, 3)), wheel_moment=200 * rng.normal(size=(4, 3)),
        drive=500 * rng.normal(size=4), brake=500 * rng.normal(size=4),
    )  # fmt: skip
    return minimal, loads, steering


def compared(ce: Ce, seed: int) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Accelerations (ours, judged) by name, at a random state under random loads."""
    minimal, loads, steering = _random_state(np.random.default_rng(seed))
    ratio = ce.vehicle["steering_ratio"]
    arm = (steering[0] / ratio, steering[1] / ratio, steering[2] / ratio)
    r = rotation(minimal.quaternion)
    corners = [ce.at(k, minimal.theta[k], rate=minimal.theta_rate[k], arm=arm) for k in range(4)]
    spring = np.array([c["spring_force"][0] for c in corners])
    shock = np.array([c["shock_force"][0] for c in corners])
    judged = kkt.accelerations(ce.vehicle, minimal, kkt.Loads(**{**loads.__dict__, "spring": spring, "shock": shock}))
    ours = ce.accelerations(
        minimal.theta, minimal.theta_rate, minimal.spin_rate, arm, minimal.angular_velocity,
        r.T @ [0.0, 0.0, -loads.gravity], loads.wheel_force @ r, loads.wheel_moment @ r, loads.drive, loads.brake,
    )  # fmt: skip
    names = ("angular_acceleration", "linear_acceleration", "theta_dd", "spin_dd")
    return {name: (mine, np.asarray(judged[name])) for name, mine in zip(names, ours, strict=True)}


@pytest.mark.parametrize("name", VEHICLES)
@pytest.mark.parametrize("seed", [k if k < 6 else pytest.param(k, marks=pytest.mark.slow) for k in range(100)])
def test_accelerations_equal_those_of_the_maximal_coordinate_system(name: str, seed: int) -> None:
    for key, (mine, reference) in compared(VEHICLES[name], seed).items():
        assert np.linalg.norm(mine - reference) < 1e-9 * max(1.0, float(np.linalg.norm(reference))), key
