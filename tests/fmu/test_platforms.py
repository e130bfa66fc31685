"""Libraries for other machines: where they lie, that they are reproducible, what they compute where they can run."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tomllib
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import oscillator
import pytest
from fmpy.validation import validate_fmu

from jounce_fmu.build.library import PLATFORMS, BuildError, Sources, compile_library, compiler, fmi_headers
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.tables import checked_sources
from jounce_tools.cli.main import main

LOADER = Path(__file__).parent / "models" / "loader.c"
X86_64, ARM64 = 0x01000007, 0x0100000C  # cpu_type_t of <mach/machine.h>
FMI2_MACHINES = {
    "linux64/x.so": ("ELF", 62), "aarch64-linux/x.so": ("ELF", 183), "win64/x.dll": ("PE", 0x8664),
    "darwin64/x.dylib": ("universal", [X86_64, ARM64]),
}  # fmt: skip
FMI3_MACHINES = {
    "x86_64-linux/x.so": ("ELF", 62), "aarch64-linux/x.so": ("ELF", 183), "x86_64-windows/x.dll": ("PE", 0x8664),
    "x86_64-darwin/x.dylib": ("Mach-O", X86_64), "aarch64-darwin/x.dylib": ("Mach-O", ARM64),
}  # fmt: skip


def binaries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {n.removeprefix("binaries/"): archive.read(n) for n in archive.namelist() if n.startswith("binaries/")}


def machine(library: bytes) -> object:
    """What the file's own head says: format and processors."""
    if library[:4] == b"\x7fELF":
        return "ELF", struct.unpack_from("<H", library, 18)[0]
    if library[:2] == b"MZ":
        at = struct.unpack_from("<I", library, 0x3C)[0]
        assert library[at : at + 4] == b"PE\0\0"
        return "PE", struct.unpack_from("<H", library, at + 4)[0]
    magic, count = struct.unpack_from(">II", library)
    if magic == 0xCAFEBABE:
        parts = [struct.unpack_from(">IIIII", library, 8 + 20 * k) for k in range(count)]
        for kind, _, first, size, log2 in parts:
            assert first % (1 << log2) == 0
            assert machine(library[first : first + size]) == ("Mach-O", kind)
        return "universal", [p[0] for p in parts]
    assert struct.unpack_from("<I", library)[0] == 0xFEEDFACF
    return "Mach-O", struct.unpack_from("<I", library, 4)[0]


def load_commands(library: bytes) -> set[int]:
    count, at, found = struct.unpack_from("<I", library, 16)[0], 32, set()
    for _ in range(count):
        kind, size = struct.unpack_from("<II", library, at)
        found.add(kind)
        at += size
    return found


@pytest.mark.parametrize("platforms", [
    ["linux64", "aarch64-linux"],  # zig takes a minute to build what Windows needs
    pytest.param(list(PLATFORMS), marks=pytest.mark.slow),
], ids=["two", "all"])  # fmt: skip
def test_one_command_packs_the_platforms_in_the_standards_folders_and_two_builds_give_the_same_bytes(
    oscillator_sources: Sources, native: Path, tmp_path: Path, platforms: list[str]
) -> None:
    pytest.importorskip("ziglang")
    packed = {}
    for fmi in (2, 3):
        path = export_fmu(tmp_path / f"{fmi}.fmu", oscillator.TABLE, oscillator_sources, library_folder=native,
                          platforms=platforms, fmi=fmi)  # fmt: skip
        assert validate_fmu(str(path)) == []
        packed[fmi] = {name.replace("jounce_oscillator", "x"): data for name, data in binaries(path).items()}
    two, three = packed[2], packed[3]
    assert two["aarch64-linux/x.so"] == three["aarch64-linux/x.so"]
    for made, machines in ((two, FMI2_MACHINES), (three, FMI3_MACHINES)):
        known = {name: kind for name, kind in machines.items() if name in made}
        assert {name: machine(data) for name, data in made.items()} == known
    if len(platforms) == 2:
        assert (len(two), len(three)) == (2, 2)
        return
    assert (len(two), len(three)) == (4, 5)
    # macOS on ARM runs signed code only (LC_CODE_SIGNATURE)
    assert 0x1D in load_commands(three["aarch64-darwin/x.dylib"])
    assert two["win64/x.dll"] == three["x86_64-windows/x.dll"]
    for n, folder in enumerate(("x86_64-darwin", "aarch64-darwin")):
        first, size = struct.unpack_from(">II", two["darwin64/x.dylib"], 8 + 20 * n + 8)
        assert two["darwin64/x.dylib"][first : first + size] == three[f"{folder}/x.dylib"]


def test_a_source_only_fmu_has_no_library_and_every_source(tmp_path: Path) -> None:
    assert main(["export", str(tmp_path / "s.fmu"), "--source-only"]) == 0
    assert binaries(tmp_path / "s.fmu") == {}
    with zipfile.ZipFile(tmp_path / "s.fmu") as archive:
        listed = ElementTree.fromstring(archive.read("modelDescription.xml")).iterfind("CoSimulation/SourceFiles/File")
        names = {f"sources/{f.attrib['name']}" for f in listed}
        assert "sources/double_wishbone.c" in names <= set(archive.namelist())


@pytest.mark.parametrize("wrong", [["--platforms", "beos"], ["--platforms", "linux64,"]])
def test_an_unknown_platform_is_named_with_the_allowed_ones(
    wrong: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(tmp_path / "s.fmu"), *wrong]) == 2
    assert "aarch64-darwin" in capsys.readouterr().err
    assert not (tmp_path / "s.fmu").exists()
    with pytest.raises(SystemExit):
        main(["export", str(tmp_path / "s.fmu"), "--source-only", "--platforms", "all"])


def loaded(command: list[str], guid: str, folder: Path) -> np.ndarray:
    """Outputs after every 100 of 1000 ticks, as bits."""
    environment = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(folder / "wine")}
    done = subprocess.run([*command, guid], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.array([[int(bits, 16) for bits in line.split()] for line in done.stdout.splitlines()], dtype=np.uint64)


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["win64", "aarch64-linux"])
def test_the_library_of_another_machine_gives_the_bits_of_this_one(platform: str, tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    runner, loader = {"win64": ("wine", "loader.exe"), "aarch64-linux": ("qemu-aarch64", "./loader")}[platform]
    sysroot = Path("/usr/aarch64-linux-gnu")
    if shutil.which(runner) is None or (platform != "win64" and not sysroot.is_dir()):
        pytest.skip(f"built, not run: {runner} is not installed")
    _, sources = checked_sources()
    factory = open_builtin()
    suffix, target, _, _ = PLATFORMS[platform]
    compile_library(sources, tmp_path / f"v{suffix}", target)
    for start, name in ((compiler(), "native"), (compiler(target), loader)):
        command = [*start, "-std=c99", "-O2", "-Wall", "-Wextra", f"-I{fmi_headers()}", "-o", name, str(LOADER)]
        command += [] if name == "loader.exe" else ["-ldl"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    ours = loaded(["./native", str(factory.library)], factory.interface.guid, tmp_path)
    command = [runner, *([] if platform == "win64" else ["-L", str(sysroot)]), loader, f"./v{suffix}"]
    theirs = loaded(command, factory.interface.guid, tmp_path)
    assert ours.shape == (10, 186)
    assert 8.0 < ours.view(np.float64)[-1, 0] < 13.0  # it drove: ref_frame.pos.x after 1 s from 12 m/s
    assert np.allclose(theirs.view(np.float64), ours.view(np.float64), rtol=1e-12, atol=1e-12)
    assert np.array_equal(theirs, ours)


@pytest.mark.slow
def test_one_command_makes_the_vehicle_for_every_platform_small_and_with_the_same_bytes_again(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    for name in ("a.fmu", "b.fmu"):
        assert main(["export", str(tmp_path / name), "--platforms", "all"]) == 0
    made = (tmp_path / "a.fmu").read_bytes()
    assert made == (tmp_path / "b.fmu").read_bytes()
    assert len(made) < 8e6
    assert len(binaries(tmp_path / "a.fmu")) == 4  # one file serves both macOS machines
    assert validate_fmu(str(tmp_path / "a.fmu")) == []


def test_an_unknown_platform_raises_before_anything_is_written(oscillator_sources: Sources, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="beos"):
        export_fmu(tmp_path / "x.fmu", oscillator.TABLE, oscillator_sources, platforms=("beos",))
    assert not (tmp_path / "x.fmu").exists()


def test_without_the_cross_compiler_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BuildError, match=r"no cross-compiler for x86_64-windows-gnu.*'jounce\[platforms\]'"):
        compiler("x86_64-windows-gnu")
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert [r.split(">")[0] for r in project["optional-dependencies"]["platforms"]] == ["ziglang"]
