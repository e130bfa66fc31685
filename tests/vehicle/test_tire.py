"""The TMeasy tire against Project Chrono's in a coast, its curves against the published ones, and its dampers."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from one_tire import CZ, LOAD, PAR, PN, RADIUS, ROLLING, Array, K, bristle_rate, settled, tire

from jounce.contact.tires.tmeasy import LEAN
from jounce.data import load_vehicle

COAST = Path(__file__).parents[1] / "data" / "tire_coast.csv"
CHRONO = load_vehicle("hmmwv_chrono")


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
            plain=True,
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
    for sign in (1.0, -1.0):
        slip = sign * PAR["peak_slip_x_nominal"]
        spin = 20.0
        transport = radius * spin + PAR["min_slip_speed"]
        out = tire((0, 0, height), (radius * spin - slip * transport, 0, 0), spin, mu=PAR["nominal_friction"])
        assert out["contact_force"][0] == pytest.approx(sign * PAR["peak_force_x_nominal"], rel=1e-9)
        assert out["contact_force"][2] == pytest.approx(PN)
    slip = PAR["peak_slip_y_nominal"]
    transport = radius * spin + PAR["min_slip_speed"]
    out = tire((0, 0, height), (radius * spin, -slip * transport, 0), spin, mu=PAR["nominal_friction"])
    assert out["contact_force"][1] == pytest.approx(PAR["peak_force_y_nominal"], rel=1e-9)


WIDE = st.floats(-1e3, 1e3)


@given(
    st.floats(-1.0, 1.0), WIDE, WIDE, st.floats(-50, 50), st.one_of(st.just(0.0), st.floats(-500, 500)),
    st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(0.0, 2.0), st.floats(-np.pi, np.pi),
)  # fmt: skip
def test_every_output_is_finite_for_every_motion(
    height: float, vx: float, vy: float, vz: float, spin: float, zx: float, zy: float, mu: float, lean: float
) -> None:
    axis = (0.0, np.cos(lean), np.sin(lean))
    state = {"bristle": (zx, zy), "rolled": zx, "turned": zy, "travelled": zy, "sliding": abs(zx)}
    out = tire((0, 0, height), (vx, vy, vz), spin, state, axis=axis, mu=mu)
    assert all(np.all(np.isfinite(value)) for value in out.values())
    assert out["contact_force"][2] >= 0.0


@pytest.mark.parametrize("height", [RADIUS, RADIUS + 1e-9, RADIUS - 1e-12, 2.0, 0.0])
def test_zero_load_zero_slip_and_zero_speed_are_ordinary_points(height: float) -> None:
    out = tire((0, 0, height), axis=(0.0, 0.0, 1.0) if height == 2.0 else (0.0, 1.0, 0.0))
    assert all(np.all(np.isfinite(value)) for value in out.values())
    assert np.all(out["contact_force"][:2] == 0.0)


@pytest.mark.parametrize(("axis", "slope"), [(0, "slip_stiffness_x"), (1, "slip_stiffness_y")])
def test_slow_rolling_settles_at_the_slope_of_the_curve(axis: int, slope: str) -> None:
    height, slip, spin = RADIUS - PN / CZ, 1e-5, 1.0
    radius = RADIUS - PN / CZ / 3
    sliding = -slip * radius * spin
    velocity = np.array([radius * spin, 0.0, 0.0])
    velocity[axis] += sliding
    z = np.zeros(2)
    z[axis] = -slip * PAR[f"{slope}_nominal"] / K
    out = tire((0, 0, height), velocity, spin, {"bristle": z, **ROLLING})
    assert abs(bristle_rate(out)[axis]) < 1e-3 * abs(sliding)
    assert out["contact_force"][axis] == pytest.approx(slip * PAR[f"{slope}_nominal"], rel=1e-2)


LEANING = st.floats(0.2, 1.2).flatmap(lambda a: st.sampled_from([a, -a]))
SPEEDS = st.tuples(*[st.floats(-5.0, 5.0)] * 6)


def leaning(lean: float, deep: float, speeds: tuple[float, ...]) -> tuple[dict[str, Array], Array, Array]:
    """(outputs, velocity, turning) of a smooth wheel that leans by an angle [rad], `deep` beyond its rim or before."""
    velocity, turning, axis = np.array(speeds[:3]), np.array(speeds[3:]), np.array([0.0, np.cos(lean), np.sin(lean)])
    turning -= turning @ axis * axis  # it does not roll
    height = (PAR["rim_radius"] - deep) * np.cos(lean)
    return tire((0.0, 0.0, height), velocity, axis=axis, turning=turning, mu=0.0), velocity, turning


def power(out: dict[str, Array], velocity: Array, turning: Array) -> float:
    return float(out["force"] @ velocity + out["moment"] @ turning)


@given(lean=LEANING, deep=st.floats(-0.05, 0.05), speeds=SPEEDS)
def test_dampers_of_tire_and_rim_take_energy_at_any_lean(lean: float, deep: float, speeds: tuple[float, ...]) -> None:
    out, velocity, turning = leaning(lean, deep, speeds)
    still, _, _ = leaning(lean, deep, (0.0,) * 6)
    # up to LEAN the damper meets the hub's speed, as Chrono's: d short of the contact's, -c v (v + d) <= c d^2 / 4
    short = LEAN * RADIUS * np.linalg.norm(turning)
    chrono = (PAR["vertical_damping"] + PAR["rim_damping"]) * short**2 / 4
    assert power(out, velocity, turning) <= power(still, velocity, turning) + chrono * 1.5 + 1e-6


@given(lean=LEANING, deep=st.floats(-0.05, 0.05), speeds=SPEEDS)
def test_springs_of_tire_and_rim_give_back_what_they_store_at_any_lean(
    lean: float, deep: float, speeds: tuple[float, ...]
) -> None:
    """Within 2 %: the measure of the deflection joins Chrono's, which falls off with the lean."""
    _, velocity, turning = leaning(lean, deep, speeds)
    still, _, _ = leaning(lean, deep, (0.0,) * 6)

    def stored(dt: float) -> float:
        axis = np.array([0.0, np.cos(lean), np.sin(lean)]) + dt * np.cross(turning, [0.0, np.cos(lean), np.sin(lean)])
        centre = np.array([0.0, 0.0, (PAR["rim_radius"] - deep) * np.cos(lean)]) + dt * velocity
        d = float(tire(centre, axis=axis / np.linalg.norm(axis), mu=0.0)["deflection"][0])
        return 0.5 * CZ * d**2 + 0.5 * PAR["rim_stiffness"] * max(d - RADIUS + PAR["rim_radius"], 0.0) ** 2

    given_back = power(still, velocity, turning) - still["contact_moment"][0] * turning[0]
    scale = float(still["contact_force"][2]) * np.linalg.norm([*velocity, *turning])
    assert given_back == pytest.approx(-(stored(1e-6) - stored(-1e-6)) / 2e-6, abs=0.02 * scale + 1.0)


def test_a_tilted_plane_only_turns_the_wrench() -> None:
    angle = 0.3
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    position, velocity = np.array([1.0, 2.0, 0.45]), np.array([8.0, 0.4, 0.1])
    flat = tire(position, velocity, 17.0)
    tilted = tire(turn @ position, turn @ velocity, 17.0, normal=turn @ [0, 0, 1])
    assert tilted["force"] == pytest.approx(turn @ flat["force"])
    assert tilted["moment"] == pytest.approx(turn @ flat["moment"])


def slipping(sx: float, sy: float, load: float, speed: float = 20.0, **given: Any) -> dict[str, Array]:
    """A rolling wheel at slips over |R_eff omega| + vnum."""
    deflection = load / CZ
    radius = RADIUS - deflection / 3
    transport = speed + PAR["min_slip_speed"]
    velocity = (speed - sx * transport, -sy * transport, 0.0)
    return tire((0, 0, RADIUS - deflection), velocity, speed / radius, **{"state": ROLLING, **given})


@pytest.mark.parametrize(
    ("plain", "force"), [(False, (4401.0, 1749.0)), (True, (2696.0, 2696.0))], ids=["NORMALIZED", "PLAIN"]
)
def test_combined_slip_is_that_of_the_named_law(plain: bool, force: tuple[float, float]) -> None:
    """The published law evaluated apart from the model, at a slip of 0.05 along both axes under 6.4 kN, mu = mu_0."""
    out = slipping(0.05, 0.05, 6400.0, mu=PAR["nominal_friction"], plain=plain)
    assert out["contact_force"][:2] == pytest.approx(force, abs=1.0)


def rill(sx: float, sy: float, load: float) -> tuple[float, float]:
    """Combined forces of the published TMeasy below the slip of maximum force, mu = mu_0.

    Rill, Road Vehicle Dynamics, ch. 3: normalized slips, parameters of the direction, and the rational first branch
    F = sM dF0 s / (1 + s (s + dF0 sM / FM - 2)), s over sM.
    """
    q = load / PN
    c = {}
    for letters, name in (("dfx0", "slip_stiffness_x"), ("dfy0", "slip_stiffness_y"), ("fxm", "peak_force_x"),
                          ("fym", "peak_force_y")):  # fmt: skip
        first, second = PAR[f"{name}_nominal"], PAR[f"{name}_double"]
        c[letters] = q * (2 * first - second / 2 - (first - second / 2) * q)
    for letters, name in (("sxm", "peak_slip_x"), ("sym", "peak_slip_y")):
        first, second = PAR[f"{name}_nominal"], PAR[f"{name}_double"]
        c[letters] = first + (second - first) * (q - 1)
    knee_x, knee_y = c["fxm"] / c["dfx0"], c["fym"] / c["dfy0"]
    hat_x = c["sxm"] / (c["sxm"] + c["sym"]) + knee_x / (knee_x + knee_y)
    hat_y = c["sym"] / (c["sxm"] + c["sym"]) + knee_y / (knee_x + knee_y)
    s = np.hypot(sx / hat_x, sy / hat_y)
    cos, sin = sx / hat_x / s, sy / hat_y / s
    fm, sm = np.hypot(c["fxm"] * cos, c["fym"] * sin), np.hypot(c["sxm"] / hat_x * cos, c["sym"] / hat_y * sin)
    df0 = max(np.hypot(c["dfx0"] * hat_x * cos, c["dfy0"] * hat_y * sin), 2 * fm / sm)
    assert s < sm
    part = s / sm
    force = sm * df0 * part / (1 + part * (part + df0 * sm / fm - 2))
    return force * cos, force * sin


@given(st.floats(-0.06, 0.06), st.floats(-0.12, 0.12), st.floats(1000.0, 15000.0))
def test_normalized_slips_give_the_published_forces(sx: float, sy: float, load: float) -> None:
    assume(np.hypot(sx, sy) > 1e-6)
    out = slipping(sx, sy, load, mu=PAR["nominal_friction"])
    assert out["contact_force"][:2] == pytest.approx(rill(sx, sy, load), rel=1e-6, abs=1e-3)


@pytest.mark.slow(but=("[1.0]", "[10.0]"))
@pytest.mark.parametrize("speed", [0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0])
def test_a_locked_wheel_feels_the_sliding_force_of_the_curve_at_every_speed(speed: float) -> None:
    q, mu = LOAD / PN, 0.9
    first, second = PAR["sliding_force_x_nominal"], PAR["sliding_force_x_double"]
    force = mu / PAR["nominal_friction"] * q * (2 * first - second / 2 - (first - second / 2) * q)
    out = settled((speed, 0.0, 0.0), 0.5 + 0.1 / speed, mu)
    assert -out["contact_force"][0] == pytest.approx(force, rel=0.02)


def test_no_friction_is_no_force() -> None:
    for speed in (0.0, 2.0, 20.0):
        out = tire(velocity=(speed, 0.5, 0.0), spin=10.0, turning=(0, 0, 1.0), mu=0.0, state={"bristle": (0.01, 0.01)})
        assert not np.any(out["contact_force"][:2])
        assert out["contact_moment"][2] == 0.0


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0, 3.0, 20.0])
def test_a_free_wheel_rolls_on_the_same_radius_at_every_speed(speed: float) -> None:
    radius = RADIUS - (RADIUS - 0.4499) / 3
    out = tire(velocity=(speed, 0.0, 0.0), spin=speed / radius, state=ROLLING)
    assert out["slip"][0] == pytest.approx(0.0, abs=1e-9)
    assert out["contact_force"][0] == pytest.approx(0.0, abs=1e-6)
