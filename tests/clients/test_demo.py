"""The demonstration: processes, table, picture, and what is said when a child dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from jounce_tools.cli import demo as demo_command
from jounce_tools.cli import main
from jounce_tools.demo import rough
from jounce_tools.demo import run as demo
from jounce_tools.demo.run import Child, DemoError, load
from jounce_tools.view.scene import read


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server child hosts the stand-in model."""
    here = str(Path(__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([here, *sys.path]))

    def init(self: Child, name: str, command: list[str], folder: Path) -> None:
        if name == "server":
            command = ["stand_in_serve", *command[1:]]
        original(self, name, command, folder)

    original = Child.__init__
    monkeypatch.setattr(Child, "__init__", init)


def test_the_demo_runs_three_processes_and_writes_its_files(
    stand_in: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["demo", f"--out={out}", "--only=lanes", "--duration=1.0", "--speed=10"]) == 0, capsys.readouterr().err
    told = capsys.readouterr().out
    assert "real-time factor [-]" in told and "soil" in told and "asphalt_iso" in told and "cones hit [-]" in told
    assert all((out / name).read_bytes().startswith(b"\x89PNG") for name in ("demo.png", "vehicle.png"))
    for ground in ("soil", "asphalt", "asphalt_iso"):
        scene, log = read(out / f"{ground}.mcap"), load(out / f"{ground}_autopilot.csv")
        assert scene.values[-1, scene.names.index("speed")] == log["speed"][-1]
    pilot, soil = load(out / "soil_autopilot.csv"), load(out / "soil_terramechanics.csv")
    assert len(pilot["time"]) == 51 and len(soil["time"]) == 100
    assert pilot["time"][-1] == pytest.approx(1.0)
    assert soil["sinkage_FL"] == pytest.approx(0.03)
    # The wrench that the soil program sends is the one that the model gets, one tick later.
    assert pilot["wheel_FL.tire_force.z"][-1] == pytest.approx(soil["load_FL"][-1], rel=0.05)
    assert not (out / "asphalt_terramechanics.csv").exists()


def test_the_second_act_drives_by_pedals_over_the_rough_road_and_parks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["demo", f"--out={out}", "--only=rough"]) == 0, capsys.readouterr().err
    assert "gear changes [-]" in capsys.readouterr().out
    assert all((out / name).read_bytes().startswith(b"\x89PNG") for name in ("rough.png", "rough_vehicle.png"))
    log, scene = load(out / "rough_driver.csv"), read(out / "rough.mcap")
    assert scene.values[-1, scene.names.index("speed")] == log["speed"][-1]
    x, rises = log["wheel_FL.pos.x"], log["wheel_FL.pos.z"] - log["wheel_FL.pos.z"][0]
    assert np.interp(142.0, x, rises) == pytest.approx(2.4, abs=0.1)  # on top of the ramp
    assert abs(np.interp(170.0, x, rises)) < 0.1
    assert abs(log["ref_frame.pos.y"]).max() < 0.5
    assert log["speed"].max() == pytest.approx(12.0, rel=0.1)
    assert set(log["gearbox.gear"]) >= {0.0, 1.0, 2.0, 3.0}
    assert log["gear_selector"][-1] == -2.0 and abs(log["speed"][-1]) < 0.02  # it rocks a little, a second after
    assert x[-1] == pytest.approx(285.0, abs=2.0)


def test_without_a_compiler_the_demo_says_what_it_leaves_out(
    stand_in: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_command, "obstacle", lambda: "it needs a C compiler")
    assert main(["demo", f"--out={tmp_path}", "--only=rough"]) == 0
    said = capsys.readouterr()
    assert "no drive by pedals: it needs a C compiler" in said.err and "nothing was run" in said.out


def test_a_dying_child_is_reported_with_its_own_words(tmp_path: Path) -> None:
    child = Child("autopilot", ["jounce_client.examples.autopilot", "--address=unix:/nowhere"], tmp_path)
    child.process.wait()
    with pytest.raises(DemoError, match=r"(?s)autopilot ended with code 2.*--session"):
        child.running()


def test_a_server_that_does_not_start_is_reported_with_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original = Child.__init__
    monkeypatch.setattr(Child, "__init__", lambda self, name, command, folder: original(
        self, name, ["jounce_tools.cli", "serve", "--socket-path=" + "x" * 200, "--address="], folder))
    assert main(["demo", f"--out={tmp_path}"]) == 1
    assert "socket path has 200 bytes" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--duration=0", "--duration=nan", "--speed=-1", "--speed=99"])
def test_settings_out_of_range_are_refused_with_what_is_expected(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", f"--out={tmp_path / 'none'}", flag]) == 2
    assert "expected" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_server_is_told_of_examples_by_name_and_of_own_vehicles_by_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    assert [demo.hosting(name) for name in ("utv", "hmmwv_pedals", "own")] == [
        (), ("--vehicle=hmmwv_pedals",), (f"--vehicle={tmp_path / 'own'}",)]


def test_the_second_act_is_driven_with_the_pedals_of_the_vehicle_or_with_those_of_the_hmmwv() -> None:
    assert rough.drives("hmmwv") and rough.vehicle("hmmwv") == "hmmwv_pedals"
    assert rough.drives("hmmwv_chrono") and rough.vehicle("hmmwv_chrono") == "hmmwv_chrono_pedals"
    for name in ("utv", "truck8x8", "truck8x8_pedals", "hmmwv_electric"):
        assert not rough.drives(name) and rough.vehicle(name) == "hmmwv_pedals"


def test_the_table_has_a_dash_where_there_is_no_number() -> None:
    result = demo.Result("asphalt", "", {}, {}, {"ticks [-]": 20000.0, "mean sinkage [m]": float("nan")})
    lines = demo.report([result]).splitlines()
    assert lines[1].split()[-1] == "20000" and lines[2].endswith("-")
