"""Every importer that comes as a package drives the vehicle along the trajectory of the run in process."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import importers
import numpy as np
import pytest
from importers import CASES

from jounce_fmu.importer.host import open_builtin


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("importers")


@pytest.mark.parametrize("case", CASES, ids=["-".join(map(str, case)) for case in CASES])
def test_an_importer_gives_the_trajectory_of_the_run_in_process(
    case: tuple[str, int, str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec(case[0]) is None:
        pytest.skip(f"{case[0]} is not installed")
    monkeypatch.chdir(folder)  # some leave files where they run
    found = importers.simulate(case, folder)
    if case[3] == "CoSimulation":
        assert np.array_equal(found, importers.in_process())
    else:  # a relative tolerance of 1e-8, against ten times finer steps of ours
        fine = importers.in_process(1e-4)
        off = np.abs(found - fine) / importers.scale(fine)
        assert np.max(off[:, importers.CONTINUOUS]) < 5e-6
    assert 9.0 < found[-1, 0] < 11.0  # it drove: ref_frame.pos.x after 1 s from 10 m/s
    assert found[-1, 1] > 0.05  # and turned left


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=["-".join(map(str, case)) for case in CASES])
def test_an_importer_drives_by_pedals_as_the_run_in_process_does(
    case: tuple[str, int, str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec(case[0]) is None:
        pytest.skip(f"{case[0]} is not installed")
    monkeypatch.chdir(folder)
    found, vehicle = importers.simulate(case, folder, "hmmwv_pedals"), "hmmwv_pedals"
    if case[3] == "CoSimulation":
        assert np.array_equal(found, importers.in_process(vehicle=vehicle))
    else:
        fine = importers.in_process(importers.FINE[vehicle], vehicle)
        off = np.abs(found - fine) / importers.scale(fine, vehicle)
        counted = [k for k, s in enumerate(open_builtin(vehicle).table.outputs) if s.name != "tick_count"]
        assert np.max(off[:, counted]) < 5e-5


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=["-".join(map(str, case)) for case in CASES])
def test_an_importer_drives_on_a_tire_file_and_a_terrain_as_the_run_in_process_does(
    case: tuple[str, int, str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec(case[0]) is None:
        pytest.skip(f"{case[0]} is not installed")
    monkeypatch.chdir(folder)
    vehicle = importers.rough(folder)
    found = importers.simulate(case, folder, vehicle)
    if case[3] == "CoSimulation":
        assert np.array_equal(found, importers.in_process(vehicle=vehicle))
    else:
        fine = importers.in_process(1e-4, vehicle)
        off = np.abs(found - fine) / importers.scale(fine, vehicle)
        assert np.max(off[:, importers.CONTINUOUS]) < 2e-4  # the run in process is 1.1e-4 off


@pytest.mark.parametrize("mark", ["matrix", "by pedals", "on tires and terrain"])
def test_a_documented_matrix_has_every_case_and_no_other(mark: str) -> None:
    row = r"^\| (\w+) \| [\w.]+ \| (\d)\.0 \| (\w+) \| (\w+) \| \d+ \| (.*) \|$"
    table = importers.DOCS.read_text().split(f"<!-- {mark} -->", 1)[1].split("<!-- end -->", 1)[0]
    rows = re.findall(row, table, re.M)
    cases = [(name, int(fmi), form, kind) for name, fmi, form, kind, _ in rows]
    assert cases == [case for case in CASES if case in cases]
    assert cases if mark != "matrix" else cases == CASES
    assert all(says == "the same bits" for *_, kind, says in rows if kind == "CoSimulation")
