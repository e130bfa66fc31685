"""A Step that says when its participant is due next, without any network."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce_service.lockstep.barrier import Barrier, Delivery, Participant
from jounce_service.lockstep.participant import Late, Lateness
from jounce_service.transport import errors

END = 60


def columns(*places: int) -> np.ndarray:
    return np.array(places, dtype=np.intp)


def deliver(barrier: Barrier, p: Participant, value: float, asked: int | None = None, **changed: int) -> Delivery:
    keys = {"epoch": barrier.epoch, "tick": p.due, "request": p.request + 1} | changed
    return barrier.deliver(p, values=np.full(len(p.columns), value), asked=asked, **keys)


def settle(barrier: Barrier, now: float = 0.0) -> list[int]:
    """Lengths [ticks] of the moves that are due."""
    moves = []
    while ticks := barrier.take(now):
        moves.append(ticks)
        barrier.commit(ticks, now)
    return moves


def test_the_clock_moves_to_the_tick_asked_for_and_then_back_to_the_grid() -> None:
    b = Barrier(np.zeros(1))
    p = b.join("a", columns(0), period=20, phase=5)
    deliver(b, p, 1.0, asked=33)
    assert (settle(b), b.tick, p.due) == ([5, 28], 33, 33)
    deliver(b, p, 2.0)
    assert (settle(b), b.tick) == ([12], 45)
    deliver(b, p, 3.0, asked=46)
    assert (settle(b), b.tick) == ([1], 46)


@pytest.mark.parametrize("asked", [7, 6, 0, -1, -(2**63), 8 + 100, 2**63 - 1])
def test_a_tick_that_is_not_ahead_or_too_far_is_refused_with_what_is_expected(asked: int) -> None:
    b = Barrier(np.zeros(1), longest=100)
    p = b.join("a", columns(0))
    deliver(b, p, 0.0, asked=7)
    settle(b)
    with pytest.raises(errors.BadField) as caught:
        deliver(b, p, 5.0, asked=asked)
    assert (caught.value.field, caught.value.requested) == ("next_tick", str(asked))
    assert caught.value.allowed == "8 to 107, or none"
    # Nothing was taken: the same number is free.
    assert deliver(b, p, 6.0, asked=107) is Delivery.NEW
    assert (settle(b), b.inputs.tolist()) == ([100], [6.0])


def test_a_repeat_must_ask_for_the_same_tick() -> None:
    b = Barrier(np.zeros(2))
    a, other = b.join("a", columns(0)), b.join("b", columns(1))
    deliver(b, a, 1.0, asked=4)
    assert deliver(b, a, 1.0, asked=4, tick=0, request=1) is Delivery.REPEAT
    for asked in (None, 5):
        with pytest.raises(errors.StaleRequest):
            deliver(b, a, 1.0, asked=asked, tick=0, request=1)
    assert a.next_tick == 4
    for _ in range(4):
        deliver(b, other, 0.0)
        settle(b)
    assert (b.tick, a.answered) == (4, True)
    assert deliver(b, a, 1.0, asked=4, tick=0, request=1) is Delivery.ANSWERED
    with pytest.raises(errors.StaleRequest):
        deliver(b, a, 1.0, tick=0, request=1)


def test_a_first_order_hold_has_the_slope_of_the_interval_that_was() -> None:
    b = Barrier(np.zeros(1))
    p = b.join("a", columns(0), period=10, ramps=columns(0))
    deliver(b, p, 1.0, asked=4)
    settle(b)
    # From 1 at tick 0 to 3 at tick 4: half a unit per tick.
    deliver(b, p, 3.0, asked=7)
    settle(b)
    (line,) = b.ramps.save()
    assert line == (0, 4, 3.0, 0.5)
    b.ramps.apply(b.inputs, 6)
    assert b.inputs.tolist() == [4.0]


@pytest.mark.parametrize("late", [Late.HOLD_LAST, Late.SAFE_VALUE])
def test_one_that_misses_the_tick_it_asked_for_is_due_on_its_grid(late: Late) -> None:
    b = Barrier(np.zeros(1))
    p = b.join("a", columns(0), period=10, lateness=Lateness(late, 0.5, 0, np.array([-1.0])))
    deliver(b, p, 1.0, asked=13)
    assert settle(b, 0.0) == [13]
    assert b.deadline(0.0) == 0.5
    assert settle(b, 0.4) == []
    assert settle(b, 0.5) == [7]
    assert (p.due, p.missed) == (20, 1)
    assert b.inputs.tolist() == [1.0 if late is Late.HOLD_LAST else -1.0]
    with pytest.raises(errors.TooLate):
        deliver(b, p, 2.0, tick=13)


def test_held_inputs_are_as_old_as_the_interval_asked_for() -> None:
    b = Barrier(np.zeros(1))
    p = b.join("a", columns(0), period=2, lateness=Lateness(Late.HOLD_LAST, 0.5, 6))
    deliver(b, p, 1.0, asked=7)
    settle(b, 0.0)
    with pytest.raises(errors.HeldTooLong):
        b.take(1.0)


def test_the_pace_gives_time_until_the_next_due_tick_of_anybody() -> None:
    b = Barrier(np.zeros(2))
    asked = []
    b.notice = lambda ticks: asked.append(ticks) or 9.0
    a = b.join("a", columns(0), lateness=Lateness(Late.HOLD_LAST, 0.5, at_release=True))
    other = b.join("b", columns(1), period=10)
    deliver(b, other, 0.0, asked=8)
    deliver(b, a, 0.0, asked=3)
    settle(b)
    assert (b.tick, b.deadline(0.0)) == (3, 9.0)
    # ``a`` is due at 3 and, on its grid, at 4; the other one at 8.
    assert asked[-1] == 1


Asks = st.lists(st.one_of(st.none(), st.integers(1, 25)), min_size=END, max_size=END)


@given(
    grids=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 5), Asks), min_size=1, max_size=3),
    order=st.randoms(use_true_random=False),
    first_order=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_any_mix_of_grids_and_asked_ticks_gives_the_inputs_of_a_plain_loop(
    grids: list[tuple[int, int, list[int | None]]], order: object, first_order: bool
) -> None:
    """The reference is a loop over single ticks that has neither barrier nor order of arrival."""
    grids = [(period, phase % period, asks) for period, phase, asks in grids]

    def value(place: int, tick: int) -> float:
        return float((tick * 7 + place * 3) % 11)

    wanted = []
    due = [phase for _, phase, _ in grids]
    known: list[list[tuple[int, float]]] = [[] for _ in grids]
    for tick in range(END):
        for place, (period, phase, asks) in enumerate(grids):
            if tick == due[place]:
                ask = asks[len(known[place])]
                known[place].append((tick, value(place, tick)))
                due[place] = tick + ask if ask else next(t for t in range(tick + 1, 999) if t % period == phase)
        u = []
        for last in known:
            now = last[-1][1] if last else 0.0
            if first_order and len(last) > 1:
                (t0, u0), (t1, u1) = last[-2:]
                now = u1 + (u1 - u0) / (t1 - t0) * (tick - t1)
            u.append(now)
        wanted.append(u)

    b = Barrier(np.zeros(len(grids)))
    members = [
        b.join(str(i), columns(i), period, phase, ramps=columns(0) if first_order else columns())
        for i, (period, phase, _) in enumerate(grids)
    ]
    found: list[list[float]] = []
    while b.tick < END:
        places = list(range(len(grids)))
        order.shuffle(places)  # type: ignore[attr-defined]
        for place in places:
            p = members[place]
            if p.due == b.tick and p.phase.name == "IDLE" or (p.phase.name == "IDLE" and not p.request):
                ask = grids[place][2][p.request]
                deliver(b, p, value(place, p.due), asked=p.due + ask if ask else None)
        while ticks := b.take():
            for tick in range(b.tick, b.tick + ticks):
                if b.ramps.moving:
                    b.ramps.apply(b.inputs, tick)
                found.append(b.inputs.tolist())
            b.commit(ticks)
    assert found[:END] == wanted
