"""The lockstep clock: who is due at which tick, whose inputs are in, and what move follows.

Pure: no I/O, no clock of the wall, no event loop. The owner calls ``deliver``, then ``take`` and
``commit`` until ``take`` gives none. A participant goes round three phases::

    IDLE      it has to send inputs for its due tick
    DELIVERED its inputs for the due tick are in
    AWAITING  they are applied; due has moved on one period, and it waits for the clock to get there

The clock stands at ``tick``. With D the least due tick of all:

* clock < D and someone awaits D: the clock moves to D, inputs held;
* all participants due at D have delivered: (the clock moves to D and) their inputs are applied together,
  and the clock moves to the next least due tick.

Nothing moves while an expected participant is absent. What is applied at a tick depends on the ticks
alone, never on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from jounce_service import errors

Vector = NDArray[np.float64]
Columns = NDArray[np.intp]


class Phase(Enum):
    """Where a participant is in its round."""

    IDLE = auto()
    DELIVERED = auto()
    AWAITING = auto()


class Delivery(Enum):
    """What a delivered Step is."""

    NEW = auto()
    #: The same Step again while it waits.
    REPEAT = auto()
    #: The same Step again after its reply: the stored reply answers it.
    ANSWERED = auto()


@dataclass
class Participant:
    """One joined participant; ``columns`` are its inputs' places in u, in its own order."""

    name: str
    columns: Columns
    period: int
    phase_ticks: int
    due: int
    phase: Phase = Phase.IDLE
    request: int = 0
    request_tick: int = -1
    values: Vector = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Move:
    """An advance of exactly ``ticks``, with the inputs in ``Barrier.inputs``."""

    ticks: int


class Barrier:
    """The clock of one session. ``inputs`` is u as it holds now; ``expected`` the required names."""

    def __init__(self, inputs: Vector, expected: Iterable[str] = (), epoch: int = 1) -> None:
        """Clock at tick 0, nobody joined."""
        self.inputs = np.array(inputs, dtype=np.float64)
        self.expected = set(expected)
        self.epoch = epoch
        self.tick = 0
        self.participants: dict[str, Participant] = {}
        self._owner: dict[int, str] = {}

    def owner(self, column: int) -> str | None:
        """Name of the participant that owns an input, if any."""
        return self._owner.get(column)

    def join(self, name: str, columns: Columns, period: int = 1, phase: int = 0) -> Participant:
        """Adds a participant; it is due at the first tick, from now on, that is phase + k x period.

        Raises NameTaken or InputOwned. The caller has checked period >= 1 and 0 <= phase < period.
        """
        if name in self.participants:
            raise errors.NameTaken(
                f"a participant named {name!r} is joined",
                field="name",
                given=name,
                allowed="a name not joined now",
            )
        for column in columns.tolist():
            if column in self._owner:
                raise errors.InputOwned(
                    f"input {column} is owned by {self._owner[column]!r}",
                    field=str(column),
                    given=name,
                    allowed="inputs without an owner",
                )
        due = self.tick + (phase - self.tick) % period
        member = Participant(name, columns, period, phase, due)
        self.participants[name] = member
        self._owner.update(dict.fromkeys(columns.tolist(), name))
        return member

    def detach(self, member: Participant) -> bool:
        """Takes a participant out, once; a delivery not yet applied is dropped. True if it was in."""
        if self.participants.get(member.name) is not member:
            return False
        del self.participants[member.name]
        for column in member.columns.tolist():
            del self._owner[column]
        return True

    def release(self, name: str) -> None:
        """The session goes on without ``name`` from now on, even if it was expected."""
        self.expected.discard(name)

    def deliver(self, member: Participant, *, epoch: int, tick: int, request: int, values: Vector) -> Delivery:
        """Takes the inputs for a due tick; raises without a change where they are not due.

        ``values`` [unit of each input] are in the member's order; the caller has checked them.
        """
        if request == member.request and request > 0:
            if tick != member.request_tick or values.tobytes() != member.values.tobytes():
                raise errors.StaleRequest(
                    f"request {request} was sent before with another content",
                    field="request",
                    given=request,
                    allowed="the same content, or a new number",
                )
            return Delivery.ANSWERED if member.phase is Phase.IDLE else Delivery.REPEAT
        if epoch != self.epoch:
            raise errors.WrongEpoch(
                f"epoch {epoch} is not the session's epoch {self.epoch}",
                field="epoch",
                given=epoch,
                allowed=str(self.epoch),
                tick=member.due,
                epoch=self.epoch,
            )
        if request <= member.request:
            raise errors.StaleRequest(
                f"request {request} does not follow request {member.request}",
                field="request",
                given=request,
                allowed=f"more than {member.request}",
            )
        if member.phase is not Phase.IDLE:
            raise errors.StepPending(
                f"request {member.request} for tick {member.request_tick} still waits",
                field="request",
                given=request,
                allowed=str(member.request),
                tick=member.due,
                epoch=self.epoch,
            )
        if tick != member.due:
            raise errors.WrongTick(
                f"{member.name!r} is due at tick {member.due}, not {tick}",
                field="tick",
                given=tick,
                allowed=str(member.due),
                tick=member.due,
                epoch=self.epoch,
            )
        member.request, member.request_tick, member.values = request, tick, values
        member.phase = Phase.DELIVERED
        return Delivery.NEW

    def take(self) -> Move | None:
        """The move that is due now, its inputs applied to ``inputs``; None while someone is missing."""
        if not self.participants or not self.expected <= self.participants.keys():
            return None
        members = self.participants.values()
        first = min(p.due for p in members)
        due = [p for p in members if p.due == first]
        if self.tick < first:
            if all(p.phase is Phase.IDLE for p in due):
                return None
            if any(p.phase is Phase.AWAITING for p in due) or all(p.phase is Phase.DELIVERED for p in due):
                return Move(first - self.tick)
            return None
        if any(p.phase is not Phase.DELIVERED for p in due):
            return None
        for p in due:
            self.inputs[p.columns] = p.values
            p.due += p.period
            p.phase = Phase.AWAITING
        return Move(min(p.due for p in members) - first)

    def commit(self, move: Move) -> list[Participant]:
        """The move is done; the participants whose next due tick the clock has reached, by name."""
        self.tick += move.ticks
        reached = [p for p in self.participants.values() if p.phase is Phase.AWAITING and p.due == self.tick]
        for p in reached:
            p.phase = Phase.IDLE
        return sorted(reached, key=lambda p: p.name)

    def missing(self) -> list[str]:
        """Who keeps the clock from moving: expected and absent, or due and not delivered; by name."""
        names = self.expected - self.participants.keys()
        members = self.participants.values()
        first = min((p.due for p in members), default=self.tick)
        names |= {p.name for p in members if p.due == first and p.phase is Phase.IDLE}
        return sorted(names)
