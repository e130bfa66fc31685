"""Limits the rate of reads and Joins per connection, so that one client cannot keep the event loop from sessions."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

#: Long-term average time [s] between two reads of one connection, and the number of reads [1] that may come at once.
SPACING: Final = 0.002
BURST: Final = 50
#: Length [bytes] from which a request counts as one more read.
LONG: Final = 16384


class _Connection:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        #: Time [s], on the event loop's clock, up to which the connection has used its share of reads.
        self.used = -math.inf


class Reads:
    """Lets each connection have one read at a time, each in its own turn of the event loop, at a limited rate."""

    def __init__(self) -> None:
        """Starts without any connection."""
        self._now: WeakValueDictionary[str, _Connection] = WeakValueDictionary()
        # Keeps a connection's account alive until its burst is allowed again.
        self._late: set[_Connection] = set()

    @asynccontextmanager
    async def turn(self, peer: str, size: int = 0) -> AsyncIterator[None]:
        """Waits until ``peer`` may read; ``size`` [bytes] is the length of a request that may be long."""
        loop = asyncio.get_running_loop()
        one = self._now.setdefault(peer, _Connection())
        async with one.lock:
            one.used = max(one.used, loop.time() - BURST * SPACING) + SPACING * (1 + size // LONG)
            await asyncio.sleep(max(0.0, one.used - loop.time()))
            if one not in self._late:
                self._late.add(one)
                loop.call_later(BURST * SPACING, self._late.discard, one)
            yield
