"""Attacks on the server: each is refused on every listener, and the server stays healthy.

One ``jounce serve`` with all five listeners stands all of it. Certificates: ``test_security.py``, ``test_endpoint.py``.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import socket
import struct
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import http2
import pytest
from ports import free_port
from served import ended, eventually, serve
from undisturbed import undisturbed

from jounce_client import Client, JounceError, Session
from jounce_client.compliance.stream import Stream
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc
from jounce_service.session.snapshots import pack
from jounce_service.transport.endpoint import MOST as MOST_SCRAPERS
from jounce_tools.cli import main

pytest.importorskip("prometheus_client", reason="the extra metrics is not installed")

SERVICE = "/jounce.v1.SessionService/"
TOKEN = "correct-horse-battery-staple"
#: Time in which a peer must speak, and connections at a time.
PATIENCE, MOST, MOST_FAST = 1.0, 100, 50
GIGABYTE = 1 << 30
GRPC, FAST = ("gRPC TCP", "gRPC unix"), ("fast TCP", "fast unix")
LISTENERS = (*GRPC, *FAST, "metrics")


@dataclass(frozen=True)
class Target:
    """A server process, and its addresses by listener."""

    process: subprocess.Popen[bytes]
    addresses: dict[str, str]

    def megabytes(self, what: str = "VmRSS") -> float:
        """Resident memory now, or the most of it (``VmHWM``)."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(next(x for x in lines if x.startswith(what)).split()[1]) / 1e3

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def serves(self, *listeners: str) -> bool:
        """Whether each of the listeners does its work: a session that moves, or the metrics of it; and its health."""
        free = next((x for x in listeners if x in GRPC), "gRPC unix")
        for name in listeners:
            if name == "metrics":
                with urllib.request.urlopen(f"http://{self.addresses[name]}/metrics", timeout=10) as reply:
                    assert b"jounce_steps_total" in reply.read()
                continue
            lane = "" if name in GRPC else self.addresses[name]
            with self.client(free if lane else name) as client:
                session = client.create_session("hmmwv")
                with client.join(session, "a", owns=["steering_wheel_angle"], wants=["*"], transport=lane) as member:
                    assert [member.step([0.1]).tick for _ in range(3)] == [1, 2, 3]
                client.delete_session(session)
        return main(["health", self.addresses[free]]) == 0

    def client(self, listener: str = "gRPC unix") -> Client:
        return Client.connect(self.addresses[listener], token=TOKEN, timeout=PATIENCE + 10.0)

    @contextlib.contextmanager
    def session(self) -> Iterator[tuple[Client, Session]]:
        with self.client() as client:
            session = client.create_session("hmmwv")
            yield client, session
            assert client.advance(session, 1).tick == 1
            client.delete_session(session)

    def channel(self, listener: str) -> grpc.Channel:
        """A channel that sends messages of any length."""
        return grpc.insecure_channel(self.addresses[listener], [("grpc.max_send_message_length", -1)])


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("target")
    (folder / "tokens").write_text(TOKEN + "\n")
    metrics = f"127.0.0.1:{free_port()}"
    server = serve(
        folder, "--address=127.0.0.1:0", "--fast-address=127.0.0.1:0", f"--metrics-address={metrics}",
        f"--message-timeout={PATIENCE}", f"--max-connections={MOST}", f"--fast-join-timeout={PATIENCE}",
        f"--max-fast-connections={MOST_FAST}", f"--token-file={folder / 'tokens'}")
    try:
        target = Target(server.process, dict(zip(LISTENERS, [*server.grpc, *server.fast, metrics], strict=True)))
        assert target.serves(*LISTENERS)
        yield target
        server.stop()
    finally:
        server.kill()


@pytest.fixture(autouse=True)
def unharmed(target: Target) -> Iterator[None]:
    """After each attack every listener serves, and memory and descriptors are back."""
    descriptors, megabytes = target.descriptors(), target.megabytes()
    yield
    assert target.serves(*LISTENERS)
    assert eventually(lambda: target.descriptors() <= descriptors)
    assert target.megabytes() - megabytes < 30.0


# ---------------------------------------------------------------- tokens and names


@pytest.mark.parametrize("listener", GRPC)
@pytest.mark.parametrize("token", ["", "x", TOKEN[:-1], TOKEN + "x"])
def test_a_wrong_bearer_token_opens_nothing(target: Target, listener: str, token: str) -> None:
    with pytest.raises(JounceError, match="NOT_AUTHENTICATED"):
        Client.connect(target.addresses[listener], token=token, timeout=10.0)
    with target.channel(listener) as channel:
        shown = (("authorization", f"Bearer {token}"),)
        calls = rpc.SessionServiceStub(channel).Lockstep(iter([pb.LockstepRequest()]), metadata=shown)
        with pytest.raises(grpc.RpcError) as caught:
            next(calls)
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize("lane", ["", *FAST])
def test_a_wrong_session_token_joins_nothing(target: Target, lane: str) -> None:
    with target.session() as (client, session):
        for token in ("", "x", session.token[:-1]):
            stranger = Session(session.id, token, model="hmmwv")
            with pytest.raises(JounceError, match="WRONG_TOKEN|NO_TOKEN"):
                client.join(stranger, "a", transport=target.addresses[lane] if lane else "")


@pytest.mark.parametrize("name", ["../hmmwv", "/etc/passwd", "hmmwv/../hmmwv", "hmmwv\0", ".", "", "a" * 20_000])
def test_no_name_of_a_client_is_a_path(target: Target, name: str) -> None:
    with target.session() as (client, session), target.channel("gRPC unix") as channel:
        stub, metadata = rpc.SessionServiceStub(channel), (("authorization", f"Bearer {TOKEN}"),)
        known = {"session_id": session.id, "token": session.token}
        for call, request, reason in (
            ("CreateSession", pb.CreateSessionRequest(model=name), "UNKNOWN_MODEL"),
            ("DescribeModel", pb.DescribeModelRequest(model=name), "UNKNOWN_MODEL"),
            ("GetSession", pb.GetSessionRequest(session_id=name), "UNKNOWN_SESSION"),
            ("RestoreSnapshot", pb.RestoreSnapshotRequest(**known, snapshot_id=name), "UNKNOWN_SNAPSHOT"),
            ("DeleteSnapshot", pb.DeleteSnapshotRequest(**known, snapshot_id=name), "UNKNOWN_SNAPSHOT"),
            ("DownloadSnapshot", pb.DownloadSnapshotRequest(**known, snapshot_id=name), "UNKNOWN_SNAPSHOT"),
        ):
            with pytest.raises(grpc.RpcError) as caught:
                reply = getattr(stub, call)(request, metadata=metadata)
                list(reply if call == "DownloadSnapshot" else ())
            assert reason in str(caught.value.trailing_metadata()), (call, caught.value)


# ---------------------------------------------------------------- too much


@pytest.mark.parametrize("listener", GRPC)
def test_a_message_that_says_it_has_a_gigabyte_is_refused_at_its_first_bytes(target: Target, listener: str) -> None:
    with http2.connect(target.addresses[listener]) as connection:
        connection.sendall(http2.PREFACE + http2.SETTINGS + http2.headers(SERVICE + "ListModels", token=TOKEN))
        connection.sendall(http2.message(GIGABYTE, b"\0" * 1000))
        assert b"larger than max" in http2.read_until(connection, b"larger than max")
    with target.channel(listener) as channel:
        send = channel.unary_unary(SERVICE + "CreateSession")
        with pytest.raises(grpc.RpcError) as caught:
            send(b"\x0a" + bytes(64 << 20), metadata=(("authorization", f"Bearer {TOKEN}"),))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("lane", FAST)
@pytest.mark.parametrize("joined", [False, True])
def test_on_the_fast_lane_it_ends_its_connection(target: Target, lane: str, joined: bool) -> None:
    with target.session() as (_, session), http2.connect(target.addresses[lane]) as connection:
        if joined:
            join = pb.LockstepRequest(join=pb.Join(session_id=session.id, token=session.token, name="a",
                                                   period_ticks=1)).SerializeToString()
            connection.sendall(struct.pack("<I", len(join)) + join)
            assert len(connection.recv(1 << 16)) > 40
        with contextlib.suppress(OSError):  # it may be quicker than we are
            connection.sendall(struct.pack("<I", GIGABYTE))
            for _ in range(GIGABYTE >> 20):
                connection.sendall(bytes(1 << 20))
            raise AssertionError("it took a gigabyte")
        assert ended(connection)


@pytest.mark.parametrize("words", [b"GET /" + b"x" * (64 << 20), b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * (8 << 20),
                                   b"POST / HTTP/1.1\r\nContent-Length: 1073741824\r\n\r\n" + bytes(64 << 20)],
                         ids=["line", "headers", "body"])
def test_the_metrics_do_not_take_long_requests(target: Target, words: bytes) -> None:
    with http2.connect(target.addresses["metrics"]) as connection:
        with pytest.raises(OSError):
            connection.sendall(words)
        assert ended(connection)


@pytest.mark.parametrize("listener", GRPC)
def test_a_compressed_message_is_not_unpacked(target: Target, listener: str) -> None:
    metadata = (("authorization", f"Bearer {TOKEN}"),)
    with target.channel(listener) as channel:
        # 64 MB of zeros, 64 kB on the wire: well under the cap of a message.
        bomb = channel.unary_unary(SERVICE + "ListModels")
        with pytest.raises(grpc.RpcError) as caught:
            bomb(bytes(64 << 20), compression=grpc.Compression.Gzip, metadata=metadata)
        upload = rpc.SessionServiceStub(channel).UploadSnapshot
        pieces = iter([pb.UploadSnapshotRequest(data=bytes(16 << 20))])
        with pytest.raises(grpc.RpcError) as second:
            upload(pieces, compression=grpc.Compression.Gzip, metadata=metadata)
    for error in (caught.value, second.value):
        # Not unpacked and found too large: not unpacked at all.
        assert error.code() is grpc.StatusCode.UNIMPLEMENTED, error


def test_a_snapshot_that_would_unfold_in_memory_is_not_parsed(target: Target) -> None:
    # The largest that may come, with the right length and hash: 30 million ramps, 1.8 GB if they were made.
    message = b"\x4a\0" * (30 << 20)
    head = pack(pb.Snapshot())[:8] + struct.pack("<Q", len(message))
    data = head + hashlib.sha256(head + message).digest() + message
    with target.session() as (client, session):
        Path(f"/proc/{target.process.pid}/clear_refs").write_text("5")
        for _ in range(4):
            with pytest.raises(JounceError, match="SNAPSHOT_CORRUPT: the content has too many parts"):
                client.upload(session, data)
    # The bytes themselves, and copies of them while they are checked: those of the last one only.
    assert target.megabytes("VmHWM") - target.megabytes() < 5 * len(data) / 1e6


@pytest.mark.parametrize("lane", ["", *FAST])
def test_a_join_of_two_million_names_is_refused_soon(target: Target, lane: str) -> None:
    with target.session() as (client, session):
        names = [""] * 2_000_000
        begin = time.monotonic()
        with pytest.raises(JounceError, match="UNKNOWN_SIGNAL|BAD_FIELD"):
            client.join(session, "a", owns=names, transport=target.addresses[lane] if lane else "")
        assert time.monotonic() - begin < 20.0


@pytest.mark.slow(but=("gRPC TCP", "fast unix"))
@undisturbed
@pytest.mark.parametrize("listener", LISTENERS)
def test_ten_thousand_connections_are_turned_away_at_the_cap_and_let_go_in_time(target: Target, listener: str) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 10_500 <= hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (10_500, hard))
        soft = 10_500
    wanted, before = min(10_000, soft - 500), target.descriptors()
    most = MOST if listener in GRPC else MOST_FAST if listener in FAST else MOST_SCRAPERS
    with contextlib.ExitStack() as stack:
        opened = 0
        for k in range(wanted):
            with contextlib.suppress(OSError):
                stack.enter_context(http2.connect(target.addresses[listener]))
                opened += 1
            if k % 50 == 0:
                # The kernel's queue holds a hundred; who finds it full waits for a second.
                time.sleep(0.02)
        assert opened > 0.9 * wanted
        assert eventually(lambda: target.descriptors() <= before + most + 10, PATIENCE / 2)
        # The other listeners serve, but the fast lane has one cap for both of its own.
        assert target.serves(*(x for x in LISTENERS if x not in (FAST if listener in FAST else (listener,))))
        # Those that do not speak are let go, while they still hold on: a peer gets in.
        assert eventually(lambda: target.descriptors() <= before + 10)
        assert target.serves(listener)


def test_a_server_that_may_open_few_files_is_not_filled_by_strangers(tmp_path: Path) -> None:
    server = serve(tmp_path, "--address=127.0.0.1:0", "--max-connections=200", files=128)
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(300):
                stack.enter_context(http2.connect(server.grpc[0]))
            with Client.connect(server.grpc[1], timeout=5.0) as client:
                assert client.advance(client.create_session("hmmwv"), 5).tick == 5
        server.stop()
    finally:
        server.kill()


# ---------------------------------------------------------------- too slow


@pytest.mark.parametrize("listener", LISTENERS)
def test_peers_that_say_half_a_word_are_let_go(target: Target, listener: str) -> None:
    before = target.descriptors()
    words = {"metrics": (b"", b"GET", b"GET / HTTP/1.1\r\nHost: x\r\n")}
    words |= dict.fromkeys(FAST, (b"", b"\x40", b"\x40\0\0\0\x0a"))
    words |= dict.fromkeys(GRPC, (b"", http2.PREFACE[:9], http2.PREFACE, b"GET / HTTP/1.1\r\n"))
    half: list[socket.socket] = []
    for word in words[listener]:
        for _ in range(5):
            half.append(http2.connect(target.addresses[listener]))
            half[-1].sendall(word)
    assert target.serves(*LISTENERS)
    assert eventually(lambda: target.descriptors() <= before)
    for connection in half:
        connection.close()


@pytest.mark.parametrize("listener", LISTENERS)
def test_a_byte_now_and_then_does_not_buy_more_time(target: Target, listener: str) -> None:
    join = pb.LockstepRequest(join=pb.Join(session_id="x" * 500)).SerializeToString()
    words = {"metrics": b"GET /" + b"x" * 500}
    words |= dict.fromkeys(FAST, struct.pack("<I", len(join)) + join)
    # The rest of the handshake, and then SETTINGS frames without end.
    words |= dict.fromkeys(GRPC, http2.PREFACE + http2.SETTINGS * 50)
    begin, slow = time.monotonic(), True
    with http2.connect(target.addresses[listener]) as connection:
        for byte in words[listener]:
            with contextlib.suppress(OSError):
                connection.sendall(bytes([byte]))
            if slow := not ended(connection, 0.05):
                continue
            break
    assert not slow
    assert time.monotonic() - begin < 10 * PATIENCE


@pytest.mark.parametrize("listener", GRPC)
def test_streams_that_do_not_join_are_ended(target: Target, listener: str) -> None:
    with target.channel(listener) as channel:
        stub = Shown(rpc.SessionServiceStub(channel))
        streams = [Stream(stub) for _ in range(50)]
        for stream in streams[::2]:
            stream.send()
        assert target.serves(*LISTENERS)
        for stream in streams:
            with pytest.raises(grpc.RpcError) as caught:
                while True:
                    stream.read()
            assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


class Shown:
    """A stub whose Lockstep shows the token."""

    def __init__(self, stub: Any) -> None:
        self._stub = stub

    def Lockstep(self, requests: Any, timeout: float | None) -> Any:
        return self._stub.Lockstep(requests, timeout=timeout, metadata=(("authorization", f"Bearer {TOKEN}"),))


def test_an_upload_that_trickles_is_ended(target: Target) -> None:
    with target.session() as (_, session), target.channel("gRPC unix") as channel:

        def pieces() -> Iterator[pb.UploadSnapshotRequest]:
            yield pb.UploadSnapshotRequest(session_id=session.id, token=session.token, size=1 << 20)
            yield pb.UploadSnapshotRequest(data=b"x")
            done.wait(PATIENCE * 60)

        done, begin = threading.Event(), time.monotonic()
        with pytest.raises(grpc.RpcError) as caught:
            rpc.SessionServiceStub(channel).UploadSnapshot(
                pieces(), metadata=(("authorization", f"Bearer {TOKEN}"),))
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        done.set()
        assert time.monotonic() - begin < PATIENCE * 15
