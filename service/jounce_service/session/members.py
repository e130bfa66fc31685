"""The participants of a session, with their streams and waits."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from jounce_proto import jounce_pb2 as pb
from jounce_proto import packed
from jounce_service.hosting.values import Selection
from jounce_service.lockstep.barrier import Barrier
from jounce_service.lockstep.participant import Columns, Lateness, Participant
from jounce_service.transport import errors


class EventSink(Protocol):
    """The methods of a participant's stream that its session uses."""

    def push(self, event: pb.Event) -> None:
        """Queues an event; it is sent before any later reply."""

    async def flush(self) -> None:
        """Sends the queued events."""


#: Sends a State at once, and returns whether it did.
ReplyCallback = Callable[[packed.Reply | None], bool]


@dataclass
class Member:
    """A participant with its outputs, its stream, its wait and its last reply."""

    participant: Participant
    #: The Join without its secrets; a rejoin must have the same.
    terms: pb.Join
    token: str
    inputs: Selection
    outputs: Selection
    timeout: float
    event_sink: EventSink
    waiter: asyncio.Future[packed.Reply] | None = None
    #: Called with a State before the waiter gets it, and with None before a refusal.
    reply_callback: ReplyCallback | None = None
    #: Session time [s] at which the wait ends, and the timer that checks it.
    deadline: float = math.inf
    timer: asyncio.TimerHandle | None = None
    reply: packed.Reply | None = None
    #: Tick of its last State.
    seen: int = 0
    #: The error for its stream after it was removed.
    ended: errors.ServiceError | None = None

    @property
    def name(self) -> str:
        """Participant name."""
        return self.participant.name

    @property
    def pending(self) -> asyncio.Future[packed.Reply] | None:
        """The future of its reply, if it waits."""
        return None if self.waiter is None or self.waiter.done() else self.waiter

    def wait(self) -> asyncio.Future[packed.Reply]:
        """Begins a wait; returns the future of its next State or of a refusal."""
        self.reply_callback = None
        self.waiter = asyncio.get_running_loop().create_future()
        return self.waiter

    def answer(self, reply: packed.Reply) -> None:
        """Ends its wait, if it waits."""
        waiter = self.pending
        if waiter is None:
            return
        if self.reply_callback is not None and self.reply_callback(reply):
            self.waiter = None
        else:
            waiter.set_result(reply)

    def refuse(self, error: errors.ServiceError) -> None:
        """Ends its wait, if it waits."""
        waiter = self.pending
        if waiter is None:
            return
        if self.reply_callback is not None:
            self.reply_callback(None)
        waiter.set_exception(error)

    def rest(self) -> None:
        """Removes its deadline."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


@dataclass(frozen=True)
class Terms:
    """The checked content of a Join."""

    join: pb.Join
    inputs: Selection
    outputs: Selection
    period: int
    timeout: float
    lateness: Lateness
    ramps: Columns

    def check_free(self, barrier: Barrier) -> None:
        """Raises InputOwned if a participant of another name owns an input."""
        for scalar in self.inputs.scalars:
            owner = barrier.owner(scalar.index)
            if owner is not None and owner != self.join.name:
                gone = barrier.participants[owner].gone_at is not None
                raise errors.InputOwned(
                    f"input {scalar.name} is owned by {owner!r}"
                    + (", whose connection has gone: it may join again, or be removed by EvictParticipant" * gone),
                    field=scalar.name,
                    requested=self.join.name,
                    allowed="inputs without an owner",
                )

    def member(self, barrier: Barrier, event_sink: EventSink, now: float) -> Member:
        """Joins the barrier. Raises NameTaken or InputOwned with nothing changed."""
        participant = barrier.join(
            self.join.name,
            self.inputs.columns,
            self.period,
            self.join.phase_ticks,
            lateness=self.lateness,
            ramps=self.ramps,
            now=now,
        )
        token = secrets.token_hex(24)
        return Member(
            participant, bare(self.join), token, self.inputs, self.outputs, self.timeout, event_sink, seen=barrier.tick
        )


def bare(join: pb.Join) -> pb.Join:
    """A Join without its secrets."""
    terms = pb.Join()
    terms.CopyFrom(join)
    terms.token = terms.participant_token = ""
    return terms


class Members:
    """The participants of a session, connected or not."""

    def __init__(self, barrier: Barrier) -> None:
        """``barrier`` is the session's."""
        self._barrier = barrier
        self._by_name: dict[str, Member] = {}
        #: Participant -> tick at which its connection went.
        self.gone: dict[str, int] = {}

    def __iter__(self) -> Iterator[Member]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __getitem__(self, name: str) -> Member:
        return self._by_name[name]

    def get(self, name: str) -> Member | None:
        """The participant of that name."""
        return self._by_name.get(name)

    def with_token(self, token: str) -> Member | None:
        """The participant with that token."""
        found = [m for m in self if secrets.compare_digest(token.encode(), m.token.encode())]
        return found[0] if found else None

    def admit(self, terms: Terms, event_sink: EventSink, now: float) -> Member:
        """Adds a participant; ``now`` [s] is the session's time. Raises NameTaken or InputOwned, nothing changed."""
        member = terms.member(self._barrier, event_sink, now)
        self._by_name[member.name] = member
        self.gone.pop(member.name, None)
        return member

    def rejoin(self, member: Member, event_sink: EventSink, now: float) -> None:
        """Gives a participant that rejoins its new stream."""
        member.refuse(replaced(member.name))
        member.event_sink = event_sink
        self._barrier.rejoin(member.participant, now)
        self.gone.pop(member.name, None)

    def refuse(self, error: errors.ServiceError, text: str) -> None:
        """Refuses all waits."""
        for member in self:
            member.refuse(error.with_message(text))

    def prune(self) -> None:
        """Removes members that the barrier has removed."""
        for name in self._by_name.keys() - self._barrier.participants.keys():
            self._by_name.pop(name).rest()


def replaced(name: str) -> errors.StreamReplaced:
    """The error for the previous stream of a participant that has joined over another."""
    return errors.StreamReplaced(
        f"{name!r} has joined over another stream", field="name", requested=name, allowed="that one"
    )
