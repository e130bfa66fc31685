"""``jounce terrain`` and ``--road``: files that are made, shown, driven on and refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jounce.terrain.packed import load
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.models.roads import on_road
from jounce_service.hosting.fmu_model import registry
from jounce_service.server.config import ServerConfig
from jounce_tools.cli.main import main

ROADS = Path(__file__).parents[1] / "data" / "roads"
CURVED = str(ROADS / "curved.crg")


def test_a_random_road_is_made_shown_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rough.jnt"
    assert main(["terrain", "iso", "--class", "B", "--seed", "3", "--length", "50", "-o", str(path)]) == 0
    assert load(path).heights.shape == (1001, 2)
    assert main(["terrain", "show", str(path), "--picture", str(tmp_path / "rough.png")]) == 0
    out = capsys.readouterr().out
    assert "PROFILE, 1001 x 2 heights, 50 m long" in out
    assert "sha256" in out
    assert (tmp_path / "rough.png").stat().st_size > 10_000


def test_an_opencrg_road_is_shown_and_a_description_packed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["terrain", "show", str(ROADS / "closed.crg"), "--picture", str(tmp_path / "road.png")]) == 0
    (tmp_path / "course.toml").write_text(
        f"[ground]\nfile = \"{ROADS / 'straight.crg'}\"\n[[obstacle]]\nkind = \"half_round\"\nx = 5.0\nradius = 0.1\n")
    assert main(["terrain", "pack", str(tmp_path / "course.toml"), "-o", str(tmp_path / "course.jnt")]) == 0
    assert "closed" in capsys.readouterr().out
    assert len(load(tmp_path / "course.jnt").obstacles) == 1


def test_a_picture_is_packed_to_scale_and_shown_as_a_mesh(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "map.npy", np.arange(12.0).reshape(3, 4))
    made = str(tmp_path / "map.jnt")
    how = ["--spacing", "0.5", "--scale", "2", "--smooth", "-o", made]
    assert main(["terrain", "pack", str(tmp_path / "map.npy"), *how]) == 0
    assert load(made).heights.max() == 22.0 and load(made).smooth
    assert main(["terrain", "show", made, "--mesh", str(tmp_path / "map.obj")]) == 0
    lines = (tmp_path / "map.obj").read_text().splitlines()
    points = np.array([[float(n) for n in line.split()[1:]] for line in lines if line.startswith("v ")])
    faces = np.array([[int(n) for n in line.split()[1:]] for line in lines if line.startswith("f ")])
    a, b, c = (points[faces[:, k] - 1] for k in range(3))
    assert np.all(np.cross(b - a, c - b)[:, 2] > 0.0)  # seen from above
    assert points[:, 2].min() == 0.0 and points[:, 2].max() == 22.0
    assert main(["terrain", "pack", str(tmp_path / "map.npy"), "--spacing", "-1", "-o", made]) == 2
    assert "spacing = -1" in capsys.readouterr().err


def test_a_road_that_is_not_packed_carries_the_vehicle(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    road = str(ROADS / "curved.crg")
    where = ["--set", "init.x=110", "--set", "init.y=-40"]
    what = ["--duration", "0.05", "--outputs", "ref_frame.pos.z", "-o", str(out)]
    assert main(["simulate", "--road", road, *what, *where]) == 0
    height = float(out.read_text().splitlines()[-1].split(",")[1])
    assert height == pytest.approx(2.0 + 0.43, abs=0.3)  # 2 m is the road's


def test_a_recording_of_a_run_on_a_road_replays_on_that_road(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, road = str(tmp_path / "run.mcap"), ["--road", str(ROADS / "curved.crg")]
    where = ["--set", "init.x=110", "--set", "init.y=-40"]
    assert main(["simulate", *road, *where, "--duration", "0.05", "-o", run]) == 0
    assert main(["replay", run]) == 2
    assert "expected --vehicle, --tire and --road" in capsys.readouterr().err
    assert main(["replay", run, *road]) == 0
    assert "zero differences in 51 output vectors" in capsys.readouterr().out


def test_a_recording_of_an_example_needs_no_option_to_replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run.mcap")
    assert main(["simulate", "--throttle", "0.4", "--duration", "0.05", "-o", run]) == 0
    assert main(["replay", run]) == 0
    assert "zero differences in 51 output vectors" in capsys.readouterr().out
    assert main(["replay", run, "--vehicle", "pickup"]) == 2
    assert "no model named 'hmmwv_pedals'" in capsys.readouterr().err


def test_pedals_drive_the_vehicle_that_is_put_on_a_road(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    where = ["--road", str(ROADS / "curved.crg"), "--set", "init.x=110", "--set", "init.y=-40"]
    what = ["--duration", "0.3", "--outputs", "ref_frame.pos.z,engine.speed", "--units", "none", "-o", str(out)]
    assert main(["simulate", "--throttle", "0.6", *where, *what]) == 0
    height, engine = map(float, out.read_text().splitlines()[-1].split(",")[1:])
    assert height == pytest.approx(2.0 + 0.43, abs=0.3)
    assert engine > 80.0  # above idle


@pytest.mark.parametrize(("arguments", "text"), [
    (["terrain", "pack", "none.crg", "-o", "x.jnt"], "none.crg"),
    (["terrain", "iso", "--class", "A", "--length", "1e6", "-o", "x.jnt"], "would repeat"),
    (["terrain", "iso", "--class", "A", "-o", "x.txt"], "x.txt"),
    (["terrain", "iso", "--class", "K", "-o", "x.jnt"], "expected"),
    (["terrain", "show", CURVED, "--picture", "x.pdf"], "--picture x.pdf: expected a name that ends in .png"),
    (["terrain", "show", CURVED, "--mesh", "none/x.obj"], "--mesh none/x.obj: expected a file in a folder that exists"),
    (["simulate", "--road", "none.jnt", "--duration", "1", "-o", "x.csv"], "none.jnt"),
    (["simulate", "--road", "none.obj", "--duration", "1", "-o", "x.csv"], "none.obj"),
])  # fmt: skip
def test_what_cannot_be_is_refused_with_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    assert code == 2
    told = capsys.readouterr()
    assert text in told.err and not told.out


def test_a_server_hosts_the_vehicle_on_a_road_under_a_name_and_build_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "rough.jnt"
    assert main(["terrain", "iso", "--class", "B", "--seed", "3", "--length", "50", "-o", str(path)]) == 0
    models = registry(ServerConfig(vehicle=(str(on_road("hmmwv", path)),)))
    hosted = models.get("hmmwv_rough")
    assert "terrain" in hosted.build
    assert hosted.table.by_name("terrain_source").start == 5.0


def test_the_described_course_of_the_page_can_be_driven_from_the_start(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "roads.md").read_text()
    (tmp_path / "course.toml").write_text(page.split("```toml\n")[1].split("```")[0])
    with open_builtin(on_road("hmmwv", tmp_path / "course.toml")).instance("page") as car:
        car.setup({"init.speed": 10.0})
        car.step(100)
        heights = [v for s, v in zip(car.table.outputs, car.get_outputs(), strict=True) if "ground_height" in s.name]
    assert len(heights) == 4 and max(map(abs, heights[:2])) > 1e-5  # the front wheels are on its waves
