"""The lockstep clock: it knows who is due at which tick and who has delivered, and gives the next move.

The module has no I/O and no event loop. The time ``now`` [s] is an argument, so that tests can choose it. The owner
calls ``deliver``, then ``take`` and ``commit`` until ``take`` returns 0, and does so again at ``deadline``.

The clock stands at ``tick``. D is the earliest due tick of all participants. There are two kinds of move:

* The clock is before D and a participant waits for D: the clock moves to D with the inputs held.
* Every participant due at D has delivered, or is late and its policy lets the clock go on: the inputs are applied
  together at D, and the clock moves to the next due tick.

The clock does not move while an expected participant is absent or while nobody is connected. The inputs applied at a
tick depend on the ticks alone, not on the order in which messages arrive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from enum import Enum, auto

import numpy as np

from jounce_service.lockstep.first_order_hold import Ramps
from jounce_service.lockstep.participant import (
    DEFAULT_LATENESS,
    NO_COLUMNS,
    Columns,
    Late,
    Lateness,
    Participant,
    Phase,
    Vector,
)
from jounce_service.transport import errors


class Delivery(Enum):
    """Whether a delivered Step is new or repeated."""

    NEW = auto()
    #: The same Step was sent again while it waits for its reply.
    REPEAT = auto()
    #: The same Step was sent again after its reply; the stored reply is sent once more.
    ANSWERED = auto()


class Barrier:
    """The clock of one session; ``inputs`` is u as it acts now, ``expected`` the names that must be present."""

    def __init__(
        self,
        inputs: Vector,
        expected: Iterable[str] = (),
        epoch: int = 1,
        bounds: tuple[Vector, Vector] | None = None,
        longest: int = 1_000_000,
    ) -> None:
        """Starts at tick 0 without participants.

        ``bounds`` (minimum, maximum) [unit of each input] limit first-order holds. ``longest`` [ticks] is the largest
        distance between two due ticks of a participant.
        """
        self.inputs = np.array(inputs, dtype=np.float64)
        self.expected = set(expected)
        self.epoch = epoch
        self.longest = longest
        self.tick = 0
        self.participants: dict[str, Participant] = {}
        low, high = bounds or (np.full(len(self.inputs), -math.inf), np.full(len(self.inputs), math.inf))
        self.ramps = Ramps(low, high)
        #: Participant -> tick at which its inputs were last replaced.
        self.replaced: dict[str, int] = {}
        #: Number of due ticks, over all participants, that passed without inputs [1].
        self.missed = 0
        #: Participants that have missed the first due tick since their last delivery. The owner reads and empties it.
        self.first_missed: list[str] = []
        self._owner: dict[int, str] = {}
        self._removed: list[Participant] = []
        self._gone = 0
        #: Paced sessions only. Takes the ticks until the next due tick and returns the wall-clock time [s] that
        #: participants have to deliver, or None before the run has begun.
        self.notice: Callable[[int], float | None] | None = None
        #: Whether a policy or a lease depends on the time. If not, ``now`` is ignored.
        self.timed = False

    # ------------------------------------------------------------ membership

    def owner(self, column: int) -> str | None:
        """Name of the participant that owns an input, or None."""
        return self._owner.get(column)

    def join(
        self,
        name: str,
        columns: Columns,
        period: int = 1,
        phase: int = 0,
        *,
        lateness: Lateness = DEFAULT_LATENESS,
        ramps: Columns = NO_COLUMNS,
        now: float = 0.0,
    ) -> Participant:
        """Adds a participant, due at the first tick phase + k period that is not before the clock.

        The caller has checked period >= 1 and 0 <= phase < period. Raises NameTaken or InputOwned.
        """
        if name in self.participants:
            raise errors.NameTaken(
                f"a participant named {name!r} is joined",
                field="name",
                requested=name,
                allowed="a name not joined now",
            )
        for column in columns.tolist():
            if column in self._owner:
                raise errors.InputOwned(
                    f"input {column} is owned by {self._owner[column]!r}",
                    field=str(column),
                    requested=name,
                    allowed="inputs without an owner",
                )
        member = Participant(name, columns, period, phase, 0, lateness, ramps)
        member.restart(self.tick, now)
        self.participants[name] = member
        self._owner.update(dict.fromkeys(columns.tolist(), name))
        self._count()
        return member

    def rejoin(self, member: Participant, now: float = 0.0) -> None:
        """Marks a participant whose connection had gone as connected; it keeps its inputs and deliveries."""
        member.gone_at, member.since = None, now
        self._count()

    def detach(self, member: Participant, now: float = 0.0) -> bool:
        """Marks a participant's connection as gone; returns False if it was gone already.

        Without a lease the participant is removed and its delivery is dropped.
        """
        if self.participants.get(member.name) is not member or member.gone_at is not None:
            return False
        if member.lateness.lease > 0.0:
            member.gone_at = now
            self._count()
        else:
            self.remove(member)
        return True

    def remove(self, member: Participant) -> None:
        """Removes a participant; its inputs are held, or become its safe values if SAFE_VALUE is its policy."""
        del self.participants[member.name]
        for column in member.columns.tolist():
            del self._owner[column]
        # A move may be using the inputs now; they change before the next move.
        self._removed.append(member)
        self._count()

    def settle(self) -> None:
        """Applies the policies of removed participants to ``inputs``; called only between moves."""
        for member in self._removed:
            self._leave_behind(member)
        self._removed.clear()

    def release(self, name: str) -> None:
        """Removes ``name`` from the expected participants, so that the clock does not wait for it."""
        self.expected.discard(name)

    def restart(self, inputs: Vector, tick: int, now: float = 0.0) -> None:
        """Starts a new epoch at ``tick`` with ``inputs``: no deliveries, every participant due on its grid."""
        self.epoch += 1
        self.tick = tick
        self.inputs[:] = inputs
        self.ramps.load(())
        self.replaced.clear()
        self._removed.clear()
        for member in self.participants.values():
            member.restart(tick, now)

    # ------------------------------------------------------------ deliveries

    def deliver(
        self, member: Participant, *, epoch: int, tick: int, request: int, values: Vector, asked: int | None = None
    ) -> Delivery:
        """Accepts the inputs for a due tick.

        ``values`` [unit of each input] are in the member's order; the caller has checked them. ``asked`` is the tick at
        which the member wants to be due next; None is the next tick of its grid. Raises WrongEpoch, StaleRequest,
        StepPending, TooLate, WrongTick or BadField, with nothing changed.
        """
        if epoch != self.epoch:
            raise self.wrong_epoch(member, epoch)
        if request == member.request and request > 0:
            same = (tick, asked) == (member.request_tick, member.asked)
            if not same or values.tobytes() != member.values.tobytes():
                raise errors.StaleRequest(
                    f"request {request} was sent before with different content",
                    field="request",
                    requested=request,
                    allowed="the same content, or a higher number",
                )
            return Delivery.ANSWERED if member.answered else Delivery.REPEAT
        if request <= member.request:
            raise errors.StaleRequest(
                f"request {request} does not follow request {member.request}",
                field="request",
                requested=request,
                allowed=f"more than {member.request}",
            )
        if member.phase is not Phase.IDLE and not (member.phase is Phase.AWAITING and member.replaced):
            raise errors.StepPending(
                f"request {member.request} for tick {member.request_tick} still waits",
                field="request",
                requested=request,
                allowed=str(member.request),
                tick=member.due,
                epoch=self.epoch,
            )
        if tick != member.due:
            late = member.replaced and member.request_tick < tick < member.due
            kind = errors.TooLate if late else errors.WrongTick
            raise kind(
                f"{member.name!r} is due at tick {member.due}, not {tick}"
                + (": the clock has moved on without its inputs" if late else ""),
                field="tick",
                requested=tick,
                allowed=str(member.due),
                tick=member.due,
                epoch=self.epoch,
            )
        if asked is not None and not tick < asked <= tick + self.longest:
            raise errors.BadField(
                f"next_tick {asked} of a Step for tick {tick} is out of range",
                field="next_tick",
                requested=asked,
                allowed=f"{tick + 1} to {tick + self.longest}, or none",
                tick=member.due,
                epoch=self.epoch,
            )
        member.request, member.request_tick, member.values, member.asked = request, tick, values, asked
        member.phase, member.answered, member.replaced = Phase.DELIVERED, False, False
        return Delivery.NEW

    def wrong_epoch(self, member: Participant, requested: int) -> errors.WrongEpoch:
        """Makes the error for a message of another epoch."""
        return errors.WrongEpoch(
            f"epoch {requested} is not the session's epoch {self.epoch}",
            field="epoch",
            requested=requested,
            allowed=str(self.epoch),
            tick=member.next_tick,
            epoch=self.epoch,
        )

    def sync(self, member: Participant) -> bool:
        """Returns whether the clock is at the member's due tick; if not, marks the member as waiting for it."""
        if member.phase is Phase.IDLE:
            if member.due == self.tick:
                return True
            member.phase = Phase.AWAITING
        return False

    # ------------------------------------------------------------ the clock

    def take(self, now: float = 0.0, most: int | None = None) -> int:
        """Applies the inputs of the next move and returns its length [ticks]; 0 while a participant is missing.

        ``most`` [ticks] limits the move. Raises ParticipantLate or HeldTooLong as the policies say.
        """
        if self._gone:
            self._expire(now)
        if self._removed:
            self.settle()
        if self._gone >= len(self.participants) or not self.expected <= self.participants.keys():
            return 0
        first, due = self._first()
        late = [p for p in due if p.phase is not Phase.DELIVERED]
        if late:
            if self.tick < first and any(p.phase is Phase.AWAITING for p in late):
                return _within(most, first - self.tick)
            if not all(self._is_late(p, now) for p in late):
                return 0
            for p in late:
                p.check_replaceable()
        if self.tick < first:
            return _within(most, first - self.tick)
        for p in due:
            if p.phase is Phase.DELIVERED:
                self.inputs[p.columns] = p.values
                p.delivered_tick = first
                if self.ramps.moving and len(p.ramps) < len(p.columns):
                    # After a restore, lines may be left on inputs whose present owner uses zero-order hold.
                    self.ramps.stop(np.delete(p.columns, p.ramps))
                if len(p.ramps):
                    self.ramps.deliver(p.columns[p.ramps], p.values[p.ramps], first)
            else:
                self._replace(p)
            p.due = p.following
            p.phase = Phase.AWAITING
        return _within(most, self._first()[0] - first)

    def commit(self, ticks: int, now: float = 0.0) -> list[Participant]:
        """Advances the clock after a move; returns, by name, the participants whose replies are now due."""
        self.tick += ticks
        reached = []
        for p in self.participants.values():
            if p.due == self.tick and p.phase is not Phase.DELIVERED:
                p.since = now
                if p.phase is Phase.AWAITING:
                    p.phase, p.answered = Phase.IDLE, True
                    reached.append(p)
        return sorted(reached, key=lambda p: p.name) if len(reached) > 1 else reached

    def deadline(self, now: float) -> float:
        """The next time [s] at which a timeout or a lease can change what ``take`` returns; infinity if none can."""
        if not self.timed:
            return math.inf
        first, _ = self._first()
        times = [
            p.since + self._after(p) if p.gone_at is None else p.gone_at + p.lateness.lease
            for p in self.participants.values()
            if p.gone_at is not None
            or (p.due == first and p.phase is Phase.IDLE and p.lateness.policy is not Late.BLOCK)
        ]
        return min((t for t in times if t > now), default=math.inf)

    def missing(self, now: float = 0.0) -> list[str]:
        """Names, sorted, of those that the clock waits for.

        They are expected and absent, or due without a delivery and not yet late.
        """
        names = self.expected - self.participants.keys()
        members = self.participants.values()
        first = min((p.due for p in members), default=self.tick)
        names |= {p.name for p in members if p.due == first and p.phase is Phase.IDLE and not self._is_late(p, now)}
        return sorted(names)

    # ------------------------------------------------------------ inside

    def _first(self) -> tuple[int, list[Participant]]:
        """The earliest due tick and the participants due then; needs at least one participant."""
        first = 0
        due: list[Participant] = []
        for p in self.participants.values():
            if not due or p.due < first:
                first, due = p.due, [p]
            elif p.due == first:
                due.append(p)
        return first, due

    def _is_late(self, p: Participant, now: float) -> bool:
        """Whether the participant's time to deliver is over; ``now`` [s] is on the same clock as its ``since``."""
        if p.lateness.policy is Late.BLOCK:
            return False
        return p.gone_at is not None or now >= p.since + self._after(p)

    def _after(self, p: Participant) -> float:
        """Time [s] that the participant has to deliver, counted from ``since``."""
        if p.lateness.at_release and self.notice is not None:
            following = min(q.due if q.due > p.due else q.following for q in self.participants.values())
            found = self.notice(following - p.due)
            if found is not None:
                return found
        return p.lateness.after

    def _leave_behind(self, member: Participant) -> None:
        if member.lateness.policy is Late.SAFE_VALUE:
            self.inputs[member.columns] = member.lateness.safe
        self.ramps.stop(member.columns)

    def _replace(self, member: Participant) -> None:
        self._leave_behind(member)
        if not member.replaced:
            self.first_missed.append(member.name)
        member.replaced = True
        member.missed += 1
        self.replaced[member.name] = member.due
        self.missed += 1

    def _expire(self, now: float) -> None:
        for p in list(self.participants.values()):
            if p.gone_at is not None and now >= p.gone_at + p.lateness.lease:
                self.remove(p)

    def _count(self) -> None:
        self._gone = sum(p.gone_at is not None for p in self.participants.values())
        self.timed = any(
            p.gone_at is not None or p.lateness.policy is not Late.BLOCK for p in self.participants.values()
        )


def _within(most: int | None, ticks: int) -> int:
    return ticks if most is None else min(ticks, most)
