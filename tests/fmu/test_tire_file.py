"""A vehicle on tires of a file (.tir): it stands, drives straight, turns, stops and holds."""

from __future__ import annotations

import math
from pathlib import Path

import fmpy
import numpy as np
import pytest

import jounce
from jounce.axles import AXLES, WHEELS
from jounce.data import DataError, load_vehicle
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import Factory, FmuError, open_builtin
from jounce_fmu.models.tires import on_tires
from jounce_tools.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "tires"
HMMWV, FEDA = DATA / "HMMWV_Pac02Tire.tir", DATA / "335_65R22_5_G275MSA_60psi.tir"
FRONT, REAR = AXLES
MF61 = DATA / "synthetic_mf61_large.tir"


@pytest.fixture(scope="module")
def car() -> Factory:
    pytest.importorskip("casadi")
    return open_builtin(on_tires("hmmwv", HMMWV))


class Run:
    """A vehicle that moves, with inputs and outputs by name."""

    def __init__(self, car: Factory, **parameters: float) -> None:
        self.fmu = car.instance("car")
        self.fmu.setup({name.replace("__", "."): value for name, value in parameters.items()})
        self.inputs = {s.name: s.start for s in self.fmu.table.inputs}

    def go(self, ticks: int, drive: float = 0.0, brake: float = 0.0, **inputs: float) -> dict[str, float]:
        for w in WHEELS:
            self.inputs |= {f"wheel_{w}.drive_torque": drive, f"wheel_{w}.brake_torque": brake}
        self.inputs |= inputs
        self.fmu.set_inputs(np.array(list(self.inputs.values())))
        self.fmu.step(ticks)
        out = dict(zip([s.name for s in self.fmu.interface.outputs], self.fmu.get_outputs(), strict=True))
        assert all(math.isfinite(v) for v in out.values())
        return out


@pytest.mark.slow
def test_it_drives_straight_on_mirrored_tires_and_stops_to_stand_still(car: Factory) -> None:
    """Conicity and ply steer of the file are 900 N per wheel; left and right cancel. It holds within 0.01 mm/s."""
    run = Run(car)
    out = run.go(4000, drive=600.0)
    assert out["wheel_FL.tire_force.y"] == pytest.approx(-out["wheel_FR.tire_force.y"], rel=0.05)
    assert abs(out["wheel_FL.tire_force.y"]) > 500.0
    assert abs(out["ref_frame.pos.y"]) < 1e-3 * out["ref_frame.pos.x"]
    run.go(6000, brake=1500.0)
    before = run.go(1, brake=1500.0)
    after = run.go(5000, brake=1500.0)
    for axis in "xy":
        assert abs(after[f"ref_frame.pos.{axis}"] - before[f"ref_frame.pos.{axis}"]) < 5e-5


def test_with_both_sides_as_in_the_file_it_drifts(car: Factory) -> None:
    out = Run(car, tire__side_left=1.0, tire__side_right=1.0).go(4000, drive=600.0)
    assert abs(out["ref_frame.pos.y"]) > 0.05


def test_on_soft_soil_it_sinks_in_as_on_tires_of_its_own_and_is_slowed_down(car: Factory) -> None:
    """The soil takes the tire's spring, mass and size, and not its law of slips."""
    own = jounce.simulate("hmmwv", {}, 0.5, **{"terrain.soil": "BEKKER", "init.speed": 4.0})
    out = Run(car, terrain__soil=2.0, init__speed=4.0).go(500)
    for name in ("wheel_FL.sinkage", "wheel_RL.sinkage", "speed"):
        assert out[name] == pytest.approx(own[name][-1], rel=0.03)
    assert 0.02 < out["wheel_FL.sinkage"] < 0.06 and out["speed"] < 3.5


def test_a_j_turn_stays_finite_and_slows_it_down(car: Factory) -> None:
    """Without drive no turn adds energy: speed falls, whatever the steering."""
    run = Run(car)
    run.go(8000, drive=900.0)
    speeds = []
    for _ in range(8):
        out = run.go(250, steering_wheel_angle=6.0)
        speeds.append(sum(out[f"ref_frame.lin_vel.{a}"] ** 2 for a in "xyz"))
    assert all(b < a for a, b in zip(speeds, speeds[1:], strict=False))


def test_on_a_slope_it_holds_with_brakes(car: Factory) -> None:
    """30 % slope: it settles on its springs, and then moves less than 0.01 mm in 5 s."""
    tilt = math.atan(0.3)
    run = Run(car)
    ground = {}
    for w in WHEELS:
        ground |= {f"wheel_{w}.terrain_normal.x": -math.sin(tilt), f"wheel_{w}.terrain_normal.z": math.cos(tilt)}
    first = run.go(5000, brake=6000.0, **ground)
    last = run.go(5000, brake=6000.0, **ground)
    assert abs(last["ref_frame.pos.x"] - first["ref_frame.pos.x"]) < 1e-4


def test_its_fmu_simulates_in_fmpy(tmp_path: Path) -> None:
    pytest.importorskip("casadi")
    path = export_builtin(tmp_path / "car.fmu", on_tires("hmmwv", HMMWV))
    result = fmpy.simulate_fmu(str(path), stop_time=0.5, step_size=0.01, output=["wheel_FL.tire_force.z"])
    assert result["wheel_FL.tire_force.z"][-1] == pytest.approx(6593.25, rel=1e-4)


def test_the_option_of_the_command_gives_the_tires_and_refuses_a_bad_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("casadi")
    arguments = ["simulate", "--duration", "0.01", "--outputs", "wheel_FL.tire_force.z", "-o", str(tmp_path / "o.csv")]
    assert main([*arguments, "--tire", str(HMMWV)]) == 0
    bad = tmp_path / "bad.tir"
    bad.write_text(HMMWV.read_text().replace("PCX1 ", "PCX9 "))
    assert main([*arguments, "--tire", str(bad)]) == 2
    assert "bad.tir: line 205: PCX1 is missing" in capsys.readouterr().err


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the same law with other friction and stiffness."""
    text = HMMWV.read_text()
    for was, now in (("= 0.77751", "= 0.9"), ("= 1e+006", "= 0.8e+006"), ("= -10.289", "= -8")):
        assert was in text
        text = text.replace(was, now)
    path = tmp_path_factory.mktemp("tires") / "other.tir"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def by_axle(other: Path) -> Factory:
    pytest.importorskip("casadi")
    return open_builtin(on_tires("hmmwv", {FRONT: HMMWV, REAR: other}))


@pytest.mark.slow
def test_with_the_same_file_for_each_axle_it_is_the_same_vehicle_bit_for_bit(car: Factory) -> None:
    each = Run(open_builtin(on_tires("hmmwv", {FRONT: HMMWV, "": HMMWV})))
    both = Run(car)
    for drive, angle in ((600.0, 0.0), (600.0, 1.0), (-400.0, -2.0)):
        assert each.go(500, drive, steering_wheel_angle=angle) == both.go(500, drive, steering_wheel_angle=angle)


def test_an_axle_has_the_tires_of_its_own_file_alone(car: Factory, by_axle: Factory, other: Path) -> None:
    """The front wheels of the first tick do as with that file all round, the rear ones as with the other one."""
    rear = open_builtin(on_tires("hmmwv", other))
    in_air = {"init.equilibrium": 0.0, "init.z": 0.55, "init.speed": 15.0, "terrain.bank": 0.1}
    outs = [Run(f, **{n.replace(".", "__"): v for n, v in in_air.items()}).go(0) for f in (car, rear, by_axle)]
    names = [n for n in outs[0] if "tire_force" in n]
    assert any(outs[0][n] != outs[1][n] for n in names)
    for n in names:
        assert outs[2][n] == outs[n.startswith("wheel_R")][n]


def test_the_parameters_of_an_axle_bear_its_name_and_change_it_alone(by_axle: Factory) -> None:
    names = {s.name for s in by_axle.table.parameters}
    assert {"tire.front.PDX1", "tire.rear.PDX1", "tire.rear.side_left"} <= names
    assert not any(n.startswith("tire.P") for n in names)
    plain = Run(by_axle).go(1)
    stiffer = Run(by_axle, tire__rear__vertical_stiffness=6e5).go(1)
    assert stiffer["wheel_RL.deflection"] < 0.9 * plain["wheel_RL.deflection"]
    assert stiffer["wheel_FL.deflection"] == pytest.approx(plain["wheel_FL.deflection"], rel=0.02)


@pytest.mark.parametrize("radii", [(0.4699, 0.4), (0.4, 0.4699), (0.47, 0.4599), (0.44, 0.52)])
def test_it_starts_at_rest_on_tires_of_two_sizes(by_axle: Factory, radii: tuple[float, float]) -> None:
    """The wheels of the smaller ones begin the search on the ground, too."""
    front, rear = radii
    run = Run(by_axle, tire__front__unloaded_radius=front, tire__rear__unloaded_radius=rear)
    out = run.go(0)
    forces = [out[f"wheel_{w}.tire_force.z"] for w in WHEELS]
    assert min(forces) > 3000.0
    later = run.go(200)
    assert abs(later["ref_frame.pos.z"] - out["ref_frame.pos.z"]) < 1e-6


def test_a_rim_of_one_axle_must_be_within_its_own_tire(by_axle: Factory) -> None:
    with pytest.raises(FmuError, match=r"tire\.rear\.unloaded_radius.*expected a value above tire\.rear\.rim_radius"):
        Run(by_axle, tire__rear__rim_radius=0.6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["car", "pickup", "truck8x8"])
def test_vehicles_on_other_axles_have_them_too_and_roll_straight(name: str) -> None:
    """Left and right tires are each other's mirror image; at rest they carry the weight that TMeasy tires carried."""
    pytest.importorskip("casadi")
    vehicle = load_vehicle(name)
    first, *others = (axle.name for axle in vehicle.axles)
    made = open_builtin(on_tires(name, {first: HMMWV, "": HMMWV}))
    loads = []
    for factory in (made, open_builtin(name)):
        with factory.instance("x") as fmu:
            fmu.setup({})
            y = dict(zip([s.name for s in factory.interface.outputs], fmu.get_outputs(), strict=True))
            loads.append(sum(y[f"wheel_{w}.tire_force.z"] for w in vehicle.wheels))
    assert loads[0] == pytest.approx(loads[1], rel=1e-9)
    with made.instance("x") as fmu:
        fmu.setup({"init.speed": 10.0})
        fmu.step(1000)
        y = dict(zip([s.name for s in made.interface.outputs], fmu.get_outputs(), strict=True))
    assert y["ref_frame.pos.x"] == pytest.approx(10.0, rel=0.02)
    assert abs(y["ref_frame.pos.y"]) < 1e-3
    left, right = (y[f"wheel_{w}.tire_force.y"] for w in vehicle.wheels[:2])
    assert left == pytest.approx(-right, rel=0.01)
    assert {f"tire.{first}.PDX1", f"tire.{others[-1]}.PDX1"} <= {s.name for s in made.table.parameters}


def test_references_of_the_tires_do_not_depend_on_the_file_or_the_axles(car: Factory, by_axle: Factory) -> None:
    """`tire.rear.PDX1` is two strides above `tire.PDX1`; everything else has the number that the HMMWV gave it."""
    one, two = (f.table.ledger.references for f in (car, by_axle))
    assert two["tire.rear.PDX1"] - one["tire.PDX1"] == 2 * 5000 == 2 * (two["tire.front.PDX1"] - one["tire.PDX1"])
    shared = {n for n in one if not n.startswith("tire.")}
    assert {n: one[n] for n in shared} == {n: two[n] for n in shared}
    assert one["chassis.mass"] == open_builtin("hmmwv").table.ledger.references["chassis.mass"]


def test_a_file_of_an_axle_that_there_is_not_is_refused() -> None:
    with pytest.raises(DataError, match="a tire file of the axle 'middle'; expected front, rear"):
        on_tires("hmmwv", {"": HMMWV, "middle": HMMWV})


@pytest.mark.slow  # compiles three vehicles; tests/vehicle/test_mixed_tires.py has their equations
@pytest.mark.parametrize("front", [MF61, None], ids=["MF 6.1", "TMeasy"])
def test_with_another_law_in_front_it_has_the_wheels_of_both_and_stands_still(front: Path | None, car: Factory) -> None:
    """Forces of the first tick are those of a vehicle with that law all round; 1e-9, as lanes of two laws round."""
    files = {REAR: HMMWV} if front is None else {FRONT: front, REAR: HMMWV}
    both = open_builtin(on_tires("hmmwv", files))
    same = open_builtin("hmmwv" if front is None else on_tires("hmmwv", front))
    in_air = {"init__equilibrium": 0.0, "init__z": 0.55, "init__speed": 15.0, "terrain__bank": 0.1}
    outs = [Run(f, **in_air).go(0) for f in (same, car, both)]
    for n in (n for n in outs[0] if "tire_force" in n or "tire_moment" in n):
        assert outs[2][n] == pytest.approx(outs[n.startswith("wheel_R")][n], rel=1e-9, abs=1e-6)
    run = Run(both, init__speed=10.0)
    out = run.go(2000, steering_wheel_angle=1.0)
    assert out["ref_frame.pos.y"] > 1.0
    run.go(6000, brake=3000.0, steering_wheel_angle=0.0)
    before, after = run.go(1, brake=3000.0), run.go(5000, brake=3000.0)
    for axis in "xy":
        assert abs(after[f"ref_frame.pos.{axis}"] - before[f"ref_frame.pos.{axis}"]) < 1e-5


def test_the_option_may_name_the_axle(other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("casadi")
    out = tmp_path / "o.csv"
    arguments = ["simulate", "--duration", "0.01", "--outputs", "wheel_FL.tire_force.z", "-o", str(out)]
    assert main([*arguments, "--tire", f"front={HMMWV}", "--tire", f"rear={other}", "--set", "tire.rear.LMUX=0.9"]) == 0
    assert main([*arguments, "--tire", f"front={HMMWV}", "--tire", f"front={FEDA}"]) == 2
    assert "a second file for front; expected one" in capsys.readouterr().err


def test_a_vehicle_toml_may_name_one_for_each_axle_and_overrides_count_after_it(tmp_path: Path) -> None:
    head = f'base = "hmmwv"\nname = "x"\ntire_file = {{front = "{HMMWV}", rear = "{FEDA}"}}\n[overrides]\n'
    (tmp_path / "vehicle.toml").write_text(f"{head}\"tire.rear.LMUY\" = 0.8\n")
    vehicle = load_vehicle(tmp_path)
    assert (vehicle["tire.front.LMUY"], vehicle["tire.rear.LMUY"]) == (1.0, 0.8)
    assert vehicle.of_tires("rear", "unloaded_radius") == vehicle["tire.rear.unloaded_radius"]
    (tmp_path / "vehicle.toml").write_text('base = "hmmwv"\ntire_file = {front = 3}\n')
    with pytest.raises(DataError, match="expected the name of a tire file"):
        load_vehicle(tmp_path)
    (tmp_path / "vehicle.toml").write_text('base = "hmmwv"\ntire_file = {}\n')
    with pytest.raises(DataError, match=r"tire_file = \{\}: expected the name of a tire file"):
        load_vehicle(tmp_path)
    (tmp_path / "vehicle.toml").write_text('base = "hmmwv"\ntire = "tmeasy"\ntire_file = "x.tir"\n')
    with pytest.raises(DataError, match="expected the file alone"):
        load_vehicle(tmp_path)


def test_a_vehicle_toml_may_name_a_tire_file(tmp_path: Path) -> None:
    (tmp_path / "x.tir").write_text((DATA / "335_65R22_5_G275MSA_60psi.tir").read_text())
    (tmp_path / "vehicle.toml").write_text('base = "hmmwv"\nname = "x"\ntire_file = "x.tir"\n')
    vehicle = load_vehicle(tmp_path)
    assert vehicle.tire == "pac2002_curve"
    assert vehicle["tire.combined_slip"] == 2.0  # FE_METHOD = 'YES'
    (tmp_path / "x.tir").unlink()
    with pytest.raises(DataError, match=r"x\.tir"):
        load_vehicle(tmp_path)
