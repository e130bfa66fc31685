"""FMUs of vehicles on other axles in every importer, and built by zig: the car, and the pickup with its rigid axle."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import importers
import numpy as np
import pytest
from fmpy.validation import validate_fmu
from importers import CASES

from jounce_fmu.build.builtin import export_builtin

pytestmark = pytest.mark.slow
NAMES = ("car", "pickup")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("importers")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", CASES, ids=["-".join(map(str, case)) for case in CASES])
def test_an_importer_gives_the_trajectory_of_the_run_in_process(
    case: tuple[str, int, str, str], name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec(case[0]) is None:
        pytest.skip(f"{case[0]} is not installed")
    monkeypatch.chdir(folder)  # some leave files where they run
    found = importers.simulate(case, folder, name)
    if case[3] == "CoSimulation":
        assert np.array_equal(found, importers.in_process(vehicle=name))
    else:  # a relative tolerance of 1e-8, against ten times finer steps of ours
        fine = importers.in_process(1e-4, name)
        off = np.abs(found - fine) / importers.scale(fine)
        assert np.max(off[:, importers.CONTINUOUS]) < 5e-6
    assert 9.0 < found[-1, 0] < 12.0 and found[-1, 1] > 0.05


@pytest.mark.parametrize("name", NAMES)
def test_without_a_c_compiler_zig_builds_an_fmu_with_the_same_bits(
    name: str, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ziglang")
    wanted = importers.in_process(vehicle=name)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("jounce_fmu.build.library.shutil.which", lambda _: None)
    path = export_builtin(tmp_path / "zig.fmu", name, scalars=True)
    assert validate_fmu(str(path)) == []
    assert np.array_equal(importers.with_fmpy(path), wanted)
