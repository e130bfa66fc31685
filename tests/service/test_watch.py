"""Viewers: decimated frames; a slow viewer drops frames and does not slow the session."""

from __future__ import annotations

import time
from typing import Any

import grpc
import pytest

from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc

#: A client whose transport takes no more than HTTP/2's least window.
NARROW = [("grpc.http2.lookahead_bytes", 1024), ("grpc.http2.bdp_probe", 0)]


def watch(server: Any, session: Any, every: int = 1, outputs: Any = ("*",), stub: Any = None) -> Any:
    """A viewer that the session knows of."""
    viewers = server.server.manager.find(session.session_id)._viewers
    before, end = len(viewers), time.monotonic() + 10.0
    request = pb.WatchRequest(session_id=session.session_id, outputs=outputs, every_ticks=every)
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
    end = time.monotonic() + 10.0
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
