"""Participants that are late, lose their connection, and rejoin."""

from __future__ import annotations

import time
from typing import Any

import pytest

from jounce_client.compliance.contract import STATES
from jounce_client.compliance.rig import Server, proper, wait_until
from jounce_proto import jounce_pb2 as pb

HOLD, SAFE = pb.LATE_POLICY_HOLD_LAST, pb.LATE_POLICY_SAFE_VALUE


class TestLate:
    """The policies for lateness, and the effect of a lost stream on other participants."""

    @pytest.mark.parametrize("gone", [False, True], ids=["late", "gone"])
    def test_inputs_of_a_late_participant_are_held_counted_and_the_others_are_told(self, server: Server, live: str,
                                                                                   gone: bool) -> None:
        session, value = server.create("a", "b"), server.model.values(1, [live])[live]
        a = server.member(session, "a", [live], late=HOLD, late_after=0.1)
        # Delivered before the clock can move, so it is in time on any machine.
        a.deliver(value)
        b = server.member(session, "b")
        assert b.step().state.held == []
        a.read()
        if gone:
            a.call.cancel()
        states = [b.step().state for _ in range(3)]
        assert [list(s.held) for s in states] == [["a"]] * 3
        assert next(p.missed for p in server.status(session).participants if p.name == "a") == 3
        reference = server.create()
        held = [list(server.advance(reference, 1, {live: value}).outputs) for _ in range(4)]
        assert [list(s.outputs) for s in states] == held[1:]

    @pytest.mark.parametrize("gone", [False, True], ids=["late", "gone"])
    def test_safe_values_act_from_the_first_tick_that_is_missed(self, server: Server, live: str, gone: bool) -> None:
        session = server.create("a", "b")
        value, safe = (server.model.values(k, [live])[live] for k in (1, 3))
        a = server.member(session, "a", [live], late=SAFE, late_after=0.1, safe_values=[safe])
        a.deliver(value)
        b = server.member(session, "b")
        b.step()
        a.read()
        if gone:
            a.call.cancel()
        outputs = [list(b.step().state.outputs) for _ in range(2)]
        reference = server.create()
        wanted = [list(server.advance(reference, 1, {live: v}).outputs) for v in (value, safe, safe)]
        assert outputs == wanted[1:]

    def test_one_whose_tick_has_passed_is_told_so_and_goes_on_from_where_sync_says(self, server: Server) -> None:
        # Expected: the clock does not go on without either.
        session = server.create("a", "b")
        a = server.member(session, "a", late=HOLD, late_after=0.1)
        b = server.member(session, "b")
        for _ in range(3):
            b.step()
        error = a.refused()
        assert (error.reason, error.expected_tick) == ("TOO_LATE", 3)
        state = a.ask(sync=pb.Sync()).state
        assert (state.tick, state.missed) == (3, 3)
        b.deliver()
        assert a.step().state.tick == 4

    @pytest.mark.parametrize("how", ["half-close", "reset"])
    def test_a_stream_that_ends_detaches_its_participant_once_and_the_others_go_on(self, server: Server,
                                                                                   how: str) -> None:
        session = server.create()
        a, b = server.member(session, "a"), server.member(session, "b")
        b.deliver()
        a.end() if how == "half-close" else a.call.cancel()
        assert b.read().state.tick == 1
        assert [p.name for p in server.status(session).participants] == ["b"]
        again = server.member(session, "a")
        time.sleep(0.1)
        assert [p.name for p in server.status(session).participants] == ["a", "b"]
        b.deliver()
        assert again.step().state.tick == 2

    def test_the_delivery_of_one_that_died_in_the_barrier_is_dropped_and_it_may_come_back(self, server: Server,
                                                                                         live: str) -> None:
        session = server.create()
        a, b = server.member(session, "a", [live]), server.member(session, "b")
        a.deliver(server.model.values(1, [live])[live])
        wait_until(lambda: [p.name for p in server.status(session).participants if p.missing] == ["b"], "a delivers")
        a.call.cancel()
        wait_until(lambda: [p.name for p in server.status(session).participants] == ["b"], "a has gone")
        assert list(b.step().state.outputs) == list(server.advance(server.create()).outputs)
        start = next(i.start for i in server.model.inputs if i.name == live)
        assert list(server.member(session, "a", [live]).joined.input_values) == [start]

    def test_an_expected_participant_that_died_is_named_to_the_others(self, server: Server) -> None:
        session = server.create("a", "b")
        a, b = server.member(session, "a"), server.member(session, "b", timeout=0.2)
        a.call.cancel()
        wait_until(lambda: not all(p.joined for p in server.status(session).participants), "a has gone")
        error = b.step().error
        assert (error.reason, list(error.missing)) == ("BARRIER_TIMEOUT", ["a"])
        server.member(session, "a").deliver()
        assert b.step(request=1, tick=0).state.tick == 1


class TestRejoin:
    """A participant rejoins with its token after a lost stream."""

    def test_a_repeat_of_the_last_step_gets_the_reply_that_was_lost(self, server: Server, live: str) -> None:
        session, value = server.create(), server.model.values(1, [live])[live]
        a = server.member(session, "a", [live], lease=30.0)
        b = server.member(session, "b")
        a.deliver(value)
        wait_until(lambda: [p.name for p in server.status(session).participants if p.missing] == ["b"], "a delivers")
        a.call.cancel()
        wait_until(lambda: not all(p.joined for p in server.status(session).participants), "a has gone")
        # Its delivery counts.
        outputs = list(b.step().state.outputs)
        again = server.member(session, "a", [live], lease=30.0, participant_token=a.joined.participant_token)
        assert (again.joined.tick, again.joined.request) == (1, 1)
        reply = again.step(value, tick=0, request=1).state
        assert (reply.tick, list(reply.outputs)) == (1, outputs)
        again.request = 1
        b.deliver()
        assert again.step(value).state.tick == 2

    def test_inputs_stay_its_own_until_the_lease_ends(self, server: Server, owned: str) -> None:
        session = server.create()
        a = server.member(session, "a", [owned], lease=1.5)
        b = server.member(session, "b")
        a.call.cancel()
        wait_until(lambda: not all(p.joined for p in server.status(session).participants), "a has gone")
        assert server.stream().join(session, "c", [owned]).error.reason == "INPUT_OWNED"
        # The clock waits until the lease ends.
        assert b.step().state.tick == 1
        server.member(session, "c", [owned])

    def test_a_rejoin_needs_the_token_and_the_terms_of_the_first_join(self, server: Server) -> None:
        session = server.create()
        a = server.member(session, "a", lease=30.0)
        token = a.joined.participant_token
        assert server.stream().join(session, "a", lease=30.0, participant_token="no").error.reason == "WRONG_TOKEN"
        other = server.stream().join(session, "a", lease=30.0, period=2, participant_token=token)
        assert other.error.reason == "BAD_FIELD"
        assert a.step().state.tick == 1

    def test_a_rejoin_takes_over_from_a_stream_that_is_still_open(self, server: Server) -> None:
        session = server.create()
        a, b = server.member(session, "a"), server.member(session, "b")
        a.deliver()
        again = server.member(session, "a", participant_token=a.joined.participant_token)
        assert a.read().error.reason == "STREAM_REPLACED"
        b.deliver()
        assert again.step(request=1, tick=0).state.tick == 1


#: Fields of a Join for each policy that lets a participant go.
LEAVING: dict[str, dict[str, Any]] = {
    "BLOCK": {"late": pb.LATE_POLICY_BLOCK, "lease": 30.0},
    "HOLD_LAST": {"late": pb.LATE_POLICY_HOLD_LAST},
    "SAFE_VALUE": {"late": pb.LATE_POLICY_SAFE_VALUE},
}


class TestEviction:
    """The place of a participant that has gone can be freed."""

    @pytest.mark.parametrize("policy", list(LEAVING))
    @pytest.mark.parametrize("secret", ["token", "join_token"])
    def test_a_program_that_was_restarted_joins_again_by_its_name(self, server: Server, owned: str, policy: str,
                                                                  secret: str) -> None:
        session, start = server.create(), server.model.values(1, [owned])[owned]
        terms: dict[str, Any] = LEAVING[policy] | ({"safe_values": [start]} if policy == "SAFE_VALUE" else {})
        a = server.member(session, "a", [owned], **terms)
        b = server.member(session, "b")
        b.deliver()
        a.step(start)
        a.call.cancel()
        wait_until(lambda: not all(p.joined for p in server.status(session).participants), "a has gone")
        again = server.member(session, "a", [owned], **terms, token=getattr(session, secret))
        assert again.joined.participant_token != a.joined.participant_token
        assert (again.joined.tick, again.joined.request) == (1, 0)
        b.read()
        b.deliver()
        assert again.step(start).state.tick == 2
        old = server.stream().join(session, "a", [owned], **terms, participant_token=a.joined.participant_token)
        assert old.error.reason == "WRONG_TOKEN"

    def test_taking_over_from_a_connected_one_needs_the_session_token(self, server: Server, owned: str) -> None:
        session, start = server.create("a"), server.model.values(1, [owned])[owned]
        a = server.member(session, "a", [owned])
        assert server.stream().join(session, "a", [owned]).error.reason == "NAME_TAKEN"
        join_only = server.stream().join(session, "a", [owned], token=session.join_token, take_over=True)
        assert join_only.error.reason == "NO_RIGHT"
        again = server.member(session, "a", [owned], take_over=True)
        assert a.refused(start).reason == "STREAM_REPLACED"
        assert again.step(start).state.tick == 1

    def test_an_evicted_participant_is_told_so_and_the_others_go_on(self, server: Server, owned: str) -> None:
        session = server.create()
        a, b = server.member(session, "a"), server.member(session, "b", [owned])
        a.deliver()
        server.call("EvictParticipant", session, name="b")
        assert a.read().state.tick == 1
        assert proper(b.step(0.0).error).reason == "EVICTED"
        assert b.ask(sync=pb.Sync()).error.reason == "EVICTED"
        assert server.refused("EvictParticipant", session, name="b").reason == "UNKNOWN_PARTICIPANT"
        server.member(session, "c", [owned])
        assert server.status(session).evictions == 1

    def test_who_waits_in_the_barrier_is_refused_and_an_expected_one_is_waited_for_unless_released(
            self, server: Server) -> None:
        session = server.create("a", "b")
        a, b = server.member(session, "a"), server.member(session, "b", timeout=0.2)
        a.deliver()
        server.call("EvictParticipant", session, name="a")
        assert a.read().error.reason == "EVICTED"
        assert list(b.step().error.missing) == ["a"]
        # Nobody of that name has joined, but it is waited for.
        assert server.refused("EvictParticipant", session, name="a").reason == "UNKNOWN_PARTICIPANT"
        server.call("EvictParticipant", session, name="a", release=True)
        assert b.step(request=1, tick=0).state.tick == 1

    def test_a_participant_may_evict_itself_and_nobody_else(self, server: Server) -> None:
        session = server.create()
        a = server.member(session, "a")
        server.member(session, "b")
        token = a.joined.participant_token
        assert server.refused("EvictParticipant", session, name="b", token=token).reason == "NO_RIGHT"
        assert server.refused("EvictParticipant", session, name="b", token="").reason == "NO_TOKEN"
        wrong = server.refused("EvictParticipant", session, name="b", token=session.join_token)
        assert wrong.reason == "WRONG_TOKEN"
        server.call("EvictParticipant", session, name="a", token=token)
        assert [p.name for p in server.status(session).participants] == ["b"]

    def test_sessions_are_listed_with_who_is_in_them(self, server: Server) -> None:
        session = server.create("a", "b")
        server.member(session, "a")
        listed = server.stub.ListSessions(pb.ListSessionsRequest()).sessions
        [found] = [s for s in listed if s.session_id == session.session_id]
        assert (list(found.participants), found.connected, found.own) == (["a", "b"], 1, True)
        assert STATES[found.state - 1] == "CREATED"
