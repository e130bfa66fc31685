"""Timeouts for the answers of another process, which do not count the time in which this process did not run.

A process that was stopped (SIGSTOP, a frozen container, a virtual machine that moves) finds every timer overdue when it
resumes, while the answer waits unread in its socket. The clock is therefore read at short intervals. If a reading comes
far too late, this process has stalled: the gap counts as one interval only, and arrived data is read before the next.
"""

from __future__ import annotations

import math
import time
from typing import Final

#: Time between two readings of the clock [s], and the time between two readings that counts as a stall [s].
INTERVAL: Final = 0.05
STALL: Final = 0.2


class Allowance:
    """Counts down a time limit."""

    def __init__(self, seconds: float) -> None:
        """Starts with ``seconds`` [s]; infinity is no limit."""
        self._left = seconds
        self._seen = time.monotonic()
        self._stalled = False

    def look(self) -> float:
        """Reads the clock; returns the time [s] until it must be read again, 0 at the limit, infinity without one."""
        if self._left == math.inf:
            return math.inf
        now = time.monotonic()
        gap, self._seen = now - self._seen, now
        stalled, self._stalled = self._stalled, gap > STALL
        self._left -= INTERVAL if self._stalled else gap
        if self._stalled and not stalled:
            # After a stall at least one interval is left to read what has arrived. This holds only for the first of
            # consecutive stalls, so that a process that stalls all the time still reaches its limit.
            self._left = max(self._left, INTERVAL)
        return max(0.0, min(self._left, INTERVAL))
