"""The participants' side of a session: membership, Steps and Syncs, and the clock that they move."""

from __future__ import annotations

import logging
import secrets
from asyncio import Future
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress

import numpy as np

from jounce.values import in_use
from jounce_proto import jounce_pb2 as pb
from jounce_proto import packed
from jounce_service.hosting.models import HostedInstance
from jounce_service.hosting.values import Selection, Selector, check, select
from jounce_service.lockstep.barrier import Barrier, Delivery
from jounce_service.lockstep.participant import Late, Participant, Vector
from jounce_service.server.config import ServerConfig
from jounce_service.server.stalls import Stalls
from jounce_service.session.barrier_timeout import BarrierTimeouts
from jounce_service.session.engine import Engine
from jounce_service.session.members import EventSink, Member, Members, ReplyCallback, Terms, replaced
from jounce_service.session.moves import Moves
from jounce_service.session.notices import Notices
from jounce_service.session.session_spec import Setup
from jounce_service.session.states import ALIVE, OPEN, SessionState, require
from jounce_service.session.watch import Viewers
from jounce_service.transport import errors

_log = logging.getLogger(__name__)


class Participation:
    """The barrier (who is due), the engine (the model at work), the moves (one at a time), and the members.

    The parts are the session's own; other modules use its methods.
    """

    def __init__(
        self,
        session_id: str,
        setup: Setup,
        instance: HostedInstance,
        config: ServerConfig,
        stalls: Stalls | None = None,
    ) -> None:
        """Starts at tick 0; ``instance`` is initialized and owned by the session. ``stalls`` are the server's."""
        self.id = session_id
        self.token = secrets.token_hex(24)
        self.join_token = secrets.token_hex(24)
        self.setup = setup
        self.table = setup.model.table
        self.config = config
        self.state = SessionState.CREATED
        #: Message and reason of the failure; empty otherwise.
        self.failure = self.failure_reason = ""
        self._evictions = 0
        self._engine = Engine(instance, config, setup.pacing, self.advance_if_due, stalls)
        every = select(self.table.inputs, ("*",), "input")
        low = np.array([s.signal.least_nonzero or v for s, v in zip(every.scalars, every.minimum, strict=True)])
        self._barrier = Barrier(
            setup.start, setup.expected, bounds=(low, every.maximum), longest=config.max_ticks_per_call
        )
        if self._engine.pacer is not None:
            self._barrier.notice = self._engine.pacer.notice
        self._moves = Moves(
            self._engine,
            self._barrier,
            may_move=lambda: self.state in OPEN,
            taken=self._taken,
            stopped=self._stopped,
            stood=self._show_present,
            failed=self.fail,
        )
        self._members = Members(self._barrier)
        self._notices = Notices(self._engine, self._barrier, self._members)
        self._timeouts = BarrierTimeouts(
            self._engine, self._barrier, self._members, self._notices, lambda: self._moves.at_work
        )
        self._viewers = Viewers()
        self._inputs = Selector(in_use(self.table, setup.parameters), "input")
        self._outputs = Selector(self.table.outputs, "output")

    # ------------------------------------------------------------ state

    @property
    def epoch(self) -> int:
        """Number of the epoch, which rises at resets and restores."""
        return self._barrier.epoch

    @property
    def tick(self) -> int:
        """Clock [ticks]."""
        return self._barrier.tick

    @property
    def tick_length(self) -> float:
        """Tick length [s]."""
        return self._engine.instance.tick_length

    @property
    def sim_ns(self) -> int:
        """Simulated time since tick 0 [ns]."""
        return self._engine.sim_ns(self._barrier.tick)

    @property
    def inputs(self) -> Vector:
        """A copy of all inputs that act now [unit of each]."""
        return self._barrier.inputs.copy()

    def outputs(self) -> Vector:
        """All outputs at the present tick [unit of each]."""
        return self._engine.instance.get_outputs()

    @property
    def joined(self) -> list[str]:
        """Names of the participants that have joined, sorted."""
        return sorted(m.name for m in self._members)

    @property
    def expected(self) -> frozenset[str]:
        """Names of the participants that must be present for the clock to move."""
        return frozenset(self._barrier.expected)

    @property
    def connections(self) -> int:
        """Number of connected participants [1]."""
        return sum(m.participant.gone_at is None for m in self._members)

    @property
    def occupied(self) -> bool:
        """Whether a participant is connected, a move is under way, or the session is paused."""
        return bool(self.connections) or self._moves.at_work or self.state is SessionState.PAUSED

    def holds(self, token: str) -> bool:
        """Whether ``token`` is the session token."""
        return secrets.compare_digest(token.encode(), self.token.encode())

    def admits(self, token: str) -> bool:
        """Whether ``token`` allows a participant to join."""
        return secrets.compare_digest(token.encode(), self.join_token.encode()) or self.holds(token)

    def member(self, name: str) -> Member | None:
        """The participant of that name, if it has joined."""
        return self._members.get(name)

    def member_with(self, token: str) -> Member | None:
        """The participant with that token."""
        return self._members.with_token(token)

    def require(self, call: str) -> None:
        """Raises WrongState, SessionFailed or SessionClosed if the session's state does not allow the call."""
        require(call, self.state, self.failure, self.failure_reason)

    def select_inputs(self, names: Sequence[str]) -> Selection:
        """Selects inputs by name, with bounds for those that are used; raises UnknownSignal or BadField."""
        return self._inputs(names)

    def select_outputs(self, names: Sequence[str]) -> Selection:
        """Selects outputs by name; raises UnknownSignal or BadField."""
        return self._outputs(names)

    # ------------------------------------------------------------ participants

    def is_at(self, member: Member, event_sink: EventSink) -> bool:
        """Whether the member still takes part over that stream."""
        return member.event_sink is event_sink and self._members.get(member.name) is member

    def admit(self, terms: Terms, event_sink: EventSink) -> Member:
        """Adds a participant, or replaces one of its name. Raises InputOwned. Within ``exclusive``."""
        terms.check_free(self._barrier)
        name = terms.join.name
        if self._members.get(name) is not None:
            # Nothing can fail from here on.
            self.evict(name, replaced(name))
        return self._members.admit(terms, event_sink, self._engine.session_time.now())

    def rejoin(self, member: Member, event_sink: EventSink) -> None:
        """Lets a participant rejoin over a new stream. Within ``exclusive``."""
        self._members.rejoin(member, event_sink, self._engine.session_time.now())

    def step(
        self, member: Member, request: packed.Step, reply_callback: ReplyCallback | None = None
    ) -> packed.Reply | Future[packed.Reply]:
        """Delivers inputs; returns the state at the member's next due tick, or a future of it.

        ``reply_callback`` is offered that state first.
        """
        self.require("Step")
        values = check(member.inputs, np.frombuffer(request.inputs, "<f8"))
        delivery = self._barrier.deliver(
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
        self._moves.advance_if_due()
        if waiter.done():
            return waiter.result()
        member.reply_callback = reply_callback
        self._timeouts.begin(member)
        return waiter

    async def sync(self, member: Member) -> packed.Reply:
        """Waits until the clock is at the member's due tick; returns the state."""
        async with self.exclusive():
            self.require("Sync")
            if self._members.get(member.name) is not member:
                # It was removed while it waited here, so nothing would answer it.
                raise member.ended or errors.StreamReplaced(
                    f"the lease of {member.name!r} has ended", field="name", requested=member.name, allowed="a new Join"
                )
            if self._barrier.sync(member.participant):
                return self._reply_to(member, self.outputs())
            # Before the clock moves, since it may reach the due tick at once.
            waiter = member.wait()
            self._timeouts.begin(member)
        return await self.answered(member, waiter)

    async def answered(self, member: Member, waiter: Future[packed.Reply]) -> packed.Reply:
        """Waits for the reply; raises WrongEpoch if its epoch has ended meanwhile."""
        reply = await waiter
        self.check_epoch(member, reply.state.epoch)
        return reply

    def check_epoch(self, member: Member, epoch: int) -> None:
        """Raises WrongEpoch if ``epoch`` is not the session's."""
        if epoch != self._barrier.epoch:
            raise self._barrier.wrong_epoch(member.participant, epoch)

    def leave(self, member: Member) -> pb.Left:
        """Lets a member leave: the session goes on without it, even if it was expected."""
        self.require("Leave")
        self.release(member.name)
        self._barrier.remove(member.participant)
        self._less()
        return pb.Left(tick=self.tick)

    def detach(self, member: Member, event_sink: EventSink) -> None:
        """Handles the end of a member's stream; does nothing if the member has another stream by now."""
        if member.event_sink is not event_sink:
            return
        if not self._barrier.detach(member.participant, self._engine.session_time.now()):
            return
        if member.participant.lateness.policy is Late.FAIL and self.state in ALIVE:
            self.fail(
                errors.ParticipantLost(
                    f"the connection of {member.name!r} has gone",
                    field="participants",
                    requested=member.name,
                    allowed="an orderly Leave",
                    missing=[member.name],
                )
            )
        self._members.gone[member.name] = self.tick
        self._less()

    def evict(self, name: str, why: errors.ServiceError) -> None:
        """Removes a participant, connected or gone; its stream is refused with ``why`` from now on.

        Within ``exclusive``.
        """
        member = self._members[name]
        self._notices.tell(pb.EVENT_KIND_EVICTED, why.message, [name])
        member.ended = why
        member.refuse(why.with_message(why.message))
        self._barrier.remove(member.participant)
        # No move is under way, so the inputs that the participant leaves behind act from now on.
        self._barrier.settle()
        self._members.gone.pop(name, None)
        self._evictions += 1
        self._engine.count("evictions")
        facts = {"session": self.id, "participant": name, "reason": errors.TABLE[type(why)][1]}
        _log.info("participant removed", extra=facts)
        self._less()

    def release(self, name: str) -> None:
        """Removes ``name`` from the expected participants."""
        self._barrier.release(name)

    # ------------------------------------------------------------ the clock

    def advance_if_due(self) -> None:
        """Advances as long as a move is due."""
        self._moves.advance_if_due()

    def exclusive(self) -> AbstractAsyncContextManager[None]:
        """Holds the clock between two ticks during the block; nothing else changes the session."""
        return self._moves.exclusive()

    async def tell(self, kind: pb.EventKind) -> None:
        """Sends an event to all participants; one that does not take it in time counts as gone."""
        for member in await self._notices.tell_everyone(kind, self.config.tell_timeout):
            self.detach(member, member.event_sink)

    async def tell_new_epoch(self, kind: pb.EventKind, what: str) -> None:
        """Sends the event of a new epoch to all participants, and refuses all waits."""
        await self.tell(kind)
        for member in self._members:
            error = self._barrier.wrong_epoch(member.participant, self.epoch - 1)
            member.refuse(error.with_message(f"the session was {what}: {error.message}"))

    def record(self, kind: pb.EventKind, text: str = "", origin: pb.Snapshot | None = None) -> None:
        """Records an event, if the session is recorded; ``origin`` is given with an event that begins an epoch."""
        recording = self._engine.recording
        if recording is not None:
            event = pb.RecordedEvent(kind=kind, epoch=self.epoch, tick=self.tick, text=text, origin=origin)
            if kind == pb.EVENT_KIND_STARTED:
                event.session_id = self.id
            recording.event(event, None if origin is None else self.outputs())

    def fail(self, error: errors.ServiceError) -> None:
        """Sets the session to FAILED, and refuses all waits."""
        self.state = SessionState.FAILED
        self._engine.count("failed_sessions")
        self.failure_reason = errors.TABLE[type(error)][1]
        # The clock is at the start of the move; the model may have advanced from there before it failed.
        self.failure = f"at tick {self.tick + error.done}: {error.message}"
        _log.warning("session failed", extra={"session": self.id, "reason": self.failure_reason, "text": self.failure})
        text = f"{self.failure_reason} {self.failure}"
        self.record(pb.EVENT_KIND_FAILED, text=text)
        self._notices.tell(pb.EVENT_KIND_FAILED, text, error.missing)
        self._members.refuse(error, self.failure)

    # ------------------------------------------------------------ inside

    def _less(self) -> None:
        """Handles the loss of a participant or connection."""
        self._members.prune()
        if not self.connections:
            self._engine.restart_pace()
        self.advance_if_due()

    def _taken(self, ticks: int) -> None:
        """Called with the next move that the barrier has chosen, or 0."""
        barrier = self._barrier
        if self._engine.meter is not None:
            self._engine.meter.incidents["missed_ticks"] = barrier.missed
        if barrier.first_missed:
            late, barrier.first_missed = sorted(barrier.first_missed), []
            text = f"tick {self.tick}: the clock moves on without {', '.join(late)}"
            self._notices.tell(pb.EVENT_KIND_MISSED, text, late)
        if len(barrier.participants) != len(self._members):
            self._members.prune()
        if ticks:
            self.state = SessionState.RUNNING

    def _stopped(self, reached: list[Participant]) -> None:
        """Called when the clock has reached a tick at which these participants are due."""
        recording, tick = self._engine.recording, self._barrier.tick
        recorded = recording is not None and tick >= recording.next_tick
        if not reached and not recorded and tick < self._viewers.next_tick:
            return
        y = self._engine.instance.get_outputs()
        for participant in reached:
            member = self._members[participant.name]
            reply = self._reply_to(member, y)
            if member.reply is None or member.reply.state.request != participant.request:
                member.reply = reply
            member.answer(reply)
        if recording is not None and recorded:
            recording.outputs(tick, y)
        if tick >= self._viewers.next_tick:
            self._viewers.show(self.epoch, tick, self.sim_ns, y)

    def _show_present(self) -> None:
        """Sends the present state to viewers that have none yet, if the clock stands."""
        if self._viewers.waiting and not self._moves.at_work and self.state in ALIVE:
            # A foreign FMU may refuse to give its outputs; then they come with the next move.
            with suppress(*errors.FATAL):
                self._viewers.show_present(self.epoch, self.tick, self.sim_ns, self.outputs())

    def _reply_to(self, member: Member, y: Vector) -> packed.Reply:
        tick = self._barrier.tick
        reply = packed.LockstepReply()
        state = reply.state
        state.epoch, state.tick, state.sim_ns = self._barrier.epoch, tick, self._engine.sim_ns(tick)
        state.outputs = y[member.outputs.places].astype("<f8", copy=False).tobytes()
        state.request = member.participant.request
        if member.participant.missed:
            state.missed = member.participant.missed
        if self._engine.pacer is not None:
            state.overruns = self._engine.pacer.overruns
        if self._barrier.replaced:
            state.held.extend(sorted(n for n, t in self._barrier.replaced.items() if t >= member.seen))
        member.seen = tick
        return reply
