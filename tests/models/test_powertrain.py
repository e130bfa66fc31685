"""The HMMWV by pedals: against Project Chrono's record, its engine, gears, locks and brakes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drives import Array, record, run
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.axles import WHEELS
from jounce.data import load_vehicle
from jounce_fmu.importer.host import FmuInstance

LOCKED = {"front.diff_lock": 1.0, "rear.diff_lock": 1.0, "centre.diff_lock": 1.0}


def test_thirteen_seconds_by_throttle_and_steering_are_those_of_project_chrono() -> None:
    """Its engine, converter, gearbox and shafts, locked differentials; goals from its own error between two steps."""
    chrono = record()
    arm = load_vehicle("hmmwv")["steering.max_arm_angle"] * load_vehicle("hmmwv")["steering_ratio"]

    def drive(fmu: FmuInstance, t: float) -> None:
        now = {n: float(np.interp(t + 0.005, chrono["t"], chrono[n])) for n in ("throttle", "steering")}
        fmu.set_values({"throttle": now["throttle"], "steering_wheel_angle": now["steering"] * arm})

    start = {"terrain.mu": 0.9, "init.equilibrium": False, "init.z": 0.5}
    o = run([(0.0, LOCKED)], 13.0, start, vehicle="hmmwv_chrono_pedals", every_row=drive)
    t, late = o["time"], o["time"] > 1.6
    shifts = t[1:][np.diff(o["gearbox.gear"]) > 0]
    assert shifts == pytest.approx([3.14, 5.94], abs=0.02)

    def off(name: str, values: Array) -> Array:
        return (o[name] - np.interp(t, chrono["t"], values))[late]

    assert np.abs(off("ref_frame.pos.x", chrono["ref_x"])).max() < 0.15
    assert np.sqrt((off("engine.speed", chrono["engine_speed"]) ** 2).mean()) < 0.3
    speed = np.hypot(o["ref_frame.lin_vel.x"], o["ref_frame.lin_vel.y"])
    wanted = np.interp(t, chrono["t"], np.hypot(chrono["ref_vx"], chrono["ref_vy"]))
    assert np.sqrt(((speed - wanted)[late] ** 2).mean()) < 0.02


def test_the_engine_starts_idles_and_stops() -> None:
    o = run([(0.0, {"gear_selector": 0.0, "engine.run": 0.0}), (0.2, {"engine.run": 1.0}),
             (0.6, {"engine.start": 1.0}), (1.6, {"engine.start": 0.0}), (3.0, {"engine.run": 0.0})], 7.0)  # fmt: skip
    t, w = o["time"], o["engine.speed"]
    idle = 700 * math.pi / 30
    assert (w[t < 0.6] == 0.0).all()  # ignition alone starts nothing
    assert w[t < 3.0][-1] == pytest.approx(idle, rel=0.01)
    assert w[-1] < 5.0
    assert (o["engine.fuel_rate"][t > 3.05] == 0.0).all()
    # Willans: what overcomes 40 N.m of drag and 25 of accessories, at 0.42 of 42.8 MJ/kg
    assert o["engine.fuel_rate"][t < 3.0][-1] == pytest.approx(65.0 * idle / (0.42 * 42.8e6), rel=0.01)


def test_creep_in_drive_and_a_floored_start_are_those_of_the_published_figures() -> None:
    """Creep 1.5 to 3 m/s. 0 to 50 km/h in 4.0 s and 0 to 96.6 in 11.8 s without drag at 2613 kg.

    With 396 kg of load and a drag area of 2 m2 it takes 14.8 s; the vehicle's published time is 17.3 s.
    """
    slow = run([(0.0, {})], 9.0)
    assert 1.5 < slow["speed"][-1] < 3.0
    fast = run([(0.0, {"brake_pedal": 0.3}), (1.0, {"brake_pedal": 0.0, "throttle": 1.0})], 13.5)
    t, v, gears = fast["time"], fast["speed"], fast["gearbox.gear"]
    assert t[np.argmax(v > 50 / 3.6)] - 1.0 == pytest.approx(3.9, abs=0.5)
    assert t[np.argmax(v > 96.6 / 3.6)] - 1.0 == pytest.approx(11.7, abs=0.7)
    assert (np.diff(gears) >= 0).all()  # no hunting
    assert fast["engine.speed"].max() < 3750 * math.pi / 30


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize("transfer", [1.0, 3.0])
@pytest.mark.parametrize("gear", [1.0, 2.0, 3.0, 4.0, -1.0])
def test_rk4_at_a_millisecond_is_stable_in_every_gear_and_range_locked_and_open(
    gear: float, transfer: float, locked: bool
) -> None:
    """On ice, where the wheels' inertia is all that the wind-ups meet: as at a quarter of the tick."""
    first = {"gear_selector": 0.0, "transfer_range": transfer, "throttle": 0.7, **(LOCKED if locked else {})}
    into = {"gear_selector": math.copysign(1.0, gear), "gear_request": max(gear, 0.0)}
    ends = []
    for tick in (1e-3, 2.5e-4):
        o = run([(0.0, first), (0.05, into), (0.9, {"throttle": 0.0})], 1.2, {"terrain.mu": 0.02, "tick": tick})
        assert o["gearbox.gear"][-1] == gear
        ends.append([o[n][-1] for n in ("engine.speed", "gearbox.turbine_speed", "wheel_FL.omega", "wheel_RR.omega")])
    assert ends[0] == pytest.approx(ends[1], rel=2e-3, abs=0.02)


@pytest.mark.parametrize("throttle", [0.3, 0.6, 1.0])
def test_gears_do_not_hunt_whatever_the_speed_settles_at(throttle: float) -> None:
    """On a grade on which it can hold no gear for long: shifts stay a latency apart."""
    o = run([(0.0, {"throttle": throttle})], 12.0, {"terrain.slope": 0.12, "init.speed": 12.0})
    shifts = o["time"][1:][np.diff(o["gearbox.gear"]) != 0]
    assert (np.diff(shifts) > 0.29).all()
    assert len(shifts) < 6


def test_split_friction_is_overcome_by_bias_brake_and_lock_in_this_order() -> None:
    """From idle at throttle 0.6 with the left wheels on 0.1, the right ones on 0.8."""
    split = {"terrain_source": 2} | {f"wheel_{w}.terrain_mu": 0.1 if w[1] == "L" else 0.8 for w in WHEELS}
    opened = {"differential.front.bias": 1.0, "differential.rear.bias": 1.0}
    cases = {"open": (opened, {}), "biased": ({}, {}), "locked": ({}, LOCKED),
             "braked": ({}, {"wheel_FL.brake_torque": 300.0, "wheel_RL.brake_torque": 300.0})}  # fmt: skip
    speed, spin = {}, {}
    for name, (parameters, inputs) in cases.items():
        o = run([(0.0, {"brake_pedal": 0.5} | inputs), (0.3, {"brake_pedal": 0.0, "throttle": 0.6})], 2.5,
                split | parameters)  # fmt: skip
        speed[name], spin[name] = o["speed"][-1], o["wheel_FL.omega"][-1]
    assert speed["open"] < speed["biased"] < speed["braked"] < speed["locked"]
    assert spin["locked"] < spin["biased"] < spin["open"]
    # open: the axle pulls with twice what the ice holds, 0.1 of half the weight on each side
    assert speed["open"] < 0.1 * 9.81 * 2.2 * 1.25


def test_selector_range_and_gears_that_would_do_harm_are_refused_and_said() -> None:
    o = run([(0.0, {}), (0.1, {"gear_selector": -1.0}), (0.5, {"gear_selector": -2.0}), (0.9, {"gear_selector": 1.0}),
             (1.5, {"transfer_range": 3.0})], 2.0, {"init.speed": 8.0})  # fmt: skip
    t = o["time"]
    for low, high in ((0.15, 0.5), (0.55, 0.9)):
        inside = (t > low) & (t < high)
        assert (o["gearbox.gear"][inside] == 0.0).all() and (o["gearbox.refused"][inside] == 1.0).all()
    assert o["gearbox.refused"][t > 1.55].all()
    assert o["speed"][-1] > 6.0  # neither pawl nor reverse has acted
    fast = run([(0.0, {}), (0.2, {"gear_request": 1.0})], 0.6, {"init.speed": 30.0})
    assert fast["gearbox.gear"][-1] > 1.0 and fast["gearbox.refused"][-1] == 1.0
    none = run([(0.0, {"gear_request": 6.0})], 0.1)
    assert none["gearbox.gear"][-1] == 4.0 and none["gearbox.refused"][-1] == 1.0


def test_sliding_sideways_on_ice_neither_pawl_nor_reverse_goes_in() -> None:
    o = run([(0.0, {"gear_selector": 0.0, "chassis.ext_force.y": 8000.0}), (1.0, {"gear_selector": -1.0}),
             (1.3, {"gear_selector": -2.0}), (1.6, {"gear_selector": 0.0})], 1.6, {"terrain.mu": 0.05})  # fmt: skip
    asked = o["time"] > 1.05
    assert np.abs(o["speed"][asked]).max() < 1.0  # ahead
    assert (np.hypot(o["ref_frame.lin_vel.x"], o["ref_frame.lin_vel.y"])[asked] > 1.0).all()
    assert (o["gearbox.gear"][asked] == 0.0).all() and (o["gearbox.refused"][asked] == 1.0).all()


STEP = st.fixed_dictionaries({
    "throttle": st.sampled_from([0.0, 0.4, 1.0]), "brake_pedal": st.sampled_from([0.0, 0.0, 0.3, 1.0]),
    "hand_brake": st.sampled_from([0.0, 1.0]), "gear_selector": st.integers(-2, 1), "gear_request": st.integers(0, 6),
    "transfer_range": st.integers(1, 4), "front.diff_lock": st.integers(0, 1), "centre.diff_lock": st.integers(0, 1),
    "engine.run": st.sampled_from([1.0, 1.0, 0.0]), "engine.start": st.sampled_from([0.0, 1.0]),
    "steering_wheel_torque": st.floats(-30.0, 30.0),
})  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(
    steps=st.lists(STEP, min_size=1, max_size=8), speed=st.sampled_from([0.0, -4.0, 8.0, 25.0]),
    mu=st.sampled_from([0.8, 0.02]), slope=st.floats(-0.4, 0.4), mode=st.sampled_from(["ANGLE", "TORQUE"]),
)  # fmt: skip
def test_whatever_a_driver_does_nothing_fails_no_engine_overspeeds_and_no_loss_gives_energy(
    steps: list[dict[str, float]], speed: float, mu: float, slope: float, mode: str
) -> None:
    start = {"init.speed": speed, "terrain.mu": mu, "terrain.slope": slope, "steering.mode": mode}
    plan = [(0.4 * k, {n: float(v) for n, v in step.items()}) for k, step in enumerate(steps)]
    o = run(plan, 0.4 * len(plan), start)
    assert (np.diff(o["energy.losses"]) > -0.1).all()
    assert o["engine.speed"].min() > -1.0
    # downhill the wheels may turn it above its limit, as in any vehicle
    assert o["engine.speed"].max() < 1.15 * load_vehicle("hmmwv_pedals")["engine.limit_speed"]


def test_the_low_range_engages_at_rest_in_neutral_and_locks_the_centre() -> None:
    o = run([(0.0, {"gear_selector": 0.0, "brake_pedal": 0.5}), (0.3, {"transfer_range": 3.0}),
             (0.6, {"gear_selector": 1.0}), (1.0, {"brake_pedal": 0.0, "throttle": 0.5})], 4.0)  # fmt: skip
    assert o["gearbox.refused"].max() == 0.0
    ratio = o["driveline.output_speed"][-1] / o["wheel_RL.omega"][-1]
    assert ratio == pytest.approx(2.72 * 2.73 * 1.92, rel=0.01)


def test_brake_pressure_follows_the_pedal_and_its_limits() -> None:
    o = run([(0.0, {"brake_pedal": 0.5, "wheel_FL.brake_pressure_limit": 2e6, "wheel_RR.brake_pressure": 1e5})], 1.0)
    assert o["wheel_FR.brake_pressure_actual"][-1] == pytest.approx(6e6, rel=1e-3)
    assert o["wheel_FL.brake_pressure_actual"][-1] == 2e6
    assert o["wheel_RR.brake_pressure_actual"][-1] == pytest.approx(6.1e6, rel=1e-3)
    # a first-order lag of 0.06 s
    after = round(0.06 / 0.01)
    assert o["wheel_FR.brake_pressure_actual"][after] == pytest.approx(6e6 * (1 - math.exp(-1)), rel=0.02)
