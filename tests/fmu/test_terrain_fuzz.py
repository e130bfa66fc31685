"""The model's reader of terrain files under the sanitizers: thousands of changed files, each with a right SHA-256."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jounce.terrain.crg import read_crg
from jounce.terrain.iso8608 import iso_road
from jounce.terrain.obstacles import bump, half_round, ramp, sine, step
from jounce.terrain.packed import Area, Terrain, save
from jounce_fmu.build.library import PACKAGE

ROADS = Path(__file__).parents[1] / "data" / "roads"
MANY = 20 if os.environ.get("JOUNCE_SLOW") else 1


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    program, models = tmp_path_factory.mktemp("fuzz") / "fuzz", PACKAGE / "models"
    command = [compiler, "-std=c99", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
               *(f"-I{models / name}" for name in ("terrain", "common")), f"-I{PACKAGE / 'runtime' / 'core'}",
               str(Path(__file__).with_suffix("").parent / "terrain_fuzz.c"),
               *(str(models / "terrain" / f"jn_{name}.c") for name in ("terrain", "file", "sha256")),
               "-o", str(program), "-lm"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "cannot find" in done.stderr:
        pytest.skip("the sanitizers are not installed")
    assert done.returncode == 0, done.stderr
    return program


def _things(t: Terrain) -> Terrain:
    shapes = (half_round(4.0, 0.3), bump(5.0, 0.2, 1.0, y=1.0), step(6.0, 0.4, yaw=0.2), ramp(1.0, 0.5, 1.0, top=0.3),
              sine(2.0, 0.2, 1.0, 4.0, left=1.0))  # fmt: skip
    return replace(t.with_obstacles(*shapes), areas=(Area(4.0, 0.0, 0.4, 1.0, 2.0, 0.125),))


def _grid(smooth: bool) -> Terrain:
    z = np.random.default_rng(5).normal(size=(9, 7))
    return _things(Terrain("HEIGHTMAP", z, 0.5, 0.8, (3.0, -2.0), 0.4, smooth=smooth, friction=np.full((9, 7), 0.5)))


KINDS: dict[str, Callable[[], Terrain]] = {
    "grid": lambda: _grid(smooth=False), "spline": lambda: _grid(smooth=True),
    "tracks": lambda: _things(iso_road("B", 1, 20.0)), "road": lambda: _things(read_crg(ROADS / "banked.crg")),
    "closed road": lambda: read_crg(ROADS / "closed.crg"),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_changed_file_is_refused_or_answers_with_numbers(fuzz: Path, tmp_path: Path, name: str) -> None:
    path = save(KINDS[name](), tmp_path / "t.jnt")
    count = MANY * (200 if path.stat().st_size > 20_000 else 1500)
    with tempfile.NamedTemporaryFile(dir="/dev/shm" if Path("/dev/shm").is_dir() else tmp_path) as scratch:
        done = subprocess.run([str(fuzz), str(path), scratch.name, str(count), "1"], capture_output=True, text=True,
                              check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[:3000]
    taken, refused = map(int, done.stdout.split())
    assert taken > count / 20 and refused > count / 5
