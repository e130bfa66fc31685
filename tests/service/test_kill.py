"""kill -9 of the server and of a worker in the midst of lockstep: what survives is what docs/operations.md says.

A participant's: ``test_faults.py``, over both transports.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import Served, eventually, serve

from jounce_client import Client, JounceError, Participant, Session
from jounce_service.hosting.fmu_model import builtin_registry
from jounce_service.recording.replay import replay

pytest.importorskip("mcap", reason="the extra recording is not installed")

START = {"init.speed": 12.0}
#: Outputs by tick, as bytes: of the pilot's at every tick, of the trailer's at every other one.
Seen = dict[tuple[str, int], bytes]


@pytest.fixture
def started() -> Iterator[list[Served]]:
    servers: list[Served] = []
    yield servers
    for server in servers:
        server.kill()


class Drive:
    """A pilot on gRPC and a trailer on the fast lane, each on a thread, whose inputs are functions of the tick."""

    def __init__(self, client: Client, session: Session, lane: str) -> None:
        self.seen: Seen = {}
        self.errors: list[str] = []
        self.acted: list[tuple[float, int]] = []
        self.until = 0
        self.members = [
            client.join(session, "pilot", owns=["steering_wheel_angle"], wants=["*"]),
            client.join(session, "trailer", owns=["chassis.ext_force"], wants=["*"], period=2, transport=lane)]
        self.threads: list[threading.Thread] = []

    def start(self, until: int) -> None:
        """Steps to that tick, in the background."""
        self.until = until
        self.threads = [threading.Thread(target=self._steps, args=(m, n))
                        for m, n in zip(self.members, ("pilot", "trailer"), strict=True)]
        for thread in self.threads:
            thread.start()

    def join(self) -> None:
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive()

    def run(self, until: int) -> None:
        self.start(until)
        self.join()

    def _steps(self, member: Participant, name: str) -> None:
        try:
            # Also how one learns of a restore.
            member.sync()
            while member.due < self.until:
                tick = member.due
                state = member.step([0.5 * math.sin(0.01 * tick)] if name == "pilot" else [-2.0 * tick, 0.0, 100.0])
                self.seen[name, state.tick] = state.values.tobytes()
                self.acted.append((time.monotonic(), state.tick))
        except JounceError as error:
            self.errors.append(error.reason)


def test_a_server_killed_in_lockstep_comes_back_at_the_same_place_and_what_clients_hold_goes_on(
        tmp_path: Path, started: list[Served]) -> None:
    flags = f"--record={tmp_path / 'rec'}", "--record-every=1"
    started.append(serve(tmp_path, *flags))
    with Client.connect(f"unix:{tmp_path / 's'}") as client:
        session = client.create_session("hmmwv", START, participants=("pilot", "trailer"))
        first = Drive(client, session, f"unix:{tmp_path / 'f'}")
        first.run(200)
        saved = client.save(session)
        data = client.download(session, saved)
        begin = time.monotonic()
        first.start(1 << 30)
        # Long enough for something to be older than what a kill may take.
        assert eventually(lambda: first.members[0].due > 1000 and time.monotonic() > begin + 2.0, 60.0)
        killed = time.monotonic()
        started[0].kill()
        first.join()
        assert len(first.errors) == 2 and set(first.errors) <= {"UNAVAILABLE", "STREAM_ENDED"}
        with pytest.raises(JounceError, match="UNAVAILABLE"):
            client.get_session(session)
        assert (tmp_path / "s").is_socket() and (tmp_path / "f").is_socket()

        # The recording is whole up to the kill, less what was not yet written.
        (recording,) = (tmp_path / "rec").glob("*.mcap")
        before = recording.read_bytes()
        report = replay(recording, builtin_registry())
        assert (report.first, report.complete) == (None, False)
        assert report.ticks >= max(tick for when, tick in first.acted if when < killed - 1.0)

        # The sockets that it has left behind are replaced, the recording is not.
        started.append(serve(tmp_path, *flags))
        assert eventually(lambda: answers(client), 20.0)
        for call in (lambda: client.get_session(session), lambda: client.restore(session, saved),
                     lambda: client.join(session, "pilot", rejoin=first.members[0].token)):
            with pytest.raises(JounceError, match="UNKNOWN_SESSION"):
                call()
        again = client.create_session("hmmwv", participants=("pilot", "trailer"))
        client.restore(again, client.upload(again, data))
        second = Drive(client, again, f"unix:{tmp_path / 'f'}")
        second.run(600)
        assert second.errors == [] and len(second.seen) > 500
        assert all(first.seen[key] == outputs for key, outputs in second.seen.items())
        client.delete_session(again)
    assert recording.read_bytes() == before
    (other,) = set((tmp_path / "rec").glob("*.mcap")) - {recording}
    report = replay(other, builtin_registry())
    assert (report.first, report.complete) == (None, True) and report.ticks >= 399
    started[1].stop()


def answers(client: Client) -> bool:
    try:
        return bool(client.models())
    except JounceError:
        return False


def test_a_worker_killed_in_lockstep_fails_its_session_which_a_restore_brings_back_with_all_who_are_joined(
        tmp_path: Path, started: list[Served]) -> None:
    started.append(serve(tmp_path, "--workers", f"--record={tmp_path / 'rec'}", "--record-every=1"))
    (server,) = started
    with Client.connect(f"unix:{tmp_path / 's'}") as client:
        other = client.create_session("hmmwv", START)
        bystanders = server.children()
        session = client.create_session("hmmwv", START, participants=("pilot", "trailer"), record_every=1)
        (worker,) = server.children() - bystanders
        drive = Drive(client, session, f"unix:{tmp_path / 'f'}")
        drive.run(100)
        saved = client.save(session)
        drive.start(1 << 30)
        assert eventually(lambda: drive.members[0].due > 300, 60.0)
        os.kill(worker, signal.SIGKILL)
        drive.join()
        assert "WORKER_LOST" in drive.errors and set(drive.errors) <= {"WORKER_LOST", "SESSION_FAILED"}
        status = client.get_session(session)
        assert (status.failure_reason, [p.joined for p in status.participants]) == ("WORKER_LOST", [True, True])
        assert "signal 9" in status.failure and status.tick >= 300
        assert client.advance(other, 50).tick == 50

        before, drive.errors, drive.seen = drive.seen, [], {}
        client.restore(session, saved)
        drive.run(300)
        assert drive.errors == [] and len(drive.seen) >= 290
        assert all(before[key] == outputs for key, outputs in drive.seen.items())
        client.delete_session(session)
        assert eventually(lambda: server.children() == bystanders)
        client.delete_session(other)
    reports = [replay(path, builtin_registry()) for path in (tmp_path / "rec").glob("*.mcap")]
    assert [(r.first, r.complete) for r in reports] == [(None, True)] * 2
    assert {r.epochs for r in reports} == {1, 2}
    server.stop()
