"""C harnesses around the emitted code, for one lane and four."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

FMU = Path(__file__).parents[2] / "fmu" / "jounce_fmu"
PLACES = ("common", "embedded", "double_wishbone", "double_wishbone/generated")
INCLUDES = [f"-I{FMU / 'models' / place}" for place in PLACES]

#: Results are the same bits at every level; with JOUNCE_SLOW it is the product's, which compiles four times as long.
LEVEL = "-O2" if os.environ.get("JOUNCE_SLOW") else "-O0"


def compiled(source: str, folder: Path) -> ctypes.CDLL:
    """The library of one C text that may include models and generated code; skips where it cannot be made or run."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    if not Path("/proc/cpuinfo").exists() or "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    (folder / "harness.c").write_text(source)
    command = [compiler, "-std=c99", "-Wall", "-Werror", LEVEL, "-ffp-contract=off", "-shared", "-fPIC",
               *INCLUDES, "harness.c", "-o", "harness.so", "-lm"]  # fmt: skip
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "harness.so"))
