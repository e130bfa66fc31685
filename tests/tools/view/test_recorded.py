"""`jounce view`: the page, the pictures and the films of a recording."""

from __future__ import annotations

import base64
import json
import math
import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from browser import Browser, eventually

from jounce.axles import WHEELS
from jounce_tools.cli.main import main
from jounce_tools.manoeuvres.bench import Bench, measure
from jounce_tools.manoeuvres.files import Result, write_mcap
from jounce_tools.manoeuvres.places import Here
from jounce_tools.view import picture
from jounce_tools.view.scene import Scene, read, spun


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of the utv, steered to the left."""
    place = Here("utv")
    bench = Bench(place, {}, measure(place, {}))
    log = bench.drive("turn", lambda state: [2.0 * state.time, *[0.0] * 8], 2.0, parameters={"init.speed": 8.0})
    path = tmp_path_factory.mktemp("view") / "run.mcap"
    write_mcap(log, place, path)
    return path


@pytest.fixture(scope="module")
def scene(recording: Path) -> Scene:
    """What it shows."""
    return read(recording)


def test_the_scene_has_every_output_at_every_recorded_time(scene: Scene, recording: Path, tmp_path: Path) -> None:
    assert main(["export-recording", str(recording), "-o", str(tmp_path / "run.csv")]) == 0
    table = np.genfromtxt(tmp_path / "run.csv", delimiter=",", names=True, deletechars="")
    assert scene.time == pytest.approx(table["time_[s]"], abs=1e-12) and len(scene.time) == 201
    assert scene.at("speed", 1.3) == table["speed_[m/s]"][130]
    assert scene.ground == (0.0, 0.0, 0.0) and scene.wheels == WHEELS


@pytest.mark.parametrize("wheel", ["FL", "RR"])
def test_a_wheel_is_drawn_at_the_angle_of_its_signal(scene: Scene, wheel: str) -> None:
    """The corner of the tire that is on top at angle 0 has turned forward by the angle, about the spin axis."""
    for time in (0.0, 0.51, 1.73):
        angle = scene.at(f"wheel_{wheel}.angle", time)
        axes = scene.rotation(f"wheel_{wheel}", time)
        top = spun(axes, angle) @ (0.0, 0.0, 1.0)
        found = math.atan2(top @ axes[:, 0], top @ axes[:, 2])
        assert math.remainder(found - angle, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_a_picture_has_the_perspective_of_a_pinhole(scene: Scene) -> None:
    camera = picture.looking(scene, 1.0, "side")
    assert camera.axes @ camera.axes.T == pytest.approx(np.eye(3), abs=1e-12)
    ahead = camera.eye + 5.0 * camera.axes[2]
    points, depth = camera.project(np.array([ahead, ahead + 2.0 * camera.axes[0], ahead - 1.0 * camera.axes[1]]))
    assert depth == pytest.approx([5.0, 5.0, 5.0])
    assert points == pytest.approx(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]) * camera.lens / 5.0, abs=1e-12)
    # the vehicle is looked at, and up in the world is up in the picture
    at = scene.vector("ref_frame.pos", 1.0)
    low, high = camera.project(np.array([at, at + (0.0, 0.0, 0.5)]))[0]
    assert abs(low[0]) < 0.05 and high[1] > low[1] + 0.05


def test_the_body_follows_the_pose_of_the_recording(scene: Scene) -> None:
    at, turned = scene.vector("ref_frame.pos", 1.5), scene.rotation("ref_frame", 1.5)
    eye = at + turned @ (0.0, 50.0, 0.0)  # it sees the left side, which the body's faces begin with
    faces = picture._faces(scene, 1.5, eye)
    assert faces[0][0] == pytest.approx(scene.parts[0].faces[0] @ turned.T + at)
    assert math.atan2(turned[1, 0], turned[0, 0]) == pytest.approx(scene.at("ref_frame.yaw", 1.5), abs=1e-12)


def test_a_picture_is_written_at_the_time_that_was_asked_for(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = {}
    for at in ("0.5", "0.505", "1.5"):
        assert main(["view", str(recording), "--png", str(tmp_path / "p.png"), "--at", at, "--camera", "front"]) == 0
        shown[at] = matplotlib.image.imread(tmp_path / "p.png")
    assert "t = 1.5 s" in capsys.readouterr().out
    assert shown["0.5"].shape[:2] == (720, 1280)
    assert np.array_equal(shown["0.5"], shown["0.505"]) and not np.array_equal(shown["0.5"], shown["1.5"])
    assert len(np.unique(shown["0.5"].reshape(-1, shown["0.5"].shape[2]), axis=0)) > 20  # not blank
    assert [p.name for p in tmp_path.iterdir()] == ["p.png"]


@pytest.fixture(scope="module")
def page(recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the recording."""
    path = tmp_path_factory.mktemp("page") / "run.html"
    assert main(["view", str(recording), "-o", str(path)]) == 0
    return path


def test_the_page_has_the_recording_and_asks_nothing_of_anybody(page: Path, scene: Scene) -> None:
    text = page.read_text()
    (run,) = json.loads(re.search(r"globalThis.runs = (.*?);\n", text)[1])  # type: ignore[index]
    values = np.frombuffer(base64.b64decode(run["values"]), "<f4").reshape(len(scene.time), -1)
    assert np.array_equal(values, scene.values.astype("<f4")) and run["names"] == list(scene.names)
    assert "default-src 'none'" in text and not re.search(r"https?:|<link|src=|fetch\(|import\(", text)


def test_a_browser_shows_the_pose_of_a_time_without_an_error(page: Path, scene: Scene, browser: Browser) -> None:
    shown = browser.open(f"{page.as_uri()}#t=1.3&camera=top")
    eventually(lambda: shown.ask("view.drawn.time") == 1.3)
    rows = shown.rows()
    assert rows["camera"] == "top" and float(rows["time"]) == pytest.approx(1.3, abs=1e-5)
    for name in ("speed", "ref_frame.pos.x", "ref_frame.pos.y", "ref_frame.yaw", "wheel_FL.angle", "wheel_RR.angle"):
        assert float(rows[name]) == pytest.approx(scene.at(name, 1.3), rel=1e-5, abs=1e-6)
    shown.ask("view.go(0.515)")  # between two frames: the one before
    eventually(lambda: shown.ask("view.drawn.time") == pytest.approx(0.51))
    assert float(shown.rows()["ref_frame.pos.x"]) == pytest.approx(scene.at("ref_frame.pos.x", 0.51), rel=1e-5)
    assert shown.console == [] and shown.requests == [f"{page.as_uri()}"]


def test_a_person_plays_pauses_and_chooses_signals(page: Path, scene: Scene, browser: Browser) -> None:
    shown = browser.open(f"{page.as_uri()}#t=0")
    eventually(lambda: shown.ask("view.drawn.time") == 0)

    def press(key: str) -> None:
        shown.ask(f"document.dispatchEvent(new KeyboardEvent('keydown', {{key: {key!r}}}))")

    press(" ")
    eventually(lambda: shown.ask("view.drawn.time") > 0.1)
    press(" ")
    stopped = shown.ask("view.now")
    press("ArrowRight")
    assert shown.ask("view.now") == pytest.approx(stopped + 0.01, abs=1e-9)
    cameras = [shown.ask("view.cameras[view.camera]") for _ in range(7) if press("c") is None]
    assert set(cameras) == {"chase", "side", "front", "top", "wheel", "free"} and cameras[0] == cameras[6]
    press("b")
    assert shown.ask("document.getElementById('body').checked") is False
    press("?")
    assert shown.ask("document.getElementById('help').open") is True
    shown.ask("""(() => { const s = document.getElementById("search"); s.value = "wheel_RL.slip";
                  s.dispatchEvent(new Event("change")); })()""")
    assert shown.ask("view.chosen.at(-1)") == "wheel_RL.slip"
    eventually(lambda: "wheel_RL.slip" in shown.rows())
    assert shown.console == []


def test_two_recordings_are_compared_on_one_page(recording: Path, tmp_path: Path, browser: Browser) -> None:
    """The second is the first, so that its shapes are drawn where the first's are."""
    path = tmp_path / "both.html"
    assert main(["view", str(recording), "--compare", str(recording), "-o", str(path)]) == 0
    shown = browser.open(f"{path.as_uri()}#t=1")
    eventually(lambda: shown.ask("view.drawn.time") == 1)
    assert shown.ask("view.other.series.count") == 201
    assert shown.ask("document.getElementById('compared').hidden") is False
    both = shown.ask("""[view.drawing.figure, view.drawing.ghost].map((f) =>
        [...f.show(view.series, 100, [0, 0, 0], {body: 1, wheels: 1}).wheels.RL])""")
    assert both[0] == both[1] and shown.console == []


def test_a_film_needs_ffmpeg_and_says_so(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["view", str(recording), "--mp4", str(tmp_path / "film.mp4")]) == 2
    assert "a film needs the program ffmpeg" in capsys.readouterr().err and not list(tmp_path.iterdir())


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg")
def test_a_film_lasts_as_long_as_the_run(scene: Scene, tmp_path: Path) -> None:
    shares: list[float] = []
    picture.write_mp4(scene, "chase", tmp_path / "film.mp4", rate=5, told=shares.append)
    probe = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(tmp_path / "film.mp4")]
    length = subprocess.run(probe, capture_output=True, text=True, check=True).stdout
    assert float(length) == pytest.approx(2.2, abs=0.21)
    assert len(shares) == 11 and [p.name for p in tmp_path.iterdir()] == ["film.mp4"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{run} --png {out}/x.png --road {text}", "text.mcap: expected a file that ends in .jnt"),
        ("{run}", "expected at least one of -o PAGE.html, --png FILE and --mp4 FILE"),
        ("{run} --png x.jpg", "-o x.jpg: expected a name that ends in .png"),
        ("{run} --png {out}/x.png --at 3", "--at 3 s: expected a time from 0 to 2 s"),
        ("{run} --png {out}/x.png --at nan", "--at nan s: expected a time from 0 to 2 s"),
        ("{out}/no.mcap --png {out}/x.png", "no.mcap: No such file or directory"),
        ("{text} --png {out}/x.png", "text.mcap is damaged"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    line: str, said: str, recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.mcap"
    text.write_text("no recording")
    assert main(["view", *line.format(run=recording, out=tmp_path, text=text).split()]) == 2
    assert said in capsys.readouterr().err and [p.name for p in tmp_path.iterdir()] == ["text.mcap"]


def test_a_lane_change_shows_its_cones_and_the_wanted_path(recording: Path, tmp_path: Path) -> None:
    cones = [[10.0, 1.5], [10.0, -1.5], [20.0, 1.5]]
    plot = {"title": "Course and paths", "x": "x [m]", "y": "y [m]", "lines": [["wanted", [0.0, 5.0], [0.0, 1.0]]],
            "points": cones}  # fmt: skip
    found = {f.name: "" for f in fields(Result)} | {"plots": [plot]}
    (tmp_path / "metrics.json").write_text(json.dumps(found))
    shutil.copy(recording, tmp_path / "run.mcap")
    shutil.copy(recording, tmp_path / "other.mcap")
    shown = read(tmp_path / "run.mcap")
    drawn = [np.concatenate(p.faces) for p in shown.parts if p.body == "ground"]
    assert np.array([c.mean(axis=0)[:2] for c in drawn]) == pytest.approx(np.array(cones))
    assert [c[:, 2].max() for c in drawn] == pytest.approx([0.5] * 3)
    assert shown.wanted == pytest.approx(np.array([[0.0, 0.0, 0.0], [5.0, 1.0, 0.0]]))
    assert len(read(tmp_path / "other.mcap").parts) == 1  # a recording that is not of that run


def test_a_part_hides_its_far_faces_and_large_faces_are_drawn_in_pieces(scene: Scene) -> None:
    at = scene.vector("ref_frame.pos", 1.0)
    floor = scene.parts[0].colours[2]
    for height in (50.0, -50.0):
        assert (floor in {c for _, c, _ in picture._faces(scene, 1.0, at + (0.0, 0.0, height))}) == (height < 0)
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0.4, 0], [0, 0.4, 0]])
    pieces = [p for p, edge in picture._split(square, "#ffffff") if edge == "#ffffff"]
    assert len(pieces) == 2 and sum(np.ptp(p[:, 0]) * np.ptp(p[:, 1]) for p in pieces) == pytest.approx(0.4)
