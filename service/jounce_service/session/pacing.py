"""Computes when a tick may be released, and handles late ones. Pure logic: the time is an argument."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from jounce_proto import jounce_pb2 as pb
from jounce_service.transport import errors

#: Range of the factor [1].
_FACTORS: Final = (1e-3, 1e3)
#: Margin [s] before a release, in addition to the model's own time, for late wake-ups.
_MARGIN: Final = 0.0003
#: Longest move of a paced session [s of wall-clock time], so that a pause and viewers do not wait for longer.
_STRIDE: Final = 0.01


class OverrunPolicy(IntEnum):
    """What happens when a tick is late; the numbers are those of the wire."""

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
    """Tick k is due at base + k x tick / factor. An overrun is an increase of the delay."""

    def __init__(self, pacing: Pacing, tick_seconds: float) -> None:
        """The first move sets the time base."""
        self.pacing = pacing
        self.overruns = 0
        self.late = 0
        self.worst = 0.0
        self.behind = 0.0
        self._slot = tick_seconds / pacing.factor
        self._base: float | None = None
        # Tick and time at which the present move began, and the time that a tick has taken lately [s].
        self._from = 0, 0.0
        self._work = 0.0

    @property
    def stride(self) -> int:
        """Longest move [ticks]."""
        return max(1, math.floor(_STRIDE / self._slot))

    def duration(self, ticks: int) -> float:
        """Wall-clock time [s] of ``ticks`` at this pace."""
        return ticks * self._slot

    def start(self, tick: int, now: float) -> None:
        """Begins a move from ``tick``; sets the time base if there is none."""
        self._from = tick, now
        if self._base is None:
            self._base = now - tick * self._slot
            self.behind = 0.0

    def notice(self, ticks: int) -> float | None:
        """Time [s] after a release at which the move to the next one, ``ticks`` later, must begin to be in time.

        None before the run has begun, when nothing can be late.
        """
        if self._base is None:
            return None
        interval = ticks * self._slot
        return max(interval - 2.0 * ticks * self._work - _MARGIN, 0.5 * interval)

    def restart(self, tick_seconds: float) -> None:
        """Lets the next move set a new time base; the tick length may have changed."""
        self._slot = tick_seconds / self.pacing.factor
        self._base = None

    def release(self, tick: int, now: float) -> float:
        """The earliest time [s] to release ``tick``, which is ready ``now``. Raises Overrun if the policy is FAIL."""
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
                    requested=f"{behind!r} s",
                    allowed="0 s",
                    tick=tick,
                )
        if self.pacing.policy is OverrunPolicy.SLIP:
            self._base += behind
            self.behind = 0.0
        return now

    def status(self) -> pb.PacingStatus:
        """The pacing part of the GetSession reply."""
        return pb.PacingStatus(
            overruns=self.overruns, worst_overrun=self.worst, late_releases=self.late, behind=self.behind
        )


def pacing_of(message: pb.Pacing) -> Pacing | None:
    """The requested pacing, None for a free session; raises BadField."""
    if message.mode not in pb.PacingMode.values():
        raise errors.BadField("no such mode", field="pacing.mode", requested=message.mode, allowed="0 to 2")
    if message.overrun not in pb.OverrunPolicy.values():
        raise errors.BadField("no such policy", field="pacing.overrun", requested=message.overrun, allowed="0 to 3")
    factor = message.factor or 1.0
    low, high = _FACTORS
    if not low <= factor <= high:
        raise errors.BadField(
            f"factor {factor!r}", field="pacing.factor", requested=message.factor, allowed=f"{low!r} to {high!r}"
        )
    if message.mode != pb.PACING_MODE_REALTIME:
        return None
    return Pacing(factor, OverrunPolicy(message.overrun or OverrunPolicy.COUNT))
