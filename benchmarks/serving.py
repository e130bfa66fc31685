"""Code that the benchmarks of the service share: servers, inputs of a participant, and the raw peer."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from echo import connect, receive, send
from timing import Samples

from jounce.axles import WHEELS
from jounce_client import Client, Session
from jounce_proto import jounce_pb2 as pb

HERE = Path(__file__).parent
#: 28 scalars: what an autopilot and a terramechanics model together set.
OWNED = [
    "steering_wheel_angle", "steering_wheel_rate",
    *(f"wheel_{w}.{name}" for w in WHEELS for name in ("drive_torque", "brake_torque", "force")),
    "chassis.ext_force", "chassis.ext_moment",
]


@contextlib.contextmanager
def process(command: list[str], ready: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Starts a Python process and waits until it creates the file ``ready``; its log goes to a file beside it."""
    log = logged(ready)
    with log.open("w") as errors, subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.DEVNULL, stderr=errors) as running:
        try:
            deadline = time.monotonic() + 120.0
            while not ready.exists():
                if running.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{' '.join(command[:3])} did not start: {log.read_text()[-2000:]}")
                time.sleep(0.02)
            yield running
        finally:
            running.terminate()


def logged(ready: Path) -> Path:
    """Where a process logs."""
    return ready.with_name(f"{ready.name}.log")


def used(pid: int) -> float:
    """CPU time of a process [ns], where the system tells it; else NaN."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) * 1e9 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Serving:
    """A running `jounce serve`: its process, its log, and where it listens."""

    pid: int
    log: Path
    unix: str
    tcp: str
    fast_unix: str
    fast_tcp: str


@contextlib.contextmanager
def serve(folder: Path, name: str, *flags: str) -> Iterator[Serving]:
    """A server on a unix socket and on TCP, with and without the fast lane."""
    ready, unix, fast = folder / f"{name}.ready", folder / name, folder / f"{name}f"
    command = ["-m", "jounce_tools.cli", "serve", "--address=127.0.0.1:0", f"--socket-path={unix}",
               f"--fast-socket={fast}", "--fast-address=127.0.0.1:0", f"--ready-file={ready}", "--drain=0",
               # Participants that are Python programs take their time to start.
               "--barrier-timeout=60", *flags]
    with process(command, ready) as running:
        found = [a for a in ready.read_text().splitlines() if "unix:" not in a]
        (tcp,) = [a for a in found if not a.startswith("fast:")]
        (fast_tcp,) = [a.removeprefix("fast:") for a in found if a.startswith("fast:")]
        yield Serving(running.pid, logged(ready), f"unix:{unix}", tcp, f"unix:{fast}", fast_tcp)


def moving(client: Client, *participants: str, **options: Any) -> Session:
    """A session of the vehicle at 15 m/s that waits for these participants."""
    return client.create_session("hmmwv", {"init.speed": 15.0}, participants=participants, **options)


def sizes(client: Client) -> tuple[int, int]:
    """Scalars that go out with all of `OWNED`, and that come back."""
    session = moving(client)
    with client.join(session, "probe", owns=OWNED, wants=["*"]) as member:
        found = len(member.inputs), len(member.outputs)
    client.delete_session(session)
    return found


def raw_peer(stack: contextlib.ExitStack, folder: Path, network: str, scalars: tuple[int, int]) -> tuple[Raw, int]:
    """`echo.py` on ``unix`` or ``tcp``, connected; and its process."""
    place = folder / f"raw-{network}"
    path = str(place) if network == "unix" else f"tcp:{place}"
    echo = stack.enter_context(process([str(HERE / "echo.py"), "socket", path, str(scalars[1])], place))
    address = f"unix:{place}" if network == "unix" else place.read_text()
    return Raw(address, [0.0] * scalars[0]), echo.pid


class Raw:
    """Round trips through `echo.py`."""

    def __init__(self, address: str, inputs: list[float]) -> None:
        """Connects."""
        self._socket = connect(address)
        self._inputs, self._tick = inputs, 0
        self.request_bytes = self.reply_bytes = 0

    def trips(self, n: int) -> Samples:
        """`n` round trips."""
        times = []
        for _ in range(n):
            start = time.perf_counter_ns()
            self._tick += 1
            step = pb.Step(epoch=1, tick=self._tick, request=self._tick, inputs=self._inputs)
            data = pb.LockstepRequest(step=step).SerializeToString()
            send(self._socket, data)
            answer = receive(self._socket)
            state = pb.LockstepReply.FromString(answer).state
            outputs = np.array(state.outputs)
            times.append(float(time.perf_counter_ns() - start))
            assert len(outputs) and state.request == self._tick
        self.request_bytes, self.reply_bytes = len(data), len(answer)
        return Samples(times)


