"""The C++ client, built from the wire contract with Debian's grpc++, against real servers and the Python client."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jounce_client import Client
from jounce_service import JounceServer

ROOT = Path(__file__).parents[2]
HEADERS = (Path("/usr/include/grpcpp/grpcpp.h"), Path("/usr/include/google/protobuf/message.h"))
ABSENT = [t for t in ("cmake", "c++", "make", "protoc", "grpc_cpp_plugin") if not shutil.which(t)]
ABSENT += [str(h) for h in HEADERS if not h.exists()]
pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"the packages of docs/cpp.md are not there: {', '.join(ABSENT)}")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example and the scenario, with every access and every overflow checked."""
    folder = tmp_path_factory.mktemp("cpp")
    for command in (["cmake", "-S", str(ROOT / "clients" / "cpp"), "-B", str(folder), "-DJOUNCE_SANITIZE=ON",
                     # Each header is read once.
                     "-DCMAKE_UNITY_BUILD=ON"],
                    ["nice", "cmake", "--build", str(folder)]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "warning:" not in done.stdout + done.stderr, done.stdout + done.stderr
    return folder


def run(program: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("listener", [0, 1], ids=["tcp", "unix"])
def test_the_lockstep_loop_in_cpp_gives_the_python_clients_bits(built: Path, server: JounceServer,
                                                                listener: int) -> None:
    address = server.addresses[listener]
    done = run(built / "loop", address, "integrator", "velocity", 300)
    assert (done.returncode, done.stderr) == (0, "")
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        with client.join(session, "pilot", owns=["velocity"], wants=["*"]) as pilot:
            states = [pilot.step([0.01 * k, 0.01 * k + 0.1]) for k in range(300)]
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [int(line[0]) for line in lines] == [s.tick for s in states]
    ours = np.array([[float.fromhex(x) for x in line[1:]] for line in lines])
    assert ours.shape == (300, 5)
    assert ours.tobytes() == np.array([s.values for s in states]).tobytes()
    assert len(set(ours[:, 3])) == 300


def test_refusals_barriers_resets_snapshots_and_rejoins_reach_cpp_as_they_are(built: Path, address: str) -> None:
    done = run(built / "scenario", address)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all good\n", "")


def test_a_server_that_is_killed_is_an_exception_in_cpp_that_says_so(built: Path, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("stand_in_serve.py")), "serve", "--address=",
         f"--socket-path={tmp_path / 's'}", f"--ready-file={ready}"], stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    try:
        while not ready.exists():
            assert server.poll() is None
            time.sleep(0.05)
        command = [str(built / "loop"), f"unix:{tmp_path / 's'}", "hmmwv", "chassis.ext_force", "100000000"]
        loop = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert loop.stdout is not None
        assert loop.stdout.readline().startswith("1 ")
        server.kill()
        _, said = loop.communicate(timeout=60)
    finally:
        server.kill()
        server.wait(60)
    assert loop.returncode == 1
    assert said.startswith("UNAVAILABLE: ")


@pytest.mark.parametrize(("arguments", "said"), [
    (["integrator", "speed", 1], "UNKNOWN_SIGNAL: no input named 'speed'; field speed; given speed; expected "),
    (["integrator", "velocity", 1001],
     "INPUT_OUT_OF_RANGE: velocity.y = 10.01: expected a finite number from -10.0 to 10.0 m/s; "),
    (["none", "velocity", 1], "UNKNOWN_MODEL: "),
])
def test_a_refusal_is_printed_with_what_was_given_and_what_is_allowed(built: Path, address: str,
                                                                     arguments: list[object], said: str) -> None:
    done = run(built / "loop", address, *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(said)


def test_the_benchmarks_program_times_each_step_of_a_session_that_it_may_only_join(built: Path, address: str) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        command = [built / "grpc_loop", address, session.id, session.join_token, "bench", "velocity", "force"]
        done = subprocess.run(list(map(str, command)), input="3\n4\n", capture_output=True, text=True, timeout=60)
        assert client.get_session(session).tick == 7
    assert (done.returncode, done.stderr) == (0, "")
    times = [float(word) for line in done.stdout.splitlines() for word in line.split()]
    assert len(times) == 2 * 7
    assert times == sorted(times)  # each step ends after its begin, and before the next one
    assert all(end - begin > 1e3 for begin, end in zip(times[::2], times[1::2], strict=True))


class TestSecured:
    @pytest.fixture
    def settings(self, secured: dict[str, Any]) -> dict[str, Any]:
        return secured

    def test_tls_and_a_bearer_token_let_cpp_in_and_nothing_less_does(self, built: Path, server: JounceServer,
                                                                     tmp_path: Path) -> None:
        done = run(built / "scenario", server.addresses[0], tmp_path / "authority.pem", "correct-horse-battery")
        assert (done.returncode, done.stdout, done.stderr) == (0, "all good\n", "")
