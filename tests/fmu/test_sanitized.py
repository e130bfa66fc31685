"""All hostile calls of both standards against a library under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import test_fmi3_hostile
import test_hostile_calls

from jounce_fmu.build.library import Sources
from jounce_fmu.importer.host import Factory

FLAGS = ("-std=c99", "-g", "-O1", "-fPIC", "-shared", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
#: Runs each snippet of a file of them in the names of raw.py or raw3.py.
EACH = """import json
for name, code in json.load(open({path!r})).items():
    print(name, flush=True)
    exec(code, dict(globals()))
"""
#: A fault of the kind that the sanitizers are there for, to see that they see.
FAULT = ("f=new(); f.ready(); r=(ct.c_uint * 20)(*[10000] * 20); v=(ct.c_double * 19)(); "
         "f.call('GetReal', r, ct.c_size_t(20), v)")


@pytest.fixture(scope="module")
def sanitized(oscillator_sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The library, and what must be loaded before it."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    folder = tmp_path_factory.mktemp("sanitized")
    for name, data in oscillator_sources.packed().items():
        (folder / name).write_bytes(data)
    files = sorted(p.name for p in folder.glob("*.c"))
    done = subprocess.run([compiler, *FLAGS, "-o", "x.so", *files, "-lm"], cwd=folder, capture_output=True, text=True,
                          check=False)  # fmt: skip
    if "cannot find" in done.stderr:
        pytest.skip("the sanitizers are not installed")
    assert done.returncode == 0, done.stderr
    asked = [[compiler, f"-print-file-name=lib{name}.so"] for name in ("asan", "ubsan")]
    found = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() for command in asked]
    return folder / "x.so", " ".join(found)


def run(sanitized: tuple[Path, str], script: str, guid: str, snippet: str) -> subprocess.CompletedProcess[str]:
    library, before = sanitized
    # Python keeps memory of its own until the end; its lists are guarded only where malloc makes each of them
    environment = {**os.environ, "LD_PRELOAD": before, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
    command = [sys.executable, str(Path(__file__).parent / script), str(library), guid, snippet]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("script", "cases"), [("raw.py", test_hostile_calls.CASES), ("raw3.py", test_fmi3_hostile.CASES)]
)
def test_no_hostile_call_touches_memory_that_is_not_its_own(
    script: str, cases: dict[str, str], sanitized: tuple[Path, str], factory: Factory, tmp_path: Path
) -> None:
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    done = run(sanitized, script, factory.interface.guid, EACH.format(path=str(tmp_path / "cases.json")))
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[:3000]
    assert done.stdout.splitlines() == list(cases)


def test_the_sanitizers_see_a_fault(sanitized: tuple[Path, str], factory: Factory) -> None:
    done = run(sanitized, "raw.py", factory.interface.guid, FAULT)
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr
