"""Accepts connections one by one, and lets those of one origin wait for each other.

asyncio's own server accepts all connections that wait in one turn of the event loop, in which no session moves.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections import Counter
from collections.abc import Callable
from typing import Final

from jounce_service.transport.reads import Reads, origin_of_socket

#: Errors of accept() that say nothing of the listener: the peer has gone, or nobody waits.
_PASSING: Final = (BlockingIOError, InterruptedError, ConnectionAbortedError)
#: Errors that mean that the process or the system has no room, and the time [s] after which the listener tries again.
_NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE: Final = 1.0
#: Length of the listen queue [1]: after a burst, dropped SYN packets would make clients wait for a retransmission.
_BACKLOG: Final = 1024
#: Connections of one origin [1] that may wait for its turn; more are closed.
MOST: Final = 128


class Listener:
    """Accepts one connection in a turn of the loop. Each counts as a read of its origin, and waits for its turn."""

    def __init__(self, bound: asyncio.Server, made: Callable[[], asyncio.Protocol], reads: Reads) -> None:
        """Listens in the place of a server that is bound and has not begun.

        ``made`` makes each connection's protocol, ``reads`` limits the rate of an origin.
        """
        self._loop, self._made, self._reads = asyncio.get_running_loop(), made, reads
        self._sockets = [one.dup() for one in bound.sockets]
        bound.close()
        #: Address of the first socket.
        self.address = self._sockets[0].getsockname()
        self._timer: asyncio.TimerHandle | None = None
        # Connections that wait for their turn: how many of each origin, and their tasks.
        self._waiting: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        for one in self._sockets:
            one.setblocking(False)
            one.listen(_BACKLOG)
        self._listen()

    def close(self) -> None:
        """Ends, also for connections that wait for their turn; those that had it stay open."""
        self._pause()
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        for one in self._sockets:
            one.close()
        self._sockets = []

    def _listen(self) -> None:
        for one in self._sockets:
            self._loop.add_reader(one.fileno(), self._accept, one)

    def _pause(self) -> None:
        for one in self._sockets:
            self._loop.remove_reader(one.fileno())

    def _accept(self, listening: socket.socket) -> None:
        try:
            connection, address = listening.accept()
        except _PASSING:
            return
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            self._loop.call_exception_handler({"message": "no room for another connection", "exception": error})
            self._pause()
            self._timer = self._loop.call_later(_PAUSE, self._listen)
            return
        origin = origin_of_socket(connection, address)
        if self._waiting[origin] >= MOST:
            connection.close()
            return
        connection.setblocking(False)
        self._waiting[origin] += 1
        task = self._loop.create_task(self._connect(connection, origin))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, connection: socket.socket, origin: str) -> None:
        try:
            async with self._reads.turn(origin):
                pass
        except asyncio.CancelledError:
            connection.close()
            raise
        finally:
            self._waiting -= Counter([origin])
        with contextlib.suppress(OSError):  # The peer has gone.
            await self._loop.connect_accepted_socket(self._made, connection)
