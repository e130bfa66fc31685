"""A wait ends after its own timeout, whatever came before, and a step needs no timer of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from integrator_model import TABLE, IntegratorModel
from virtual import Connection, Lobby, run

from jounce_proto import jounce_pb2 as pb
from jounce_service import ServerConfig
from jounce_service.session.barrier_timeout import BarrierTimeouts
from jounce_service.session.session import Session
from jounce_service.session.session_spec import Setup

TIMEOUT = 4.0


async def joined(name: str, owned: str, lobby: Lobby) -> Connection:
    connection = Connection(lobby)
    reply = await connection.ask(join=pb.Join(session_id="s", name=name, inputs=[owned], barrier_timeout=TIMEOUT))
    assert reply.HasField("joined"), reply
    return connection


def session() -> Session:
    model, start = IntegratorModel(), np.array([s.start for s in TABLE.inputs])
    setup = Setup(model, "integrator", {}, start, ())
    return Session("s", setup, setup.instance("s"), ServerConfig())


def step(tick: int) -> dict[str, pb.Step]:
    return {"step": pb.Step(epoch=1, tick=tick, request=tick + 1, inputs=[0.0])}


def test_a_wait_ends_its_own_time_after_it_began_and_not_after_an_earlier_one() -> None:
    async def play() -> tuple[float, pb.LockstepReply]:
        lobby = Lobby(session())
        a, b = await joined("a", "velocity.x", lobby), await joined("b", "force", lobby)
        await asyncio.gather(a.ask(**step(0)), b.ask(**step(0)))
        await asyncio.sleep(3.0)
        begin = asyncio.get_running_loop().time()
        reply = await a.ask(**step(1))
        return asyncio.get_running_loop().time() - begin, reply

    waited, reply = run(play())
    assert reply.error.reason == "BARRIER_TIMEOUT" and list(reply.error.missing) == ["b"]
    assert waited == pytest.approx(TIMEOUT, abs=1e-3)


def test_thousands_of_waits_within_one_timeout_take_one_timer_each_member(monkeypatch: pytest.MonkeyPatch) -> None:
    armed: list[str] = []
    arm = BarrierTimeouts._look_in

    def counted(self: BarrierTimeouts, member: Any, seconds: float) -> None:
        armed.append(member.name)
        arm(self, member, seconds)

    monkeypatch.setattr(BarrierTimeouts, "_look_in", counted)

    async def play() -> int:
        lobby = Lobby(session())
        a, b = await joined("a", "velocity.x", lobby), await joined("b", "force", lobby)
        for tick in range(2000):
            await asyncio.gather(a.ask(**step(tick)), b.ask(**step(tick)))
        return lobby.session.tick

    assert run(play()) == 2000
    assert armed.count("a") <= 1 and armed.count("b") <= 1 and armed


def test_who_leaves_is_looked_after_no_more() -> None:
    async def play() -> list[asyncio.TimerHandle]:
        lobby = Lobby(session())
        a, b = await joined("a", "velocity.x", lobby), await joined("b", "force", lobby)
        await asyncio.gather(a.ask(**step(0)), b.ask(**step(0)))
        timers = [m.timer for m in lobby.session._members if m.timer is not None]
        await a.ask(leave=pb.Leave())
        await b.ask(leave=pb.Leave())
        return timers

    timers = run(play())
    assert timers and all(timer.cancelled() for timer in timers)
