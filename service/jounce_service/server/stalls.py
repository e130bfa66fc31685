"""The server's own stalls: time in which its process did not run does not count towards time-outs.

A stopped process (SIGSTOP, a frozen container, a virtual machine that moves) wakes up with every timer overdue and with
what came meanwhile still unread in its sockets. ``time`` stands still for the length of a stall and for a moment after
it, in which what has arrived is taken in; only then may a timer act. Leases, lateness and time-outs count by it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

#: Interval [s] at which the loop shows that it is alive, and how long after the last sign it counts as stalled.
BEAT: Final = 0.05
GAP: Final = 0.15
#: Time [s] after a stall in which what has arrived is taken in; gRPC's threads need some of it.
SETTLE: Final = 0.2
_log = logging.getLogger(__name__)


class Stalls:
    """Time [s] of the event loop without its stalls; without ``start`` it is the loop's time as it is."""

    def __init__(self, base: Callable[[], float]) -> None:
        """``base`` is the event loop's time."""
        self._base = base
        #: Stalls so far [1], and their length together [s].
        self.count = 0
        self.seconds = 0.0
        # What ``time`` is behind the base; below ``_floor`` it stands still.
        self._lost = 0.0
        self._floor = 0.0
        # When the loop was last seen alive; None while nobody looks. When it went on after the last stall.
        self._seen: float | None = None
        self._resumed = float("-inf")
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Looks from now on; on the running loop."""
        self._seen = self._base()
        self._beat()

    def stop(self) -> None:
        """Stops looking for stalls."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._seen = None

    def time(self) -> float:
        """Time [s]; finds a stall that has just ended."""
        now = self._base()
        if self._seen is not None:
            if now - self._seen > GAP:
                # It may have run until its next sign was due: time must go on even if it stalls again and again.
                self._stalled(now, self._seen + BEAT)
            self._seen = now
        return max(now - self._lost, self._floor)

    def base(self, when: float) -> float:
        """The base's time [s] at which ``time`` is ``when``, if nothing stalls."""
        return when + self._lost

    def call_later(self, seconds: float, call: Callable[[], object]) -> Alarm:
        """``call`` when ``time`` has gone on by so much."""
        return Alarm(self, self.time() + seconds, call)

    def _stalled(self, now: float, since: float) -> None:
        gap = now - since
        self._floor = max(since - self._lost, self._floor)
        rest = SETTLE if since - self._resumed >= SETTLE else 0.0
        self._lost += gap + rest
        self._resumed = now + rest
        self.count += 1
        self.seconds += gap
        _log.warning("the server did not run for %.3f s", gap, extra={"seconds": gap})

    def _beat(self) -> None:
        self.time()
        self._handle = asyncio.get_running_loop().call_later(BEAT, self._beat)


class Alarm:
    """Calls once when a time of ``Stalls`` has come; ``cancel`` before."""

    def __init__(self, stalls: Stalls, when: float, call: Callable[[], object]) -> None:
        """Set for ``when`` [s]."""
        self._stalls, self._when, self._call = stalls, when, call
        self._loop = asyncio.get_running_loop()
        self._set()

    def cancel(self) -> None:
        """Cancels the call."""
        self._handle.cancel()

    def _set(self) -> None:
        self._handle = self._loop.call_at(self._stalls.base(self._when), self._look)

    def _look(self) -> None:
        if self._stalls.time() < self._when:
            self._set()
        else:
            self._call()
