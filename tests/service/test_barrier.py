"""The lockstep clock, without any network."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce_service.lockstep.barrier import Barrier, Delivery, Participant
from jounce_service.transport import errors


def columns(*places: int) -> np.ndarray:
    return np.array(places, dtype=np.intp)


def deliver(barrier: Barrier, p: Participant, *values: float, **changed: int) -> Delivery:
    keys = {"epoch": barrier.epoch, "tick": p.due, "request": p.request + 1} | changed
    return barrier.deliver(p, values=np.array(values), **keys)


def settle(barrier: Barrier) -> list[tuple[int, int, list[float], list[str]]]:
    """(from tick, ticks, inputs, reached) of every move that is due."""
    moves = []
    while ticks := barrier.take():
        start = barrier.tick
        moves.append((start, ticks, barrier.inputs.tolist(), [p.name for p in barrier.commit(ticks)]))
    return moves


def test_a_single_participant_moves_the_clock_by_its_period() -> None:
    b = Barrier(np.zeros(2))
    p = b.join("a", columns(1), period=20)
    deliver(b, p, 3.0)
    assert settle(b) == [(0, 20, [0.0, 3.0], ["a"])]
    assert (b.tick, p.due) == (20, 20)


def test_inputs_hold_between_deliveries_of_a_slow_participant() -> None:
    b = Barrier(np.zeros(2))
    slow, fast = b.join("slow", columns(0), period=3), b.join("fast", columns(1))
    deliver(b, slow, 7.0)
    assert settle(b) == []
    seen = []
    for k in range(3):
        deliver(b, fast, float(k))
        seen += settle(b)
    assert seen == [(0, 1, [7.0, 0.0], ["fast"]), (1, 1, [7.0, 1.0], ["fast"]), (2, 1, [7.0, 2.0], ["fast", "slow"])]


def test_a_phase_delays_the_first_due_tick() -> None:
    b = Barrier(np.zeros(1))
    a, p = b.join("a", columns(), period=2), b.join("p", columns(0), period=4, phase=3)
    assert p.due == 3
    deliver(b, a)
    assert settle(b) == [(0, 2, [0.0], ["a"])]
    deliver(b, a)
    assert settle(b) == [(2, 1, [0.0], [])]
    assert b.missing() == ["p"]
    deliver(b, p, 9.0)
    assert settle(b) == [(3, 1, [9.0], ["a"])]


def test_the_clock_waits_for_the_expected_and_names_them() -> None:
    b = Barrier(np.zeros(1), expected=("b", "a"))
    p = b.join("a", columns())
    deliver(b, p)
    assert settle(b) == []
    assert b.missing() == ["b"]
    q = b.join("b", columns())
    assert b.missing() == ["b"]
    deliver(b, q)
    assert settle(b) == [(0, 1, [0.0], ["a", "b"])]


def test_a_gone_participant_that_was_expected_stops_the_clock_until_it_rejoins() -> None:
    b = Barrier(np.zeros(1), expected=("b",))
    a, gone = b.join("a", columns()), b.join("b", columns(0))
    deliver(b, a)
    deliver(b, gone, 5.0)
    assert b.detach(gone) is True
    assert b.detach(gone) is False
    assert settle(b) == []
    assert b.missing() == ["b"]
    again = b.join("b", columns(0))
    assert again.due == 0
    deliver(b, again, 6.0)
    assert settle(b) == [(0, 1, [6.0], ["a", "b"])]


def test_a_gone_participant_that_was_not_expected_frees_the_others_and_its_inputs() -> None:
    b = Barrier(np.zeros(1))
    slow, fast = b.join("slow", columns(), period=10), b.join("fast", columns(0))
    deliver(b, slow)
    deliver(b, fast, 1.0)
    settle(b)
    b.detach(fast)
    assert b.owner(0) is None
    assert settle(b) == [(1, 9, [1.0], ["slow"])]


def test_a_late_joiner_is_due_at_the_next_tick_of_its_grid() -> None:
    b = Barrier(np.zeros(1))
    a = b.join("a", columns(), period=7)
    deliver(b, a)
    settle(b)
    assert b.join("late", columns(), period=5, phase=1).due == 11


@pytest.mark.parametrize(("changed", "error"), [
    ({"tick": 1}, errors.WrongTick), ({"tick": -1}, errors.WrongTick), ({"epoch": 0}, errors.WrongEpoch),
    ({"epoch": 2}, errors.WrongEpoch), ({"request": 0}, errors.StaleRequest),
])
def test_a_step_that_is_not_due_is_refused_and_changes_nothing(changed: dict[str, int], error: type) -> None:
    b = Barrier(np.zeros(1))
    p = b.join("a", columns(0))
    with pytest.raises(error):
        deliver(b, p, 1.0, **changed)
    assert settle(b) == []
    assert b.inputs.tolist() == [0.0]
    deliver(b, p, 2.0)
    assert settle(b) == [(0, 1, [2.0], ["a"])]


def test_a_repeat_is_recognised_before_and_after_its_reply() -> None:
    b = Barrier(np.zeros(1))
    a, other = b.join("a", columns(0)), b.join("b", columns())
    assert deliver(b, a, 1.0) is Delivery.NEW
    assert deliver(b, a, 1.0, tick=0, request=1) is Delivery.REPEAT
    with pytest.raises(errors.StaleRequest):
        deliver(b, a, 2.0, tick=0, request=1)
    with pytest.raises(errors.StepPending):
        deliver(b, a, 1.0, tick=0, request=2)
    deliver(b, other)
    assert len(settle(b)) == 1
    assert deliver(b, a, 1.0, tick=0, request=1) is Delivery.ANSWERED
    assert settle(b) == []


def test_an_input_has_one_owner_and_a_name_one_participant() -> None:
    b = Barrier(np.zeros(2))
    b.join("a", columns(0))
    with pytest.raises(errors.InputOwned):
        b.join("b", columns(1, 0))
    with pytest.raises(errors.NameTaken):
        b.join("a", columns(1))
    assert b.owner(1) is None


PARTICIPANTS = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 5)), min_size=1, max_size=5)


def trajectory(grid: list[tuple[int, int]], choices: list[int], until: int) -> dict[int, list[float]]:
    """Inputs that act during each tick, when ``choices`` decides who delivers next."""
    b = Barrier(np.zeros(len(grid)), expected=[str(i) for i in range(len(grid))])
    members = [b.join(str(i), columns(i), n, ph % n) for i, (n, ph) in enumerate(grid)]
    acts: dict[int, list[float]] = {}
    waiting = set(range(len(grid)))
    step = 0
    while b.tick < until:
        ready = sorted(waiting)
        i = ready[choices[step % len(choices)] % len(ready)]
        step += 1
        # An input that is a function of the tick alone, as of a client that is deterministic.
        deliver(b, members[i], float(1000 * (i + 1) + members[i].due))
        waiting.discard(i)
        for start, ticks, inputs, reached in settle(b):
            assert ticks > 0
            acts.update({t: inputs for t in range(start, start + ticks)})
            waiting |= {int(name) for name in reached}
    return {t: acts[t] for t in range(until)}


@settings(deadline=None, max_examples=200)
@given(grid=PARTICIPANTS, choices=st.lists(st.integers(0, 10), min_size=1, max_size=40))
def test_any_order_of_arrival_gives_the_same_trajectory(grid: list[tuple[int, int]], choices: list[int]) -> None:
    got = trajectory(grid, choices, 25)
    # By hand: input i holds the value of its last due tick <= t, or 0 before its phase.
    for t, inputs in got.items():
        for i, (n, ph) in enumerate(grid):
            first = ph % n
            want = 0.0 if t < first else float(1000 * (i + 1) + t - (t - first) % n)
            assert inputs[i] == want


@settings(deadline=None, max_examples=100)
@given(grid=PARTICIPANTS, events=st.lists(st.tuples(st.sampled_from(["deliver", "leave", "join"]), st.integers(0, 4)),
                                          max_size=60))
def test_with_comings_and_goings_the_clock_never_goes_back_and_nobody_who_waits_is_passed(
        grid: list[tuple[int, int]], events: list[tuple[str, int]]) -> None:
    b = Barrier(np.zeros(5))
    members: dict[int, Participant] = {}
    awaiting: set[int] = set()
    for what, k in events:
        i = k % len(grid)
        if what == "join" and i not in members:
            members[i] = b.join(str(i), columns(i), grid[i][0], grid[i][1] % grid[i][0])
        elif what == "leave" and i in members:
            assert b.detach(members.pop(i))
            awaiting.discard(i)
        elif what == "deliver" and i in members and i not in awaiting:
            deliver(b, members[i], 1.0)
            awaiting.add(i)
        for _, ticks, _, reached in settle(b):
            assert ticks > 0
            awaiting -= {int(n) for n in reached}
        assert all(p.due >= b.tick for p in members.values())
        # Somebody is always free to move the clock: never everyone waiting.
        assert not members or awaiting != set(members)
