"""The half car as an FMU: in fmpy, by FMI 2 and 3, and as a state that goes on elsewhere."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

import jounce
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.models import find

SHOWN = ["speed", "rear.slip", "rear.traction"]


@pytest.fixture(scope="module", params=[2, 3])
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_builtin(tmp_path_factory.mktemp("fmu") / "halfcar.fmu", "halfcar", fmi=request.param)


def test_it_is_valid(archive: Path) -> None:
    assert not validate_fmu(str(archive))


@pytest.mark.parametrize("law", ["RELAXED", "SATURATED"])
def test_a_run_in_fmpy_has_the_bits_of_one_in_process(archive: Path, law: str) -> None:
    ours = jounce.simulate("halfcar", {}, 2.0, SHOWN, output_interval=0.01, traction=law, torque_max=550.0)
    number = {"RELAXED": 1, "SATURATED": 3}[law]
    starts = {"traction": number, "torque_max": 550.0}
    found = fmpy.simulate_fmu(str(archive), stop_time=2.0, output_interval=0.01, output=SHOWN, start_values=starts)
    assert len(found) == len(ours.time)
    for name in SHOWN:
        assert np.array_equal(found[name], ours[name])


def test_an_importer_that_integrates_itself_reaches_the_same(archive: Path) -> None:
    starts = {"torque_max": 550.0, "saturation_order": 8}
    found = fmpy.simulate_fmu(str(archive), fmi_type="ModelExchange", stop_time=3.0, output_interval=0.1, output=SHOWN,
                              start_values=starts, relative_tolerance=1e-9)  # fmt: skip
    ours = jounce.simulate("halfcar", {}, 3.0, SHOWN, output_interval=0.1, **starts)
    assert found["speed"] == pytest.approx(ours["speed"], abs=1e-5)


def test_a_state_goes_on_in_another_instance_bit_by_bit() -> None:
    factory = open_builtin("halfcar")
    with factory.instance("one") as one, factory.instance("two") as two:
        for each in (one, two):
            each.setup({"torque_max": 700.0})
        one.step(1500)
        two.set_state(one.get_state())
        for each in (one, two):
            each.step(3000)
        assert one.get_outputs().tobytes() == two.get_outputs().tobytes()


@pytest.mark.parametrize(("language", "compiler"), [("c", ["cc", "-std=c99"]), ("c++", ["c++", "-std=c++17"])])
def test_its_source_compiles_without_a_warning(tmp_path: Path, language: str, compiler: list[str]) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"needs {compiler[0]}")
    for name, data in find("halfcar").sources.packed().items():
        (tmp_path / name).write_bytes(data)
    command = [compiler[0], "-x", language, *compiler[1:], "-Wall", "-Wextra", "-Werror", "-c", "halfcar.c"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
