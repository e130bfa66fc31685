"""Participants evicted or taken over at the worst moments: never a lost session, never a half-applied step."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import grpc
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from integrator_model import TABLE, Elsewhere, Integrator, IntegratorModel
from served import eventually
from virtual import Connection, Lobby, run

from jounce_client import Client, JounceError
from jounce_client.client import Session as ClientSession
from jounce_proto import jounce_pb2 as pb
from jounce_service import ServerConfig
from jounce_service.hosting.fmu_model import WorkerHost
from jounce_service.lockstep.barrier import Barrier
from jounce_service.lockstep.participant import Late
from jounce_service.session import control
from jounce_service.session.session import Session
from jounce_service.session.session_spec import Setup
from jounce_service.session.states import SessionState
from jounce_service.transport import errors

END = 12
INPUTS = {"a": ("velocity.x", 0), "b": ("velocity.y", 1), "c": ("force", 2)}


@pytest.fixture(params=[False, True], ids=["gRPC", "fast lane"])
def fast(request: Any) -> bool:
    """Each test runs over both lanes."""
    return bool(request.param)


class Noted(Barrier):
    """The barrier, and every move that it made: tick, length, inputs."""

    moves: list[tuple[int, int, list[float]]]

    def take(self, now: float = 0.0, most: int | None = None) -> int:
        ticks = super().take(now, most)
        if ticks:
            self.moves.append((self.tick, ticks, self.inputs.tolist()))
        return ticks


async def ask(wire: Connection, **kind: Any) -> pb.LockstepReply:
    """The reply, after the events before it."""
    reply = await wire.ask(**kind)
    while reply.HasField("event"):
        reply = await wire.replies.get()
    return reply


class Program:
    """A participant that comes back when it is evicted, and ends when another takes its place."""

    def __init__(self, name: str, lobby: Lobby, late: Late, period: int, told: Counter[str]) -> None:
        self.name, self.lobby, self.late, self.period, self.told = name, lobby, late, period, told
        #: Tick -> value of the inputs that it knows to have acted.
        self.confirmed: dict[int, float] = {}

    async def run(self, take_over: bool = False) -> None:
        while True:
            wire = Connection(self.lobby)
            try:
                if await self._life(wire, take_over):
                    return
            finally:
                wire.cut(0.0)
            take_over = False
            await asyncio.sleep(0.013)

    async def _life(self, wire: Connection, take_over: bool) -> bool:
        session = self.lobby.session
        column = INPUTS[self.name][0]
        reply = await ask(wire, join=pb.Join(
            session_id="s", token=session.token, name=self.name, inputs=[column], outputs=["*"], take_over=take_over,
            period_ticks=self.period, barrier_timeout=3.0, late=int(self.late), late_after=0.5,
            safe_values=[0.25] if self.late is Late.SAFE_VALUE else []))
        if reply.HasField("error"):
            self.told[reply.error.reason] += 1
            return reply.error.reason != "NAME_TAKEN"
        due, number, value = reply.joined.tick, reply.joined.request, 0.0
        while due < END:
            number += 1
            value = 2.0 + math.sin(due + ord(self.name)) + 0.001 * number
            reply = await ask(wire, step=pb.Step(epoch=1, tick=due, request=number, inputs=[value]))
            while reply.error.reason == "BARRIER_TIMEOUT":
                reply = await ask(wire, step=pb.Step(epoch=1, tick=due, request=number, inputs=[value]))
            if reply.HasField("state"):
                self.confirmed[due] = value
            elif reply.error.reason == "TOO_LATE":
                reply = await ask(wire, sync=pb.Sync())
            if reply.HasField("error"):
                self.told[reply.error.reason] += 1
                return reply.error.reason != "EVICTED"
            due, number = reply.state.tick, reply.state.request
            await asyncio.sleep(0.01)
        await ask(wire, leave=pb.Leave())
        return True


OPS = st.lists(st.tuples(st.sampled_from([0.0, 0.001, 0.02, 0.05, 0.2, 0.7]),
                         st.sampled_from(["evict", "evict twice", "take over", "pause and evict"]),
                         st.sampled_from("abc")), max_size=8)
MEMBER = st.tuples(st.sampled_from([Late.BLOCK, Late.HOLD_LAST, Late.SAFE_VALUE]), st.integers(1, 3))


async def play(members: dict[str, tuple[Late, int]], ops: list[tuple[float, str, str]], away: bool) -> Counter[str]:
    model = IntegratorModel()
    start = np.array([s.start for s in TABLE.inputs])
    setup = Setup(model, "integrator", {}, start, tuple(members))
    instance: Any = WorkerHost(Elsewhere(2.0, 1e9, 0.0)) if away else setup.instance("s")  # type: ignore[arg-type]
    with mock.patch("jounce_service.session.participation.Barrier", Noted):
        session = Session("s", setup, instance, ServerConfig())
    barrier = session._barrier
    assert isinstance(barrier, Noted)
    barrier.moves = []
    lobby, told = Lobby(session), Counter[str]()
    programs = [Program(name, lobby, *member, told) for name, member in members.items()]
    tasks = [asyncio.create_task(p.run()) for p in programs]

    async def evict(name: str) -> None:
        request = pb.EvictParticipantRequest(session_id="s", token=session.token, name=name)
        try:
            await control.evict(session, request, False)
            told["evicted"] += 1
        except errors.UnknownParticipant:
            told["nobody there"] += 1

    for delay, op, name in ops:
        await asyncio.sleep(delay)
        if op == "evict":
            await evict(name)
        elif op == "evict twice":
            await asyncio.gather(evict(name), evict(name))
        elif op == "pause and evict":
            await control.pause(session)
            await evict(name)
            await control.resume(session)
        elif name in session.joined:
            programs.append(Program(name, lobby, *members[name], told))
            tasks.append(asyncio.create_task(programs[-1].run(take_over=True)))
    await asyncio.wait_for(asyncio.gather(*tasks), 200.0)
    assert session.state is SessionState.RUNNING
    assert not session.joined
    assert not session.occupied
    assert barrier.tick >= END
    # What has been applied is a serial run, and whoever was told that its inputs acted can rely on that.
    alone = Integrator(2.0, 1e9, 0.0)
    tick = 0
    for began, ticks, inputs in barrier.moves:
        assert began == tick
        alone.set_inputs(np.array(inputs))
        alone.step(ticks)
        tick += ticks
    inside = instance.process if isinstance(instance, WorkerHost) else instance
    assert isinstance(inside, Integrator)
    assert inside.get_state() == alone.get_state()
    acted = {began: inputs for began, _, inputs in reversed(barrier.moves)}
    for program in programs:
        for due, value in program.confirmed.items():
            assert acted[due][INPUTS[program.name][1]] == value
    return told


@pytest.mark.parametrize(("cases", "away"), [(250, False), (120, True)], ids=["in process", "in a worker"])
def test_evictions_and_takeovers_at_any_moment_leave_a_serial_run_that_everybody_ends(cases: int, away: bool) -> None:
    told: Counter[str] = Counter()

    @settings(max_examples=cases, deadline=None, derandomize=True, database=None,
              suppress_health_check=list(HealthCheck))
    @given(a=MEMBER, b=MEMBER, c=MEMBER, ops=OPS)
    def one(a: Any, b: Any, c: Any, ops: Any) -> None:
        told.update(run(play({"a": a, "b": b, "c": c}, ops, away)))

    one()
    # The cases are of use only if these happened.
    assert min(told[o] for o in ("evicted", "nobody there", "EVICTED", "STREAM_REPLACED")) >= cases // 50, told


def gone(server: Any, session: Any, name: str = "a") -> None:
    """Waits until the server has noticed."""
    assert eventually(lambda: not any(p.joined for p in server.status(session).participants if p.name == name))


@pytest.mark.parametrize("policy", [pb.LATE_POLICY_BLOCK, pb.LATE_POLICY_HOLD_LAST, pb.LATE_POLICY_SAFE_VALUE])
@pytest.mark.parametrize("lease", [None, 0.0, 60.0])
def test_a_restarted_process_takes_its_place_again_whatever_its_policy(server: Any, policy: Any, lease: Any) -> None:
    session = server.create("a", "b")
    terms = {"inputs": ["force"], "late": policy, "late_after": 30.0} | ({} if lease is None else {"lease": lease})
    if policy == pb.LATE_POLICY_SAFE_VALUE:
        terms["safe_values"] = [7.0]
    a, b = server.member(session, "a", **terms), server.member(session, "b", inputs=["velocity.x"])
    b.deliver(0.0)
    a.step(3.0)
    b.read()
    a.call.cancel()
    gone(server, session)
    again = server.member(session, "a", token=session.join_token, **terms)
    assert (again.joined.tick, again.joined.request) == (1, 0)
    # What acts meanwhile is what the policy says; then what the new one delivers.
    assert list(again.joined.input_values) == [7.0 if policy == pb.LATE_POLICY_SAFE_VALUE else 3.0]
    b.deliver(0.0)
    assert again.step(5.0).state.outputs[2] == 10.0
    assert b.read().state.tick == 2


def test_an_undelivered_step_of_the_one_that_has_gone_is_dropped_and_the_new_one_delivers_anew(server: Any) -> None:
    session = server.create("a", "b")
    a = server.member(session, "a", inputs=["force"], lease=60.0)
    b = server.member(session, "b")
    a.deliver(50.0)
    time.sleep(0.05)
    a.call.cancel()
    gone(server, session)
    again = server.member(session, "a", inputs=["force"], lease=60.0)
    b.deliver()
    assert again.step(3.0).state.outputs[2] == 6.0
    assert b.read().state.tick == 1


def test_a_takeover_that_cannot_be_leaves_the_old_one_as_it_was(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", inputs=["force"])
    server.member(session, "b", inputs=["velocity.x"])
    server.call("EvictParticipant", session, name="b")
    server.member(session, "c", inputs=["velocity.x"], late=pb.LATE_POLICY_HOLD_LAST, late_after=0.01)
    for changed, reason in (({"inputs": ["velocity.x"]}, "INPUT_OWNED"), ({"outputs": ["no"]}, "UNKNOWN_SIGNAL"),
                            ({"period": 0, "phase": 9}, "BAD_FIELD"), ({"token": session.join_token}, "NO_RIGHT")):
        refused = server.member(session, "a", **({"inputs": ["force"], "take_over": True} | changed))
        assert not hasattr(refused, "joined"), reason
    assert a.step(2.0).state.outputs[2] == 4.0


def test_two_that_evict_at_once_evict_once_and_the_session_goes_on(server: Any, info: Any) -> None:
    session = server.create()
    for _ in range(5):
        a, b = server.member(session, "a", inputs=["force"]), server.member(session, "b")
        a.deliver(1.0)

        def evict() -> str:
            try:
                server.call("EvictParticipant", session, name="a")
            except grpc.RpcError as error:
                return str(info(error).reason)
            return "done"

        with ThreadPoolExecutor(2) as pool:
            told = sorted(f.result() for f in [pool.submit(evict), pool.submit(evict)])
        assert told == ["UNKNOWN_PARTICIPANT", "done"]
        assert a.read().error.reason == "EVICTED"
        tick = server.status(session).tick
        assert b.step().state.tick == tick + 1
        b.ask(leave=pb.Leave())
    assert server.status(session).evictions == 5


def test_advance_serves_again_when_the_last_participant_is_evicted(server: Any) -> None:
    session = server.create("a", "never")
    server.member(session, "a", inputs=["force"], late=pb.LATE_POLICY_HOLD_LAST).call.cancel()
    gone(server, session)
    server.call("EvictParticipant", session, name="a", release=True)
    server.call("EvictParticipant", session, name="never", release=True)
    assert server.advance(session, 3, force=2.0)[2] == 4.0
    assert server.status(session).tick == 3


def test_an_eviction_is_no_loss_for_the_policy_fail_and_does_not_fail_the_session(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", late=pb.LATE_POLICY_FAIL, late_after=60.0)
    server.call("EvictParticipant", session, name="a")
    assert a.step().error.reason == "EVICTED"
    a.call.cancel()
    server.advance(session, 1)
    assert server.status(session).tick == 1


def test_the_python_client_evicts_lists_and_takes_over(server: Any) -> None:
    with Client.connect(server.server.addresses[0]) as client:
        session = client.create_session("integrator", participants=["a"])
        old = client.join(session, "a", owns=["force"])
        with pytest.raises(JounceError, match="NAME_TAKEN"):
            client.join(session, "a", owns=["force"])
        new = client.join(session, "a", owns=["force"], wants=["tick_count"], take_over=True)
        with pytest.raises(JounceError, match="STREAM_REPLACED"):
            old.step([1.0])
        assert new.step([1.0])["tick_count"] == 1.0
        [listed] = client.list_sessions()
        assert (listed.session_id, listed.tick, list(listed.participants), listed.connected) == (
            session.id, 1, ["a"], 1)
        client.evict(session, "a", release=True)
        with pytest.raises(JounceError, match="EVICTED"):
            new.step([1.0])
        assert client.advance(session, 2).tick == 3
        assert client.get_session(ClientSession(session.id, "")).evictions == 2
