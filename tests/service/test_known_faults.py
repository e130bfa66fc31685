"""Faults that other projects met, as docs/service.md lists them, where no other test here is theirs."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

import numpy as np
import pytest

from jounce_proto import jounce_pb2 as pb
from jounce_service.lockstep.barrier import Barrier
from jounce_service.lockstep.participant import NO_COLUMNS


def test_null_steps_of_two_rates_count_exactly() -> None:
    clock, empty = Barrier(np.zeros(0)), np.empty(0)
    fast, slow = clock.join("fast", NO_COLUMNS), clock.join("slow", NO_COLUMNS, period=20)
    # A million were run once; the count is as exact after these.
    n, time_of_client = 100_000, 0
    while clock.tick < n:
        if clock.tick % 20 == 0:
            clock.deliver(slow, epoch=1, tick=clock.tick, request=clock.tick // 20 + 1, values=empty)
        clock.deliver(fast, epoch=1, tick=time_of_client, request=time_of_client + 1, values=empty)
        ticks = clock.take()
        assert ticks > 0
        clock.commit(ticks)
        time_of_client += 1
        assert clock.tick == time_of_client
    assert clock.take() == 0
    assert (fast.due, slow.due) == (n, n)


def test_three_thousand_steps_at_full_rate_get_one_reply_each_with_the_index_plus_one(server: Any) -> None:
    a = server.member(server.create(), "a", outputs=())
    for k in range(3_000):
        a.deliver(tick=k)
    for k in range(3_000):
        state = a.read().state
        assert (state.tick, state.request) == (k + 1, k + 1)


def test_of_five_requests_queued_before_the_start_only_the_current_one_acts(server: Any) -> None:
    session = server.create("a", "b")
    a = server.member(session, "a", inputs=["force"])
    for value in range(5):
        a.deliver(float(value), tick=0)
    time.sleep(0.1)
    b = server.member(session, "b")
    assert b.step().state.tick == 1
    replies = [a.read() for _ in range(5)]
    assert replies[0].state.tick == 1
    assert [r.error.reason for r in replies[1:]] == ["WRONG_TICK"] * 4
    assert server.instance(session).applied == [(0, (0.0, 0.0, 0.0, 0.0))]


def test_n_ticks_are_exactly_n_whatever_pauses_come_between_and_the_clocks_agree_exactly(server: Any) -> None:
    session = server.create()
    a, chance, stop = server.member(session, "a", period=7), random.Random(1), threading.Event()

    def pause() -> None:
        while not stop.is_set():
            server.call("PauseSession", session)
            time.sleep(chance.uniform(0.0, 0.004))
            server.call("ResumeSession", session)
            time.sleep(chance.uniform(0.0, 0.004))

    thread = threading.Thread(target=pause)
    thread.start()
    k = 0
    while k < 300 or len(a.events) <= 10:
        k, state = k + 1, a.step().state
        assert (state.tick, state.sim_ns, state.outputs[4]) == (7 * k, 7_000_000 * k, 7 * k)
    stop.set()
    thread.join(60)
    assert server.instance(session).ticks == 7 * k


@pytest.mark.parametrize("order", ["first", "last", "never"])
def test_a_late_joiner_may_leave_whenever_it_likes_and_closing_returns(server: Any, order: str) -> None:
    session = server.create("a")
    a = server.member(session, "a")
    for _ in range(5):
        a.step()
    late = server.member(session, "late", period=3)
    assert late.joined.tick == 6
    a.deliver()
    assert a.read().state.tick == 6
    a.deliver()
    late.deliver()
    assert a.read().state.tick == 7
    if order == "first":
        # In the middle of its period, its Step unanswered.
        late.call.cancel()
        assert a.step().state.tick == 8
        a.ask(leave=pb.Leave())
    elif order == "last":
        a.ask(leave=pb.Leave())
        assert late.read().state.tick == 9
        assert late.step().state.tick == 12
        late.ask(leave=pb.Leave())
    start = time.monotonic()
    server.call("DeleteSession", session)
    assert time.monotonic() - start < 5.0


def test_a_slow_node_in_a_paced_session_loses_nothing_without_its_being_counted(server: Any) -> None:
    session = server.create(pacing=pb.Pacing(mode=pb.PACING_MODE_REALTIME, factor=0.2))
    # 5 ms per tick; late 2 ms after each release.
    slow = server.member(session, "slow", inputs=["force"], late=pb.LATE_POLICY_HOLD_LAST, late_after=0.002)
    accepted, refused = 0, 0
    for k in range(20):
        time.sleep(0.02)
        reply = slow.step(float(k))
        if reply.HasField("state"):
            accepted += 1
        else:
            assert reply.error.reason == "TOO_LATE"
            slow.request -= 1
            refused += 1
            slow.tick = slow.ask(sync=pb.Sync()).state.tick
    server.call("PauseSession", session)
    status = server.status(session)
    missed = next(p.missed for p in status.participants)
    assert refused > 10
    assert accepted + missed == status.tick
    # The model got exactly one input vector per tick.
    assert [t for t, _ in server.instance(session).applied] == list(range(status.tick))
