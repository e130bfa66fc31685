"""A session: one model instance and its lockstep clock, on the event loop.

Short moves run on the loop; long ones in a thread, and paced ones are held until their time, while ``_busy`` keeps
every other change away.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import numpy as np

from jounce.values import in_use
from jounce_proto import jounce_pb2 as pb
from jounce_proto import packed
from jounce_service.hosting.models import HostedInstance
from jounce_service.hosting.values import Selector, check, select
from jounce_service.lockstep.barrier import Barrier, Delivery
from jounce_service.lockstep.participant import Late, Participant, Vector
from jounce_service.server.config import ServerConfig
from jounce_service.session.barrier_timeout import Patience
from jounce_service.session.engine import Engine
from jounce_service.session.members import EventSink, Member, ReplyCallback
from jounce_service.session.notices import Notices
from jounce_service.session.session_spec import Setup
from jounce_service.session.snapshots import Store
from jounce_service.session.stalls import Stalls
from jounce_service.session.states import SessionState, require
from jounce_service.session.watch import Viewer, Viewers
from jounce_service.transport import errors

_OPEN = (SessionState.CREATED, SessionState.RUNNING)

_log = logging.getLogger(__name__)


class Session:
    """One hosted instance that participants advance together."""

    def __init__(
        self,
        session_id: str,
        setup: Setup,
        instance: HostedInstance,
        config: ServerConfig,
        stalls: Stalls | None = None,
    ) -> None:
        """At tick 0; the instance is set up and belongs to the session from now on. ``stalls`` are the server's."""
        self.id = session_id
        self.token = secrets.token_urlsafe(24)
        self.join_token = secrets.token_urlsafe(24)
        self.setup = setup
        self.table = setup.model.table
        self.config = config
        self.engine = Engine(instance, config, setup.pacing, self.advance_if_due, stalls)
        every = select(self.table.inputs, ("*",), "input")
        self.barrier = Barrier(
            setup.start, setup.expected, bounds=(every.minimum, every.maximum), longest=config.max_ticks_per_call
        )
        if self.engine.pacer is not None:
            self.barrier.notice = self.engine.pacer.notice
        self.snapshots = Store(config.max_snapshots, config.max_snapshot_bytes)
        self.viewers = Viewers()
        self.members: dict[str, Member] = {}
        self.state = SessionState.CREATED
        #: Why it failed: text, and the reason's stable word.
        self.failure = self.failure_reason = ""
        self.last_used = 0.0
        self.created_ns = time.time_ns()
        #: The server's stalls before this session.
        self.stalls_before = self.engine.stalls.count, self.engine.stalls.seconds
        #: Whose session it is, and how many participants were evicted or taken over.
        self.owner: bytes | None = None
        self.evictions = 0
        #: The last Advance with a request number, and its reply.
        self.last_advance: tuple[pb.AdvanceRequest, pb.AdvanceResponse] | None = None
        self.select_inputs = Selector(in_use(self.table, setup.parameters), "input")
        self.select_outputs = Selector(self.table.outputs, "output")
        #: Tick at which a participant's connection went, by name.
        self.gone: dict[str, int] = {}
        self.notices = Notices(self)
        self._patience = Patience(self)
        self._busy: asyncio.Future[None] | None = None
        # Callers that wait for the clock to stand: the next move is after them.
        self._queue = 0
        # The event loop keeps only weak references to its tasks.
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def instance(self) -> HostedInstance:
        """The model instance."""
        return self.engine.instance

    @property
    def tick(self) -> int:
        """Clock [ticks]."""
        return self.barrier.tick

    @property
    def sim_ns(self) -> int:
        """Simulated time since tick 0 [ns]."""
        return round(self.barrier.tick * self.instance.tick_length * 1e9)

    @property
    def connected(self) -> bool:
        """Whether a participant is connected."""
        return any(m.participant.gone_at is None for m in self.members.values())

    @property
    def at_work(self) -> bool:
        """Whether a move is under way."""
        return self._busy is not None

    @property
    def occupied(self) -> bool:
        """Whether someone is connected, a move is under way, or time stands still."""
        return self.connected or self.at_work or self.state is SessionState.PAUSED

    def holds(self, token: str) -> bool:
        """Whether that is the session token."""
        return secrets.compare_digest(token.encode(), self.token.encode())

    def admits(self, token: str) -> bool:
        """Whether that token lets a participant join."""
        return secrets.compare_digest(token.encode(), self.join_token.encode()) or self.holds(token)

    def member_with(self, token: str) -> Member | None:
        """The participant whose own token that is."""
        found = [m for m in self.members.values() if secrets.compare_digest(token.encode(), m.token.encode())]
        return found[0] if found else None

    def require(self, call: str) -> None:
        """Raises where the session's state does not allow the call."""
        require(call, self.state, self.failure, self.failure_reason)

    # ------------------------------------------------------------ lockstep

    def is_at(self, member: Member, event_sink: EventSink) -> bool:
        """Whether the member still takes part over that stream."""
        return member.event_sink is event_sink and self.members.get(member.name) is member

    def step(
        self, member: Member, request: packed.Step, reply_callback: ReplyCallback | None = None
    ) -> packed.Reply | asyncio.Future[packed.Reply]:
        """Delivers inputs; the state at the member's next due tick, or what waits until the clock is there.

        ``reply_callback`` gets that state instead if it takes it.
        """
        self.require("Step")
        values = check(member.inputs, np.frombuffer(request.inputs, "<f8"))
        delivery = self.barrier.deliver(
            member.participant,
            epoch=request.epoch,
            tick=request.tick,
            request=request.request,
            values=values,
            asked=request.next_tick if request.HasField("next_tick") else None,
        )
        if delivery is Delivery.ANSWERED and member.reply is not None:
            return member.reply
        waiter = member.wait()
        self.advance_if_due()
        if waiter.done():
            return waiter.result()
        member.reply_callback = reply_callback
        self._patience.begin(member)
        return waiter

    async def sync(self, member: Member) -> packed.Reply:
        """The state at the member's due tick, once the clock is there."""
        async with self.exclusive():
            self.require("Sync")
            if self.members.get(member.name) is not member:
                # It went out while it waited here: nothing would ever answer it.
                raise member.ended or errors.StreamReplaced(
                    f"the lease of {member.name!r} has ended", field="name", given=member.name, allowed="a new Join"
                )
            if self.barrier.sync(member.participant):
                return self._reply_to(member, self.instance.get_outputs())
            # Before the clock goes on: it may come to the due tick at once.
            waiter = member.wait()
            self._patience.begin(member)
        return await self.answered(member, waiter)

    async def answered(self, member: Member, waiter: asyncio.Future[packed.Reply]) -> packed.Reply:
        """What a wait ended with, if that is still true."""
        reply = await waiter
        if reply.state.epoch != self.barrier.epoch:
            raise self.barrier.wrong_epoch(member.participant, reply.state.epoch)
        return reply

    def leave(self, member: Member) -> pb.Left:
        """Orderly end: the session goes on without the member, even if it was expected."""
        self.require("Leave")
        self.barrier.release(member.name)
        self.barrier.remove(member.participant)
        self._less()
        return pb.Left(tick=self.tick)

    def detach(self, member: Member, event_sink: EventSink) -> None:
        """The member's stream has ended, however; acts once, and not when the member has another stream by now."""
        if member.event_sink is not event_sink:
            return
        if not self.barrier.detach(member.participant, self.engine.patience.now()):
            return
        if member.participant.lateness.policy is Late.FAIL and self.state in (*_OPEN, SessionState.PAUSED):
            self.fail(
                errors.ParticipantLost(
                    f"the connection of {member.name!r} has gone",
                    field="participants",
                    given=member.name,
                    allowed="an orderly Leave",
                    missing=[member.name],
                )
            )
        self.gone[member.name] = self.tick
        self._less()

    def evict(self, name: str, why: errors.ServiceError) -> None:
        """Takes a participant out, connected or gone; its stream is refused with ``why`` from now on. Within
        ``exclusive``."""
        member = self.members[name]
        self.notices.tell(pb.EVENT_KIND_EVICTED, why.message, [name])
        member.ended = why
        member.refuse(why.with_message(why.message))
        self.barrier.remove(member.participant)
        # No move is at work: what the participant leaves behind acts from now on.
        self.barrier.settle()
        self.gone.pop(name, None)
        self.evictions += 1
        self.engine.count("evictions")
        facts = {"session": self.id, "participant": name, "reason": errors.TABLE[type(why)][1]}
        _log.info("participant taken out", extra=facts)
        self._less()

    def advance_if_due(self) -> None:
        """Advances as long as a move is due."""
        while self._busy is None and self.state in _OPEN:
            now = self._now()
            try:
                ticks = self.barrier.take(now, self.engine.stride)
            except errors.FATAL as error:
                self.fail(error)
                return
            if self.engine.meter is not None:
                self.engine.meter.incidents["missed_ticks"] = self.barrier.missed
            if self.barrier.first_missed:
                late, self.barrier.first_missed = sorted(self.barrier.first_missed), []
                text = f"tick {self.tick}: the clock goes on without {', '.join(late)}"
                self.notices.tell(pb.EVENT_KIND_MISSED, text, late)
            if len(self.barrier.participants) != len(self.members):
                self._prune_members()
            if not ticks:
                if self.barrier.timed:
                    self._plan(now)
                return
            self.state = SessionState.RUNNING
            if not self.engine.is_quick(ticks):
                self._busy = asyncio.get_running_loop().create_future()
                task = asyncio.get_running_loop().create_task(self._run(ticks))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return
            try:
                self.engine.start(self.tick)
                self.engine.advance(self.barrier, ticks)
                if self.engine.pacer is not None:
                    self.engine.release(self.engine.pacer, self.tick + ticks, partial(self._released, ticks))
                    self._busy = asyncio.get_running_loop().create_future()
                    return
                reached = self._finish(ticks, now)
            except errors.FATAL as error:
                self.fail(error)
                return
            if reached and not self.barrier.timed:
                # It is their turn, and nothing else can move the clock.
                return

    # ------------------------------------------------------------ between ticks

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """The clock stands between two ticks for the length of the block, and nothing else changes the session."""
        self._queue += 1
        try:
            while self._busy is not None:
                await asyncio.wait([self._busy])
        finally:
            self._queue -= 1
        self._busy = asyncio.get_running_loop().create_future()
        try:
            yield
        finally:
            self._release()

    async def move(self, ticks: int) -> None:
        """Advances within ``exclusive``; a paced session takes its time. Raises what makes the session fail."""
        left, limit = ticks, self.config.max_call_seconds or math.inf
        while left:
            some = min(left, self.engine.stride or left)
            await self.engine.move(self.barrier, some, limit)
            self._finish(some, self._now())
            left -= some

    def replace(self, instance: HostedInstance, setup: Setup, inputs: Vector, tick: int) -> None:
        """Another past: the instance, inputs and tick it has led to, in a new epoch. Within ``exclusive``."""
        if instance is not self.instance:
            self.instance.free()
        self.engine.instance, self.setup = instance, setup
        # Parameters choose which inputs are judged.
        self.select_inputs = Selector(in_use(self.table, setup.parameters), "input")
        for member in self.members.values():
            member.inputs = self.select_inputs(member.inputs.names)
        self.barrier.restart(inputs, tick, self.engine.patience.now())
        for member in self.members.values():
            member.reply, member.seen = None, tick
        if self.engine.pacer is not None:
            self.engine.pacer.restart(self.instance.tick_length)
        self.viewers.restart()
        self.failure = self.failure_reason = ""
        if self.state is not SessionState.PAUSED:
            self.state = SessionState.RUNNING if tick else SessionState.CREATED

    # ------------------------------------------------------------ the rest

    def watch(self, request: pb.WatchRequest) -> Viewer:
        """A new viewer."""
        self.require("Watch")
        viewer = Viewer(self.select_outputs(request.outputs), request.every_ticks or 1)
        self.viewers.add(viewer, self.config.max_viewers)
        return viewer

    def record(self, kind: pb.EventKind, text: str = "", origin: pb.Snapshot | None = None) -> None:
        """Notes an event in the recording, if there is one; ``origin`` is a new past."""
        if self.engine.recording is not None:
            event = pb.RecordedEvent(kind=kind, epoch=self.barrier.epoch, tick=self.tick, text=text, origin=origin)
            if kind == pb.EVENT_KIND_STARTED:
                event.session_id = self.id
            self.engine.recording.event(event, None if origin is None else self.instance.get_outputs())

    async def close(self) -> None:
        """Closes the session; whoever waits is told."""
        async with self.exclusive():
            self.require("DeleteSession")
            self.state = SessionState.CLOSED
            closed = errors.SessionClosed(
                "the session was deleted", field="session_id", given=self.id, allowed="an open session"
            )
            for member in self.members.values():
                member.refuse(closed.with_message(closed.message))
                member.rest()
            self.viewers.end()
            self.record(pb.EVENT_KIND_CLOSED)
            self.engine.close()

    def fail(self, error: errors.ServiceError) -> None:
        """The session cannot go on; whoever waits is told."""
        self.state = SessionState.FAILED
        self.engine.count("failed_sessions")
        self.failure_reason = errors.TABLE[type(error)][1]
        self.failure = f"at tick {self.tick}: {error.message}"
        _log.warning("session failed", extra={"session": self.id, "reason": self.failure_reason, "text": self.failure})
        text = f"{self.failure_reason} {self.failure}"
        self.record(pb.EVENT_KIND_FAILED, text=text)
        self.notices.tell(pb.EVENT_KIND_FAILED, text, error.missing)
        for member in self.members.values():
            member.refuse(error.with_message(self.failure))

    # ------------------------------------------------------------ inside

    def _less(self) -> None:
        """Somebody has gone."""
        self._prune_members()
        if self.engine.pacer is not None and all(m.participant.gone_at is not None for m in self.members.values()):
            self.engine.pacer.restart(self.instance.tick_length)
        self.advance_if_due()

    def _prune_members(self) -> None:
        for name in self.members.keys() - self.barrier.participants.keys():
            self.members.pop(name).rest()

    def _plan(self, now: float) -> None:
        deadline = self.barrier.deadline(now)
        if deadline < math.inf:
            self.engine.wake_when_due(deadline)

    def _release(self) -> None:
        self._stand()
        if not self._queue:
            self.advance_if_due()

    def _stand(self) -> None:
        busy, self._busy = self._busy, None
        if busy is not None:
            busy.set_result(None)

    async def _run(self, ticks: int) -> None:
        try:
            await self.engine.move(self.barrier, ticks)
            self._finish(ticks, self._now())
        except errors.FATAL as error:
            self.fail(error)
        finally:
            self._release()

    def _released(self, ticks: int) -> None:
        """A move that was held has its time; the next one is looked for once the answers are on their way."""
        try:
            self._finish(ticks, self._now())
        except errors.FATAL as error:
            self.fail(error)
        finally:
            self._stand()
        if not self._queue:
            asyncio.get_running_loop().call_soon(self.advance_if_due)

    def _now(self) -> float:
        return self.engine.patience.now() if self.barrier.timed else 0.0

    def _finish(self, ticks: int, now: float) -> bool:
        """The move is done; whether somebody got an answer."""
        reached = self.barrier.commit(ticks, now)
        recording = self.engine.recording
        recorded = recording is not None and self.tick >= recording.next_tick
        if not reached and not recorded and self.tick < self.viewers.next_tick:
            return False
        y = self.instance.get_outputs()
        for participant in reached:
            self._answer(participant, y)
        if recording is not None and recorded:
            recording.outputs(self.tick, y)
        if self.tick >= self.viewers.next_tick:
            self.viewers.show(self.barrier.epoch, self.tick, self.sim_ns, y)
        return bool(reached)

    def _answer(self, participant: Participant, y: Vector) -> None:
        member = self.members[participant.name]
        reply = self._reply_to(member, y)
        if member.reply is None or member.reply.state.request != participant.request:
            member.reply = reply
        member.answer(reply)

    def _reply_to(self, member: Member, y: Vector) -> packed.Reply:
        tick = self.barrier.tick
        reply = packed.LockstepReply()
        state = reply.state
        state.epoch, state.tick, state.sim_ns = self.barrier.epoch, tick, self.sim_ns
        state.outputs = y[member.outputs.places].astype("<f8", copy=False).tobytes()
        state.request = member.participant.request
        if member.participant.missed:
            state.missed = member.participant.missed
        if self.engine.pacer is not None:
            state.overruns = self.engine.pacer.overruns
        if self.barrier.replaced:
            state.held.extend(sorted(n for n, t in self.barrier.replaced.items() if t >= member.seen))
        member.seen = tick
        return reply
