"""One participant of the lockstep clock: what it agreed to, and where it is in its round."""

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
    """What happens when a participant is late or gone; numbers as on the wire."""

    BLOCK = 1
    HOLD_LAST = 2
    SAFE_VALUE = 3
    FAIL = 4


@dataclass(frozen=True)
class Lateness:
    """When a participant is late, and what then."""

    policy: Late = Late.BLOCK
    #: Time [s] from when the clock comes to its due tick; one that has gone is late at once.
    after: float = math.inf
    #: Greatest age of held inputs [ticks]; 0 = any.
    max_age: int = 0
    #: Values for SAFE_VALUE in the participant's order [unit of each].
    safe: Vector = field(default_factory=lambda: np.empty(0))
    #: Time [s] that one that has gone stays a participant.
    lease: float = 0.0
    #: Late at the next release where the session is paced; ``after`` counts where it is not.
    at_release: bool = False


#: Waits for ever, and is forgotten when it goes.
PATIENT: Final = Lateness()
NO_COLUMNS: Final = np.empty(0, dtype=np.intp)


class Phase(Enum):
    """Where a participant is in its round."""

    #: It has to send inputs for its due tick.
    IDLE = auto()
    #: Its inputs for the due tick are in.
    DELIVERED = auto()
    #: They are applied, or were replaced; due has moved on, and it waits for the clock to get there.
    AWAITING = auto()


@dataclass
class Participant:
    """One participant; ``columns`` are its inputs' places in u, ``ramps`` the places in ``columns`` with slopes."""

    name: str
    columns: Columns
    period: int
    phase_ticks: int
    due: int
    lateness: Lateness = PATIENT
    ramps: Columns = field(default_factory=lambda: NO_COLUMNS)
    phase: Phase = Phase.IDLE
    #: Last request accepted, the tick it was for, and whether its reply has been given.
    request: int = 0
    request_tick: int = -1
    answered: bool = False
    values: Vector = field(default_factory=lambda: np.empty(0))
    #: When it became its turn [s]; when it went, or None while it is there.
    since: float = 0.0
    gone_at: float | None = None
    #: Tick from which the age of its inputs counts; whether the last round had no delivery; how many had none.
    delivered_tick: int = 0
    replaced: bool = False
    missed: int = 0
    #: Due tick that its delivery asks for after this one; None = the next of its grid.
    asked: int | None = None

    @property
    def following(self) -> int:
        """Tick [1] at which it is due after ``due``: the one that its delivery asks for, else the next of its grid."""
        if self.phase is Phase.DELIVERED and self.asked is not None:
            return self.asked
        return self._on_grid(self.due + 1)

    @property
    def next_tick(self) -> int:
        """Tick for which its next new inputs must be."""
        return self.following if self.phase is Phase.DELIVERED else self.due

    def asked_due(self, tick: int) -> int | None:
        """The due tick, where with the clock at ``tick`` it is not the one of the grid; or None."""
        return None if self.due == self._on_grid(tick) else self.due

    def _on_grid(self, tick: int) -> int:
        """First tick of the grid that is not before ``tick``."""
        return tick + (self.phase_ticks - tick) % self.period

    def check_replaceable(self) -> None:
        """Raises ParticipantLate or HeldTooLong where its policy does not let the clock go on without it."""
        if self.lateness.policy is Late.FAIL:
            raise errors.ParticipantLate(
                f"{self.name!r} has not delivered for tick {self.due} within {self.lateness.after:g} s",
                field="participants",
                given=self.name,
                allowed=f"a delivery within {self.lateness.after:g} s",
                missing=[self.name],
            )
        age = self.due - self.delivered_tick
        if self.lateness.policy is Late.HOLD_LAST and 0 < self.lateness.max_age < age:
            raise errors.HeldTooLong(
                f"the inputs of {self.name!r} would be {age} ticks old at tick {self.due}",
                field="participants",
                given=age,
                allowed=f"up to {self.lateness.max_age} ticks",
                missing=[self.name],
            )

    def restart(self, tick: int, now: float) -> None:
        """The past has been replaced: the participant is due on its grid from ``tick`` on."""
        self.due, self.asked = self._on_grid(tick), None
        self.phase, self.answered, self.replaced = Phase.IDLE, False, False
        # Numbers start anew: a Step that waited was refused, and may be sent again under its number.
        self.request, self.request_tick, self.delivered_tick, self.since = 0, -1, tick, now
