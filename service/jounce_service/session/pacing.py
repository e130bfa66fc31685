"""When a tick may be released, and what a late one costs. Pure: the time is an argument."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from jounce_proto import jounce_pb2 as pb
from jounce_service.transport import errors

#: Factors that are of any use [1].
_FACTORS: Final = (1e-3, 1e3)
#: Time [s] before a release, beside the model's own, in which nobody is waited for any more: wake-ups are late by it.
_MARGIN: Final = 0.0003
#: Longest move of a paced session [s of wall-clock time]: a pause and viewers need not wait for longer.
_STRIDE: Final = 0.01


class OverrunPolicy(IntEnum):
    """What happens when a tick is late; numbers as on the wire."""

    COUNT = 1
    SLIP = 2
    FAIL = 3


@dataclass(frozen=True)
class Pacing:
    """Real-time pacing."""

    #: Simulated seconds per wall-clock second [1].
    factor: float = 1.0
    #: What happens when a tick is late.
    policy: OverrunPolicy = OverrunPolicy.COUNT


class Pacer:
    """Tick k is due at base + k x tick / factor. An overrun is a growth of the delay behind that."""

    def __init__(self, pacing: Pacing, tick_seconds: float) -> None:
        """The time base is set by the first move."""
        self.pacing = pacing
        self.overruns = 0
        self.late = 0
        self.worst = 0.0
        self.behind = 0.0
        self._slot = tick_seconds / pacing.factor
        self._base: float | None = None
        # Where and when the move under way began, and what a tick took lately [s].
        self._from = 0, 0.0
        self._work = 0.0

    @property
    def stride(self) -> int:
        """Longest move [ticks]."""
        return max(1, math.floor(_STRIDE / self._slot))

    def duration(self, ticks: int) -> float:
        """Wall-clock time [s] that so many ticks take."""
        return ticks * self._slot

    def start(self, tick: int, now: float) -> None:
        """A move from ``tick`` begins; sets the time base where there is none."""
        self._from = tick, now
        if self._base is None:
            self._base = now - tick * self._slot
            self.behind = 0.0

    def notice(self, ticks: int) -> float | None:
        """Time [s] from a release to when the move to the next one, ``ticks`` later, must begin to be in time.

        None before the run has begun: nothing is delayed then.
        """
        if self._base is None:
            return None
        interval = ticks * self._slot
        return max(interval - 2.0 * ticks * self._work - _MARGIN, 0.5 * interval)

    def restart(self, tick_seconds: float) -> None:
        """The next move sets a new time base; the tick length may have changed."""
        self._slot = tick_seconds / self.pacing.factor
        self._base = None

    def release(self, tick: int, now: float) -> float:
        """The time [s] not before which ``tick``, ready ``now``, is released. Raises Overrun where it is to fail."""
        if self._base is None:
            return now
        begin, began = self._from
        if tick > begin:
            self._work = max((now - began) / (tick - begin), 0.95 * self._work)
        when = self._base + tick * self._slot
        behind = now - when
        if behind <= 0.0:
            self.behind = 0.0
            return when
        self.late += 1
        growth = behind - self.behind
        self.behind = behind
        if growth > 0.0:
            self.overruns += 1
            self.worst = max(self.worst, growth)
            if self.pacing.policy is OverrunPolicy.FAIL:
                raise errors.Overrun(
                    f"tick {tick} is {behind * 1e3:.3f} ms late",
                    field="pacing",
                    given=f"{behind!r} s",
                    allowed="0 s",
                    tick=tick,
                )
        if self.pacing.policy is OverrunPolicy.SLIP:
            self._base += behind
            self.behind = 0.0
        return now

    def status(self) -> pb.PacingStatus:
        """How well it keeps time."""
        return pb.PacingStatus(
            overruns=self.overruns, worst_overrun=self.worst, late_releases=self.late, behind=self.behind
        )


def pacing_of(message: pb.Pacing) -> Pacing | None:
    """The pacing asked for, None for a free session; raises BadField."""
    if message.mode not in pb.PacingMode.values():
        raise errors.BadField("no such mode", field="pacing.mode", given=message.mode, allowed="0 to 2")
    if message.overrun not in pb.OverrunPolicy.values():
        raise errors.BadField("no such policy", field="pacing.overrun", given=message.overrun, allowed="0 to 3")
    factor = message.factor or 1.0
    low, high = _FACTORS
    if not low <= factor <= high:
        raise errors.BadField(
            f"factor {factor!r}", field="pacing.factor", given=message.factor, allowed=f"{low!r} to {high!r}"
        )
    if message.mode != pb.PACING_MODE_REALTIME:
        return None
    return Pacing(factor, OverrunPolicy(message.overrun or OverrunPolicy.COUNT))
