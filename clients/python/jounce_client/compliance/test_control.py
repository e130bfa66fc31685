"""Pause, reset, pacing and watching."""

from __future__ import annotations

import time

import pytest

from jounce_client.compliance.rig import Server, wait_until
from jounce_proto import jounce_pb2 as pb

PAUSED, RESUMED, RESET = pb.EVENT_KIND_PAUSED, pb.EVENT_KIND_RESUMED, pb.EVENT_KIND_RESET


class TestPause:
    """In a paused session the clock and all timers stand still."""

    def test_a_pause_holds_the_clock_and_a_step_that_comes_meanwhile_is_answered_after_it(self,
                                                                                         server: Server) -> None:
        session = server.create()
        a = server.member(session, "a")
        a.step()
        assert server.call("PauseSession", session).tick == 1
        a.deliver()
        time.sleep(0.1)
        assert (server.state(session), server.status(session).tick) == ("PAUSED", 1)
        server.call("ResumeSession", session)
        assert a.read().state.tick == 2
        assert [e.kind for e in a.events] == [PAUSED, RESUMED]

    def test_leases_and_late_times_and_barrier_times_stand_still_while_paused(self, server: Server) -> None:
        session = server.create()
        strict = server.member(session, "strict", late=pb.LATE_POLICY_FAIL, late_after=1.0)
        leased = server.member(session, "leased", lease=1.0)
        b = server.member(session, "b", timeout=1.0)
        leased.call.cancel()
        wait_until(lambda: not all(p.joined for p in server.status(session).participants), "one has gone")
        server.call("PauseSession", session)
        b.deliver()
        time.sleep(1.5)
        status = server.status(session)
        assert (server.state(session), len(status.participants)) == ("PAUSED", 3)
        again = server.member(session, "leased", lease=1.0, participant_token=leased.joined.participant_token)
        server.call("ResumeSession", session)
        again.deliver()
        assert strict.step().state.tick == 1
        assert b.read().state.tick == 1


class TestReset:
    """A reset begins a new epoch at tick 0."""

    def test_everyone_is_told_and_a_step_of_the_old_epoch_is_refused(self, server: Server) -> None:
        session = server.create()
        a = server.member(session, "a", period=2)
        a.step()
        server.member(session, "b", period=2).deliver()
        old = a.epoch
        new = server.call("ResetSession", session).epoch
        assert new > old
        error = a.refused(epoch=old, tick=2)
        assert (error.reason, error.expected_tick, error.expected_epoch) == ("WRONG_EPOCH", 0, new)
        (event,) = a.events
        assert (event.kind, event.epoch, event.tick, event.due_tick, event.sim_ns) == (RESET, new, 0, 0, 0)

    def test_a_step_that_waited_is_refused_with_the_new_epoch(self, server: Server) -> None:
        session = server.create()
        a, b = server.member(session, "a"), server.member(session, "b")
        a.deliver()
        wait_until(lambda: [p.name for p in server.status(session).participants if p.missing] == ["b"], "a delivers")
        server.call("ResetSession", session)
        assert a.read().error.reason == "WRONG_EPOCH"
        a.request = 0
        # Its delivery from before the reset does not count.
        b.deliver(epoch=a.epoch)
        time.sleep(0.05)
        assert server.status(session).tick == 0
        assert a.step().state.tick == 1

    def test_a_reset_with_other_start_inputs_starts_with_them(self, server: Server, owned: str) -> None:
        session, value = server.create(), server.model.values(1, [owned])[owned]
        server.call("ResetSession", session, start_inputs={owned: value})
        assert list(server.member(session, "a", [owned]).joined.input_values) == [value]


class TestPacing:
    """Simulated time does not run ahead of the wall clock."""

    @pytest.mark.parametrize("members", [1, 3])
    def test_ticks_are_not_released_early_however_many_take_part(self, server: Server, members: int) -> None:
        session = server.paced(0.005)
        everyone = [server.member(session, f"m{i}") for i in range(members)]
        start = time.monotonic()
        for _ in range(30):
            for member in everyone:
                member.deliver()
            for member in everyone:
                member.read()
        assert time.monotonic() - start >= 0.005 * 29

    def test_an_advance_takes_its_time_and_ends_at_its_tick(self, server: Server) -> None:
        session = server.paced(0.005)
        start = time.monotonic()
        assert server.advance(session, 40).tick == 40
        assert time.monotonic() - start >= 0.005 * 39

    def test_a_late_tick_is_counted_and_catches_up(self, server: Server) -> None:
        session = server.paced(0.02)
        a = server.member(session, "a")
        a.step()
        before = a.step().state.overruns
        time.sleep(0.2)
        assert a.step().state.overruns == before + 1
        status = server.status(session).pacing
        assert status.worst_overrun > 0.1
        assert status.overruns == before + 1


class TestWatch:
    """Viewers get frames and do not slow the session."""

    def test_frames_come_at_every_nth_tick_with_the_outputs_asked_for(self, server: Server) -> None:
        session = server.create()
        frames = server.watch(session, outputs=["*"], every_ticks=3)
        outputs = {tick: list(server.advance(session).outputs) for tick in range(1, 11)}
        seen = [next(frames) for _ in range(4)]
        assert [f.tick for f in seen] == [1, 3, 6, 9]
        assert [list(f.outputs) for f in seen] == [outputs[f.tick] for f in seen]
        assert [f.sim_ns for f in seen] == [round(f.tick * session.tick_seconds * 1e9) for f in seen]

    def test_the_present_state_comes_without_a_move_where_a_viewer_asks_for_it(self, server: Server) -> None:
        session = server.create()
        outputs = list(server.advance(session, 2).outputs)
        server.call("PauseSession", session)
        frames = server.viewer(session, outputs=["*"], present=True)
        first = next(frames)
        assert (first.tick, list(first.outputs)) == (2, outputs)
        epoch = server.call("ResetSession", session).epoch
        assert [(f.epoch, f.tick) for f in (next(frames),)] == [(epoch, 0)]

    def test_a_viewer_that_reads_nothing_does_not_hold_up_the_clock(self, server: Server) -> None:
        session = server.create()
        server.watch(session, outputs=["*"])
        a = server.member(session, "a", outputs=())
        for k in range(300):
            assert a.step().state.tick == k + 1

    def test_frames_go_on_after_a_reset_to_an_earlier_tick(self, server: Server) -> None:
        session = server.create()
        server.advance(session, 50)
        # The viewer's counter of ticks is reset as well.
        frames = server.watch(session)
        server.advance(session, 2)
        assert next(frames).tick == 2
