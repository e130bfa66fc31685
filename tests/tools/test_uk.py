"""``jounce uk study``: the page of the half car, its judgements, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

pytest.importorskip("casadi")
from jounce_tools.cli.main import main


@pytest.mark.slow
def test_the_study_writes_its_page_with_ten_sentences_and_eleven_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert main(["uk", "study", "-o", str(folder), "--torques", "150", "--gamma", "200"]) == 0
    assert str(folder / "index.html") in capsys.readouterr().out
    found = json.loads((folder / "study.json").read_text())
    assert [c["holds"] for c in found["sentences"]] == [True, False, True, False, True, False, True, True, True, False]
    assert len(found["prints"]) == 11
    page = (folder / "index.html").read_text()
    for claim in found["sentences"] + found["prints"]:
        assert claim["found"].split(";")[0].replace("'", "&#x27;") in page
    assert page.count("data:image/png;base64,") == 7
    runs = {(r["law"], r["T_max [N.m]"], r["gamma [1/s]"]) for r in found["runs"]}
    assert ("SATURATED", 150.0, 20.0) in runs and ("RELAXED", 550.0, 200.0) in runs
    with (folder / "saturated-150-gamma20.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0][:2] == ["time [s]", "speed [m/s]"] and len(rows) == 3002
    assert not list(folder.glob("*.part"))


@pytest.mark.parametrize(("options", "message"), [
    (["--torques", "-1"], "--torques -1 N.m: expected more than 0"),
    (["--gamma", "3000"], "--gamma 3000 1/s: expected more than 0 and at most 2700"),
    (["--gamma", "nan"], "expected more than 0"),
])  # fmt: skip
def test_numbers_that_cannot_be_are_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["uk", "study", "-o", str(tmp_path / "out"), *options]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "file"
    place.write_text("mine")
    assert main(["uk", "study", "-o", str(place)]) == 2
    assert "expected a folder" in capsys.readouterr().err
    assert place.read_text() == "mine"
