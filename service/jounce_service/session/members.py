"""Participants of a session with their stream's side, and what a Join must be like."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from jounce.signals import SignalTable
from jounce.values import in_use
from jounce_proto import jounce_pb2 as pb
from jounce_proto import packed
from jounce_service.hosting.values import Selection, check, named, select
from jounce_service.lockstep.barrier import Barrier
from jounce_service.lockstep.participant import Columns, Late, Lateness, Participant
from jounce_service.server.config import ServerConfig
from jounce_service.transport import errors


class EventSink(Protocol):
    """A participant's stream, as its session sees it."""

    def push(self, event: pb.Event) -> None:
        """Queues an event: it goes out before any later reply."""

    async def flush(self) -> None:
        """Sends what is queued."""


#: Sends a State where it comes, and says whether it did.
ReplyCallback = Callable[[packed.Reply | None], bool]


#: Kinds that a Join may ask for; others are told to everyone, or are in recordings only.
NOTICES: Final = (
    pb.EVENT_KIND_FAILED,
    pb.EVENT_KIND_EVICTED,
    pb.EVENT_KIND_MISSED,
    pb.EVENT_KIND_BARRIER_TIMEOUT,
)


@dataclass
class Member:
    """A participant with its stream's side: what it gets, how long it waits, its last reply."""

    participant: Participant
    #: The Join, without its secrets: a rejoin must be the same.
    terms: pb.Join
    token: str
    inputs: Selection
    outputs: Selection
    timeout: float
    event_sink: EventSink
    waiter: asyncio.Future[packed.Reply] | None = None
    #: Is offered a State before the waiter; None before a refusal.
    reply_callback: ReplyCallback | None = None
    #: Session time at which the wait ends [s], and what looks then.
    deadline: float = math.inf
    timer: asyncio.TimerHandle | None = None
    reply: packed.Reply | None = None
    #: Tick of its last State.
    seen: int = 0
    #: Why it does not take part any more, where somebody took it out.
    ended: errors.ServiceError | None = None

    @property
    def name(self) -> str:
        """Participant name."""
        return self.participant.name

    @property
    def pending(self) -> asyncio.Future[packed.Reply] | None:
        """The waiter, while it waits."""
        return None if self.waiter is None or self.waiter.done() else self.waiter

    def wait(self) -> asyncio.Future[packed.Reply]:
        """What its next State, or a refusal, will be given to."""
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
        """Drops its deadline."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


@dataclass(frozen=True)
class Terms:
    """A Join, read and checked."""

    join: pb.Join
    inputs: Selection
    outputs: Selection
    period: int
    timeout: float
    lateness: Lateness
    ramps: Columns

    def check_free(self, barrier: Barrier) -> None:
        """Raises InputOwned where somebody of another name owns an input."""
        for scalar in self.inputs.scalars:
            owner = barrier.owner(scalar.index)
            if owner is not None and owner != self.join.name:
                gone = barrier.participants[owner].gone_at is not None
                raise errors.InputOwned(
                    f"input {scalar.name} is owned by {owner!r}"
                    + (", whose connection has gone: it may join again, and EvictParticipant takes it out" * gone),
                    field=scalar.name,
                    given=self.join.name,
                    allowed="inputs without an owner",
                )

    def member(self, barrier: Barrier, event_sink: EventSink, now: float) -> Member:
        """Joins the barrier. Raises NameTaken or InputOwned without a change."""
        participant = barrier.join(
            self.join.name,
            self.inputs.columns,
            self.period,
            self.join.phase_ticks,
            lateness=self.lateness,
            ramps=self.ramps,
            now=now,
        )
        token = secrets.token_urlsafe(24)
        return Member(
            participant, bare(self.join), token, self.inputs, self.outputs, self.timeout, event_sink, seen=barrier.tick
        )


def bare(join: pb.Join) -> pb.Join:
    """A Join without its secrets."""
    terms = pb.Join()
    terms.CopyFrom(join)
    terms.token = terms.participant_token = ""
    return terms


def terms_of(join: pb.Join, table: SignalTable, parameters: Mapping[str, float], config: ServerConfig) -> Terms:
    """Reads a Join to a session with these parameters; raises a ServiceError naming what is wrong with it."""
    period = join.period_ticks or 1
    named(join.name)
    _check_notices(join.notices)
    if period > config.max_ticks_per_call:
        raise errors.TooManyTicks(
            f"period {period} ticks is too long",
            field="period_ticks",
            given=period,
            allowed=f"1 to {config.max_ticks_per_call}",
        )
    if join.phase_ticks >= period:
        raise errors.BadField(
            "the phase is not less than the period",
            field="phase_ticks",
            given=join.phase_ticks,
            allowed=f"0 to {period - 1}",
        )
    timeout = join.barrier_timeout if join.HasField("barrier_timeout") else config.barrier_timeout
    if not 0.0 <= timeout < math.inf:
        raise errors.BadField(
            f"barrier_timeout {timeout!r} s",
            field="barrier_timeout",
            given=timeout,
            allowed="0 s (for ever) or more",
        )
    inputs = select(in_use(table, parameters), join.inputs, "input")
    if inputs.parts:
        name = inputs.parts[0].signal.name
        raise errors.BadField(
            f"{name} is one direction", field=name, given=inputs.parts[0].name, allowed="all of its components, or none"
        )
    outputs = select(table.outputs, join.outputs, "output")
    return Terms(join, inputs, outputs, period, timeout, _lateness(join, inputs, config), _ramps(join, inputs))


def _check_notices(kinds: Sequence[int]) -> None:
    """Raises BadField where a Join asks for what is no notice."""
    for kind in kinds:
        if kind not in NOTICES:
            given = pb.EventKind.Name(kind) if kind in pb.EventKind.values() else kind
            raise errors.BadField(
                "no such notice",
                field="notices",
                given=given,
                allowed=", ".join(pb.EventKind.Name(k) for k in NOTICES),
            )


def _lateness(join: pb.Join, inputs: Selection, config: ServerConfig) -> Lateness:
    if join.late not in pb.LatePolicy.values():
        raise errors.BadField("no such policy", field="late", given=join.late, allowed="0 to 4")
    policy = Late(join.late or Late.BLOCK)
    after = join.late_after if join.HasField("late_after") else config.late_after
    lease = join.lease if join.HasField("lease") else (
        math.inf if policy in (Late.HOLD_LAST, Late.SAFE_VALUE) else 0.0
    )
    if not 0.0 < after < math.inf:
        raise errors.BadField(
            f"late_after {after!r} s", field="late_after", given=after, allowed="more than 0 s, finite"
        )
    if not lease >= 0.0 or (lease and policy is Late.FAIL):
        raise errors.BadField(
            f"lease {lease!r} s", field="lease", given=lease, allowed="0 s or more; 0 s with FAIL"
        )
    if join.max_age_ticks and policy is not Late.HOLD_LAST:
        raise errors.BadField(
            "only held inputs have an age", field="max_age_ticks", given=join.max_age_ticks, allowed="0, or HOLD_LAST"
        )
    safe = np.empty(0)
    if policy is Late.SAFE_VALUE:
        safe = _safe(inputs, join.safe_values)
    elif join.safe_values:
        raise errors.BadField(
            "safe values are of use to SAFE_VALUE only",
            field="safe_values",
            given=len(join.safe_values),
            allowed="none, or SAFE_VALUE",
        )
    at_release = not join.HasField("late_after") and policy in (Late.HOLD_LAST, Late.SAFE_VALUE)
    return Lateness(policy, after, join.max_age_ticks, safe, lease, at_release)


def _safe(inputs: Selection, values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if len(values) != len(inputs.scalars):
        raise errors.WrongLength(
            f"{len(inputs.scalars)} safe values are due, {len(values)} were given",
            field="safe_values",
            given=len(values),
            allowed=str(len(inputs.scalars)),
        )
    return check(inputs, values)


def _ramps(join: pb.Join, inputs: Selection) -> Columns:
    chosen = set(select([s for s in inputs.scalars], join.first_order_inputs, "owned input").names)
    for scalar in inputs.scalars:
        if scalar.name in chosen and scalar.signal.type != "Real":
            raise errors.BadField(
                f"{scalar.name} is not a real number", field=scalar.name, given=scalar.signal.type, allowed="Real"
            )
    return np.array([i for i, s in enumerate(inputs.scalars) if s.name in chosen], dtype=np.intp)
