"""A vehicle on tires of a file (.tir): it stands, drives straight, turns, stops and holds."""

from __future__ import annotations

import math
from pathlib import Path

import fmpy
import numpy as np
import pytest

from jounce.axles import WHEELS
from jounce.data import DataError, load_vehicle
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import Factory, open_builtin
from jounce_fmu.models.tires import on_tires
from jounce_tools.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "tires"
HMMWV = DATA / "HMMWV_Pac02Tire.tir"


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


def test_a_vehicle_toml_may_name_a_tire_file(tmp_path: Path) -> None:
    (tmp_path / "x.tir").write_text((DATA / "335_65R22_5_G275MSA_60psi.tir").read_text())
    (tmp_path / "vehicle.toml").write_text('base = "hmmwv"\nname = "x"\ntire_file = "x.tir"\n')
    vehicle = load_vehicle(tmp_path)
    assert vehicle.tire == "pac2002"
    assert vehicle["tire.combined_slip"] == 2.0  # FE_METHOD = 'YES'
    (tmp_path / "x.tir").unlink()
    with pytest.raises(DataError, match=r"x\.tir"):
        load_vehicle(tmp_path)
