"""The server's event loop: while clients answer quickly it polls for a short time before it blocks."""

from __future__ import annotations

import asyncio
import os
import selectors
import time
from typing import Final

from jounce_service.transport.security import ConfigError

#: Longest allowed time of polling [s]; a client that is silent for longer does not need a quick wake-up.
_MOST: Final = 0.1
#: Number of consecutive short waits [1] before polling starts. A paced tick has fewer of them before its long wait.
_SURE: Final = 8


class BusySelector(selectors.DefaultSelector):
    """Polls before it blocks while recent waits were short, which saves the time to wake the process up."""

    def __init__(self, seconds: float) -> None:
        """``seconds`` is the time of polling, and the length up to which a wait counts as short.

        A process with a single core does not poll.
        """
        super().__init__()
        self._seconds = seconds
        # Number of consecutive short waits so far.
        self._short = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Returns what is ready, after ``timeout`` [s] at the latest; None waits without limit."""
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
    """Number of cores that this thread may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def make_loop(busy_poll: float) -> asyncio.AbstractEventLoop:
    """Makes a loop that polls for up to ``busy_poll`` [s] before it sleeps; 0 is asyncio's own. Raises ConfigError."""
    if not 0.0 <= busy_poll <= _MOST:
        raise ConfigError(f"busy_poll = {busy_poll!r}: expected 0 to {_MOST:g} s")
    return asyncio.SelectorEventLoop(BusySelector(busy_poll)) if busy_poll else asyncio.new_event_loop()
