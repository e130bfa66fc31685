"""``jounce tire``: what a file holds, its curves as numbers and pictures, two files, and refusals."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce_tools.cli.main import main

pytest.importorskip("casadi")
from jounce_tools.tire.curves import Tire

DATA = Path(__file__).parents[1] / "data" / "tires"
HMMWV, FEDA = DATA / "HMMWV_Pac02Tire.tir", DATA / "335_65R22_5_G275MSA_60psi.tir"


def test_a_file_is_shown_with_what_it_leaves_out_and_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tire", "show", str(FEDA)]) == 0
    out = capsys.readouterr().out
    for text in ("PAC2002 (FITTYP 5), tire law pac2002_curve", "radians", "unknown: taken as left", "21674 N",
                 "21 points and [BOTTOMING_CURVE] of 3", "by the friction ellipse", "22 of 132 coefficients: LGAX",
                 "line 215: [DEFLECTION_LOAD_CURVE] is there a second time", "PDY1 is negative",
                 "4: all forces, combined, without relaxation: lengths of 0.05 m"):  # fmt: skip
        assert text in out
    assert main(["tire", "show", str(HMMWV)]) == 0
    out = capsys.readouterr().out
    for text in ("800000 Pa, nominal 800000 Pa, 400000 to 1.2e+06 Pa can be set", "left; mirrored on the right",
                 "line 90: PKX2: slip stiffness would be about 0"):  # fmt: skip
        assert text in out


@pytest.mark.parametrize(("mode", "side", "words"), [
    ("USE_MODE = 15", "LEFT", ("15: turn slip, taken as all forces, combined, with relaxation", "left; mirrored")),
    ("USE_MODE = 0", "RIGHT", ("0: vertical force alone, without", "right; mirrored on the left")),
    ("USE_MODE = -12", "LEFT", ("12: lateral force and its moments, with relaxation", "USE_MODE is below 0: right")),
    ("USE_MODE = 434", "LEFT", ("434: contact with the road and rigid ring are not used, taken as 14: all forces",)),
    ("", "SYMMETRIC", ("not said, taken as 14: all forces, combined, with", "symmetric: taken as left")),
])  # fmt: skip
def test_the_mode_and_the_side_of_a_file_are_said_once(
    mode: str, side: str, words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = HMMWV.read_text().replace("USE_MODE                   = 4", mode).replace("'LEFT'", f"'{side}'")
    (tmp_path / "x.tir").write_text(text)
    assert main(["tire", "show", str(tmp_path / "x.tir")]) == 0
    out = capsys.readouterr().out
    assert all(word in out for word in words)
    assert out.count("relaxation") == 2  # the mode, and the lengths


def test_the_evaluator_gives_the_reference_point() -> None:
    """Of an evaluator of its own: Fz 8000 N, slip 0.05, slip angle 0.03, inclination 0.01, 15 m/s (relative 1e-8)."""
    at = Tire(HMMWV).at(load=8000.0, slip=0.05, slip_angle=0.03, inclination=0.01, speed=15.0)
    expected = {"fx": 5508.0941, "fy": -1301.1388, "resistance": 30.0736, "aligning": -32.7990, "length_x": 0.220711,
                "length_y": 0.100876, "stiffness_x": 151189.90, "stiffness_y": -48820.063}  # fmt: skip
    for name, value in expected.items():
        assert float(at[name]) == pytest.approx(value, rel=5e-6), name


def test_a_file_of_coefficients_alone_has_curves_but_carries_no_vehicle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reference table of MF 6.1, all rows within 1e-9 of the nominal load."""
    bare = DATA / "synthetic_mf61.tir"
    with (DATA / "synthetic_mf61.csv").open() as lines:
        next(lines)
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(lines)]
    table = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    found = Tire(bare).at(load=table["Fz"], slip=table["kappa"], slip_angle=table["alpha"],
                          inclination=table["gamma"], pressure=table["p"])  # fmt: skip
    for name, key in (("fx", "Fx"), ("fy", "Fy"), ("overturning", "Mx"), ("resistance", "My"), ("aligning", "Mz")):
        wanted = np.abs(table[key]) if key == "My" else table[key]
        assert np.abs(found[name] - wanted).max() < 1e-9 * 1500.0, name
    assert main(["tire", "show", str(bare)]) == 0
    assert "vehicles refuse the file" in capsys.readouterr().out
    assert main(["simulate", "--tire", str(bare), "--duration", "0.01", "-o", str(tmp_path / "o.csv")]) == 2
    assert "synthetic_mf61.tir: line 209: VERTICAL_STIFFNESS is missing" in capsys.readouterr().err


def test_a_curve_as_csv_has_the_reference_table(tmp_path: Path) -> None:
    """All rows of the table of another evaluator, within 1e-9 of the nominal load; some through the command."""
    with (DATA / "HMMWV_Pac02Tire_cosine.csv").open() as lines:
        next(lines)
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(lines)]
    table = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    found = Tire(HMMWV).at(load=table["Fz"], slip=table["kappa"], slip_angle=table["alpha"], inclination=table["gamma"],
                           speed=table["Vx"], friction=table["mu"])  # fmt: skip
    for name, key in (("fx", "Fx"), ("fy", "Fy"), ("overturning", "Mx"), ("resistance", "My"), ("aligning", "Mz")):
        assert np.abs(found[name] - table[key]).max() < 1e-9 * 35000.0, name
    for row in rows[:: len(rows) // 5]:
        given = {"load": "Fz", "slip": "kappa", "alpha": "alpha", "camber": "gamma", "speed": "Vx", "friction": "mu"}
        options = [text for name, key in given.items() for text in (f"--{name}", repr(row[key]))]
        assert main(["tire", "curve", str(HMMWV), *options, "-o", str(tmp_path / "c.csv")]) == 0
        with (tmp_path / "c.csv").open() as lines:
            [written] = csv.DictReader(lines)
        assert float(written["fx [N]"]) == pytest.approx(row["Fx"], abs=1e-9 * 35000.0)
        assert float(written["aligning [N.m]"]) == pytest.approx(row["Mz"], abs=1e-9 * 35000.0)


def test_two_ranges_make_a_grid_and_negative_ranges_need_no_equals_sign(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--load", "4000,8000", "--slip", "-0.2:0.2:3", "--alpha", "-.1:.1:2"]
    assert main(["tire", "curve", str(HMMWV), *arguments]) == 0
    rows = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert [len(rows), len(rows[0])] == [1 + 2 * 3 * 2, 9]
    assert {row[2] for row in rows[1:]} == {"-0.1", "0.1"}


def test_pictures_are_drawn(tmp_path: Path) -> None:
    for k, arguments in enumerate((
        ["curve", str(HMMWV), "--slip", "-1:1", "--load", "4000,8000"],
        ["curve", str(FEDA), "--alpha", "-0.3:0.3", "--slip", "-0.1:0.1:5"],
        ["compare", str(HMMWV), str(FEDA), "--load", "8000"],
    )):
        path = tmp_path / f"{k}.png"
        assert main(["tire", *arguments, "-o", str(path)]) == 0
        assert path.stat().st_size > 20_000


def test_two_files_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.tir"
    other.write_text(HMMWV.read_text().replace("= 0.77751", "= 0.6"))
    assert main(["tire", "compare", str(HMMWV), str(other), "--load", "8000"]) == 0
    out = capsys.readouterr().out
    assert "1 of 132 coefficients differ: PDX1" in out
    assert "largest difference of Fy at 8000 N: 0 N" in out
    one, two = Tire(HMMWV), Tire(other)
    worst = max(abs(float(one.at(load=8000.0, slip=k)["fx"] - two.at(load=8000.0, slip=k)["fx"]))
                for k in np.linspace(-1.0, 1.0, 401))  # fmt: skip
    assert f"largest difference of Fx at 8000 N: {worst:.5g} N" in out


@pytest.mark.parametrize(("arguments", "words"), [
    (["show", "none.tir"], "none.tir: No such file"),
    (["show", "."], "expected a tire file"),
    (["curve", str(HMMWV), "--slip", "1:0"], "expected -10 to 10 1, as LOW:HIGH"),
    (["curve", str(HMMWV), "--slip", "0:1:1.5"], "LOW below HIGH and 2 to"),
    (["curve", str(HMMWV), "--slip", "a"], "as a number or LOW:HIGH"),
    (["curve", str(HMMWV), "--slip", "nan"], "expected -10 to 10"),
    (["curve", str(HMMWV), "--alpha", "-30:30"], "--alpha -30:30: expected -1.5 to 1.5 rad"),
    (["curve", str(HMMWV), "--load", "-5"], "--load -5: expected 1 to 1e+07 N"),
    (["curve", str(HMMWV), "--slip", "0:1:2000", "--alpha", "0:1:2000"], "points; expected at most 1000000"),
    (["curve", str(HMMWV), "--pressure", "5"], "--pressure 5: expected 400000 to 1.2e+06 Pa"),
    (["curve", str(HMMWV), "-o", "x.txt"], "x.txt: expected a name that ends in .csv or .png"),
    (["compare", str(HMMWV), str(FEDA), "-o", "x.csv"], "x.csv: expected a name that ends in .png"),
])  # fmt: skip
def test_what_cannot_be_is_refused_with_exit_code_2(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["tire", *arguments]) == 2
    assert words in capsys.readouterr().err


def bent(data: st.DataObject) -> bytes:
    """A file with something wrong: cut, bytes changed, lines doubled, swapped or left out, numbers made absurd."""
    content = data.draw(st.sampled_from([HMMWV, FEDA, DATA / "synthetic_mf61.tir"])).read_bytes()
    for _ in range(data.draw(st.integers(1, 3))):
        lines = content.split(b"\n")
        k = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["cut", "bytes", "double", "drop", "number", "join", "junk"])):
            case "cut":
                content = content[: data.draw(st.integers(0, len(content)))]
            case "bytes":
                at = data.draw(st.integers(0, max(len(content) - 1, 0)))
                content = content[:at] + data.draw(st.binary(max_size=4)) + content[at + 1 :]
            case "double":
                content = b"\n".join([*lines[:k], lines[k], *lines[k:]])
            case "drop":
                content = b"\n".join([*lines[:k], *lines[k + 1 :]])
            case "number":
                absurd = data.draw(st.sampled_from(["0", "-1", "1e308", "-1e308", "1e-308", "nan", "1e6", "-1e6"]))
                lines[k] = lines[k].split(b"=")[0] + b"= " + absurd.encode()
                content = b"\n".join(lines)
            case "join":
                content = content.replace(b"\n", data.draw(st.sampled_from([b"\r\n", b"\r", b"\x0b", b"\x85"])))
            case "junk":
                lines[k] = data.draw(st.text(max_size=30)).encode("utf-16")
                content = b"\n".join(lines)
    return content


@settings(max_examples=100)
@given(st.data())
def test_no_file_gives_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject) -> None:
    """It is read, and then its forces are finite, or it is refused in one line that names the file."""
    path = tmp_path / "x.tir"
    path.write_bytes(bent(data))
    code = main(["tire", "show", str(path)])
    out = capsys.readouterr()
    assert code in (0, 2)
    if code == 2:
        assert out.err.count("\n") == 1
        assert "x.tir" in out.err
        assert "Traceback" not in out.err
    else:
        assert "nan" not in out.out
        assert all(math.isfinite(float(v)) for v in Tire(path).at(slip=-0.3, slip_angle=0.2).values())


def test_a_huge_file_and_one_of_another_kind_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.tir"
    for content in (b"[A]\n" * 400_000, b"PK\x03\x04" + bytes(1000), "[A]\nK = 1\n".encode("utf-16"), b"\xff" * 1000):
        path.write_bytes(content)
        assert main(["tire", "show", str(path)]) == 2
        assert "x.tir" in capsys.readouterr().err
