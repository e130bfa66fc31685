"""Real-time priority, locked memory, cores that stay awake or are pinned: what was granted, and what was refused."""

from __future__ import annotations

import contextlib
import ctypes as ct
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jounce_client import Client, JounceError
from jounce_service.server import realtime
from jounce_service.server.config import ServerConfig
from jounce_tools.cli import main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="SCHED_FIFO, mlockall and /proc are Linux's")
#: <linux/prctl.h> and <linux/capability.h>.
PR_CAPBSET_DROP, CAP_IPC_LOCK, CAP_SYS_NICE = 24, 14, 23


def may_have_priority() -> bool:
    """Whether this machine grants it, tried in a process that ends at once."""
    code = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def without_rights() -> None:
    """A program that is started from here has neither right, even for root."""
    for capability in (CAP_IPC_LOCK, CAP_SYS_NICE):
        ct.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


@contextlib.contextmanager
def served(folder: Path, *flags: str, before: Callable[[], None] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """A server's process id, and its log line on what was granted."""
    ready, log = folder / "ready", folder / "log"
    command = [sys.executable, "-m", "jounce_tools.cli", "serve", "--address=", f"--socket-path={folder}/s",
               f"--ready-file={ready}", "--log-format=json", "--drain=0", *flags]
    with log.open("w") as errors, subprocess.Popen(
            command, stderr=errors, stdout=subprocess.DEVNULL, preexec_fn=before,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}) as process:
        try:
            end = time.monotonic() + 600  # models may be compiled first
            while not ready.exists():
                assert process.poll() is None and time.monotonic() < end, log.read_text()
                time.sleep(0.05)
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            yield process.pid, next(line for line in lines if line["message"] == "real time")
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()


def threads(pid: int) -> list[tuple[int, int, set[int]]]:
    """Policy, priority and cores of each thread."""
    found = []
    for thread in (int(p.name) for p in Path(f"/proc/{pid}/task").iterdir()):
        with contextlib.suppress(ProcessLookupError):  # one that has just ended
            found.append((os.sched_getscheduler(thread), os.sched_getparam(thread).sched_priority,
                          os.sched_getaffinity(thread)))
    return found


def children(pid: int) -> list[int]:
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # one that has just ended
            found += map(int, (thread / "children").read_text().split())
    return found


def keeps_cores_awake(pid: int) -> bool:
    """Whether it holds the latency that the kernel may take to 0."""
    held = [os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()]
    return held.count("/dev/cpu_dma_latency") == 1 and Path("/dev/cpu_dma_latency").read_bytes() == bytes(4)


def locked_kb(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmLck:")[2].split()[0])


@pytest.mark.skipif(not may_have_priority(), reason="no real-time priority for this user (CAP_SYS_NICE, RLIMIT_RTPRIO)")
def test_every_thread_gets_priority_and_core_and_a_looping_worker_on_that_core_is_killed(
        tmp_path: Path, bad: Path) -> None:
    core = max(os.sched_getaffinity(0))
    flags = ["--realtime", "--realtime-priority=7", f"--realtime-cores={core}", f"--fmu={bad}", "--worker-seconds=0.5"]
    with served(tmp_path, *flags) as (pid, told), Client.connect(f"unix:{tmp_path}/s") as client:
        assert (told["priority"], told["cores"]) == ("7", str(core))
        looked_at = threads(pid)
        assert looked_at == [(os.SCHED_FIFO, 7, {core})] * len(looked_at) != []
        assert (told["memory"] == "locked") == (locked_kb(pid) > 10_000)
        assert (told["idle"] == "polling") == keeps_cores_awake(pid)
        session = client.create_session("hostile")
        (worker,) = children(pid)
        assert os.sched_getparam(worker).sched_priority == 6, "the server comes before its worker"
        with pytest.raises(JounceError, match="WORKER_LOST"):
            client.advance(session, 1, {"act": 2.0})


def test_a_server_without_the_rights_says_so_pins_nothing_and_serves(tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    flags = ["--realtime", f"--realtime-cores={core}"]
    with served(tmp_path, *flags, before=without_rights) as (pid, told), Client.connect(f"unix:{tmp_path}/s") as client:
        assert told["level"] == "WARNING"
        assert told["priority"].startswith("refused: Operation not permitted") and "CAP_SYS_NICE" in told["priority"]
        assert told["cores"] == "not pinned without priority"
        looked_at = threads(pid)
        assert looked_at == [(os.SCHED_OTHER, 0, os.sched_getaffinity(0))] * len(looked_at) != []
        assert (told["memory"] == "locked") == (locked_kb(pid) > 0)
        assert "hmmwv" in client.models()


def test_what_is_not_to_be_had_is_a_warning_with_its_reason(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(realtime, "_LATENCY", tmp_path / "absent")
    monkeypatch.setattr(realtime, "_prioritize", lambda _: "40")
    monkeypatch.setattr(realtime, "_lock_memory", lambda: "locked")
    with caplog.at_level("INFO"):
        realtime.enter(ServerConfig(realtime=True))
    (line,) = [record for record in caplog.records if record.message == "real time"]
    assert line.levelname == "WARNING"
    assert line.__dict__["idle"].startswith("refused: No such file or directory; it needs write access to")


@pytest.mark.parametrize(("flags", "words"), [
    (["--realtime-cores=0"], "realtime_cores: expected with realtime"),
    (["--realtime", "--realtime-cores=9999"], "realtime_cores = '9999': expected cores of"),
    (["--realtime", "--realtime-cores=0,x"], "realtime_cores = '0,x': expected cores of"),
    (["--realtime", "--realtime-cores=1-0"], "realtime_cores = '1-0': expected cores of"),
    (["--realtime", "--realtime-priority=99"], "realtime_priority = 99: expected 2 to 98"),
    (["--realtime", "--realtime-priority=1"], "realtime_priority = 1: expected 2 to 98"),
])
def test_settings_that_make_no_sense_end_the_start_with_one_line(
        flags: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *flags]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_cores_are_numbers_and_ranges_of_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 3, 5})
    assert realtime.check(ServerConfig(realtime=True, realtime_cores="0, 2-3")) == {0, 2, 3}
    assert realtime.check(ServerConfig(realtime=True)) == frozenset()


#: A program of a user's: it hosts a truck, whose opening needs a BLAS, in its own process and in a worker.
PROGRAM = """
import asyncio, os, sys
from jounce_client import AsyncClient
from jounce_service import JounceServer, ServerConfig
from jounce_service.hosting.fmu_model import registry
from jounce_service.hosting.models import Registry

async def main(core):
    models = {str(w): lambda w=w: registry(ServerConfig(workers=w)).get("class3") for w in (False, True)}
    config = ServerConfig(address="127.0.0.1:0", realtime=True, realtime_cores=core)
    server = JounceServer(Registry(models), config)
    await server.start()
    print({os.sched_getscheduler(int(thread)) == os.SCHED_FIFO for thread in os.listdir("/proc/self/task")})
    async with await AsyncClient.connect(server.addresses[0]) as client:
        for model in models:
            async with await client.create_session(model) as session:
                print((await client.advance(session, 5)).tick)
    await server.stop()

asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.skipif(not may_have_priority(), reason="no real-time priority for this user (CAP_SYS_NICE, RLIMIT_RTPRIO)")
def test_a_program_that_serves_a_truck_in_real_time_has_opened_it_before(tmp_path: Path) -> None:
    """Threads of a BLAS that spin on one real-time core never end."""
    core = str(max(os.sched_getaffinity(0)))
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", PROGRAM, core], env=environment, cwd=tmp_path, capture_output=True,
                          text=True, timeout=100, check=False)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "{True}\n5\n5\n"), done.stderr[-2000:]
