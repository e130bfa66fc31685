"""Vehicles with two tires on each side of an axle: a pickup's rigid rear axle, the 8x8's last two. Each is emitted and
compiled for a minute, so all of them are slow."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import drives
import fmpy
import judged
import numpy as np
import pytest
from drives import in_the_air, powertrain_of, unaccounted
from fmpy.validation import validate_fmu
from rested import named, rested

from jounce.axles import WHEELS
from jounce.data import load_vehicle, vehicle_file
from jounce.terrain.packed import Terrain, save
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.instance import FmuError
from jounce_fmu.importer.linear import Exchange, linearize, read_states
from jounce_fmu.models.roads import on_road
from jounce_tools.vehicle.rest import standing

pytestmark = pytest.mark.slow
APART = 0.3
TIRES = Path(__file__).parents[1] / "data" / "tires"
REAR = WHEELS[2:]
AXLES = {"pickup": ("rear",), "truck8x8": ("axle_3", "axle_4")}


@pytest.fixture(scope="module", params=AXLES)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dual(request.param, tmp_path_factory.mktemp("dual") / request.param)


@pytest.fixture(scope="module")
def dually(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dual("pickup", tmp_path_factory.mktemp("dually") / "pickup")


def dual(name: str, folder: Path) -> Path:
    shutil.copytree(vehicle_file(name).parent, folder)
    file = folder / "vehicle.toml"
    text = file.read_text(encoding="utf-8")
    for axle in AXLES[name]:
        text, count = re.subn(rf'(?m)^name = "{axle}".*$', rf"\g<0>\ndual = {APART}", text)
        assert count == 1
    file.write_text(text, encoding="utf-8")
    return folder


def test_accelerations_are_those_of_the_maximal_coordinate_system(path: Path) -> None:
    """With both wheels of a side as one body, by Steiner's theorem."""
    for seed in range(2):
        off = judged.difference(load_vehicle(path), open_builtin(path), seed, 0.05)
        off.pop("closure")
        assert max(off.values()) < 1e-10, off


def test_it_rests_on_all_its_tires_where_the_check_says(path: Path) -> None:
    factory, vehicle = open_builtin(path), load_vehicle(path)
    stands, y, later = rested(factory, vehicle, 1e-6)
    for k, axle in enumerate(vehicle.axles):
        left, right = vehicle.wheels[2 * k : 2 * k + 2]
        mean = 0.5 * (y[f"wheel_{left}.tire_force.z"] + y[f"wheel_{right}.tire_force.z"])
        assert mean == pytest.approx(stands.load[k], rel=1e-2)
        inner, outer = (y[f"wheel_{left}.{tire}.load"] for tire in ("inner", "outer"))
        assert inner + outer == pytest.approx(y[f"wheel_{left}.tire_force.z"], rel=1e-9)
        if axle.dual:  # each as deep as half the load presses it
            linear, quadratic = (vehicle.of_tires(axle, f"vertical_stiffness{n}") for n in ("", "_quadratic"))
            deep = y[f"wheel_{left}.inner.deflection"]
            assert inner == pytest.approx(linear * deep + quadratic * deep**2, rel=1e-6)
            # the wheel leans: the outer centre is higher by the distance times the axis' rise
            lean, flat = np.sin(y[f"wheel_{left}.inclination"]), np.cos(y[f"wheel_{left}.inclination"])
            assert y[f"wheel_{left}.outer.deflection"] - deep == pytest.approx(-APART * lean / flat, abs=1e-4)
        else:
            assert inner == 0.0
    assert np.hypot(later["ref_frame.pos.x"], later["ref_frame.pos.y"]) < 1e-5


def test_the_implicit_integrator_drives_the_same_way(path: Path) -> None:
    factory, found = open_builtin(path), []
    driven = next(w for w, a in zip(load_vehicle(path).wheels[::2], load_vehicle(path).axles, strict=True) if a.dual)
    for integrator in ("RK4", "ROSENBROCK"):
        with factory.instance(integrator) as instance:
            instance.setup({"init.speed": 8.0, "integrator": integrator})
            instance.set_values({"steering_wheel_angle": 1.5, f"wheel_{driven}.drive_torque": 200.0})
            instance.step(1000)
            found.append(named(factory, instance.get_outputs()))
    for signal in ("ref_frame.yaw", "ref_frame.roll", "ref_frame.pos.x", f"wheel_{driven}.inner.slip"):
        assert found[1][signal] == pytest.approx(found[0][signal], rel=2e-3, abs=1e-6), signal
    assert abs(found[0]["ref_frame.yaw"]) > 0.03


def test_in_a_turn_the_slips_differ_by_yaw_rate_times_distance_over_speed(dually: Path) -> None:
    """By hand: both tires of a side turn together while the inner one of the left side has the longer way."""
    factory = open_builtin(dually)
    with factory.instance("turn") as instance:
        instance.setup({"init.speed": 6.0})
        instance.set_values({"steering_wheel_angle": 4.0})
        instance.step(3000)
        y = named(factory, instance.get_outputs())
    rate = y["ref_frame.ang_vel.z"]
    assert rate > 0.2
    for w, inside in zip(REAR, (-1.0, 1.0), strict=True):
        speed = float(np.hypot(y[f"wheel_{w}.lin_vel.x"], y[f"wheel_{w}.lin_vel.y"]))
        difference = y[f"wheel_{w}.outer.slip"] - y[f"wheel_{w}.inner.slip"]
        assert difference == pytest.approx(-inside * rate * APART / speed, rel=0.05)
        # and they pull against each other
        assert y[f"wheel_{w}.outer.force.x"] * y[f"wheel_{w}.inner.force.x"] < 0.0


def test_ground_under_the_inner_tires_alone_is_felt_by_them_alone(dually: Path) -> None:
    """By hand, of a rigid axle that both sides let down alike: the deflections differ by the step, and the loads by it
    times the tire's stiffness."""
    factory, vehicle, step = open_builtin(dually), load_vehicle(dually), 0.004
    with factory.instance("step") as instance:
        instance.setup({"terrain_source": "EXTERNAL"}, {f"wheel_{w}.inner.terrain_height": -step for w in REAR})
        y = named(factory, instance.get_outputs())
        instance.set_values({f"wheel_{w}.inner.terrain_height": -0.1 for w in REAR})
        instance.step(2000)
        gone = named(factory, instance.get_outputs())
    for w in REAR:
        outer, inner = (y[f"wheel_{w}.{tire}.deflection"] for tire in ("outer", "inner"))
        assert outer - inner == pytest.approx(step, abs=2e-6)
        linear, quadratic = (vehicle.of_tires("rear", f"vertical_stiffness{n}") for n in ("", "_quadratic"))
        assert y[f"wheel_{w}.outer.load"] - y[f"wheel_{w}.inner.load"] == pytest.approx(
            linear * step + quadratic * (outer**2 - inner**2), rel=2e-3)  # fmt: skip
        assert gone[f"wheel_{w}.inner.load"] == 0.0
        assert gone[f"wheel_{w}.outer.load"] == pytest.approx(gone[f"wheel_{w}.tire_force.z"], rel=1e-9)


def test_each_tire_asks_a_terrain_file_at_its_own_place(dually: Path, tmp_path: Path) -> None:
    """Ground that falls towards the middle from both sides, 2 cm a metre."""
    x, y = np.meshgrid(np.arange(60.0) - 30.0, 0.25 * np.arange(81) - 10.0, indexing="ij")
    ground = Terrain("HEIGHTMAP", 0.02 * np.abs(y), 1.0, 0.25, (-30.0, -10.0))
    factory = open_builtin(on_road(dually, save(ground, tmp_path / "v.jnt")))
    with factory.instance("valley") as instance:
        instance.setup({"init.equilibrium": False, "init.z": 0.46})
        found = named(factory, instance.get_outputs())
        for w in REAR:
            outer, inner = (found[f"wheel_{w}.{tire}.deflection"] for tire in ("outer", "inner"))
            assert outer - inner == pytest.approx(0.02 * APART, rel=0.02)
            assert inner > 0.0


def test_linear_models_are_those_of_difference_quotients(dually: Path) -> None:
    """At the states of both tires, and at the inputs of the inner tire's ground."""
    factory = open_builtin(dually)
    given = {"init.speed": 12.0, "terrain_source": "EXTERNAL"}
    with factory.instance("at") as instance:
        instance.setup(given)
        u = np.array([s.start for s in factory.table.inputs])
        u[factory.table.by_name("steering_wheel_angle").index] = 0.5
        instance.set_inputs(u)
        instance.step(500)
        x = read_states(instance)
    linear = linearize(factory, given, x, u)
    with replace(factory, kind=Exchange).instance("fd") as instance:
        names = [s.name for s in factory.table.inputs]
        instance.setup(given, dict(zip(names, u, strict=True)))
        instance.set_states(x)
        states = [s.name for s in factory.table.states]
        compared = 0
        for k, name in enumerate(states):
            if "wheel_R" not in name:
                continue
            h, ends = 1e-5 * max(1e-2, abs(x[k])), []
            for step in (h, -h, h / 2, -h / 2):
                moved = x.copy()
                moved[k] += step
                instance.set_states(moved)
                ends.append(np.array(instance.get_rates()))
            whole, half = (ends[0] - ends[1]) / (2 * h), (ends[2] - ends[3]) / h
            scale = np.abs(linear.A).max(axis=1) + 1.0
            if np.any(np.abs(whole - half) > 1e-6 * scale):
                continue  # a kink
            compared += 1
            assert np.max(np.abs((4 * half - whole) / 3 - linear.A[:, k]) / scale) <= 1e-6, name
        assert compared >= 30
        instance.set_states(x)
        for name in ("wheel_RL.inner.terrain_height", "wheel_RR.inner.terrain_normal.x", "wheel_RL.inner.terrain_mu"):
            k, ends = names.index(name), []
            for step in (1e-6, -1e-6):
                instance.set_values({name: u[k] + step})
                ends.append(np.array(instance.get_rates()))
            instance.set_values({name: u[k]})
            column = linear.B[:, k]
            assert np.abs(column).max() > 0.0, name
            assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(column, rel=1e-5, abs=1e-5 * np.abs(column).max())


@pytest.mark.parametrize("fmi", [2, 3])
def test_its_fmu_is_valid_and_runs_in_fmpy(dually: Path, tmp_path: Path, fmi: int) -> None:
    path = export_builtin(tmp_path / "dually.fmu", dually, fmi=fmi)
    assert validate_fmu(str(path)) == []
    result = fmpy.simulate_fmu(str(path), stop_time=0.02, step_size=0.001, output=["speed"], fmi_type="CoSimulation",
                               start_values={"init.speed": 5.0})  # fmt: skip
    assert result["speed"][-1] == pytest.approx(5.0, abs=0.05)


@pytest.mark.parametrize(("parameter", "choice", "there"), [("terrain.soil", "BEKKER", "RIGID"),
                                                            ("tire.contact", "AREA", "POINT")])  # fmt: skip
def test_soft_soil_and_contact_by_the_area_are_refused(dually: Path, parameter: str, choice: str, there: str) -> None:
    with open_builtin(dually).instance("soft") as instance:
        with pytest.raises(FmuError, match=f"{parameter} = '{choice}': expected {there}, which is all that this model "
                                           rf"has \(.*dual wheels have {there} alone\)"):  # fmt: skip
            instance.setup({parameter: choice})
        instance.reset()
        instance.setup({parameter: there})


@pytest.mark.parametrize("files", [
    '"HMMWV_Pac02Tire.tir"', '"synthetic_mf61_large.tir"',
    '{front = "HMMWV_Pac02Tire.tir", rear = "synthetic_mf61_large.tir"}',
], ids=["PAC2002", "MF 6.1", "one of each"])  # fmt: skip
def test_on_tires_of_the_magic_formula_loads_and_slips_are_those_by_hand(files: str, tmp_path: Path) -> None:
    """Each tire of a side carries half; in a turn slips differ by yaw rate times distance over speed."""
    folder = dual("pickup", tmp_path / "magic")
    for tire in ("HMMWV_Pac02Tire.tir", "synthetic_mf61_large.tir"):
        shutil.copy(TIRES / tire, folder)
    file = folder / "vehicle.toml"
    file.write_text(file.read_text().replace("\n[[axles]]", f"\ntire_file = {files}\n\n[[axles]]", 1))
    factory, turns = open_builtin(folder), []
    with factory.instance("rest") as instance:
        instance.setup()
        y = named(factory, instance.get_outputs())
    weight = 9.81 * standing(load_vehicle(dual("pickup", tmp_path / "same"))).mass
    assert sum(y[f"wheel_{w}.tire_force.z"] for w in WHEELS) == pytest.approx(weight, rel=1e-9)
    for w in REAR:
        assert y[f"wheel_{w}.inner.load"] == pytest.approx(y[f"wheel_{w}.outer.load"], rel=1e-3)
    for angle in (4.0, -4.0):
        with factory.instance("turn") as instance:
            instance.setup({"init.speed": 6.0})
            instance.set_values({"steering_wheel_angle": angle})
            instance.step(3000)
            turns.append(named(factory, instance.get_outputs()))
    left, right = turns
    assert left["ref_frame.ang_vel.z"] == pytest.approx(-right["ref_frame.ang_vel.z"], rel=1e-2)
    rate = left["ref_frame.ang_vel.z"]
    assert rate > 0.2
    for w, inside in zip(REAR, (-1.0, 1.0), strict=True):
        speed = float(np.hypot(left[f"wheel_{w}.lin_vel.x"], left[f"wheel_{w}.lin_vel.y"]))
        difference = left[f"wheel_{w}.outer.slip"] - left[f"wheel_{w}.inner.slip"]
        # the axle rolls, and the rolling radius of the tire that carries more is smaller: up to a tenth
        assert difference == pytest.approx(-inside * rate * APART / speed, rel=0.1)


def test_a_powertrain_turns_dual_wheels_with_its_energy_closed(tmp_path: Path) -> None:
    folder = tmp_path / "hmmwv"
    shutil.copytree(vehicle_file("hmmwv").parent, folder)
    axles = f'[[axles]]\nname = "front"\nsteered = "pitman"\n[[axles]]\nname = "rear"\ndual = {APART}\n'
    file = folder / "vehicle.toml"
    file.write_text(f'{file.read_text()}{powertrain_of("hmmwv_pedals")}{axles}', encoding="utf-8")
    plan = [(0.0, {"throttle": 0.5}), (0.6, {"front.diff_lock": 1.0, "throttle": 0.9}), (1.5, {"throttle": 0.0}),
            (2.0, {"gear_selector": 0, "front.diff_lock": 0.0})]  # fmt: skip
    o = drives.run(plan, 2.5, in_the_air(), vehicle=str(folder))
    assert unaccounted(o) < 1e-7 * o["energy.engine"].max()
    o = drives.run([(0.0, {"throttle": 0.6})], 4.0, vehicle=str(folder))
    assert o["speed"][-1] > 5.0 and abs(o["ref_frame.pos.y"][-1]) < 1e-2
    for w in REAR:
        both = o[f"wheel_{w}.inner.force.x"][-1] + o[f"wheel_{w}.outer.force.x"][-1]
        assert both == pytest.approx(o[f"wheel_{w}.tire_force.x"][-1], rel=1e-2)
        assert o[f"wheel_{w}.inner.force.x"][-1] > 100.0
