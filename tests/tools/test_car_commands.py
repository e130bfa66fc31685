"""`jounce linearize` and `jounce sweep` of the car, which is on struts and five links."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jounce.axles import WHEELS
from jounce.data import load_vehicle
from jounce_tools.cli.main import main


def test_the_linear_model_of_the_car_is_that_of_its_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At 15 m/s: rates are states, the yaw rate follows the steering as a bicycle's does, within its compliance."""
    path = tmp_path / "car.npz"
    assert main(["linearize", "--vehicle", "car", "-o", str(path), "--speed", "15", "--time", "2",
                 "--input", "steering_wheel_angle=0.05"]) == 0  # fmt: skip
    assert "modes" in capsys.readouterr().out
    with np.load(path) as file:
        states, outputs, inputs = (list(file[n]) for n in ("states", "outputs", "inputs"))
        for wheel in WHEELS:
            theta, rate = (states.index(f"state.wheel_{wheel}.arm_{n}") for n in ("angle", "rate"))
            assert file["A"][theta, rate] == 1.0
        yaw, u = float(file["y"][outputs.index("ref_frame.ang_vel.z")]), file["u"][inputs.index("steering_wheel_angle")]
        steer = 0.5 * sum(file["y"][outputs.index(f"wheel_{w}.steer")] for w in WHEELS[:2])
    car = load_vehicle("car")
    base = car["front.origin.x"] - car["rear.origin.x"]
    assert u == 0.05 and yaw > 0.0
    geometric = 15.0 * steer / base  # of wheels that do not slip
    assert 0.5 * geometric < yaw < 1.0 * geometric  # it understeers


@pytest.mark.slow
def test_the_car_is_swept_from_the_command_line(tmp_path: Path) -> None:
    """Braking distance goes with one over friction where the wheels lock."""
    pytest.importorskip("ray", reason="the extra sweep is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra sweep is not installed")
    (tmp_path / "s.toml").write_text(
        'vehicle = "car"\nduration = 1.0\noutput_interval = 0.5\noutputs = ["speed"]\ninputs = "brake.csv"\n'
        '[set]\n"init.speed" = 20.0\n[grid]\n"terrain.mu" = [0.2, 0.4]\n')
    wheels = load_vehicle("car").wheels
    head = ",".join(["time", *(f"wheel_{w}.brake_torque" for w in wheels)])
    (tmp_path / "brake.csv").write_text(f"{head}\n0,{','.join(['3000'] * 4)}\n1,{','.join(['3000'] * 4)}\n")
    assert main(["sweep", str(tmp_path / "s.toml"), "-o", str(tmp_path / "out")]) == 0
    cases = parquet.read_table(tmp_path / "out/cases.parquet")
    assert cases["status"].to_pylist() == ["done", "done"]
    speeds = [parquet.read_table(file)["speed"].to_pylist()[-1]
              for file in sorted((tmp_path / "out").rglob("*.parquet")) if file.name != "cases.parquet"]  # fmt: skip
    lost = [20.0 - v for v in speeds]
    assert len(lost) == 2 and lost[1] == pytest.approx(2.0 * lost[0], rel=0.15)
