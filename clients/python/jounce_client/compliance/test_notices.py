"""Notices: who asks for them in its Join is told what happens to others, and nobody else is."""

from __future__ import annotations

from typing import Any, Final

import pytest

from jounce_client.compliance.rig import Server
from jounce_client.compliance.stream import Stream
from jounce_proto import jounce_pb2 as pb

#: What a Join may ask for.
EVERY: Final = (pb.EVENT_KIND_FAILED, pb.EVENT_KIND_EVICTED, pb.EVENT_KIND_MISSED, pb.EVENT_KIND_BARRIER_TIMEOUT)


def next_event(stream: Stream) -> pb.Event:
    """The event that comes although no reply is due."""
    reply = next(stream.call)
    assert reply.HasField("event"), f"expected an event, got {reply}"
    event: pb.Event = reply.event
    return event


def told(stream: Stream) -> list[tuple[int, list[str]]]:
    """Kind and participants of the events that came before replies."""
    return [(e.kind, list(e.participants)) for e in stream.events]


class TestNotices:
    """They come before any later reply, name who it is about, and change nothing."""

    def test_a_miss_is_told_once_to_who_asks_and_to_nobody_else(self, server: Server) -> None:
        session = server.create("a", "quiet", "plain")
        server.member(session, "quiet", late=pb.LATE_POLICY_HOLD_LAST, late_after=0.05)
        a = server.member(session, "a", notices=EVERY)
        plain = server.member(session, "plain", period=2)
        plain.deliver()
        for tick in (1, 2):
            assert a.step().state.tick == tick
        assert told(a) == [(pb.EVENT_KIND_MISSED, ["quiet"])]
        event = a.events[0]
        assert (event.tick, event.epoch) == (0, 1) and event.text and not event.outputs and not event.inputs
        assert plain.read().state.tick == 2 and not plain.events

    def test_a_barrier_time_out_is_told_with_who_was_missing(self, server: Server) -> None:
        session = server.create("a", "b", "c")
        a = server.member(session, "a", notices=[pb.EVENT_KIND_BARRIER_TIMEOUT])
        b = server.member(session, "b", timeout=0.05)
        assert b.step().error.reason == "BARRIER_TIMEOUT"
        event = next_event(a)
        assert (event.kind, list(event.participants)) == (pb.EVENT_KIND_BARRIER_TIMEOUT, ["a", "c"])
        assert event.text.startswith("b: ")

    def test_an_eviction_is_told_to_who_asks_the_evicted_included(self, server: Server) -> None:
        session = server.create()
        streams = [server.member(session, n, notices=[pb.EVENT_KIND_EVICTED]) for n in ("a", "b")]
        server.call("EvictParticipant", session, name="b")
        for stream in streams:
            event = next_event(stream)
            assert (event.kind, list(event.participants)) == (pb.EVENT_KIND_EVICTED, ["b"])
        assert streams[1].step().error.reason == "EVICTED"
        assert streams[0].step().state.tick == 1

    def test_a_failure_is_told_before_the_refusal_of_the_step_that_waited(self, server: Server) -> None:
        session = server.create("waits", "strict")
        waits = server.member(session, "waits", notices=[pb.EVENT_KIND_FAILED])
        server.member(session, "strict", late=pb.LATE_POLICY_FAIL, late_after=0.05)
        assert waits.step().error.reason == "PARTICIPANT_LATE"
        assert told(waits) == [(pb.EVENT_KIND_FAILED, ["strict"])]
        assert waits.events[0].text.startswith("PARTICIPANT_LATE at tick 0: ")

    @pytest.mark.parametrize("kind", [pb.EVENT_KIND_UNSPECIFIED, pb.EVENT_KIND_PAUSED, 99])
    def test_what_is_no_notice_cannot_be_asked_for(self, server: Server, kind: Any) -> None:
        session = server.create()
        error = server.stream().join(session, "a", notices=[kind]).error
        assert (error.reason, error.field) == ("BAD_FIELD", "notices")
        assert not server.status(session).participants

    def test_a_rejoin_must_ask_for_the_same(self, server: Server) -> None:
        session = server.create()
        member = server.member(session, "a", notices=[pb.EVENT_KIND_MISSED])
        token = member.joined.participant_token
        error = server.stream().join(session, "a", participant_token=token).error
        assert (error.reason, error.field) == ("BAD_FIELD", "join")
