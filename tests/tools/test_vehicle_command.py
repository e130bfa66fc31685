"""`jounce vehicle new | check | kc | graph`: what they write and say, and what they refuse."""

from __future__ import annotations

import csv
import json
import re
import shutil
from html import escape
from pathlib import Path

import numpy as np
import pytest

import jounce
from jounce.data import DataError, load_vehicle
from jounce_fmu.models import find
from jounce_tools.cli.main import main
from jounce_tools.vehicle import new
from jounce_tools.vehicle.rest import standing
from jounce_tools.vehicle.sweeps import ALL

EXAMPLES = Path(jounce.__file__).parent / "examples"


@pytest.fixture
def five_rods(tmp_path: Path) -> Path:
    """The off-roader whose rear axle has a Panhard rod beside its four links; its front axle is that of the car."""
    folder = tmp_path / "bad_five_rods"
    shutil.copytree(EXAMPLES / "offroader", folder)
    text = (folder / "rear.toml").read_text()
    rod = "\n".join(line.replace("UL_", "PAN_").replace("UL.", "PAN.") for line in text.splitlines()
                    if line.startswith(("UL_", "UL.")))  # fmt: skip
    rod = re.sub(r"(PAN_C\.y = \{ value = )[\d.]+", r"\g<1>-0.42", rod)
    (folder / "rear.toml").write_text(text + rod + "\n")
    manifest = (folder / "vehicle.toml").read_text()
    first = manifest.index("[[axles]]")
    (folder / "vehicle.toml").write_text(
        manifest[:first].replace('"front.toml", ', "") + manifest[manifest.rindex("[[axles]]") :])
    return folder


@pytest.mark.parametrize("kind", new.EXAMPLES)
def test_an_example_of_every_kind_is_written_and_has_an_axle_of_that_kind(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vehicle", "new", kind, str(tmp_path / "mine")]) == 0
    vehicle = load_vehicle(tmp_path / "mine")
    assert vehicle.name == "mine" and kind in {a.kind for a in vehicle.axles}
    assert all(entry.source for entry in vehicle.entries.values())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine"]
    assert "vehicle.toml" in capsys.readouterr().out
    assert main(["vehicle", "graph", str(tmp_path / "mine")]) == 0
    assert kind in capsys.readouterr().out


def test_an_example_never_writes_over_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.toml").write_text("x = 1\n")
    assert main(["vehicle", "new", "multilink", str(tmp_path / "mine")]) == 2
    assert "mine: expected a folder that is not there yet, or an empty one" in capsys.readouterr().err
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["work.toml"]
    assert main(["vehicle", "new", "rocker", str(tmp_path / "new")]) == 2
    assert "kind 'rocker': expected double_wishbone, macpherson" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_a_check_of_the_hmmwv_says_its_aggregates_range_closure_and_rest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vehicle", "check", "hmmwv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["aggregates"] == 4 and found["faults"] == []
    front = found["axles"][0]
    assert front["independent"] == ["lower_arm"] and front["motions"] == 1
    assert front["closure"] < 1e-13 and front["guess_error"] < 2e-4
    low, high = front["box"]["lower_arm"]
    assert -0.46 < low < -0.35 and high > 0.3
    assert front["margins"]["lower_arm"] > 0.02 and front["margins"]["lower_ball.z"] < 0.003


def test_the_rest_position_is_that_of_the_model() -> None:
    run = jounce.simulate("hmmwv", duration=0.001, outputs=[
        "wheel_FL.travel", "wheel_RL.travel", "wheel_FL.tire_force.z", "wheel_RL.tire_force.z", "ref_frame.pos.z"])
    travel_f, travel_r, load_f, load_r, height = run.values[0]
    found = standing(load_vehicle("hmmwv"))
    assert found.travel == pytest.approx((travel_f, travel_r), abs=2e-4)
    assert found.load == pytest.approx((load_f, load_r), rel=3e-4)
    assert found.height == pytest.approx(height, abs=5e-4)
    assert 2 * sum(found.load) == pytest.approx(9.81 * found.mass, rel=1e-6)


@pytest.mark.slow(but="microbus")
@pytest.mark.parametrize("name", ["car", "microbus", "pickup"])
def test_an_example_passes_its_check_and_stands_near_its_design_position(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vehicle", "check", name, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert max(abs(t) for t in found["rest"]["travel"]) < 0.02
    for axle in found["axles"]:
        assert axle["closure"] < 1e-13 and axle["travel"][0] < -0.08 and axle["travel"][1] > 0.08


def test_what_the_model_would_refuse_is_refused_with_its_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vehicle", "new", "multilink", str(tmp_path / "mine")]) == 0
    file = tmp_path / "mine" / "actuators.toml"
    file.write_text(file.read_text().replace("spin_limit", "spin_limits"))
    assert main(["vehicle", "check", str(tmp_path / "mine")]) == 1
    assert "lacks the entry 'brake.spin_limit'" in capsys.readouterr().err
    with pytest.raises(DataError, match=r"lacks the entry 'brake\.spin_limit'"):
        find(tmp_path / "mine")


def test_five_rigid_links_are_refused_with_what_to_do(five_rods: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vehicle", "check", str(five_rods)]) == 1
    said = capsys.readouterr().err
    assert re.search(r"axle rear: five rigid links leave 1 motion, 2 are needed; make one of .*PAN.* compliant", said)
    text = (five_rods / "rear.toml").read_text()
    (five_rods / "rear.toml").write_text(
        text + 'PAN.stiffness = { value = 2e7, unit = "N/m", source = "test", description = "rubber bushings" }\n')
    main(["vehicle", "check", str(five_rods)])
    assert "rigid links" not in capsys.readouterr().err


def test_faults_name_axle_entry_value_and_what_is_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "v"
    shutil.copytree(EXAMPLES / "car", folder)
    rear = (folder / "rear.toml").read_text()

    def said(*changes: tuple[str, str]) -> tuple[int, str]:
        text = rear
        for old, changed in changes:
            assert re.search(old, text), old
            text = re.sub(old, changed, text, count=1)
        (folder / "rear.toml").write_text(text)
        return main(["vehicle", "check", str(folder)]), capsys.readouterr().err

    code, text = said((r"(?m)^LATERAL_U\.y.*\n", ""))
    assert code == 1 and "axle rear (multilink): no entry 'rear.LATERAL_U.y'" in text
    code, text = said((r"(upright\.inertia\.xx = \{ value = )[\d.]+", r"\g<1>9.0"))
    assert code == 1 and "rear.upright.inertia.xx = 9 kg.m2: expected at most the sum of the other two" in text
    code, text = said((r"(spring\.k1 = \{ value = )[\d.]+", r'\g<1>"soft"'))
    assert code == 2 and "car: rear.toml: entry 'rear.spring.k1': value = 'soft': expected a number" in text
    # both ends of a link at one place: no length, no hold
    code, text = said(*((rf"(LATERAL_C\.{a} = \{{ value = )[-\d.]+", rf"\g<1>{v}")
                        for a, v in (("x", 0.029), ("y", 0.6413), ("z", -0.093))))  # fmt: skip
    assert code == 1 and "axle rear: " in text and "Traceback" not in text


def test_kc_writes_tables_pictures_and_one_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vehicle", "kc", "hmmwv", "-o", str(tmp_path / "kc")]) == 0
    files = {p.name for p in (tmp_path / "kc").iterdir()}
    assert files == {"front_parallel.csv", "front_opposite.csv", "front_steer_-50mm.csv", "front_steer.csv",
                     "front_steer_+50mm.csv", "rear_parallel.csv", "rear_opposite.csv", "front.png", "rear.png",
                     "kc.html"}  # fmt: skip
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kc"]
    with (tmp_path / "kc" / "front_parallel.csv").open() as file:
        rows = list(csv.DictReader(file))
    design = min(rows, key=lambda row: abs(float(row["travel_FL [m]"])))
    # the reference numbers of tests/vehicle/test_characteristics.py
    for name, wanted in (("steer_rate_FL [deg/m]", 5.1074), ("caster_FL [deg]", 2.9986),
                         ("roll_centre_FL [m]", 0.35518), ("spring_ratio_FL [m/m]", 0.45171)):  # fmt: skip
        assert float(design[name]) == pytest.approx(wanted, rel=1e-4), name
    travel = [float(row["travel_FL [m]"]) for row in rows]
    assert min(travel) <= -0.09 and max(travel) >= 0.09
    page = (tmp_path / "kc" / "kc.html").read_text()
    assert "https://" not in page and page.count("data:image/png;base64,") > 30
    shown = ("toe", "camber", "wheel_rate", "ackermann", "roll_centre")
    assert all(escape(ALL[name].meaning) in page for name in shown)


@pytest.mark.slow
def test_the_wheel_rate_is_spring_rate_times_ratio_squared_where_the_preload_is_small(tmp_path: Path) -> None:
    """By hand for the leaf axle, whose spring stands over the axle: the ratio is 1 in parallel travel."""
    assert main(["vehicle", "kc", str(EXAMPLES / "pickup"), "-o", str(tmp_path / "kc")]) == 0
    with (tmp_path / "kc" / "rear_parallel.csv").open() as file:
        rows = list(csv.DictReader(file))
    vehicle = load_vehicle(EXAMPLES / "pickup")
    rates = [float(r["wheel_rate_RL [N/m]"]) for r in rows if abs(float(r["travel_RL [m]"])) < 0.05]
    assert rates == pytest.approx([vehicle["rear.spring.k1"]] * len(rates), rel=0.01)
    forces = [float(r["wheel_force_RL [N]"]) for r in rows if abs(float(r["travel_RL [m]"])) < 1e-9]
    assert forces == pytest.approx([vehicle["rear.spring.preload"]], rel=1e-6)
    for path in (tmp_path / "kc").glob("*.csv"):
        with path.open() as file:
            values = [v for row in csv.DictReader(file) for v in row.values()]
        assert values and all(v == "" or np.isfinite(float(v)) for v in values)


def test_kc_refuses_a_file_and_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kc").write_text("mine")
    assert main(["vehicle", "kc", "hmmwv", "-o", str(tmp_path / "kc")]) == 2
    assert main(["vehicle", "kc", "hmmwv", "-o", str(tmp_path / "no" / "kc")]) == 2
    assert main(["vehicle", "kc", "nothing", "-o", str(tmp_path / "x")]) == 2
    err = capsys.readouterr().err
    assert "expected a folder" in err and "'nothing'" in err
    assert [p.name for p in tmp_path.iterdir()] == ["kc"] and (tmp_path / "kc").read_text() == "mine"


def test_the_graph_names_every_loop_once_in_text_and_dot(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vehicle", "graph", str(EXAMPLES / "offroader")]) == 0
    text = capsys.readouterr().out
    for name in ("LL_L", "LL_R", "CL", "PAN", "tierod", "draglink"):
        assert text.count(f"loop closed by {name}:") == (2 if name.startswith("LL") else 1)
    assert "loop closed by draglink: rod from DRAGLINK_C (steering) to knuckle_L" in text
    assert main(["vehicle", "graph", str(EXAMPLES / "offroader"), "--dot"]) == 0
    dot = capsys.readouterr().out
    assert dot.startswith('digraph "offroader" {') and dot.count("{") == dot.count("}")
    assert dot.count("style=dashed") == 10 and '"front axle" -> chassis [label="beam"];' in dot

