"""Programs that need packages which the client does not bring say so in one line."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

LINES = {
    "commonroad": r"commonroad: there is no \S+ here; in an environment of its own \(docs/commonroad.md\): "
                  r"pip install commonroad-control 'commonroad-io<2026', then pip install \. in the clone\n",
    "autopilot": r"autopilot: there is no jounce\S* here: pip install \. in the clone\n",
    "terramechanics": r"terramechanics: there is no jounce\S* here: pip install \. in the clone\n",
    "compliance": r"the compliance suite needs pytest: pip install 'pytest>=8'\n",
}


@pytest.mark.parametrize(("program", "package"), [
    ("examples.commonroad", "commonroad_control"), ("examples.commonroad", "jounce"), ("examples.autopilot", "jounce"),
    ("examples.terramechanics", "jounce"), ("compliance", "pytest"),
])  # fmt: skip
def test_a_missing_package_is_one_line_with_the_command_that_installs_it(program: str, package: str) -> None:
    # None in sys.modules is Python's own word for a module that cannot be imported.
    text = f"""
import importlib.util, runpy, sys
sys.modules[{package!r}] = None
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == {package!r} else found(name, *rest)
sys.argv = ['program', '--address', 'unix:/nowhere']
runpy.run_module('jounce_client.{program}', run_name='__main__')
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    assert done.returncode != 0
    assert re.fullmatch(LINES[program.rpartition(".")[2]], done.stderr), done.stderr
