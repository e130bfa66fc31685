"""A refused request costs no more time than a good one, on both lanes."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Sequence
from typing import Any

import grpc
import pytest
from integrator_model import TABLE

from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.values import LONGEST_NAME, select
from jounce_service.transport import errors
from jounce_service.transport.handlers import handlers

#: As many as fit into a request.
MANY = 20_000


class Unread(Sequence[str]):
    """More names than there are signals; whoever reads one has begun work that must not begin."""

    def __len__(self) -> int:
        return 1_300_000

    def __getitem__(self, place: Any) -> Any:
        raise AssertionError(f"name {place} was read")


def test_names_beyond_the_number_of_signals_are_refused_unread() -> None:
    with pytest.raises(errors.BadField, match="1300000 names"):
        select(TABLE.outputs, Unread(), "output")


def test_a_repeat_is_refused_where_it_comes_and_names_the_scalar() -> None:
    first = TABLE.outputs[0].name
    for names in (["*", "*"], ["*", first], [first, first], ["position", "position.y"]):
        with pytest.raises(errors.BadField, match="named twice"):
            select(TABLE.outputs, names, "output")


@pytest.mark.parametrize("name", ["speeed" * 100_000, "x" * 200_000])
def test_a_long_unknown_name_is_refused_with_its_beginning(name: str) -> None:
    with pytest.raises(errors.UnknownSignal) as caught:
        select(TABLE.outputs, [name], "output")
    assert len(caught.value.message) < 300


def test_near_spellings_are_still_named() -> None:
    for wrong in ("positon.x", "velocty.x", "osition.x"):
        with pytest.raises(errors.UnknownSignal) as caught:
            select([*TABLE.inputs, *TABLE.outputs], [wrong], "signal")
        assert ".x" in caught.value.allowed, wrong


@pytest.mark.parametrize(("call", "field"), [
    ("Advance", "output_names"), ("Advance", "input_names"), ("Watch", "outputs"),
])
def test_a_call_with_very_many_names_is_refused(server: Any, info: Any, call: str, field: str) -> None:
    made = server.create()
    ids = {"session_id": made.session_id} | ({"token": made.token} if call == "Advance" else {})
    request = getattr(pb, f"{call}Request")(**ids, **{field: ["*"] * MANY})
    with pytest.raises(grpc.RpcError) as caught:
        reply = getattr(server.stub, call)(request)
        next(iter(reply))
    assert info(caught.value).reason == "BAD_FIELD" and str(MANY) in caught.value.details()
    assert server.advance(made, 1)


@pytest.mark.parametrize("lane", ["grpc", "fast"])
@pytest.mark.parametrize("field", ["inputs", "outputs", "first_order_inputs"])
def test_a_join_with_very_many_names_is_refused_and_its_stream_lives_on(
    serve: Callable[..., Any], lane: str, field: str, tmp_path: Any
) -> None:
    server = serve(fast_socket=str(tmp_path / "lane"))
    server.fast = lane == "fast"
    made = server.create()
    stream = server.member(made, "first")
    for names in (["*"] * MANY, [f"unknown{i}" for i in range(MANY // 4)]):
        other = type(stream)(server.server.fast.addresses[-1]) if server.fast else type(stream)(server.stub)
        server.streams.append(other)
        join = pb.Join(session_id=made.session_id, token=made.token, name="a", **{field: names})
        other.send(join=join)
        reply = next(other.call)
        assert reply.error.reason == "BAD_FIELD", reply
        other.send(join=pb.Join(session_id=made.session_id, token=made.token, name=f"b{len(server.streams)}"))
        assert next(other.call).joined.participant_token


def test_a_request_longer_than_requests_may_be_is_not_read(serve: Callable[..., Any], info: Any) -> None:
    server = serve(max_request_bytes=5000)
    made = server.create()
    with pytest.raises(grpc.RpcError) as caught:
        server.call("Advance", made, inputs=[0.0] * 1000)
    assert (caught.value.code(), info(caught.value).reason) == (
        grpc.StatusCode.INVALID_ARGUMENT, "BAD_FIELD")
    assert info(caught.value).allowed == "up to 5000 bytes"
    stream = server.member(made, "a", inputs=["force"])
    stream.send(step=pb.Step(epoch=1, request=1, inputs=[0.0] * 1000))
    assert next(stream.call).error.allowed == "up to 5000 bytes"
    assert stream.step(1.0).state.tick == 1
    # Pieces of snapshots may be longer.
    stream.send(leave=pb.Leave())
    kept = server.call("SaveSnapshot", made)
    assert kept.tick == 1


def test_a_message_that_cannot_be_read_is_not_parsed() -> None:
    class Calls:
        def __getattr__(self, name: str) -> Any:
            return name

    made = handlers(Calls(), 100)
    assert set(made) == {m.name for m in pb.DESCRIPTOR.services_by_name["SessionService"].methods}
    for name, handler in made.items():
        if name != "UploadSnapshot":
            # 200 bytes that are no protobuf.
            with pytest.raises(errors.BadField):
                _ = handler.request_deserializer(b"\xff" * 200).session_id


def test_the_fast_lane_ends_a_connection_that_announces_more(serve: Callable[..., Any], tmp_path: Any) -> None:
    serve(fast_socket=str(tmp_path / "lane"))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(tmp_path / "lane"))
        connection.sendall(struct.pack("<I", 4_000_000))
        (size,) = struct.unpack("<I", connection.recv(4))
        assert "65536" in pb.LockstepReply.FromString(connection.recv(size)).error.allowed


@pytest.mark.parametrize("name", ["", "n" * (LONGEST_NAME + 1), "n" * 50_000, "two\nlines", "null\0"])
def test_a_participant_has_a_short_printable_name(server: Any, info: Any, name: str) -> None:
    made = server.create()
    stream = server.member(made, "good")
    stream.send(leave=pb.Leave())
    other = type(stream)(server.stub)
    server.streams.append(other)
    other.send(join=pb.Join(session_id=made.session_id, token=made.token, name=name))
    assert next(other.call).error.reason == "BAD_FIELD"
    for field in ("expected_participants", "controllers"):
        with pytest.raises(grpc.RpcError) as caught:
            server.stub.CreateSession(pb.CreateSessionRequest(model="integrator", **{field: [name]}))
        assert (info(caught.value).reason, info(caught.value).field) == ("BAD_FIELD", field)
    assert server.member(made, "n" * LONGEST_NAME).step().state.tick == 1


def test_a_parameter_without_a_value_is_refused_in_create_and_reset(server: Any, info: Any) -> None:
    name = TABLE.parameters[0].name
    with pytest.raises(grpc.RpcError) as caught:
        server.stub.CreateSession(pb.CreateSessionRequest(model="integrator", parameters={name: pb.Value()}))
    assert (info(caught.value).reason, info(caught.value).field) == ("BAD_FIELD", name)
    made = server.create()
    with pytest.raises(grpc.RpcError) as caught:
        server.call("ResetSession", made, parameters={name: pb.Value()})
    assert (info(caught.value).reason, info(caught.value).field) == ("BAD_FIELD", name)


def test_reads_of_one_connection_take_turns_of_the_loop_with_everybody_else(server: Any) -> None:
    made, turn, seen = server.create(), [0], []

    def count() -> None:
        turn[0] += 1
        server.loop.call_soon(count)

    find = server.server.manager.find

    def noted(session_id: str) -> Any:
        seen.append(turn[0])
        return find(session_id)

    server.server.manager.find = noted
    server.loop.call_soon_threadsafe(count)
    request = pb.GetSessionRequest(session_id=made.session_id)
    for reply in [server.stub.GetSession.future(request) for _ in range(100)]:
        assert reply.result().session_id == made.session_id
    assert len(seen) == 100 == len(set(seen))


def test_a_description_is_made_once(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from jounce_service.transport import servicer as calls

    made: list[str] = []
    described = calls.described
    monkeypatch.setattr(calls, "described", lambda model, name: made.append(name) or described(model, name))
    replies = [server.stub.DescribeModel(pb.DescribeModelRequest(model="integrator")) for _ in range(5)]
    assert made == ["integrator"] and all(r == replies[0] for r in replies) and replies[0].signals
