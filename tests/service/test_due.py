"""A Step that says when its participant is due next, on a real server; in test_due_fast.py by the fast lane."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import grpc
import pytest
from integrator_model import IntegratorModel, registry
from recordings import only
from test_session_snapshots import download, upload
from undisturbed import undisturbed

from jounce_proto import jounce_pb2 as pb
from jounce_service.recording.replay import replay
from jounce_service.session.snapshots import pack, unpack


def test_the_state_is_that_of_the_tick_asked_for_and_the_step_after_it_is_on_the_grid(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["velocity"], outputs=["tick_count"], period=100)
    state = a.step(1.0, 2.0, next_tick=37).state
    assert (state.tick, state.sim_ns, list(state.outputs)) == (37, 37_000_000, [37.0])
    (known,) = server.status(session).participants
    assert (known.due_tick, known.period_ticks) == (37, 100)
    assert a.step(1.0, 2.0).state.tick == 100
    assert a.step(1.0, 2.0, next_tick=101).state.tick == 101


def test_a_tick_that_cannot_be_is_refused_and_nothing_is_applied(server: Any) -> None:
    a = server.member(server.create(), "a", inputs=["force"], outputs=["reaction"])
    for wrong in (-5, 0, 10**6 + 1):
        error = a.refused(7.0, next_tick=wrong)
        assert (error.reason, error.field, error.given) == ("BAD_FIELD", "next_tick", str(wrong))
        assert error.allowed == "1 to 1000000, or none"
    assert a.step(8.0, next_tick=5).state.tick == 5


def test_a_repeat_after_the_answer_gives_the_same_answer(server: Any) -> None:
    a = server.member(server.create(), "a", inputs=["force"])
    first = a.step(3.0, next_tick=9)
    assert a.step(3.0, next_tick=9, tick=0, request=1) == first
    assert a.step(3.0, next_tick=8, tick=0, request=1).error.reason == "STALE_REQUEST"
    assert a.step(3.0, tick=0, request=1).error.reason == "STALE_REQUEST"


@undisturbed
def test_a_time_out_leaves_the_tick_asked_for_standing(server: Any) -> None:
    session = server.create("a", "b")
    a = server.member(session, "a", inputs=["force"], timeout=0.1)
    assert a.step(3.0, next_tick=4).error.reason == "BARRIER_TIMEOUT"
    b = server.member(session, "b", period=4)
    b.deliver()
    assert a.step(3.0, next_tick=4, request=1).state.tick == 4
    assert b.read().state.tick == 4


def test_after_a_rejoin_the_tick_asked_for_is_still_the_due_one(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force"], lease=60.0)
    b = server.member(session, "b", period=50)
    a.deliver(2.0, next_tick=33)
    b.deliver()
    assert a.read().state.tick == 33
    a.call.cancel()
    back = server.member(session, "a", inputs=["force"], lease=60.0, participant_token=a.joined.participant_token)
    assert back.joined.tick == 33


def play(stream: Any, asks: list[int | None]) -> list[bytes]:
    """Outputs of steps whose inputs depend on the tick."""
    rows = []
    for ask in asks:
        tick = stream.tick
        state = stream.step(0.5 + 0.01 * tick, -0.3, next_tick=None if ask is None else tick + ask).state
        rows.append(b"%d " % state.tick + state.SerializeToString())
    return rows


@pytest.mark.parametrize("first_order", [[], ["velocity"]], ids=["held", "first order"])
def test_a_restored_session_goes_on_at_the_due_tick_that_was_asked_for(server: Any, first_order: list[str]) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["velocity"], period=20, first_order_inputs=first_order)
    b = server.member(session, "b", period=1)
    b.tick = 0

    def both(until: int, ask: int | None) -> Any:
        """Steps ``a`` once and ``b`` until there."""
        a.deliver(0.01 * a.tick, -0.2, next_tick=ask)
        while b.tick < until:
            b.step()
        return a.read().state

    both(7, 7)
    both(16, 16)
    # ``a`` has asked for 33 and has not been answered; the clock stands at 25.
    a.deliver(0.4, -0.2, next_tick=33)
    while b.tick < 25:
        b.step()
    kept = server.call("SaveSnapshot", session)
    assert kept.tick == 25
    ends = []
    for again in (False, True):
        if again:
            server.call("RestoreSnapshot", session, snapshot_id=kept.snapshot_id)
            # A Sync reads the event, which says where ``a`` is due; ``b`` has its own.
            for s in (a, b):
                s.request = 0
                s.send(sync=pb.Sync())
            assert b.read().state.tick == 25
            assert b.epoch == 2
        while b.tick < 33:
            b.step()
        state = a.read().state
        ends.append((state.tick, list(state.outputs)))
        assert a.tick == 33
        state = both(40, None)
        ends.append((state.tick, list(state.outputs)))
    assert ends[:2] == ends[2:]
    assert [tick for tick, _ in ends] == [33, 40, 33, 40]


def test_a_reset_puts_everyone_on_the_grid(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force"], period=10)
    a.step(1.0, next_tick=33)
    server.call("ResetSession", session)
    a.request = 0
    assert a.ask(sync=pb.Sync()).state.tick == 0
    assert a.step(1.0).state.tick == 10


def test_a_snapshot_with_a_due_tick_that_cannot_be_is_refused(server: Any, info: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force"], period=10)
    b = server.member(session, "b")
    a.deliver(1.0, next_tick=33)
    b.step()
    kept = server.call("SaveSnapshot", session)
    snapshot = unpack(download(server, session, kept.snapshot_id), "integrator", server.model.build)
    holds = {h.participant: h for h in snapshot.holds}
    hold = holds["a"]
    assert hold.due_tick == 33 and not holds["b"].HasField("due_tick")
    for wrong in (0, -1, 2**62):
        hold.due_tick = wrong
        found = upload(server, session, pack(snapshot))
        with pytest.raises(grpc.RpcError) as caught:
            server.call("RestoreSnapshot", session, snapshot_id=found.snapshot_id)
        assert info(caught.value).reason == "SNAPSHOT_CORRUPT"
        assert server.status(session).epoch == 1


def test_a_recording_of_asked_ticks_replays_without_a_difference(serve: Any, tmp_path: Path) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1)
    session = server.create()
    a = server.member(session, "a", inputs=["velocity"], period=7, first_order_inputs=["velocity"])
    play(a, [3, None, 40, 1, 1, None, None, 11])
    server.call("DeleteSession", session)
    report = replay(only(tmp_path / "rec"), registry(IntegratorModel()))
    assert (report.first, report.ticks) == (None, a.tick)


def test_a_paced_session_holds_the_tick_asked_for_until_its_time(server: Any) -> None:
    session = server.create(pacing=pb.Pacing(mode=pb.PACING_MODE_REALTIME, factor=1.0))
    a = server.member(session, "a", inputs=["force"])
    a.step(1.0)
    state = a.step(1.0, next_tick=121).state
    assert state.tick == 121
    begin = time.monotonic()
    assert a.step(1.0, next_tick=321).state.tick == 321
    # 200 ms of simulated time are never released in half of that.
    assert time.monotonic() - begin > 0.1
