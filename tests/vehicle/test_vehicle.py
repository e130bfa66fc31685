"""The whole vehicle: the free coast of Project Chrono's HMMWV, and the balances that need no reference.

Chrono's idler joint puts a couple on the chassis that has no reaction (docs/decisions/0001-chrono-drift.md). The
free coast is therefore compared twice: as it is, and with that couple as an external moment.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from ce import Ce
from chrono_idler import ChronoIdler
from coast import AT, CHRONO, WHEELS, Run, arm, chrono_loads, chrono_path, coast, contact, path_and_loads, recorded
from numpy.typing import NDArray

from jounce.dynamics import motion
from jounce.math.algebra import rotation
from jounce.models.double_wishbone import composition as vehicle
from jounce.reference import kkt
from jounce.reference.kkt_steering import turn

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def plain() -> Run:
    """One row every 0.1 s, as in Chrono's files."""
    return coast(with_idler=False).every(100)


@pytest.fixture(scope="module")
def as_chrono() -> Run:
    return coast(with_idler=True).every(100)


@pytest.mark.slow
def test_with_the_couple_of_its_idler_the_free_coast_follows_chrono_within_its_step_error(
    as_chrono: Run,
) -> None:
    fine, coarse = recorded("1e-4"), recorded("1e-3")
    path, loads = path_and_loads(as_chrono)
    assert np.all(np.abs(path - chrono_path(fine)).max(1) < np.abs(chrono_path(coarse) - chrono_path(fine)).max(1))
    late = fine["t"] > 1.0
    error = np.abs(loads - chrono_loads(fine))[:, late].max(1)
    assert np.all(error < np.abs(chrono_loads(coarse) - chrono_loads(fine))[:, late].max(1))
    assert error.max() < 20.0  # of some 6000 N
    height = np.abs(as_chrono.states[:, 2] - fine["ref_z"])
    assert height[fine["t"] > 0.5].max() < 1e-4


def test_with_the_couple_of_its_idler_the_free_coast_is_the_limit_of_chrono_for_small_steps(
    as_chrono: Run,
) -> None:
    # Chrono's integrator is of first order: the limit lies a ninth of the files' difference beyond the finer one
    fine, coarse = chrono_path(recorded("1e-4")), chrono_path(recorded("1e-3"))
    error = np.abs(path_and_loads(as_chrono)[0] - (fine - (coarse - fine) / 9)).max(1)
    assert np.all(error < [1e-3, 2e-3, 5e-3])  # m, m, deg, of 126 m, 3.6 m, 13 deg


def test_without_that_couple_the_free_coast_differs_from_chrono_by_its_drift(
    plain: Run,
) -> None:
    fine = recorded("1e-4")
    path, loads = path_and_loads(plain)
    assert np.all(np.abs(path - chrono_path(fine)).max(1) < [0.06, 0.32, 0.35])
    assert np.abs(loads - chrono_loads(fine))[:, fine["t"] > 1.0].max() < 100.0
    assert np.abs(plain.states[:, 2] - fine["ref_z"])[fine["t"] > 0.5].max() < 1e-3


def test_the_couple_balances_the_yaw_moment_of_the_recorded_tire_forces(
    as_chrono: Run,
) -> None:
    moments = []
    for step in ("1e-4", "1e-3"):
        record, total = recorded(step, "_straight"), np.zeros(3)
        com = np.array([record[f"com_{k}"] for k in "xyz"]).T
        for w in WHEELS:
            centre, axis, force, moment = (
                np.array([record[f"{w}_{name}{k}"] for k in "xyz"]).T
                for name in ("spindle_", "axis_", "tire_F", "tire_M")
            )
            frames = [contact(c, a) for c, a in zip(centre, axis, strict=True)]
            total = total + [r @ m + np.cross(p - o, r @ f)
                             for (r, p), f, m, o in zip(frames, force, moment, com, strict=True)]  # fmt: skip
        moments.append(total[:, 2].mean())
    limit = moments[0] - (moments[1] - moments[0]) / 9
    couple = as_chrono.couples[12:20, 2].mean()
    assert moments[0] > 25.0  # N.m, while the yaw rate is constant
    assert abs(limit + couple) < 1.0


@pytest.mark.parametrize("angle", [-0.5, 0.0, 0.3])
def test_chronos_row_of_the_idler_is_not_the_derivative_of_its_constraint(angle: float) -> None:
    idler = ChronoIdler(CHRONO)
    ball = idler.pin + turn(idler.axis, -angle) @ idler.arm

    def phi(w: Array) -> float:
        size = float(np.linalg.norm(w))
        r = turn(w / size, size)
        return float((r @ idler.axis) @ (ball - idler.com - r @ (idler.pin - idler.com)))

    h = 1e-6
    derivative = [(phi(h * e) - phi(-h * e)) / (2 * h) for e in np.eye(3)]
    true, taken = idler.rows(angle)
    assert np.allclose(true, derivative, atol=1e-9)
    assert np.linalg.norm(taken - true) > 0.1  # newton metres per newton on the idler


@pytest.mark.parametrize("tick", [1500, 2300, 3000, 6300])
def test_the_tierod_forces_equal_those_of_the_maximal_coordinate_system(plain: Run, tick: int) -> None:
    x, report, steered, ce = plain.states[tick // 100], plain.reports[tick // 100], arm(tick, 0.0), Ce(CHRONO)
    s = {name: x[AT[name] : AT[name] + size] for name, size in vehicle.STATES.sizes.items()}
    r = {name: report[i : i + vehicle.REPORTS.sizes[name]] for name, i in vehicle.REPORTS.first.items()}
    force, moment, spring, shock = np.zeros((4, 3)), np.zeros((4, 3)), np.zeros(4), np.zeros(4)
    for k in range(4):
        frame, point = contact(r["centre"][:, k], r["axis"][:, k])
        force[k] = frame @ r["force"][:, k]
        moment[k] = frame @ r["moment"][:, k] + np.cross(point - r["centre"][:, k], force[k])
        corner = ce.at(k, s["theta"][k], rate=s["theta_rate"][k], arm=steered)
        spring[k], shock[k] = corner["spring_force"][0], corner["shock_force"][0]
    angle, rate, acceleration = (CHRONO["steering_ratio"] * a for a in steered)
    minimal = kkt.Minimal(
        s["position"], s["quaternion"], s["theta"], s["spin"], s["angular"], s["linear"], s["theta_rate"],
        s["spin_rate"], angle, rate, acceleration,
    )  # fmt: skip
    judged = kkt.accelerations(CHRONO, minimal, kkt.Loads(9.81, force, moment, spring=spring, shock=shock))
    expected = judged["tierod_inner_force"][:2] @ np.array(ca.evalf(rotation(ca.SX(s["quaternion"]))))
    assert np.linalg.norm(r["tierod"][:, :2].T - expected) < 1e-6 * np.linalg.norm(expected)


def test_an_unsteered_symmetric_vehicle_runs_straight(plain: Run) -> None:
    # the Pitman arm's mass sits on the left: a few newtons of roll, and nothing else, break the symmetry
    states = plain.states
    assert np.abs(states[:20, 1]).max() < 1e-4


def test_the_rate_of_the_quaternion_is_that_of_the_rotation() -> None:
    rng = np.random.default_rng(2)
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    omega = rng.normal(size=3)
    dq = np.array(ca.evalf(motion.quaternion_rate(ca.SX(q), ca.SX(omega)))).ravel()
    h = 1e-6
    ahead, behind = (np.array(ca.evalf(rotation(ca.SX(q + s * h * dq)))) for s in (1, -1))
    spin = np.array(ca.evalf(rotation(ca.SX(q)))).T @ (ahead - behind) / (2 * h)
    assert np.allclose([spin[2, 1], spin[0, 2], spin[1, 0]], omega, atol=1e-8)
