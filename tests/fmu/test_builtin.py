"""The vehicle's library and its FMUs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu

from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.build.pack import write_archive
from jounce_fmu.importer.host import open_builtin, open_fmu
from jounce_fmu.models import data_sets
from jounce_tools.cli.main import main

KINDS = {
    "fmi2": [], "fmi2-flat": ["--names", "flat"], "fmi3": ["--fmi", "3"], "fmi3-scalars": ["--fmi", "3", "--scalars"],
    "fmi3-flat": ["--fmi", "3", "--names", "flat"], "sources": ["--source-only", "--names", "flat"],
    "utv": ["--vehicle", "utv", "--source-only", "--names", "flat"], "driver": ["--partner", "driver"],
    "terrain": ["--partner", "terrain"], "remote": ["--partner", "remote", "--names", "flat"],
}  # fmt: skip


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The file of a kind, made once."""
    folder = tmp_path_factory.mktemp("exported")

    @cache
    def made(kind: str) -> Path:
        assert main(["export", str(folder / f"{kind}.fmu"), *KINDS[kind]]) == 0
        return folder / f"{kind}.fmu"

    return made


@pytest.mark.parametrize("kind", KINDS)
def test_the_checkers_find_nothing(exported: Callable[[str], Path], kind: str) -> None:
    path = exported(kind)
    assert validate_fmu(str(path)) == []
    tool = Path(sys.executable).with_name("fmutool")
    if not tool.exists():
        pytest.skip("fmu-manipulation-toolbox is not installed")
    done = subprocess.run([str(tool), "-input", str(path), "-check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    fmi = 3 if "3" in kind else 2
    assert f"No semantic error against the FMI-{fmi} standard" in done.stdout and "ERROR" not in done.stdout


STRICT = """
import sys
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimSlave import CosimLocalSlave
CosimExecution.from_step_size(1_000_000).add_local_slave(CosimLocalSlave(fmu_path=sys.argv[1], instance_name="x"))
"""


@pytest.mark.parametrize("kind", [k for k in KINDS if "3" not in k])
def test_fmi_library_finds_nothing_in_the_xml(exported: Callable[[str], Path], tmp_path: Path, kind: str) -> None:
    """Its strict parser speaks through libcosim's log, before it looks for a binary."""
    pytest.importorskip("libcosimpy")
    path = shutil.copyfile(exported(kind), tmp_path / "x.fmu")

    def parsed() -> str:
        done = subprocess.run([sys.executable, "-c", STRICT, str(path)], capture_output=True, text=True, check=False)
        found = [line for line in (done.stdout + done.stderr).splitlines() if "FMI2XML]" in line]
        assert found
        return "\n".join(found)

    assert not re.search("(?i)warning|error|detected", parsed()), parsed()
    if kind == "fmi2":
        with zipfile.ZipFile(path) as archive:
            text = archive.read("modelDescription.xml").decode()
        write_archive(path, {"modelDescription.xml": text.replace('<Unknown index="', '<Unknown index="9').encode()})
        assert "[error]" in parsed()


def test_the_vehicle_and_its_fmu_agree_bit_for_bit(tmp_path: Path) -> None:
    path = export_builtin(tmp_path / "hmmwv.fmu")
    factory = open_builtin()
    foreign = open_fmu(path)
    assert len(foreign.table.outputs) == len(factory.table.outputs)
    with factory.instance("a") as ours, foreign.instance("b") as packed:
        for instance in (ours, packed):
            instance.setup()
            instance.step(100)
        assert np.array_equal(ours.get_outputs(), packed.get_outputs())


def test_a_restored_vehicle_goes_on_bit_for_bit() -> None:
    with open_builtin().instance("a") as fmu:
        fmu.setup({"init.speed": 5.0})
        fmu.step(100)
        blob = fmu.get_state()
        fmu.step(400)
        expected = fmu.get_outputs()
        fmu.set_state(blob)
        fmu.step(400)
        assert np.array_equal(fmu.get_outputs(), expected)


def test_a_variant_sets_its_own_numbers(tmp_path: Path) -> None:
    factory = open_builtin("hmmwv_chrono")
    assert factory.defaults
    packed = open_fmu(export_builtin(tmp_path / "variant.fmu", "hmmwv_chrono"))
    with factory.instance("a") as ours, packed.instance("b") as other:
        for instance in (ours, other):
            instance.setup()
            instance.step(50)
        assert np.array_equal(ours.get_outputs(), other.get_outputs())


@pytest.mark.parametrize("kind", ["fmi3", "fmi3-scalars"])
def test_the_fmi_3_vehicle_of_the_command_line_gives_the_same_bits(
    exported: Callable[[str], Path], tmp_path: Path, kind: str
) -> None:
    path = exported(kind)
    description = fmpy.read_model_description(str(path))
    fmpy.extract(str(path), str(tmp_path / "v"))
    slave = FMU3Slave(guid=description.guid, unzipDirectory=str(tmp_path / "v"), instanceName="v",
                      modelIdentifier=description.coSimulation.modelIdentifier)
    slave.instantiate()
    reference = {v.name: v.valueReference for v in description.modelVariables}
    slave.setFloat64([reference["init.speed"]], [8.0])
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    slave.setFloat64([reference["steering_wheel_angle"]], [0.5])
    with open_builtin().instance("a") as ours:
        ours.setup({"init.speed": 8.0})
        ours.set_values({"steering_wheel_angle": 0.5})
        ours.step(100)
        expected = ours.get_outputs()
    for k in range(10):
        slave.doStep(0.01 * k, 0.01)
    outputs = [v.valueReference for v in description.modelVariables if v.causality == "output" and v.type == "Float64"]
    reals = [(i, s) for i, s in enumerate(open_builtin().table.outputs) if s.signal.type == "Real"]
    assert len(outputs) == (len(reals) if "scalars" in kind else len({s.signal.name for _, s in reals}))
    assert slave.getFloat64(outputs, nValues=len(reals)) == expected[[i for i, _ in reals]].tolist()
    slave.freeInstance()


def test_every_model_and_the_command_line_are_there_without_casadi() -> None:
    """CasADi is an extra for those who change the model: tables of signals and commands do not need it."""
    program = (
        "import sys; sys.modules['casadi'] = None\n"
        "from jounce_fmu.models import data_sets\n"
        "from jounce_fmu.importer.tables import model_table\n"
        "import jounce_tools.cli.main, jounce_service.server.server\n"
        "print(*(name for name in data_sets() if model_table(name).parameters))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == set(data_sets())
