"""Where the server listens, what it refuses, how it stops; the command line."""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import grpc
import pytest
from integrator_model import IntegratorModel, registry

from jounce import __version__
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc
from jounce_service import JounceServer, ServerConfig
from jounce_service.server.settings import load
from jounce_service.transport.security import ConfigError
from jounce_tools.cli import main


@pytest.mark.parametrize(("config", "words"), [
    ({"address": "0.0.0.0:0"}, "--insecure"), ({"address": "[::]:0"}, "--insecure"),
    ({"address": "example.org:1"}, "--insecure"), ({"address": ""}, "nothing to listen on"),
    ({"address": "localhost"}, "host:port"), ({"address": "localhost:99999"}, "host:port"),
    ({"socket_path": "/" + "x" * 107}, "107"), ({"socket_path": "/no/such/folder/s"}, "cannot listen"),
])
def test_a_config_that_cannot_be_served_is_refused_in_words(config: dict[str, Any], words: str, finish: Any) -> None:
    async def start() -> None:
        await JounceServer(registry(IntegratorModel()), ServerConfig(**({"address": "127.0.0.1:0"} | config))).start()

    with pytest.raises(ConfigError, match=words):
        finish(start())


def test_a_non_loopback_address_is_served_with_the_explicit_flag(serve: Any) -> None:
    server = serve(address="0.0.0.0:0", insecure=True)
    assert server.create().tick == 0


def test_a_taken_port_is_refused(server: Any) -> None:
    taken = server.server.addresses[0]
    with pytest.raises(ConfigError, match="cannot listen"):
        server.run(JounceServer(registry(IntegratorModel()), ServerConfig(address=taken)).start())


@pytest.mark.parametrize("lane", ["address", "fast_address"])
def test_a_taken_port_is_named_with_the_reason_and_nothing_else_is_printed(
    server: Any, lane: str, capfd: pytest.CaptureFixture[str]
) -> None:
    taken = server.server.addresses[0]
    config = ServerConfig(**({"address": "127.0.0.1:0"} | {lane: taken}))
    with pytest.raises(ConfigError, match=f"cannot listen.*{taken.rpartition(':')[2]}.*ddress already in use"):
        server.run(JounceServer(registry(IntegratorModel()), config).start())
    assert capfd.readouterr().err == ""
    assert server.create().tick == 0


def test_a_unix_socket_at_which_a_server_listens_is_not_taken_from_it(server: Any) -> None:
    path = server.server.addresses[1].removeprefix("unix:")
    with pytest.raises(ConfigError, match="another server listens"):
        server.run(JounceServer(registry(IntegratorModel()), ServerConfig(address="", socket_path=path)).start())
    assert server.create().tick == 0


def test_a_socket_file_that_a_killed_server_left_is_replaced(serve: Any, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "left"))
    assert serve(address="", socket_path=str(tmp_path / "left")).create().tick == 0


def test_unix_addresses_are_served_as_clients_name_them(serve: Any, tmp_path: Path) -> None:
    server = serve(address=f"unix:{tmp_path / 'a'}", socket_path="", fast_address=f"unix:{tmp_path / 'b'}")
    assert server.server.addresses == (f"unix:{tmp_path / 'a'}",)
    assert server.server.fast.addresses == (f"unix:{tmp_path / 'b'}",)
    assert server.create().tick == 0
    with pytest.raises(ConfigError, match="expected one of them"):
        serve(address="unix:/a", socket_path="/b")


@pytest.mark.parametrize("field", [f for f in fields(ServerConfig) if type(f.default) in (int, float)],
                         ids=lambda f: f.name)
def test_a_number_that_makes_no_sense_is_refused_at_the_start_with_its_name(field: Any) -> None:
    wrong = [-1, -0.5] if field.metadata["least"] == 0 else [-1, 0]
    if isinstance(field.default, float):
        wrong += [math.nan, math.inf]
    for value in wrong:
        with pytest.raises(ConfigError, match=f"{field.name} = {value}: expected {field.metadata['least']}"):
            JounceServer(registry(IntegratorModel()), ServerConfig(**{field.name: value}))


@pytest.mark.parametrize("text", ["1_0", "\uff11", ""])
def test_a_number_in_the_environment_and_in_a_flag_has_plain_digits(text: str, capsys: Any) -> None:
    with pytest.raises(ConfigError, match="JOUNCE_MAX_SESSIONS"):
        load({}, {"JOUNCE_MAX_SESSIONS": text}, None)
    with pytest.raises(SystemExit):
        main(["serve", f"--max-sessions={text}"])
    assert "expected a whole number" in capsys.readouterr().err


def test_a_stopping_server_makes_no_new_session_and_frees_all_models(serve: Any, info: Any) -> None:
    server = serve()
    session = server.create()
    server.server.manager.draining = True
    with pytest.raises(grpc.RpcError) as caught:
        server.create()
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert info(caught.value).reason == "DRAINING"
    server.run(server.server.stop())
    assert server.instance(session).freed == 1


@pytest.mark.parametrize("more", [[], ["--busy-poll=0"], ["--busy-poll=0.001"]])
def test_jounce_serve_says_where_it_listens_and_ends_on_sigterm(tmp_path: Path, more: list[str]) -> None:
    ready, socket = tmp_path / "ready", tmp_path / "s.sock"
    process = subprocess.Popen(
        [sys.executable, "-m", "jounce_tools.cli", "serve", "--address", "127.0.0.1:0", "--socket-path", str(socket),
         "--fast-socket", str(tmp_path / "f"), "--ready-file", str(ready), "--drain", "0.2", *more],
        stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        addresses = ready.read_text().split()
        assert line == f"listening on {' '.join(addresses)}\n"
        assert addresses[1:] == [f"unix:{socket}", f"fast:unix:{tmp_path / 'f'}"]
        for address in addresses[:2]:
            with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as caught:
                rpc.SessionServiceStub(channel).GetSession(pb.GetSessionRequest(session_id="x"))
            assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    finally:
        process.send_signal(signal.SIGTERM)
    end = time.monotonic() + 60.0
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    assert process.returncode == 0


def test_jounce_serve_refuses_a_time_to_poll_that_makes_no_sense(capsys: Any) -> None:
    assert main(["serve", "--address=127.0.0.1:0", "--busy-poll=nan"]) == 2
    assert "busy_poll = nan: expected 0 to 0.1 s" in capsys.readouterr().err


def test_jounce_serve_refuses_an_open_address_with_one_line(capsys: Any) -> None:
    assert main(["serve", "--address", "0.0.0.0:0"]) == 2
    captured = capsys.readouterr().err
    assert "--insecure" in captured
    assert captured.count("\n") == 1


def test_jounce_describe_prints_every_signal_once(capsys: Any) -> None:
    from jounce.data import load_vehicle
    from jounce.models.double_wishbone.signals import table

    assert main(["describe"]) == 0
    firsts = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    names = [first for first in firsts if first != "name"]
    assert sorted(names) == sorted(s.name for s in table(load_vehicle("hmmwv")).signals)


def test_a_server_tells_its_versions_limits_and_addresses(serve: Any) -> None:
    running = serve(max_sessions=7, fast_address="127.0.0.1:0", barrier_timeout=2.5)
    running.create()
    reply = running.stub.GetServer(pb.GetServerRequest())
    assert (reply.api, reply.sessions, reply.draining, reply.records) == ("jounce.v1", 1, False, False)
    assert reply.server_version == __version__
    assert (reply.limits["max_sessions"], reply.limits["barrier_timeout"]) == (7.0, 2.5)
    assert {"max_message_bytes", "session_lease", "late_after", "max_ticks_per_call"} <= set(reply.limits)
    assert list(reply.fast_addresses) == list(running.server.fast.addresses) != []
    assert 0.0 < reply.uptime_seconds < 600.0
