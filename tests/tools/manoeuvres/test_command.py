"""`jounce test`: what it writes, prints and refuses."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from jounce_tools.cli.main import main
from jounce_tools.demo.run import serving
from jounce_tools.manoeuvres.manoeuvre import manoeuvres

QUICK = "--setting rate=3 --setting time=2"


def run(command: str) -> int:
    """``jounce test`` in this process."""
    return main(["test", *shlex.split(command)])


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a step steer."""
    folder = tmp_path_factory.mktemp("step") / "step"
    assert run(f"step-steer --vehicle utv {QUICK} -o {folder}") == 0
    return folder


def test_a_manoeuvre_leaves_a_report_metrics_a_table_and_a_recording(
    step: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sorted(p.name for p in step.iterdir()) == ["metrics.json", "report.html", "run.csv", "run.mcap"]
    found = json.loads((step / "metrics.json").read_text())
    assert found["vehicle"] == "utv" and found["settings"]["rate"] == 3.0
    assert found["metrics"]["linear_error"]["passed"] is True
    assert set(found["metrics"]) == set(manoeuvres()["step-steer"].metrics)
    with (step / "run.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0][:2] == ["time [s]", "steering_wheel_angle [rad]"] and len(rows) == 302
    assert main(["replay", str(step / "run.mcap")]) == 0
    assert "zero differences in 301 output vectors" in capsys.readouterr().out


class Tags(HTMLParser):
    """Tags that were opened and closed, and what they point to."""

    def __init__(self, text: str) -> None:
        """Reads the page."""
        super().__init__()
        self.open: list[str] = []
        self.points: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes it."""
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)
        self.points += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes what it points to."""
        self.points += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag: str) -> None:
        """Must close the last."""
        assert self.open.pop() == tag


def test_the_report_needs_nothing_from_outside_and_says_how_to_repeat_it(step: Path) -> None:
    text = (step / "report.html").read_text()
    tags = Tags(text)
    assert not tags.open and all(p.startswith("#") for p in tags.points)
    assert not re.search(r"<script|@import|url\((?!#)", text)
    assert f"jounce test step-steer --vehicle utv {QUICK}" in text
    assert text.count("<svg") >= 11 and "yaw_response_time" in text and "ISO 7401" in text
    assert "Not checked" in text and "the limit is met" in text


def test_a_broken_limit_gives_exit_code_one_and_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"brake-straight --set terrain.mu=0.4 --setting speed=20 --limit 'distance<=7' -o {tmp_path / 'wet'}"
    assert run(line) == 1
    assert re.search(r"distance +[\d.]+ +m +<= 7 +FAIL", capsys.readouterr().out)
    assert "limits broken: distance" in (tmp_path / "wet" / "report.html").read_text()


@pytest.mark.slow
def test_two_vehicles_and_an_earlier_run_are_compared_on_one_page(step: Path, tmp_path: Path) -> None:
    assert run(f"step-steer {QUICK} --compare utv -o {tmp_path / 'both'}") == 0
    page = (tmp_path / "both" / "report.html").read_text()
    assert "Step steer: hmmwv and utv" in page and "hmmwv: step" in page and "last against first" in page
    assert (tmp_path / "both" / "compared" / "metrics.json").is_file()
    assert run(f"step-steer --vehicle utv {QUICK} --set chassis.mass=620 --compare {step} -o {tmp_path / 'new'}") == 0
    page = (tmp_path / "new" / "report.html").read_text()
    assert page.count("chassis.mass = 620.0") == 1 and "Yaw rate" in page


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server."""
    with serving(tmp_path_factory.mktemp("server")) as (_, where):
        yield where


@pytest.mark.slow
def test_a_server_gives_the_metrics_of_this_process(step: Path, address: str, tmp_path: Path) -> None:
    assert run(f"step-steer --vehicle utv {QUICK} --address {address} -o {tmp_path / 'there'}") == 0
    own, there = (json.loads((f / "metrics.json").read_text()) for f in (step, tmp_path / "there"))
    assert there["metrics"] == {k: v for k, v in own["metrics"].items() if k != "linear_error"}
    assert own["data"] == there["data"]
    assert (step / "run.csv").read_bytes() == (tmp_path / "there" / "run.csv").read_bytes()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nothing", "'nothing': no such manoeuvre; expected acceleration, brake-in-turn"),
        ("step-steer --setting speeed=3", "--setting speeed: step-steer has no such setting; expected speed, lateral"),
        ("step-steer --setting speed=fast", "--setting speed=fast: expected a number"),
        ("park --setting grade=1_0", "--setting grade=1_0: expected a number"),
        ("park --limit 'creep_left<=1_0'", "--limit 'creep_left<=1_0': expected NAME<=VALUE"),
        ("step-steer --setting speed=nan", "--setting speed=nan: expected a number"),
        ("double-lane-change --setting track=1.5", "--setting track=1.5 1: expected a whole number from 1 to 3"),
        ("step-steer --limit 'yaw<=3'", "--limit 'yaw<=3': expected NAME<=VALUE or NAME>=VALUE with a metric"),
        ("step-steer --limit tb_factor=3", "--limit 'tb_factor=3': expected NAME<=VALUE"),
        ("step-steer --set nothing=1", "no parameter named 'nothing'"),
        ("step-steer --set chassis.mass=-1", "chassis.mass"),
        ("step-steer --vehicle halfcar", "halfcar: no output ref_frame.pos.x; expected a vehicle with"),
        ("step-steer --compare nothing_there", "nothing_there"),
        ("step-steer -o /nothing/there", "-o /nothing/there: expected a folder in one that exists"),
        ("step-steer --address unix:/nothing", "--address unix:/nothing"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_before_anything_is_written(
    line: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = "" if " -o " in line else f" -o {tmp_path / 'out'}"
    assert run(line + output) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_the_folder_of_another_manoeuvre_is_no_comparison(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"park --compare {step}") == 2
    assert "has step-steer; expected park" in capsys.readouterr().err


def test_the_list_has_every_manoeuvre_with_its_settings_and_limits(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    out = capsys.readouterr().out
    for name, m in manoeuvres().items():
        assert f"{name}: {m.title} ({m.source})" in out
        assert all(f"--setting {s}=" in out for s in m.settings)
    assert "--limit 'ratio_100<=35'" in out and "--limit 'understeer_error>=-2'" in out


def test_ctrl_c_keeps_the_runs_that_were_finished(tmp_path: Path) -> None:
    """The ride has many runs; it is told to stop while it is at them."""
    command = [sys.executable, "-m", "jounce_tools.cli", "test", "park", "ride", "-o", "out"]
    process = subprocess.Popen(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    deadline = time.monotonic() + 120.0
    while not (tmp_path / "out" / "park" / "report.html").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted; what was finished is kept" in err
    assert (tmp_path / "out" / "park" / "metrics.json").is_file()
    assert not (tmp_path / "out" / "ride" / "report.html").exists()


def test_measured_lines_are_laid_over_bands_around_the_run(step: Path, tmp_path: Path,
                                                           capsys: pytest.CaptureFixture[str]) -> None:
    with (step / "run.csv").open() as file:
        rows = list(csv.reader(file))
    at = rows[0].index("ref_frame.ang_vel.z [rad/s]")
    times = [float(r[0]) for r in rows[1:]]
    rates = [float(r[at]) for r in rows[1:]]
    largest = max(map(abs, rates))
    # A quarter of the samples is 6 % of the largest rate away, the others 3 %; one sample lies after the run.
    measured = [r + (0.06 if k % 4 == 0 else 0.03) * largest for k, r in enumerate(rates)]
    lines = [f"{t!r},{v!r}" for t, v in zip([*times, times[-1] + 1.0], [*measured, 99.0], strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["time,ref_frame.ang_vel.z [rad/s]", *lines]))
    command = f"step-steer --vehicle utv {QUICK} --measured {tmp_path / 'data.csv'} --band 0.05 -o {tmp_path / 'v'}"
    assert run(command) == 0
    outside = len(rates[::4])
    share = 100.0 * (1.0 - outside / len(rates))
    said = capsys.readouterr().out
    assert f"ref_frame.ang_vel.z: {share:.1f} % of the measured samples within {0.05 * largest:.4g} rad/s" in said
    assert f"largest difference {0.06 * largest:.4g}" in said
    page = (tmp_path / "v/report.html").read_text()
    assert "Measured and simulated" in page and f"{share:.1f} %" in page


@pytest.mark.parametrize(("text", "words"), [
    ("time,ref_frame.ang_vel.zz\n0,1\n", "data.csv line 1 column 2: no signal 'ref_frame.ang_vel.zz'; expected"),
    ("time,speed [km/h]\n0,1\n", "speed is in km/h; expected m/s"), ("time\n0\n", "no column but time; expected"),
    ("time,speed\n0,nan\n", "line 2 column speed: 'nan': expected a finite number"),
    ("time,speed\n100,1\n", "no sample from 0 to "),
    (None, "data.csv: No such file"),
])  # fmt: skip
def test_measured_data_that_cannot_be_laid_over_the_run_are_refused(
    text: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data.csv"
    if text is not None:
        data.write_text(text)
    assert run(f"brake-straight --vehicle utv --setting speed=2 --measured {data} -o {tmp_path / 'v'}") == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "v/report.html").exists()
