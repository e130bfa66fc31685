"""Models that another package adds are built, exported, hosted, recorded, replayed, swept and linearized like ours."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import fmpy
import fmpy.validation
import numpy as np
import pyarrow.parquet as pq
import pytest

from jounce_client import Client

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "service"))
import served  # noqa: E402

ENTRY_POINTS = """[jounce.models]
broken = added_models:BROKEN
oscillator = added_models:OSCILLATOR
pendulum = added_models:PENDULUM
"""


CASES = """
from pathlib import Path
from jounce_fmu.importer.host import open_builtin
from jounce_service.hosting.fmu_model import FmuModel
from jounce_tools.sweep import plan
from jounce_tools.sweep.run import run_case
path, folder = Path("sweep.toml"), Path("swept") / "results"
folder.mkdir(parents=True)
planned, cases = plan.planned(path, plan.read(path), lambda _: FmuModel(open_builtin("pendulum")))
for case in cases:
    (folder / f"case-{case.number:06}.parquet").write_bytes(run_case(planned, case))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where a package with the three entry points is installed."""
    site = tmp_path_factory.mktemp("site")
    folder = site / "added_models-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: added-models\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(ENTRY_POINTS)
    path = os.pathsep.join([str(site), str(HERE), *filter(None, sys.path)])
    return os.environ | {"PYTHONPATH": path, "JOUNCE_TEST_MODELS": str(tmp_path_factory.mktemp("built"))}


@dataclass(frozen=True)
class Jounce:
    """The command where that package is installed, and the folder in which it runs."""

    environment: dict[str, str]
    folder: Path

    def __call__(self, *arguments: str) -> str:
        """What it prints; it must succeed."""
        ended = subprocess.run([sys.executable, "-m", "jounce_tools.cli", *arguments], env=self.environment,
                               cwd=self.folder, capture_output=True, text=True)  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        return ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def jounce(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Jounce:
    return Jounce(environment, tmp_path_factory.mktemp("runs"))


def swing(angle: float, seconds: float, length: float) -> float:
    """Small free swing of an undamped pendulum, textbook: angle(t) = a0 cos(sqrt(g / l) t)."""
    return angle * math.cos(math.sqrt(9.81 / length) * seconds)


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize(("name", "length"), [("pendulum", 1.0), ("short_pendulum", 0.25)])
def test_it_is_exported_and_runs_in_an_importer(jounce: Jounce, fmi: int, name: str, length: float) -> None:
    jounce("export", f"{name}{fmi}.fmu", "--vehicle", name, "--fmi", str(fmi), "--set", "angle_start=1e-3")
    path = jounce.folder / f"{name}{fmi}.fmu"
    assert not fmpy.validation.validate_fmu(str(path))
    for kind in ("CoSimulation", "ModelExchange"):
        result = fmpy.simulate_fmu(str(path), fmi_type=kind, stop_time=2.0, output_interval=0.01,
                                   relative_tolerance=1e-9)  # fmt: skip
        assert result["angle"][-1] == pytest.approx(swing(1e-3, 2.0, length), abs=1e-7)


def test_it_is_described(jounce: Jounce) -> None:
    text = jounce("describe", "--model", "short_pendulum")
    assert "angle_start" in text and "is ignored: expected a jounce_fmu.models.Model, found a str" in text


def test_one_server_hosts_all_models_and_their_recordings_replay(
        jounce: Jounce, environment: dict[str, str], tmp_path: Path) -> None:
    server = served.serve(tmp_path, f"--record={tmp_path / 'rec'}", "--record-every=1",
                          **{k: environment[k] for k in ("PYTHONPATH", "JOUNCE_TEST_MODELS")})  # fmt: skip
    try:
        with Client.connect(server.grpc[0]) as client:
            assert {"hmmwv", "oscillator", "pendulum", "short_pendulum"} <= set(client.models())
            for name, length in (("pendulum", 1.0), ("short_pendulum", 0.25)):
                session = client.create_session(name, {"angle_start": 1e-3})
                with client.join(session, "pilot", owns=["torque"], wants=["angle"], period=10) as pilot:
                    state = pilot.start
                    while state.time < 1.0:
                        state = pilot.step([0.0])
                    assert state["angle"] == pytest.approx(swing(1e-3, state.time, length), abs=2e-8)
                client.delete_session(session)
            session = client.create_session("oscillator", {"damping": 20.0})
            assert client.advance(session, 20_000, {"force": 25.0}, ["position"])["position"] == pytest.approx(0.5)
            client.delete_session(session)
            client.delete_session(client.create_session("hmmwv"))
    finally:
        server.stop()
    recordings = sorted((tmp_path / "rec").glob("*.mcap"))
    assert len(recordings) == 4
    for recording in recordings:
        assert "zero differences" in jounce("replay", str(recording))


def test_it_is_swept(jounce: Jounce) -> None:
    (jounce.folder / "sweep.toml").write_text(
        'model = "pendulum"\nduration = 1.0\noutput_interval = 0.1\noutputs = ["angle"]\n'
        "[set]\nangle_start = 1e-3\n[grid]\nlength = [0.5, 1.0, 2.0]\n")  # fmt: skip
    if find_spec("ray"):
        jounce("sweep", "sweep.toml", "-o", "swept", "--workers", "1")
    else:  # what Ray's workers run
        subprocess.run([sys.executable, "-c", CASES], env=jounce.environment, cwd=jounce.folder, check=True)
    for case, length in enumerate((0.5, 1.0, 2.0)):
        rows = pq.read_table(jounce.folder / "swept" / "results" / f"case-{case:06}.parquet").to_pydict()
        assert rows["angle"][-1] == pytest.approx(swing(1e-3, 1.0, length), abs=1e-8)


@pytest.mark.parametrize(("name", "stiffness", "damping"), [
    ("pendulum", 9.81, 0.0), ("short_pendulum", 9.81 / 0.25, 0.0), ("oscillator", 25.0, 0.4),
])  # fmt: skip
def test_it_is_linearized(jounce: Jounce, name: str, stiffness: float, damping: float) -> None:
    start = "x0=0" if name == "oscillator" else "angle_start=0"
    jounce("linearize", "--model", name, "-o", f"{name}.npz", "--set", start, "--time", "0.1")
    a = np.load(jounce.folder / f"{name}.npz")["A"]
    assert a == pytest.approx(np.array([[0.0, 1.0], [-stiffness, -damping]]), abs=1e-12)
