"""Reads are limited per connection, so that those of one do not delay the work of others."""

from __future__ import annotations

import asyncio
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
from jounce_service.transport.reads import BURST, LONG, SPACING, Reads


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


def test_nobody_is_remembered_who_does_not_read_any_more(finish: Any) -> None:
    async def run() -> None:
        every = Reads()
        for k in range(200):
            async with every.turn(f"ipv4:{k}"):
                pass
        await asyncio.sleep(2.0 * BURST * SPACING)
        assert not every._late and not every._now

    finish(run())


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
