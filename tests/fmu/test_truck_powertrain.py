"""A truck that its architecture's powertrain and brakes drive: stall, power, gears, pedals, refusals."""

from __future__ import annotations

import subprocess
from pathlib import Path

import fmpy
import numpy as np
import pytest

import jounce
from jounce.architecture import composite
from jounce.architecture.load import architecture_file
from jounce.architecture.read import ArchitectureError
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.models import find

POWERTRAIN = """
[powertrain]
torque_speed = [[60, 250], [120, 430], [230, 430], [270, 300]]
ratios = [6.3, 3.4, 1.9, 1.3, 1.0]
final = 4.1
max_brake_torque = 6000.0
"""
DRIVES = {"gear_selector": 1.0, "throttle": 0.35}
SEEN = ["speed", "engine.speed", "engine.torque", "gearbox.gear", "driveline.torque",
        "wheel_RL.omega", "wheel_RR.omega"]  # fmt: skip


@pytest.fixture(scope="module")
def sketch(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("powered") / "powered.toml"
    text = architecture_file("class3").read_text().replace('name = "class3"', 'name = "powered"', 1)
    path.write_text(text.partition("[powertrain]")[0] + POWERTRAIN)
    return str(path)


@pytest.fixture(params=["ce", "impulse"])
def truck(sketch: str, request: pytest.FixtureRequest) -> str:
    return f"{sketch}-{request.param}"


@pytest.mark.slow
def test_braked_truck_at_full_throttle_stalls_the_converter_where_it_is_said(truck: str) -> None:
    """Engine at `stall_speed` (180 rad/s), its full torque there times the converter's 2, gears and efficiency."""
    held = {"gear_selector": 1.0, "throttle": 1.0, "brake_pedal": 1.0,
            "wheel_RL.brake_torque": 12e3, "wheel_RR.brake_torque": 12e3}  # fmt: skip
    run = jounce.simulate(truck, held, 4.0, SEEN, output_interval=0.1, mu=3.0)
    assert abs(run["speed"][-1]) < 0.02
    assert run["engine.speed"][-1] == pytest.approx(180, rel=2e-3)
    assert run["driveline.torque"][-1] == pytest.approx(430 * 2.0 * 6.3 * 4.1 * 0.9, rel=5e-3)


def test_truck_drives_off_shifts_up_one_gear_at_a_time_and_gives_no_more_power_than_its_engine(truck: str) -> None:
    run = jounce.simulate(truck, DRIVES, 15.0, SEEN, output_interval=0.05)
    gear, speed = run["gearbox.gear"], run["speed"]
    assert gear[-1] == 4
    assert set(np.diff(gear)) <= {0.0, 1.0}
    assert speed[-1] > 8
    out = run["driveline.torque"] * 0.5 * (run["wheel_RL.omega"] + run["wheel_RR.omega"])
    steady = np.abs(np.gradient(run["engine.speed"], run.time)) < 5  # what its inertia takes is small
    assert (out[steady] <= run["engine.torque"][steady] * run["engine.speed"][steady] + 1.5 * 5 * 180).all()
    share = out[-1] / (run["engine.torque"][-1] * run["engine.speed"][-1])
    assert 0.6 < share < 0.95


def test_pedal_and_hand_brake_stop_it_and_reverse_is_refused_above_walking_pace(truck: str) -> None:
    pedal = jounce.simulate(truck, {"brake_pedal": 1.0}, 4.0, SEEN, output_interval=0.1, **{"init.speed": 10.0})
    hand = jounce.simulate(truck, {"hand_brake": 1.0}, 4.0, SEEN, output_interval=0.1, **{"init.speed": 10.0})
    assert abs(pedal["speed"][-1]) < 0.2
    assert 10 - pedal["speed"][5] > 1.5 * (10 - hand["speed"][5])
    back = jounce.simulate(truck, {"gear_selector": -1.0, "throttle": 0.3}, 3.0, SEEN, output_interval=0.1)
    assert back["gearbox.gear"][-1] == -1
    assert back["speed"][-1] < -1
    rolling = jounce.simulate(truck, {"gear_selector": -1.0}, 0.5, SEEN, output_interval=0.1, **{"init.speed": 10.0})
    assert (rolling["gearbox.gear"] == 0).all()


def test_its_state_goes_on_in_another_instance_bit_by_bit(truck: str) -> None:
    factory = open_builtin(truck)
    with factory.instance("one") as one, factory.instance("two") as two:
        for each in (one, two):
            each.setup({})
        inputs = np.array([s.start for s in one.table.inputs])
        for s in one.table.inputs:
            inputs[s.index] = {"throttle": 0.5, "gear_selector": 1.0}.get(s.name, inputs[s.index])
        one.set_inputs(inputs)
        one.step(2300)  # in the middle of a shift
        two.set_state(one.get_state())
        two.set_inputs(inputs)
        for each in (one, two):
            each.step(2000)
        assert one.get_outputs().tobytes() == two.get_outputs().tobytes()


def test_its_source_compiles_without_a_warning(truck: str, tmp_path: Path) -> None:
    for name, data in find(truck).sources.packed().items():
        (tmp_path / name).write_bytes(data)
    file = "ce.c" if truck.endswith("-ce") else "impulse.c"
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", file]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_both_engines_drive_off_alike(sketch: str) -> None:
    runs = [jounce.simulate(f"{sketch}-{engine}", DRIVES, 12.0, SEEN, output_interval=0.05)
            for engine in ("ce", "impulse")]  # fmt: skip
    one, other = ({n: run[n][1:] for n in SEEN} for run in runs)  # the impulse engine is in neutral at 0 s
    assert np.abs(one["speed"] - other["speed"]).max() < 0.005 * other["speed"].max()
    assert (one["gearbox.gear"] != other["gearbox.gear"]).sum() <= 1
    steady = np.abs(np.gradient(other["driveline.torque"])) < 20
    assert one["driveline.torque"][steady] == pytest.approx(other["driveline.torque"][steady], rel=0.01, abs=5)


@pytest.mark.slow
def test_gears_change_at_time_events_in_model_exchange(sketch: str, tmp_path: Path) -> None:
    archive = export_builtin(tmp_path / "powered.fmu", f"{sketch}-ce")
    ours = jounce.simulate(f"{sketch}-ce", DRIVES, 6.0, SEEN, output_interval=0.05)
    found = fmpy.simulate_fmu(str(archive), stop_time=6.0, output_interval=0.05, output=SEEN, fmi_type="ModelExchange",
                              start_values=DRIVES, relative_tolerance=1e-6)  # fmt: skip
    at = np.interp(ours.time, found["time"], found["speed"])
    assert at == pytest.approx(ours["speed"], abs=5e-3)
    assert found["gearbox.gear"][-1] == ours["gearbox.gear"][-1] == 3


@pytest.mark.slow(but=("[class3]", "class7-impulse"))
@pytest.mark.parametrize("name", ["class3", "class3-impulse", "class7", "class7-impulse"])
def test_trucks_that_come_with_jounce_drive_off_brake_on_a_slope_and_stay_in_park(name: str) -> None:
    driven = "wheel_RL" if "3" in name else "wheel_2L"
    seen = ["speed", "gearbox.gear", f"{driven}.omega", "ref_frame.pos.x", "engine.speed"]
    away = jounce.simulate(name, {"gear_selector": 1.0, "throttle": 0.7}, 12.0, seen, output_interval=0.05)
    assert away["speed"][-1] > 10
    assert away["gearbox.gear"][-1] >= 3
    assert (np.diff(away["gearbox.gear"])[2:] >= 0).all()
    starts = {"grade": 0.3, "init.speed": 8.0}
    braked = jounce.simulate(name, {"brake_pedal": 0.6}, 3.0, seen, output_interval=0.05, **starts)
    assert 7 < (8 - braked["speed"][10]) / 0.5 < 9.81 * (0.8 + 0.3) / np.hypot(1, 0.3)  # all that friction gives
    assert abs(braked["speed"][-1]) < 0.2
    parked = jounce.simulate(name, {"gear_selector": -2.0}, 60.0, seen, output_interval=0.5, grade=0.3)
    assert np.ptp(parked["ref_frame.pos.x"][30:]) < 1e-3
    assert abs(parked["ref_frame.pos.x"][-1] - parked["ref_frame.pos.x"][0]) < 0.1
    assert 60 < parked["engine.speed"][-1] < 80
    rolling = jounce.simulate(name, {"gear_selector": -2.0}, 0.5, seen, output_interval=0.1, **{"init.speed": 8.0})
    assert rolling["speed"][-1] > 7.9


@pytest.mark.parametrize(("old", "new", "said"), [
    ("[230, 430]", "[100, 430]", "torque_speed: 4 points: expected 2 to 16 of rising speed"),
    ("[230, 430]", "[230, -430]", "torque_speed: expected no negative speed or torque"),
    ("[230, 430]", "230", "torque_speed = .*: expected a list of pairs"),
    ("1.3, 1.0", "1.0, 1.3", "ratios = .*: expected each smaller than the one before"),
    ("final = 4.1", "final = 0.0", "final = 0 1: expected 0.001 or more"),
    ("final = 4.1", "final = 4.1\nfinel = 1", "unknown key 'finel'; did you mean final"),
    ("final = 4.1", "final = 4.1\ndown_speed = 200.0", "down_speed = 200 rad/s: expected less than 0.8 of up_speed"),
    ("final = 4.1", "final = 4.1\ndown_speed = 130.0", "or gears hunt"),
    ("max_brake_torque = 6000.0", "", "lacks max_brake_torque"),
    ("driven = true", "", "powertrain: no wheel is driven"),
])  # fmt: skip
def test_powertrains_that_none_has_are_refused(sketch: str, tmp_path: Path, old: str, new: str, said: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(Path(sketch).read_text().replace(old, new))
    with pytest.raises(ArchitectureError, match=f"^own.toml: .*{said}"):
        composite.build(own)
