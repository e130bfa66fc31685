"""Several participants in one session over a real server."""

from __future__ import annotations

import asyncio
import gc
import itertools
import math
from typing import Any

import grpc
import numpy as np
import pytest
from integrator_model import Integrator
from undisturbed import undisturbed

from jounce_proto import jounce_pb2 as pb


def test_the_join_reply_fixes_the_order_and_gives_start_values(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force", "velocity"], outputs=["reaction", "position"])
    assert list(a.joined.inputs) == ["force", "velocity.x", "velocity.y"]
    assert list(a.joined.outputs) == ["reaction", "position.x", "position.y"]
    assert list(a.joined.input_values) == [0.5, 0.0, 0.0]
    assert list(a.joined.output_values) == [1.0, 0.0, 0.0]
    state = a.step(4.0, 1.0, -1.0).state
    assert list(state.outputs) == [8.0, 0.001, -0.001]
    assert (state.tick, state.sim_ns, state.request) == (1, 1_000_000, 1)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_arrival_does_not_change_a_bit(server: Any, order: tuple[int, ...]) -> None:
    session = server.create("a", "b", "c")
    members = [server.member(session, "a", inputs=["velocity.x"]),
               server.member(session, "b", inputs=["velocity.y", "open"]),
               server.member(session, "c", inputs=["force"])]
    alone = Integrator(2.0, 1e9, 0.0)
    for k in range(20):
        values = [(0.1 * k,), (math.sin(k), math.cos(k)), (k + 0.7,)]
        for i in order:
            members[i].deliver(*values[i])
        states = [m.read().state for m in members]
        alone.set_inputs(np.array([values[0][0], values[1][0], values[2][0], values[1][1]]))
        alone.step(1)
        for s in states:
            assert list(s.outputs) == alone.get_outputs().tolist()
            assert s.tick == k + 1
    assert server.instance(session).get_state() == alone.get_state()


def test_mixed_periods_meet_at_their_due_ticks_and_the_model_steps_once_per_tick(server: Any) -> None:
    session = server.create("slow", "fast")
    slow = server.member(session, "slow", inputs=["force"], period=20)
    fast = server.member(session, "fast", inputs=["velocity.x"])
    for k in range(5):
        slow.deliver(float(k))
        for j in range(20):
            assert fast.step(1.0).state.tick == 20 * k + j + 1
        assert slow.read().state.tick == 20 * (k + 1)
    assert server.instance(session).ticks == 100
    assert [(t, u[2]) for t, u in server.instance(session).applied if t % 20 == 0] == [
        (20 * k, float(k)) for k in range(5)]


def test_a_long_period_is_one_call_of_exactly_n_ticks(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", period=1000)
    assert a.step().state.tick == 1000
    assert a.step().state.outputs[4] == 2000.0


def test_a_repeated_step_gets_the_stored_reply_and_advances_nothing(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force"])
    first = a.step(1.0)
    again = a.step(1.0, tick=0, request=1)
    a.request -= 1
    assert again == first
    assert server.instance(session).ticks == 1
    assert a.refused(2.0, tick=0, request=1).reason == "STALE_REQUEST"
    assert a.step(2.0).state.tick == 2


@pytest.mark.parametrize(("values", "changed", "reason", "field"), [
    ((1.0, 1.0), {"tick": 1}, "WRONG_TICK", "tick"),
    ((1.0, 1.0), {"tick": -(2**62)}, "WRONG_TICK", "tick"),
    ((1.0, 1.0), {"epoch": 2}, "WRONG_EPOCH", "epoch"),
    ((1.0, 1.0), {"request": 0}, "STALE_REQUEST", "request"),
    ((1.0,), {}, "WRONG_LENGTH", "inputs"),
    ((1.0, 1.0, 1.0), {}, "WRONG_LENGTH", "inputs"),
    ((math.nan, 1.0), {}, "NOT_FINITE", "force"),
    ((1.0, -math.inf), {}, "NOT_FINITE", "velocity.x"),
    ((1.0, 10.000001), {}, "INPUT_OUT_OF_RANGE", "velocity.x"),
])
def test_a_refused_step_names_its_fault_and_the_stream_lives_on(
        server: Any, values: tuple[float, ...], changed: dict[str, Any], reason: str, field: str) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force", "velocity.x"])
    before = server.instance(session).get_state()
    error = a.refused(*values, **changed)
    assert (error.reason, error.field) == (reason, field)
    assert error.allowed
    assert error.given
    if reason in ("WRONG_TICK", "WRONG_EPOCH"):
        assert (error.expected_tick, error.expected_epoch) == (0, 1)
    assert server.instance(session).get_state() == before
    assert server.instance(session).applied == []
    assert a.step(2.0, 3.0).state.tick == 1


@pytest.mark.parametrize(("join", "reason"), [
    ({"inputs": ["force"]}, "INPUT_OWNED"), ({"inputs": ["velocity"], "name": "a"}, "NAME_TAKEN"),
    ({"inputs": ["forse"]}, "UNKNOWN_SIGNAL"), ({"outputs": ["force"]}, "UNKNOWN_SIGNAL"),
    ({"period": 3, "phase": 3}, "BAD_FIELD"), ({"period": 2**31}, "TOO_MANY_TICKS"), ({"name": ""}, "BAD_FIELD"),
    ({"timeout": -1.0}, "BAD_FIELD"), ({"timeout": math.nan}, "BAD_FIELD"),
])
def test_a_join_that_cannot_be_is_refused_and_may_be_tried_again(server: Any, join: dict[str, Any],
                                                               reason: str) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force"])
    b = server.member(session, **({"name": "b"} | join))
    assert not hasattr(b, "joined")
    assert a.step(1.0).state.tick == 1
    assert b.step().error.reason == "NOT_JOINED"
    error = b.join(session, **({"name": "b"} | join)).error
    assert error.reason == reason
    assert b.join(session, "b", inputs=["open"]).joined.tick == 1
    assert b.join(session, "b").error.reason == "ALREADY_JOINED"


def test_an_empty_request_is_refused(server: Any) -> None:
    a = server.member(server.create(), "a")
    assert a.ask().error.reason == "BAD_FIELD"
    assert a.step().state.tick == 1


def test_steps_sent_ahead_are_answered_one_by_one_in_order(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force"])
    for k in range(50):
        a.deliver(float(k), tick=k)
    replies = [a.read().state for _ in range(50)]
    assert [(r.tick, r.request, r.outputs[2]) for r in replies] == [(k + 1, k + 1, 2.0 * k) for k in range(50)]


@undisturbed
def test_the_deadline_names_who_is_missing_and_a_repeat_works(server: Any) -> None:
    session = server.create("a", "b", "c")
    a = server.member(session, "a", inputs=["force"], timeout=0.2)
    b = server.member(session, "b")
    error = a.step(1.0).error
    assert (error.reason, error.code, list(error.missing)) == ("BARRIER_TIMEOUT", 4, ["b", "c"])
    assert server.instance(session).ticks == 0
    c = server.member(session, "c")
    b.deliver()
    c.deliver()
    state = a.step(1.0, request=1).state
    assert (state.tick, state.request) == (1, 1)
    assert b.read().state.tick == c.read().state.tick == 1


@undisturbed
def test_an_expected_participant_that_went_is_named_to_the_others_and_may_come_back(server: Any) -> None:
    session = server.create("a", "b")
    a = server.member(session, "a", timeout=0.3)
    b = server.member(session, "b", inputs=["force"])
    b.deliver(1.0)
    assert a.step().state.tick == 1
    assert b.read().state.tick == 1
    b.call.cancel()
    error = a.step().error
    assert list(error.missing) == ["b"]
    assert "gone since tick 1" in error.message
    again = server.member(session, "b", inputs=["force"])
    assert again.joined.tick == 1
    again.deliver(3.0)
    assert a.step(request=2).state.tick == 2
    assert again.read().state.outputs[2] == 6.0


@pytest.mark.parametrize("how", ["cancel", "half-close"])
def test_a_participant_that_was_not_expected_detaches_once_and_the_others_go_on(server: Any, how: str) -> None:
    session = server.create()
    a, b = server.member(session, "a"), server.member(session, "b", inputs=["force"])
    a.deliver()
    if how == "cancel":
        b.call.cancel()
    else:
        b.end()
    assert a.read().state.tick == 1
    status = server.stub.GetSession(pb.GetSessionRequest(session_id=session.session_id))
    assert [p.name for p in status.participants] == ["a"]
    assert server.member(session, "b", inputs=["force"]).joined.tick == 1


def test_leaving_in_order_frees_the_others_even_from_an_expected_one(server: Any) -> None:
    session = server.create("a", "b")
    a, b = server.member(session, "a"), server.member(session, "b")
    a.deliver()
    assert b.ask(leave=pb.Leave()).left.tick in (0, 1)
    assert a.read().state.tick == 1
    assert a.step().state.tick == 2
    with pytest.raises(StopIteration):
        next(b.call)


def test_a_late_joiner_is_waited_for_from_the_tick_in_its_reply(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", period=5)
    a.step()
    late = server.member(session, "late", inputs=["force"], period=10)
    assert (late.joined.tick, late.joined.clock_tick) == (10, 5)
    assert a.step().state.tick == 10
    a.deliver()
    late.deliver(3.0)
    assert a.read().state.tick == 15
    assert a.step().state.tick == 20
    assert late.read().state.outputs[2] == 6.0


def test_advance_is_refused_while_participants_are_joined(server: Any, info: Any) -> None:
    session = server.create()
    joined = server.member(session, "a")
    with pytest.raises(grpc.RpcError) as caught:
        server.stub.Advance(pb.AdvanceRequest(session_id=session.session_id, token=session.token, n_ticks=1))
    assert info(caught.value).reason == "PARTICIPANTS_PRESENT"
    assert joined.step().state.tick == 1


def test_a_solver_failure_reaches_everyone_who_waits(server: Any) -> None:
    session = server.create("a", "b", limit=0.005)
    a, b = server.member(session, "a", inputs=["velocity.x"]), server.member(session, "b")
    a.deliver(10.0)
    b.deliver()
    for member in (a, b):
        error = member.read().error
        assert (error.reason, error.code) == ("SOLVER_FAILED", 13)
        assert "position.x passed" in error.message
        assert member.step(*[1.0] * (member is a)).error.reason == "SESSION_FAILED"


def test_deleting_a_session_tells_who_waits(server: Any) -> None:
    session = server.create("a", "b")
    a = server.member(session, "a")
    a.deliver()
    server.stub.DeleteSession(pb.DeleteSessionRequest(session_id=session.session_id, token=session.token))
    assert a.read().error.reason == "SESSION_CLOSED"
    assert a.step().error.reason == "SESSION_CLOSED"


def test_an_event_that_comes_when_a_stream_has_just_ended_goes_nowhere(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force"])
    event_sinks = [server.server.manager.find(session.session_id).member("a").event_sink]
    assert a.ask(leave=pb.Leave()).HasField("left")
    with pytest.raises(StopIteration):
        a.read()
    wrong: list[Any] = []
    server.loop.set_exception_handler(lambda _, context: wrong.append(context))

    async def tell() -> None:
        event_sinks[0].push(pb.Event(kind=pb.EVENT_KIND_DRAINING))
        await event_sinks.pop().flush()
        await asyncio.sleep(0.05)
        # The loop is told of a failure that nobody has looked at.
        gc.collect()

    server.run(tell())
    assert wrong == []


def test_many_null_steps_count_exactly(server: Any) -> None:
    session = server.create("a", "b")
    a, b = server.member(session, "a", outputs=()), server.member(session, "b", outputs=(), period=7)
    b.deliver()
    for k in range(1, 701):
        assert a.step().state.tick == k
        if k % 7 == 0:
            assert b.read().state.tick == k
            b.deliver()
    assert server.instance(session).ticks == 700
