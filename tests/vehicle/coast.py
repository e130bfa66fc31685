"""The free coast of Project Chrono's HMMWV (design data README, `coastfree`): its steering, Chrono's record of it, and
the run of the symbolic model, plain and with the couple of Chrono's idler (docs/decisions/0001-chrono-drift.md).
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np
from chrono_idler import ChronoIdler
from numpy.typing import NDArray

from jounce.axles import WHEELS
from jounce.data import load_vehicle
from jounce.models.double_wishbone import composition as vehicle

Array = NDArray[np.float64]
DATA = Path(__file__).parents[1] / "data"
STEP = 1e-3
DURATION = 9.0
SPEED, SPIN, HEIGHT, FRICTION = 15.0, 15.0 / 0.46, 0.5, 0.9  # m/s, rad/s, m, 1
CHRONO = load_vehicle("hmmwv_chrono")
AT = vehicle.STATES.first


def angle(n: float) -> float:
    """Pitman-arm angle of the manoeuvre at tick n, or between ticks [rad]."""
    t = n * STEP
    for begin, sign in ((2.0, 1.0), (5.0, -1.0)):
        if begin <= t < begin + 2.0:
            return float(0.2 * sign * CHRONO["steering.max_arm_angle"] * np.sin(np.pi * (t - begin)))
    return 0.0


def arm(n: int, tau: float) -> tuple[float, float, float]:
    """Angle, rate, acceleration at the time tau after tick n: central differences, the rate linear in a tick.

    The rate jumps at t = 2, 4, 5 and 7; as an acceleration over two ticks it gives the uprights their impulse.
    """
    here = (angle(n + 1) - angle(n - 1)) / (2 * STEP)
    ahead = (angle(n + 2) - angle(n)) / (2 * STEP)
    acceleration = (ahead - here) / STEP
    return angle(n) + here * tau + 0.5 * acceleration * tau**2, here + acceleration * tau, acceleration


class Run(NamedTuple):
    """A run of the symbolic model, one row per tick."""

    states: Array
    """(ticks + 1, STATES.size)"""
    reports: Array
    """(ticks + 1, REPORTS.size, 4)"""
    couples: Array
    """(ticks + 1, 6): [moment; force] on the chassis during the tick, chassis axes; zero without the idler"""

    def every(self, ticks: int) -> Run:
        """One row of so many."""
        return Run(self.states[::ticks], self.reports[::ticks], self.couples[::ticks])


@cache
def coast(with_idler: bool) -> Run:
    """The free coast from 15 m/s, RK4 at 1 ms. The idler's couple in a tick is that of the state a tick before."""
    idler = ChronoIdler(CHRONO) if with_idler else None
    x, u = ca.SX.sym("x", vehicle.STATES.size), ca.SX.sym("u", vehicle.INPUTS.size)
    both = ca.cse([ca.densify(part) for part in vehicle.right_hand_side(CHRONO)(x, u)])
    buffer, evaluate = ca.Function("coast", [x, u], both).buffer()
    here, given = np.zeros(vehicle.STATES.size), np.zeros(vehicle.INPUTS.size)
    rate, report = np.zeros(vehicle.STATES.size), np.zeros((4, vehicle.REPORTS.size))
    for k, array in enumerate((here, given)):
        buffer.set_arg(k, memoryview(array))
    for k, array in enumerate((rate, report)):
        buffer.set_res(k, memoryview(array))

    def derivatives(n: int, tau: float, state: Array) -> Array:
        here[:], given[:3] = state, arm(n, tau)
        evaluate()
        return rate.copy()

    start = vehicle.INPUTS.first
    given[start["friction"]], given[start["gravity"]] = FRICTION, 9.81
    couple = given[start["wrench"] : start["wrench"] + 6]
    state = np.zeros(vehicle.STATES.size)
    state[AT["position"] + 2], state[AT["quaternion"]], state[AT["linear"]] = HEIGHT, 1.0, SPEED
    state[AT["spin_rate"] : AT["spin_rate"] + 4] = SPIN
    kept: tuple[list[Array], list[Array], list[Array]] = ([], [], [])
    for n in range(round(DURATION / STEP) + 1):
        k1 = derivatives(n, 0.0, state)
        now = report.T.copy()
        for series, value in zip(kept, (state, now, couple.copy()), strict=True):
            series.append(value)
        k2 = derivatives(n, STEP / 2, state + STEP / 2 * k1)
        k3 = derivatives(n, STEP / 2, state + STEP / 2 * k2)
        k4 = derivatives(n, STEP, state + STEP * k3)
        if idler is not None:
            couple[:] = idler.couple(angle(n), state, k1, now)
        state = state + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        state[3:7] /= np.linalg.norm(state[3:7])
    return Run(*(np.array(series) for series in kept))


def table(name: str) -> dict[str, Array]:
    """The columns of a file in tests/data."""
    lines = [line for line in (DATA / name).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    return {k: np.array([float(r[k]) for r in rows]) for k in rows[0]}


def recorded(step: str, part: str = "") -> dict[str, Array]:
    """Chrono's record at its step of "1e-4" or "1e-3" s, every 0.1 s."""
    return table(f"coastfree{part}_{step}.csv")


def yaw(q: Array) -> Array:
    """Heading [deg] of quaternions (n, 4)."""
    w, x, y, z = q.T
    return np.degrees(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def chrono_path(chrono: dict[str, Array]) -> Array:
    """x, y [m] and heading [deg] of a record, in rows."""
    return np.array([chrono["ref_x"], chrono["ref_y"], yaw(np.array([chrono[f"ref_q{k}"] for k in range(4)]).T)])


def chrono_loads(chrono: dict[str, Array]) -> Array:
    """Wheel loads [N] of a record, in rows."""
    return np.array([chrono[f"{w}_tire_Fz"] for w in WHEELS])


def path_and_loads(run: Run) -> tuple[Array, Array]:
    """The same two of a run."""
    states = run.states
    return (np.array([states[:, 0], states[:, 1], yaw(states[:, 3:7])]),
            run.reports[:, vehicle.REPORTS.first["force"] + 2].T)  # fmt: skip


def contact(centre: Array, axis: Array) -> tuple[Array, Array]:
    """(contact frames (..., 3, 3) in columns, contact points (..., 3)) of wheels (..., 3) on the plane z = 0."""
    up = np.array([0.0, 0.0, 1.0])
    level = np.hypot(axis[..., 0], axis[..., 1])[..., None]
    heading = np.cross(axis, up) / level
    down = (axis[..., 2:] * axis - up) / level
    frame = np.stack(np.broadcast_arrays(heading, np.cross(up, heading), up), axis=-1)
    return frame, centre + down * centre[..., 2:] / level
