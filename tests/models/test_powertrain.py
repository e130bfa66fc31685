"""The HMMWV by pedals: against Project Chrono's record, at rest on slopes, through its gears, and by every importer."""

from __future__ import annotations

import ctypes as ct
import math
from pathlib import Path

import numpy as np
import pytest
from drives import ROW, Array, factory, in_the_air, record, run, unaccounted
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.axles import WHEELS
from jounce.data import DataError, load_vehicle
from jounce.models.double_wishbone.arrange import arranged
from jounce_fmu.importer.host import FmuError, FmuInstance
from jounce_fmu.importer.linear import Exchange, read_states
from jounce_fmu.models import data_sets, find
from jounce_fmu.models.tires import on_tires

LOCKED = {"front.diff_lock": 1.0, "rear.diff_lock": 1.0, "centre.diff_lock": 1.0}
TIRE = Path(__file__).parents[1] / "data" / "tires" / "HMMWV_Pac02Tire.tir"


# ---- against a record -----------------------------------------------------------------------------------------------


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


# ---- energy ---------------------------------------------------------------------------------------------------------


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
    source = o["energy.engine"] - o["energy.losses"] - o["energy.delivered"]
    stored = o["energy.driveline"] - o["energy.driveline"][0]
    assert np.abs(source - stored).max() < 1e-6 * o["energy.engine"].max()
    power = np.sum([o[f"wheel_{w}.drive_torque_total"] * o[f"wheel_{w}.omega"] for w in WHEELS], axis=0)
    work = np.concatenate([[0.0], np.cumsum(0.5 * ROW * (power[1:] + power[:-1]))])
    assert np.ptp(o["energy.delivered"]) > 5e4
    assert np.abs(work - o["energy.delivered"]).max() < 2e-3 * np.ptp(o["energy.delivered"])


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


WISHES = st.one_of(
    st.fixed_dictionaries({"throttle": st.sampled_from([0.0, 0.4, 1.0])}),
    st.fixed_dictionaries({"gear_request": st.integers(0, 3), "gear_selector": st.integers(0, 1)}),
    st.fixed_dictionaries({"front.diff_lock": st.integers(0, 1), "rear.diff_lock": st.integers(0, 1)}),
    st.fixed_dictionaries({"centre.diff_lock": st.integers(0, 1)}),
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


# ---- engine and gears -----------------------------------------------------------------------------------------------


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


# ---- steering -------------------------------------------------------------------------------------------------------


def test_steered_by_torque_it_goes_where_the_same_torque_is_told_when_steered_by_angle() -> None:
    """A sine of the driver's torque at 10 m/s, by RK4 in the model; its wheel angle, told to a second one, gives it."""
    start = {"throttle": 0.3, "init.speed": 10.0}

    def push(t: float) -> float:
        return 2.0 * math.sin(math.pi * t)

    with factory().instance("torque") as one, factory().instance("angle") as two:
        one.setup(start | {"steering.mode": "TORQUE"})
        two.setup(start)
        names = [s.name for s in factory().table.outputs]
        wanted = ("steering.wheel_angle", "steering.wheel_torque", "ref_frame.pos.y")
        angle, torque, x = (names.index(name) for name in wanted)
        before, told, asked = 0.0, [], []
        for k in range(2000):
            one.set_values({"steering_wheel_torque": push(1e-3 * k)})
            one.step(1)
            after = float(one.get_outputs()[angle])
            two.set_values({"steering_wheel_angle": before, "steering_wheel_rate": (after - before) / 1e-3})
            two.step(1)
            before = after
            told.append(two.get_outputs()[torque])
            asked.append(push(1e-3 * (k + 0.5)))
        assert abs(before) > 0.5
        assert np.abs(np.array(told) - asked)[20:].max() < 0.2
        assert abs(one.get_outputs()[x]) > 0.1
        assert one.get_outputs()[x] == pytest.approx(two.get_outputs()[x], rel=1e-3)


def test_parked_the_steering_wheel_stays_where_a_torque_has_brought_it_but_for_what_springs_back() -> None:
    """Friction of the tires and the gear holds; at the end stop it rests against a stiff spring."""
    held = {"gear_selector": 0.0, "brake_pedal": 0.5}
    o = run([(0.0, held), (0.2, {"steering_wheel_torque": 10.0}), (5.0, {"steering_wheel_torque": 0.0})], 7.0,
            {"steering.mode": "TORQUE"})  # fmt: skip
    angle, t = o["steering.wheel_angle"], o["time"]
    assert 1.0 < angle[t < 5.0][-1] < 13.0
    assert angle[-1] > 0.4 * angle[t < 5.0][-1]
    assert np.abs(np.diff(angle[t > 6.8])).max() < 1e-5
    # in rest the load on the arm is what driver and assist give, but for the friction of 1 N.m
    load = o["steering.load_torque"][t < 5.0][-1] / load_vehicle("hmmwv")["steering_ratio"]
    assert -load == pytest.approx(10.0 / (1 - 0.7), abs=1.0 + 1e-6)
    stop = run([(0.0, held), (0.2, {"steering_wheel_torque": 40.0})], 4.0, {"steering.mode": "TORQUE"})
    most = load_vehicle("hmmwv")["steering.max_arm_angle"] * load_vehicle("hmmwv")["steering_ratio"]
    assert most < stop["steering.wheel_angle"][-1] < most + 0.07
    assert np.abs(np.diff(stop["steering.wheel_angle"][-20:])).max() < 1e-5


def test_sweeping_the_steering_wheel_at_rest_the_torque_has_the_hysteresis_of_friction() -> None:
    def turn(fmu: FmuInstance, t: float) -> None:
        fmu.set_values({"steering_wheel_angle": 2.0 * math.sin(math.pi * t),
                        "steering_wheel_rate": 2.0 * math.pi * math.cos(math.pi * t)})  # fmt: skip

    o = run([(0.0, {"gear_selector": 0.0, "brake_pedal": 0.5})], 4.0, every_row=turn)
    torque, angle, t = o["steering.wheel_torque"], o["steering.wheel_angle"], o["time"]
    loop = t >= 2.0  # one period
    work = float(np.trapezoid(torque[loop], angle[loop]))
    assert work > 4 * 2.0 * 1.0 * 0.3  # what the column's own friction takes of the driver, at least
    assert np.abs(torque[loop]).max() < 40.0


@pytest.mark.parametrize(("speed", "swing", "reach"), [(0.0, 6.0, 1.0), (15.0, 3.0, 2.5)])
def test_swinging_the_torque_at_rest_and_at_speed_the_angle_has_the_hysteresis_of_friction(
    speed: float, swing: float, reach: float
) -> None:
    def turn(fmu: FmuInstance, t: float) -> None:
        fmu.set_values({"steering_wheel_torque": swing * math.sin(math.pi * t)})

    start = {"steering.mode": 2.0, **({"init.speed": speed} if speed else {})}
    o = run([(0.0, {"gear_selector": 0.0})], 4.0, start, every_row=turn)
    torque, angle = (o[f"steering.wheel_{name}"][200:] for name in ("torque", "angle"))
    share = 0.7 - 0.3 * speed / 20.0  # of the assist
    friction = 2 * np.ptp(angle) * 1.0 * (1 - share)
    assert np.ptp(angle) > 2 * reach
    assert friction < float(np.trapezoid(torque, angle)) < 8 * friction


# ---- importers ------------------------------------------------------------------------------------------------------


def test_single_ticks_long_steps_and_a_snapshot_amid_a_shift_give_the_same_bits() -> None:
    with factory().instance("a") as one, factory().instance("b") as many:
        for fmu in (one, many):
            fmu.setup({"throttle": 1.0, "init.speed": 11.6})
        one.step(600)
        states = []
        for k in range(600):
            many.step(1)
            if k % 50 == 0:
                states.append(many.get_state())
                many.step(7)
                many.set_state(states[-1])
        y = one.get_outputs().copy()
        assert y.tobytes() == many.get_outputs().tobytes()
        names = [s.name for s in factory().table.outputs]
        assert y[names.index("gearbox.gear")] == 2.0


def test_model_exchange_with_its_time_events_goes_through_the_same_gears() -> None:
    """RK4 by hand at the tick of co-simulation, stopping at each event that the model asks for."""
    made, h = factory(), 1e-3

    class Events(Exchange):
        def event(self) -> float:
            info = (ct.c_int * 10)()
            self._call("EnterEventMode")
            self._call("NewDiscreteStates", info)
            self._call("EnterContinuousTimeMode")
            assert info[4] == 1
            return float(ct.c_double.from_buffer(info, 24).value)

        def set_time(self, t: float) -> None:
            self._call("SetTime", ct.c_double(t))

    names = [s.name for s in made.table.outputs]
    gear, start = names.index("gearbox.gear"), {"throttle": 1.0, "init.speed": 11.6}
    with made.instance("steps") as steps, Events(made.library, made.interface, "events") as events:
        steps.setup(start)
        events.defaults = made.defaults
        events.setup(start)
        x, gears, next_event = read_states(steps), [], 0.01
        for k in range(800):
            t = k * h

            def rate(at: Array, tau: float, t: float = t) -> Array:
                events.set_time(t + tau)
                events.set_states(at)
                return events.get_rates()

            k1 = rate(x, 0.0)
            k2 = rate(x + 0.5 * h * k1, 0.5 * h)
            k3 = rate(x + 0.5 * h * k2, 0.5 * h)
            k4 = rate(x + h * k3, h)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            events.set_time(t + h)
            events.set_states(x)
            if t + h > next_event - 1e-9:
                next_event = events.event()
                assert next_event == pytest.approx(t + h + 0.01)
            steps.step(1)
            gears.append((events.get_outputs()[gear], steps.get_outputs()[gear]))
        assert len(set(gears)) == 2 and all(a == b for a, b in gears)
        assert np.abs(x - read_states(steps)).max() < 1e-6 * np.abs(x).max()


@pytest.mark.parametrize("mode", ["ANGLE", "TORQUE"])
def test_derivatives_are_those_of_central_differences_away_from_events(mode: str) -> None:
    made, rng = factory(), np.random.default_rng(3)
    table = made.table
    n, wrong = len(table.states), []
    names = [s.name for s in table.states]
    with made.instance("a") as fmu:
        fmu.setup({"throttle": 0.6, "brake_pedal": 0.05, "steering_wheel_angle": 0.5, "steering.mode": mode})
        fmu.step(1500)
        x = read_states(fmu)
    for name, value in (("gearbox.parked", 0.2), ("converter.locked", 0.3), ("gearbox.engaged", 0.95)):
        x[names.index(f"state.{name}")] = value
    for name, spread in (("gearbox.clutch_windup", 0.05), ("converter.lock_windup", 1e-3),
                         ("differential.front.windup", 2e-4), ("differential.rear.windup", 2e-4),
                         ("differential.centre.windup", 2e-4), ("gearbox.pawl_windup", 1e-3)):  # fmt: skip
        x[names.index(f"state.{name}")] += spread * rng.normal()
    for wheel in WHEELS:  # not on the border of yielding
        x[names.index(f"state.wheel_{wheel}.brake_wind_up")] = 1e-4 * rng.normal()
    u = np.array([s.start for s in table.inputs])
    for name, value in (("throttle", 0.6), ("brake_pedal", 0.05), ("front.diff_lock", 0.1), ("rear.diff_lock", 0.2),
                        ("centre.diff_lock", 0.1), ("engine.start", 0.3), ("hand_brake", 0.05),
                        ("wheel_FL.brake_pressure", 1e5)):  # fmt: skip
        u[table.by_name(name).index] = value
    own = names.index("state.engine.speed")
    wheels = [k for k, name in enumerate(names) if name.endswith((".omega", ".arm_rate", "ang_vel.y"))]
    columns = [*wheels, *range(own, n), *(n + table.by_name(name).index for name in (
        "throttle", "brake_pedal", "front.diff_lock", "centre.diff_lock", "engine.start",
        "wheel_FL.brake_pressure", "wheel_RL.drive_torque", "hand_brake", "steering_wheel_torque"))]  # fmt: skip
    outputs = [s for s in table.outputs if s.signal.variability == "continuous" and s.name != "closure_residual"]
    step = {"Pa": 100.0, "J": 1.0, "N.m": 1.0, "m": 1e-7}
    references = np.array([*table.state_references, *(s.value_reference for s in table.inputs)], np.uint32)
    unknown = np.array([*table.rate_references, *(s.value_reference for s in outputs)], np.uint32)
    with Exchange(made.library, made.interface, "lin") as at:
        at.defaults = made.defaults
        at.setup({"steering.mode": mode, "engine.reaction": float(mode == "TORQUE")})

        def values(z: Array) -> Array:
            at.set_inputs(z[n:].copy())
            at.set_states(z[:n].copy())
            return np.concatenate([at.get_rates(), at.get_outputs()[[s.index for s in outputs]]])

        labels = [s.name for s in (*table.states, *outputs)]
        z = np.concatenate([x, u])
        base = values(z)
        for k in columns:
            unit = table.states[k].unit if k < n else table.inputs[k - n].signal.unit
            h = 1e-7 if k < n and table.states[k].nominal < 0.02 else step.get(unit, 1e-5)
            e = np.zeros(len(z))

            def quotient(h: float, e: Array = e, k: int = k) -> Array:
                e[k] = h
                return (8 * (values(z + e) - values(z - e)) - (values(z + 2 * e) - values(z - 2 * e))) / (12 * h)

            whole, half = quotient(h), quotient(0.5 * h)
            values(z)
            exact = at.directional(unknown, references[k : k + 1], np.ones(1))
            noise = 4e-15 * (np.abs(base) + 1e4) / h
            smooth = np.abs(whole - half) <= 1e-6 * np.abs(half) + noise
            bad = smooth & (np.abs(exact - half) > 1e-6 * np.abs(half) + noise + np.abs(whole - half))
            wrong += [(labels[i], labels[k], exact[i], half[i]) for i in np.flatnonzero(bad)]
            assert smooth.mean() > 0.9, table.states[k].name if k < n else table.inputs[k - n].name
    assert not wrong


# ---- data -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"gearbox.down_full": 320.0}, "not shifted down again"),
        ({"gearbox.ratio.2": 3.0}, "below that of the gear before"),
        ({"engine.full_load.speed.3": 10.0}, "do not fall along the map"),
    ],
)
def test_gears_that_would_hunt_and_maps_that_fall_back_are_refused(changed: dict[str, float], text: str) -> None:
    with factory().instance("x") as fmu, pytest.raises(FmuError, match=text):
        fmu.setup(changed)


def test_no_input_is_on_a_bound_where_importers_take_difference_quotients() -> None:
    """At its start, and at 0 of all inputs, where PathSim does it before it starts."""
    for s in factory().table.inputs:
        low, high = s.signal.minimum, s.signal.maximum
        used = not s.signal.used_where
        assert low is None or low < s.start, s.name
        assert high is None or high > s.start, s.name
        assert not used or low is None or low < 0.0, s.name
    with factory().instance("x") as fmu:
        fmu.setup({})
        fmu.set_values({s.name: -1e-3 if s.signal.minimum == -0.01 else 0.0 for s in factory().table.inputs
                        if not s.signal.used_where})  # fmt: skip
        fmu.step(20)
        with pytest.raises(FmuError, match=r"throttle = 1\.1: expected -0\.01 to 1\.01"):
            fmu.set_values({"throttle": 1.1})


def write(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "vehicle.toml").write_text(text)
    return folder


@pytest.mark.slow
def test_on_tires_of_the_magic_formula_it_drives_as_on_its_own_but_for_the_tires() -> None:
    """Emitting and compiling takes a minute. Both hold the road at a third of their grip."""
    plan = [(0.0, {"throttle": 0.5}), (4.0, {"throttle": 0.0, "brake_pedal": 0.4})]
    own, magic = run(plan, 8.0), run(plan, 8.0, vehicle=str(on_tires("hmmwv_pedals", TIRE)))
    assert magic["speed"][400] == pytest.approx(own["speed"][400], rel=0.05)
    assert magic["gearbox.gear"][400] == own["gearbox.gear"][400]
    assert np.abs(magic["speed"][-20:]).max() < 0.05
    with factory(str(on_tires("hmmwv_pedals", TIRE))).instance("x") as fmu, pytest.raises(FmuError, match="hunt|again"):
        fmu.setup({"gearbox.down_full": 320.0})


def test_a_powertrain_without_its_entries_is_refused(tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    entry = 'lag = {value = 0.1, unit = "s", source = "s", description = "d"}'
    (tmp_path / "half" / "p.toml").write_text(f"[engine]\n{entry}\n")
    (tmp_path / "half" / "vehicle.toml").write_text('base = "hmmwv"\npowertrain = "p.toml"\n')
    with pytest.raises(DataError, match=r"lacks the entry 'engine\.full_load"):
        arranged(load_vehicle(tmp_path / "half"))
    with pytest.raises(DataError, match=r"gone\.toml"):
        load_vehicle(write(tmp_path / "gone", 'base = "hmmwv"\npowertrain = "gone.toml"\n'))
    own = write(tmp_path / "own", 'base = "hmmwv_pedals"\n[overrides]\n"engine.inertia" = 2.0\n')
    assert load_vehicle(own)["engine.inertia"] == 2.0
    assert load_vehicle(own).powertrain


def test_vehicles_without_a_powertrain_have_none_of_it() -> None:
    assert "hmmwv_pedals" not in data_sets()  # made when it is asked for
    names = {s.name for s in find("hmmwv").read("hmmwv").scalars}
    assert not {n for n in names if n.startswith(("engine.", "gearbox.", "throttle"))}


def test_every_entry_of_the_powertrain_says_where_it_is_from() -> None:
    for vehicle in ("hmmwv_pedals", "hmmwv_chrono_pedals"):
        data = load_vehicle(vehicle)
        assert len(data.powertrain) > 150
        assert all(data.entries[n].source and data.entries[n].description for n in data.powertrain)
