"""Late and lost participants at the barrier itself, where time is an argument, so that every moment can be tested."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce_service.lockstep.barrier import Barrier, Delivery
from jounce_service.lockstep.participant import Late, Lateness, Participant, Phase
from jounce_service.transport import errors


def columns(*places: int) -> np.ndarray:
    return np.array(places, dtype=np.intp)


def deliver(b: Barrier, p: Participant, *values: float, tick: int | None = None) -> Delivery:
    return b.deliver(p, epoch=b.epoch, tick=p.due if tick is None else tick, request=p.request + 1,
                     values=np.array(values))


def settle(b: Barrier, now: float = 0.0, most: int | None = None) -> list[tuple[int, int, list[float]]]:
    """(from tick, ticks, inputs) of every move that is due at ``now``."""
    moves = []
    while ticks := b.take(now, most):
        moves.append((b.tick, ticks, b.inputs.tolist()))
        b.commit(ticks, now)
    return moves


def pair(lateness: Lateness, **join: int) -> tuple[Barrier, Participant, Participant]:
    """A patient participant `a` on input 0, and `b` on input 1 with the policy."""
    b = Barrier(np.zeros(2))
    return b, b.join("a", columns(0)), b.join("b", columns(1), lateness=lateness, **join)


HOLD = Lateness(Late.HOLD_LAST, after=0.5, lease=math.inf)
SAFE = Lateness(Late.SAFE_VALUE, after=0.5, safe=np.array([-7.0]), lease=math.inf)
FAIL = Lateness(Late.FAIL, after=0.5, lease=math.inf)


def test_the_clock_waits_for_a_late_one_until_its_time_is_up_and_not_longer() -> None:
    clock, a, b = pair(HOLD)
    deliver(clock, a, 1.0)
    assert clock.deadline(0.0) == 0.5
    assert settle(clock, 0.499999) == []
    assert settle(clock, 0.5) == [(0, 1, [1.0, 0.0])]
    # Its next turn began when the clock came to tick 1.
    deliver(clock, a, 2.0)
    assert clock.deadline(0.5) == 1.0
    assert settle(clock, 0.9) == []
    deliver(clock, b, 5.0)
    assert settle(clock, 0.9) == [(1, 1, [2.0, 5.0])]
    assert b.missed == 1


def test_held_inputs_keep_the_last_value_and_are_counted_tick_by_tick() -> None:
    clock, a, b = pair(HOLD)
    for k in range(10):
        deliver(clock, a, float(k))
        if k in (0, 4):
            deliver(clock, b, 10.0 + k)
        [(tick, _, inputs)] = settle(clock, float(k + 1))
        assert (tick, inputs) == (k, [float(k), 10.0 if k < 4 else 14.0])
    assert b.missed == 8


def test_safe_values_act_from_the_first_missed_tick_until_the_next_delivery() -> None:
    clock, a, b = pair(SAFE)
    seen = []
    for k in range(4):
        deliver(clock, a, 0.0)
        if k in (0, 3):
            deliver(clock, b, 5.0)
        seen += [u[1] for _, _, u in settle(clock, float(k + 1))]
    assert seen == [5.0, -7.0, -7.0, 5.0]


@pytest.mark.parametrize("age", [1, 2, 5])
def test_held_inputs_past_their_greatest_age_end_the_run_at_the_exact_tick(age: int) -> None:
    clock, a, b = pair(Lateness(Late.HOLD_LAST, after=0.5, max_age=age, lease=math.inf))
    deliver(clock, a, 0.0)
    deliver(clock, b, 1.0)
    settle(clock, 0.0)
    for k in range(1, age + 1):
        deliver(clock, a, 0.0)
        assert [t for t, _, _ in settle(clock, float(k))] == [k]
    deliver(clock, a, 0.0)
    before = clock.inputs.tolist(), clock.tick, a.due, b.due
    with pytest.raises(errors.HeldTooLong, match=f"{age + 1} ticks old at tick {age + 1}"):
        clock.take(99.0)
    assert before == (clock.inputs.tolist(), clock.tick, a.due, b.due)


def test_fail_names_who_was_late_and_changes_nothing() -> None:
    clock, a, _ = pair(FAIL)
    deliver(clock, a, 1.0)
    assert settle(clock, 0.4) == []
    with pytest.raises(errors.ParticipantLate) as caught:
        clock.take(0.5)
    assert caught.value.missing == ("b",)
    assert clock.inputs.tolist() == [0.0, 0.0]


def test_one_patient_participant_keeps_the_late_ones_in_time() -> None:
    clock, a, b = pair(HOLD)
    # `a` blocks: however late it is, nothing is held for `b`, whose own delivery still counts.
    assert settle(clock, 100.0) == []
    deliver(clock, b, 3.0)
    deliver(clock, a, 1.0)
    assert settle(clock, 100.0) == [(0, 1, [1.0, 3.0])]
    assert b.missed == 0


def test_a_delivery_for_a_tick_that_has_passed_is_refused_with_the_tick_to_go_on_from() -> None:
    clock, a, b = pair(HOLD)
    for k in range(3):
        deliver(clock, a, 0.0)
        settle(clock, float(k + 1))
    with pytest.raises(errors.TooLate) as caught:
        deliver(clock, b, 9.0, tick=0)
    assert (caught.value.tick, caught.value.epoch) == (3, 1)
    with pytest.raises(errors.WrongTick):
        deliver(clock, b, 9.0, tick=4)
    assert clock.sync(b) is True
    deliver(clock, a, 0.0)
    deliver(clock, b, 9.0)
    assert settle(clock, 3.0) == [(3, 1, [0.0, 9.0])]


def test_a_late_slow_participant_may_deliver_ahead_or_ask_for_the_state_at_its_next_due_tick() -> None:
    clock, a, b = pair(HOLD, period=4)
    deliver(clock, a, 0.0)
    settle(clock, 1.0)
    assert b.due == 4
    assert clock.sync(b) is False
    deliver(clock, b, 6.0)
    for _ in range(4):
        deliver(clock, a, 0.0)
        settle(clock, 1.0)
    assert clock.inputs.tolist() == [0.0, 6.0]
    assert b.missed == 1


def test_one_that_has_gone_is_late_at_once_and_the_clock_stands_while_nobody_is_connected() -> None:
    clock, a, b = pair(HOLD)
    assert clock.detach(b, 0.0) is True
    deliver(clock, a, 1.0)
    assert settle(clock, 0.0) == [(0, 1, [1.0, 0.0])]
    clock.detach(a)
    assert settle(clock, 1000.0) == []
    assert clock.tick == 1


def test_a_lease_keeps_name_inputs_and_delivery_and_ends_to_the_moment() -> None:
    clock, a, b = pair(Lateness(lease=2.0))
    deliver(clock, b, 5.0)
    assert clock.detach(b, 10.0) is True
    assert clock.detach(b, 11.0) is False
    with pytest.raises(errors.NameTaken):
        clock.join("b", columns())
    deliver(clock, a, 1.0)
    # What it had delivered before it went counts.
    assert settle(clock, 11.0) == [(0, 1, [1.0, 5.0])]
    deliver(clock, a, 2.0)
    assert settle(clock, 11.9) == []
    assert clock.missing() == ["b"]
    assert clock.deadline(11.9) == 12.0
    assert settle(clock, 12.0) == [(1, 1, [2.0, 5.0])]
    assert clock.join("b", columns(1)).due == 2


def test_a_rejoined_participant_goes_on_where_it_was_with_its_request_numbers() -> None:
    clock, a, b = pair(Lateness(lease=2.0))
    deliver(clock, a, 1.0)
    deliver(clock, b, 2.0)
    settle(clock)
    clock.detach(b, 0.0)
    clock.rejoin(b, 1.0)
    assert (b.due, b.next_tick, b.request) == (1, 1, 1)
    assert clock.deliver(b, epoch=1, tick=0, request=1, values=np.array([2.0])) is Delivery.ANSWERED
    deliver(clock, a, 1.0)
    deliver(clock, b, 3.0)
    # The lease of the first connection is over: it does not count any more.
    assert settle(clock, 50.0) == [(1, 1, [1.0, 3.0])]


def test_a_safe_participant_that_leaves_or_runs_out_of_its_lease_leaves_safe_values_behind() -> None:
    for leave in (True, False):
        clock, a, b = pair(Lateness(Late.SAFE_VALUE, after=0.5, safe=np.array([-7.0]), lease=2.0))
        deliver(clock, a, 0.0)
        deliver(clock, b, 5.0)
        settle(clock)
        if leave:
            clock.remove(b)
        else:
            clock.detach(b, 0.0)
        deliver(clock, a, 0.0)
        assert settle(clock, 3.0) == [(1, 1, [0.0, -7.0])]
        assert clock.owner(1) is None


def test_a_new_owner_overrides_what_the_last_one_left_behind() -> None:
    clock, a, b = pair(SAFE)
    clock.remove(b)
    heir = clock.join("heir", columns(1))
    deliver(clock, a, 0.0)
    deliver(clock, heir, 4.0)
    assert settle(clock) == [(0, 1, [0.0, 4.0])]


def test_a_new_epoch_forgets_what_was_delivered_and_finds_everyone_on_its_grid() -> None:
    clock, a, b = pair(HOLD, period=4, phase=2)
    deliver(clock, a, 1.0)
    settle(clock)
    clock.restart(np.array([8.0, 9.0]), 11)
    assert (clock.epoch, clock.tick, a.due, b.due) == (2, 11, 11, 14)
    with pytest.raises(errors.WrongEpoch) as caught:
        clock.deliver(a, epoch=1, tick=1, request=2, values=np.array([1.0]))
    assert (caught.value.tick, caught.value.epoch) == (11, 2)
    deliver(clock, a, 3.0)
    assert settle(clock) == [(11, 1, [3.0, 9.0])]


@settings(deadline=None, max_examples=200)
@given(n=st.integers(1, 40), most=st.integers(1, 7), period=st.integers(1, 9))
def test_moves_cut_in_pieces_apply_the_same_inputs(n: int, most: int, period: int) -> None:
    acts: list[list[list[float]]] = []
    for limit in (None, most):
        clock = Barrier(np.zeros(2))
        a, b = clock.join("a", columns(0), period=period), clock.join("b", columns(1), period=3, phase=1)
        inputs: list[list[float]] = []
        while clock.tick < n:
            for p in (a, b):
                if p.phase is Phase.IDLE:
                    deliver(clock, p, float(p.due + 1))
            for _, ticks, u in settle(clock, most=limit):
                inputs += [u] * ticks
        acts.append(inputs[:n])
    assert acts[0] == acts[1]


def line(points: dict[int, float], period: int, t: int, low: float, high: float) -> float:
    """First-order hold by hand, from the deliveries {tick: value}."""
    k = max(p for p in points if p <= t)
    slope = (points[k] - points[k - period]) / period if k - period in points else 0.0
    return points[k] if slope == 0.0 else min(max(points[k] + slope * (t - k), low), high)


@settings(deadline=None, max_examples=200)
@given(values=st.lists(st.floats(-5.0, 5.0), min_size=1, max_size=6), period=st.integers(1, 5))
def test_first_order_hold_goes_on_along_the_last_two_deliveries_within_the_bounds(values: list[float],
                                                                                 period: int) -> None:
    bounds = np.array([-6.0, -6.0]), np.array([6.0, 6.0])
    clock = Barrier(np.zeros(2), bounds=bounds)
    p = clock.join("p", columns(1, 0), period=period, ramps=columns(0))
    points: dict[int, float] = {}
    for value in values:
        points[p.due] = value
        deliver(clock, p, value, 1.0)
        ticks = clock.take()
        assert ticks > 0
        for t in range(clock.tick, clock.tick + ticks):
            clock.ramps.apply(clock.inputs, t)
            assert clock.inputs.tolist() == [1.0, line(points, period, t, -6.0, 6.0)]
        clock.commit(ticks)


def test_a_missed_delivery_freezes_a_first_order_hold_where_it_is() -> None:
    clock = Barrier(np.zeros(2))
    a, b = clock.join("a", columns(0)), clock.join("b", columns(1), period=2, ramps=columns(0), lateness=HOLD)
    seen = []
    for k in range(10):
        deliver(clock, a, 0.0)
        if k in (0, 2, 6, 8):
            deliver(clock, b, float(k))
        ticks = clock.take(float(k + 1))
        assert ticks > 0
        clock.ramps.apply(clock.inputs, clock.tick)
        seen.append(clock.inputs[1])
        clock.commit(ticks, float(k + 1))
    # 0 0, then the line 2 3, missed at 4: stays at 3; one value at 6, the line again from 8.
    assert seen == [0.0, 0.0, 2.0, 3.0, 3.0, 3.0, 6.0, 6.0, 8.0, 9.0]
