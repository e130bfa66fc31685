"""Wall-clock time of a session, and an alarm that is more exact than the timers of the event loop."""

from __future__ import annotations

import asyncio
import ctypes as ct
import math
import os
import sys
import time
from collections.abc import Callable
from typing import Final

#: Linux, <sys/timerfd.h> and <time.h>.
_CLOCK_MONOTONIC: Final = 1
_TFD_TIMER_ABSTIME: Final = 1
_FLAGS: Final = os.O_NONBLOCK | os.O_CLOEXEC if sys.platform == "linux" else 0


class SessionClock:
    """Monotonic time [s] that stands still while the session is paused: so do leases, timers and the pace."""

    def __init__(self, base: Callable[[], float] = time.monotonic) -> None:
        """``base`` is the event loop's time."""
        self._base = base
        self._offset = 0.0
        self._stopped: float | None = None

    def now(self) -> float:
        """Time [s]."""
        return self._base() - self._offset if self._stopped is None else self._stopped

    def stop(self) -> None:
        """Stops the time."""
        self._stopped = self.now()

    def go(self) -> None:
        """Lets the time go on from where it stopped."""
        if self._stopped is not None:
            self._offset = self._base() - self._stopped
            self._stopped = None

    def wall(self, when: float) -> float:
        """The event loop's time [s] of a session time, if nothing pauses."""
        return when + self._offset

    def spin(self, until: float) -> None:
        """Busy-waits for a session time that is near."""
        while self.now() < until:
            pass


class LoopAlarm:
    """Calls back at a time of the event loop, which is up to 1 ms late: its selector counts whole milliseconds."""

    def __init__(self, call: Callable[[], None]) -> None:
        """``call`` must look at the clock itself: it may come early when an earlier time was set before."""
        self._call = call
        self._when = math.inf
        self._handle: asyncio.TimerHandle | None = None

    def set(self, when: float) -> None:
        """Calls at the loop's time ``when`` [s], or before."""
        if when < self._when:
            self._when = when
            self._arm(when)

    def close(self) -> None:
        """Cancels the call."""
        self._when = -math.inf
        if self._handle is not None:
            self._handle.cancel()

    def _arm(self, when: float) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle = asyncio.get_running_loop().call_at(when, self._fire)

    def _fire(self) -> None:
        if self._when > -math.inf:
            self._when = math.inf
            self._call()


class _Timespec(ct.Structure):
    _fields_ = (("s", ct.c_long), ("ns", ct.c_long))


class _Itimerspec(ct.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class TimerAlarm(LoopAlarm):
    """The same by a kernel timer with an absolute deadline: late by the scheduler's tens of microseconds."""

    def __init__(self, call: Callable[[], None]) -> None:
        """Takes a file descriptor, until ``close``."""
        super().__init__(call)
        self._libc = ct.CDLL(None, use_errno=True)
        self._loop = asyncio.get_running_loop()
        self._spec = _Itimerspec()
        self._fd = self._libc.timerfd_create(_CLOCK_MONOTONIC, _FLAGS)
        if self._fd < 0:
            raise OSError(ct.get_errno(), "timerfd_create")
        self._loop.add_reader(self._fd, self._ready)

    def close(self) -> None:
        """Gives the file descriptor back."""
        super().close()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _arm(self, when: float) -> None:
        # 0 would disarm it.
        self._spec.value.s, self._spec.value.ns = divmod(max(1, round(when * 1e9)), 1_000_000_000)
        self._libc.timerfd_settime(self._fd, _TFD_TIMER_ABSTIME, ct.byref(self._spec), None)

    def _ready(self) -> None:
        try:
            os.read(self._fd, 8)
        except BlockingIOError:
            # Armed anew since it became readable.
            return
        self._fire()


def make_alarm(call: Callable[[], None]) -> LoopAlarm:
    """The best alarm for the running loop: a kernel timer where its time is CLOCK_MONOTONIC."""
    loop = asyncio.get_running_loop()
    if sys.platform == "linux" and abs(loop.time() - time.clock_gettime(_CLOCK_MONOTONIC)) < 1.0:
        return TimerAlarm(call)
    return LoopAlarm(call)
