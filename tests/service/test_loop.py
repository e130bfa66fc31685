"""The event loop that polls before it sleeps: what it gives and when is the same."""

from __future__ import annotations

import asyncio
import math
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from jounce_service.loop import BusySelector, make_loop
from jounce_service.security import ConfigError


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, two = socket.socketpair()
    with one, two:
        yield one, two


def test_it_gives_what_is_ready_while_it_polls_and_while_it_sleeps(pair: Any) -> None:
    for seconds, delay in ((5.0, 0.05), (0.001, 0.1)):
        with BusySelector(seconds) as selector:
            selector.register(pair[0], selectors.EVENT_READ)
            threading.Timer(delay, pair[1].send, (b"x",)).start()
            begin = time.monotonic()
            [(key, _)] = selector.select(None)
            assert key.fileobj is pair[0] and delay * 0.9 <= time.monotonic() - begin < 4.0
            assert selector.select(0) and pair[0].recv(1) == b"x" and not selector.select(0)


@pytest.mark.parametrize("seconds", [0.001, 5.0])
def test_it_ends_at_its_time_limit_and_not_before(pair: Any, seconds: float) -> None:
    with BusySelector(seconds) as selector:
        selector.register(pair[0], selectors.EVENT_READ)
        begin = time.monotonic()
        assert selector.select(0.05) == []
        # epoll counts whole milliseconds.
        assert 0.045 <= time.monotonic() - begin < 2.0


def test_it_polls_no_longer_than_it_is_told(pair: Any) -> None:
    with BusySelector(0.01) as selector:
        selector.register(pair[0], selectors.EVENT_READ)
        used = time.thread_time()
        selector.select(0.5)
        assert time.thread_time() - used < 0.25


def test_timers_and_sockets_of_a_loop_come_in_their_order() -> None:
    async def order() -> list[str]:
        seen: list[str] = []
        loop = asyncio.get_running_loop()
        server = await asyncio.start_server(lambda r, w: (seen.append("connected"), w.close()), "127.0.0.1", 0)
        loop.call_later(0.2, seen.append, "late")
        loop.call_later(0.02, seen.append, "early")
        await asyncio.sleep(0.1)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        assert await reader.read() == b""
        writer.close()
        server.close()
        await asyncio.sleep(0.2)
        return seen

    with asyncio.Runner(loop_factory=lambda: make_loop(0.001)) as runner:
        assert runner.run(order()) == ["early", "connected", "late"]


@pytest.mark.parametrize("seconds", [-1e-9, 0.2, math.nan, math.inf])
def test_a_time_that_makes_no_sense_is_refused(seconds: float) -> None:
    with pytest.raises(ConfigError, match=r"busy_poll = .*: allowed are 0 to 0.1 s"):
        make_loop(seconds)


def test_without_it_the_loop_is_the_usual_one() -> None:
    loop, usual = make_loop(0.0), asyncio.new_event_loop()
    assert type(loop) is type(usual)
    loop.close()
    usual.close()
