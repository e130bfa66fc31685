"""Notices go to participants that requested them, at once and before any later reply, and to nobody else."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import numpy as np
import pytest
from undisturbed import undisturbed

from jounce_client import Client, JounceError
from jounce_proto import jounce_pb2 as pb
from jounce_service.lockstep.barrier import Barrier
from jounce_service.session.notices import Notices

EVERY = [pb.EVENT_KIND_FAILED, pb.EVENT_KIND_EVICTED, pb.EVENT_KIND_MISSED, pb.EVENT_KIND_BARRIER_TIMEOUT]


def kinds(stream: Any) -> list[tuple[str, list[str]]]:
    return [(pb.EventKind.Name(e.kind).removeprefix("EVENT_KIND_"), list(e.participants)) for e in stream.events]


@undisturbed
def test_missed_ticks_are_told_once_per_row(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", notices=EVERY, timeout=20.0)
    quiet = server.member(session, "quiet", inputs=["force"], late=pb.LATE_POLICY_HOLD_LAST, late_after=0.05)
    plain = server.member(session, "plain", period=5)
    plain.deliver()
    for _ in range(3):
        a.step()
    assert kinds(a) == [("MISSED", ["quiet"])]
    assert (a.events[0].tick, a.events[0].due_tick, a.events[0].epoch) == (0, 1, 1)
    assert a.events[0].text == "tick 0: the clock moves on without quiet" and not a.events[0].outputs
    # It delivers once: the next miss is the first of another row.
    quiet.tick = quiet.ask(sync=pb.Sync()).state.tick
    quiet.deliver(1.0)
    for _ in range(2):
        a.step()
    assert kinds(a) == [("MISSED", ["quiet"])] * 2
    assert (quiet.read().HasField("state"), quiet.events, plain.read().HasField("state"), plain.events) == (
        True, [], True, [])


def test_a_barrier_time_out_is_told_to_those_who_ask_with_who_was_missing(server: Any) -> None:
    session = server.create("a", "b", "c")
    a = server.member(session, "a", notices=[pb.EVENT_KIND_BARRIER_TIMEOUT], timeout=30.0)
    b = server.member(session, "b", timeout=0.05)
    assert b.step().error.reason == "BARRIER_TIMEOUT"
    assert b.events == []
    # It comes although no reply is due.
    event = next(a.call).event
    assert (event.kind, list(event.participants)) == (pb.EVENT_KIND_BARRIER_TIMEOUT, ["a", "c"])
    assert event.text.startswith("b: tick 0: waited 0.05 s for a, c")


def test_an_eviction_is_told_to_everyone_who_asks_the_evicted_included(server: Any) -> None:
    session = server.create()
    streams = {n: server.member(session, n, notices=[pb.EVENT_KIND_EVICTED]) for n in ("a", "b")}
    server.call("EvictParticipant", session, name="b")
    for stream in streams.values():
        event = next(stream.call).event
        assert (event.kind, list(event.participants), event.text) == (
            pb.EVENT_KIND_EVICTED, ["b"], "'b' was evicted")
    assert streams["b"].step().error.reason == "EVICTED"
    assert streams["a"].step().state.tick == 1


@undisturbed
def test_a_failure_is_told_before_the_refusal_of_the_step_that_waited(server: Any) -> None:
    session = server.create()
    waits = server.member(session, "waits", notices=[pb.EVENT_KIND_FAILED])
    idle = server.member(session, "idle", notices=[pb.EVENT_KIND_FAILED], period=9)
    strict = server.member(session, "strict", late=pb.LATE_POLICY_FAIL, late_after=0.05)
    idle.deliver()
    assert waits.step().error.reason == "PARTICIPANT_LATE"
    assert kinds(waits) == [("FAILED", ["strict"])]
    assert waits.events[0].text.startswith("PARTICIPANT_LATE at tick 0: ")
    assert idle.read().HasField("error") and kinds(idle) == [("FAILED", ["strict"])]
    assert strict.step().error.reason == "SESSION_FAILED" and strict.events == []


@pytest.mark.parametrize("kind", [pb.EVENT_KIND_UNSPECIFIED, pb.EVENT_KIND_PAUSED, pb.EVENT_KIND_STARTED, 99])
def test_what_is_no_notice_cannot_be_asked_for(server: Any, kind: int) -> None:
    stream = server.member(server.create(), "a", notices=[kind])
    assert not hasattr(stream, "joined")
    error = stream.join(server.create(), "a", notices=[kind]).error
    assert (error.reason, error.field) == ("BAD_FIELD", "notices") and "EVENT_KIND_MISSED" in error.allowed


def test_who_does_not_read_costs_no_more_than_a_hundred_notices() -> None:
    class Deaf:
        def __init__(self) -> None:
            self.events: list[pb.Event] = []

        def push(self, event: pb.Event) -> None:
            self.events.append(event)

        async def flush(self) -> None:
            await asyncio.sleep(3600.0)

    class Member:
        def __init__(self) -> None:
            self.event_sink, self.terms = Deaf(), pb.Join(notices=EVERY)
            self.participant = barrier.join("a", np.empty(0, dtype=np.intp))

    class Engine:
        def sim_ns(self, tick: int) -> int:
            return tick

    barrier = Barrier(np.zeros(1))

    async def run() -> int:
        member = Member()
        notices = Notices(Engine(), barrier, [member])  # type: ignore[arg-type]
        for _ in range(1000):
            notices.tell(pb.EVENT_KIND_MISSED, "")
        return len(member.event_sink.events)

    assert asyncio.run(run()) == 100


def test_a_client_notes_them_with_words_and_names(serve: Any) -> None:
    server = serve()
    with Client.connect(server.server.addresses[-1]) as client:
        session = client.create_session("integrator")
        a = client.join(session, "a", notices=["FAILED", "MISSED"], owns=["force"])
        client.join(session, "late", late="FAIL").__exit__(ValueError, None, None)
        end = time.monotonic() + 60.0
        with pytest.raises(JounceError):
            while time.monotonic() < end:
                a.step([1.0])
        (event,) = a.events
        assert (event.kind, event.participants) == ("FAILED", ("late",))
        assert event.text.startswith("PARTICIPANT_LOST at tick ") and event.state == a.state
        with pytest.raises(JounceError, match="notices") as refused:
            client.join(session, "b", notices=["PAUSED"])
        assert "BARRIER_TIMEOUT" in refused.value.allowed
