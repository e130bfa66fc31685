"""``jounce build``: its report, its files, and what it refuses."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from jounce.architecture.entries import OTHERS
from jounce.architecture.load import architecture_file
from jounce.architecture.target import ROWS
from jounce.architecture.templates import TEMPLATES
from jounce_fmu.models import ce, find, impulse
from jounce_tools.architecture.report import weight_class
from jounce_tools.cli.main import main


def test_class3_is_reported_with_bodies_rest_engine_and_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "class3"]) == 0
    text = capsys.readouterr().out
    for line in (
        "class3: 22 components, 12 bodies, 52 rows, 20 motions, 3880.0 kg",
        "engine: ce, its joints leave coordinates of their own to every suspension, cab and mount",
        "1870.000; -2.6246 0.0241 1.0139; 416.96 4494.84 4730.14, 250.16 -10.11",
        "RL (rear.wheel_L): 10619, ",
        "longest step of all springs together, dampers centred: 27.96 ms",
    ):
        assert line in text
    assert "warning" not in text


def test_a_built_folder_builds_again_to_the_same_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "truck"
    assert main(["build", "class7", "-o", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {p.name for p in out.iterdir()} == {"architecture.toml", "report.txt", "report.json"}
    assert (out / "architecture.toml").read_text() == architecture_file("class7").read_text()
    assert json.loads((out / "report.json").read_text()) == report
    assert (report["components"], len(report["bodies"]), report["rows"], report["motions"]) == (13, 12, 49, 23)
    assert [w["driven"] for w in report["wheels"]] == [False, False, True, True, True, True]
    assert [round(w["load"]) for w in report["wheels"]] == [25784, 25704, 15183, 14431, 11590, 10838]
    assert any("Chrono" in source for source in report["sources"].values())
    assert report["powertrain"]["power"] == pytest.approx(979 * 251)  # at 251 rad/s, by its torque there
    assert report["powertrain"]["speed"] == pytest.approx(94 / 3.6, rel=0.01)  # as published
    assert main(["build", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) | {"sources": 0} == report | {"sources": 0}  # named by file


def test_minimal_coordinates_are_taken_where_nothing_prevents_it_and_no_other_engine_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "truck"
    assert main(["build", "class3", "--engine", "impulse", "-o", str(out)]) == 0
    assert "engine: impulse, asked for" in capsys.readouterr().out
    assert (out / "architecture.toml").read_text().startswith('engine = "impulse"\n')
    assert main(["build", str(out)]) == 0
    assert "engine: impulse, class3 asks for it" in capsys.readouterr().out
    taken = {name: ce.has_own_model(name) for name in ("class3", f"{out}-ce", str(out), "class3-impulse")}
    assert [*taken.values()] == [True, True, False, False]


@pytest.mark.parametrize(("connection", "reason"), [
    ('kind = "limit"\nname = "cab_stop"\na = "cab"\nb = "frame"\nmeasure = "along"\naxis = [0, 0, 1]\n'
     'point = [-1, 0, 1]\nlower = -0.05\nupper = 0.05\n', "limit cab_stop is a stop"),
    ('kind = "slider"\nname = "guide2"\na = "cab"\nb = "frame"\naxis = [0, 0, 1]\n',
     "cab_guide holds what other joints hold already"),
    ('kind = "rod"\nname = "anchor"\na = "cab"\nb = "ground"\npoint_a = [0, 0, 1]\npoint_b = [0, 5, 1]\n',
     "anchor (rod) holds a body on the ground"),
])  # fmt: skip
def test_what_minimal_coordinates_cannot_take_is_named(
    connection: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "truck.toml"
    path.write_text(architecture_file("class3").read_text()
                    + f"[[connection]]\n{connection}")  # fmt: skip
    assert main(["build", str(path)]) == 0
    assert f"engine: impulse, {reason}" in capsys.readouterr().out
    assert main(["build", str(path), "--engine", "ce"]) == 2
    assert f"class3: engine ce: {reason}; expected engine impulse" in capsys.readouterr().err


def test_nothing_is_written_where_the_folder_or_the_truck_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "file").write_text("mine")
    assert main(["build", "class3", "-o", str(full)]) == 2
    assert main(["build", "class3", "-o", str(tmp_path / "no" / "where")]) == 2
    assert main(["build", "class9", "-o", str(tmp_path / "new")]) == 2
    assert "architecture 'class9': expected a file that exists, a folder with architecture.toml, or one of class3" in (
        capsys.readouterr().err
    )
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["file", "full"]


def test_four_guides_of_one_cab_are_built_and_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A slider at each of four mounts: 15 rows hold what one holds already."""
    path = tmp_path / "truck.toml"
    guide = '[[connection]]\nname = "guide{}"\na = "cab"\nb = "frame"\nkind = "slider"\naxis = [0, 0, 1]\n'
    path.write_text(architecture_file("class3").read_text() + "".join(guide.format(k) for k in (2, 3, 4)))
    assert main(["build", str(path)]) == 0
    text = capsys.readouterr().out
    assert "67 rows, 20 motions" in text
    assert "warning: 15 rows hold what others hold already: cab_guide, guide2, guide3, guide4" in text


def test_the_papers_range_of_class_3_is_class_2_and_its_range_of_class_7_is_right() -> None:
    """Lesiv 2011 gives 3,850-4,540 kg as Class 3; FHWA's Class 3 is 10,001-14,000 lb. Class 7: 26,001-33,000 lb."""
    pound = 0.45359237
    assert [weight_class(m) for m in (3850, 4535)] == [2, 2]
    assert [weight_class(m * pound) for m in (10001, 14000, 14001)] == [3, 3, 4]
    assert [weight_class(m) for m in (11800, 14965)] == [7, 7]
    assert [weight_class(m * pound) for m in (6000, 6001, 26001, 33000, 33001)] == [1, 2, 7, 7, 8]


def test_the_tutorials_sketch_builds_and_its_cab_comes_off_the_frame(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/tutorial/truck.md, followed word by word."""
    page = (Path(__file__).parents[2] / "docs" / "tutorial" / "truck.md").read_text()
    first, springs = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    sketch = tmp_path / "sketch.toml"
    sketch.write_text(first)
    assert main(["build", str(sketch), "--json"]) == 0
    fixed = json.loads(capsys.readouterr().out)
    assert f"{fixed['components']} components become {len(fixed['bodies'])} bodies" in " ".join(page.split())
    assert sum(w["load"] for w in fixed["wheels"]) == pytest.approx(9.81 * fixed["mass"])
    rigid = '[[connection]]\na = "frame"\nb = "cab"\nkind = "rigid"\n'
    assert rigid in first
    sketch.write_text(first.replace(rigid, springs))
    assert main(["build", str(sketch), "--json"]) == 0
    loose = json.loads(capsys.readouterr().out)
    assert len(loose["bodies"]) == len(fixed["bodies"]) + 1 and loose["motions"] == fixed["motions"] + 1
    assert sum(s["preload"] for s in loose["springs"] if s["name"].startswith("cab")) == pytest.approx(900 * 9.81)
    assert main(["spectrum", str(sketch), "-o", str(tmp_path / "frequencies"), "--duration", "5"]) == 0
    assert "Hz, damping ratio" in capsys.readouterr().out
    truck, run = str(tmp_path / "sketch"), str(tmp_path / "bump.csv")
    assert main(["build", str(sketch), "-o", truck]) == 0
    bump = ["--set", "init.speed=8", "--set", "road=BUMP", "--duration", "3", "-o", run]
    assert main(["simulate", "--vehicle", truck, *bump]) == 0
    with Path(run).open() as file:
        heights = [float(row["body_cab.pos.z [m]"]) for row in csv.DictReader(file)]
    assert max(heights) - heights[0] > 0.02 and abs(heights[-1] - heights[0]) < 0.02  # over the bump, and down again


def test_every_template_and_key_of_the_page_is_there() -> None:
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text()
    assert [t for t in TEMPLATES if f"| `{t}` |" not in page] == []
    assert [k for k in (*ROWS, *OTHERS) if f"`{k}`" not in page] == []


def test_bare_file_is_a_vehicle_for_every_command_that_takes_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sketch = tmp_path / "sketch.toml"
    sketch.write_text(architecture_file("frame4").read_text().replace('name = "frame4"', 'name = "sketch"'))
    assert main(["describe", "--vehicle", str(sketch)]) == 0
    assert "spring_spring_FL.force" in capsys.readouterr().out
    assert str(find(sketch).read(sketch).name) == "sketch"
    for command, said in (
        (["simulate", "--vehicle", str(sketch), "--road", "x.crg"], "is an architecture; expected --set road=BUMP"),
        (["simulate", "--vehicle", "class3", "--tire", "x.tir"], "class3 is an architecture; expected the tires"),
        (["vehicle", "check", str(sketch)], "is an architecture; expected a vehicle of axles: `jounce build`"),
    ):
        assert main(command) == 2
        assert said in " ".join(capsys.readouterr().err.split())
    other = tmp_path / "vehicle.toml"
    other.write_text("base = ")
    assert not impulse.has_own_model(other)
