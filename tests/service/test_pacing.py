"""Pacing: the bookkeeping with a clock made by the test, a session on virtual time, and one against the real clock."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import grpc
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from integrator_model import TABLE, IntegratorModel
from undisturbed import undisturbed
from virtual import Connection, Lobby, run

from jounce_proto import jounce_pb2 as pb
from jounce_service import ServerConfig
from jounce_service.lockstep.barrier import Barrier
from jounce_service.lockstep.participant import NO_COLUMNS, Late, Lateness
from jounce_service.session.pacing import OverrunPolicy, Pacer, Pacing
from jounce_service.session.session import Session
from jounce_service.session.session_spec import Setup
from jounce_service.transport import errors

REALTIME = pb.PACING_MODE_REALTIME


def play(pacer: Pacer, works: list[float]) -> list[float]:
    """Release times when tick k takes ``works[k]`` [s] of work after the release before."""
    now, times = 100.0, []
    pacer.start(0, now)
    for k, work in enumerate(works):
        now += work
        now = max(now, pacer.release(k + 1, now))
        times.append(now - 100.0)
    return times


@pytest.mark.parametrize("factor", [0.5, 1.0, 4.0])
def test_tick_k_is_released_at_k_ticks_over_the_factor_however_short_the_work(factor: float) -> None:
    pacer = Pacer(Pacing(factor), 0.001)
    times = play(pacer, [0.0001 / factor] * 1000)
    assert times == pytest.approx([(k + 1) * 0.001 / factor for k in range(1000)], abs=1e-9)
    assert pacer.status() == pb.PacingStatus()


def test_one_slow_tick_is_one_overrun_of_its_size_and_the_others_catch_up() -> None:
    pacer = Pacer(Pacing(1.0, OverrunPolicy.COUNT), 0.001)
    times = play(pacer, [0.0002] * 3 + [0.0055] + [0.0002] * 16)
    assert times[2:10] == pytest.approx([0.003, 0.0085, 0.0087, 0.0089, 0.0091, 0.0093, 0.0095, 0.010], abs=1e-9)
    status = pacer.status()
    assert (status.overruns, status.late_releases, status.behind) == (1, 6, 0.0)
    assert status.worst_overrun == pytest.approx(0.0045)


def test_slip_moves_the_time_base_and_no_burst_follows() -> None:
    pacer = Pacer(Pacing(1.0, OverrunPolicy.SLIP), 0.001)
    times = play(pacer, [0.0002] * 3 + [0.0055] + [0.0002] * 6)
    assert times[3:] == pytest.approx([0.0085 + 0.001 * k for k in range(7)], abs=1e-9)
    assert (pacer.overruns, pacer.late) == (1, 1)


def test_fail_names_the_tick_and_the_delay() -> None:
    with pytest.raises(errors.Overrun, match=r"tick 4 is 4\.500 ms late"):
        play(Pacer(Pacing(1.0, OverrunPolicy.FAIL), 0.001), [0.0002] * 3 + [0.0055])


def test_a_lasting_overload_is_counted_tick_by_tick() -> None:
    for policy in (OverrunPolicy.COUNT, OverrunPolicy.SLIP):
        pacer = Pacer(Pacing(1.0, policy), 0.001)
        play(pacer, [0.0015] * 10)
        assert pacer.overruns == 10
        assert pacer.worst == pytest.approx(0.0005)


def test_one_slow_step_in_a_thousand_shows() -> None:
    pacer = Pacer(Pacing(1.0, OverrunPolicy.SLIP), 0.001)
    times = play(pacer, [0.0001] * 500 + [0.1] + [0.0001] * 499)
    assert (pacer.overruns, pacer.status().worst_overrun) == (1, pytest.approx(0.099))
    assert times[-1] == pytest.approx(1.099)


@settings(max_examples=200, deadline=None)
@given(works=st.lists(st.floats(0.0, 0.004), min_size=1, max_size=60))
def test_nothing_is_ever_released_early_and_the_delays_add_up(works: list[float]) -> None:
    count, slip = (Pacer(Pacing(1.0, p), 0.001) for p in (OverrunPolicy.COUNT, OverrunPolicy.SLIP))
    times = play(count, works)
    assert all(t >= 0.001 * (k + 1) - 1e-9 for k, t in enumerate(times))
    slipped = play(slip, works)
    gaps = [b - a for a, b in zip([0.0, *slipped], slipped, strict=False)]
    assert all(gap == pytest.approx(max(work, 0.001), abs=1e-9) for gap, work in zip(gaps, works, strict=True))


async def sleeper(policy: OverrunPolicy, spin: float) -> tuple[list[float], list[pb.State], Session]:
    """Arrivals [s] of 40 states at 1 kHz; the participant works for 0.2 ms each time, and once it sleeps 5 ms more."""
    loop, model = asyncio.get_running_loop(), IntegratorModel()
    setup = Setup(model, "integrator", {}, np.array([s.start for s in TABLE.inputs]), pacing=Pacing(1.0, policy))
    session = Session("s", setup, setup.instance("s"), ServerConfig(spin=spin))
    wire = Connection(Lobby(session))
    await wire.ask(join=pb.Join(session_id="s", name="a", outputs=["*"]))
    arrivals, states = [], []
    for k in range(40):
        await asyncio.sleep(0.0052 if k == 20 else 0.0002)
        states.append((await wire.ask(step=pb.Step(epoch=1, tick=k, request=k + 1))).state)
        arrivals.append(loop.time())
    return arrivals, states, session


@pytest.mark.parametrize("policy", [OverrunPolicy.COUNT, OverrunPolicy.SLIP])
def test_at_1_khz_a_sleep_of_5_ms_is_one_overrun_and_under_slip_no_burst_follows(policy: OverrunPolicy) -> None:
    # Virtual time stands still while a session spins.
    arrivals, states, session = run(sleeper(policy, spin=0.0))
    assert [s.tick for s in states] == list(range(1, 41)), "no tick is lost"
    assert [s.overruns for s in states] == [0] * 20 + [1] * 20
    # Time begins with the first move. Tick 21 comes 4.2 ms late; to catch up, the next ones take the work alone.
    on_time, late = [k * 1.0 for k in range(1, 21)], [25.2, 25.4, 25.6, 25.8, 26.0, 26.2, *range(27, 41)]
    if policy is OverrunPolicy.SLIP:
        late = [25.2 + k for k in range(20)]
    assert [1e3 * (a - arrivals[0]) + 1.0 for a in arrivals] == pytest.approx([*on_time, *late], abs=1e-3)
    status = session.status().pacing
    assert status.late_releases == (1 if policy is OverrunPolicy.SLIP else 6)
    assert (status.overruns, status.worst_overrun) == (1, pytest.approx(0.0042, abs=1e-6))


@undisturbed
def test_a_real_session_keeps_the_time_of_the_wall(server: Any) -> None:
    session = server.create(pacing=pb.Pacing(mode=REALTIME, factor=2.0))
    a = server.member(session, "a", period=20)
    a.step()
    start, tick = time.monotonic(), a.tick
    released = []
    for _ in range(30):
        a.step()
        released.append((time.monotonic() - start, a.tick - tick))
    assert all(t >= ticks * 0.0005 - 0.01 for t, ticks in released), "none is early"
    assert released[-1][0] < 1.1, "and it does not drag: half the pace, not twice, were 1.2 s"
    assert server.instance(session).ticks == a.tick == 31 * 20


@undisturbed
@pytest.mark.parametrize(("policy", "burst"), [(pb.OVERRUN_POLICY_COUNT, True), (pb.OVERRUN_POLICY_SLIP, False)])
def test_a_participant_that_sleeps_once_is_counted_once(server: Any, policy: Any, burst: bool) -> None:
    session = server.create(pacing=pb.Pacing(mode=REALTIME, factor=0.005, overrun=policy))
    a = server.member(session, "a")
    a.step()
    before = a.step().state.overruns
    # 200 ms per tick: three slots are slept away.
    time.sleep(0.7)
    start = time.monotonic()
    states = [a.step().state for _ in range(4)]
    took = time.monotonic() - start
    assert [s.overruns - before for s in states] == [1] * 4
    # To catch up takes 100 ms, three slots take 600.
    assert (took < 0.36) == burst
    assert 0.4 < server.status(session).pacing.worst_overrun < 0.7


def test_a_session_whose_policy_is_fail_fails_with_the_reason(server: Any) -> None:
    session = server.create(pacing=pb.Pacing(mode=REALTIME, factor=0.1, overrun=pb.OVERRUN_POLICY_FAIL))
    a = server.member(session, "a")
    a.step()
    time.sleep(0.05)
    assert a.step().error.reason == "OVERRUN"
    assert server.status(session).failure_reason == "OVERRUN"


@undisturbed
@pytest.mark.parametrize("what", ["pause", "reset", "nobody"])
def test_what_is_not_its_own_doing_is_no_overrun(server: Any, what: str) -> None:
    session = server.create(pacing=pb.Pacing(mode=REALTIME, factor=0.1))
    a = server.member(session, "a")
    a.step()
    if what == "pause":
        server.call("PauseSession", session)
        time.sleep(0.5)
        server.call("ResumeSession", session)
    elif what == "reset":
        time.sleep(0.5)
        server.call("ResetSession", session)
        a.refused()
    else:
        a.ask(leave=pb.Leave())
        time.sleep(0.5)
        a = server.member(session, "a")
    for _ in range(3):
        a.step()
    # 10 ms per tick, and what a machine that others use adds; not the half second.
    assert server.status(session).pacing.worst_overrun < 0.4


def test_an_advance_takes_its_time_too(server: Any) -> None:
    session = server.create(pacing=pb.Pacing(mode=REALTIME))
    start = time.monotonic()
    reply = server.call("Advance", session, n_ticks=205, output_names=["tick_count"])
    assert time.monotonic() - start >= 0.205
    assert (reply.tick, list(reply.outputs)) == (205, [205.0])


@undisturbed
@pytest.mark.parametrize("members", [1, 8])
def test_the_rate_does_not_depend_on_the_number_of_participants(server: Any, members: int) -> None:
    session = server.create(pacing=pb.Pacing(mode=REALTIME, factor=0.1))
    streams = [server.member(session, f"m{i}") for i in range(members)]
    # Before the time base is set: a first State that comes late takes nothing from the rest.
    start = time.monotonic()
    for _ in range(21):
        for s in streams:
            s.deliver()
        for s in streams:
            s.read()
    # 210 ms, and what a busy machine adds; eight times the rate or an eighth of it would show.
    assert 0.19 < time.monotonic() - start < 1.2


@pytest.mark.parametrize(("pacing", "field"), [
    (pb.Pacing(mode=9), "pacing.mode"), (pb.Pacing(overrun=9), "pacing.overrun"),
    (pb.Pacing(factor=-1.0), "pacing.factor"), (pb.Pacing(factor=float("nan")), "pacing.factor"),
    (pb.Pacing(mode=REALTIME, factor=1e9), "pacing.factor"),
])
def test_pacing_that_makes_no_sense_is_refused(server: Any, info: Any, pacing: pb.Pacing, field: str) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        server.create(pacing=pacing)
    assert (info(caught.value).reason, info(caught.value).field) == ("BAD_FIELD", field)
    assert info(caught.value).allowed


def test_the_same_bits_with_and_without_pacing(server: Any) -> None:
    ends = []
    for pacing in (None, pb.Pacing(mode=REALTIME, factor=10.0)):
        session = server.create(pacing=pacing)
        a = server.member(session, "a", inputs=["velocity.x"], period=35)
        ends.append([list(a.step(0.1 * k).state.outputs) for k in range(10)])
    assert ends[0] == ends[1]


@pytest.mark.parametrize("policy", [pb.LATE_POLICY_HOLD_LAST, pb.LATE_POLICY_SAFE_VALUE])
def test_a_silent_participant_with_the_default_does_not_stop_a_paced_run(server: Any, policy: Any) -> None:
    session = server.create("a", "b", pacing=pb.Pacing(mode=pb.PACING_MODE_REALTIME))
    safe = [7.0] if policy == pb.LATE_POLICY_SAFE_VALUE else []
    a = server.member(session, "a", period=20)
    b = server.member(session, "b", inputs=["force"], period=20, late=policy, safe_values=safe)
    # Before the run has begun nobody is in a hurry.
    a.deliver()
    time.sleep(0.2)
    assert b.step(3.0).state.missed == 0
    assert a.read().state.tick == 20
    start = time.monotonic()
    for k in range(2, 52):
        state = a.step().state
        assert (state.tick, list(state.held)) == (20 * k, ["b"])
        assert state.outputs[2] == 2.0 * (safe or [3.0])[0]
    # 50 steps of 20 ms: with one second of patience each they would take 50 s.
    assert 0.9 <= time.monotonic() - start < 20.0
    missed = {p.name: p.missed for p in server.status(session).participants}
    assert missed == {"a": 0, "b": 50}


def test_the_notice_leaves_the_model_its_time_before_the_next_release() -> None:
    pacer = Pacer(Pacing(), 0.001)
    assert pacer.notice(20) is None
    pacer.start(0, 10.0)
    pacer.release(20, 10.002)
    # 0.1 ms a tick: 20 ms less twice 2 ms and 0.3 ms; and where the model needs nearly all, half.
    assert pacer.notice(20) == pytest.approx(0.0157)
    pacer.start(20, 10.02)
    pacer.release(40, 10.038)
    assert pacer.notice(20) == pytest.approx(0.010)


def test_who_delivers_within_the_interval_is_not_late_in_a_paced_run_by_default() -> None:
    barrier = Barrier(np.zeros(1))
    hold = Lateness(Late.HOLD_LAST, after=1.0, lease=math.inf, at_release=True)
    a, b = barrier.join("a", NO_COLUMNS, 4), barrier.join("b", np.array([0]), 6, lateness=hold)
    barrier.notice = lambda ticks: 0.001 * ticks
    deliver = {"epoch": 1, "tick": 0, "request": 1}
    barrier.deliver(a, **deliver, values=np.empty(0))
    # The next due tick of anybody is 4.
    assert barrier.deadline(0.0) == pytest.approx(0.004)
    assert barrier.take(0.0039) == 0
    barrier.deliver(b, **deliver, values=np.array([2.0]))
    assert barrier.take(0.0039) == 4
    assert (barrier.inputs[0], b.missed) == (2.0, 0)
    # Without a pace, or before it has begun, ``after`` counts.
    barrier.notice = lambda ticks: None
    barrier.commit(4, 0.0)
    barrier.deliver(a, epoch=1, tick=4, request=2, values=np.empty(0))
    barrier.take(0.0)
    barrier.commit(2, 0.0)
    assert barrier.deadline(0.0) == pytest.approx(1.0)
