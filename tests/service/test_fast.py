"""The fast lane's own rules: hostile bytes, requests sent ahead, ends of a connection, limits."""

from __future__ import annotations

import os
import random
import socket
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from undisturbed import undisturbed

from jounce_proto import jounce_pb2 as pb
from jounce_service.transport.fast_lane import Closed, FastLane
from jounce_service.transport.security import ConfigError


@pytest.fixture
def fast() -> bool:
    return True


def framed(message: Any) -> bytes:
    data = message.SerializeToString()
    return struct.pack("<I", len(data)) + data


def step(tick: int, *inputs: float, epoch: int = 1) -> bytes:
    return framed(pb.LockstepRequest(step=pb.Step(epoch=epoch, tick=tick, request=tick + 1, inputs=inputs)))


def wait_until(condition: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.01)


def joined(server: Any, session: Any) -> list[str]:
    return [p.name for p in server.status(session).participants if p.joined]


HOSTILE = [
    pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Closed.TOO_LONG, id="a gRPC client"),
    pytest.param(b"\xff\xff\xff\xff", Closed.TOO_LONG, id="four gigabytes announced"),
    pytest.param(struct.pack("<I", 4096 + 1), Closed.TOO_LONG, id="one byte more than allowed"),
    pytest.param(b"\x05\x00\x00\x00\xff\xff\xff\xff\xff", Closed.NOT_A_REQUEST, id="garbage"),
    pytest.param(struct.pack("<I", 6) + b"\x12\x04\x0a\x02\xff\xfe", Closed.NOT_A_REQUEST, id="not UTF-8"),
    pytest.param(step(0)[:-1], Closed.CUT_SHORT, id="half a message"),
    pytest.param(b"\x05\x00", Closed.CUT_SHORT, id="half a length"),
]


@pytest.mark.parametrize(("data", "reason"), HOSTILE)
@pytest.mark.parametrize("before", [False, True], ids=["at first", "joined"])
def test_hostile_bytes_end_their_own_connection_with_a_counted_reason(
    serve: Any, caplog: Any, data: bytes, reason: Closed, before: bool
) -> None:
    server = serve(max_request_bytes=4096)
    session = server.create()
    a = server.member(session, "a", inputs=["force"])
    bad = server.member(session, "bad") if before else server.member(server.create(), "elsewhere")
    bad.call.socket.sendall(data)
    if reason is Closed.CUT_SHORT:
        bad.end()
    else:
        assert bad.read().error.reason == "BAD_FIELD"
    with pytest.raises(StopIteration):
        next(bad.call)
    assert dict(server.server.fast.closed) == {reason: 1}
    assert reason.name in caplog.text
    wait_until(lambda: joined(server, session) == ["a"])
    assert a.step(3.0).state.outputs[2] == 6.0


def test_random_bytes_in_random_pieces_never_harm_the_others(serve: Any) -> None:
    server = serve(max_request_bytes=4096, fast_join_timeout=2.0)
    session = server.create()
    a = server.member(session, "a", inputs=["force"])
    chance = random.Random(4)
    valid = step(0, 1.0)
    for k in range(60):
        data = bytearray(valid * 2 if k % 2 else chance.randbytes(64))
        for _ in range(3):
            data[chance.randrange(len(data))] = chance.randrange(256)
        with socket.socket(socket.AF_UNIX) as bad:
            bad.connect(server.server.fast.addresses[0].removeprefix("unix:"))
            cut = chance.randrange(len(data))
            try:
                bad.sendall(data[:cut])
                bad.sendall(data[cut:])
            except OSError:
                pass  # the server was quicker
    for k in range(20):
        assert a.step(float(k)).state.outputs[2] == 2.0 * k
    wait_until(lambda: len(server.server.fast.connections) == 1)


def test_a_message_may_come_byte_by_byte_and_many_in_one_piece(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force"])
    for byte in step(0, 1.0):
        a.call.socket.sendall(bytes([byte]))
        time.sleep(0.001)
    assert a.read().state.outputs[2] == 2.0
    a.call.socket.sendall(b"".join(step(k, 0.25 * k) for k in range(1, 300)))
    assert [a.read().state.outputs[2] for _ in range(1, 300)] == [0.5 * k for k in range(1, 300)]


def test_what_was_sent_before_a_half_close_is_answered_in_order(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force"])
    a.call.socket.sendall(b"".join(step(k, 0.1 * k) for k in range(50)))
    a.end()
    assert [a.read().state.tick for _ in range(50)] == list(range(1, 51))
    with pytest.raises(StopIteration):
        next(a.call)
    wait_until(lambda: not joined(server, session))
    assert server.instance(session).ticks == 50


@undisturbed
def test_a_step_that_waits_for_others_does_not_outlive_its_connection(server: Any) -> None:
    session = server.create("a", "b")
    a, b = server.member(session, "a", inputs=["force"]), server.member(session, "b", timeout=0.3)
    a.deliver(1.0)
    # Sent ahead while the first still waits.
    a.call.socket.sendall(step(1, 2.0))
    wait_until(lambda: not any(p.name == "a" and p.missing for p in server.status(session).participants))
    a.end()
    with pytest.raises(StopIteration):
        next(a.call)
    wait_until(lambda: joined(server, session) == ["b"])
    assert list(b.step().error.missing) == ["a"]
    assert server.instance(session).ticks == 0


def test_what_is_sent_ahead_while_a_step_waits_is_answered_after_it(server: Any) -> None:
    session = server.create("a", "b")
    a, b = server.member(session, "a", inputs=["force"]), server.member(session, "b")
    a.deliver(1.0)
    wait_until(lambda: not any(p.name == "a" and p.missing for p in server.status(session).participants))
    a.call.socket.sendall(step(1, 2.0) + step(2, 3.0)[:5])
    b.step()
    assert [a.read().state.outputs[2], b.step().state.tick, a.read().state.outputs[2]] == [2.0, 2, 4.0]
    a.call.socket.sendall(step(2, 3.0)[5:])
    assert [b.step().state.tick, a.read().state.outputs[2]] == [3, 6.0]


@undisturbed
def test_requests_that_pile_up_behind_one_that_waits_end_the_connection(serve: Any) -> None:
    server = serve(max_request_bytes=4096)
    session = server.create("a", "b")
    a, b = server.member(session, "a"), server.member(session, "b", timeout=0.3)
    a.deliver()
    wait_until(lambda: not any(p.name == "a" and p.missing for p in server.status(session).participants))
    a.call.socket.sendall(step(1) * 1000)
    assert a.read().error.message.startswith(Closed.TOO_MUCH_AHEAD)
    assert server.server.fast.closed[Closed.TOO_MUCH_AHEAD] == 1
    wait_until(lambda: joined(server, session) == ["b"])
    assert list(b.step().error.missing) == ["a"]


def test_a_peer_that_does_not_read_costs_neither_memory_nor_the_others(serve: Any) -> None:
    server = serve(max_request_bytes=1 << 18)
    session, other = server.create(), server.create()
    deaf = server.member(session, "deaf")
    (connection,) = server.server.fast.connections
    b = server.member(other, "b")
    deaf.call.socket.sendall(b"".join(step(k) for k in range(5000)))
    wait_until(lambda: connection._writing is not None)
    for _ in range(20):
        b.step()
    # asyncio's default high-water mark is 64 KiB; one reply goes over it.
    assert connection._writing is not None and connection._transport.get_write_buffer_size() < 67_000
    with pytest.raises(OSError):
        while True:
            deaf.call.socket.sendall(step(0))
    wait_until(lambda: connection not in server.server.fast.connections)
    assert joined(server, session) == [] and b.step().HasField("state")


def test_who_does_not_join_in_time_is_sent_away_and_who_has_joined_may_be_silent(serve: Any) -> None:
    server = serve(fast_join_timeout=1.0)
    session = server.create()
    a = server.member(session, "a")
    with socket.socket(socket.AF_UNIX) as slow:
        slow.connect(server.server.fast.addresses[0].removeprefix("unix:"))
        slow.settimeout(10)
        slow.sendall(b"\x40")
        data = slow.recv(4096)
        assert Closed.NOT_JOINED.encode() in data and slow.recv(1) == b""
    time.sleep(0.1)
    assert a.step().state.tick == 1
    assert dict(server.server.fast.closed) == {Closed.NOT_JOINED: 1}


def test_a_crowd_that_is_turned_away_does_not_fill_the_log(serve: Any, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(max_fast_connections=1)
    server.member(server.create(), "a")
    begin = time.monotonic()
    for _ in range(300):
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(server.server.fast.addresses[0].removeprefix("unix:"))
            assert Closed.TOO_MANY.encode() in other.recv(4096)
    told = [r for r in caplog.records if "TOO_MANY" in r.getMessage()]
    assert server.server.fast.closed[Closed.TOO_MANY] == 300
    assert vars(told[0])["so_far"] == 1 and 1 <= len(told) <= 1 + (time.monotonic() - begin)


def test_connections_are_capped_and_a_place_that_is_left_is_free_again(serve: Any) -> None:
    server = serve(max_fast_connections=2)
    session = server.create()
    a, _ = server.member(session, "a"), server.member(session, "b")
    with socket.socket(socket.AF_UNIX) as third:
        third.connect(server.server.fast.addresses[0].removeprefix("unix:"))
        assert Closed.TOO_MANY.encode() in third.recv(4096)
    assert server.server.fast.closed[Closed.TOO_MANY] == 1
    a.ask(leave=pb.Leave())
    wait_until(lambda: len(server.server.fast.connections) == 1)
    assert server.member(session, "c").joined.tick == 0


@pytest.mark.parametrize(("changed", "reason"), [({"token": ""}, "NO_TOKEN"), ({"token": "x" * 32}, "WRONG_TOKEN"),
                                                 ({"session_id": "no"}, "UNKNOWN_SESSION")])
def test_the_fast_lane_asks_for_the_same_tokens(server: Any, changed: dict[str, str], reason: str) -> None:
    session = server.create()
    a = server.member(session, "a", **changed)
    reply = a.join(session, "a", **changed)
    assert reply.error.reason == reason
    # Refused, and the connection lives.
    assert a.join(session, "a", token=session.join_token).joined.tick == 0


def test_a_participant_of_each_transport_gives_the_bits_of_two_on_one(serve: Any, tmp_path: Path) -> None:
    def run(fasts: tuple[bool, bool]) -> list[tuple[float, ...]]:
        session = server.create("a", "b")
        members = []
        for name, lane, owned in zip("ab", fasts, ("velocity", "force"), strict=True):
            server.fast = lane
            members.append(server.member(session, name, inputs=[owned]))
        seen = []
        for k in range(100):
            members[0].deliver(0.01 * k, -0.3)
            members[1].deliver(k / 7.0)
            states = [m.read().state for m in members]
            assert states[0].outputs == states[1].outputs
            seen.append(tuple(states[0].outputs))
        return seen

    server = serve()
    expected = run((False, False))
    assert len(set(expected)) == 100
    assert run((True, False)) == run((False, True)) == run((True, True)) == expected


def test_both_listeners_serve_and_the_socket_file_goes_with_the_server(serve: Any, tmp_path: Path) -> None:
    server = serve(fast_address="127.0.0.1:0")
    tcp, unix = server.server.fast.addresses
    assert not tcp.endswith(":0") and unix == f"unix:{tmp_path / 'f.sock'}"
    session = server.create()
    server.server.fast.addresses = (tcp,)
    assert server.member(session, "over TCP").step().state.tick == 1
    server.run(server.server.stop())
    assert not (tmp_path / "f.sock").exists()


def test_the_time_of_a_drain_is_given_once(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(drain=0.1)
    orderly, left = FastLane.stop, []

    async def stop(lane: FastLane, grace: float) -> None:
        left.append(grace)
        await orderly(lane, grace)

    monkeypatch.setattr(FastLane, "stop", stop)
    server.member(server.create(), "a")
    server.run(server.server.stop())
    # All of it went by while the participant was connected.
    assert left == [0.0]


def test_a_stopping_server_ends_the_connections_and_detaches(serve: Any) -> None:
    server = serve(drain=0.1)
    session = server.create()
    a = server.member(session, "a")
    server.run(server.server.stop())
    assert next(a.call).event.kind == pb.EVENT_KIND_DRAINING
    with pytest.raises(StopIteration):
        next(a.call)
    assert not server.server.fast.connections


def test_a_socket_at_which_a_server_listens_is_not_taken_but_a_stale_one_is(serve: Any, tmp_path: Path) -> None:
    serve()
    with pytest.raises(ConfigError, match="another server listens"):
        serve(socket_path=str(tmp_path / "other.sock"))
    stale = tmp_path / "stale.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(os.fspath(stale))
    server = serve(socket_path=str(tmp_path / "third.sock"), fast_socket=str(stale))
    assert server.member(server.create(), "a").step().state.tick == 1


@pytest.mark.parametrize(("config", "words"), [
    ({"fast_address": "0.0.0.0:0"}, "address is not loopback"),
    ({"fast_address": "localhost"}, "expected host:port"),
    ({"fast_socket": "/tmp/" + "x" * 120}, "expected at most 107"),
    ({"fast_socket": "/same", "socket_path": "/same"}, "given twice"),
    ({"fast_socket": "/no/such/folder/f"}, "cannot listen"),
])
def test_a_fast_lane_that_cannot_be_served_is_refused_in_words(serve: Any, config: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        serve(**config)
