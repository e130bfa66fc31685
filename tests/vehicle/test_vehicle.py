"""The whole vehicle: the free coast of Project Chrono's HMMWV, and the balances that need no reference.

Chrono's idler joint puts a couple on the chassis that has no reaction (docs/decisions/0001-chrono-drift.md). The
free coast is therefore compared twice: as it is, and with that couple as an external moment.
"""

from __future__ import annotations

import csv
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from ce import Ce
from chrono_idler import ChronoIdler
from numpy.typing import NDArray

from jounce.data import load_vehicle
from jounce.reference import kkt
from jounce.reference.kkt_steering import turn
from jounce.symbolic import vehicle
from jounce.symbolic.algebra import rotation

Array = NDArray[np.float64]
DATA = Path(__file__).parents[1] / "data"
WHEELS = ("FL", "FR", "RL", "RR")
STEP = 1e-3
CHRONO = load_vehicle("hmmwv_chrono")
AT = vehicle.STATES.first


def _angle(n: int) -> float:
    """Pitman-arm angle of the coastfree manoeuvre at tick n [rad]."""
    t = n * STEP
    for begin, sign in ((2.0, 1.0), (5.0, -1.0)):
        if begin <= t < begin + 2.0:
            return float(0.2 * sign * CHRONO["steering.max_arm_angle"] * np.sin(np.pi * (t - begin)))
    return 0.0


def _arm(n: int, tau: float) -> tuple[float, float, float]:
    """Angle, rate, acceleration at the time tau after tick n: central differences, the rate linear in a tick.

    The rate jumps at t = 2, 4, 5 and 7; as an acceleration over two ticks it gives the uprights their impulse.
    """
    here = (_angle(n + 1) - _angle(n - 1)) / (2 * STEP)
    ahead = (_angle(n + 2) - _angle(n)) / (2 * STEP)
    acceleration = (ahead - here) / STEP
    return _angle(n) + here * tau + 0.5 * acceleration * tau**2, here + acceleration * tau, acceleration


def _coast(duration: float, idler: ChronoIdler | None = None) -> tuple[Array, Array, Array]:
    """(states, reports, couples) every 0.1 s of the free coast from 15 m/s, RK4 at 1 ms.

    With an idler, its couple acts on the chassis; each tick takes that of the tick before.
    """
    f = vehicle.right_hand_side(CHRONO)
    couple = np.zeros(6)

    def derivatives(n: int, tau: float, x: Array) -> tuple[Array, Array]:
        given = np.array([*_arm(n, tau), 0.0, 0.0, 0.0, 0.0, 0.9, 0.0, 9.81, *couple])
        rate, report = f(x, given)
        return np.array(rate).ravel(), np.array(report)

    x = np.zeros(vehicle.STATES.size)
    x[AT["position"] + 2], x[AT["quaternion"]], x[AT["linear"]] = 0.5, 1.0, 15.0
    x[AT["spin_rate"] : AT["spin_rate"] + 4] = 15.0 / 0.46
    kept: tuple[list[Array], list[Array], list[Array]] = ([], [], [])
    for n in range(round(duration / STEP) + 1):
        k1, report = derivatives(n, 0.0, x)
        if n % 100 == 0:
            for series, value in zip(kept, (x, report, couple), strict=True):
                series.append(value)
        k2 = derivatives(n, STEP / 2, x + STEP / 2 * k1)[0]
        k3 = derivatives(n, STEP / 2, x + STEP / 2 * k2)[0]
        k4 = derivatives(n, STEP, x + STEP * k3)[0]
        if idler is not None:
            couple = idler.couple(_angle(n), x, k1, report)
        x = x + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        x[3:7] /= np.linalg.norm(x[3:7])
    return np.array(kept[0]), np.array(kept[1]), np.array(kept[2])


def _chrono(step: str, part: str = "") -> dict[str, Array]:
    lines = [r for r in (DATA / f"coastfree{part}_{step}.csv").read_text().splitlines() if not r.startswith("#")]
    rows = list(csv.DictReader(lines))
    return {k: np.array([float(r[k]) for r in rows]) for k in rows[0]}


def _yaw(q: Array) -> Array:
    w, x, y, z = q.T
    return np.degrees(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def _path(chrono: dict[str, Array]) -> Array:
    """x, y [m] and heading [deg] in rows."""
    return np.array([chrono["ref_x"], chrono["ref_y"], _yaw(np.array([chrono[f"ref_q{k}"] for k in range(4)]).T)])


def _loads(chrono: dict[str, Array]) -> Array:
    return np.array([chrono[f"{w}_tire_Fz"] for w in WHEELS])


def _ours(coast: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """(x, y, heading), wheel loads, in rows."""
    states, reports, _ = coast
    return (np.array([states[:, 0], states[:, 1], _yaw(states[:, 3:7])]),
            reports[:, vehicle.REPORTS.first["force"] + 2].T)  # fmt: skip


@pytest.fixture(scope="module")
def coast() -> tuple[Array, Array, Array]:
    return _coast(9.0)


@pytest.fixture(scope="module")
def chrono_coast() -> tuple[Array, Array, Array]:
    return _coast(9.0, ChronoIdler(CHRONO))


def test_with_the_couple_of_its_idler_the_free_coast_follows_chrono_within_its_step_error(
    chrono_coast: tuple[Array, Array, Array],
) -> None:
    fine, coarse = _chrono("1e-4"), _chrono("1e-3")
    path, loads = _ours(chrono_coast)
    assert np.all(np.abs(path - _path(fine)).max(1) < np.abs(_path(coarse) - _path(fine)).max(1))
    late = fine["t"] > 1.0
    error = np.abs(loads - _loads(fine))[:, late].max(1)
    assert np.all(error < np.abs(_loads(coarse) - _loads(fine))[:, late].max(1))
    assert error.max() < 20.0  # of some 6000 N
    height = np.abs(chrono_coast[0][:, 2] - fine["ref_z"])
    assert height[fine["t"] > 0.5].max() < 1e-4


def test_with_the_couple_of_its_idler_the_free_coast_is_the_limit_of_chrono_for_small_steps(
    chrono_coast: tuple[Array, Array, Array],
) -> None:
    # Chrono's integrator is of first order: the limit lies a ninth of the files' difference beyond the finer one
    fine, coarse = _path(_chrono("1e-4")), _path(_chrono("1e-3"))
    error = np.abs(_ours(chrono_coast)[0] - (fine - (coarse - fine) / 9)).max(1)
    assert np.all(error < [1e-3, 2e-3, 5e-3])  # m, m, deg, of 126 m, 3.6 m, 13 deg


def test_without_that_couple_the_free_coast_differs_from_chrono_by_its_drift(
    coast: tuple[Array, Array, Array],
) -> None:
    fine = _chrono("1e-4")
    path, loads = _ours(coast)
    assert np.all(np.abs(path - _path(fine)).max(1) < [0.06, 0.32, 0.35])
    assert np.abs(loads - _loads(fine))[:, fine["t"] > 1.0].max() < 100.0
    assert np.abs(coast[0][:, 2] - fine["ref_z"])[fine["t"] > 0.5].max() < 1e-3


def test_the_couple_balances_the_yaw_moment_of_the_recorded_tire_forces(
    chrono_coast: tuple[Array, Array, Array],
) -> None:
    moments = []
    for step in ("1e-4", "1e-3"):
        record, total = _chrono(step, "_straight"), np.zeros(3)
        com = np.array([record[f"com_{k}"] for k in "xyz"]).T
        for w in WHEELS:
            centre, axis, force, moment = (
                np.array([record[f"{w}_{name}{k}"] for k in "xyz"]).T
                for name in ("spindle_", "axis_", "tire_F", "tire_M")
            )
            frames = [_contact(c, a) for c, a in zip(centre, axis, strict=True)]
            total = total + [r @ m + np.cross(p - o, r @ f)
                             for (r, p), f, m, o in zip(frames, force, moment, com, strict=True)]  # fmt: skip
        moments.append(total[:, 2].mean())
    limit = moments[0] - (moments[1] - moments[0]) / 9
    couple = chrono_coast[2][12:20, 2].mean()
    assert moments[0] > 25.0  # N.m, while the yaw rate is constant
    assert abs(limit + couple) < 1.0


def _contact(centre: Array, axis: Array) -> tuple[Array, Array]:
    """(contact frame in columns, contact point) of a wheel on the plane z = 0."""
    up = np.array([0.0, 0.0, 1.0])
    heading = np.cross(axis, up) / np.hypot(axis[0], axis[1])
    down = (axis[2] * axis - up) / np.hypot(axis[0], axis[1])
    return np.array([heading, np.cross(up, heading), up]).T, centre + down * centre[2] / np.hypot(axis[0], axis[1])


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
def test_the_tierod_forces_equal_those_of_the_maximal_coordinate_system(
    coast: tuple[Array, Array, Array], tick: int
) -> None:
    x, report, arm, ce = coast[0][tick // 100], coast[1][tick // 100], _arm(tick, 0.0), Ce(CHRONO)
    s = {name: x[AT[name] : AT[name] + size] for name, size in vehicle.STATES.sizes.items()}
    r = {name: report[i : i + vehicle.REPORTS.sizes[name]] for name, i in vehicle.REPORTS.first.items()}
    force, moment, spring, shock = np.zeros((4, 3)), np.zeros((4, 3)), np.zeros(4), np.zeros(4)
    for k in range(4):
        frame, point = _contact(r["centre"][:, k], r["axis"][:, k])
        force[k] = frame @ r["force"][:, k]
        moment[k] = frame @ r["moment"][:, k] + np.cross(point - r["centre"][:, k], force[k])
        corner = ce.at(k, s["theta"][k], rate=s["theta_rate"][k], arm=arm)
        spring[k], shock[k] = corner["spring_force"][0], corner["shock_force"][0]
    angle, rate, acceleration = (CHRONO["steering_ratio"] * a for a in arm)
    minimal = kkt.Minimal(
        s["position"], s["quaternion"], s["theta"], s["spin"], s["angular"], s["linear"], s["theta_rate"],
        s["spin_rate"], angle, rate, acceleration,
    )  # fmt: skip
    judged = kkt.accelerations(CHRONO, minimal, kkt.Loads(9.81, force, moment, spring=spring, shock=shock))
    expected = judged["tierod_inner_force"][:2] @ np.array(ca.evalf(rotation(ca.SX(s["quaternion"]))))
    assert np.linalg.norm(r["tierod"][:, :2].T - expected) < 1e-6 * np.linalg.norm(expected)


def test_an_unsteered_symmetric_vehicle_runs_straight(coast: tuple[Array, Array, Array]) -> None:
    # the Pitman arm's mass sits on the left: a few newtons of roll, and nothing else, break the symmetry
    states = coast[0]
    assert np.abs(states[:20, 1]).max() < 1e-4


def test_the_rate_of_the_quaternion_is_that_of_the_rotation() -> None:
    rng = np.random.default_rng(2)
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    omega = rng.normal(size=3)
    dq = np.array(ca.evalf(vehicle.quaternion_rate(ca.SX(q), ca.SX(omega)))).ravel()
    h = 1e-6
    ahead, behind = (np.array(ca.evalf(rotation(ca.SX(q + s * h * dq)))) for s in (1, -1))
    spin = np.array(ca.evalf(rotation(ca.SX(q)))).T @ (ahead - behind) / (2 * h)
    assert np.allclose([spin[2, 1], spin[0, 2], spin[1, 0]], omega, atol=1e-8)
