"""Recordings that are refused, and those that end before their session: full disks, limits, servers that stop."""

from __future__ import annotations

import random
import resource
import shutil
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from integrator_model import IntegratorModel, registry
from recordings import only, recorded, short

from jounce_client import Client
from jounce_proto import jounce_pb2 as pb
from jounce_service.recording.reader import RecordingError
from jounce_service.recording.replay import replay
from jounce_service.server.server import ConfigError
from jounce_tools.cli.main import main

Start = Callable[..., Any]


def test_a_recording_of_another_build_is_refused(recording: Any, tmp_path: Path) -> None:
    path, other = short(recording, tmp_path), IntegratorModel()
    other.build = "integrator 2"
    with pytest.raises(RecordingError, match="of build 'integrator 1'; here is 'integrator 2'"):
        replay(path, registry(other))


@pytest.mark.parametrize("content", [b"", b"not a recording", b"\x89MCAP0\r\n" + bytes(50)])
def test_what_is_no_recording_is_refused_in_one_line(content: bytes, tmp_path: Path,
                                                     capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.mcap").write_bytes(content)
    assert main(["replay", str(tmp_path / "x.mcap")]) == 2
    assert capsys.readouterr().err.startswith("jounce replay: x.mcap ")


def test_a_server_without_a_folder_refuses_to_record_and_makes_no_session(server: Any, info: Any) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        server.stub.CreateSession(pb.CreateSessionRequest(model="integrator", recording=pb.Recording()))
    assert info(caught.value).reason == "RECORDING_UNAVAILABLE"
    assert not server.model.made
    assert not server.status(server.create()).HasField("recording")


def test_a_folder_that_has_gone_refuses_new_sessions_and_frees_their_model(recording: Any, tmp_path: Path,
                                                                          info: Any) -> None:
    shutil.rmtree(tmp_path / "rec")
    with pytest.raises(grpc.RpcError) as caught:
        recording.create()
    assert info(caught.value).reason == "RECORDING_UNAVAILABLE"
    assert str(tmp_path) not in caught.value.details()
    assert [i.freed for i in recording.model.made.values()] == [1]


def test_a_model_name_cannot_lead_out_of_the_folder(recording: Any, tmp_path: Path) -> None:
    name = "../../../evil name"
    recording.server.manager.registry._openers[name] = lambda: recording.model
    session = recording.stub.CreateSession(pb.CreateSessionRequest(model=name))
    assert session.session_id in only(tmp_path / "rec").name
    assert "evil_name" in only(tmp_path / "rec").name


def test_a_full_recording_ends_and_the_session_goes_on(serve: Start, tmp_path: Path) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1, max_recording_bytes=20_000)
    session = server.create()
    a = server.member(session, "a", inputs=["velocity"])
    end = time.monotonic() + 60.0
    while not server.status(session).recording.failure:
        assert a.step(random.uniform(-1.0, 1.0), 0.0).HasField("state") and time.monotonic() < end
    assert "expected at most 20000" in server.status(session).recording.failure
    assert a.step(1.0, 1.0).HasField("state")
    report = replay(recorded(server, session, tmp_path / "rec"), registry(IntegratorModel()))
    assert (report.first, report.complete) == (None, True) and report.ticks > 0


def test_a_disk_that_fails_ends_the_recording_and_not_the_session(recording: Any) -> None:
    session = recording.create()
    (one,) = recording.server.manager.recorder._recordings

    def full() -> None:
        raise OSError(28, "No space left on device")

    one._writer.end_chunk = full
    a = recording.member(session, "a", inputs=["velocity"])
    end = time.monotonic() + 60.0
    while not recording.status(session).recording.failure:
        assert a.step(1.0, 0.0).HasField("state") and time.monotonic() < end
    assert "No space left" in recording.status(session).recording.failure
    recording.call("DeleteSession", session)


@pytest.fixture
def room() -> Iterator[Callable[[int], None]]:
    """Limits the size of every file that this process writes [bytes]: the kernel refuses what is beyond."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def lose(server: Any, session: Any, room: Callable[[int], None], tmp_path: Path) -> Any:
    """A participant that steps until the disk takes no more of the session's recording; its last reply."""
    a = server.member(session, "a", inputs=["velocity"])
    a.step(1.0, 1.0)
    end = time.monotonic() + 60.0
    while not server.status(session).recording.size:
        assert time.monotonic() < end
        time.sleep(0.01)
    room(only(tmp_path / "rec").stat().st_size + 3000)
    status = server.status(session)
    while not (status.recording.failure or status.failure):
        assert time.monotonic() < end
        a.step(random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0))
        status = server.status(session)
    return a


def test_the_end_of_a_recording_is_told_to_participants_the_log_and_the_metrics(
    serve: Start, tmp_path: Path, room: Callable[[int], None], caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1, metrics_address="127.0.0.1:0")
    session = server.create()
    a = lose(server, session, room, tmp_path)
    end = time.monotonic() + 60.0
    while not a.events:
        assert a.step(1.0, 1.0).HasField("state") and time.monotonic() < end
    assert [e.kind for e in a.events] == [pb.EVENT_KIND_RECORDING_ENDED]
    assert (a.events[0].epoch, server.status(session).failure) == (1, "")
    (warning,) = [r for r in caplog.records if "recording ended" in r.getMessage()]
    assert warning.levelname == "WARNING" and warning.session == session.session_id
    assert "File too large" in warning.text == server.status(session).recording.failure
    with urllib.request.urlopen(f"http://{server.server.metrics_address}/metrics") as page:
        assert b"jounce_lost_recordings_total 1.0" in page.read()
    # What was written before is a recording.
    assert replay(recorded(server, session, tmp_path / "rec"), registry(IntegratorModel())).first is None


@pytest.mark.parametrize("how", ["server", "session"])
def test_a_session_that_must_be_recorded_fails_with_its_recording(
    serve: Start, tmp_path: Path, info: Any, room: Callable[[int], None], how: str
) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1, record_required=how == "server")
    asked = None if how == "server" else pb.Recording(every_ticks=1, fail_session=True)
    session = server.stub.CreateSession(pb.CreateSessionRequest(model="integrator", recording=asked))
    lose(server, session, room, tmp_path)
    status = server.status(session)
    assert (status.state, status.failure_reason) == (pb.SESSION_STATE_FAILED, "RECORDING_LOST")
    assert "File too large" in status.failure
    with pytest.raises(grpc.RpcError) as caught:
        server.call("SaveSnapshot", session)
    assert info(caught.value).reason == "SESSION_FAILED"


def test_a_session_may_do_without_what_the_server_requires(serve: Start, tmp_path: Path,
                                                           room: Callable[[int], None]) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1, record_required=True)
    asked = pb.Recording(every_ticks=1, fail_session=False)
    session = server.stub.CreateSession(pb.CreateSessionRequest(model="integrator", recording=asked))
    a = lose(server, session, room, tmp_path)
    assert a.step(1.0, 1.0).HasField("state")


@pytest.mark.parametrize("how", ["server", "session"])
def test_a_recording_that_is_asked_for_and_cannot_begin_makes_no_session(
    serve: Start, tmp_path: Path, info: Any, room: Callable[[int], None], how: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(record=str(tmp_path / "rec"), record_required=how == "server", max_sessions=1)
    asked = None if how == "server" else pb.Recording()
    room(1000)
    for _ in range(3):
        with pytest.raises(grpc.RpcError) as caught:
            server.stub.CreateSession(pb.CreateSessionRequest(model="integrator", recording=asked))
        assert (info(caught.value).reason, "File too large" in info(caught.value).message) == (
            "RECORDING_UNAVAILABLE", True)
    assert [i.freed for i in server.model.made.values()] == [1, 1, 1]
    assert not list((tmp_path / "rec").iterdir())
    room(1 << 30)
    assert server.stub.CreateSession(pb.CreateSessionRequest(model="integrator", recording=asked)).tick == 0
    assert "recording ended" not in caplog.text


def test_clients_ask_for_a_recording_that_must_last(serve: Start, tmp_path: Path, room: Callable[[int], None]) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1)
    with Client.connect(server.server.addresses[1]) as client:
        session = client.create_session("integrator", record_required=True)
        assert client.get_session(session).recording.name
        (recording,) = server.server.manager.recorder._recordings
        recording.fail("the disk is full")
        end = time.monotonic() + 60.0
        while client.get_session(session).failure_reason != "RECORDING_LOST":
            assert time.monotonic() < end
            time.sleep(0.01)


def test_stopping_the_server_closes_its_recordings_and_ends_the_thread(serve: Start, tmp_path: Path) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1)
    a = server.member(server.create(), "a", inputs=["velocity"])
    recording_thread = [t for t in threading.enumerate() if t.name == "recorder"]
    a.step(1.0, 0.0)
    server.run(server.server.stop())
    assert replay(only(tmp_path / "rec"), registry(IntegratorModel())).complete
    assert not any(t.is_alive() for t in recording_thread) and recording_thread


@pytest.mark.parametrize(("settings", "words"), [
    ({"record_every": 0}, "record_every = 0: expected 1 or more"),
    ({"record": __file__}, "record = .*; expected a folder that can be written"),
])
def test_a_folder_that_cannot_be_is_said_before_anything_is_bound(serve: Start, tmp_path: Path,
                                                                 settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        serve(**{"record": str(tmp_path / "rec")} | settings)


@pytest.mark.parametrize(("absent", "words"), [
    (["mcap", "mcap.records"], "recordings: mcap is not installed: pip install 'mcap"),
    (["mcap.records"], "recordings: .*mcap.records"),
])  # fmt: skip
def test_a_server_without_the_package_says_which(
        serve: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, absent: list[str], words: str) -> None:
    for name in absent:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError, match=words):
        serve(record=str(tmp_path / "rec"))
