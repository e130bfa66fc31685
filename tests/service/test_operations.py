"""Settings from three places, metrics, log lines, and the shutdown of a server."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import re
import signal
import socket
import time
import urllib.request
from pathlib import Path
from typing import Any

import grpc
import pytest
from certificates import Authority
from served import ended, eventually
from served import serve as start
from undisturbed import undisturbed

from jounce_client import Client, JounceError
from jounce_proto import jounce_pb2 as pb
from jounce_service.server import logs
from jounce_service.server.config import ServerConfig
from jounce_service.server.settings import load
from jounce_service.transport.security import ConfigError
from jounce_service.transport.stream import Stream
from jounce_tools.cli import main


def test_a_flag_comes_before_a_variable_before_the_file_before_the_default(tmp_path: Path) -> None:
    file = tmp_path / "jounce.toml"
    file.write_text("drain = 7\nmax_sessions = 3\nspin = 0.5\ninsecure = true\n")
    environment = {"JOUNCE_MAX_SESSIONS": "4", "JOUNCE_SPIN": "0.25", "JOUNCE_INSECURE": "no", "PATH": "x"}
    config = load({"spin": 0.125}, environment, file)
    assert (config.drain, config.max_sessions, config.spin, config.insecure) == (7.0, 4, 0.125, False)
    assert type(config.drain) is float
    assert config.max_viewers == ServerConfig().max_viewers
    assert load({}, {"JOUNCE_CONFIG": str(file)}, None).drain == 7.0


@pytest.mark.parametrize(("content", "words"), [
    ("drian = 7", "no setting 'drian'; expected .*drain"), ("drain = '7'", "type float"),
    ("max_sessions = 1.5", "type int"), ("max_sessions = true", "type int"), ("insecure = 1", "type bool"),
    ("[server]\ndrain = 1", "no setting 'server'"), ("drain =", "jounce.toml: "),
])
def test_a_file_that_says_something_else_is_refused_in_words(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "jounce.toml").write_text(content)
    with pytest.raises(ConfigError, match=words):
        load({}, {}, tmp_path / "jounce.toml")
    with pytest.raises(ConfigError, match="cannot read"):
        load({}, {}, tmp_path / "none.toml")


def test_a_variable_that_is_no_number_is_refused_with_one_line(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("JOUNCE_DRAIN", "soon")
    assert main(["serve"]) == 2
    captured = capsys.readouterr().err
    assert "JOUNCE_DRAIN = 'soon': expected a value of type float" in captured and captured.count("\n") == 1


def scrape(server: Any) -> dict[str, float]:
    """Samples by name and labels."""
    address = server.server.metrics_address
    text = urllib.request.urlopen(f"http://{address}/metrics", timeout=5).read().decode()
    return {k: float(v) for k, v in re.findall(r"^(jounce\S+) (\S+)$", text, re.MULTILINE)}


def test_the_metrics_count_what_the_sessions_did_and_never_fall(serve: Any) -> None:
    server = serve(metrics_address="127.0.0.1:0")
    session = server.create(sleep=0.02)
    a = server.member(session, "a", inputs=["force"], period=5)
    for _ in range(3):
        a.step(1.0)
    paced = server.create(pacing=pb.Pacing(mode=pb.PACING_MODE_REALTIME, factor=1000.0), sleep=0.02)
    server.call("Advance", paced, n_ticks=10)
    found = scrape(server)
    assert found["jounce_steps_total"] == 3 * 5 + 10
    assert found["jounce_sessions"] == 2
    assert found["jounce_step_duration_seconds_count"] == 4
    assert found['jounce_step_duration_seconds_bucket{le="0.02"}'] == 0
    assert found['jounce_step_duration_seconds_bucket{le="1.0"}'] == 4
    assert 0.08 <= found["jounce_step_duration_seconds_sum"] < 4.0
    assert found["jounce_overruns_total"] == server.status(paced).pacing.overruns == 1
    assert found['jounce_build_info{version="0.1.0"}'] == 1
    assert 0.0 < found["jounce_realtime_factor"] < 10.0
    server.call("DeleteSession", paced)
    after = scrape(server)
    assert (after["jounce_sessions"], after["jounce_realtime_factor"]) == (1, 0)
    for name in ("jounce_steps_total", "jounce_overruns_total", "jounce_step_duration_seconds_count"):
        assert after[name] == found[name]


def test_metrics_listen_on_loopback_or_with_the_explicit_flag(serve: Any) -> None:
    for config in ({"metrics_address": "0.0.0.0:0"}, {"metrics_address": "here"}):
        with pytest.raises(ConfigError):
            serve(**config)


def test_a_json_log_is_one_object_per_line_whatever_is_said() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonLines())
    logger = logging.Logger("jounce_service.test")
    logger.addHandler(handler)
    logger.warning("two\nlines %s", "ä", extra={"session": "x", "path": Path("p")})
    try:
        raise ValueError("why")
    except ValueError:
        logger.exception("it failed")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["message"], first["level"], first["session"], first["path"]) == ("two\nlines ä", "WARNING", "x", "p")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", first["time"])
    assert "ValueError: why" in second["exception"]


def test_participants_are_told_that_the_server_stops_and_may_end_their_run(serve: Any) -> None:
    server = serve(drain=20.0)
    session = server.create()
    a = server.member(session, "a", inputs=["force"])
    begin = time.monotonic()
    stopping = asyncio.run_coroutine_threadsafe(server.server.stop(), server.loop)
    while not a.events:
        assert a.step(1.0).HasField("state") and time.monotonic() < begin + 10
    assert [e.kind for e in a.events] == [pb.EVENT_KIND_DRAINING]
    assert (a.events[0].epoch, a.events[0].due_tick) == (1, a.events[0].tick)
    # The session goes on, its work can be saved, and nothing new begins.
    assert a.step(2.0).HasField("state")
    assert server.call("SaveSnapshot", session).size > 0
    with pytest.raises(grpc.RpcError) as caught:
        server.create()
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert a.ask(leave=pb.Leave()).HasField("left")
    # Whoever has left may still tidy up.
    time.sleep(0.1)
    assert server.advance(session, 1)
    # Nobody is left: the rest of the time is not waited for.
    stopping.result(60)
    assert time.monotonic() - begin < 15
    assert server.instance(session).freed == 1


def test_a_run_without_participants_may_go_on_too(serve: Any) -> None:
    server = serve(drain=20.0)
    session, watched = server.create(), server.create()
    frames = server.stub.Watch(pb.WatchRequest(session_id=watched.session_id))
    frames.initial_metadata()  # they come when the server has the viewer
    begin = time.monotonic()
    stopping = asyncio.run_coroutine_threadsafe(server.server.stop(), server.loop)
    assert eventually(lambda: server.server.manager.draining)
    for _ in range(10):
        server.advance(session, 1)
        time.sleep(0.1)
    server.call("DeleteSession", session)
    # Nobody uses a session any more; who looks on is let go.
    stopping.result(60)
    assert list(frames) == []
    assert time.monotonic() - begin < 15


def test_a_server_has_stopped_when_its_calls_have_ended(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(drain=0.1)
    orderly, ended = Stream.run, []

    async def slow(*arguments: Any) -> None:
        try:
            await orderly(*arguments)
        finally:
            end = time.monotonic() + 0.2
            while time.monotonic() < end:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.01)
            ended.append(asyncio.current_task())

    async def stop() -> set[Any]:
        before = asyncio.all_tasks()
        await server.server.stop()
        return {task for task in before if not task.done()} - {asyncio.current_task()}

    monkeypatch.setattr(Stream, "run", slow)
    server.member(server.create(), "a", inputs=["force"])
    # A loop may be closed now: gRPC writes a traceback for each call that it would find under way.
    assert server.run(stop()) == set()
    assert len(ended) == 1


def test_jounce_serve_drains_on_sigterm_and_logs_json(tmp_path: Path) -> None:
    served = start(tmp_path, "--log-format=json", "--drain=0.5")
    with Client.connect(f"unix:{tmp_path}/s") as client:
        session = client.create_session("hmmwv")
        member = client.join(session, "a", owns=["steering_wheel_angle"], wants=["speed"])
        served.process.send_signal(signal.SIGTERM)
        with pytest.raises(JounceError):
            while True:
                member.step([0.0])
        assert [e.kind for e in member.events] == ["DRAINING"]
    assert served.process.wait(60) == 0
    lines = [json.loads(line) for line in (tmp_path / "errors").read_text().splitlines()]
    told = [line["message"] for line in lines]
    assert [m for m in told if m in ("session opened", "draining", "session closed")] == [
        "session opened", "draining", "session closed"]
    assert lines[told.index("session opened")]["session"] == session.id


def test_a_json_log_has_every_line_that_anybody_prints(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    certificate, key = authority.issue("server")
    (tmp_path / "torn.fmu").write_bytes(b"PK")
    served = start(tmp_path, "--address=127.0.0.1:0", "--socket-path=", f"--tls-certificate={certificate}",
                   f"--tls-key={key}", f"--fmu={tmp_path / 'torn.fmu'}", "--log-format=json", GRPC_VERBOSITY="INFO")
    errors = tmp_path / "errors"
    try:
        host, _, port = served.grpc[0].rpartition(":")
        with socket.create_connection((host, int(port))) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\n\r\n" * 20)
            assert ended(stranger)
        assert eventually(lambda: "Handshake failed" in errors.read_text())
        served.stop()
    finally:
        served.process.kill()
    lines = [json.loads(line) for line in errors.read_text().splitlines()]
    assert [x["logger"] for x in lines if "Handshake failed" in x["message"]] == ["stderr"]
    assert [x["level"] for x in lines if "torn.fmu cannot be opened" in x["message"]] == ["WARNING"]
    assert lines[-1]["message"] == "draining"


def test_a_taken_metrics_port_leaves_nothing_bound(serve: Any) -> None:
    taken = serve(metrics_address="127.0.0.1:0").server.metrics_address
    with pytest.raises(ConfigError, match="cannot listen"):
        serve(metrics_address=taken, socket_path="", fast_address="127.0.0.1:0")


@undisturbed
def test_the_metrics_count_misses_time_outs_evictions_and_failures_and_keep_them(serve: Any) -> None:
    server = serve(metrics_address="127.0.0.1:0")
    session = server.create()
    a = server.member(session, "a", timeout=0.1)
    b = server.member(session, "b", inputs=["force"], late=pb.LATE_POLICY_HOLD_LAST, late_after=0.01)
    for tick in range(3):
        assert a.step().state.tick == tick + 1
    server.call("EvictParticipant", session, name="b")
    assert b.step(1.0).error.reason == "EVICTED"
    server.member(session, "c")
    assert a.step().error.reason == "BARRIER_TIMEOUT"
    server.member(session, "d", late=pb.LATE_POLICY_FAIL).call.cancel()
    assert eventually(lambda: server.status(session).state == pb.SESSION_STATE_FAILED)
    wanted = {"missed_ticks": 3, "evictions": 1, "barrier_timeouts": 1, "failed_sessions": 1}

    def counted() -> dict[str, int]:
        with urllib.request.urlopen(f"http://{server.server.metrics_address}") as reply:
            lines = reply.read().decode().splitlines()
        found = dict(line.split() for line in lines if not line.startswith("#") and "{" not in line)
        return {name: int(float(found[f"jounce_{name}_total"])) for name in wanted}

    assert counted() == wanted
    server.call("DeleteSession", session)
    assert counted() == wanted
