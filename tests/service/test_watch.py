"""Viewers: decimated frames; a slow viewer drops frames and does not slow the session."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import grpc
import pytest

from jounce_client.compliance.rig import wait_until
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc

#: A client whose transport takes no more than HTTP/2's least window.
NARROW = [("grpc.http2.lookahead_bytes", 1024), ("grpc.http2.bdp_probe", 0)]


def watch(
    server: Any, session: Any, every: int = 1, outputs: Any = ("*",), stub: Any = None, present: bool = False
) -> Any:
    """A viewer that the session knows of."""
    viewers = server.server.manager.find(session.session_id)._viewers
    before, end = len(viewers), time.monotonic() + 60.0
    request = pb.WatchRequest(session_id=session.session_id, outputs=outputs, every_ticks=every, present=present)
    call = (stub or server.stub).Watch(request)
    while len(viewers) == before:
        assert time.monotonic() < end, "not in time"
        time.sleep(0.005)
    return call


def test_frames_come_at_every_nth_tick_with_the_outputs_asked_for(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["velocity.x"], outputs=["position"])
    frames = watch(server, session, 5, ["tick_count", "position"])
    states = {0: [0.0, 0.0]}
    for k in range(23):
        state = a.step(0.1 * k).state
        states[state.tick] = list(state.outputs)
    # The first at the next stop of the clock, then at the multiples.
    got = [next(frames) for _ in range(5)]
    assert [f.tick for f in got] == [1, 5, 10, 15, 20]
    for f in got:
        assert (list(f.outputs), f.sim_ns, f.dropped, f.epoch) == ([f.tick, *states[f.tick]], f.tick * 10**6, 0, 1)


def test_a_viewer_that_reads_nothing_costs_the_session_nothing_and_its_losses_are_counted(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", period=10, outputs=())
    channel = grpc.insecure_channel(server.server.addresses[0], options=NARROW)
    slow = watch(server, session, 1, stub=rpc.SessionServiceStub(channel))
    for k in range(1, 6001):
        assert a.step().state.tick == 10 * k
        if k % 100 == 0 and server.status(session).frames_dropped > 10:
            break
    else:
        pytest.fail("the viewer's buffers took everything: nothing was dropped")
    assert server.instance(session).ticks == 10 * k
    first = next(slow)
    assert (first.tick, first.dropped) == (10, 0)
    seen, last = 1, first
    while last.dropped == 0:
        last, seen = next(slow), seen + 1
    # Frames that came, and the count of those that did not, make up all of them.
    assert last.tick // 10 == seen + last.dropped
    channel.close()


def test_frames_go_on_after_a_reset_to_an_earlier_tick(server: Any) -> None:
    session = server.create()
    frames = watch(server, session, 50)
    for _ in range(3):
        server.call("Advance", session, n_ticks=50)
    server.call("ResetSession", session)
    server.call("Advance", session, n_ticks=50)
    assert [(f.epoch, f.tick) for f in (next(frames) for _ in range(4))] == [(1, 50), (1, 100), (1, 150), (2, 50)]


def test_the_stream_ends_with_the_session_and_a_gone_viewer_is_forgotten(server: Any) -> None:
    session = server.create()
    frames, other = watch(server, session), watch(server, session)
    server.call("Advance", session, n_ticks=1)
    assert next(other).tick == 1
    other.cancel()
    live = server.server.manager.find(session.session_id)
    end = time.monotonic() + 60.0
    while len(live._viewers) > 1 and time.monotonic() < end:
        time.sleep(0.005)
    assert len(live._viewers) == 1
    server.call("DeleteSession", session)
    assert [f.tick for f in frames] == [1]


@pytest.mark.parametrize(("fields", "reason"), [
    ({"outputs": ["force"]}, "UNKNOWN_SIGNAL"), ({"session_id": "x"}, "UNKNOWN_SESSION"),
])
def test_a_watch_that_cannot_be_is_refused(server: Any, info: Any, fields: dict[str, Any], reason: str) -> None:
    session = server.create()
    with pytest.raises(grpc.RpcError) as caught:
        next(server.stub.Watch(pb.WatchRequest(**({"session_id": session.session_id} | fields))))
    assert info(caught.value).reason == reason


def test_the_cap_on_viewers_is_kept(serve: Any, info: Any) -> None:
    server = serve(max_viewers=1)
    session = server.create()
    first = watch(server, session)
    with pytest.raises(grpc.RpcError) as caught:
        next(server.stub.Watch(pb.WatchRequest(session_id=session.session_id)))
    assert info(caught.value).reason == "TOO_MANY_VIEWERS"
    server.call("Advance", session, n_ticks=1)
    assert next(first).tick == 1


def test_a_viewer_may_ask_for_the_present_state_which_a_standing_clock_never_shows(server: Any) -> None:
    session = server.create()
    server.call("Advance", session, n_ticks=7)
    server.call("PauseSession", session)
    state = server.status(session)
    outputs = list(server.instance(session).get_outputs())
    frames = watch(server, session, 5, present=True)
    first = next(frames)
    assert (first.epoch, first.tick, first.sim_ns, list(first.outputs)) == (1, 7, state.sim_ns, outputs)
    server.call("ResumeSession", session)
    for _ in range(4):
        server.call("Advance", session, n_ticks=1)
    # The frames after it are those of the multiples.
    assert next(frames).tick == 10
    server.call("ResetSession", session)
    assert [(f.epoch, f.tick) for f in (next(frames),)] == [(2, 0)]
    server.call("Advance", session, n_ticks=5)
    assert (next(frames).tick, len(server.server.manager.find(session.session_id)._viewers)) == (5, 1)


def test_the_present_state_waits_for_the_end_of_what_holds_the_clock(server: Any) -> None:
    session = server.create()
    live = server.server.manager.find(session.session_id)
    holds, end = threading.Event(), asyncio.Event()

    async def hold() -> None:
        async with live.exclusive():
            holds.set()
            await end.wait()

    held = asyncio.run_coroutine_threadsafe(hold(), server.loop)
    assert holds.wait(60)
    frames = watch(server, session, present=True)
    assert not live._viewers._viewers[0]._frames and live._viewers.waiting
    server.loop.call_soon_threadsafe(end.set)
    assert (next(frames).tick, held.result(60), live._viewers.waiting) == (0, None, False)


def test_a_failed_session_has_no_present_state_until_it_is_reset(server: Any) -> None:
    session = server.create()
    server.member(session, "lost", late=pb.LATE_POLICY_FAIL).call.cancel()
    wait_until(lambda: server.status(session).state == pb.SESSION_STATE_FAILED, "the lost participant fails it")
    frames = watch(server, session, present=True)
    server.call("ResetSession", session)
    first = next(frames)
    assert (first.epoch, first.tick) == (2, 0)
