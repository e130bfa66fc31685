"""The half car's paper as printed: what each misprint does, against the mended equations."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from halfcar import RADIUS, Array, at, simulate, system

from jounce.reference.halfcar_prints import rest, run


def told(r: dict[str, Array], name: str, time: float) -> float:
    return float(np.interp(time, r["time"], r[name]))


@cache
def mended_run() -> dict[str, Array]:
    """30 s from rest by the mended equations."""
    return run(0, rest(), 30.0)


@pytest.mark.slow
def test_mended_the_papers_method_is_the_products_relaxed_law() -> None:
    r, ours = mended_run(), simulate(16.0, traction="RELAXED")
    for time in (5, 15):
        assert told(r, "speed", time) == pytest.approx(at(ours, "speed", time), rel=1e-6)
        assert told(r, "rear.slip", time) == pytest.approx(at(ours, "rear.slip", time), rel=1e-4)


@pytest.mark.slow
def test_eq_32_as_printed_relaxes_a_height_instead_of_a_rolling_row() -> None:
    """N = diag(s_f^2, s_r^2, s_f^2, s_r^2): the wheels leave the height of the road."""
    r = run(1, rest(), 30.0)
    assert abs(r["rear.height"] - RADIUS).max() > 1.0
    assert abs(mended_run()["rear.height"] - RADIUS).max() < 1e-9


@pytest.mark.slow
def test_eq_35_as_printed_does_not_brake_before_the_end() -> None:
    assert told(run(2, rest(), 30.0), "speed", 30) == pytest.approx(32.863, abs=2e-3)


def test_eq_33_with_its_minus_pushes_a_driven_wheel_back() -> None:
    r = run(3, rest(), 15.0)
    assert told(r, "rear.slip", 15) == pytest.approx(19.13, abs=0.02)
    assert told(r, "rear.friction", 15) == pytest.approx(-344.8, abs=0.5)


def test_eq_33_with_the_torques_sign_pushes_a_braked_wheel_forward() -> None:
    braked = (0.0, 700.0, 700.0, 0.85, 0.85)
    signed, mended = run(4, rest(20.0), 1.0, inputs=braked), run(0, rest(20.0), 1.0, inputs=braked)
    assert signed["front.slip"][-1] < 0.0 < signed["front.friction"][-1]
    assert max(mended["front.friction"][-1], mended["rear.friction"][-1]) < 0.0
    assert signed["speed"][-1] > mended["speed"][-1] + 2.0


def test_a_friction_on_the_car_alone_has_no_reaction_on_the_wheel() -> None:
    assert run(5, rest(), 5.0, torque_max=550.0)["speed"][-1] == pytest.approx(43.01, abs=0.01)
    assert run(0, rest(), 5.0, torque_max=550.0)["speed"][-1] == pytest.approx(25.227, abs=0.01)


def test_table_1_with_its_rear_strut_in_front_is_not_at_rest() -> None:
    """With P3x = +0.4 the strut leans the other way and the design position is not the one at rest."""
    r = run(0, rest(), 0.5, torque_max=0.0, rear__strut__x=0.4)
    assert abs(r["rear.load"] - r["rear.load"][0]).max() > 50.0
    still = run(0, rest(), 0.5, torque_max=0.0)
    assert abs(still["rear.load"] - still["rear.load"][0]).max() < 1e-2


def test_eq_37_as_printed_drives_a_car_that_rolls_backward() -> None:
    """Back at 20 m/s, without torque: the air must slow it down."""
    start = rest(-20.0)
    assert run(7, start, 2.0, torque_max=0.0)["speed"][-1] < -20.0 < run(0, start, 2.0, torque_max=0.0)["speed"][-1]


def test_a_height_that_is_stabilised_by_its_rate_alone_stays_where_it_was_put() -> None:
    """(4) as printed has no derivatives; with gamma h' alone an error of the height never goes."""
    start = rest()
    start[1] += 0.01
    kept, mended = (run(e, start, 2.0, torque_max=0.0)["rear.height"] for e in (8, 0))
    assert abs(kept[-1] - RADIUS) > 5e-3
    assert abs(mended[-1] - RADIUS) < 1e-9


def test_eq_27_as_printed_says_that_no_point_of_a_body_moves() -> None:
    """R^T x_O' + R^T R' X is the velocity of a point; 0 for all of them only where the body stands."""
    r = simulate(5.0, traction="ROLLING")
    assert r["speed"][-1] - r["rear.omega"][-1] * RADIUS == pytest.approx(0.0, abs=1e-5)  # its lowest point stands
    assert r["speed"][-1] + r["rear.omega"][-1] * RADIUS > 14.0  # its highest does not


def test_the_proof_of_stability_needs_the_smallest_eigenvalue_and_gets_none() -> None:
    """H F is a projector: eigenvalues 0 and 1. gamma_0 is the largest of (N^1/2)^+, which grows as the weight falls."""
    mass, forces, rows, b = system(550.0)
    values, vectors = np.linalg.eigh(mass)
    root = vectors @ np.diag(values**-0.5) @ vectors.T
    for s in (1.0, 0.1, 1e-3):
        soft = np.diag(1 / np.array([1.0, 1.0, s, 1.0])) @ rows @ root
        projector = soft @ np.linalg.pinv(soft)
        assert np.linalg.eigvalsh(projector) == pytest.approx(np.ones(4), abs=1e-9)
    dropped = np.diag([1.0, 1.0, 0.0, 1.0]) @ rows @ root
    assert np.linalg.eigvalsh(dropped @ np.linalg.pinv(dropped)).min() == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.norm(np.diag([1.0, 1.0, 1 / 1e-3, 1.0]), 2) == pytest.approx(1e3)


def test_eq_36_read_as_tanh_of_the_fourth_power_has_a_wider_slippery_time() -> None:
    other = run(11, rest(), 12.0)
    assert other["rear.slip"][-1] != pytest.approx(told(mended_run(), "rear.slip", 12.0), rel=0.05)
