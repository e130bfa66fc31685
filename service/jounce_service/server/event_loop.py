"""The server's event loop: while clients answer quickly it polls for a short time before it blocks."""

from __future__ import annotations

import asyncio
import os
import selectors
import time
from typing import Final

from jounce_service.transport.security import ConfigError

#: Longest time [s] of polling: who stays away for longer is not in a hurry.
_MOST: Final = 0.1
#: Waits in a row that must have been short. A paced tick has fewer before its long one.
_SURE: Final = 8


class BusySelector(selectors.DefaultSelector):
    """Polls before it blocks, as long as recent waits were short: this saves the wake-up of the process."""

    def __init__(self, seconds: float) -> None:
        """``seconds`` [s] of polling, where the last waits were shorter than that and there is another core."""
        super().__init__()
        self._seconds = seconds
        # Waits in a row that were.
        self._short = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready, at ``timeout`` [s] at the latest; None = whenever."""
        if timeout is not None and timeout <= 0.0:
            return super().select(timeout)
        begin = time.monotonic()
        ready = self._poll(begin, timeout) if self._short >= _SURE and _cores() > 1 else []
        if not ready:
            ready = super().select(None if timeout is None else max(0.0, begin + timeout - time.monotonic()))
        self._short = self._short + 1 if time.monotonic() - begin < self._seconds else 0
        return ready

    def _poll(self, begin: float, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        end = begin + (self._seconds if timeout is None else min(timeout, self._seconds))
        while not (ready := super().select(0)) and time.monotonic() < end:
            pass
        return ready


def _cores() -> int:
    """Cores that this thread may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def make_loop(busy_poll: float) -> asyncio.AbstractEventLoop:
    """A loop that polls for up to ``busy_poll`` [s] before it sleeps; 0 = the usual one. Raises ConfigError."""
    if not 0.0 <= busy_poll <= _MOST:
        raise ConfigError(f"busy_poll = {busy_poll!r}: expected 0 to {_MOST:g} s")
    return asyncio.SelectorEventLoop(BusySelector(busy_poll)) if busy_poll else asyncio.new_event_loop()
