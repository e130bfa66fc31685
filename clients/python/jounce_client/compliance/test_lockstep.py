"""The barrier, ownership of inputs, and the tick, epoch and request numbers of a Step."""

from __future__ import annotations

import time
from typing import Any

import pytest

from jounce_client.compliance.rig import Server, refusal, wait_until
from jounce_proto import jounce_pb2 as pb


def missing(server: Server, session: Any) -> list[str]:
    """Names of those that the barrier waits for."""
    return [p.name for p in server.status(session).participants if p.missing]


class TestBarrier:
    """The clock moves when all participants that are due have delivered."""

    def test_the_clock_waits_for_everyone_who_is_due_and_says_for_whom(self, server: Server) -> None:
        session = server.create()
        a, b = server.member(session, "a"), server.member(session, "b")
        a.deliver()
        time.sleep(0.1)
        assert server.status(session).tick == 0
        wait_until(lambda: missing(server, session) == ["b"], "b alone is missing")
        assert b.step().state.tick == 1
        assert a.read().state.tick == 1

    def test_the_clock_waits_for_expected_participants_that_have_not_joined(self, server: Server) -> None:
        session = server.create("a", "b")
        a = server.member(session, "a", timeout=0.1)
        error = a.step().error
        assert (error.reason, list(error.missing)) == ("BARRIER_TIMEOUT", ["b"])
        assert server.status(session).tick == 0
        server.member(session, "b").deliver()
        assert a.step(request=1).state.tick == 1

    def test_a_time_out_names_who_is_missing_and_a_repeat_of_the_step_works(self, server: Server) -> None:
        session = server.create()
        a, b, c = (server.member(session, name, timeout=0.1) for name in "abc")
        c.deliver()
        error = a.step().error
        assert (error.reason, list(error.missing)) == ("BARRIER_TIMEOUT", ["b"])
        assert server.status(session).tick == 0
        b.deliver()
        assert a.step(request=1).state.tick == 1
        assert b.read().state.tick == 1

    def test_mixed_periods_and_phases_meet_at_their_due_ticks(self, server: Server) -> None:
        session = server.create("a", "b", "c")
        terms = {"a": (2, 0), "b": (3, 0), "c": (6, 5)}
        members = {n: server.member(session, n, period=p, phase=q) for n, (p, q) in terms.items()}
        assert {n: m.tick for n, m in members.items()} == {"a": 0, "b": 0, "c": 5}
        for tick in range(24):
            due = [n for n, (period, phase) in terms.items() if tick % period == phase]
            for name in due:
                if tick >= terms[name][0]:
                    assert members[name].read().state.tick == tick
                assert members[name].tick == tick
                members[name].deliver()
        wait_until(lambda: server.status(session).tick == 24, "the clock comes to the last due tick")

    def test_a_late_joiner_is_due_from_the_next_tick_of_its_grid(self, server: Server) -> None:
        session = server.create("a")
        a = server.member(session, "a")
        for _ in range(4):
            a.step()
        b = server.member(session, "b", period=3)
        assert (b.joined.clock_tick, b.joined.tick) == (4, 6)
        a.step()
        assert a.step().state.tick == 6
        a.deliver()
        time.sleep(0.05)
        assert server.status(session).tick == 6
        b.deliver()
        assert a.read().state.tick == 7

    def test_who_leaves_in_order_is_not_waited_for_any_more_even_if_expected(self, server: Server) -> None:
        session = server.create("a", "b")
        a, b = server.member(session, "a"), server.member(session, "b")
        a.deliver()
        assert b.ask(leave=pb.Leave()).HasField("left")
        assert a.read().state.tick == 1
        assert a.step().state.tick == 2

    def test_a_sync_gives_the_state_at_the_due_tick_and_moves_nothing(self, server: Server) -> None:
        session = server.create()
        a = server.member(session, "a", period=3)
        stepped = a.step().state
        synced = a.ask(sync=pb.Sync()).state
        assert (synced.tick, list(synced.outputs)) == (3, list(stepped.outputs))
        assert server.status(session).tick == 3


class TestOwnership:
    """An input has at most one owner."""

    def test_an_owned_input_is_refused_to_others_by_name_and_they_may_join_without_it(self, server: Server,
                                                                                      owned: str) -> None:
        session = server.create()
        server.member(session, "a", [owned])
        stream = server.stream()
        error = stream.join(session, "b", ["*"]).error
        assert (error.reason, error.field) == ("INPUT_OWNED", owned)
        # The stream lives on.
        assert stream.join(session, "b").HasField("joined")

    def test_an_input_is_free_again_when_its_owner_has_left_or_gone(self, server: Server, owned: str) -> None:
        session = server.create()
        a = server.member(session, "a", [owned])
        a.ask(leave=pb.Leave())
        b = server.member(session, "b", [owned])
        b.call.cancel()
        wait_until(lambda: not server.status(session).participants, "b has gone")
        server.member(session, "c", [owned])

    def test_an_input_holds_its_value_when_its_owner_has_left(self, server: Server, live: str) -> None:
        session, value = server.create(), server.model.values(1, [live])[live]
        a = server.member(session, "a", [live])
        a.step(value)
        a.ask(leave=pb.Leave())
        assert list(server.member(session, "b", [live]).joined.input_values) == [value]

    def test_the_join_token_joins_and_does_nothing_else(self, server: Server) -> None:
        session = server.create()
        server.member(session, "a", token=session.join_token)
        assert server.refused("PauseSession", session, token=session.join_token).reason == "WRONG_TOKEN"
        assert server.stream().join(session, "b", token="wrong").error.reason == "WRONG_TOKEN"
        assert server.stream().join(session, "b", token="").error.reason == "NO_TOKEN"

    def test_a_participant_named_a_controller_may_pause_with_its_own_token(self, server: Server) -> None:
        session = server.create(controllers=["a"])
        a, b = server.member(session, "a"), server.member(session, "b")
        server.call("PauseSession", session, token=a.joined.participant_token)
        assert server.state(session) == "PAUSED"
        token = b.joined.participant_token
        assert server.refused("ResumeSession", session, token=token).reason == "NO_RIGHT"


class TestTicks:
    """No tick is skipped or taken twice without an error."""

    def test_a_step_advances_exactly_its_period_and_time_is_tick_times_tick_length(self, server: Server) -> None:
        session = server.create()
        a = server.member(session, "a", period=7)
        for k in range(1, 6):
            state = a.step().state
            assert (state.tick, state.request) == (7 * k, k)
            assert state.sim_ns == round(7 * k * session.tick_seconds * 1e9)

    def test_a_step_may_say_when_its_sender_is_due_next(self, server: Server) -> None:
        session = server.create()
        a, b = server.member(session, "a", period=10), server.member(session, "b")
        for ahead, met in ((4, 4), (1, 5), (None, 10), (30, 40)):
            a.deliver(next_tick=None if ahead is None else a.tick + ahead)
            while b.tick < met:
                assert b.step().HasField("state")
            assert a.read().state.tick == met

    @pytest.mark.parametrize("next_tick", [-1, 0, 6, 7, 2**62])
    def test_a_due_tick_that_is_not_ahead_is_refused(self, server: Server, next_tick: int) -> None:
        a = server.member(server.create(), "a", period=7)
        a.step()
        error = a.refused(next_tick=next_tick)
        assert (error.reason, error.field, error.given) == ("BAD_FIELD", "next_tick", str(next_tick))
        assert a.step(next_tick=8).state.tick == 8
        assert a.step().state.tick == 14

    @pytest.mark.parametrize("wrong", [-1, 0, 2, 10**12])
    def test_a_step_for_another_tick_is_aborted_with_the_tick_expected(self, server: Server, wrong: int) -> None:
        session = server.create()
        a = server.member(session, "a")
        a.step()
        error = a.refused(tick=wrong)
        assert (error.reason, error.expected_tick, error.expected_epoch) == ("WRONG_TICK", 1, session.epoch)
        assert a.step().state.tick == 2

    def test_a_repeated_step_gets_the_stored_reply_and_advances_nothing(self, server: Server, owned: str) -> None:
        session = server.create()
        a = server.member(session, "a", [owned])
        value, other = (server.model.values(k, [owned])[owned] for k in (1, 2))
        first = a.step(value)
        again = a.step(value, tick=0, request=1)
        assert again == first
        assert server.status(session).tick == 1
        if value != other:
            assert a.step(other, tick=0, request=1).error.reason == "STALE_REQUEST"

    def test_steps_sent_ahead_get_one_reply_each_in_order(self, server: Server) -> None:
        a = server.member(server.create(), "a")
        for k in range(50):
            a.deliver(tick=k)
        for k in range(50):
            state = a.read().state
            assert (state.tick, state.request) == (k + 1, k + 1)

    def test_an_advance_is_exactly_n_ticks_or_none(self, server: Server) -> None:
        session = server.create()
        total = 0
        for n in (1, 0, 20, 3):
            total += n
            reply = server.advance(session, n)
            assert (reply.tick, reply.sim_ns) == (total, round(total * session.tick_seconds * 1e9))
        error = refusal(lambda: server.advance(session, 5, tick=total + 1))
        assert (error.reason, error.expected_tick) == ("WRONG_TICK", total)
        assert refusal(lambda: server.advance(session, 5, epoch=99)).reason == "WRONG_EPOCH"
        assert server.status(session).tick == total

    def test_a_repeated_advance_gets_the_stored_reply_and_an_older_one_is_stale(self, server: Server) -> None:
        session = server.create()
        first = server.advance(session, 2, request=5)
        assert server.advance(session, 2, request=5) == first
        assert refusal(lambda: server.advance(session, 3, request=5)).reason == "STALE_REQUEST"
        assert refusal(lambda: server.advance(session, 2, request=4)).reason == "STALE_REQUEST"
        assert server.advance(session, 2, request=6).tick == 4
