"""The HMMWV on electric motors: closed forms of launch and regeneration, energy, rest, reversal, limits, refusals."""

from __future__ import annotations

import math
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from drives import Array, factory, in_the_air, position
from drives import run as run_vehicle
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.axles import AXLES, WHEELS
from jounce.data import DataError, load_vehicle, vehicle_file
from jounce.models.double_wishbone.arrange import arranged
from jounce_fmu.importer.host import FmuError, FmuInstance

NAME = "hmmwv_electric"
#: Nothing on the way takes anything, but for slip.
FREE = {"driveline.efficiency": 1.0, "tire.rolling_resistance": 0.0, "differential.axle_friction": 0.0,
        "terrain.mu": 2.0}  # fmt: skip
#: One motor at each wheel, in the hub.
AT_WHEELS = {"hub.sense": 0.0} | {f"motor.{axle}.{name}": value for axle in AXLES
                                  for name, value in (("at", 2.0), ("inertia", 0.0))}  # fmt: skip
MOST, POWER, RATIO = 280.0, 80e3, 7.9377 * 1.92


run = partial(run_vehicle, vehicle=NAME)


def moving_mass(radius: float) -> float:
    """Mass of the vehicle with that of all that turns, for its speed on wheels of that radius [kg]."""
    v = load_vehicle(NAME)
    pieces = {n: e.value for n, e in v.entries.items() if n.endswith(".mass")}
    times = {"chassis": 1, "steering": 1, "wheel": 4}
    mass = sum(times.get(n.partition(".")[0], 2) * m for n, m in pieces.items())
    wheels = sum(2 * v[f"{axle}.spindle.inertia.yy"] for axle in AXLES)
    wheels += 4 * (v["wheel.inertia.yy"] + v["driveline.inertia"])
    rotors = sum(v[f"motor.{axle}.inertia"] * RATIO**2 + v["driveline.carrier_inertia"] * 1.92**2
                 for axle in AXLES)  # fmt: skip
    return mass + (wheels + rotors) / radius**2


def radius(o: dict[str, Array], k: int) -> float:
    """Speed over that of the wheels."""
    return float(o["speed"][k] / np.mean([o[f"wheel_{w}.omega"][k] for w in WHEELS]))


def test_a_launch_is_that_of_constant_torque_and_then_of_constant_power() -> None:
    """m v' = F for the lagged torque, then m v^2 / 2 = P t, for 0.3 of the accelerator, with the radius it rolls on."""
    share = 0.3
    whole = {"regeneration.released": 0.0}
    o = run([(0.0, {"throttle": share})], 12.0, FREE | whole)
    t, v = o["time"], o["speed"]
    r = radius(o, 150)
    mass, force, power = moving_mass(r), 2 * share * MOST * RATIO / r, 2 * share * POWER
    base = power / force  # speed from which on the power is constant
    turns = 0.02 + base * mass / force
    wanted = np.where(t < turns, force / mass * (t - 0.02 * (1 - np.exp(-t / 0.02))),
                      np.sqrt(np.maximum(base**2 + 2 * power * (t - turns) / mass, 0.0)))  # fmt: skip
    assert 3.0 < turns < 8.0 and v[-1] > 1.3 * base
    late = t > 0.5  # before, it pitches
    assert np.abs(v / np.maximum(wanted, 1e-3) - 1)[late].max() < 0.02
    power_of_one = np.abs(o["motor.front.torque"] * o["motor.front.speed"])
    assert power_of_one.max() == pytest.approx(share * POWER, rel=0.01)  # the torque lags
    sums = [o[f"motor.{axle}.torque"][k] for axle in AXLES for k in (50, 100)]
    assert sums == pytest.approx([share * MOST] * 4, rel=1e-9)


@pytest.mark.parametrize(("speed", "pedal"), [(8.0, 0.0), (25.0, 0.0), (25.0, 0.4)])
def test_regeneration_slows_it_as_the_closed_form_says(speed: float, pedal: float) -> None:
    """Shares 0.15 and 0.35 of the limit; the friction brakes are off, so that the pedal's motors act alone."""
    off = {"brake.front_gain": 0.0, "brake.rear_gain": 0.0, "init.speed": speed}
    o = run([(0.0, {"brake_pedal": pedal})], 2.5, FREE | off)
    k = slice(100, 250)
    r, t, v = radius(o, 150), o["time"][k], o["speed"][k]
    stands = load_vehicle(NAME)["tire.unloaded_radius"] - np.mean([o[f"wheel_{w}.deflection"][150] for w in WHEELS])
    share = 0.15 + 0.35 * pedal
    w = v / r * RATIO
    limit = np.minimum(MOST, POWER / w)
    asked = -2 * share * limit * RATIO / stands / moving_mass(r)
    none = run([(0.0, {"brake_pedal": pedal, "regeneration": 0.0})], 2.0, FREE | off)
    rolling = np.polyfit(t[:100], none["speed"][100:200], 1)[0]
    assert abs(rolling) < 0.02
    assert np.polyfit(t, v, 1)[0] - rolling == pytest.approx(asked.mean(), rel=0.015)
    assert o["motor.front.torque"][150] == pytest.approx(-share * min(MOST, POWER / o["motor.front.speed"][150]),
                                                         rel=2e-3)  # fmt: skip
    taken = [-np.diff(o[f"energy.{name}"][[100, 249]])[0] for name in ("battery", "delivered", "driveline")]
    assert taken[0] + 600.0 * 1.49 == pytest.approx(0.9 * (taken[1] + taken[2]), rel=1e-3)


def test_it_rolls_to_rest_by_regeneration_and_brake_and_stays() -> None:
    """Fading below 2 m/s the motors leave the rest to the brake; nothing turns back."""
    o = run([(0.0, {"brake_pedal": 0.15})], 9.0, {"init.speed": 6.0})
    spin = np.array([o[f"wheel_{w}.omega"] for w in WHEELS])
    assert spin.min() > -0.2
    assert np.abs(spin[:, -100:]).max() < 1e-4
    assert np.ptp(o["ref_frame.pos.x"][-100:]) < 1e-5
    assert np.abs(o["motor.front.torque"][-100:]).max() < 1e-3


def unaccounted(o: dict[str, Array]) -> float:
    """Share of the largest energy drawn that has come or gone without a source: all that moves counts."""
    whole = sum(o[f"energy.{n}"] for n in ("kinetic", "potential", "driveline", "losses")) - o["energy.battery"]
    return float(np.abs(whole - whole[0]).max() / np.abs(o["energy.battery"]).max())


@pytest.mark.parametrize("place", [{}, AT_WHEELS], ids=["on axles", "at wheels"])
def test_energy_from_the_battery_to_the_wheels_is_closed_to_a_millionth(place: dict[str, float]) -> None:
    plan = [(0.0, {"throttle": 0.5}), (0.6, {"front.diff_lock": 1.0, "throttle": 0.9}), (1.0, {"throttle": 0.0}),
            (1.6, {"gear_selector": -1.0, "throttle": 0.6}), (2.2, {"gear_selector": 0.0})]  # fmt: skip
    o = run(plan, 2.6, in_the_air() | place)
    assert o["energy.battery"].max() > 2e4 and o["energy.recovered"][-1] > 1e3
    assert unaccounted(o) < 1e-7
    assert (np.diff(o["energy.losses"]) > -1e-6).all()


def test_on_the_ground_work_of_the_battery_is_that_of_the_half_shafts_and_the_losses() -> None:
    o = run([(0.0, {"throttle": 1.0}), (3.0, {"throttle": 0.0}), (4.0, {"brake_pedal": 0.3})], 5.0)
    source = o["energy.battery"] - o["energy.losses"] - o["energy.delivered"]
    assert np.abs(source - (o["energy.driveline"] - o["energy.driveline"][0])).max() < 1e-6 * o["energy.battery"].max()
    power = np.sum([o[f"wheel_{w}.drive_torque_total"] * o[f"wheel_{w}.omega"] for w in WHEELS], axis=0)
    work = np.concatenate([[0.0], np.cumsum(0.005 * (power[1:] + power[:-1]))])
    assert np.abs(work - o["energy.delivered"]).max() < 3e-3 * np.ptp(o["energy.delivered"])
    assert o["battery.charge"] == pytest.approx(0.8 - o["energy.battery"] / 172.8e6, rel=1e-12)


HELD = {"P": {"gear_selector": -2.0}, "D against the brake": {"brake_pedal": 0.8},
        "R against the brake": {"gear_selector": -1.0, "brake_pedal": 0.8}}  # fmt: skip


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("slope", [0.3, -0.3])
def test_it_is_held_on_thirty_percent_still_and_shaken(held: str, slope: float) -> None:
    """Pushed by 2 kN at 3 Hz along and 1 kN across for six of thirteen seconds.

    With the nose down the rear wheels, which P brakes, have too little load to be shaken: it slides by 3 mm a second.
    """

    def shake(fmu: FmuInstance, t: float) -> None:
        push = math.sin(6 * math.pi * t) if 5.0 < t < 11.0 else 0.0
        fmu.set_values({"chassis.ext_force.x": 2000.0 * push, "chassis.ext_force.y": 1000.0 * push})

    p = position(run([(0.0, HELD[held])], 13.0, {"terrain.slope": math.atan(slope)}, every_row=shake))
    assert np.abs(p[:, 400:500] - p[:, 400:401]).max() < 1e-6
    if held != "P" or slope > 0:
        assert np.abs(p[:, -100:] - p[:, 490:491]).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("held", HELD)
def test_parked_for_a_minute_it_does_not_move(held: str) -> None:
    p = position(run([(0.0, HELD[held])], 64.0, {"terrain.slope": math.atan(0.3)}))
    assert np.abs(p[:, 400:] - p[:, 400:401]).max() < 1e-6


def test_nothing_creeps_in_drive_without_the_accelerator() -> None:
    o = run([(0.0, {}), (1.0, {"brake_pedal": 1.0, "throttle": 0.3}), (3.0, {"throttle": 0.0})], 5.0)
    assert np.abs(o["speed"][:100]).max() < 1e-9
    assert np.abs(position(o)[:, 150:] - position(o)[:, 150:151]).max() < 0.02  # held against the motors, it pitches
    assert np.abs(o["speed"][-50:]).max() < 1e-4


def test_it_reverses_through_zero_without_chatter() -> None:
    """From 3 m/s on into R with the accelerator down: speed falls all the way, torque has one sign."""
    o = run([(0.0, {"throttle": 0.0}), (0.5, {"gear_selector": -1.0, "throttle": 0.4})], 4.0,
            {"init.speed": 0.9})  # fmt: skip
    late = o["time"] > 0.7
    v, torque = o["speed"][late], o["motor.front.torque"][late]
    assert v[0] > 0.0 > v[-1] and v[-1] < -2.0
    assert (np.diff(v) < 1e-4).all()
    assert (torque < 0.0).all() and np.abs(np.diff(torque)).max() < 3.0
    assert o["gearbox.refused"].max() == 0.0


def test_the_selector_refuses_park_and_reverse_at_speed() -> None:
    o = run([(0.0, {}), (0.1, {"gear_selector": -1.0, "throttle": 0.3}), (0.5, {"gear_selector": -2.0})], 1.0,
            {"init.speed": 8.0})  # fmt: skip
    after = o["time"] > 0.15
    assert (o["gearbox.gear"][after] == 0.0).all() and (o["gearbox.refused"][after] == 1.0).all()
    assert np.abs(o["motor.front.torque"][30:]).max() < 1e-3
    assert o["speed"][-1] > 7.5


def test_split_friction_is_overcome_by_motors_at_wheels_bias_and_locks_in_this_order() -> None:
    """Left wheels on ice, 2.5 s at 0.6: open differentials double what the ice holds; a motor on the good side gives
    its own torque; differentials of bias 2.5 pass on more while the wheels on ice speed up, and locks all.
    """
    split = {"terrain_source": 2.0} | {f"wheel_{w}.terrain_mu": 0.1 if w[1] == "L" else 0.8 for w in WHEELS}
    opened = {"differential.front.bias": 1.0, "differential.rear.bias": 1.0}
    half = {f"motor.{axle}.max_{n}": 0.5 * v for axle in AXLES for n, v in (("torque", MOST), ("power", POWER))}
    locked = {"front.diff_lock": 1.0, "rear.diff_lock": 1.0}
    cases: dict[str, dict[str, float]] = {"open": opened, "at wheels": AT_WHEELS | half, "biased": {}, "locked": locked}
    o = {name: run([(0.0, {"throttle": 0.6})], 2.5, split | p) for name, p in cases.items()}
    v = [float(o[name]["speed"][-1]) for name in cases]
    assert v[0] < 0.8 * v[1] and v[1] < v[2] < v[3]
    assert v[0] < 0.1 * 9.81 * 2.5 * 1.25
    grip, ice = (o["at wheels"][f"wheel_R{side}.drive_torque_total"][150] for side in "RL")
    assert grip == pytest.approx(0.6 * 0.5 * MOST * RATIO * 0.85, rel=0.01)  # gears lose 15 %
    assert ice < 0.4 * grip  # it turns so fast that its power is the limit
    left, right = (o["biased"][f"wheel_R{side}.drive_torque_total"][150] for side in "LR")
    assert right > 2.0 * left > 0.0


def test_a_quarter_of_the_tick_and_the_implicit_integrator_drive_alike() -> None:
    plan = [(0.0, {"throttle": 0.7}), (2.0, {"throttle": 0.0}), (3.0, {"brake_pedal": 0.3, "throttle": 0.0})]
    fine = run(plan, 5.0, {"tick": 2.5e-4})
    for off, parameters in ((1e-3, {}), (2e-2, {"integrator": 2.0, "tick": 5e-3})):
        o = run(plan, 5.0, parameters)
        assert np.abs(o["speed"] - fine["speed"]).max() < off
        assert np.abs(o["motor.front.torque"] - fine["motor.front.torque"]).max() < 1e3 * off
        assert np.abs(o["energy.battery"] - fine["energy.battery"]).max() < off * fine["energy.battery"].max()


STEP = st.fixed_dictionaries({
    "throttle": st.sampled_from([0.0, 0.4, 1.0]), "brake_pedal": st.sampled_from([0.0, 0.0, 0.3, 1.0]),
    "hand_brake": st.sampled_from([0.0, 1.0]), "gear_selector": st.integers(-2, 1),
    "regeneration": st.sampled_from([0.0, 1.0]), "front.diff_lock": st.integers(0, 1),
    "steering_wheel_torque": st.floats(-30.0, 30.0),
})  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(
    steps=st.lists(STEP, min_size=1, max_size=6), speed=st.sampled_from([0.0, -4.0, 8.0, 25.0]),
    mu=st.sampled_from([0.8, 0.02]), slope=st.floats(-0.4, 0.4), mode=st.sampled_from([1.0, 2.0]),
    place=st.sampled_from([{}, AT_WHEELS]), charge=st.sampled_from([0.0, 0.005, 1.0]),
)  # fmt: skip
def test_whatever_a_driver_does_nothing_fails_and_no_motor_gives_more_than_it_can(
    steps: list[dict[str, float]], speed: float, mu: float, slope: float, mode: float, place: dict[str, float],
    charge: float,
) -> None:  # fmt: skip
    start = {"init.speed": speed, "terrain.mu": mu, "terrain.slope": slope, "steering.mode": mode,
             "battery.initial_charge": charge, **place}  # fmt: skip
    plan = [(0.4 * k, {n: float(v) for n, v in step.items()}) for k, step in enumerate(steps)]
    o = run(plan, 0.4 * len(plan), start)
    assert (np.diff(o["energy.losses"]) > -1e-6).all()
    motors = 2 if place else 1
    for axle in AXLES:
        torque, w = o[f"motor.{axle}.torque"], o[f"motor.{axle}.speed"]
        assert np.abs(torque).max() <= motors * MOST * (1 + 1e-12)
        assert place or np.abs(torque * w).max() <= POWER * (1 + 1e-12)
        # driven it does not get faster; downhill the wheels may turn it, as in any vehicle
        assert np.abs(w).max() < max(1.3 * 1088.0, 1.5 * abs(speed) / 0.4 * RATIO)
    assert o["battery.charge"].min() > -0.01


def write(folder: Path, text: str, data: str = "") -> Path:
    folder.mkdir()
    (folder / "vehicle.toml").write_text(text)
    if data:
        (folder / "motors.toml").write_text(data)
    return folder


def test_bad_data_are_refused_with_the_entry_and_its_file(tmp_path: Path) -> None:
    good = (vehicle_file(NAME).parent / "motors.toml").read_text()
    brakes = vehicle_file("hmmwv_pedals").parent / "brakes_and_steering.toml"
    head = f'base = "hmmwv"\npowertrain = ["motors.toml", "{brakes}"]\n'

    def refused(name: str, was: str, now: str, said: str) -> None:
        assert was in good
        folder = write(tmp_path / name, head, good.replace(was, now, 1))
        with pytest.raises(DataError, match=re.escape(said)):
            arranged(load_vehicle(folder))

    refused("large", "efficiency = { value = 0.9,", "efficiency = { value = 1.9,", "motor.efficiency = 1.9: expected")
    refused("unit", 'max_power = { value = 80000.0, unit = "W"', 'max_power = { value = 80000.0, unit = "kW"',
            "motors.toml: motor.front.max_power is in kW; expected W")  # fmt: skip
    refused("lacks", "\nlag = ", "\nlagg = ", "lacks the entry 'motor.lag'; unknown is 'motor.lagg' in motors.toml")
    refused("nan", "value = 0.02,", "value = nan,", "motor.lag = nan: expected")
    refused("choice", 'value = "AXLE"', 'value = "AXEL"', "'motor.front.at': value = 'AXEL': expected one of AXLE,")
    said = r"motor\.front\.inertia = 0\.04: expected 0"
    with factory(NAME).instance("x") as fmu, pytest.raises(FmuError, match=said):
        fmu.setup({"motor.front.at": 2.0})
