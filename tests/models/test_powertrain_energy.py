"""Energy and momentum of the HMMWV by pedals: nothing comes or goes between fuel and wheels without a source."""

from __future__ import annotations

import numpy as np
import pytest
from drives import ROW, Array, in_the_air, run, unaccounted
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.axles import WHEELS
from jounce_fmu.importer.host import FmuInstance


@pytest.mark.parametrize("instant", [0.0, 1.0])
def test_energy_from_fuel_to_wheels_is_closed_to_a_millionth_through_shifts_and_locks(instant: float) -> None:
    plan = [(0.0, {"throttle": 0.5}), (0.6, {"front.diff_lock": 1.0, "throttle": 0.9}), (1.5, {"throttle": 0.0}),
            (2.0, {"gear_selector": 0, "front.diff_lock": 0.0})]  # fmt: skip
    o = run(plan, 2.5, in_the_air() | {"gearbox.instant": instant})
    assert set(o["gearbox.gear"]) >= {0.0, 1.0, 2.0}
    assert o["energy.engine"].max() > 5e4
    assert unaccounted(o) < (1e-6 if instant else 1e-7) * o["energy.engine"].max()
    assert (np.diff(o["energy.losses"]) > -1e-3).all()


def test_what_comes_out_of_the_driveline_is_what_the_half_shafts_do_to_the_wheels() -> None:
    """On the ground, through a shift and a braking: both the balance of the driveline and the work by the outputs."""
    o = run([(0.0, {"throttle": 1.0}), (2.5, {"throttle": 0.0, "brake_pedal": 0.4})], 4.0, {"init.speed": 9.0})
    assert len(set(o["gearbox.gear"])) > 1
    assert unbalanced(o) < 1e-7
    power = np.sum([o[f"wheel_{w}.drive_torque_total"] * o[f"wheel_{w}.omega"] for w in WHEELS], axis=0)
    work = np.concatenate([[0.0], np.cumsum(0.5 * ROW * (power[1:] + power[:-1]))])
    assert np.ptp(o["energy.delivered"]) > 5e4
    assert np.abs(work - o["energy.delivered"]).max() < 2e-3 * np.ptp(o["energy.delivered"])


def unbalanced(o: dict[str, Array]) -> float:
    """Energy that engine and half shafts have exchanged with nothing in between, over the engine's work or 10 kJ."""
    left = o["energy.engine"] - o["energy.losses"] - o["energy.delivered"] - o["energy.driveline"]
    return float(np.abs(left - left[0]).max() / max(np.ptp(o["energy.engine"]), 1e4))


OF_THE_HAND_BRAKE = {"hand_brake": 1.0, "gear_selector": 1.0}
#: What has made energy from nothing, as a share of the engine's work, and what it took.
ON_THE_GROUND = {
    "a centre lock takes 12 kJ at once (3.5e-4)": (
        [(0.0, {"throttle": 1.0}), (0.6, OF_THE_HAND_BRAKE), (2.7, {"centre.diff_lock": 1.0})],
        {"terrain.mu": 0.2, "init.speed": 15.0}),
    "the bias of slipping differentials grows (1.9e-5)": (
        [(0.0, {"throttle": 0.46}), (0.6, {"throttle": 0.0}), (0.84, {"steering_wheel_torque": -14.8}),
         (1.26, OF_THE_HAND_BRAKE), (1.5, {"gear_selector": -1.0}), (1.8, {"gear_selector": 1.0})],
        {"steering.mode": 2.0, "transfer_range": 3.0, "init.speed": 25.0}),
    "locked tires chatter (9.8e-6)": (
        [(0.0, {"throttle": 0.5154}), (0.6, {"hand_brake": 1.0, "gear_selector": -2.0}), (1.06, {"brake_pedal": 1.0})],
        {"terrain.slope": -0.0607}),
}  # fmt: skip


@pytest.mark.parametrize("case", ON_THE_GROUND)
def test_on_the_ground_the_balance_of_the_driveline_is_closed_to_a_millionth(case: str) -> None:
    plan, start = ON_THE_GROUND[case]
    o = run(plan, plan[-1][0] + 0.8, start)
    assert np.abs(o["speed"]).max() > 0.5
    assert unbalanced(o) < 1e-6


def test_a_range_is_refused_while_the_wheels_turn_in_the_air_and_taken_when_they_stand() -> None:
    """The vehicle does not move; the output shaft's speed, and so its energy, would jump with the range."""
    plan = [(0.0, {"throttle": 0.6}), (1.0, {"throttle": 0.0, "gear_selector": 0.0}), (1.5, {"transfer_range": 3.0}),
            (1.8, {"brake_pedal": 0.5})]  # fmt: skip
    o = run(plan, 3.0, in_the_air())
    t, turns = o["time"], o["wheel_RL.omega"] + o["wheel_RR.omega"] + o["wheel_FL.omega"] + o["wheel_FR.omega"]
    asked = (t > 1.55) & (t < 1.8)
    high = 2.73 * 1.92
    assert np.abs(o["speed"]).max() < 1.0 and np.abs(turns[asked]).min() > 4.0 * 10.0
    assert (o["gearbox.refused"][asked] == 1.0).all()
    assert o["driveline.output_speed"][asked] == pytest.approx(high * turns[asked] / 4.0, rel=0.01)  # the old range
    assert o["gearbox.refused"][-1] == 0.0
    assert np.flatnonzero(o["gearbox.refused"])[-1] > 185  # not before the brake has slowed them down
    balance = o["energy.engine"] - o["energy.losses"] - o["energy.delivered"] - o["energy.driveline"]
    assert np.abs(balance - balance[0]).max() < 0.3  # of the output shaft; it was 2 kJ


def test_an_engine_that_speeds_up_turns_the_chassis_as_much_as_its_angular_momentum_grows() -> None:
    """Against the same moment from outside, by the inertias of engine (1.1) and turbine (0.3 kg.m2)."""
    plan = [(0.0, {"gear_selector": 0.0, "throttle": 1.0})]
    o = run(plan, 0.6, in_the_air() | {"engine.reaction": 1.0})
    momentum = 1.1 * o["engine.speed"] + 0.3 * o["gearbox.turbine_speed"]

    def turn(fmu: FmuInstance, t: float) -> None:
        k = round(t / ROW)
        fmu.set_values({"chassis.ext_moment.x": float(momentum[k] - momentum[k + 1]) / ROW})

    same, none = run(plan, 0.6, in_the_air(), every_row=turn), run(plan, 0.6, in_the_air())
    roll = o["ref_frame.roll"]
    assert np.ptp(momentum) > 150.0 and np.abs(roll).max() > 0.01
    assert np.abs(roll - same["ref_frame.roll"]).max() < 0.01 * np.abs(roll).max()
    assert np.abs(none["ref_frame.roll"]).max() < 1e-9


GROUND = st.fixed_dictionaries({
    "init.speed": st.sampled_from([0.0, 6.0, 15.0, 25.0]), "terrain.mu": st.sampled_from([0.2, 0.8]),
    "terrain.slope": st.floats(-0.2, 0.2), "transfer_range": st.sampled_from([1.0, 3.0]),
    "steering.mode": st.sampled_from([1.0, 2.0]), "converter.lock_torque": st.sampled_from([0.0, 800.0]),
})  # fmt: skip
WISHES = st.one_of(
    st.fixed_dictionaries({"throttle": st.sampled_from([0.0, 0.4, 1.0])}),
    st.fixed_dictionaries({"gear_request": st.integers(0, 3), "gear_selector": st.integers(0, 1)}),
    st.fixed_dictionaries({"front.diff_lock": st.integers(0, 1), "rear.diff_lock": st.integers(0, 1)}),
    st.fixed_dictionaries({"centre.diff_lock": st.integers(0, 1)}),
)
ON_GROUND = st.one_of(
    WISHES, st.fixed_dictionaries({"brake_pedal": st.sampled_from([0.0, 0.4, 1.0]), "throttle": st.just(0.0)}),
    st.fixed_dictionaries({"hand_brake": st.integers(0, 1), "gear_selector": st.integers(-2, 1)}),
    st.fixed_dictionaries({"steering_wheel_torque": st.floats(-15.0, 15.0)}),
)


@settings(max_examples=12, deadline=None)
@given(st.floats(0.3, 1.0), st.lists(st.tuples(st.floats(0.15, 0.5), WISHES), min_size=4, max_size=4),
       st.sampled_from([0.0, 800.0]))  # fmt: skip
def test_whatever_gears_and_locks_are_asked_for_the_energy_is_closed_at_a_tick_of_a_millisecond(
    throttle: float, wishes: list[tuple[float, dict[str, float]]], lock_torque: float
) -> None:
    """The driver accelerates for half a second, then wishes something every 0.15 to 0.5 s."""
    plan, t = [(0.0, {"throttle": throttle})], 0.5
    for pause, wish in wishes:
        plan.append((t, {n: float(v) for n, v in wish.items()}))
        t += pause
    o = run(plan, t + 0.5, in_the_air() | {"converter.lock_torque": lock_torque, "converter.lock_gear": 1.0})
    assert unaccounted(o) < 1e-6 * o["energy.engine"].max()


@settings(max_examples=20, deadline=None)
@given(GROUND, st.floats(0.3, 1.0), st.lists(st.tuples(st.floats(0.2, 0.8), ON_GROUND), min_size=5, max_size=5))
def test_whatever_is_driven_on_the_ground_with_any_lock_the_balance_of_the_driveline_is_closed(
    start: dict[str, float], throttle: float, wishes: list[tuple[float, dict[str, float]]]
) -> None:
    """The bound is twice the largest of 1500 such drives, where a lock opens that is wound up."""
    plan, t = [(0.0, {"throttle": throttle})], 0.6
    for pause, wish in wishes:
        plan.append((t, {n: float(v) for n, v in wish.items()}))
        t += pause
    assert unbalanced(run(plan, t, {"converter.lock_gear": 1.0, **start})) < 4e-6
