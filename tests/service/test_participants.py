"""Policies, leases, rejoining and rights over a real server."""

from __future__ import annotations

import math
import time
from typing import Any

import grpc
import pytest
from undisturbed import undisturbed

from jounce_proto import jounce_pb2 as pb


def wait_until(condition: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.005)


def participant(server: Any, session: Any, name: str) -> pb.ParticipantStatus:
    return next(p for p in server.status(session).participants if p.name == name)


@undisturbed
def test_a_late_participant_is_held_counted_and_told_so_and_the_others_see_its_name(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["velocity.x"])
    b = server.member(session, "b", inputs=["force"], late=pb.LATE_POLICY_HOLD_LAST, late_after=0.2)
    a.deliver(1.0)
    b.deliver(3.0)
    assert list(a.read().state.held) == []
    assert b.read().state.missed == 0
    for _ in range(2):
        state = a.step(1.0).state
        assert (list(state.held), state.outputs[2]) == (["b"], 6.0)
    assert participant(server, session, "b").missed == 2
    error = b.refused(9.0)
    assert (error.reason, error.expected_tick, error.given) == ("TOO_LATE", 3, "1")
    now = b.ask(sync=pb.Sync()).state
    assert (now.tick, now.missed, list(now.outputs)) == (3, 2, list(state.outputs))
    a.deliver(1.0)
    b.deliver(4.0)
    assert b.read().state.outputs[2] == 8.0
    assert list(a.read().state.held) == []


@pytest.mark.parametrize("gone", [False, True], ids=["late", "gone"])
@undisturbed
def test_safe_values_act_when_their_participant_is_late_or_gone(server: Any, gone: bool) -> None:
    session = server.create()
    a = server.member(session, "a")
    b = server.member(session, "b", inputs=["velocity.y", "force"], late=pb.LATE_POLICY_SAFE_VALUE, late_after=0.2,
                      safe_values=[0.0, 50.0])
    a.deliver()
    b.deliver(1.0, 3.0)
    assert a.read().state.outputs[2] == 6.0
    b.read()
    if gone:
        b.call.cancel()
    assert a.step().state.outputs[2] == 100.0
    assert server.instance(session).applied[-1][1][1:3] == (0.0, 50.0)


@pytest.mark.parametrize(("policy", "how", "reason"), [
    ({"late": pb.LATE_POLICY_FAIL, "late_after": 0.2}, "late", "PARTICIPANT_LATE"),
    ({"late": pb.LATE_POLICY_FAIL, "late_after": 10.0}, "gone", "PARTICIPANT_LOST"),
    ({"late": pb.LATE_POLICY_HOLD_LAST, "late_after": 0.2, "max_age_ticks": 2}, "late", "HELD_TOO_LONG"),
    ({"late": pb.LATE_POLICY_HOLD_LAST, "late_after": 10.0, "max_age_ticks": 2}, "gone", "HELD_TOO_LONG"),
])
@undisturbed
def test_a_policy_that_ends_the_run_says_so_to_everyone_who_waits_and_a_reset_revives_it(
        server: Any, policy: dict[str, Any], how: str, reason: str) -> None:
    session = server.create()
    a = server.member(session, "a")
    b = server.member(session, "b", inputs=["force"], **policy)
    a.deliver()
    b.deliver(1.0)
    a.read(), b.read()
    a.deliver()
    wait_until(lambda: not participant(server, session, "a").missing)
    if how == "gone":
        b.call.cancel()
    while (reply := a.read()).HasField("state"):
        a.deliver()
    assert (reply.error.reason, list(reply.error.missing)) == (reason, ["b"])
    status = server.status(session)
    assert status.state == pb.SESSION_STATE_FAILED
    assert "'b'" in status.failure
    assert status.failure_reason == reason
    after = a.step().error
    assert (after.reason, after.given) == ("SESSION_FAILED", reason)
    server.call("ResetSession", session)
    status = server.status(session)
    assert (status.state, status.tick, status.epoch) == (pb.SESSION_STATE_CREATED, 0, 2)


def test_a_participant_that_reconnects_repeats_its_step_and_gets_the_reply_it_missed(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["velocity.x"])
    b = server.member(session, "b", inputs=["force"], lease=20.0)
    token = b.joined.participant_token
    b.deliver(3.0)
    wait_until(lambda: not participant(server, session, "b").missing)
    b.call.cancel()
    wait_until(lambda: not participant(server, session, "b").joined)
    state = a.step(1.0).state
    assert state.outputs[2] == 6.0, "what was delivered before the loss counts"
    again = server.member(session, "b", inputs=["force"], lease=20.0, participant_token=token)
    assert (again.joined.tick, again.joined.request) == (1, 1)
    reply = again.step(3.0, tick=0, request=1).state
    assert (reply.tick, reply.request, list(reply.outputs)) == (1, 1, list(state.outputs))
    assert server.instance(session).ticks == 1
    again.request = 1
    a.deliver(1.0)
    assert again.step(4.0).state.outputs[2] == 8.0


def test_a_rejoin_takes_over_from_a_stream_that_is_still_open(server: Any) -> None:
    session = server.create("a", "b")
    a = server.member(session, "a")
    b = server.member(session, "b", inputs=["force"])
    b.deliver(2.0)
    wait_until(lambda: not participant(server, session, "b").missing)
    again = server.member(session, "b", inputs=["force"], participant_token=b.joined.participant_token)
    assert b.read().error.reason == "STREAM_REPLACED"
    b.call.cancel()
    time.sleep(0.05)
    assert participant(server, session, "b").joined, "the old stream's end is not the participant's"
    again.send(sync=pb.Sync())
    assert a.step().state.tick == 1
    assert again.read().state.outputs[2] == 4.0


@pytest.mark.parametrize(("changed", "reason"), [
    ({"participant_token": "x"}, "WRONG_TOKEN"), ({"name": "nobody"}, "WRONG_TOKEN"), ({"period": 2}, "BAD_FIELD"),
    ({"inputs": ["open"]}, "BAD_FIELD"), ({"token": "x"}, "WRONG_TOKEN"),
])
def test_a_rejoin_needs_the_token_and_the_terms_of_the_first_join(server: Any, changed: dict[str, Any],
                                                                 reason: str) -> None:
    session = server.create()
    b = server.member(session, "b", inputs=["force"], lease=20.0)
    stream = server.member(session, **({"name": "b", "inputs": ["force"], "lease": 20.0,
                                        "participant_token": b.joined.participant_token} | changed))
    assert not hasattr(stream, "joined")
    assert stream.join(session, **({"name": "b", "inputs": ["force"], "lease": 20.0,
                                    "participant_token": b.joined.participant_token} | changed)).error.reason == reason
    assert b.step(1.0).state.tick == 1


def test_a_lease_that_ends_frees_name_and_inputs_and_the_others(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a")
    b = server.member(session, "b", inputs=["force"], lease=0.3)
    b.call.cancel()
    wait_until(lambda: not participant(server, session, "b").joined)
    start = time.monotonic()
    assert a.step().state.tick == 1
    assert time.monotonic() - start < 10.0
    assert server.member(session, "b", inputs=["force"]).joined.tick == 1


def test_a_session_can_be_used_again_within_its_lease_when_everyone_has_died(server: Any) -> None:
    session = server.create()
    b = server.member(session, "b", inputs=["force"], lease=0.2)
    b.deliver(1.0)
    assert b.read().state.tick == 1
    b.call.cancel()
    wait_until(lambda: not server.status(session).participants)
    assert server.call("Advance", session, n_ticks=1).tick == 2


@pytest.mark.parametrize(("join", "reason", "field"), [
    ({"late": 9}, "BAD_FIELD", "late"), ({"late_after": 0.0}, "BAD_FIELD", "late_after"),
    ({"late_after": math.nan}, "BAD_FIELD", "late_after"), ({"lease": -1.0}, "BAD_FIELD", "lease"),
    ({"lease": 1.0, "late": pb.LATE_POLICY_FAIL}, "BAD_FIELD", "lease"),
    ({"lease": math.nan}, "BAD_FIELD", "lease"), ({"max_age_ticks": 1}, "BAD_FIELD", "max_age_ticks"),
    ({"safe_values": [1.0]}, "BAD_FIELD", "safe_values"),
    ({"late": pb.LATE_POLICY_SAFE_VALUE}, "WRONG_LENGTH", "safe_values"),
    ({"late": pb.LATE_POLICY_SAFE_VALUE, "safe_values": [math.nan]}, "NOT_FINITE", "force"),
    ({"late": pb.LATE_POLICY_SAFE_VALUE, "safe_values": [-1.0]}, "INPUT_OUT_OF_RANGE", "force"),
    ({"first_order_inputs": ["velocity"]}, "UNKNOWN_SIGNAL", "velocity"),
])
def test_a_policy_that_makes_no_sense_is_refused_by_name(server: Any, join: dict[str, Any], reason: str,
                                                        field: str) -> None:
    session = server.create()
    stream = server.member(session, "a", inputs=["force"], **join)
    error = stream.join(session, "a", inputs=["force"], **join).error
    assert (error.reason, error.field) == (reason, field)
    assert error.allowed
    assert not server.status(session).participants


def test_first_order_hold_reaches_the_model_tick_by_tick(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["open", "force"], period=4, first_order_inputs=["open"])
    for value in (1.0, 3.0, 3.0):
        a.step(value, 2.0)
    # By hand: no line before the second delivery; then 0.5 per tick; then level.
    assert [u[3] for _, u in server.instance(session).applied] == [1.0, 3.0, 3.5, 4.0, 4.5, 3.0]
    assert [t for t, _ in server.instance(session).applied] == [0, 4, 5, 6, 7, 8]


def test_the_join_token_joins_and_does_nothing_else(server: Any, info: Any) -> None:
    session = server.create()
    a = server.member(session, "a", token=session.join_token)
    assert a.step().state.tick == 1
    for name in ("Advance", "DeleteSession", "PauseSession", "ResetSession", "SaveSnapshot", "ForkSession"):
        with pytest.raises(grpc.RpcError) as caught:
            server.call(name, session, token=session.join_token)
        assert info(caught.value).reason == "WRONG_TOKEN"


def test_only_a_participant_named_a_controller_may_pause(server: Any, info: Any) -> None:
    session = server.create(controllers=["boss"])
    boss, clerk = server.member(session, "boss"), server.member(session, "clerk")
    with pytest.raises(grpc.RpcError) as caught:
        server.call("PauseSession", session, token=clerk.joined.participant_token)
    assert (info(caught.value).reason, info(caught.value).allowed) == ("NO_RIGHT", "boss")
    assert server.call("PauseSession", session, token=boss.joined.participant_token).tick == 0
    assert server.status(session).state == pb.SESSION_STATE_PAUSED


@undisturbed
def test_a_participant_of_a_twentieth_of_the_rate_is_held_for_exactly_nineteen_of_twenty(server: Any) -> None:
    session = server.create()
    fast = server.member(session, "fast")
    slow = server.member(session, "slow", inputs=["force"], late=pb.LATE_POLICY_HOLD_LAST, late_after=0.05)
    for k in range(2):
        fast.deliver()
        slow.tick = 20 * k
        slow.deliver(float(k))
        slow.read(), fast.read()
        for _ in range(19):
            state = fast.step().state
            assert state.outputs[2] == 2.0 * k
    assert (state.tick, participant(server, session, "slow").missed) == (40, 38)
