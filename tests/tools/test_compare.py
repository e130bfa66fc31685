"""``jounce compare``: its page, its verdicts, and what it refuses."""

from __future__ import annotations

import csv
import json
import os
from itertools import count
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("casadi")
from jounce_tools.cli.main import main
from jounce_tools.compare import claims, page, study
from jounce_tools.compare.cost import Evaluation, Time
from jounce_tools.compare.records import Records
from jounce_tools.compare.study import Choice, Found

SLOW = pytest.mark.skipif(not os.environ.get("JOUNCE_SLOW"), reason="minutes; JOUNCE_SLOW=1 runs it")


@pytest.mark.slow
def test_a_comparison_writes_its_page_with_plots_numbers_and_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    options = ["--quick", "--seconds", "0.5", "--ticks", "0.001", "0.002", "--only", "ce,synthesis"]
    assert main(["compare", "hmmwv", "-o", str(folder), *options]) == 0
    assert str(folder / "index.html") in capsys.readouterr().out
    summary = json.loads((folder / "compare.json").read_text())
    assert summary["failures"] == {} and summary["synthesis"] < 1e-12
    assert [r["operations"] for r in summary["cost"]][0] < [r["operations"] for r in summary["cost"]][1]
    text = (folder / "index.html").read_text()
    assert text.count("data:image/png;base64,") == 6 and "holds?" in text and "Song and Kim" in text
    with (folder / "drift.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {r["formulation"] for r in rows} == {"ce"} and {r["tick_s"] for r in rows} == {"0.001", "0.002"}
    assert max(float(r["closure_m"]) for r in rows) < 1e-14
    with (folder / "precision.csv").open() as file:
        errors = {r["tick_s"]: float(r["error_m"]) for r in csv.DictReader(file)}
    assert errors["0.001"] < errors["0.002"] < 1e-6
    assert not list(folder.glob("*.part"))


@SLOW
def test_a_quick_comparison_has_all_plots_and_the_verdicts_of_the_hmmwv(tmp_path: Path) -> None:
    assert main(["compare", "hmmwv", "-o", str(tmp_path), "--quick"]) == 0
    assert (tmp_path / "index.html").read_text().count("data:image/png;base64,") == 7
    assert len(list(tmp_path.glob("*.png"))) == len(list(tmp_path.glob("*.csv"))) == 7
    assert json.loads((tmp_path / "compare.json").read_text())["failures"] == {}


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    asked = count()
    found = study.compare(Choice("hmmwv", ("ce", "synthesis"), 0.5, (0.001, 0.002), True), lambda _share: None,
                          lambda: next(asked) > 3)  # fmt: skip
    assert found.interrupted and "reference" not in found.results
    page.write(found, tmp_path)
    assert "was interrupted" in (tmp_path / "index.html").read_text()
    assert json.loads((tmp_path / "compare.json").read_text())["interrupted"] is True


def found_with(**results: Any) -> Records:
    return Records(Found(Choice("any"), {name.replace("__", "/"): r for name, r in results.items()}))


def verdict(records: Records, text: str) -> str:
    [claim] = [c for c in claims.judge(records) if text in c.claim]
    return claim.verdict


def test_a_claim_is_judged_by_what_was_measured() -> None:
    for tree, newton, cheaper, numerical in (
        (900.0, 500.0, "yes", "yes"), (900.0, 750.0, "yes", "in part"), (300.0, 400.0, "no", "no")
    ):  # fmt: skip
        took = {"ce": 400.0, "ce-newton": newton, "ta-two-point": tree, "ta": 2 * tree, "fa": 4 * tree}
        r = found_with(times={n: {1: Time(t, t)} for n, t in took.items()},
                       **{f"corner__{n}": Evaluation(1, 1, 1, 0, 0, "", (), ()) for n in took})  # fmt: skip
        assert verdict(r, "CE is cheaper than TA and FA") == cheaper
        assert verdict(r, "iterative, too") == numerical
    assert verdict(found_with(same={"ta": 1e-14}), "accelerations are equal") == "yes"
    assert verdict(found_with(same={"ta": 1e-9}), "accelerations are equal") == "no"
    path = {"time": [0.0, 1.0, 2.0], "path": [[0, 0, 0]] * 3}
    for gap, holds in (([0.0, 1e-3, 4e-3], "yes"), ([0.0, 1e-7, 2e-7], "in part"), ([0.0, 1e-16, 1e-16], "no")):
        runs = {f"released/ta/nothing/{tick}": {**path, "closure": gap} for tick in ("0.001", "0.002")}
        assert verdict(Records(Found(Choice("any"), runs)), "control of the drift") == holds
    rows = [{"stiffness": k, "distance": 15e3 / k, "apart": [15e3 / k, 0, 0], "camber": 0.0,
             "fastest": 1.0, "steps": {"none": 1e-3, "0.05 K": 1e-5}} for k in (1e6, 1e7, 1e8)]  # fmt: skip
    r = found_with(limits={"rows": rows, "rigid_step": 0.1})
    assert verdict(r, "limit of stiff bushings") == "yes" and verdict(r, "larger steps") == "yes"
    r = found_with(limits={"rows": rows, "rigid_step": 1e-6})
    assert verdict(r, "larger steps") == "no"


def test_a_run_that_a_vehicle_has_not_is_named_with_its_reason(tmp_path: Path) -> None:
    found = Found(Choice("any"), {"same": {"ta": 1e-15}}, {"limits": "ValueError: rod tierod has no mass"})
    page.write(found, tmp_path)
    assert "rod tierod has no mass" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(("options", "message"), [
    (["hmmwv", "--only", "ce,xy"], "--only xy: expected names of ce, ta-two-point, ta, fa, bushing, synthesis"),
    (["hmmwv", "--ticks", "0.0007", "0.001"], "--ticks: expected 0.1 s to be a multiple"),
    (["hmmwv", "--ticks", "0.001"], "--ticks: expected two steps or more"),
    (["hmmwv", "--ticks", "0.1", "0.001"], "--ticks 0.1 s: expected 0.0001 to 0.002 s"),
    (["hmmwv", "--seconds", "0"], "--seconds 0 s: expected 0.5 to 60 s"),
    (["hmmwv", "--seconds", "nan"], "expected"),
    (["truck8x8"], "expected two axles on double wishbones with a Pitman arm"),
    (["halfcar"], "expected a file that exists"), (["nowhere/car"], "expected a file that exists"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["compare", *options, "-o", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_vehicle_with_a_negative_mass_is_refused_by_its_entry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.toml").write_text('name = "odd"\nbase = "hmmwv"\n[overrides]\n"front.UCA.mass" = -5.0\n')
    assert main(["compare", str(tmp_path / "odd.toml"), "-o", str(tmp_path / "out")]) == 2
    assert "front.UCA.mass" in capsys.readouterr().err


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "file"
    place.write_text("mine")
    assert main(["compare", "-o", str(place)]) == 2
    assert "expected a folder" in capsys.readouterr().err
    assert place.read_text() == "mine"
