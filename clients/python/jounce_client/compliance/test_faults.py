"""Known faults of other co-simulation tools, as far as a client can test for them (docs/service.md)."""

from __future__ import annotations

import random
import time

import pytest

from jounce_client.compliance.rig import Server, wait_until
from jounce_proto import jounce_pb2 as pb


class TestFaults:
    """Rows of the fault table; the others are tested in the classes of their subjects."""

    def test_a_thousand_steps_at_full_rate_get_one_reply_each_with_the_index_plus_one(self, server: Server) -> None:
        a = server.member(server.create(), "a", outputs=())
        for k in range(1000):
            a.deliver(tick=k)
        for k in range(1000):
            state = a.read().state
            assert (state.tick, state.request) == (k + 1, k + 1)

    def test_of_five_requests_queued_before_the_start_only_the_current_one_acts(self, server: Server,
                                                                                owned: str) -> None:
        session = server.create("a", "b")
        a = server.member(session, "a", [owned])
        values = [server.model.values(k, [owned])[owned] for k in range(5)]
        for value in values:
            a.deliver(value, tick=0)
        time.sleep(0.1)
        assert server.member(session, "b").step().state.tick == 1
        replies = [a.read() for _ in range(5)]
        assert replies[0].state.tick == 1
        assert [r.error.reason for r in replies[1:]] == ["WRONG_TICK"] * 4
        assert list(replies[0].state.outputs) == list(server.advance(server.create(), 1, {owned: values[0]}).outputs)

    def test_n_ticks_are_exactly_n_whatever_pauses_come_between(self, server: Server) -> None:
        session = server.create()
        a, chance = server.member(session, "a", period=7), random.Random(1)
        for k in range(1, 51):
            paused = chance.random() < 0.4
            if paused:
                server.call("PauseSession", session)
            a.deliver()
            if paused:
                server.call("ResumeSession", session)
            state = a.read().state
            assert (state.tick, state.sim_ns) == (7 * k, round(7 * k * session.tick_seconds * 1e9))
        assert server.status(session).tick == 350

    @pytest.mark.parametrize("order", ["first", "last", "never"])
    def test_a_late_joiner_may_leave_whenever_it_likes_and_closing_returns(self, server: Server, order: str) -> None:
        session = server.create("a")
        a = server.member(session, "a")
        a.step()
        late = server.member(session, "late", period=3)
        assert late.joined.tick == 3
        a.step()
        a.step()
        a.deliver()
        late.deliver()
        assert a.read().state.tick == 4
        if order == "first":
            # In the middle of its period, its Step unanswered.
            late.call.cancel()
            assert a.step().state.tick == 5
        elif order == "last":
            a.ask(leave=pb.Leave())
            assert late.read().state.tick == 6
            assert late.step().state.tick == 9
        start = time.monotonic()
        server.call("DeleteSession", session)
        assert time.monotonic() - start < 5.0

    def test_a_busy_participant_that_takes_its_time_is_not_detached(self, server: Server) -> None:
        a = server.member(server.create(), "a", timeout=0.1)
        a.step()
        time.sleep(1.0)
        assert a.step().state.tick == 2

    def test_a_session_can_be_used_again_when_everyone_in_it_has_died(self, server: Server) -> None:
        session = server.create("a", "b")
        for name in ("a", "b"):
            server.member(session, name).call.cancel()
        wait_until(lambda: not any(p.joined for p in server.status(session).participants), "both have gone")
        a, b = server.member(session, "a"), server.member(session, "b")
        a.deliver()
        assert b.step().state.tick == 1

    def test_a_slow_participant_of_a_paced_session_loses_nothing_without_its_being_counted(self,
                                                                                          server: Server) -> None:
        session = server.paced(0.02)
        slow = server.member(session, "slow", late=pb.LATE_POLICY_HOLD_LAST, late_after=0.005)
        accepted, refused = 0, 0
        while refused < 5 and accepted < 50:
            time.sleep(0.05)
            reply = slow.step()
            if reply.HasField("state"):
                accepted += 1
                continue
            assert reply.error.reason == "TOO_LATE"
            refused += 1
            slow.request -= 1
            slow.tick = slow.ask(sync=pb.Sync()).state.tick
        server.call("PauseSession", session)
        status = server.status(session)
        assert refused
        assert accepted + status.participants[0].missed == status.tick
