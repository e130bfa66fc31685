"""Hostile requests leave a session bit-identical, and its clients' streams alive."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce_proto import jounce_pb2 as pb

BAD_NUMBER = st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 100.1, -5e-324])
NUMBER = st.one_of(BAD_NUMBER, st.floats(0.0, 10.0))
TEXT = st.one_of(st.sampled_from(["", "a", "force", "velocity", "*", "position", "../x", "\0", "ä" * 300]), st.text())
INT64 = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))
UINT64 = st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1))
UINT32 = st.one_of(st.integers(0, 3), st.integers(0, 2**32 - 1))

#: A step that is bad on its face: never the right length with good values.
BAD_STEP = st.one_of(
    st.builds(pb.Step, epoch=UINT64, tick=INT64, request=UINT64,
              inputs=st.lists(NUMBER, max_size=6).filter(lambda v: len(v) != 2)),
    st.builds(lambda e, t, r, bad: pb.Step(epoch=e, tick=t, request=r, inputs=[1.0, bad]), UINT64, INT64, UINT64,
              BAD_NUMBER.filter(lambda v: not 0.0 <= v <= 10.0)),
    st.builds(lambda e, t, r: pb.Step(epoch=e, tick=t, request=r, inputs=[1.0, 1.0]), UINT64,
              INT64.filter(lambda t: t != 7), UINT64.filter(lambda r: r != 7)),
)
BAD_STREAM = st.one_of(
    st.builds(lambda s: pb.LockstepRequest(step=s), BAD_STEP),
    st.builds(pb.LockstepRequest),
    st.builds(lambda n, late, v, age: pb.LockstepRequest(join=pb.Join(
        session_id="x", token=n, name=n, late=late, safe_values=v, late_after=-1.0, lease=math.nan,
        max_age_ticks=age, participant_token=n, first_order_inputs=[n])),
        TEXT, st.integers(-9, 9), st.lists(NUMBER, max_size=3), UINT32),
    st.builds(lambda n, i, o, p: pb.LockstepRequest(join=pb.Join(
        session_id="x", token=n, name=n, inputs=i, outputs=o, period_ticks=p, barrier_timeout=math.nan)),
        TEXT, st.lists(TEXT, max_size=3), st.lists(TEXT, max_size=3), UINT32),
)
BAD_UNARY = st.one_of(
    st.tuples(st.just("Advance"), st.builds(pb.AdvanceRequest, session_id=TEXT, token=TEXT, epoch=UINT64,
                                            n_ticks=UINT32, input_names=st.lists(TEXT), inputs=st.lists(NUMBER))),
    # With the right id and token, put in by the test: participants are joined.
    st.tuples(st.just("Advance"), st.builds(pb.AdvanceRequest, n_ticks=UINT32, inputs=st.lists(NUMBER))),
    st.tuples(st.just("DeleteSession"), st.builds(pb.DeleteSessionRequest, token=TEXT)),
    # With the right id and token, too.
    st.tuples(st.just("ResetSession"), st.builds(pb.ResetSessionRequest, start_inputs=st.dictionaries(
        TEXT, BAD_NUMBER, min_size=1).filter(lambda d: not set(d) <= {"open"}))),
    st.tuples(st.just("RestoreSnapshot"), st.builds(pb.RestoreSnapshotRequest, snapshot_id=TEXT)),
    st.tuples(st.just("ForkSession"), st.builds(pb.ForkSessionRequest, snapshot_id=TEXT.filter(bool))),
    st.tuples(st.just("DeleteSnapshot"), st.builds(pb.DeleteSnapshotRequest, snapshot_id=TEXT)),
    st.tuples(st.just("ResumeSession"), st.builds(pb.ResumeSessionRequest)),
    st.tuples(st.just("GetSession"), st.builds(pb.GetSessionRequest, session_id=TEXT)),
    st.tuples(st.just("DescribeModel"), st.builds(pb.DescribeModelRequest, model=TEXT)),
    st.tuples(st.just("CreateSession"), st.builds(
        pb.CreateSessionRequest, model=st.just("integrator"), start_inputs=st.dictionaries(TEXT, BAD_NUMBER, min_size=1)
        .filter(lambda d: not set(d) <= {"open"}))),
)


@pytest.fixture
def session(server: Any) -> Any:
    """A session at tick 7 whose participant owns force and velocity.x."""
    made = server.create()
    member = server.member(made, "a", inputs=["force", "velocity.x"])
    for k in range(7):
        member.step(0.5 * k, 1.0)
    return server, made, member


@settings(max_examples=200)
@given(hostile=st.one_of(BAD_STREAM, BAD_UNARY))
def test_two_hundred_hostile_requests_leave_the_session_bit_identical(session: Any, hostile: Any) -> None:
    server, made, member = session
    instance = server.instance(made)
    before = instance.get_state(), instance.u.tolist(), len(instance.applied), len(server.server.manager._sessions)
    if isinstance(hostile, tuple):
        name, request = hostile
        if name not in ("GetSession", "DescribeModel", "CreateSession") and not request.session_id:
            request.session_id = made.session_id
            request.token = request.token if name == "DeleteSession" else made.token
        with pytest.raises(grpc.RpcError) as caught:
            getattr(server.stub, name)(request)
        error = _info(caught.value)
    else:
        member._requests.put(hostile)
        reply = member.read()
        assert reply.HasField("error"), reply
        error = reply.error
    assert error.reason
    assert error.message
    assert before == (instance.get_state(), instance.u.tolist(), len(instance.applied),
                      len(server.server.manager._sessions))
    # Not a tick was lost, either: the participant is still due at tick 7.
    status = server.stub.GetSession(pb.GetSessionRequest(session_id=made.session_id))
    assert (status.tick, status.participants[0].due_tick) == (7, 7)


def test_after_a_hostile_request_the_next_good_one_is_served(session: Any) -> None:
    _, _, member = session
    assert member.refused(math.nan, 1.0).reason == "NOT_FINITE"
    assert member.step(1.0, 1.0).state.tick == 8


@pytest.mark.parametrize("raw", [b"\xff" * 64, b"\x0a\xff\xff\xff\xff\x0f", b"\x00"])
def test_bytes_that_are_no_message_end_only_their_own_call(session: Any, raw: bytes) -> None:
    server, made, member = session
    call = server.channels[0].stream_stream("/jounce.v1.SessionService/Lockstep")
    with pytest.raises(grpc.RpcError):
        next(call(iter([raw])))
    assert member.step(1.0, 1.0).state.tick == 8


def test_a_message_past_the_cap_is_refused(serve: Callable[..., Any]) -> None:
    server = serve(max_message_bytes=10_000)
    made = server.create()
    with pytest.raises(grpc.RpcError) as caught:
        server.stub.Advance(pb.AdvanceRequest(session_id=made.session_id, token=made.token, inputs=[0.0] * 10_000))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def _info(error: grpc.RpcError) -> pb.ErrorInfo:
    found: pb.ErrorInfo = pb.ErrorInfo.FromString(dict(error.trailing_metadata())["jounce-error-bin"])
    return found
