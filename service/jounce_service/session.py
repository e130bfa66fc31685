"""A session: one model instance and its lockstep clock, on the event loop.

Short moves run on the loop; long ones in a thread, while ``_busy`` keeps every other change away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jounce.signals import SignalTable
from jounce_proto import jounce_pb2 as pb
from jounce_service import errors
from jounce_service.barrier import Barrier, Delivery, Move, Participant, Vector
from jounce_service.config import ServerConfig
from jounce_service.describe import participants
from jounce_service.models import HostedInstance
from jounce_service.states import SessionState, require
from jounce_service.values import Selection, check, select


@dataclass
class Member:
    """A participant with its stream's side: what it gets, how long it waits, its last reply."""

    participant: Participant
    inputs: Selection
    outputs: Selection
    timeout: float
    waiter: asyncio.Future[pb.State] | None = None
    reply: pb.State | None = None

    @property
    def name(self) -> str:
        """Participant name."""
        return self.participant.name


@dataclass
class _LastAdvance:
    request: pb.AdvanceRequest = field(default_factory=pb.AdvanceRequest)
    reply: pb.AdvanceResponse = field(default_factory=pb.AdvanceResponse)


class Session:
    """One hosted instance that participants advance together. ``start`` is u at tick 0."""

    def __init__(
        self,
        session_id: str,
        token: str,
        table: SignalTable,
        instance: HostedInstance,
        config: ServerConfig,
        *,
        start: Vector,
        expected: Sequence[str] = (),
        model: str = "",
    ) -> None:
        """At tick 0; the instance is set up and belongs to the session from now on."""
        self.id = session_id
        self.token = token
        self.table = table
        self.model = model or table.name
        self.instance = instance
        self.config = config
        self.barrier = Barrier(start, expected)
        self.state = SessionState.CREATED
        self.failure = ""
        self.last_used = 0.0
        self._members: dict[str, Member] = {}
        self._gone: dict[str, int] = {}
        self._busy: asyncio.Task[Any] | None = None
        self._last = _LastAdvance()

    @property
    def tick(self) -> int:
        """Clock [ticks]."""
        return self.barrier.tick

    @property
    def sim_ns(self) -> int:
        """Simulated time since tick 0 [ns]."""
        return round(self.barrier.tick * self.instance.tick * 1e9)

    @property
    def occupied(self) -> bool:
        """Whether someone is joined or a move runs."""
        return bool(self._members) or self._busy is not None

    # ------------------------------------------------------------ lockstep

    async def join(self, request: pb.Join) -> tuple[Member, pb.Joined]:
        """Adds a participant. Raises a ServiceError without a change where it cannot be."""
        await self._idle()
        require("Join", self.state, self.failure)
        period = request.period_ticks or 1
        timeout = request.barrier_timeout if request.HasField("barrier_timeout") else self.config.barrier_timeout
        if not request.name:
            raise errors.BadField("a participant needs a name", field="name", allowed="a name")
        if period > self.config.max_ticks_per_call:
            raise errors.TooManyTicks(
                f"period {period} ticks is too long",
                field="period_ticks",
                given=period,
                allowed=f"1 to {self.config.max_ticks_per_call}",
            )
        if request.phase_ticks >= period:
            raise errors.BadField(
                "the phase is not less than the period",
                field="phase_ticks",
                given=request.phase_ticks,
                allowed=f"0 to {period - 1}",
            )
        if not 0.0 <= timeout < float("inf"):
            raise errors.BadField(
                f"barrier_timeout {timeout!r} s",
                field="barrier_timeout",
                given=timeout,
                allowed="0 s (for ever) or more",
            )
        if len(self._members) >= self.config.max_participants:
            raise errors.TooManyParticipants(
                "too many participants",
                field="name",
                given=request.name,
                allowed=f"{self.config.max_participants} participants",
            )
        inputs = select(self.table.inputs, request.inputs, "input")
        outputs = select(self.table.outputs, request.outputs, "output")
        for scalar in inputs.scalars:
            owner = self.barrier.owner(scalar.index)
            if owner is not None:
                raise errors.InputOwned(
                    f"input {scalar.name} is owned by {owner!r}",
                    field=scalar.name,
                    given=request.name,
                    allowed="inputs without an owner",
                )
        y = self.instance.get_outputs()
        member = Member(
            self.barrier.join(request.name, inputs.columns, period, request.phase_ticks),
            inputs,
            outputs,
            timeout,
        )
        self._members[member.name] = member
        self._gone.pop(member.name, None)
        self.kick()
        return member, pb.Joined(
            epoch=self.barrier.epoch,
            tick=member.participant.due,
            clock_tick=self.tick,
            sim_ns=self.sim_ns,
            tick_seconds=self.instance.tick,
            inputs=inputs.names,
            outputs=outputs.names,
            input_values=self.barrier.inputs[inputs.columns].tolist(),
            output_values=y[outputs.columns].tolist(),
        )

    async def step(self, member: Member, request: pb.Step) -> pb.State:
        """Delivers inputs and waits until the clock reaches the member's next due tick."""
        require("Step", self.state, self.failure)
        values = check(member.inputs, request.inputs)
        delivery = self.barrier.deliver(
            member.participant, epoch=request.epoch, tick=request.tick, request=request.request, values=values
        )
        if delivery is Delivery.ANSWERED and member.reply is not None:
            return member.reply
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[pb.State] = loop.create_future()
        member.waiter = waiter
        self.kick()
        if waiter.done() or member.timeout == 0.0:
            return await waiter
        timer = loop.call_later(member.timeout, self._expire, member, waiter)
        try:
            return await waiter
        finally:
            timer.cancel()

    def leave(self, member: Member) -> pb.Left:
        """Orderly end: the session goes on without the member, even if it was expected."""
        self.barrier.release(member.name)
        self.detach(member)
        return pb.Left(tick=self.tick)

    def detach(self, member: Member) -> None:
        """The member's stream has ended, however; acts once."""
        if self.barrier.detach(member.participant):
            del self._members[member.name]
            if member.name in self.barrier.expected:
                self._gone[member.name] = self.tick
            self.kick()

    def kick(self) -> None:
        """Makes every move that is due."""
        while self._busy is None and self.state in (SessionState.CREATED, SessionState.RUNNING):
            move = self.barrier.take()
            if move is None:
                return
            self.state = SessionState.RUNNING
            if move.ticks > self.config.offload_ticks:
                self._busy = asyncio.get_running_loop().create_task(self._offload(move))
                return
            try:
                self._advance(move.ticks)
                self._finish(move)
            except errors.SolverFailed as error:
                self._fail(error)
                return

    # ------------------------------------------------------------ unary

    async def advance(self, request: pb.AdvanceRequest) -> pb.AdvanceResponse:
        """Sets inputs, advances exactly n ticks, gets outputs; all or nothing."""
        await self._idle()
        require("Advance", self.state, self.failure)
        if self._members or self.barrier.expected:
            names = sorted(set(self._members) | self.barrier.expected)
            raise errors.ParticipantsPresent(
                f"the session has participants: {', '.join(names)}",
                field="session_id",
                given=self.id,
                allowed="Lockstep",
            )
        if request.request and request.request == self._last.request.request:
            if request != self._last.request:
                raise errors.StaleRequest(
                    f"request {request.request} was sent before with another content",
                    field="request",
                    given=request.request,
                    allowed="a new number",
                )
            return self._last.reply
        if request.request and request.request < self._last.request.request:
            raise errors.StaleRequest(
                f"request {request.request} does not rise",
                field="request",
                given=request.request,
                allowed=f"more than {self._last.request.request}",
            )
        if request.epoch and request.epoch != self.barrier.epoch:
            raise errors.WrongEpoch(
                f"epoch {request.epoch} is not the session's epoch {self.barrier.epoch}",
                field="epoch",
                given=request.epoch,
                allowed=str(self.barrier.epoch),
                tick=self.tick,
                epoch=self.barrier.epoch,
            )
        if request.HasField("tick") and request.tick != self.tick:
            raise errors.WrongTick(
                f"the session is at tick {self.tick}, not {request.tick}",
                field="tick",
                given=request.tick,
                allowed=str(self.tick),
                tick=self.tick,
                epoch=self.barrier.epoch,
            )
        if request.n_ticks > self.config.max_ticks_per_call:
            raise errors.TooManyTicks(
                f"{request.n_ticks} ticks in one call",
                field="n_ticks",
                given=request.n_ticks,
                allowed=f"0 to {self.config.max_ticks_per_call}",
            )
        inputs = select(self.table.inputs, request.input_names, "input")
        outputs = select(self.table.outputs, request.output_names, "output")
        values = check(inputs, request.inputs)
        self.barrier.inputs[inputs.columns] = values
        task = asyncio.get_running_loop().create_task(self._advance_alone(request, outputs))
        self._busy = task
        # A caller that goes away must not stop the move half-way.
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Closes the session; whoever waits is told."""
        await self._idle()
        require("DeleteSession", self.state)
        self.state = SessionState.CLOSED
        said = "the session was deleted"
        self._tell(lambda: errors.SessionClosed(said, field="session_id", given=self.id, allowed="an open session"))
        self.instance.free()

    def status(self) -> pb.GetSessionResponse:
        """Where the session stands."""
        require("GetSession", self.state)
        return pb.GetSessionResponse(
            session_id=self.id,
            model=self.model,
            state=pb.SessionState.Name(self.state.value),
            epoch=self.barrier.epoch,
            tick=self.tick,
            sim_ns=self.sim_ns,
            tick_seconds=self.instance.tick,
            participants=participants(self.barrier, self.table),
            failure=self.failure,
        )

    # ------------------------------------------------------------ inside

    async def _idle(self) -> None:
        while self._busy is not None:
            await asyncio.wait([self._busy])

    def _advance(self, ticks: int) -> None:
        self.instance.set_inputs(self.barrier.inputs)
        self.instance.step(ticks)

    async def _offload(self, move: Move) -> None:
        try:
            await asyncio.to_thread(self._advance, move.ticks)
            self._finish(move)
        except errors.SolverFailed as error:
            self._fail(error)
        finally:
            self._busy = None
        self.kick()

    async def _advance_alone(self, request: pb.AdvanceRequest, outputs: Selection) -> pb.AdvanceResponse:
        try:
            if request.n_ticks > self.config.offload_ticks:
                await asyncio.to_thread(self._advance, request.n_ticks)
            elif request.n_ticks:
                self._advance(request.n_ticks)
            else:
                self.instance.set_inputs(self.barrier.inputs)
            y = self.instance.get_outputs()
        except errors.SolverFailed as error:
            self._fail(error)
            raise
        finally:
            self._busy = None
        self.barrier.tick += request.n_ticks
        if request.n_ticks:
            self.state = SessionState.RUNNING
        reply = pb.AdvanceResponse(
            epoch=self.barrier.epoch, tick=self.tick, sim_ns=self.sim_ns, outputs=y[outputs.columns].tolist()
        )
        if request.request:
            self._last = _LastAdvance(request, reply)
        return reply

    def _finish(self, move: Move) -> None:
        reached = self.barrier.commit(move)
        if not reached:
            return
        y = self.instance.get_outputs()
        for participant in reached:
            member = self._members[participant.name]
            member.reply = pb.State(
                epoch=self.barrier.epoch,
                tick=self.tick,
                sim_ns=self.sim_ns,
                outputs=y[member.outputs.columns].tolist(),
                request=participant.request,
            )
            if member.waiter is not None and not member.waiter.done():
                member.waiter.set_result(member.reply)

    def _fail(self, error: errors.SolverFailed) -> None:
        self.state = SessionState.FAILED
        self.failure = f"at tick {self.tick}: {error.message}"
        self._tell(lambda: errors.SolverFailed(self.failure, field=error.field, given=error.given, tick=self.tick))

    def _tell(self, error: Callable[[], errors.ServiceError]) -> None:
        for member in self._members.values():
            if member.waiter is not None and not member.waiter.done():
                # One exception each: a traceback grows where it is raised.
                member.waiter.set_exception(error())

    def _expire(self, member: Member, waiter: asyncio.Future[pb.State]) -> None:
        if waiter.done():
            return
        missing = [name for name in self.barrier.missing() if name != member.name]
        if not missing or self._busy is not None:
            # Not the others' fault: the model itself is at work.
            asyncio.get_running_loop().call_later(member.timeout, self._expire, member, waiter)
            return
        said = [f"{n} (gone since tick {self._gone[n]})" if n in self._gone else n for n in missing]
        waiter.set_exception(
            errors.BarrierTimeout(
                f"tick {self.tick}: waited {member.timeout:g} s for {', '.join(said)}",
                field="participants",
                given=", ".join(missing),
                allowed="a delivery by every participant that is due",
                missing=missing,
                tick=member.participant.request_tick,
                epoch=self.barrier.epoch,
            )
        )
