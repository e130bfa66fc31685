"""Equations of electric motors: energy of the battery is stored, lost or delivered; limits, shares, differential."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.axles import AXLES
from jounce.data import load_vehicle
from jounce.math.layout import Layout
from jounce.powertrain import electric
from jounce.powertrain.electric_layouts import GIVEN, REPORT

Array = np.ndarray
MOTORS = electric.whole_function()
SMALL = st.floats(-1.0, 1.0)
SIDES = [f"motor.{axle}_{side}.torque" for axle in AXLES for side in ("left", "right")]


def values_of(**changed: float) -> Array:
    p = {name: ca.SX(entry.value) for name, entry in load_vehicle("hmmwv_electric").entries.items()}
    p |= {name.replace("__", "."): ca.SX(value) for name, value in changed.items()}
    return np.array(ca.evalf(electric.numbers(p, ca.SX(1)))).ravel()


N = values_of()
EACH = values_of(motor__front__at=2.0, motor__rear__at=2.0)


def part(layout: Layout, vector: Array, name: str) -> float:
    return float(vector[layout.first[name]])


def run(x: dict[str, float], h: Array, g: dict[str, float], n: Array = N) -> tuple[Array, Array, Array]:
    state, given_ = np.zeros(electric.STATES.size), np.zeros(GIVEN.size)
    for layout, vector, values in ((electric.STATES, state, x), (GIVEN, given_, g)):
        for name, value in values.items():
            vector[layout.first[name]] = value
    halves, rates, report = (np.array(v).ravel() for v in MOTORS(state, h, given_, n))
    return halves, rates, report


@settings(max_examples=60, deadline=None)
@given(st.lists(SMALL, min_size=11, max_size=11), st.sampled_from([1.0, 0.0, -1.0]), st.booleans())
def test_power_of_the_battery_is_stored_lost_or_delivered(z: list[float], direction: float, each: bool) -> None:
    """Rate of the stored energy by differences of the report along the rates, against the rates of the energies."""
    h = 60.0 * np.array(z[:4])
    n = EACH if each else N
    x = dict(zip(SIDES, 300.0 * np.array(z[4:8]), strict=True)) | {
        "differential.front.windup": 2e-3 * z[8], "differential.rear.windup": 2e-3 * z[9]}  # fmt: skip
    g = {"throttle": abs(z[10]), "brake_pedal": abs(z[0]), "regeneration": 1.0, "direction": direction,
         "front_lock": abs(z[1])}  # fmt: skip
    _, rates, report = run(x, h, g, n)
    step = 1e-6

    def stored(sign: float) -> float:
        moved = {k: v + sign * step * part(electric.STATES, rates, k) for k, v in x.items()}
        return part(REPORT, run(moved, h, g, n)[2], "stored")

    growth = (stored(1.0) - stored(-1.0)) / (2 * step)
    flows = [part(electric.STATES, rates, f"energy.{name}") for name in ("battery", "losses", "delivered")]
    size = np.abs(flows).sum() + abs(part(REPORT, report, "stored"))
    assert growth == pytest.approx(flows[0] - flows[1] - flows[2], abs=1e-6 * size)
    assert flows[1] >= -1e-9 * size  # nothing on the way makes energy
    assert flows[0] == part(REPORT, report, "battery_power")


@settings(max_examples=60, deadline=None)
@given(st.floats(-90.0, 90.0), st.floats(0.0, 1.0), st.floats(-500.0, 500.0), st.sampled_from([1.0, -1.0]))
def test_no_motor_exceeds_its_torque_or_its_power_at_the_present_speed(
    h: float, throttle: float, followed: float, direction: float
) -> None:
    """Whatever the lagged torque is; and what is wanted is the share of the limit, less regeneration."""
    w = 7.9377 * h
    limit = min(280.0, 80e3 / max(abs(w), 1e-9))
    given_ = {"throttle": throttle, "direction": direction, "regeneration": 1.0}
    _, rates, report = run(dict.fromkeys(SIDES, followed / 2), np.full(4, h), given_)
    torque = part(REPORT, report, "front_torque")
    assert torque == pytest.approx(np.clip(followed, -limit, limit), rel=1e-12)
    room = np.clip((1088.0 - direction * w) / 20.0, 0.0, 1.0)
    fades = np.clip(h / (4.3 * 1.92), -1.0, 1.0)
    wanted = limit * (direction * throttle * room - 0.15 * (1 - throttle) * fades)
    assert part(electric.STATES, rates, SIDES[0]) == pytest.approx((wanted / 2 - followed / 2) / 0.02, abs=1e-6)


@pytest.mark.parametrize(("charge", "drives", "slows"), [(0.0, 0.0, 1.0), (0.5, 1.0, 1.0), (1.0, 1.0, 0.0)])
def test_an_empty_battery_drives_nothing_and_a_full_one_takes_nothing(
    charge: float, drives: float, slows: float
) -> None:
    n = values_of(battery__initial_charge=charge)
    common = {"direction": 1.0, "regeneration": 1.0}
    for inputs, share in (({"throttle": 1.0}, drives), ({"brake_pedal": 1.0}, -0.5 * slows)):
        _, rates, _ = run({}, np.full(4, 10.0), common | inputs, n)
        assert part(electric.STATES, rates, SIDES[0]) == pytest.approx(share * 140.0 / 0.02, rel=1e-9)
    _, rates, _ = run({}, np.zeros(4), common, n)
    assert part(electric.STATES, rates, "energy.battery") == 600.0 * drives


def test_regeneration_takes_the_efficiencys_share_of_what_the_motor_brakes_and_drive_costs_more() -> None:
    for torque, factor in ((100.0, 1 / 0.9), (-100.0, 0.9)):
        _, rates, report = run(dict.fromkeys(SIDES[:2], torque / 2), np.full(4, 10.0), {})
        wanted = torque * 79.377 * factor + 600.0
        assert part(REPORT, report, "battery_power") == pytest.approx(wanted, rel=1e-9)
        assert part(electric.STATES, rates, "energy.recovered") == pytest.approx(max(0.0, -wanted), rel=1e-9)


def test_motors_at_the_wheels_turn_each_its_own_and_have_no_differential() -> None:
    x = {SIDES[0]: 100.0, SIDES[1]: 50.0}
    halves, _, report = run(x, np.array([20.0, 10.0, 0.0, 0.0]), {"front_lock": 1.0}, EACH)
    assert halves[:2] == pytest.approx([0.94 * 7.9377 * 100.0, 0.94 * 7.9377 * 50.0], rel=1e-9)
    assert part(REPORT, report, "front_torque") == 150.0
    on_axle, _, _ = run(x, np.full(4, 10.0), {})
    assert on_axle[:2] == pytest.approx(np.full(2, 0.94 * 7.9377 * 75.0), rel=1e-9)
