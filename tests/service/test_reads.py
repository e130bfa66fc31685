"""Reads take turns: one connection's do not pile up before anybody else's work."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jounce_service.transport import reads
from jounce_service.transport.reads import BURST, SPACING, Reads


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
