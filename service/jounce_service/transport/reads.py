"""Limits the rate of reads, Joins, new streams and refusals per origin, so that no client keeps the event loop busy."""

from __future__ import annotations

import asyncio
import math
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

#: Long-term average time [s] between two reads of one origin, and the number of reads [1] that may come at once.
SPACING: Final = 0.002
BURST: Final = 50
#: Length [bytes] from which a request or a reply counts as one more read.
LONG: Final = 16384
#: Number of reads [1] that a stream over which nobody joined counts as, beside its first turn.
VAIN: Final = 4
#: Number of origins [1] above which those that owe nothing are forgotten.
_MOST: Final = 256
_CREDENTIALS: Final = struct.Struct("iII")  # process, user, group: unix(7), SO_PEERCRED


class _Origin:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        #: Time [s], on the event loop's clock, up to which the origin has used its share of reads.
        self.used = -math.inf


class Reads:
    """Lets each origin have one read at a time, each in its own turn of the event loop, at a limited rate."""

    def __init__(self) -> None:
        """Starts without any origin."""
        self._origins: dict[str, _Origin] = {}
        self._most = _MOST

    @asynccontextmanager
    async def turn(self, origin: str, size: int = 0) -> AsyncIterator[None]:
        """Waits until ``origin`` may read; ``size`` [bytes] is the length of a message that may be long."""
        loop = asyncio.get_running_loop()
        if origin not in self._origins and len(self._origins) >= self._most:
            self._forget(loop.time())
        one = self._origins.setdefault(origin, _Origin())
        async with one.lock:
            one.used = max(one.used, loop.time() - BURST * SPACING) + SPACING * (1 + size // LONG)
            await asyncio.sleep(max(0.0, one.used - loop.time()))
            yield

    def charge(self, origin: str, reads: int) -> None:
        """Takes so many reads [1] off the share of an origin that has had its turn; it waits for them at the next."""
        if origin in self._origins:
            self._origins[origin].used += reads * SPACING

    def _forget(self, now: float) -> None:
        """Forgets whoever may have its whole burst again, which is the same as being new."""
        self._origins = {
            name: o for name, o in self._origins.items() if o.lock.locked() or o.used > now - BURST * SPACING
        }
        # Looking at them costs time, too: not again before there are twice as many.
        self._most = max(_MOST, 2 * len(self._origins))


def origin_of(peer: str) -> str:
    """Returns the origin of gRPC's name for a peer: its address without the port, so that a new connection is no news.

    All clients on one unix socket are one origin.
    """
    return peer.rpartition(":")[0] if peer.startswith("ipv") else "unix"


def origin_of_socket(connection: socket.socket, address: Any) -> str:
    """Returns the origin of a connection of the fast lane: its address without the port.

    On a unix socket it is the process at the other end, where the system tells it.
    """
    if connection.family != socket.AF_UNIX:
        return str(address[0]) if address else "gone"
    if not hasattr(socket, "SO_PEERCRED"):
        return "unix"
    process, _, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return f"process {process}"
