"""Three participants with random faults: what survives equals a plain loop, and failures follow the policies.

Time is virtual. A participant's inputs depend on the outputs at its due tick, so that one wrong bit anywhere spreads.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from integrator_model import TABLE, Elsewhere, Integrator, IntegratorModel
from virtual import Connection, Lobby, run

from jounce_proto import jounce_pb2 as pb
from jounce_service import ServerConfig
from jounce_service.hosting.fmu_model import WorkerHost
from jounce_service.lockstep.barrier import Barrier
from jounce_service.lockstep.participant import Late, Participant
from jounce_service.session.session import Session
from jounce_service.session.session_spec import Setup

END = 16
INPUTS = {"a": ("velocity.x", 0), "b": ("velocity.y", 1), "c": ("force", 2)}
SAFE = {"a": -0.25, "b": 0.25, "c": 77.0}
LATE_AFTER, TIMEOUT, PATIENCE = 0.5, 4.0, 6


@dataclass(frozen=True)
class Plan:
    """What a participant is, and what happens to it step by step: (what, seconds, seconds)."""

    period: int
    phase: int
    late: Late
    max_age: int
    lease: float
    script: tuple[tuple[str, float, float], ...]
    #: Longest time [ticks] that its Steps ask for; 0 = it keeps to its grid.
    hop: int = 0

    def asked(self, tick: int) -> int | None:
        """The tick that its Step for ``tick`` asks to be due next at."""
        ahead = (7 * tick + 3 * self.phase) % (self.hop + 1) if self.hop else 0
        return tick + ahead if ahead else None

    def following(self, tick: int, replaced: bool = False) -> int:
        """Its due tick after ``tick``."""
        asked = None if replaced else self.asked(tick)
        return tick + 1 + (self.phase - tick - 1) % self.period if asked is None else asked


def inputs_of(name: str, tick: int, y: Any) -> float:
    wave = math.sin(1.7 * tick + 3.0 * y[3] + 0.1 * y[2] + 50.0 * y[0] + ord(name))
    return 50.0 + 49.0 * wave if name == "c" else 9.0 * wave


class Truth(Barrier):
    """The barrier, and a note of what it did without a delivery, and when."""

    replacements: list[tuple[str, int, float]]
    removals: dict[str, int]
    losses: set[str]
    now = 0.0

    def detach(self, member: Participant, now: float = 0.0) -> bool:
        lost = super().detach(member, now)
        if lost:
            self.losses.add(member.name)
        return lost

    def take(self, now: float = 0.0, most: int | None = None) -> Any:
        self.now = now
        return super().take(now, most)

    def _replace(self, member: Participant) -> None:
        gone = member.gone_at is not None
        assert gone or self.now >= member.since + LATE_AFTER, "replaced before it was late"
        self.replacements.append((member.name, member.due, self.now))
        super()._replace(member)

    def remove(self, member: Participant) -> None:
        self.removals.setdefault(member.name, self.tick)
        super().remove(member)


class Refused(Exception):
    """The run of a participant ends with this error."""

    def __init__(self, error: pb.ErrorInfo) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass
class Client:
    """One participant's program; ``confirmed`` are the ticks whose inputs it knows to have acted."""

    name: str
    plan: Plan
    lobby: Lobby
    token: str = ""
    due: int = 0
    request: int = 0
    confirmed: set[int] = field(default_factory=set)
    states: dict[int, list[float]] = field(default_factory=dict)
    cut: bool = False
    dead: bool = False
    error: pb.ErrorInfo | None = None

    async def join(self) -> pb.Joined | None:
        self.wire = Connection(self.lobby)
        p = self.plan
        join = pb.Join(session_id="s", name=self.name, inputs=[INPUTS[self.name][0]], outputs=["*"],
                       period_ticks=p.period, phase_ticks=p.phase, barrier_timeout=TIMEOUT, late=int(p.late),
                       late_after=LATE_AFTER, max_age_ticks=p.max_age, participant_token=self.token,
                       safe_values=[SAFE[self.name]] if p.late is Late.SAFE_VALUE else [])
        if p.late is not Late.FAIL:
            join.lease = p.lease
        reply = await self.wire.ask(join=join)
        if reply.HasField("error"):
            raise Refused(reply.error)
        self.token = reply.joined.participant_token
        return reply.joined

    async def go(self) -> None:
        script = iter(self.plan.script)
        try:
            y = await self.sync()
            while self.due < END:
                y = await self.step(y, *next(script, ("go", 0.0, 0.0)))
            await self.wire.ask(leave=pb.Leave())
        except Refused as refused:
            self.error = refused.error

    async def step(self, y: list[float], what: str, one: float, two: float) -> list[float]:
        u = inputs_of(self.name, self.due, y)
        step = pb.Step(epoch=1, tick=self.due, request=self.request + 1, inputs=[u],
                       next_tick=self.plan.asked(self.due))
        if what in ("go", "twice"):
            await asyncio.sleep(one)
            if what == "twice":
                await self.wire.requests.put(pb.LockstepRequest(step=step))
            found = await self.until_answered(step)
            if what == "twice":
                # One reply per request, and the same one.
                again = await self.wire.replies.get()
                assert found is None or list(again.state.outputs) == found
            await asyncio.sleep(two)
        else:
            if what in ("lose reply", "kill after", "die after"):
                await self.wire.requests.put(pb.LockstepRequest(step=step))
                await asyncio.sleep(0.01)
            self.cut = True
            self.wire.cut(one)
            if what.startswith("die"):
                self.dead = True
                raise Refused(pb.ErrorInfo(reason="DEAD"))
            await asyncio.sleep(two)
            joined = await self.join()
            assert joined is not None
            if what.startswith("kill"):
                # Nothing but the token has been kept.
                self.request = joined.request
                return await self.sync()
            found = await self.until_answered(step)
        return await self.sync() if found is None else found

    async def until_answered(self, step: pb.Step) -> list[float] | None:
        """The outputs of the answer; None when the clock has gone on without the step."""
        for _ in range(PATIENCE):
            reply = await self.wire.ask(step=step)
            if reply.HasField("state"):
                # The reply to this very Step, also when it is repeated long after others had to be held.
                assert (reply.state.request, reply.state.tick) == (step.request, self.plan.following(step.tick))
                self.request = step.request
                self.confirmed.add(step.tick)
                return self.note(reply.state)
            if reply.error.reason == "TOO_LATE":
                return None
            if reply.error.reason != "BARRIER_TIMEOUT":
                break
        raise Refused(reply.error)

    async def sync(self) -> list[float]:
        for _ in range(PATIENCE):
            reply = await self.wire.ask(sync=pb.Sync())
            if reply.HasField("state"):
                self.request = reply.state.request
                return self.note(reply.state)
            if reply.error.reason != "BARRIER_TIMEOUT":
                break
        raise Refused(reply.error)

    def note(self, state: pb.State) -> list[float]:
        self.due = state.tick
        outputs = list(state.outputs)
        assert self.states.setdefault(state.tick, outputs) == outputs
        return outputs


def reference(plans: dict[str, Plan], replaced: set[tuple[str, int]], removals: dict[str, int],
              until: int) -> tuple[dict[int, list[float]], Integrator, dict[str, set[int]]]:
    """Outputs at every tick of a plain loop, and the ticks at which each was due."""
    model, u = Integrator(2.0, 1e9, 0.0), np.array([s.start for s in TABLE.inputs])
    outputs = {0: model.get_outputs().tolist()}
    due: dict[str, list[int]] = {name: [plan.phase] for name, plan in plans.items()}
    for t in range(until):
        for name, plan in plans.items():
            place = INPUTS[name][1]
            out = name in removals and removals[name] <= t
            if out and plan.late is Late.SAFE_VALUE:
                u[place] = SAFE[name]
            if out or t != due[name][-1]:
                continue
            due[name].append(plan.following(t, (name, t) in replaced))
            if (name, t) not in replaced:
                u[place] = inputs_of(name, t, outputs[t])
            elif plan.late is Late.SAFE_VALUE:
                u[place] = SAFE[name]
        model.set_inputs(u)
        model.step(1)
        outputs[t + 1] = model.get_outputs().tolist()
    return outputs, model, {name: set(ticks) for name, ticks in due.items()}


DELAY = st.sampled_from([0.0, 0.01, 0.3, 0.9, 2.0])
SCRIPT = st.lists(st.one_of(
    st.tuples(st.just("go"), st.sampled_from([0.0, 0.0, 0.02]), st.sampled_from([0.0, 0.0, 0.02])),
    st.tuples(st.just("go"), DELAY, DELAY),
    st.tuples(st.just("twice"), DELAY, st.just(0.0)),
    st.tuples(st.sampled_from(["lose request", "lose reply", "kill before", "kill after"]),
              st.sampled_from([0.0, 0.2, 3.0]), st.sampled_from([0.0, 0.1, 1.0, 4.0])),
), max_size=10)
#: Most runs end well; some participants die for good.
ENDING = st.sampled_from([(), (), (), (), (), (), (), (("die before", 0.0, 0.0),), (("die after", 0.2, 0.0),)])


@st.composite
def plans(draw: Any) -> Plan:
    period = draw(st.integers(1, 4))
    late = draw(st.sampled_from([Late.BLOCK, Late.BLOCK, Late.HOLD_LAST, Late.SAFE_VALUE, Late.FAIL]))
    age = draw(st.sampled_from([0, 0, 3])) if late is Late.HOLD_LAST else 0
    lease = draw(st.sampled_from([3.0, 60.0, math.inf]))
    return Plan(period, draw(st.integers(0, period - 1)), late, age, lease,
                tuple(draw(SCRIPT)) + draw(ENDING), draw(st.sampled_from([0, 0, 1, 6])))


async def play(
    chosen: dict[str, Plan], required: bool, away: bool
) -> tuple[Session, dict[str, Client], str, set[str]]:
    model = IntegratorModel()
    start = np.array([s.start for s in TABLE.inputs])
    setup = Setup(model, "integrator", {}, start, tuple(chosen) if required else ())
    instance = WorkerHost(Elsewhere(2.0, 1e9, 0.0)) if away else setup.instance("s")  # type: ignore[arg-type]
    with mock.patch("jounce_service.session.participation.Barrier", Truth):
        session = Session("s", setup, instance, ServerConfig())
    truth = session._barrier
    assert isinstance(truth, Truth)
    truth.replacements, truth.removals, truth.losses = [], {}, set()
    clients = {name: Client(name, plan, Lobby(session)) for name, plan in chosen.items()}
    # Everyone joins before the first tick, as with required participants.
    for client in clients.values():
        await client.join()
    await asyncio.gather(*(client.go() for client in clients.values()))
    # Before the loop ends, which cuts every connection.
    return session, clients, session.failure_reason, set(truth.losses)


def check(chosen: dict[str, Plan], required: bool, away: bool) -> str:
    """Plays one case and checks all that can be known of it; the outcome in a word."""
    session, clients, failed, lost = run(play(chosen, required, away))
    truth, instance = session._barrier, session._engine.instance
    instance = instance.process if isinstance(instance, WorkerHost) else instance
    assert isinstance(truth, Truth)
    assert isinstance(instance, Integrator)
    # The run so far is the serial run, whether it has survived or not.
    replaced = {(name, tick) for name, tick, _ in truth.replacements}
    outputs, alone, dues = reference(chosen, replaced, truth.removals, instance.ticks)
    assert instance.ticks == session.tick
    if instance.ticks <= END:
        assert instance.get_state() == alone.get_state()
    for client in clients.values():
        assert all(outputs[t] == y for t, y in client.states.items() if t <= END)
        assert not replaced & {(client.name, t) for t in client.confirmed}, "both confirmed and replaced"
    assert all(chosen[name].late in (Late.HOLD_LAST, Late.SAFE_VALUE) for name, _ in replaced)
    blamed = {name for c in clients.values() if c.error is not None
              and c.error.reason == (failed or "BARRIER_TIMEOUT") for name in c.error.missing}
    assert lost <= {c.name for c in clients.values() if c.cut}
    if failed:
        policies = {chosen[name].late for name in blamed}
        assert failed in ("PARTICIPANT_LATE", "PARTICIPANT_LOST", "HELD_TOO_LONG")
        if blamed:
            assert policies == {Late.HOLD_LAST if failed == "HELD_TOO_LONG" else Late.FAIL}
        if failed == "PARTICIPANT_LOST":
            assert any(chosen[n].late is Late.FAIL for n in lost)
        if failed == "HELD_TOO_LONG":
            assert any(p.max_age for p in chosen.values())
        for c in clients.values():
            assert c.error is None or c.error.reason in (failed, "SESSION_FAILED", "DEAD", "WRONG_TOKEN",
                                                          "BARRIER_TIMEOUT")
            if c.error is not None and c.error.reason == "SESSION_FAILED":
                assert c.error.given == failed
        return failed
    # A connection whose loss is to be fatal was not lost while the run went on.
    assert not any(chosen[n].late is Late.FAIL for n in lost)
    timeouts = [c for c in clients.values() if c.error is not None and c.error.reason == "BARRIER_TIMEOUT"]
    out = {c.name for c in clients.values() if c.error is not None and c.error.reason in ("DEAD", "WRONG_TOKEN")}
    if timeouts:
        # Only those that never came back are waited for in vain, and only where their policy is to block.
        assert blamed <= out
        assert all(chosen[name].late is Late.BLOCK or name in truth.removals for name in blamed)
        return "BARRIER_TIMEOUT"
    assert all(c.error is None or c.name in out for c in clients.values())
    assert all(c.due >= END for c in clients.values() if c.error is None)
    # Nobody is left out without a reason: exactly the due ticks that were not replaced have been confirmed,
    # but for the one that a killed client may have sent and forgotten.
    for c in clients.values():
        if c.error is None and not any(w in ("kill after",) for w, _, _ in c.plan.script):
            due = {t for t in dues[c.name] if t < END}
            assert due - c.confirmed == {t for n, t in replaced if n == c.name and t < END}
    return "survived with replacements" if replaced else "survived" if not out else "survived without the dead"


@pytest.mark.slow(but="in process")
@pytest.mark.parametrize(("cases", "away"), [(500, False), (200, True)], ids=["in process", "in a worker"])
def test_five_hundred_interleavings_of_three_participants_survive_as_the_serial_run_or_fail_by_policy(
        cases: int, away: bool) -> None:
    outcomes: Counter[str] = Counter()

    @settings(max_examples=cases, deadline=None, derandomize=True, database=None,
              suppress_health_check=list(HealthCheck))
    @given(a=plans(), b=plans(), c=plans(), required=st.booleans())
    def one(a: Plan, b: Plan, c: Plan, required: bool) -> None:
        outcomes[check({"a": a, "b": b, "c": c}, required, away)] += 1

    one()
    assert sum(outcomes.values()) >= cases
    # The cases are of use only if every outcome is among them.
    assert min(outcomes[o] for o in ("survived", "survived with replacements", "PARTICIPANT_LATE", "PARTICIPANT_LOST",
                                     "HELD_TOO_LONG", "BARRIER_TIMEOUT")) >= cases // 100, outcomes


@pytest.mark.parametrize("seed", range(8))
def test_over_a_real_network_lost_and_killed_clients_that_come_back_leave_the_serial_run(server: Any,
                                                                                         seed: int) -> None:
    grid = {"a": (1, 0), "b": (2, 1), "c": (4, 0)}
    session = server.create(*grid)
    streams: dict[str, Any] = {}
    outputs: dict[int, list[float]] = {}

    def join(name: str, **more: Any) -> Any:
        return server.member(session, name, inputs=[INPUTS[name][0]], period=grid[name][0], phase=grid[name][1],
                             lease=60.0, **more)

    def drive(name: str) -> None:
        chance, stream = random.Random(f"{seed} {name}"), streams[name]
        token = stream.joined.participant_token
        state = stream.ask(sync=pb.Sync()).state
        while state.tick < 60:
            assert outputs.setdefault(state.tick, list(state.outputs)) == list(state.outputs)
            due, u = state.tick, inputs_of(name, state.tick, list(state.outputs))
            what = chance.choice(["go"] * 6 + ["twice", "lose reply", "kill before", "kill after"])
            if what in ("go", "twice"):
                state = stream.step(u).state
                if what == "twice":
                    assert stream.step(u, tick=due, request=state.request).state == state
                    stream.request, stream.tick = state.request, state.tick
                continue
            if what != "kill before":
                stream.deliver(u)
            stream.call.cancel()
            number, stream = stream.request, join(name, participant_token=token)
            if what == "lose reply":
                # Whether the Step had arrived or not, it is sent again as it was.
                state = stream.step(u, tick=due, request=number).state
            else:
                state = stream.ask(sync=pb.Sync()).state
            stream.request, stream.tick = state.request, state.tick
        stream.ask(leave=pb.Leave())

    for name in grid:
        streams[name] = join(name)
    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(drive, name) for name in grid]:
            done.result(60)
    assert server.status(session).tick >= 60
    plans = {n: Plan(period, phase, Late.BLOCK, 0, 60.0, ()) for n, (period, phase) in grid.items()}
    wanted, _, _ = reference(plans, set(), {}, 60)
    assert {t: y for t, y in outputs.items() if t <= 60} == {t: wanted[t] for t in outputs if t <= 60}
    assert set(range(60)) <= outputs.keys()
