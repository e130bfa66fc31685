"""The packed FMI 3 FMU as importers see it."""

from __future__ import annotations

import ctypes
import io
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import oscillator
import pytest
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu
from lxml import etree

from jounce.axles import WHEELS
from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import table
from jounce.signals import Signal, SignalTable
from jounce_fmu.build.library import BuildError, Sources
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.description.fmi2 import DescribeError, model_description
from jounce_fmu.description.fmi3 import instantiation_token, model_description3
from jounce_fmu.description.icon import SIZE, icon_png
from jounce_fmu.description.terminals import terminals_and_icons
from jounce_fmu.importer.host import Factory

SCHEMAS = Path(fmpy.__file__).parent / "schema" / "fmi3"
FORMS = pytest.mark.parametrize("scalars", [False, True], ids=["arrays", "scalars"])


@pytest.fixture(scope="module")
def fmus(oscillator_sources: Sources, native: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    folder = tmp_path_factory.mktemp("fmi3")
    return {
        scalars: export_fmu(folder / f"oscillator_{scalars}.fmu", oscillator.TABLE, oscillator_sources,
                            library_folder=native, fmi=3, scalars=scalars)
        for scalars in (False, True)
    }


def schema(name: str) -> Any:
    return etree.XMLSchema(file=str(SCHEMAS / f"{name}.xsd"))


@FORMS
def test_fmpy_finds_no_problem(fmus: dict[bool, Path], scalars: bool) -> None:
    assert validate_fmu(str(fmus[scalars])) == []


@FORMS
def test_fmutool_finds_no_problem(fmus: dict[bool, Path], scalars: bool) -> None:
    tool = Path(sys.executable).parent / "fmutool"
    if not tool.exists():
        pytest.skip("fmu-manipulation-toolbox is not installed")
    result = subprocess.run([str(tool), "-input", str(fmus[scalars]), "-check"], capture_output=True, text=True,
                            check=False)
    assert result.returncode == 0, result.stdout
    assert "No semantic error against the FMI-3 standard" in result.stdout
    assert "ERROR" not in result.stdout


@FORMS
def test_the_files_of_the_archive_follow_the_schemas(fmus: dict[bool, Path], scalars: bool) -> None:
    with zipfile.ZipFile(fmus[scalars]) as archive:
        for name, xsd in {"modelDescription.xml": "fmi3ModelDescription",
                          "sources/buildDescription.xml": "fmi3BuildDescription",
                          "terminalsAndIcons/terminalsAndIcons.xml": "fmi3TerminalsAndIcons"}.items():
            schema(xsd).assertValid(etree.fromstring(archive.read(name)))
        assert archive.read("terminalsAndIcons/icon.png") == icon_png()
        assert archive.read("binaries/x86_64-linux/jounce_oscillator.so")[:4] == b"\x7fELF"


@FORMS
@pytest.mark.parametrize("names", ["structured", "flat"])
def test_the_vehicle_description_is_valid_and_says_what_the_fmi_2_one_says(
    tmp_path: Path, scalars: bool, names: Any
) -> None:
    signals = table(load_vehicle("hmmwv"))

    def read(xml: bytes) -> Any:
        (tmp_path / "modelDescription.xml").write_bytes(xml)
        # test_builtin.py holds the names against their grammar, which takes seconds
        return fmpy.read_model_description(str(tmp_path / "modelDescription.xml"), validate_model_structure=True)

    two = {v.name: v for v in read(model_description(signals, "jounce_hmmwv", names=names)).modelVariables
           if v.causality != "local"}  # the states of model exchange
    three = read(model_description3(signals, "jounce_hmmwv", names=names, scalars=scalars))
    assert three.guid == instantiation_token(signals, scalars)
    variables = {v.name: v for v in three.modelVariables if v.causality not in ("independent", "local")}
    assert sum(int(np.prod(v.shape)) if v.shape else 1 for v in variables.values()) == len(signals.scalars)
    first = {g.name: g.name + g.components[0] for g in signals.signals if g.shape}
    expected = set(two) if scalars else {g.name for g in signals.signals}
    if names == "structured":
        assert {n.replace("[", ".").replace("]", "") for n in variables} == (
            {n.replace("[", ".").replace("]", "") for n in expected})
        for name, v in variables.items():
            other = two[first.get(name, name)]
            assert (v.valueReference, v.causality, v.unit, v.description) == (
                other.valueReference, other.causality, other.unit, other.description)
            assert (v.min, v.max, v.nominal) == (other.min, other.max, other.nominal)


def test_arrays_carry_their_length_and_all_start_values(fmus: dict[bool, Path]) -> None:
    signals = SignalTable("m", (Signal("n", "input", "1", "", (".x", ".y", ".z"), start=(0.0, 0.5, 1.0), alias="m"),))
    root = etree.fromstring(model_description3(signals, "m"))
    element = root.find("ModelVariables/Float64[@name='n']")
    assert (element.get("start"), element.find("Dimension").get("start")) == ("0.0 0.5 1.0", "3")
    assert element.find("Alias").get("name") == "m"
    scalar = etree.fromstring(model_description3(signals, "m", scalars=True))
    elements = scalar.findall("ModelVariables/Float64")[1:]
    assert [(v.get("name"), v.get("start"), v[0].get("name")) for v in elements] == [
        ("n.x", "0.0", "m.x"), ("n.y", "0.5", "m.y"), ("n.z", "1.0", "m.z")]


def test_a_variable_called_time_and_colliding_names_are_refused() -> None:
    for names in (("time",), ("a.b", "a_b")):
        clash = SignalTable("m", tuple(Signal(n, "input", "m", "") for n in names))
        with pytest.raises(DescribeError, match="two variables would be called"):
            model_description3(clash, "m", names="flat")


def test_the_token_follows_shape_and_form() -> None:
    vector = SignalTable("m", (Signal("a", "input", "m", "", (".x", ".y")),))
    parts = SignalTable("m", tuple(Signal(f"a.{c}", "input", "m", "") for c in "xy"))
    assert len({instantiation_token(t, s) for t in (vector, parts) for s in (False, True)}) == 4


# ---- the same bits through every importer ----------------------------------------------------------------------


def excitation(k: int) -> list[float]:
    return [5.0 * np.sin(0.3 * k), 0.1 * k, -1.0, 2.0 + k]


@pytest.fixture(scope="module")
def in_process(factory: Factory) -> np.ndarray:
    rows = []
    with factory.instance("core") as core:
        core.setup({"x0": 0.3, "cubic": True, "direction": "LEFT"}, start_time=1.0)
        for k in range(60):
            core.set_inputs(np.array(excitation(k)))
            core.step(7)
            rows.append(core.get_outputs())
    return np.array(rows)


@FORMS
@pytest.mark.parametrize("events", [False, True], ids=["step mode", "event mode"])
def test_fmpy_gets_the_bits_of_the_core(
    fmus: dict[bool, Path], in_process: np.ndarray, tmp_path: Path, scalars: bool, events: bool
) -> None:
    description = fmpy.read_model_description(str(fmus[scalars]))
    fmpy.extract(str(fmus[scalars]), str(tmp_path))
    by_name = {v.name: v.valueReference for v in description.modelVariables}
    inputs = [v.valueReference for v in description.modelVariables if v.causality == "input" and not v.alias]
    reals = [v.valueReference for v in description.modelVariables if v.causality == "output" and v.type == "Float64"]
    slave = FMU3Slave(guid=description.guid, unzipDirectory=str(tmp_path), instanceName="o",
                      modelIdentifier=description.coSimulation.modelIdentifier)
    slave.instantiate(eventModeUsed=events)
    slave.setFloat64([by_name["x0"]], [0.3])
    slave.setBoolean([by_name["cubic"]], [True])
    slave.setInt64([by_name["direction"]], [2])
    slave.enterInitializationMode(startTime=1.0)
    slave.exitInitializationMode()
    for k, expected in enumerate(in_process):
        if events:
            if k:
                slave.enterEventMode()
            slave.setFloat64(inputs, excitation(k))
            assert not any(slave.updateDiscreteStates()[:5])
            slave.enterStepMode()
        else:
            slave.setFloat64(inputs, excitation(k))
        assert slave.doStep(1.0 + 0.007 * k, 0.007)[:3] == (False, False, False)
        values = slave.getFloat64(reals, nValues=6)
        assert values[:3] + slave.getInt64([by_name["tick_count"]]) + values[3:] == expected.tolist()
    slave.terminate()
    slave.freeInstance()


@FORMS
def test_simulate_fmu_gives_the_bits_of_the_fmi_2_archive(fmus: dict[bool, Path], fmu: Path, scalars: bool) -> None:
    # fmpy 0.3.32 takes input tables of arrays only where all inputs of a type have one shape: push gets a start value
    t = np.linspace(0.0, 2.0, 201)
    table_of_force = np.array([(x, 5.0 * np.sin(3.0 * x)) for x in t], dtype=[("time", "f8"), ("force", "f8")])
    push = {"push.x": 1.0, "push.y": 2.0, "push.z": 3.0}
    options: dict[str, Any] = {"stop_time": 2.0, "output_interval": 0.01, "input": table_of_force}
    two = fmpy.simulate_fmu(str(fmu), start_values={"x0": 0.2, **push}, **options)
    start = {"x0": 0.2, **(push if scalars else {"push": [1, 2, 3]})}
    three = fmpy.simulate_fmu(str(fmus[scalars]), start_values=start, **options)
    for name in ("time", "position", "velocity", "acceleration", "tick_count"):
        assert np.array_equal(two[name], three[name])
    loads = np.column_stack([two[f"load.{c}"] for c in "xyz"])
    assert np.array_equal(loads, np.column_stack([three[f"load.{c}"] for c in "xyz"]) if scalars else three["load"])
    assert np.ptp(loads[:, 0]) > 9.0
    assert loads[-1, 2] == 3.0


@FORMS
def test_simulate_fmu_in_event_mode_reaches_the_exact_solution(fmus: dict[bool, Path], scalars: bool) -> None:
    result = fmpy.simulate_fmu(str(fmus[scalars]), stop_time=2.0, output_interval=0.04, use_event_mode=True,
                               early_return_allowed=True)
    expected = [oscillator.exact(t) for t in result["time"]]
    assert np.allclose(result["position"], expected, rtol=0, atol=1e-10)
    assert result["tick_count"][-1] == 2000


# ---- sources -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", [["cc", "-std=c99"],
                                      [sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined", "-std=c99"],
                                      ["g++", "-x", "c++", "-std=c++17"]], ids=["cc", "zig", "c++17"])
def test_exactly_the_listed_files_compile_without_a_warning(
    fmus: dict[bool, Path], tmp_path: Path, compiler: list[str]
) -> None:
    if shutil.which(compiler[0]) is None or ("ziglang" in compiler and find_spec("ziglang") is None):
        pytest.skip(f"{compiler[0]} is not on this machine, or lacks ziglang")
    with zipfile.ZipFile(fmus[False]) as archive:
        archive.extractall(tmp_path)
    root = etree.parse(str(tmp_path / "sources" / "buildDescription.xml")).getroot()
    files = [f.get("name") for f in root.iterfind("BuildConfiguration/SourceFileSet/SourceFile")]
    assert root.find("BuildConfiguration").get("modelIdentifier") == "jounce_oscillator"
    command = [*compiler, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", "out.so", *files, "-lm"]
    result = subprocess.run(command, cwd=tmp_path / "sources", capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    library = str(tmp_path / "sources" / "out.so")
    assert hasattr(ctypes.CDLL(library, mode=os.RTLD_NOW), "fmi3DoStep")  # and no file's function is missing


def test_every_function_of_the_header_is_there(factory: Factory) -> None:
    header = (Path(fmpy.__file__).parent / "c-code" / "fmi3Functions.h").read_text()
    declared = {line.split()[-1].rstrip(";") for line in header.splitlines() if line.startswith("FMI3_Export fmi3")}
    library = ctypes.CDLL(str(factory.library))
    assert len(declared) == 75
    assert all(hasattr(library, name) for name in declared)


@FORMS
def test_the_same_inputs_give_the_same_bytes(
    fmus: dict[bool, Path], oscillator_sources: Sources, native: Path, tmp_path: Path, scalars: bool
) -> None:
    again = export_fmu(tmp_path / "x.fmu", oscillator.TABLE, oscillator_sources, library_folder=native, fmi=3,
                       scalars=scalars)
    assert again.read_bytes() == fmus[scalars].read_bytes()


@pytest.mark.slow
def test_windows_and_arm_libraries_get_their_fmi_3_folders(
    oscillator_sources: Sources, native: Path, tmp_path: Path
) -> None:
    pytest.importorskip("ziglang")
    path = export_fmu(tmp_path / "w.fmu", oscillator.TABLE, oscillator_sources, library_folder=native,
                      platforms=("win64", "aarch64-linux"), fmi=3)
    with zipfile.ZipFile(path) as archive:
        assert archive.read("binaries/x86_64-windows/jounce_oscillator.dll")[:2] == b"MZ"
        assert archive.read("binaries/aarch64-linux/jounce_oscillator.so")[18:20] == b"\xb7\0"  # EM_AARCH64


def test_another_fmi_version_is_refused(oscillator_sources: Sources, native: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="FMI version 1: expected 2 or 3"):
        export_fmu(tmp_path / "x.fmu", oscillator.TABLE, oscillator_sources, library_folder=native, fmi=1)
    assert not (tmp_path / "x.fmu").exists()


# ---- terminals and icon ------------------------------------------------------------------------------------------


@FORMS
def test_the_vehicle_has_a_port_per_wheel_and_a_flange_per_axle(scalars: bool) -> None:
    signals = table(load_vehicle("hmmwv"))
    root = etree.fromstring(terminals_and_icons(signals, scalars=scalars))
    schema("fmi3TerminalsAndIcons").assertValid(root)
    described = etree.fromstring(model_description3(signals, "m", scalars=scalars))
    names = {v.get("name") for v in described.find("ModelVariables")}
    terminals = {t.get("name"): {m.get("memberName"): m.get("variableName") for m in t} for t in root.find("Terminals")}
    assert list(terminals) == ["wheel_FL", "wheel_FR", "wheel_RL", "wheel_RR", "driveline_front", "driveline_rear"]
    assert all(set(members.values()) <= names for members in terminals.values())
    assert terminals["wheel_RL"]["force.y" if scalars else "force"] == "wheel_RL.force" + (".y" if scalars else "")
    assert terminals["driveline_rear"] == {
        "left.torque": "wheel_RL.drive_torque", "left.speed": "wheel_RL.omega",
        "right.torque": "wheel_RR.drive_torque", "right.speed": "wheel_RR.omega"}
    assert len({tuple(terminals[f"wheel_{w}"]) for w in WHEELS}) == 1
    assert {"pos", "rot", "point", "moment"} <= {m.split(".")[0] for m in terminals["wheel_FR"]}


def test_the_icon_is_a_png_with_a_dark_tire_on_nothing() -> None:
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(icon_png()))
    assert (image.format, image.mode, image.size) == ("PNG", "RGBA", (SIZE, SIZE))
    assert image.getpixel((0, 0))[3] == 0
    assert image.getpixel((int(0.735 * SIZE), int(0.66 * SIZE))) == (33, 38, 46, 255)


def test_no_enumeration_type_has_a_description_over_which_older_importers_stumble() -> None:
    """fmpy 0.3.20 to 0.3.23 pass every attribute of a type on to a class that has no such field."""
    root = etree.fromstring(model_description3(table(load_vehicle("hmmwv")), "m"))
    types = root.findall("TypeDefinitions/EnumerationType")
    assert len(types) > 1 and all(set(t.attrib) == {"name"} for t in types)
