"""How long another process may take to answer, less the time in which this one did not run.

A process that was stopped (SIGSTOP, a frozen container, a virtual machine that moves) finds every timer overdue when it
goes on, and the answer unread in its socket. So time is counted by looking at the clock often; a look that comes far
too late has found a stall of this process, which counts as one interval, and what has arrived meanwhile is read first.
"""

from __future__ import annotations

import math
import time
from typing import Final

#: Interval [s] between two looks, and the age of a look [s] that is a stall.
INTERVAL: Final = 0.05
STALL: Final = 0.2


class Allowance:
    """Time [s] that is left of ``seconds``."""

    def __init__(self, seconds: float) -> None:
        """Counts from now on; infinite for ever."""
        self._left = seconds
        self._seen = time.monotonic()
        self._stalled = False

    def look(self) -> float:
        """Time [s] until the next look must be; 0 when nothing is left, infinity where no look is needed."""
        if self._left == math.inf:
            return math.inf
        now = time.monotonic()
        gap, self._seen = now - self._seen, now
        stalled, self._stalled = self._stalled, gap > STALL
        self._left -= INTERVAL if self._stalled else gap
        if self._stalled and not stalled:
            # One interval more, even for the last: a stall each time would be a process that has no time at all.
            self._left = max(self._left, INTERVAL)
        return max(0.0, min(self._left, INTERVAL))
