"""The lockstep clock: who is due at which tick, whose inputs are in, and what move follows.

Pure: no I/O, no event loop; the time ``now`` [s] is an argument, so that a test can make it. The owner calls
``deliver``, then ``take`` and ``commit`` until ``take`` gives 0, and again at ``deadline``.

The clock stands at ``tick``. With D the least due tick of all:

* clock < D and someone awaits D: the clock moves to D, inputs held;
* all participants due at D have delivered, or are late and may be: (the clock moves to D and) their inputs are
  applied together, and the clock moves to the next least due tick.

Nothing moves while an expected participant is absent, or while nobody is connected. What is applied at a tick
depends on the ticks alone, never on the order of arrival.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from enum import Enum, auto

import numpy as np

from jounce_service.lockstep.first_order_hold import Ramps
from jounce_service.lockstep.participant import (
    NO_COLUMNS,
    PATIENT,
    Columns,
    Late,
    Lateness,
    Participant,
    Phase,
    Vector,
)
from jounce_service.transport import errors


class Delivery(Enum):
    """What a delivered Step is."""

    NEW = auto()
    #: The same Step again while it waits.
    REPEAT = auto()
    #: The same Step again after its reply: the stored reply answers it.
    ANSWERED = auto()


class Barrier:
    """The clock of one session. ``inputs`` is u as it acts now; ``expected`` the required names."""

    def __init__(
        self,
        inputs: Vector,
        expected: Iterable[str] = (),
        epoch: int = 1,
        bounds: tuple[Vector, Vector] | None = None,
        longest: int = 1_000_000,
    ) -> None:
        """Clock at tick 0, nobody joined; ``bounds`` (minimum, maximum) limit first-order holds.

        ``longest`` [ticks] is the most between two due ticks of a participant.
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
        #: Due ticks that passed without a participant's inputs [1].
        self.missed = 0
        #: Participants that have missed their first due tick since their last delivery; the owner takes them out.
        self.first_missed: list[str] = []
        self._owner: dict[int, str] = {}
        self._removed: list[Participant] = []
        self._gone = 0
        #: Of a paced session: wall-clock time [s] that participants have when so many ticks later the next is due;
        #: None before the run has begun.
        self.notice: Callable[[int], float | None] | None = None
        #: Whether anything depends on the time; if not, ``now`` may be anything.
        self.timed = False

    # ------------------------------------------------------------ membership

    def owner(self, column: int) -> str | None:
        """Name of the participant that owns an input, if any."""
        return self._owner.get(column)

    def join(
        self,
        name: str,
        columns: Columns,
        period: int = 1,
        phase: int = 0,
        *,
        lateness: Lateness = PATIENT,
        ramps: Columns = NO_COLUMNS,
        now: float = 0.0,
    ) -> Participant:
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
        member = Participant(name, columns, period, phase, 0, lateness, ramps)
        member.restart(self.tick, now)
        self.participants[name] = member
        self._owner.update(dict.fromkeys(columns.tolist(), name))
        self._count()
        return member

    def rejoin(self, member: Participant, now: float = 0.0) -> None:
        """A participant is back, with all its rights and deliveries."""
        member.gone_at, member.since = None, now
        self._count()

    def detach(self, member: Participant, now: float = 0.0) -> bool:
        """A participant's connection has gone; True once. Without a lease it is out, its delivery dropped."""
        if self.participants.get(member.name) is not member or member.gone_at is not None:
            return False
        if member.lateness.lease > 0.0:
            member.gone_at = now
            self._count()
        else:
            self.remove(member)
        return True

    def remove(self, member: Participant) -> None:
        """Takes a participant out; its inputs stay as they are, or safe where that is its policy."""
        del self.participants[member.name]
        for column in member.columns.tolist():
            del self._owner[column]
        # A move may be at work with the inputs just now: they change before the next one.
        self._removed.append(member)
        self._count()

    def settle(self) -> None:
        """The inputs as they act from now on; the owner calls it while no move is at work."""
        for member in self._removed:
            self._leave_behind(member)
        self._removed.clear()

    def release(self, name: str) -> None:
        """The session goes on without ``name`` from now on, even if it was expected."""
        self.expected.discard(name)

    def restart(self, inputs: Vector, tick: int, now: float = 0.0) -> None:
        """The past has been replaced: a new epoch at ``tick``, nothing delivered, everyone due on its grid."""
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
        """Takes the inputs for a due tick; raises without a change where they are not due.

        ``values`` [unit of each input] are in the member's order; the caller has checked them. ``asked`` is the tick at
        which the member wants to be due next; None = the next of its grid.
        """
        if epoch != self.epoch:
            raise self.wrong_epoch(member, epoch)
        if request == member.request and request > 0:
            same = (tick, asked) == (member.request_tick, member.asked)
            if not same or values.tobytes() != member.values.tobytes():
                raise errors.StaleRequest(
                    f"request {request} was sent before with another content",
                    field="request",
                    given=request,
                    allowed="the same content, or a new number",
                )
            return Delivery.ANSWERED if member.answered else Delivery.REPEAT
        if request <= member.request:
            raise errors.StaleRequest(
                f"request {request} does not follow request {member.request}",
                field="request",
                given=request,
                allowed=f"more than {member.request}",
            )
        if member.phase is not Phase.IDLE and not (member.phase is Phase.AWAITING and member.replaced):
            raise errors.StepPending(
                f"request {member.request} for tick {member.request_tick} still waits",
                field="request",
                given=request,
                allowed=str(member.request),
                tick=member.due,
                epoch=self.epoch,
            )
        if tick != member.due:
            late = member.replaced and member.request_tick < tick < member.due
            kind = errors.TooLate if late else errors.WrongTick
            raise kind(
                f"{member.name!r} is due at tick {member.due}, not {tick}"
                + (": the clock went on without it" if late else ""),
                field="tick",
                given=tick,
                allowed=str(member.due),
                tick=member.due,
                epoch=self.epoch,
            )
        if asked is not None and not tick < asked <= tick + self.longest:
            raise errors.BadField(
                f"next_tick {asked} of a Step for tick {tick}",
                field="next_tick",
                given=asked,
                allowed=f"{tick + 1} to {tick + self.longest}, or none",
                tick=member.due,
                epoch=self.epoch,
            )
        member.request, member.request_tick, member.values, member.asked = request, tick, values, asked
        member.phase, member.answered, member.replaced = Phase.DELIVERED, False, False
        return Delivery.NEW

    def wrong_epoch(self, member: Participant, given: int) -> errors.WrongEpoch:
        """The refusal of a message of another epoch."""
        return errors.WrongEpoch(
            f"epoch {given} is not the session's epoch {self.epoch}",
            field="epoch",
            given=given,
            allowed=str(self.epoch),
            tick=member.next_tick,
            epoch=self.epoch,
        )

    def sync(self, member: Participant) -> bool:
        """Whether the clock is at the member's due tick; if not, the member waits for it from now on."""
        if member.phase is Phase.IDLE:
            if member.due == self.tick:
                return True
            member.phase = Phase.AWAITING
        return False

    # ------------------------------------------------------------ the clock

    def take(self, now: float = 0.0, most: int | None = None) -> int:
        """The move that is due now [ticks], its inputs applied to ``inputs``; 0 while someone is missing.

        ``most`` [ticks] limits the move. Raises ParticipantLate or HeldTooLong where a policy wants it.
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
                    # A restored past may have had lines where the owner of today holds.
                    self.ramps.stop(np.delete(p.columns, p.ramps))
                if len(p.ramps):
                    self.ramps.deliver(p.columns[p.ramps], p.values[p.ramps], first)
            else:
                self._replace(p)
            p.due = p.following
            p.phase = Phase.AWAITING
        return _within(most, self._first()[0] - first)

    def commit(self, ticks: int, now: float = 0.0) -> list[Participant]:
        """The move is done; the participants whose next due tick the clock has reached, by name."""
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
        """The next time [s] at which ``take`` may give something else because time has passed; or infinity."""
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
        """Who keeps the clock from moving: expected and absent, or due, not delivered and not replaceable; by name."""
        names = self.expected - self.participants.keys()
        members = self.participants.values()
        first = min((p.due for p in members), default=self.tick)
        names |= {p.name for p in members if p.due == first and p.phase is Phase.IDLE and not self._is_late(p, now)}
        return sorted(names)

    # ------------------------------------------------------------ inside

    def _first(self) -> tuple[int, list[Participant]]:
        """The least due tick and who is due then; there is a participant."""
        first = 0
        due: list[Participant] = []
        for p in self.participants.values():
            if not due or p.due < first:
                first, due = p.due, [p]
            elif p.due == first:
                due.append(p)
        return first, due

    def _is_late(self, p: Participant, now: float) -> bool:
        """Whether the clock need not wait for it any more; ``now`` [s] as its ``since``."""
        if p.lateness.policy is Late.BLOCK:
            return False
        return p.gone_at is not None or now >= p.since + self._after(p)

    def _after(self, p: Participant) -> float:
        """Time [s] that it has from its turn on."""
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
