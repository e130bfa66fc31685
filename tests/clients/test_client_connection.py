"""The connection itself: servers that do not answer, programs that end without closing, and silent peers."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import grpc
import pytest
from ports import free_port

from jounce_client import AsyncClient, Client, JounceError
from jounce_proto import keepalive
from jounce_service import JounceServer

#: Long after which a call that does not end at once would say so.
LONG = 300.0


def connect(kind: str, address: str, timeout: float = LONG) -> None:
    """Opens and closes a connection of either client."""
    if kind == "sync":
        Client.connect(address, timeout=timeout).close()
        return

    async def run() -> None:
        await (await AsyncClient.connect(address, timeout=timeout)).close()

    asyncio.run(run())


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_where_nobody_listens_connect_says_so_at_once_with_the_reason(kind: str, tmp_path: Path) -> None:
    for address, words in ((f"127.0.0.1:{free_port()}", "Connection refused"),
                           (f"unix:{tmp_path / 'none'}", "No such file"), (f"unix:{tmp_path}", "unix")):
        with pytest.raises(JounceError, match=words) as caught:
            connect(kind, address)
        assert caught.value.reason == "UNAVAILABLE", address


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("address", ["http://localhost:50051", "localhost", "", ":", "unix:", "/tmp/socket", "a:b",
                                     "127.0.0.1:99999", "127.0.0.1:\uff11", "fast:unix:/x", 50051])
def test_what_is_no_address_is_refused_with_what_is_one(kind: str, address: Any) -> None:
    with pytest.raises(JounceError, match="host:port or unix:/path") as caught:
        connect(kind, address)
    assert (caught.value.reason, caught.value.field, caught.value.given) == ("UNAVAILABLE", "address", str(address))


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_peer_that_does_not_answer_is_unavailable_after_the_timeout(kind: str) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(JounceError, match=r"no answer within 0\.3 s") as caught:
            connect(kind, f"127.0.0.1:{silent.getsockname()[1]}", 0.3)
    assert caught.value.reason == "UNAVAILABLE"


def test_a_program_that_tries_until_the_server_is_there_gets_in_with_the_first_try_after_that(
    server: JounceServer, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    for _ in range(10):
        with pytest.raises(JounceError):
            connect("sync", f"unix:{link}")
    link.symlink_to(server.addresses[-1].removeprefix("unix:"))
    connect("sync", f"unix:{link}")


def test_a_keepalive_that_makes_no_sense_is_refused(address: str) -> None:
    for seconds in (-1.0, float("nan"), 1e9):
        with pytest.raises(JounceError, match="keepalive"):
            Client.connect(address, keepalive=seconds)
    Client.connect(address, keepalive=0.0).close()


def test_one_rule_gives_the_options_of_grpc_and_of_a_socket() -> None:
    for seconds in (3.0, 15.0, 60.0):
        options = dict(keepalive.grpc_options(seconds))
        assert options["grpc.keepalive_time_ms"] + options["grpc.keepalive_timeout_ms"] == seconds * 1e3
        with socket.socket() as tcp:
            keepalive.apply(tcp, seconds)
            asked = [tcp.getsockopt(socket.IPPROTO_TCP, o) for o in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL)]
            assert sum(asked) == seconds and tcp.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert tcp.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == seconds * 1e3
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as local:
        keepalive.apply(tcp, 0.0)
        keepalive.apply(local, 15.0)
        assert tcp.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 0


def test_both_ends_of_the_fast_lane_have_it(server: JounceServer) -> None:
    tcp = next(a for a in server.fast.addresses if not a.startswith("unix:"))
    with Client.connect(server.addresses[-1], keepalive=6.0) as client:
        session = client.create_session("integrator")
        with client.join(session, "a", transport=tcp) as member:
            own = member._line._socket  # type: ignore[attr-defined]
            theirs = next(iter(server.fast.connections))._transport.get_extra_info("socket")
            for end, seconds in ((own, 6000), (theirs, 15000)):
                assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == seconds


class TestSilentServers:
    """A server process that is stopped, not ended: its kernel goes on answering."""

    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"keepalive": 1.5}

    def test_a_stopped_client_is_detached_after_the_keepalive(self, server: JounceServer, address: str) -> None:
        program = ("import sys, os, signal; from jounce_client import Client; c = Client.connect(sys.argv[1]);"
                   "s = c.create_session('integrator'); m = c.join(s, 'a', owns=['force']); print(s.id, flush=True);"
                   "os.kill(os.getpid(), signal.SIGSTOP)")
        with subprocess.Popen([sys.executable, "-c", program, address], stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}) as process:
            try:
                assert process.stdout is not None
                session = server.manager.find(process.stdout.readline().strip())
                assert session.connections
                end = time.monotonic() + 30.0
                while session.connections:
                    assert time.monotonic() < end, "a stopped process is still a participant"
                    time.sleep(0.02)
            finally:
                process.kill()


def test_a_stream_that_has_ended_leaves_no_call_alive(address: str) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        with client.join(session, "a", owns=["force"]) as member:
            call = member._line.call  # type: ignore[attr-defined]
            member.step([1.0])
            assert not call.done()
        assert call.done()
        # Nobody refers to it but this test: it is freed here and now, not while Python exits.
        freed = weakref.ref(call)
        del call
        assert freed() is None
        with pytest.raises(JounceError, match="STREAM_ENDED"):
            member.step([1.0])
        frames = client.watch(session, ["*"])
        member = client.join(session, "b", owns=["force"])
        call = member._line.call  # type: ignore[attr-defined]
        assert member.step([1.0]).tick == next(frames).tick == 2
    assert call.done() and call.code() is grpc.StatusCode.CANCELLED
    with pytest.raises((JounceError, StopIteration)):
        next(frames)


def test_a_program_that_closes_nothing_ends(address: str) -> None:
    program = ("import sys; from jounce_client import Client; c = Client.connect(sys.argv[1]);"
               "s = c.create_session('integrator'); f = c.watch(s, ['*']); m = c.join(s, 'a', owns=['force']);"
               "m.step([1.0]); next(f)")
    subprocess.run([sys.executable, "-c", program, address], check=True, timeout=60,
                   env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})


def test_a_viewer_is_in_place_when_watch_returns(address: str, finish: Any) -> None:
    with Client.connect(address) as client:
        for _ in range(20):
            session = client.create_session("integrator")
            frames = client.watch(session, ["tick_count"])
            client.advance(session, 3)
            assert next(frames)["tick_count"] == 3.0
            client.delete_session(session)
        with pytest.raises(JounceError, match="UNKNOWN_SESSION"):
            client.watch(session, ["tick_count"])
        other = client.create_session("integrator")
        with pytest.raises(JounceError, match="UNKNOWN_SIGNAL"):
            client.watch(other, ["nothing"])

    async def run() -> None:
        async with await AsyncClient.connect(address) as client:
            for _ in range(20):
                session = await client.create_session("integrator")
                frames = client.watch(session, ["tick_count"])
                await client.advance(session, 3)
                assert (await anext(frames))["tick_count"] == 3.0
            async with await client.join(session, "a", owns=["force"]) as member:
                for k in range(20):
                    frames = client.watch(session, ["tick_count"])
                    await member.step([1.0])
                    assert (await anext(frames))["tick_count"] == 4.0 + k
                    await frames.aclose()  # type: ignore[attr-defined]
            left = client.watch(session, ["tick_count"])
            await client.delete_session(session)
            unknown = client.watch(session, ["tick_count"])
            other = await client.create_session("integrator")
            assert (await client.advance(other, 1)).tick == 1
            with pytest.raises(JounceError, match="UNKNOWN_SESSION"):
                await anext(unknown)
            assert [f.tick async for f in left] == []

    finish(run())


@pytest.mark.parametrize(("arguments", "field"), [
    ({"period": 0}, "period"), ({"period": -1}, "period"), ({"period": 1.5}, "period"), ({"period": "2"}, "period"),
    ({"period": True}, "period"), ({"period": 2**40}, "period_ticks"), ({"phase": -1}, "phase"),
    ({"phase": 1}, "phase_ticks"), ({"late": "SOMETIMES"}, "late"), ({"late": 3}, "late"),
    ({"owns": "force"}, "inputs"), ({"wants": 5}, "outputs"), ({"owns": [1]}, "inputs"),
    ({"barrier_timeout": "x"}, "barrier_timeout"), ({"barrier_timeout": -1.0}, "barrier_timeout"),
    ({"name": 7}, "name"), ({"name": ""}, "name"),
    ({"rejoin": 1}, "participant_token"),
])
def test_arguments_of_a_join_are_refused_by_name(address: str, arguments: dict[str, Any], field: str,
                                                 finish: Any) -> None:
    given = {"name": "a"} | arguments

    async def run() -> None:
        async with await AsyncClient.connect(address) as client:
            session = await client.create_session("integrator")
            with pytest.raises(JounceError) as caught:
                await client.join(session, **given)
            assert (caught.value.reason, caught.value.field) == ("BAD_FIELD", field)

    with Client.connect(address) as client:
        session = client.create_session("integrator")
        with pytest.raises(JounceError) as caught:
            client.join(session, **given)
        assert (caught.value.reason, caught.value.field) == ("BAD_FIELD", field)
        assert not client.get_session(session).participants
    finish(run())


def test_the_name_of_a_policy_will_do(address: str) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        with client.join(session, "a", owns=["force"], late="HOLD_LAST") as member:
            assert member.step([1.0]).tick == 1
            assert client.get_session(session).participants[0].late == 2


def test_arguments_of_the_other_calls_are_refused_by_name(address: str) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        for field, call in {
            "ticks": lambda: client.advance(session, -1),
            "force": lambda: client.advance(session, 1, {"force": None}),  # type: ignore[dict-item]
            "output_names": lambda: client.advance(session, 1, None, "force"),
            "every": lambda: client.watch(session, ["*"], 0),
            "record_every": lambda: client.create_session("integrator", record_every=0),
            "pacing": lambda: client.create_session("integrator", pacing="REALTIME"),  # type: ignore[arg-type]
            "model": lambda: client.create_session(3),  # type: ignore[arg-type]
            "gain": lambda: client.create_session("integrator", {"gain": None}),  # type: ignore[dict-item]
            "expected_participants": lambda: client.create_session("integrator", participants="pilot"),
        }.items():
            with pytest.raises(JounceError) as caught:
                call()
            assert (caught.value.reason, caught.value.field) == ("BAD_FIELD", field)
        with client.join(session, "a", owns=["force"]) as member:
            for inputs in ({"force": "much"}, {"force": None}, ["much"], [None, {}]):
                with pytest.raises(JounceError):
                    member.step(inputs)  # type: ignore[arg-type]
            assert member.step([1.0]).tick == 1
