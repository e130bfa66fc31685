"""The trucks on the impulse engine as FMUs: rest, bump, states that go on elsewhere, parameters and refusals."""

from __future__ import annotations

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import replace
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

import jounce
from jounce.architecture.composite import build
from jounce.architecture.layout import Piece, layout
from jounce.architecture.trim import trimmed
from jounce.axles import WHEELS
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.instance import FmuError
from jounce_fmu.models import find
from jounce_fmu.models.impulse.engine import Engine

TRUCKS = ("class3", "class7")
SHOWN = ["body_cab.pos.z", "body_cab.lin_acc.z", "closure_residual", "active_set_changes"]


@pytest.mark.parametrize("truck", TRUCKS)
def test_drawn_truck_is_at_rest(truck: str) -> None:
    shown = ["body_cab.pos", "body_frame.pos", "body_engine.pos"]
    run = jounce.simulate(f"{truck}-impulse", {}, 5.0, shown, output_interval=0.5)
    for body in ("cab", "frame", "engine"):
        for axis in "xyz":
            assert np.ptp(run[f"body_{body}.pos.{axis}"]) < 1e-9


def test_class_3_stands_on_the_loads_that_statics_give() -> None:
    """architecture-abstraction, section 6: the least-norm balance of a second prototype."""
    loads = [f"wheel_{w}.tire_force.z" for w in WHEELS]
    run = jounce.simulate("class3-impulse", {}, 0.01, loads)
    assert [run[n][-1] for n in loads] == pytest.approx([8670, 8645, 10619, 10130], abs=0.6)


# architecture-abstraction, section 8: highest, lowest cab and its largest acceleration, of a prototype at 1 ms.
@pytest.mark.parametrize(("truck", "mu", "high", "low", "start", "acceleration"), [
    ("class3", 0.0, 1.34978, 1.27560, 1.29479, 7.10),
    ("class3", 0.8, 1.34957, 1.27571, 1.29479, 7.17),
    ("class7", 0.0, 1.89515, 1.63940, 1.73700, 19.72),
    ("class7", 0.8, 1.89506, 1.63930, 1.73700, 19.72),
])  # fmt: skip
def test_cab_over_a_bump_moves_as_that_of_the_prototype(
    truck: str, mu: float, high: float, low: float, start: float, acceleration: float
) -> None:
    run = jounce.simulate(f"{truck}-impulse", {}, 3.0, SHOWN, **{"road": "BUMP", "init.speed": 8.0, "mu": mu})
    z = run["body_cab.pos.z"]
    assert z[0] == pytest.approx(start, abs=1e-5)
    assert z.max() == pytest.approx(high, abs=5e-5)
    assert z.min() == pytest.approx(low, abs=5e-5)
    assert np.abs(run["body_cab.lin_acc.z"]).max() == pytest.approx(acceleration, rel=5e-3)
    assert run["closure_residual"].max() < 1e-6


# The same section: drawn radii, settled for 8 s, without friction; an acceleration-level judge with multipliers.
@pytest.mark.parametrize(("truck", "high", "low", "start", "acceleration"), [
    ("class3", 1.32478, 1.25118, 1.27023, 7.05),
    ("class7", 1.86721, 1.61235, 1.70960, 19.71),
])  # fmt: skip
def test_settled_cab_over_a_bump_moves_as_the_equations_of_motion_say(
    truck: str, high: float, low: float, start: float, acceleration: float
) -> None:
    rest = trimmed(build(truck)[1])
    wheels = tuple(replace(w, radius=float(w.centre[2]), friction=0.0) for w in rest.wheels)
    flat = layout(replace(rest, wheels=wheels))
    engine = Engine(flat)
    engine.start()
    engine.run(8000)
    cab = 13 * flat.model.index("cab.shell")
    assert engine.x[cab + 2] == pytest.approx(start, abs=1e-5)
    over = Engine(flat.with_road([Piece(6.0, 0.12, length=1.2)]), 2.5e-4)
    over.x[:] = engine.x
    over.bodies[:, 7] += 8.0
    for s, k in enumerate(flat.spins):
        over.x[13 * len(over.bodies) + 2 * s + 1] = 8.0 / wheels[k].centre[2]
    seen = over.run(12_000, [cab + 2, cab + 9])
    assert seen[:, 0].max() == pytest.approx(high, abs=1e-5)
    assert seen[:, 0].min() == pytest.approx(low, abs=1e-5)
    assert np.abs(np.diff(seen[:, 1])).max() / 2.5e-4 == pytest.approx(acceleration, abs=0.01)


def test_numbers_from_the_parameters_are_those_of_the_architecture() -> None:
    """The C merges components and finds rest by a dense solve; Python by union-find and a null space."""
    for truck in TRUCKS:
        model = trimmed(build(truck)[1])
        engine = Engine(layout(model, wheel_motors=True).with_road(()))
        engine.bodies[:, 7] = 5.0
        for s, k in enumerate(engine.layout.spins):
            engine.x[13 * len(engine.bodies) + 2 * s + 1] = 5.0 / model.wheels[k].centre[2]
        engine.start()
        engine.run(500)
        run = jounce.simulate(f"{truck}-impulse", {}, 0.5, ["ref_frame.pos"], **{"init.speed": 5.0})
        frame = int(np.argmax([b.mass for b in engine.layout.model.bodies]))
        for axis in range(3):
            assert run[f"ref_frame.pos.{'xyz'[axis]}"][-1] == pytest.approx(engine.bodies[frame, axis], abs=1e-8)


@pytest.mark.parametrize("truck", ["class3", "class3-impulse"])
def test_state_goes_on_in_another_instance_and_process_bit_by_bit(truck: str, tmp_path: Path) -> None:
    factory, blob = open_builtin(truck), tmp_path / "blob"
    with factory.instance("one") as one, factory.instance("two") as two:
        for each in (one, two):
            each.setup({"road": 2, "init.speed": 8.0})
        one.step(800)  # the front wheels are on the bump
        blob.write_bytes(one.get_state())
        two.set_state(one.get_state())
        for each in (one, two):
            each.step(10_000)
        found = [each.get_outputs().tobytes() for each in (one, two)]
    code = ("import sys\nfrom jounce_fmu.importer.host import open_builtin\n"
            f"with open_builtin({truck!r}).instance('three') as there:\n"
            "    there.set_state(open(sys.argv[1], 'rb').read())\n"
            "    there.step(10_000)\n"
            "    print(there.get_outputs().tobytes().hex())")  # fmt: skip
    there = subprocess.run([sys.executable, "-c", code, str(blob)], capture_output=True, text=True, check=True)
    assert found == 2 * [bytes.fromhex(there.stdout)]


@pytest.mark.parametrize("fmi", [2, 3])
def test_fmu_is_valid_and_runs_in_fmpy_with_the_bits_of_one_in_process(fmi: int, tmp_path: Path) -> None:
    archive = export_builtin(tmp_path / "class7.fmu", "class7-impulse", fmi=fmi)
    assert not validate_fmu(str(archive))
    with zipfile.ZipFile(archive) as z:
        described = ET.fromstring(z.read("modelDescription.xml"))
    assert described.find("CoSimulation") is not None
    assert described.find("ModelExchange") is None
    starts = {"init.speed": 8.0, "road.start": 2.0}
    shown = ["speed", "closure_residual", "wheel_2R.omega", "energy.potential"]
    found = fmpy.simulate_fmu(str(archive), stop_time=1.0, output_interval=0.01, output=shown,
                              start_values={**starts, "road": 2})  # fmt: skip
    ours = jounce.simulate("class7-impulse", {}, 1.0, shown, output_interval=0.01, road="BUMP", **starts)
    for name in shown:
        assert np.array_equal(found[name], ours[name])


def test_wheels_are_driven_and_braked_by_rows_with_a_bound() -> None:
    drive = {"drive.target_speed": 5.0, "drive.max_torque": 6000.0}
    run = jounce.simulate("class3-impulse", drive, 6.0, ["speed", "wheel_RL.omega"], output_interval=0.1)
    assert run["speed"][-1] == pytest.approx(5.0, rel=0.01)
    brakes = {f"wheel_{w}.brake_torque": 5000.0 for w in WHEELS}
    run = jounce.simulate("class3-impulse", brakes, 3.0, ["speed", "wheel_FL.omega"], output_interval=0.1,
                          **{"init.speed": 8.0})  # fmt: skip
    assert np.abs(run["speed"][-10:]).max() < 0.1  # rocks on its tires
    assert abs(run["wheel_FL.omega"][-1]) < 0.1
    assert -run["speed"][10] + run["speed"][0] > 3.0


def test_truck_with_a_steered_axle_turns_left_by_a_positive_angle() -> None:
    run = jounce.simulate("class3-impulse", {"steering_wheel_angle": 2.0}, 2.0, ["ref_frame.yaw", "ref_frame.pos.y"],
                          output_interval=0.1, **{"init.speed": 6.0})  # fmt: skip
    assert run["ref_frame.yaw"][-1] > 0.2
    assert run["ref_frame.pos.y"][-1] > 0.3


def test_coasting_truck_without_dampers_keeps_its_energy_to_second_order() -> None:
    errors = []
    for tick in (2e-3, 1e-3):
        starts = {"road": "BUMP", "init.speed": 5.0, "mu": 0.0, "damping_factor": 0.0, "tick": tick}
        run = jounce.simulate("class3-impulse", {}, 2.5, ["energy.kinetic", "energy.potential"], output_interval=0.01,
                              **starts)  # fmt: skip
        energy = run["energy.kinetic"] + run["energy.potential"]
        assert np.ptp(run["energy.potential"]) > 1000
        errors.append(np.abs(energy - energy[0]).max())
    assert errors[1] < 10
    assert errors[0] / errors[1] > 3


@pytest.mark.parametrize(("parameters", "text"), [
    ({"frame.rail.mass": 0.0, "frame.payload.mass": 0.0, "frame.cargo_box.mass": 0.0, "frame.fuel_tank.mass": 0.0,
      "frame.front_clip.mass": 0.0}, "the mass of body frame.rail; expected it above 0"),
    ({"engine.block.inertia.xx": -1.0}, "the inertia of body engine.block; expected one that is positive"),
    ({"front.wheel_L.inertia.zz": 3.0}, "the inertia of wheel front.wheel_L; expected one that is symmetric"),
    ({"frame.payload.com.x": -60.0}, "would carry nothing at rest"),
    ({"joint_front.tie_rod_L.point_a.y": 0.36, "joint_front.tie_rod_L.point_a.x": -0.14}, "the length of rod"),
    ({"joint_cab_guide.axis.z": 0.0}, "the axis of joint cab_guide is 0"),
])  # fmt: skip
def test_parameters_that_no_truck_has_are_refused_by_name(parameters: dict[str, float], text: str) -> None:
    with pytest.raises(FmuError, match=text):
        jounce.simulate("class3-impulse", {}, 0.01, ["speed"], **parameters)


@pytest.mark.parametrize(("parameters", "text"), [
    ({"spring_cab_spring_FL.stiffness": 1e10}, "has diverged: cab_spring_FL is too stiff for this tick"),
    ({"road.term_1.place": 0.5, "road.term_1.factor": 50.0, "init.speed": 5.0}, "the centre of wheel F. is .* too low"),
])  # fmt: skip
def test_run_that_cannot_go_on_ends_with_a_fault_that_names_the_part(parameters: dict[str, float], text: str) -> None:
    with pytest.raises(FmuError, match=text):
        jounce.simulate("class3-impulse", {}, 5.0, ["speed"], **{"init.speed": 1.0, "road": "BUMP"} | parameters)


def test_steering_beyond_the_reach_of_its_rods_ends_with_a_fault_that_names_one() -> None:
    with pytest.raises(FmuError, match=r"joint front\.\w+ has come apart by 0\.0\d+: expected what it joins within"):
        jounce.simulate("class3-impulse", {"steering_wheel_angle": 20.0}, 2.0, ["speed"], **{"init.speed": 5.0})


def test_sequential_impulses_are_a_solver_of_a_truck_whose_state_goes_on_elsewhere() -> None:
    """Design page, section 5: after 20 sweeps with a warm start the cab is a few micrometres off."""
    bump = {"road": "BUMP", "init.speed": 8.0}
    runs = [jounce.simulate("class3-impulse", {}, 1.5, ["body_cab.pos.z"], **bump, **how)["body_cab.pos.z"]
            for how in ({}, {"solver": "SEQUENTIAL"}, {"solver": "SEQUENTIAL", "sweeps": 100})]  # fmt: skip
    off = [np.abs(z - runs[0]).max() for z in runs[1:]]
    assert 1e-7 < off[0] < 5e-6
    assert off[1] < 0.2 * off[0]
    factory = open_builtin("class3-impulse")
    with factory.instance("one") as one, factory.instance("two") as two:
        for each in (one, two):
            each.setup({"road": 2, "init.speed": 8.0, "solver": 2})
        one.step(800)
        two.set_state(one.get_state())
        for each in (one, two):
            each.step(1000)
        assert one.get_outputs().tobytes() == two.get_outputs().tobytes()


def test_references_of_the_trucks_signals_are_in_the_ledger() -> None:
    for truck in TRUCKS:
        signals = find(f"{truck}-impulse").read(f"{truck}-impulse")
        assert len({s.value_reference for s in signals.scalars}) == len(signals.scalars)
        committed = (Path(jounce.__file__).parent / "models" / "impulse" / "references.txt").read_text()
        assert all(f"{s.value_reference} {s.name}\n" in committed for s in signals.scalars)


def test_users_own_architecture_is_a_vehicle(tmp_path: Path) -> None:
    source = Path(jounce.__file__).parent / "architecture" / "trucks" / "class7.toml"
    own = tmp_path / "mine"
    own.mkdir()
    (own / "architecture.toml").write_text(source.read_text().replace('name = "class7"', 'name = "mine"'))
    run = jounce.simulate(str(own), {}, 0.05, ["speed"])
    assert len(run.time) == 51


_TURNTABLE = """
name = "turntable"
engine = "impulse"
[[component]]
name = "table"
kind = "rigid"
mass = 10.0
com = [0.0, 0.0, 1.0]
inertia = [2.0, 2.0, 2.0]
[[connection]]
name = "post"
kind = "hinge"
a = "table"
b = "ground"
point = [0.0, 0.0, 1.0]
axis = [0.0, 0.0, 1.0]
[[connection]]
name = "drive"
kind = "motor"
a = "table"
b = "ground"
axis = [0.0, 0.0, 1.0]
bound = 4.0
[[connection]]
name = "stop"
kind = "limit"
a = "table"
b = "ground"
measure = "angle"
point = [0.0, 0.0, 1.0]
axis = [0.0, 0.0, 1.0]
upper = 0.5
"""


def test_motor_of_an_architecture_pushes_with_its_bound_to_its_rate_and_holds_against_a_limit(tmp_path: Path) -> None:
    own = tmp_path / "turntable.toml"
    own.write_text(_TURNTABLE)
    run = jounce.simulate(str(own), {"motor_drive.target_rate": 0.8}, 2.0, ["body_table.ang_vel.z", "ref_frame.yaw"])
    rate, angle = run["body_table.ang_vel.z"], run["ref_frame.yaw"]
    assert rate[200] == pytest.approx(0.2 * 4.0 / 2.0, rel=0.02)  # 4 N m on 2 kg m2
    assert rate[500] == pytest.approx(0.8, abs=1e-6)
    assert angle.max() == pytest.approx(0.5, abs=1e-3)
    assert angle[-1] == pytest.approx(0.5, abs=1e-3)
    assert abs(rate[-1]) < 1e-6


def test_friction_can_change_during_a_run() -> None:
    with open_builtin("class3-impulse").instance("ice") as truck:
        truck.setup({"init.speed": 8.0})
        inputs = np.array([s.start for s in truck.table.inputs])
        out = {s.name: s.index for s in truck.table.outputs}
        for s in truck.table.inputs:
            if s.name.endswith("brake_torque"):
                inputs[s.index] = 6000.0
        truck.set_inputs(inputs)
        speeds = [8.0]
        for mu in (0.8, 0.1):
            truck.set_values({"mu": mu})
            truck.step(500)
            speeds.append(truck.get_outputs()[out["speed"]])
    assert speeds[0] - speeds[1] > 0.5 * 0.8 * 9.81 * 0.6
    assert speeds[1] - speeds[2] == pytest.approx(0.5 * 0.1 * 9.81, rel=0.15)


@pytest.mark.parametrize(("language", "compiler"), [("c", ["cc", "-std=c99"]), ("c++", ["c++", "-std=c++17"])])
@pytest.mark.parametrize(("truck", "file"), [("class3-impulse", "impulse.c"), ("class3", "ce.c")])
def test_its_source_compiles_without_a_warning(
    tmp_path: Path, truck: str, file: str, language: str, compiler: list[str]
) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"needs {compiler[0]}")
    for name, data in find(truck).sources.packed().items():
        (tmp_path / name).write_bytes(data)
    command = [compiler[0], "-x", language, *compiler[1:], "-Wall", "-Wextra", "-Werror", "-c", file]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("shaken", [0.0, 1.0, 7.0])
@pytest.mark.parametrize("name", TRUCKS)
def test_truck_parked_on_30_percent_for_a_minute_moves_less_than_a_millimetre(name: str, shaken: float) -> None:
    """A sine of that frequency [Hz] and 0.5 m/s2 along the road and across it rocks it on its tires.

    At 2 Hz, where class7 swings sideways on its tires with a damping ratio of 0.02, it takes wheels beyond friction.
    """
    engine = Engine(layout(trimmed(build(name)[1]), wheel_motors=True))
    angle = np.arctan(0.3)
    weight = 9.81 * np.array([-np.sin(angle), 0.0, -np.cos(angle)])
    engine.numbers[:3] = weight
    engine.motors[:, 1] = [12e3 if what == "brake" else 0.0 for what, _ in engine.layout.motors]
    engine.start()
    engine.run(15_000)
    x = engine.bodies[0, 0]
    seen = []
    for k in range(12_000):
        if shaken and k <= 11_000:
            engine.numbers[:3] = weight + 0.5 * np.sin(2 * np.pi * shaken * 0.005 * k) * np.array([1.0, 1.0, 0.0])
        engine.run(5)
        seen.append(engine.bodies[0, 0])
    assert abs(seen[-1] - x) < 1e-3
    assert (np.ptp(seen) > 1e-3) == (shaken > 0)
