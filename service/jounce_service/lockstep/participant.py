"""One participant of the lockstep clock: its rate, its policy for lateness, and its present phase."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jounce_service.transport import errors

Vector = NDArray[np.float64]
Columns = NDArray[np.intp]


class Late(IntEnum):
    """What happens when a participant is late or its connection has gone; the numbers are those of the wire."""

    BLOCK = 1
    HOLD_LAST = 2
    SAFE_VALUE = 3
    FAIL = 4


@dataclass(frozen=True)
class Lateness:
    """When a participant counts as late, and what happens then."""

    policy: Late = Late.BLOCK
    #: Time to deliver [s], from when the clock reaches the due tick; a participant without connection is late at once.
    after: float = math.inf
    #: Greatest age of held inputs [ticks]; 0 is without limit.
    max_age: int = 0
    #: Values for SAFE_VALUE in the participant's order [unit of each].
    safe: Vector = field(default_factory=lambda: np.empty(0))
    #: Time [s] that a participant remains in the session after its connection has gone.
    lease: float = 0.0
    #: In a paced session the participant is late at the next release. Otherwise ``after`` counts.
    at_release: bool = False


#: Default policy: the clock waits without limit, and the participant is removed when its connection goes.
DEFAULT_LATENESS: Final = Lateness()
NO_COLUMNS: Final = np.empty(0, dtype=np.intp)


class Phase(Enum):
    """What a participant has done for its due tick."""

    #: It has not yet sent inputs for its due tick.
    IDLE = auto()
    #: It has sent inputs for its due tick.
    DELIVERED = auto()
    #: Its inputs were applied, held or replaced. ``due`` is the next due tick, which the clock has not reached.
    AWAITING = auto()


@dataclass
class Participant:
    """One participant.

    ``columns`` are the indices of its inputs in u; ``ramps`` are the indices into ``columns`` with first-order hold.
    """

    name: str
    columns: Columns
    period: int
    phase_ticks: int
    due: int
    lateness: Lateness = DEFAULT_LATENESS
    ramps: Columns = field(default_factory=lambda: NO_COLUMNS)
    phase: Phase = Phase.IDLE
    #: Number of the last request accepted, its tick, and whether it has been answered.
    request: int = 0
    request_tick: int = -1
    answered: bool = False
    values: Vector = field(default_factory=lambda: np.empty(0))
    #: Time [s] at which the clock reached ``due``.
    since: float = 0.0
    #: Time [s] at which its connection went; None while it is connected.
    gone_at: float | None = None
    #: Tick from which the age of its inputs counts.
    delivered_tick: int = 0
    #: Whether the last due tick passed without a delivery, and how many have.
    replaced: bool = False
    missed: int = 0
    #: Due tick that its last delivery asked for after this one; None is the next tick of its grid.
    asked: int | None = None

    @property
    def following(self) -> int:
        """Due tick after ``due``: the one that the delivery asked for, or else the next tick of the grid."""
        if self.phase is Phase.DELIVERED and self.asked is not None:
            return self.asked
        return self._on_grid(self.due + 1)

    @property
    def next_tick(self) -> int:
        """Tick for which it must send inputs next."""
        return self.following if self.phase is Phase.DELIVERED else self.due

    def asked_due(self, tick: int) -> int | None:
        """The due tick if it differs from the grid's, with the clock at ``tick``; otherwise None."""
        return None if self.due == self._on_grid(tick) else self.due

    def _on_grid(self, tick: int) -> int:
        """First tick of the participant's grid at or after ``tick``."""
        return tick + (self.phase_ticks - tick) % self.period

    def check_replaceable(self) -> None:
        """Raises ParticipantLate or HeldTooLong if the policy does not let the clock go on without its inputs."""
        if self.lateness.policy is Late.FAIL:
            raise errors.ParticipantLate(
                f"{self.name!r} has not delivered for tick {self.due} within {self.lateness.after:g} s",
                field="participants",
                requested=self.name,
                allowed=f"a delivery within {self.lateness.after:g} s",
                missing=[self.name],
            )
        age = self.due - self.delivered_tick
        if self.lateness.policy is Late.HOLD_LAST and 0 < self.lateness.max_age < age:
            raise errors.HeldTooLong(
                f"the inputs of {self.name!r} would be {age} ticks old at tick {self.due}",
                field="participants",
                requested=age,
                allowed=f"up to {self.lateness.max_age} ticks",
                missing=[self.name],
            )

    def restart(self, tick: int, now: float) -> None:
        """Starts a new epoch: the participant is due on its grid from ``tick`` on."""
        self.due, self.asked = self._on_grid(tick), None
        self.phase, self.answered, self.replaced = Phase.IDLE, False, False
        # Request numbers start again: a waiting Step was refused and may be sent again under its number.
        self.request, self.request_tick, self.delivered_tick, self.since = 0, -1, tick, now
