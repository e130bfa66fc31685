"""The packed FMU as importers see it."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import oscillator
import pytest
from fmpy.validation import validate_fmu

from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import table
from jounce.signals import Signal, SignalTable
from jounce_fmu.build.library import Sources, compiler
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.description.fmi2 import DescribeError, fmi_name, model_description
from jounce_fmu.description.units import UnitError, exponents
from jounce_fmu.importer.host import Factory, FmuError, open_fmu


def test_fmpy_finds_no_problem(fmu: Path) -> None:
    assert validate_fmu(str(fmu)) == []


def test_each_variable_of_the_vehicle_says_what_tools_ask_for() -> None:
    signals = table(load_vehicle("hmmwv"))
    root = ET.fromstring(model_description(signals, "m"))
    assert [root.find(kind).attrib["needsExecutionTool"] for kind in ("ModelExchange", "CoSimulation")] == ["false"] * 2  # type: ignore[union-attr]
    units = {u.attrib["name"]: u.find("BaseUnit") for u in root.iterfind("UnitDefinitions/Unit")}
    variables = root.findall("ModelVariables/ScalarVariable")
    assert len(variables) == len(signals.scalars) + 2 * len(signals.states)  # and their rates
    for v in variables:
        kind, causality = v[0], v.attrib["causality"]
        assert v.attrib["description"] and (kind.tag != "Real" or units[kind.attrib["unit"]] is not None), v.attrib
        assert (causality in ("input", "parameter")) == ("start" in kind.attrib), v.attrib
        assert kind.tag == "Real" or v.attrib["variability"] != "continuous", v.attrib
        assert causality == "local" or kind.tag != "Real" or "nominal" in kind.attrib, v.attrib
        assert causality != "input" or ("initial" not in v.attrib and {"min", "max"} <= set(kind.attrib)), v.attrib


def test_fmpy_simulates_it_to_the_exact_solution(fmu: Path) -> None:
    result = fmpy.simulate_fmu(str(fmu), stop_time=2.0, output_interval=0.04, output=["position", "tick_count"])
    assert result["time"][-1] == pytest.approx(2.0)
    assert result["tick_count"][-1] == 2000
    expected = [oscillator.exact(t) for t in result["time"]]
    assert np.allclose(result["position"], expected, rtol=0, atol=1e-10)


def test_libcosim_simulates_it_with_fmi_librarys_strict_check(fmu: Path) -> None:
    cosim = pytest.importorskip("libcosimpy")
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    assert cosim is not None
    execution = CosimExecution.from_step_size(step_size=1_000_000)
    slave = execution.add_local_slave(CosimLocalSlave(fmu_path=str(fmu), instance_name="osc"))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    assert execution.step(step_count=500)
    position = next(v for v in fmpy.read_model_description(str(fmu)).modelVariables if v.name == "position")
    value = observer.last_real_values(slave_index=slave, variable_references=[position.valueReference])
    assert value[0] == pytest.approx(oscillator.exact(0.5), abs=1e-9)


def test_our_host_and_the_packed_fmu_agree_bit_for_bit(fmu: Path, factory: Factory) -> None:
    foreign = open_fmu(fmu)
    outputs = [s.name for s in foreign.table.outputs]
    assert outputs[:4] == ["position", "velocity", "acceleration", "tick_count"]
    with factory.instance("a") as ours, foreign.instance("b") as other:
        for instance in (ours, other):
            instance.setup({"x0": 0.3, "cubic": True, "direction": "LEFT"}, {"force": 1.0})
            instance.step(777)
        assert np.array_equal(ours.get_outputs(), other.get_outputs()[:7])


def test_exactly_the_listed_files_compile_with_a_bare_compiler(fmu: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(tmp_path)
    root = ET.parse(tmp_path / "modelDescription.xml").getroot()
    listed = [f.attrib["name"] for f in root.iterfind("CoSimulation/SourceFiles/File")]
    command = [*compiler(), "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC", "-o", "out.so", *listed, "-lm"]
    result = subprocess.run(command, cwd=tmp_path / "sources", capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_same_inputs_give_the_same_bytes(fmu: Path, oscillator_sources: Sources, native: Path,
                                             tmp_path: Path) -> None:
    again = export_fmu(tmp_path / "x.fmu", oscillator.TABLE, oscillator_sources, library_folder=native)
    assert again.read_bytes() == fmu.read_bytes()


def test_a_path_with_unicode_and_spaces_works(oscillator_sources: Sources, native: Path, tmp_path: Path) -> None:
    folder = tmp_path / "Fähre 車 #1 %41"
    folder.mkdir()
    path = export_fmu(folder / "modèle.fmu", oscillator.TABLE, oscillator_sources, library_folder=native)
    with open_fmu(path).instance("名前") as fmu:
        fmu.setup()
        fmu.step()


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm, which lists symbols, is not on this machine")
def test_only_the_fmi_functions_and_the_hash_are_visible(factory: Factory) -> None:
    listing = subprocess.run(["nm", "-D", "--defined-only", factory.library], capture_output=True, text=True,
                             check=True).stdout
    names = {line.split()[-1] for line in listing.splitlines()}
    assert {n for n in names if not n.startswith(("fmi2", "fmi3"))} == {"jn_build_hash", "jn_failed_tick"}


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm, which lists symbols, is not on this machine")
def test_the_library_needs_nothing_but_libc_and_libm(factory: Factory) -> None:
    listing = subprocess.run(["nm", "-D", "--undefined-only", factory.library], capture_output=True, text=True,
                             check=True).stdout
    wanted = [line.split() for line in listing.splitlines()]
    assert wanted and all(kind == "w" or "@GLIBC" in name for kind, name in wanted), listing


def test_an_alias_shares_its_value_reference(fmu: Path) -> None:
    variables = {v.name: v for v in fmpy.read_model_description(str(fmu)).modelVariables}
    assert variables["displacement"].valueReference == variables["position"].valueReference


def test_names_follow_the_style() -> None:
    assert fmi_name("front.stop.depth.10") == "front.stop.depth[10]"
    assert fmi_name("gearbox.up.1.0") == "gearbox.up[1,0]"
    assert fmi_name("wheel_FL.pos.x", "flat") == "wheel_FL_pos_x"
    clash = SignalTable("m", (Signal("a.b", "input", "m", ""), Signal("a_b", "input", "m", "")))
    with pytest.raises(DescribeError, match="a_b"):
        model_description(clash, "m", names="flat")


def test_500_outputs_are_described() -> None:
    many = SignalTable("m", tuple(Signal(f"y{i}", "output", "m", "") for i in range(500)))
    assert model_description(many, "m").count(b"<Unknown ") == 1000


@pytest.mark.parametrize(("unit", "expected"), [
    ("N.m", {"kg": 1, "m": 2, "s": -2}),
    ("N.m/rad", {"kg": 1, "m": 2, "s": -2, "rad": -1}),
    ("kg.m2", {"kg": 1, "m": 2}),
    ("m/s2", {"m": 1, "s": -2}),
    ("1", {}),
    ("1/s", {"s": -1}),
])
def test_units_become_si_exponents(unit: str, expected: dict[str, int]) -> None:
    assert exponents(unit) == expected


@pytest.mark.parametrize("unit", ["deg", "", "N..m", "km/h", "m**2"])
def test_other_units_are_refused(unit: str) -> None:
    with pytest.raises(UnitError):
        exponents(unit)


def test_a_file_that_is_no_fmi2_cs_fmu_is_refused(tmp_path: Path, fmu: Path) -> None:
    stripped = tmp_path / "nobinary.fmu"
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(stripped, "w") as new:
        new.writestr("modelDescription.xml", old.read("modelDescription.xml"))
    with pytest.raises(FmuError, match="no library for this machine"):
        open_fmu(stripped)
