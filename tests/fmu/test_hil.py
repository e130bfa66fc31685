"""The sources as a HIL target needs them: six compilers, no allocation, a known stack, a known cost."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import hil
import numpy as np
import pytest

from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import Factory, open_builtin

DOCS = (Path(__file__).parents[2] / "docs" / "hil.md").read_text()
C99, CXX17 = ["-std=c99"], ["-x", "c++", "-std=c++17"]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def documented(pattern: str) -> int:
    found = re.search(pattern, DOCS)
    assert found, f"docs/hil.md says nothing like {pattern}"
    return int(found[1].replace(" ", ""))


def compiler(name: str) -> list[str]:
    if name == "zig":
        if importlib.util.find_spec("ziglang") is None:
            pytest.skip("the package ziglang is not installed")
        return [sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined"]
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return [name]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    with zipfile.ZipFile(export_builtin(folder / "v.fmu", platforms=())) as archive:
        archive.extractall(folder)
    return folder


def slalom(factory: Factory) -> np.ndarray:
    with factory.instance("a") as one:
        one.setup({"init.speed": 10.0, "terrain.slope": 0.05})
        for k in range(100):
            one.set_values({"steering_wheel_angle": 0.02 * k, "wheel_FL.drive_torque": 300.0})
            one.step(2)
        return one.get_outputs()


@pytest.mark.parametrize(("name", "standard"), [
    pytest.param(name, standard, id=f"{name}-{standard[-1].removeprefix('-std=')}",
                 marks=[pytest.mark.slow] * (name == "zig" or standard is CXX17))
    for name in ("gcc", "clang", "zig") for standard in (C99, CXX17)
])  # fmt: skip
def test_the_listed_files_compile_without_a_warning_and_give_the_same_bits(
    name: str, standard: list[str], unpacked: Path, tmp_path: Path
) -> None:
    kind = ElementTree.parse(unpacked / "modelDescription.xml").find("CoSimulation")
    assert kind is not None
    listed = [str(unpacked / "sources" / f.attrib["name"]) for f in kind.iter("File")]
    math = ["-lm"] if standard is C99 else ["-x", "none", "-lm"]
    hil.run([*compiler(name), *standard, *WARNINGS, "-ffp-contract=off", "-shared", "-fPIC", "-o", "v.so", *listed,
             *math], tmp_path)  # fmt: skip
    ours = open_builtin()
    assert np.array_equal(slalom(Factory("theirs", tmp_path / "v.so", ours.interface)), slalom(ours))


@pytest.fixture(scope="module", params=["-O0", pytest.param("-O2", marks=pytest.mark.slow)])
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program; optimized it takes half a minute to compile, and the page is about that."""
    compiler("gcc")
    if sys.platform != "linux":
        pytest.skip("the counting allocator is glibc's")
    folder = tmp_path_factory.mktemp("hil")
    hil.build(folder, request.param)
    return folder


def test_nothing_is_allocated_after_instantiation(target: Path) -> None:
    later, at_start = map(int, hil.run(["./hil", "alloc"], target).split())
    assert later == 0
    assert 10_000 < at_start == documented(r"one block of ([\d ]+) bytes")  # it counts, and it is small


def test_the_stack_is_bounded_and_the_measured_one_stays_within(target: Path, request: pytest.FixtureRequest) -> None:
    bounds = hil.stack_bounds(target)
    bound, chain = max(bounds.values())
    # calls through pointers were followed
    assert any("evaluate" in name or "forward" in name or "jacobian" in name for name in chain)
    assert 1_000 < int(hil.run(["./hil", "stack"], target)) <= bound + 4096  # the rest is libc's, to write a refusal
    assert any(call.startswith("fmi3") for call in bounds)
    if request.node.callspec.params["target"] != "-O2":
        return  # the page's numbers are those of a target
    rows = re.findall(r"^\| ([\d ]+) \| (.*) \|$", DOCS.split("## Cost")[0], re.M)
    most = {call: int(size.replace(" ", "")) for size, calls in rows for call in re.findall(r"`(\w+)`", calls)}
    assert most.keys() < bounds.keys()
    for call, (size, _) in bounds.items():
        getter = re.match("fmi.Get(Real|Integer|Float|U?Int|Boolean|String|Binary)[0-9]*$", call)
        assert size <= most.get(call, most["fmi2GetReal"] if getter else min(most.values())), call
    assert bound <= documented(r"at most ([\d ]+) bytes of stack")


@pytest.mark.skipif(not hil.has_valgrind(), reason="valgrind is not installed")
@pytest.mark.parametrize("target", [pytest.param("-O2", marks=pytest.mark.slow)], indirect=True)
@pytest.mark.parametrize("lanes", [1, 4])
def test_a_step_costs_the_documented_instructions_however_hard_the_manoeuvre(target: Path, lanes: int) -> None:
    counts = hil.instructions(target, lanes, "fmi2DoStep")
    assert max(counts) <= 1.02 * min(counts)
    assert max(counts) == pytest.approx(documented(rf"\| {lanes} \| ([\d ]+) \|"), rel=0.15)  # compilers differ
