"""The client without the rest of jounce: what it imports, and which examples need more."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

#: Other packages are as if they were not installed.
_ALONE = """
import importlib, json, sys
sys.modules.update(dict.fromkeys(("jounce", "jounce_fmu", "jounce_service")))
before = {name.partition(".")[0] for name in sys.modules}
importlib.import_module(sys.argv[1])
names = {name.partition(".")[0] for name, module in sys.modules.items() if module is not None}
print(json.dumps(sorted(n for n in names - before - sys.stdlib_module_names if not n.startswith("_"))))
"""


def alone(module: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", _ALONE, module], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("module", ["jounce_client", "jounce_client.aio", "jounce_client.fast",
                                    "jounce_client.examples.what_if"])  # fmt: skip
def test_the_client_needs_its_three_dependencies_and_nothing_else(module: str) -> None:
    done = alone(module)
    assert done.returncode == 0, done.stderr
    # grpc looks for its sister packages by itself.
    others = {n for n in json.loads(done.stdout) if not n.startswith("grpc")}
    assert others <= {"jounce_client", "jounce_proto", "google", "numpy", "typing_extensions", "cython_runtime"}


@pytest.mark.parametrize("module", ["autopilot", "terramechanics"])
def test_an_example_with_a_law_of_jounce_says_that_it_needs_jounce(module: str) -> None:
    done = alone(f"jounce_client.examples.{module}")
    assert done.returncode == 1
    assert "ModuleNotFoundError" in done.stderr and "jounce" in done.stderr.splitlines()[-1]
