"""Turns of reads and Joins: a client that asks all the time must not keep the event loop from sessions."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

#: Time [s] between two reads of one connection in the long run, and reads [1] that it may have at once before.
SPACING: Final = 0.002
BURST: Final = 50
#: Length [bytes] from which a request counts as one more read.
LONG: Final = 16384


class _Connection:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        #: Loop's time [s] up to which its reads are used up.
        self.used = -math.inf


class Reads:
    """One read at a time per connection, each in its own turn of the event loop, and no more than so many a second."""

    def __init__(self) -> None:
        """No reads yet."""
        self._now: WeakValueDictionary[str, _Connection] = WeakValueDictionary()
        # Connections that have read too much are remembered until they have paid for it.
        self._late: set[_Connection] = set()

    @asynccontextmanager
    async def turn(self, peer: str, size: int = 0) -> AsyncIterator[None]:
        """A read of ``peer``, when it is its turn; ``size`` [bytes] is that of the request, where it may be long."""
        loop = asyncio.get_running_loop()
        one = self._now.setdefault(peer, _Connection())
        async with one.lock:
            one.used = max(one.used, loop.time() - BURST * SPACING) + SPACING * (1 + size // LONG)
            await asyncio.sleep(max(0.0, one.used - loop.time()))
            if one not in self._late:
                self._late.add(one)
                loop.call_later(BURST * SPACING, self._late.discard, one)
            yield
