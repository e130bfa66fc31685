"""Reads are limited per connection, so that those of one do not delay the work of others."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any

import numpy as np
import pytest
import virtual
from integrator_model import TABLE, IntegratorModel
from virtual import Connection, Lobby

from jounce_proto import jounce_pb2 as pb
from jounce_service import ServerConfig
from jounce_service.session.session import Session
from jounce_service.session.session_spec import Setup
from jounce_service.transport import reads
from jounce_service.transport.reads import BURST, LONG, SPACING, Reads, origin_of, origin_of_socket


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What has been slept in a turn, one by one; time passes in no other way."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(reads.asyncio, "sleep", sleep)
    return slept


async def read(every: Reads, peer: str, times: int, loop: Any, clock: list[float]) -> None:
    for _ in range(times):
        async with every.turn(peer):
            pass


def test_a_burst_is_free_and_what_follows_is_spaced_for_each_connection_alone(
    clock: list[float], finish: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "time", lambda: 1000.0 + sum(clock))
        every = Reads()
        await read(every, "ipv4:1", BURST, loop, clock)
        assert max(clock) < 1e-9
        await read(every, "ipv4:1", 100, loop, clock)
        assert sum(clock) == pytest.approx(100 * SPACING)
        before = len(clock)
        await read(every, "ipv4:2", BURST, loop, clock)
        assert max(clock[before:]) < 1e-9

    finish(run())


def test_a_debt_is_remembered_until_it_is_paid_and_who_owes_nothing_is_forgotten(
    clock: list[float], finish: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "time", lambda: 1000.0 + sum(clock))
        every = Reads()
        await read(every, "debtor", 10 * BURST, loop, clock)
        # Others come and go; half of the burst's time passes.
        for k in range(10_000):
            await read(every, f"ipv4:{k}", 1, loop, clock)
        clock.append(0.5 * BURST * SPACING)
        before = sum(clock)
        await read(every, "debtor", BURST, loop, clock)
        assert sum(clock) - before == pytest.approx(0.5 * BURST * SPACING)
        clock.append(2.0 * BURST * SPACING)
        for k in range(20_001):
            await read(every, f"ipv6:{k}", 1, loop, clock)
            clock.append(2.0 * BURST * SPACING)
        assert len(every._origins) < 20_000 and "debtor" not in every._origins

    finish(run())


@pytest.mark.parametrize(("peer", "origin"), [
    ("ipv4:127.0.0.1:40001", "ipv4:127.0.0.1"), ("ipv6:[::1]:40002", "ipv6:[::1]"),
    ("ipv6:%5B::1%5D:7", "ipv6:%5B::1%5D"),
    ("unix:", "unix"),
    ("unix:/tmp/some:where", "unix"),
])  # fmt: skip
def test_a_new_connection_from_the_same_address_is_the_same_origin(peer: str, origin: str) -> None:
    assert origin_of(peer) == origin


def test_the_process_at_the_other_end_of_a_unix_socket_is_the_origin() -> None:
    for _ in range(2):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            assert origin_of_socket(ours, "") == f"process {os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.create_connection(listening.getsockname()):
        connection, address = listening.accept()
        with connection:
            assert origin_of_socket(connection, address) == "127.0.0.1"


def test_a_long_request_counts_as_many_reads(clock: list[float], finish: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "time", lambda: 1000.0 + sum(clock))
        every = Reads()
        for _ in range(10):
            async with every.turn("ipv4:1", 2_000_000):
                pass
        assert sum(clock) == pytest.approx((10 * (1 + 2_000_000 // LONG) - BURST) * SPACING)

    finish(run())


def test_joins_that_are_refused_take_turns_and_one_that_is_good_comes_in_at_once() -> None:
    async def case() -> tuple[float, float]:
        model = IntegratorModel()
        setup = Setup(model, "integrator", {}, np.array([s.start for s in TABLE.inputs]), ())
        session = Session("s", setup, setup.instance("s"), ServerConfig())
        loop = asyncio.get_running_loop()
        loops, good = Connection(Lobby(session)), Connection(Lobby(session))
        for k in range(BURST + 100):
            reply = await loops.ask(join=pb.Join(session_id="s", name="a", inputs=[f"nothing {k}"]))
            assert reply.error.reason == "UNKNOWN_SIGNAL"
        took = loop.time()
        assert (await good.ask(join=pb.Join(session_id="s", name="b"))).HasField("joined")
        return took, loop.time() - took

    took, waited = virtual.run(case())
    assert took == pytest.approx(100 * SPACING, rel=0.05)
    assert waited < SPACING
