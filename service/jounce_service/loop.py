"""The server's event loop: one that, where it is told to, looks for more work before it sleeps."""

from __future__ import annotations

import asyncio
import selectors
import time
from typing import Final

from jounce_service.security import ConfigError

#: Longest time [s] of polling: who stays away for longer is not in a hurry.
_MOST: Final = 0.1


class BusySelector(selectors.DefaultSelector):
    """Polls for a while before it blocks: who answers within that time finds the process awake."""

    def __init__(self, seconds: float) -> None:
        """``seconds`` [s] after each event."""
        super().__init__()
        self._seconds = seconds

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready, at ``timeout`` [s] at the latest; None = whenever."""
        begin = time.monotonic()
        span = self._seconds if timeout is None else min(timeout, self._seconds)
        while not (ready := super().select(0)):
            spent = time.monotonic() - begin
            if spent >= span:
                left = None if timeout is None else timeout - spent
                return ready if left is not None and left <= 0.0 else super().select(left)
        return ready


def make_loop(busy_poll: float) -> asyncio.AbstractEventLoop:
    """A loop that polls for ``busy_poll`` [s] before it sleeps; 0 = the usual one. Raises ConfigError."""
    if not 0.0 <= busy_poll <= _MOST:
        raise ConfigError(f"busy_poll = {busy_poll!r}: allowed are 0 to {_MOST:g} s")
    return asyncio.SelectorEventLoop(BusySelector(busy_poll)) if busy_poll else asyncio.new_event_loop()
