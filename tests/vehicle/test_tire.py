"""The tire against Project Chrono's TMeasy in a coast, and the promises of its standstill bristle."""

from __future__ import annotations

import csv
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from jounce.data import load_vehicle
from jounce.symbolic.tire import PARAMETERS, RATE_LIMIT, Hub, Plane, tmeasy

Array = NDArray[np.float64]
COAST = Path(__file__).parents[1] / "data" / "tire_coast.csv"
VEHICLE = load_vehicle("hmmwv")
PAR = {name: VEHICLE[f"tire.{name}"] for name in PARAMETERS}
RADIUS, PN, CZ = PAR["unloaded_radius"], PAR["pn"], PAR["vertical_stiffness_linear_N_m"]
K = PAR["dahl_sigma0"] / PN
OUTPUTS = (
    "force", "moment", "rate", "contact_force", "contact_moment", "slip", "slip_angle", "deflection",
    "contact_point", "stored_energy",
)  # fmt: skip


def _build() -> ca.Function:
    position, velocity, axis, point, normal = (ca.SX.sym(s, 3) for s in ("r", "v", "e", "p", "n"))
    spin, friction, state = ca.SX.sym("omega"), ca.SX.sym("mu"), ca.SX.sym("z", 2)
    out = tmeasy(Hub(position, velocity, axis, spin), Plane(point, normal, friction), state, PAR)
    inputs = [position, velocity, axis, spin, point, normal, friction, state]
    return ca.Function("tire", inputs, [getattr(out, name) for name in OUTPUTS])


TIRE = _build()


def tire(
    position: object = (0.0, 0.0, 0.4499),
    velocity: object = (0.0, 0.0, 0.0),
    spin: float = 0.0,
    state: object = (0.0, 0.0),
    *,
    axis: object = (0.0, 1.0, 0.0),
    point: object = (0.0, 0.0, 0.0),
    normal: object = (0.0, 0.0, 1.0),
    mu: float = 0.9,
) -> dict[str, Array]:
    values = TIRE(*(np.asarray(v, float) for v in (position, velocity, axis, spin, point, normal, mu, state)))
    return {name: np.asarray(value).ravel() for name, value in zip(OUTPUTS, values, strict=True)}


def test_a_coasting_wheel_reports_what_chrono_reports() -> None:
    lines = [line for line in COAST.read_text().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    names = ("Fx", "Fy", "Fz", "Mx", "My", "Mz", "slip", "alpha", "defl")

    def vector(row: dict[str, str], *keys: str) -> list[float]:
        return [float(row[key]) for key in keys]

    ours, theirs = [], []
    for row in rows:
        out = tire(
            vector(row, "x", "y", "z"),
            vector(row, "vx", "vy", "vz"),
            float(row["omega"]),
            axis=vector(row, "axis_x", "axis_y", "axis_z"),
        )
        shown = ("contact_force", "contact_moment", "slip", "slip_angle", "deflection")
        ours.append(np.concatenate([out[name] for name in shown]))
        theirs.append(vector(row, *names))
    assert len(rows) >= 60
    peak = np.abs(theirs).max(axis=0)
    worst = np.abs(np.array(ours) - np.array(theirs)).max(axis=0) / peak
    assert dict(zip(names, worst, strict=True)) == pytest.approx(dict.fromkeys(names, 0.0), abs=0.01)


def test_curves_reach_the_published_force_at_the_published_slip_and_nominal_load() -> None:
    height = RADIUS - PN / CZ
    radius = RADIUS - PN / CZ / 3
    for name, sign in (("fxm", 1.0), ("fxm", -1.0)):
        slip = sign * PAR["sxm_pn"]
        spin = 20.0
        transport = radius * spin + PAR["vnum"]
        out = tire((0, 0, height), (radius * spin - slip * transport, 0, 0), spin, mu=PAR["mu_0"])
        assert out["contact_force"][0] == pytest.approx(sign * PAR[f"{name}_pn"], rel=1e-9)
        assert out["contact_force"][2] == pytest.approx(PN)
    slip = PAR["sym_pn"]
    transport = radius * spin + PAR["vnum"]
    out = tire((0, 0, height), (radius * spin, -slip * transport, 0), spin, mu=PAR["mu_0"])
    assert out["contact_force"][1] == pytest.approx(PAR["fym_pn"], rel=1e-9)


def test_a_parked_tire_below_the_friction_limit_does_not_creep_at_all() -> None:
    out = tire(state=(0.02, -0.05))
    assert np.all(out["rate"] == 0.0)
    load = out["contact_force"][2]
    assert out["contact_force"][:2] == pytest.approx(-load * K * np.array([0.02, -0.05]))


def test_a_locked_wheel_on_a_thirty_percent_slope_comes_to_rest_and_stays() -> None:
    mass, gravity, h = 643.0, 9.81, 1e-3
    slope = np.arctan(0.3)
    normal = np.array([-np.sin(slope), 0.0, np.cos(slope)])
    along = np.array([np.cos(slope), 0.0, np.sin(slope)])
    height = RADIUS - mass * gravity * np.cos(slope) / CZ

    x = ca.SX.sym("x", 4)
    out = dict(zip(OUTPUTS, TIRE(x[0] * along + height * normal, x[1] * along, (0.0, 1.0, 0.0), 0.0, (0.0, 0.0, 0.0),
                                 normal, 0.9, x[2:]), strict=True))
    acceleration = ca.dot(out["force"], along) / mass - gravity * np.sin(slope)
    rate = ca.Function("rate", [x], [ca.vertcat(x[1], acceleration, out["rate"])])
    a = rate(x)
    b = rate(x + h / 2 * a)
    c = rate(x + h / 2 * b)
    step = ca.Function("step", [x], [x + h / 6 * (a + 2 * b + 2 * c + rate(x + h * c))])
    states = np.asarray(step.mapaccum(8000)(np.zeros(4)))  # thirty times as quick as calls from here
    track = states[0]
    assert -0.1 < track[-1] < 0.0
    assert abs(track[-1] - track[-1000]) < 1e-6
    assert abs(states[1, -1]) < 1e-5


@given(
    st.floats(-1.0, 1.0), st.floats(-20.0, 20.0), st.floats(-40.0, 40.0), st.floats(0.0, 1.0),
    st.floats(-np.pi, np.pi), st.floats(-0.1, 0.1), st.floats(0.1, 1.0),
)  # fmt: skip
def test_the_tire_never_makes_energy_at_low_speed(
    vx: float, vy: float, spin: float, stretch: float, direction: float, lean: float, mu: float
) -> None:
    axis = np.array([0.0, np.cos(lean), np.sin(lean)])
    z = stretch * mu / K * np.array([np.cos(direction), np.sin(direction)])
    velocity = np.array([vx, vy, 0.0])
    out = tire(velocity=velocity, spin=spin, state=z, axis=axis, mu=mu)
    power = out["force"] @ velocity + out["moment"] @ axis * spin
    stored = out["contact_force"][2] * K * (z @ out["rate"])
    assert power + stored <= 1e-9 * (1.0 + abs(power) + abs(stored))


@given(st.floats(-np.pi, np.pi), st.floats(0.1, 1.0))
def test_the_bristle_never_leaves_the_friction_circle(direction: float, mu: float) -> None:
    edge = mu / K * np.array([np.cos(direction), np.sin(direction)])
    for velocity in (1.0, 30.0):
        for angle in np.linspace(0, 2 * np.pi, 12, endpoint=False):
            v = velocity * np.array([np.cos(angle), np.sin(angle), 0.0])
            out = tire(velocity=(0.0, v[1], 0.0), spin=-v[0] / 0.4499, state=edge, mu=mu)
            assert edge @ out["rate"] <= 1e-9
            assert np.hypot(*out["contact_force"][:2]) <= mu * out["contact_force"][2] * (1 + 1e-12)


WIDE = st.floats(-1e3, 1e3)


@given(
    st.floats(-1.0, 1.0), WIDE, WIDE, st.floats(-50, 50), st.one_of(st.just(0.0), st.floats(-500, 500)),
    st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(0.0, 2.0), st.floats(-np.pi, np.pi),
)  # fmt: skip
def test_every_output_is_finite_for_every_motion(
    height: float, vx: float, vy: float, vz: float, spin: float, zx: float, zy: float, mu: float, lean: float
) -> None:
    axis = (0.0, np.cos(lean), np.sin(lean))
    out = tire((0, 0, height), (vx, vy, vz), spin, (zx, zy), axis=axis, mu=mu)
    assert all(np.all(np.isfinite(value)) for value in out.values())
    assert out["contact_force"][2] >= 0.0


@pytest.mark.parametrize("height", [RADIUS, RADIUS + 1e-9, RADIUS - 1e-12, 2.0, 0.0])
def test_zero_load_zero_slip_and_zero_speed_are_ordinary_points(height: float) -> None:
    out = tire((0, 0, height), axis=(0.0, 0.0, 1.0) if height == 2.0 else (0.0, 1.0, 0.0))
    assert all(np.all(np.isfinite(value)) for value in out.values())
    assert np.all(out["contact_force"][:2] == 0.0)


@pytest.mark.parametrize(("axis", "slope"), [(0, "dfx0"), (1, "dfy0")])
def test_slow_rolling_settles_at_the_slope_of_the_curve(axis: int, slope: str) -> None:
    height = RADIUS - PN / CZ
    slip, spin = 1e-5, 1.0
    sliding = -slip * height * spin
    velocity = np.array([height * spin, 0.0, 0.0])
    velocity[axis] += sliding
    z = np.zeros(2)
    z[axis] = -slip * PAR[f"{slope}_pn"] / PAR["dahl_sigma0"]
    out = tire((0, 0, height), velocity, spin, z)
    assert abs(out["rate"][axis]) < 1e-3 * abs(sliding)
    assert out["contact_force"][axis] == pytest.approx(slip * PAR[f"{slope}_pn"], rel=1e-2)


@pytest.mark.parametrize("mu", [0.05, 0.9])
def test_the_bristle_is_never_stiffer_than_its_rate_limit(mu: float) -> None:
    for v in (0.1, 3.0, 300.0):
        low, high = (tire(velocity=(0, v, 0), spin=v, state=(0, z), mu=mu)["rate"][1] for z in (0.0, 1e-3))
        assert 0.0 <= (low - high) / 1e-3 <= RATE_LIMIT


def test_a_tire_in_the_air_gives_nothing_and_its_bristle_springs_back() -> None:
    out = tire((0, 0, 1.0), (5.0, 1.0, -3.0), 20.0, (0.01, 0.0))
    assert not np.any(out["force"]) and not np.any(out["moment"])
    assert out["rate"][0] < 0.0


def test_a_tilted_plane_only_turns_the_wrench() -> None:
    angle = 0.3
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    position, velocity = np.array([1.0, 2.0, 0.45]), np.array([8.0, 0.4, 0.1])
    flat = tire(position, velocity, 17.0)
    tilted = tire(turn @ position, turn @ velocity, 17.0, normal=turn @ [0, 0, 1])
    assert tilted["force"] == pytest.approx(turn @ flat["force"])
    assert tilted["moment"] == pytest.approx(turn @ flat["moment"])
