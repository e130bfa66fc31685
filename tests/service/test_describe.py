"""``jounce describe``: starts, bounds and frames of every signal, in four formats that say the same."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import table
from jounce.signals import SignalTable
from jounce_tools.cli.main import main

TABLE = table(load_vehicle("hmmwv"))


def described(capsys: pytest.CaptureFixture[str], form: str, vehicle: str | Path = "hmmwv") -> str:
    assert main(["describe", "--vehicle", str(vehicle), "--format", form]) == 0
    return capsys.readouterr().out


def own(folder: Path) -> Path:
    path = folder / "vehicle.toml"
    path.write_text('name = "mine"\nbase = "hmmwv"\n[overrides]\n"chassis.mass" = 2500\nsteering_ratio = 20\n'
                    '"front.spring.k1" = { value = 2e5, minimum = 1e5, maximum = 3e5 }\n')  # fmt: skip
    return path


def test_json_has_every_signal_with_its_starts_bounds_unit_and_frame(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(described(capsys, "json"), parse_constant=lambda c: pytest.fail(f"{c} is not JSON"))
    assert (found["vehicle"], found["tick"]) == ("hmmwv", 0.001)
    signals = {s["name"]: s for s in found["signals"]}
    assert signals.keys() == {g.name for g in TABLE.signals}
    assert [r for s in found["signals"] for r in s["value_references"]] == [s.value_reference for s in TABLE.scalars]
    mass = signals["chassis.mass"]
    assert (mass["start"], mass["minimum"], mass["maximum"], mass["unit"]) == ([2086.52], [0.001], [None], "kg")
    assert signals["wheel_FL.terrain_normal"]["start"] == [0.0, 0.0, 1.0]
    assert signals["integrator"]["start"] == ["RK4"] and signals["init.equilibrium"]["start"] == ["true"]


def test_csv_has_a_row_per_scalar_that_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(described(capsys, "csv"))))
    assert [r["name"] for r in rows] == [s.name for s in TABLE.scalars]
    signals = {s["name"]: s for s in json.loads(described(capsys, "json"))["signals"]}
    scalars = [(s, k) for s in signals.values() for k in range(len(s["components"]))]
    for row, (signal, k) in zip(rows, scalars, strict=True):
        assert (row["unit"], row["frame"], row["causality"]) == (signal["unit"], signal["frame"], signal["causality"])
        for bound in ("minimum", "maximum"):
            assert (float(row[bound]) if row[bound] else None) == signal[bound][k]


def test_the_table_and_markdown_have_a_line_per_signal_with_the_same_cells(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [re.split(r"\s{2,}", line.strip()) for line in described(capsys, "table").splitlines()]
    markdown = [line for line in described(capsys, "md").splitlines() if line.startswith("| `")]
    by_name = {cells[0]: cells for cells in lines if len(cells) == 8 and cells[0] != "name"}
    assert len(by_name) == len(markdown) == len(TABLE.signals)
    for line in markdown:
        cells = [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        cells[0] = cells[0].strip("`")
        assert [" ".join(c.split()) for c in cells] == [" ".join(c.split()) for c in by_name[cells[0]]]
    assert by_name["front.SPINDLE.x"][3:5] == ["suspension", "-0.040386"]
    assert by_name["imu.pos.x"][3] == "chassis" and by_name["tire.nominal_load"][3] == "-"


def test_ones_own_vehicle_is_described_after_its_overrides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(described(capsys, "json", own(tmp_path)))
    signals = {s["name"]: s for s in found["signals"]}
    assert found["vehicle"] == "mine" and signals["chassis.mass"]["start"] == [2500.0]
    spring = signals["front.spring.k1"]
    assert (spring["start"], spring["minimum"], spring["maximum"]) == ([2e5], [1e5], [3e5])
    limit = 20.0 * load_vehicle("hmmwv")["steering.max_arm_angle"]
    assert signals["steering_wheel_angle"]["maximum"] == [pytest.approx(limit)]


def frames(signals: SignalTable) -> dict[str, str]:
    return {g.name: g.frame for g in signals.signals}


def test_a_parameter_is_in_the_frame_that_its_description_names() -> None:
    """Texts of the data files are the judge: "left side, suspension frame", "in the chassis frame"."""
    checked = 0
    for name in ("hmmwv", "utv", "hmmwv_chrono"):
        signals = table(load_vehicle(name))
        for g in signals.signals:
            found = re.findall(r"(?:in the|,) (chassis|suspension|steering) frame", g.description)
            axes = re.findall(r"chassis axes|y = spin axis|z along the (?:rod|shock)|arm's own frame", g.description)
            if g.causality == "parameter" and found:
                checked += 1
                assert g.frame == found[-1], g.name
            if g.causality == "parameter" and axes:
                wanted = {"arm's own frame": "arm", "z along the rod": "tierod", "z along the shock": "shock",
                          "y = spin axis": "wheel"}.get(axes[0], "chassis")  # fmt: skip
                assert g.frame == wanted, g.name
    assert checked > 300


def test_a_quantity_without_a_direction_has_no_frame() -> None:
    found = frames(TABLE)
    for name in ("chassis.mass", "tire.nominal_load", "tire.width", "front.spring.k1", "tick", "integrator",
                 "energy.kinetic", "terrain.mu", "wheel_FL.terrain_mu", "brake.capacity",
                 "steering_ratio"):  # fmt: skip
        assert found[name] == "", name
    assert found["gravity"] == found["init.x"] == found["terrain.slope"] == "world"
    assert found["steering.tilt"] == found["front.origin.x"] == "chassis"
