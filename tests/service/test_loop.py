"""The event loop that polls before it sleeps gives the same events at the same times as asyncio's own."""

from __future__ import annotations

import asyncio
import math
import os
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from jounce_service.server import event_loop as loop
from jounce_service.server.event_loop import BusySelector, make_loop
from jounce_service.transport.security import ConfigError


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, two = socket.socketpair()
    with one, two:
        yield one, two


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_cores", lambda: 2)


def hurried(selector: BusySelector, pair: Any) -> None:
    """As many short waits as it takes."""
    selector.register(pair[0], selectors.EVENT_READ)
    pair[1].send(b"x")
    for _ in range(8):
        assert selector.select(None)
    assert pair[0].recv(1) == b"x"


def polls(selector: BusySelector, seconds: float) -> bool:
    """Whether it polls in a wait in vain."""
    with mock.patch.object(selector, "_poll", wraps=selector._poll) as poll:
        assert selector.select(seconds) == []
    return poll.called


def test_it_gives_what_is_ready_while_it_polls_and_while_it_sleeps(pair: Any) -> None:
    for seconds, delay in ((5.0, 0.05), (0.001, 0.1)):
        with BusySelector(seconds) as selector:
            hurried(selector, pair)
            begin = time.monotonic()
            threading.Timer(delay, pair[1].send, (b"x",)).start()
            [(key, _)] = selector.select(None)
            assert key.fileobj is pair[0] and delay * 0.9 <= time.monotonic() - begin < 4.0
            assert selector.select(0) and pair[0].recv(1) == b"x" and not selector.select(0)


@pytest.mark.parametrize("seconds", [0.001, 5.0])
def test_it_ends_at_its_time_limit_and_not_before(pair: Any, seconds: float) -> None:
    with BusySelector(seconds) as selector:
        hurried(selector, pair)
        begin = time.monotonic()
        assert selector.select(0.05) == []
        # epoll counts whole milliseconds.
        assert 0.045 <= time.monotonic() - begin < 4.0


def test_it_polls_no_longer_than_it_is_told(pair: Any) -> None:
    with BusySelector(0.01) as selector:
        hurried(selector, pair)
        used = time.thread_time()
        assert polls(selector, 0.5)
        assert time.thread_time() - used < 0.25


def test_it_polls_once_waits_have_been_short_and_sleeps_again_after_a_long_one(pair: Any) -> None:
    with BusySelector(5.0) as selector:
        assert not polls(selector, 0.01)
        hurried(selector, pair)
        assert polls(selector, 0.01) and polls(selector, 0.01)
    with BusySelector(0.005) as selector:
        selector._short = 8
        assert polls(selector, 0.01)
        assert not polls(selector, 0.01)


def test_looking_without_a_wait_makes_it_neither_more_nor_less_sure(pair: Any) -> None:
    with BusySelector(5.0) as selector:
        for _ in range(20):
            selector.select(0)
        assert not polls(selector, 0.01)
        hurried(selector, pair)
        selector.select(0)
        assert polls(selector, 0.01)


def test_on_a_single_core_it_leaves_it_to_others(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_cores", lambda: 1)
    with BusySelector(5.0) as selector:
        hurried(selector, pair)
        assert not polls(selector, 0.01)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux")
def test_the_cores_are_those_that_the_thread_may_run_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert loop._cores() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert loop._cores() == len(before)


def test_timers_and_sockets_of_a_loop_come_in_their_order() -> None:
    async def order() -> list[str]:
        seen: list[str] = []
        loop = asyncio.get_running_loop()
        server = await asyncio.start_server(lambda r, w: (seen.append("connected"), w.close()), "127.0.0.1", 0)
        loop.call_later(1.5, seen.append, "late")
        loop.call_later(0.02, seen.append, "early")
        await asyncio.sleep(0.1)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        assert await reader.read() == b""
        writer.close()
        server.close()
        await asyncio.sleep(1.5)
        return seen

    with asyncio.Runner(loop_factory=lambda: make_loop(0.001)) as runner:
        assert runner.run(order()) == ["early", "connected", "late"]


@pytest.mark.parametrize("seconds", [-1e-9, 0.2, math.nan, math.inf])
def test_a_time_that_makes_no_sense_is_refused(seconds: float) -> None:
    with pytest.raises(ConfigError, match=r"busy_poll = .*: expected 0 to 0.1 s"):
        make_loop(seconds)


def test_without_it_the_loop_is_the_usual_one() -> None:
    loop, usual = make_loop(0.0), asyncio.new_event_loop()
    assert type(loop) is type(usual)
    loop.close()
    usual.close()
