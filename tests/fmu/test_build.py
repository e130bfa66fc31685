"""Building: current libraries are kept, stale ones rebuilt, errors carry the compiler's text."""

from __future__ import annotations

import ast
import ctypes
import os
import shlex
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import oscillator
import pytest

from jounce_fmu.build import library as build
from jounce_fmu.build.library import BuildError, Sources, compile_library, ensure_library, has_cc
from jounce_fmu.build.table_c import emit_table
from jounce_fmu.importer.host import Factory, FmuError, open_builtin
from jounce_fmu.models import models


def own_sources(folder: Path) -> tuple[Sources, Path]:
    made = oscillator.sources(folder)
    model = folder / "oscillator.c"
    shutil.copy(made.files[0], model)
    return replace(made, files=(model, *made.files[1:])), model


def logged_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch, first: str = "true") -> Path:
    """The file in which each compilation is a line of arguments; a shell command goes before each."""
    log, compiler = folder / "log", folder / "compiler"
    log.touch()
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {log}\n{first}\nexec {shlex.join(build.compiler())} "$@" -O0\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    return log


def test_a_package_has_the_library_of_each_model_that_keeps_its_library_there() -> None:
    """Who may not write into the package could not use the model otherwise."""
    hook = ast.parse((Path(__file__).parents[2] / "hatch_build.py").read_text(encoding="utf-8"))
    built = [ast.literal_eval(node.value) for node in hook.body
             if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "BUILT"]
    assert [set(names) for names in built] == [{(m.name, m.base) for m in models() if m.libraries == build.NATIVE}]


def test_a_current_library_is_kept_and_a_stale_one_rebuilt(tmp_path: Path) -> None:
    sources, model = own_sources(tmp_path / "c")
    library = ensure_library(sources, tmp_path / "native")
    before = library.stat().st_mtime_ns
    assert ensure_library(sources, tmp_path / "native").stat().st_mtime_ns == before
    model.write_text(model.read_text() + "/* changed */\n")
    ensure_library(sources, tmp_path / "native")
    assert library.stat().st_mtime_ns != before
    function = ctypes.CDLL(str(library)).jn_build_hash
    function.restype = ctypes.c_char_p
    assert function() == sources.build_hash().encode()


def test_a_failed_compile_raises_with_the_compilers_text(tmp_path: Path) -> None:
    sources, model = own_sources(tmp_path / "c")
    model.write_text(model.read_text() + "this is no C;\n")
    with pytest.raises(BuildError, match="oscillator.c"):
        ensure_library(sources, tmp_path / "native")
    assert not list((tmp_path / "native").glob("*.so"))


@pytest.mark.skipif(not has_cc(), reason="zig keeps objects itself")
def test_only_what_changed_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = logged_compiler(tmp_path, monkeypatch)
    monkeypatch.setattr(build, "OBJECTS", tmp_path / "objects")
    sources, model = own_sources(tmp_path / "c")
    header = tmp_path / "c" / "oscillator_own.h"

    def compiled(folder: str, sources: Sources) -> list[str]:
        """Which files were compiled for a library in a folder that has none."""
        log.write_text("")
        library = ensure_library(sources, tmp_path / folder)
        function = ctypes.CDLL(str(library)).jn_build_hash
        function.restype = ctypes.c_char_p
        assert function() == sources.build_hash().encode()
        assert "-shared" in log.read_text()
        return [line.split()[-1] for line in log.read_text().splitlines() if " -c " in line]

    listed = sorted(name for name in sources.packed() if name.endswith(".c"))
    assert compiled("first", sources) == listed
    assert compiled("second", sources) == []
    model.write_text(f'#include "{header.name}"\n' + model.read_text())
    header.write_text("#define ONE 1\n")
    sources = replace(sources, files=(*sources.files, header))
    changed = ["jn_build_hash.c", "oscillator.c"]
    assert compiled("third", sources) == changed
    header.write_text("#define ONE 2\n")
    assert compiled("fourth", sources) == changed
    (tmp_path / "file").touch()
    monkeypatch.setattr(build, "OBJECTS", tmp_path / "file" / "objects")  # where nothing can be kept
    assert compiled("fifth", sources) == listed
    monkeypatch.setattr(build, "OBJECTS", tmp_path / "objects")
    assert not list(build.OBJECTS.glob(".*"))  # no half of one


@pytest.mark.skipif(not has_cc() or sys.platform == "win32", reason="needs a C compiler and locks of files")
def test_two_builds_that_want_the_same_objects_compile_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources, _ = own_sources(tmp_path / "c")
    log = logged_compiler(tmp_path, monkeypatch, "sleep 0.05")  # so that each finds the other at work
    monkeypatch.setattr(build, "OBJECTS", tmp_path / "objects")
    with ThreadPoolExecutor() as pool:  # flock tells threads apart as it does processes
        made = list(pool.map(lambda folder: ensure_library(sources, tmp_path / folder), "ab"))
    compiled = [line.split()[-1] for line in log.read_text().splitlines() if " -c " in line]
    assert sorted(compiled) == sorted(name for name in sources.packed() if name.endswith(".c"))
    assert all(ctypes.CDLL(str(library)).fmi2DoStep for library in made)
    assert not list(build.OBJECTS.glob("*.lock"))


@pytest.mark.skipif(not has_cc(), reason="zig keeps objects itself")
@pytest.mark.parametrize(("model", "name", "levels"), [("halfcar", "halfcar", "02g"), pytest.param(
    "double_wishbone", "hmmwv", build.LEVELS, marks=pytest.mark.slow)])
def test_every_level_of_optimization_gives_the_same_bits(
    model: str, name: str, levels: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources, interface = build.builtin_sources(model, name), open_builtin(name).interface
    seen = set()
    for level in levels:
        monkeypatch.setenv(build.OPTIMIZE, level)
        library = ensure_library(sources, tmp_path / level)
        assert library.parent == (tmp_path / "2" if level == "2" else tmp_path / level / f"O{level}")
        seen.add(driven(Factory(name, library, interface)))
    assert len(seen) == 1


def driven(factory: Factory) -> bytes:
    """Outputs over a second of driving, with each integrator that there is."""
    rows, half_car = [], factory.name == "halfcar"
    for parameters in ({},) if half_car else ({"integrator": "RK4"}, {"integrator": "ROSENBROCK"}):
        with factory.instance("a") as one:
            one.setup(parameters, {})
            for k in range(100):
                one.set_values({"motor_torque": 4.0 * k} if half_car else {"steering_wheel_angle": 0.02 * k})
                one.step(10)
                rows.append(one.get_outputs().tobytes())
    assert len(set(rows)) == len(rows)
    return b"".join(rows)


def test_a_level_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOUNCE_OPTIMIZE", "fast")
    with pytest.raises(build.BadRequest, match="JOUNCE_OPTIMIZE = 'fast': expected 0, 1, 2, 3, g"):
        build.flags()


def test_zig_makes_the_library_where_there_is_no_cc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ziglang")
    sources, _ = own_sources(tmp_path / "c")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("jounce_fmu.build.library.shutil.which", lambda _: None)
    compile_library(sources, tmp_path / "zig.so")
    assert ctypes.CDLL(str(tmp_path / "zig.so")).fmi2DoStep


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    sources, model = own_sources(tmp_path / "c")
    with pytest.raises(BuildError, match="share a name"):
        replace(sources, files=(*sources.files, tmp_path / "d" / model.name))


def test_the_host_names_unknown_parameters_and_what_an_enumeration_allows(factory: Factory) -> None:
    with factory.instance("h") as fmu:
        with pytest.raises(FmuError, match="did you mean stiffness"):
            fmu.setup({"stifness": 1.0})
        fmu.reset()
        with pytest.raises(FmuError, match="direction = 'UP': expected RIGHT, LEFT"):
            fmu.setup({"direction": "UP"})
        fmu.reset()
        fmu.setup({"direction": "LEFT", "mass": "3.5", "cubic": "true"})
    with pytest.raises(FmuError, match="was freed"):
        fmu.reset()


def test_the_table_says_how_many_components_of_a_vector_follow() -> None:
    rows = [line for line in emit_table(oscillator.TABLE, "o").splitlines() if line.startswith("    {")]
    follow = {row.split('"')[1]: int(row.rstrip("},").rsplit(",", 6)[1]) for row in rows}
    assert [follow[n] for n in ("force", "push.x", "push.y", "push.z", "tick_count", "load.x", "tick")] == [
        0, 2, 1, 0, 0, 2, 0]


def test_objects_that_are_used_outlive_those_that_are_not(tmp_path: Path) -> None:
    made, cache = tmp_path / "made.o", tmp_path / "objects"
    made.write_bytes(b"code")
    for k in range(3):
        build._keep(made, cache / f"{k}.o", most=3)
        os.utime(cache / f"{k}.o", (k, k))
    assert build._copied(cache / "0.o", tmp_path / "taken.o")
    build._keep(made, cache / "3.o", most=3)
    assert {path.name for path in cache.iterdir()} == {"0.o", "2.o", "3.o"}
