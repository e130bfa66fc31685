"""Pause, resume, reset, and what every participant is told, over a real server."""

from __future__ import annotations

import time
from typing import Any

import grpc
import numpy as np
import pytest
from integrator_model import Integrator
from undisturbed import undisturbed

from jounce_proto import jounce_pb2 as pb

PAUSED, RESUMED, RESET = pb.EVENT_KIND_PAUSED, pb.EVENT_KIND_RESUMED, pb.EVENT_KIND_RESET


def kinds(*streams: Any) -> list[list[int]]:
    return [[e.kind for e in s.events] for s in streams]


def test_a_pause_holds_the_clock_and_a_step_that_comes_meanwhile_is_answered_after_it(server: Any) -> None:
    session = server.create()
    a, b = server.member(session, "a", inputs=["force"]), server.member(session, "b")
    a.deliver(1.0)
    b.deliver()
    a.read(), b.read()
    assert server.call("PauseSession", session).tick == 1
    a.deliver(2.0)
    b.deliver()
    time.sleep(0.2)
    assert server.instance(session).ticks == 1
    assert server.status(session).state == pb.SESSION_STATE_PAUSED
    server.call("ResumeSession", session)
    for stream in (a, b):
        assert (stream.read().state.tick, stream.epoch) == (2, 1)
        assert [(e.kind, e.epoch, e.tick, e.due_tick) for e in stream.events] == [(PAUSED, 1, 1, s) for s in (1,)] + [
            (RESUMED, 1, 1, 2)]


@undisturbed
def test_leases_and_every_timer_stand_still_while_paused(server: Any) -> None:
    session = server.create("a", "b")
    a = server.member(session, "a", timeout=0.3)
    b = server.member(session, "b", inputs=["force"], lease=0.3)
    held = server.member(session, "held", inputs=["open"], late=pb.LATE_POLICY_HOLD_LAST, late_after=0.3)
    for s, values in ((a, ()), (b, (1.0,)), (held, (1.0,))):
        s.deliver(*values)
    for s in (a, b, held):
        s.read()
    b.call.cancel()
    a.deliver()
    time.sleep(0.05)
    server.call("PauseSession", session)
    time.sleep(1.0)
    status = server.status(session)
    assert {p.name for p in status.participants} == {"a", "b", "held"}
    assert not any(p.missed for p in status.participants)
    server.call("ResumeSession", session)
    again = server.member(session, "b", inputs=["force"], lease=0.3, participant_token=b.joined.participant_token)
    again.deliver(1.0)
    held.deliver(1.0)
    assert a.read().state.tick == 2, "no time-out has struck"
    assert held.read().state.missed == 0


def test_a_reset_goes_back_to_the_very_start_with_everyone_on_board(server: Any) -> None:
    session = server.create(gain=3.0)
    a = server.member(session, "a", inputs=["velocity.x"], period=2)
    b = server.member(session, "b", inputs=["force"], period=3, phase=1)
    a.deliver(1.0)
    b.deliver(2.0)
    assert a.read().state.tick == 2
    assert server.status(session).tick == 2
    reply = server.call("ResetSession", session)
    assert (reply.epoch, reply.tick) == (2, 0)
    # `b` waited for tick 4: its Step belongs to the replaced past.
    error = b.read().error
    assert (error.reason, error.expected_tick, error.expected_epoch) == ("WRONG_EPOCH", 1, 2)
    assert kinds(b) == [[RESET]]
    assert (b.tick, b.epoch) == (1, 2)
    event = b.events[0]
    assert (event.tick, event.sim_ns, list(event.outputs), list(event.inputs)) == (0, 0, [0, 0, 1.5, 0.5, 0], [0.5])
    # `a` has not asked since: it is refused once, after the event, and nothing is applied.
    error = a.step(9.0, epoch=1, tick=2).error
    assert (error.reason, kinds(a)) == ("WRONG_EPOCH", [[RESET]])
    a.deliver(1.0)
    b.deliver(2.0)
    states = [a.read().state]
    a.deliver(4.0)
    states += [a.read().state, b.read().state]
    alone = Integrator(3.0, 1e9, 0.0)
    outputs = {}
    for tick, u in enumerate([(1.0, 0.5), (1.0, 2.0), (4.0, 2.0), (4.0, 2.0)]):
        alone.set_inputs(np.array([u[0], 0.0, u[1], 0.0]))
        alone.step(1)
        outputs[tick + 1] = alone.get_outputs().tolist()
    for state in states:
        assert (list(state.outputs), state.epoch) == (outputs[state.tick], 2)


def test_a_reset_may_change_parameters_and_start_inputs_and_the_rest_stays(server: Any) -> None:
    session = server.create(gain=3.0)
    server.call("Advance", session, n_ticks=5, input_names=["force"], inputs=[9.0])
    server.call("ResetSession", session, start_inputs={"force": 2.0})
    assert server.call("Advance", session, output_names=["reaction", "tick_count"]).outputs == [6.0, 0.0]
    server.call("ResetSession", session, parameters={"gain": pb.Value(number=4.0)})
    assert server.call("Advance", session, n_ticks=1, output_names=["reaction"]).outputs == [8.0]
    assert server.status(session).epoch == 3


@pytest.mark.parametrize(("fields", "reason"), [
    ({"parameters": {"gain": pb.Value(number=9.0)}}, "INPUT_OUT_OF_RANGE"),
    ({"parameters": {"gian": pb.Value(number=1.0)}}, "UNKNOWN_SIGNAL"),
    ({"parameters": {"valid": pb.Value(number=0.0)}}, "BAD_PARAMETERS"),
    ({"start_inputs": {"force": -1.0}}, "INPUT_OUT_OF_RANGE"),
])
def test_a_reset_that_cannot_be_changes_nothing(server: Any, info: Any, fields: dict[str, Any], reason: str) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force"])
    a.step(2.0)
    before = server.instance(session).get_state()
    with pytest.raises(grpc.RpcError) as caught:
        server.call("ResetSession", session, **fields)
    assert info(caught.value).reason == reason
    assert server.instance(session).get_state() == before
    assert a.step(2.0).state.tick == 2
    assert not a.events


def test_a_reset_frees_the_old_instance_and_works_while_paused(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a")
    a.step()
    old = server.instance(session)
    server.call("PauseSession", session)
    server.call("ResetSession", session)
    assert (old.freed, server.status(session).state) == (1, pb.SESSION_STATE_PAUSED)
    a.tick, a.epoch = 0, 2
    a.deliver()
    time.sleep(0.1)
    assert server.instance(session).ticks == 0
    server.call("ResumeSession", session)
    assert a.read().state.tick == 1
    assert kinds(a) == [[PAUSED, RESET, RESUMED]]


def test_an_advance_of_the_past_is_not_repeated_in_a_new_epoch(server: Any, info: Any) -> None:
    session = server.create()
    fields = {"n_ticks": 3, "request": 5}
    server.call("Advance", session, **fields)
    server.call("ResetSession", session)
    with pytest.raises(grpc.RpcError) as caught:
        server.call("Advance", session, **fields)
    assert (info(caught.value).reason, info(caught.value).expected_epoch) == ("WRONG_EPOCH", 2)
    assert server.status(session).tick == 0
    assert server.call("Advance", session, n_ticks=2, request=6).tick == 2


def test_one_that_does_not_take_in_its_event_counts_as_gone_and_the_others_go_on(serve: Any) -> None:
    server = serve(tell_timeout=0.2)
    session = server.create()
    a, b = server.member(session, "a"), server.member(session, "b")

    async def deaf(self: Any) -> None:
        import asyncio
        await asyncio.sleep(30.0)

    live = server.server.manager.find(session.session_id)
    event_sink = live.member("b").event_sink
    event_sink.flush = deaf.__get__(event_sink)
    start = time.monotonic()
    server.call("PauseSession", session)
    assert time.monotonic() - start < 5.0
    server.call("ResumeSession", session)
    assert a.step().state.tick == 1
    assert b.step().error.reason == "STREAM_REPLACED"


def test_a_pause_in_a_long_paced_move_comes_between_two_strides(server: Any) -> None:
    session = server.create(pacing=pb.Pacing(mode=pb.PACING_MODE_REALTIME))
    a = server.member(session, "a", period=100_000)
    a.deliver()
    time.sleep(0.1)
    start = time.monotonic()
    tick = server.call("PauseSession", session).tick
    assert time.monotonic() - start < 10.0
    assert 0 < tick < 100_000
    time.sleep(0.1)
    assert server.status(session).tick == tick
