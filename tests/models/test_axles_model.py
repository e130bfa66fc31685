"""Vehicles on three axles: the same model as the HMMWV's, from a vehicle.toml alone."""

from __future__ import annotations

import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import fmpy
import numpy as np
import own_axles
import pytest
from fmpy.validation import validate_fmu
from own_axles import SIX
from quotients import check_linear_model
from rested import named

from jounce.data import DataError, load_vehicle
from jounce.models.double_wishbone.arrange import arranged
from jounce.reference.kkt import Loads, Minimal, accelerations
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.description.terminals import terminals_and_icons
from jounce_fmu.importer.foreign import Interface
from jounce_fmu.importer.host import Factory, open_builtin
from jounce_fmu.importer.linear import Exchange
from jounce_fmu.models import axles, data_sets, find
from jounce_tools.linearize import settle
from jounce_tools.simulate.csv_inputs import sample

WHEELS = ("1L", "1R", "2L", "2R", "3L", "3R")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own_axles.write(tmp_path_factory.mktemp("six") / "v", SIX, name="six")


@pytest.fixture(scope="module")
def factory(folder: Path) -> Factory:
    return open_builtin(folder)


@pytest.fixture(scope="module")
def exchange(factory: Factory) -> Factory:
    return replace(factory, kind=Exchange)


def test_accelerations_are_those_of_the_maximal_coordinate_system(folder: Path, exchange: Factory) -> None:
    """Wheels loaded from outside at a random state; the judge has 43 bodies and shares no code with the model."""
    r, vehicle = np.random.default_rng(5), load_vehicle(folder)
    table, n = exchange.table, len(WHEELS)
    place = {s.name: k for k, s in enumerate(table.states)}
    for seed in range(3):
        m = Minimal(
            position=r.normal(size=3) + [0.0, 0.0, 50.0], quaternion=(q := r.normal(size=4)) / np.linalg.norm(q),
            theta=r.uniform(-0.2, 0.2, n), spin=r.uniform(-3, 3, n), angular_velocity=r.normal(size=3),
            linear_velocity=5 * r.normal(size=3), theta_rate=2 * r.normal(size=n), spin_rate=20 * r.normal(size=n),
            steering_angle=float(r.uniform(-9, 9)), steering_rate=float(8 * r.normal()),
        )  # fmt: skip
        x = np.zeros(len(table.states))
        for name, values in (("pos", m.position), ("lin_vel", m.linear_velocity), ("ang_vel", m.angular_velocity)):
            x[[place[f"state.{name}.{a}"] for a in "xyz"]] = values
        x[[place[f"state.rot.e{k}"] for k in range(4)]] = m.quaternion
        for name, values in (("arm_angle", m.theta), ("spin", m.spin), ("arm_rate", m.theta_rate),
                             ("omega", m.spin_rate)):  # fmt: skip
            x[[place[f"state.wheel_{w}.{name}"] for w in WHEELS]] = values
        given = {"steering_wheel_angle": m.steering_angle, "steering_wheel_rate": m.steering_rate}
        force, moment, drive = 1e4 * r.normal(size=(n, 3)), 1e3 * r.normal(size=(n, 3)), 1e3 * r.normal(size=n)
        drive[4:] = 0.0  # the last axle
        push, twist = 1e3 * r.normal(size=3), 1e3 * r.normal(size=3)
        for what, values in (("ext_force", push), ("ext_moment", twist)):
            given |= {f"chassis.{what}.{a}": v for a, v in zip("xyz", values, strict=True)}
        for k, w in enumerate(WHEELS):
            given[f"wheel_{w}.drive_torque"] = drive[k]
            given |= {f"wheel_{w}.force.{a}": v for a, v in zip("xyz", force[k], strict=True)}
            given |= {f"wheel_{w}.moment.{a}": v for a, v in zip("xyz", moment[k], strict=True)}
        with exchange.instance("kkt") as instance:
            instance.setup({"tire_source": "EXTERNAL", "init.equilibrium": False}, given)
            instance.set_states(x)
            y = named(exchange, instance.get_outputs())
            instance.set_values({f"wheel_{w}.point.{a}": y[f"wheel_{w}.pos.{a}"] for w in WHEELS for a in "xyz"})
            y, rate = named(exchange, instance.get_outputs()), instance.get_rates()
        on_uprights = np.array([0, 0, 1, 1, 0, 0])  # as a brake's torque
        loads = Loads(
            wheel_force=force, wheel_moment=moment, drive=drive * (1 - on_uprights), brake=drive * on_uprights,
            chassis_force=push,
            chassis_moment=twist,
            spring=np.array([y[f"wheel_{w}.spring_force"] for w in WHEELS]),
            shock=np.array([y[f"wheel_{w}.shock_force"] for w in WHEELS]),
        )  # fmt: skip
        judge = accelerations(vehicle, m, loads)
        ours = {
            "angular_acceleration": rate[[place[f"state.ang_vel.{a}"] for a in "xyz"]],
            "linear_acceleration": rate[[place[f"state.lin_vel.{a}"] for a in "xyz"]]
            + np.cross(m.angular_velocity, m.linear_velocity),
            "theta_dd": rate[[place[f"state.wheel_{w}.arm_rate"] for w in WHEELS]],
            "spin_dd": rate[[place[f"state.wheel_{w}.omega"] for w in WHEELS]],
            "steering_load_torque": np.array(y["steering.load_torque"]),
        }
        for name, values in ours.items():
            assert values == pytest.approx(judge[name], rel=1e-8, abs=1e-8 * np.abs(judge[name]).max()), (seed, name)
        assert y["closure_residual"] < 1e-13


def test_it_rests_on_all_its_wheels(factory: Factory) -> None:
    vehicle = factory.table
    with factory.instance("rest") as instance:
        instance.setup()
        y = named(factory, instance.get_outputs())
        instance.step(500)
        later = named(factory, instance.get_outputs())
    loads = [y[f"wheel_{w}.tire_force.z"] for w in WHEELS]
    p = {s.name: s.start for s in vehicle.parameters}
    parts = ("UCA", "LCA", "upright", "spindle", "tierod", "shock_lower", "shock_upper")
    corner = sum(p[f"{a.name}.{b}.mass"] for a in SIX for b in parts)
    mass = p["chassis.mass"] + p["steering.link.mass"] + p["steering.arm.mass"] + 2 * corner + 6 * p["wheel.mass"]
    assert sum(loads) == pytest.approx(mass * 9.81, rel=1e-9) and min(loads) > 4000
    assert later["ref_frame.pos.z"] == pytest.approx(y["ref_frame.pos.z"], abs=1e-9)


def drive(factory: Factory, steering: float, ticks: int = 1500, **parameters: object) -> dict[str, float]:
    with factory.instance("drive") as instance:
        instance.setup({"init.speed": 10.0, **parameters})  # type: ignore[dict-item]
        instance.set_values(
            {"steering_wheel_angle": steering, **{f"wheel_{w}.drive_torque": 150.0 for w in WHEELS[:4]}}
        )
        instance.step(ticks)
        return named(factory, instance.get_outputs())


def test_a_turn_to_the_right_mirrors_one_to_the_left(factory: Factory) -> None:
    left, right = drive(factory, 3.0), drive(factory, -3.0)
    assert left["ref_frame.yaw"] > 0.3
    # the vehicle's link and arm are not quite symmetric
    for name, sign in (("ref_frame.yaw", -1), ("ref_frame.pos.y", -1), ("ref_frame.pos.x", 1), ("ref_frame.roll", -1)):
        assert right[name] == pytest.approx(sign * left[name], rel=0.03, abs=2e-3)
    for w, other in zip(WHEELS, ("1R", "1L", "2R", "2L", "3R", "3L"), strict=True):
        assert right[f"wheel_{other}.tire_force.z"] == pytest.approx(left[f"wheel_{w}.tire_force.z"], rel=0.02)
    assert left["wheel_1L.steer"] + left["wheel_1R.steer"] > left["wheel_2L.steer"] + left["wheel_2R.steer"] > 0.02
    assert left["wheel_3L.steer"] + left["wheel_3R.steer"] < -0.01


def test_the_implicit_integrator_drives_the_same_way(factory: Factory) -> None:
    rk4, implicit = drive(factory, 3.0), drive(factory, 3.0, integrator="ROSENBROCK")
    for name in ("ref_frame.yaw", "ref_frame.pos.x", "ref_frame.pos.y", "speed", "wheel_3R.tire_force.z"):
        assert implicit[name] == pytest.approx(rk4[name], rel=1e-3)


def test_linear_models_are_those_of_difference_quotients(factory: Factory) -> None:
    check_linear_model(factory, 1.0, 700)


def test_a_snapshot_goes_on_with_the_same_bits(factory: Factory) -> None:
    with factory.instance("a") as a, factory.instance("b") as b:
        a.setup({"init.speed": 8.0})
        b.setup({"init.speed": 8.0})
        a.step(50)
        b.set_state(a.get_state())
        a.step(50)
        b.step(50)
        assert a.get_outputs().tobytes() == b.get_outputs().tobytes()


@pytest.mark.parametrize("fmi", [2, 3])
def test_its_fmu_is_valid_and_runs_in_fmpy(folder: Path, tmp_path: Path, fmi: int) -> None:
    path = export_builtin(tmp_path / "six.fmu", folder, fmi=fmi)
    assert validate_fmu(str(path)) == []
    wanted = "wheel_3R.tire_force.z" if fmi == 2 else "speed"
    result = fmpy.simulate_fmu(str(path), stop_time=0.02, step_size=0.001, output=[wanted], fmi_type="CoSimulation",
                               start_values={"init.speed": 5.0})  # fmt: skip
    assert np.isfinite(result[wanted]).all() and abs(result[wanted][-1]) > 4.0


def test_an_axle_that_is_not_driven_takes_no_torque(factory: Factory) -> None:
    with factory.instance("no") as instance, pytest.raises(Exception, match=r"wheel_3L\.drive_torque.*expected"):
        instance.setup({}, {"wheel_3L.drive_torque": 100.0})


def test_the_model_is_found_by_its_path_and_made_once(folder: Path) -> None:
    model = find(folder)
    assert model.library() == find(folder).library() and str(folder) not in data_sets()
    assert model.base == str(folder) and find("utv").name == "double_wishbone"


@pytest.mark.parametrize(("change", "message"), [
    ({"kind": "rocker"}, "axle second is of the kind 'rocker'; expected double_wishbone"),
    ({"final_drive": 3.7}, r"axle second \(double_wishbone\) has final_drive = 3.7; expected none"),
])  # fmt: skip
def test_axles_that_there_are_not_are_refused_by_name(tmp_path: Path, change: dict[str, object], message: str) -> None:
    odd = (SIX[0], replace(SIX[1], **change))  # type: ignore[arg-type]
    with pytest.raises(DataError, match=message):
        find(own_axles.write(tmp_path / "odd", odd))


def test_entries_that_lack_or_are_unknown_or_in_another_unit_are_refused(folder: Path) -> None:
    vehicle = load_vehicle(folder)
    kept = {n: e for n, e in vehicle.entries.items() if n != "second.spring.k1"}
    with pytest.raises(DataError, match="'six' lacks the entry 'second.spring.k1'"):
        arranged(replace(vehicle, entries=kept))
    entry = vehicle.entries["second.spring.k1"]
    with pytest.raises(DataError, match="unknown entry 'fourth.spring.k1'"):
        arranged(replace(vehicle, entries=vehicle.entries | {"fourth.spring.k1": entry}))
    with pytest.raises(DataError, match="second.spring.k1 is in N/mm; expected N/m"):
        arranged(replace(vehicle, entries=vehicle.entries | {"second.spring.k1": replace(entry, unit="N/mm")}))


def test_its_files_are_made_without_casadi(folder: Path) -> None:
    code = (
        "import sys; sys.modules['casadi'] = None\n"
        "from jounce_fmu.models import find\n"
        f"print(len(find({str(folder)!r}).sources.all_files()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30


def test_another_vehicle_with_the_same_axles_differs_in_its_table_alone(folder: Path, tmp_path: Path) -> None:
    """So that its library takes a second, not twenty."""
    heavy = own_axles.write(tmp_path / "heavy", SIX, {"chassis.mass": 3500.0, "steering_ratio": 20.0}, name="heavy")
    ours, theirs = ({f.name: f.read_text() for f in find(v).sources.files} for v in (folder, heavy))
    assert {n for n in ours if ours[n] != theirs[n]} == {"double_wishbone_table.c"}


def test_the_interface_is_the_tables(folder: Path, factory: Factory) -> None:
    assert factory.interface == Interface.of_table(axles.read(folder))
    assert [s.name for s in factory.table.states if s.name.endswith("omega")] == [
        f"state.wheel_{w}.omega" for w in WHEELS
    ]


def test_its_terminals_are_those_of_its_wheels_and_axles(folder: Path) -> None:
    root = ET.fromstring(terminals_and_icons(axles.read(folder)))
    names = [t.attrib["name"] for t in root.iter("Terminal")]
    assert names == [*(f"wheel_{w}" for w in WHEELS), *(f"driveline_axle_{k}" for k in (1, 2, 3))]


def test_a_speed_is_held_by_the_wheels_that_are_driven(factory: Factory) -> None:
    _, u = settle(factory, {}, {}, speed=8.0, time=1.0)
    torque = [u[factory.table.by_name(f"wheel_{w}.drive_torque").index] for w in WHEELS]
    assert min(torque[:4]) > 10.0 and torque[4:] == [0.0, 0.0]


def test_a_sample_of_inputs_drives_the_last_axle_that_is_driven(folder: Path) -> None:
    assert "steering_wheel_angle [rad],wheel_2L.drive_torque [N.m],wheel_2R" in sample(axles.read(folder))


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks of files")
def test_what_several_processes_want_emitted_at_once_is_emitted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(axles, "cache_folder", lambda: tmp_path)
    made = []

    def emit() -> dict[str, str]:
        made.append("text")
        time.sleep(0.1)  # so that each finds the first at work
        return {"law.inc": "text"}

    with ThreadPoolExecutor(3) as pool:  # flock tells threads apart as it does processes
        found = list(pool.map(lambda _: axles.kept("laws", "law", emit), range(3)))
    assert found == [{"law.inc": "text"}] * 3
    assert made == ["text"]
    assert not list(tmp_path.rglob("*.lock"))
