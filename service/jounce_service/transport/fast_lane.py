"""The fast lane: the Lockstep stream over a plain socket, for 1 kHz and more.

Each message is its length in four bytes, little-endian, followed by the same LockstepRequest or LockstepReply as on
gRPC. One connection is one stream; ``stream.py`` implements the stream for both transports. Bytes that are not a
request end their own connection: the server sends a last error reply, counts the reason, and logs each reason at most
once a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import ssl
import struct
import time
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Final

import grpc
from google.protobuf.message import DecodeError

from jounce_proto import jounce_pb2 as pb
from jounce_proto import keepalive, packed
from jounce_service.server.config import ServerConfig
from jounce_service.session.manager import SessionManager
from jounce_service.transport import errors
from jounce_service.transport.listener import Listener
from jounce_service.transport.reads import Reads, origin_of_socket
from jounce_service.transport.security import tls_context
from jounce_service.transport.stream import Stream
from jounce_service.transport.tls_gate import Gate, Handshakes

_LENGTH: Final = struct.Struct("<I")
_log = logging.getLogger(__name__)


class Closed(StrEnum):
    """Reason for which the server ends a connection."""

    TOO_LONG = "a message is longer than max_request_bytes"
    NOT_A_REQUEST = "the bytes are not a LockstepRequest"
    CUT_SHORT = "the connection ended within a message"
    TOO_MUCH_AHEAD = "more than max_request_bytes of requests wait"
    NOT_JOINED = "no participant joined within fast_join_timeout"
    TOO_MANY = "max_fast_connections are open"


class FastLane:
    """The fast lane's listeners and connections."""

    def __init__(self, manager: SessionManager, config: ServerConfig) -> None:
        """Binds nothing; ``start`` does."""
        self.manager = manager
        self.config = config
        #: Addresses bound by ``start``, for clients: ``host:port`` and ``unix:path``.
        self.addresses: tuple[str, ...] = ()
        #: Connections ended by the server, by reason.
        self.closed: Counter[Closed] = Counter()
        self.connections: set[Connection] = set()
        #: Limits the rate of streams and Joins per origin.
        self.reads = Reads()
        #: Monotonic time [s] until which a reason is not logged again.
        self._silent: dict[Closed, float] = {}
        self._listeners: list[Listener] = []
        self._socket: tuple[Path, int] | None = None

    async def start(self) -> None:
        """Listens at the configured addresses; raises OSError with nothing bound."""
        loop, config, bound = asyncio.get_running_loop(), self.config, []
        try:
            if config.fast_address:
                host, _, port = config.fast_address.rpartition(":")
                tls = tls_context(config)
                # An empty host is every interface, as on gRPC.
                made = self._plain if tls is None else self._encrypted(tls)
                server = await loop.create_server(made, host.strip("[]") or None, int(port), start_serving=False)
                self._listeners.append(Listener(server, made, self.reads))
                bound.append(f"{host}:{self._listeners[0].address[1]}")
            if config.fast_socket:
                path = Path(config.fast_socket)
                check_socket(path)
                server = await loop.create_unix_server(self._plain, path, start_serving=False)
                self._listeners.append(Listener(server, self._plain, self.reads))
                self._socket = path, path.stat().st_ino
                bound.append(f"unix:{path}")
        except OSError:
            self._close_listeners()
            raise
        self.addresses = tuple(bound)

    def _plain(self) -> asyncio.Protocol:
        return Connection(self)

    def _encrypted(self, context: ssl.SSLContext) -> Callable[[], asyncio.Protocol]:
        def room() -> bool:
            return len(self.connections) + len(handshakes.under_way) < self.config.max_fast_connections

        handshakes = Handshakes(context, self.config.message_timeout, room, self._plain)
        return lambda: Gate(handshakes)

    async def stop(self, grace: float) -> None:
        """Closes the listeners, waits ``grace`` [s] for open connections, and cancels those that are left."""
        self._close_listeners()
        tasks = {c.task for c in self.connections}
        if tasks:
            _, left = await asyncio.wait(tasks, timeout=grace)
            for task in left:
                task.cancel()
            await asyncio.wait(tasks)

    def count(self, reason: Closed, requested: str) -> None:
        """Counts a connection that the server ends; logs each reason at most once a second."""
        self.closed[reason] += 1
        now = time.monotonic()
        if now >= self._silent.get(reason, now):
            self._silent[reason] = now + 1.0
            facts = {"so_far": self.closed[reason]}
            _log.warning("fast lane: connection ended, %s: %s (%s)", reason.name, reason, requested, extra=facts)

    def _close_listeners(self) -> None:
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()
        if self._socket is not None:
            path, node = self._socket
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_ino == node:
                    path.unlink()
            self._socket = None


class Connection(asyncio.Protocol):
    """One connection. It gives its Stream the ``read`` and ``write`` of gRPC's ServicerContext."""

    task: asyncio.Task[None]
    _transport: asyncio.Transport

    def __init__(self, lane: FastLane) -> None:
        """``connection_made`` starts the stream."""
        self._lane = lane
        self._limit = lane.config.max_request_bytes
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()
        self._ended = False
        # Whether the stream waits in ``read``, with no request in work.
        self._idle = False
        # Pending while the stream waits for bytes to arrive, or to be taken by the peer.
        self._reading: asyncio.Future[None] | None = None
        self._writing: asyncio.Future[None] | None = None
        # A waiting Step that ``data_received`` began, and the same after the stream's task has taken it over.
        self._step: asyncio.Future[packed.Reply] | None = None
        self._begun: asyncio.Future[packed.Reply] | None = None

    # ------------------------------------------------------------ what the stream calls

    async def read(self) -> packed.Request:
        """The next request, or EOF."""
        self._idle = True
        if self._buffer:
            # A client that sends many requests ahead must not block the event loop.
            await asyncio.sleep(0)
        while (message := self._take()) is None:
            if self._ended:
                if self._buffer:
                    self._lane.count(Closed.CUT_SHORT, f"after {len(self._buffer)} bytes")
                return grpc.aio.EOF
            self._reading = self._loop.create_future()
            await self._reading
            if self._begun is not None:
                begun, self._begun, self._idle = self._begun, None, False
                await self._stream.finish(begun)
                self._idle = True
        self._idle = False
        if self._ended:
            self._loop.call_soon(self._give_up)
        try:
            return packed.request(message)
        except DecodeError:
            return self._refuse(Closed.NOT_A_REQUEST, message[:16].hex(" "))

    async def write(self, reply: packed.Reply) -> None:
        """Sends a reply; waits while the transport's write buffer is full."""
        self._send(reply)
        if self._writing is not None:
            await asyncio.shield(self._writing)

    # ------------------------------------------------------------ what the transport calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Starts the stream, or refuses the connection if too many are open."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if len(self._lane.connections) >= self._lane.config.max_fast_connections:
            self._refuse(Closed.TOO_MANY, str(self._lane.config.max_fast_connections))
            transport.close()
            return
        connection = transport.get_extra_info("socket")
        keepalive.apply(connection, self._lane.config.keepalive)
        origin = origin_of_socket(connection, transport.get_extra_info("peername"))
        self._stream = Stream(self._lane.manager, self, self._lane.reads, origin)
        self._lane.connections.add(self)
        self._timer = self._lane.manager.stalls.call_later(self._lane.config.fast_join_timeout, self._expire)
        self.task = self._loop.create_task(self._stream.run())
        self.task.add_done_callback(self._done)

    def data_received(self, data: bytes) -> None:
        """Starts a single Step at once, or buffers the bytes for ``read``."""
        if self._begun_at_once(data):
            return
        self._buffer += data
        if self._step is None and self._reading is not None and not self._reading.done():
            self._reading.set_result(None)
            return
        self._hand_over()
        if len(self._buffer) > self._limit + _LENGTH.size:
            self._refuse(Closed.TOO_MUCH_AHEAD, f"{len(self._buffer)} bytes")
            self.task.cancel()

    def eof_received(self) -> bool:
        """The peer sends no more. Its requests are still answered, but a Step no longer waits for others."""
        self._end()
        # TLS has no half-close.
        return self._transport.get_extra_info("sslcontext") is None

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the stream: the connection has gone."""
        self.resume_writing()
        if self in self._lane.connections:
            self._buffer.clear()
            self._end()

    def pause_writing(self) -> None:
        """The transport's write buffer is full: ``write`` waits from now on."""
        self._writing = self._loop.create_future()

    def resume_writing(self) -> None:
        """The transport's write buffer has room again."""
        if self._writing is not None:
            self._writing.set_result(None)
            self._writing = None

    # ------------------------------------------------------------ inside

    def _begun_at_once(self, data: bytes) -> bool:
        """Starts a Step without a turn of the event loop; returns False if that is not possible.

        ``data`` must be exactly one Step and the stream must be waiting in ``read``. A Step that waits for nobody is
        answered here; any other is answered when the clock has moved.
        """
        size = len(data) - _LENGTH.size
        if size < 0 or _LENGTH.unpack_from(data)[0] != size or size > self._limit:
            return False
        if self._buffer or self._step is not None or self._reading is None or self._reading.done():
            return False
        if self._writing is not None or not self._stream.clear:
            return False
        try:
            request = packed.request(data[_LENGTH.size :])
        except DecodeError:
            return False
        if not isinstance(request, packed.LockstepRequest):
            return False
        begun = self._stream.begin(request, self._take_reply)
        if isinstance(begun, asyncio.Future):
            self._step = begun
        else:
            self._send(begun)
        return True

    def _take_reply(self, reply: packed.Reply | None) -> bool:
        """Sends a Step's State at once; returns False if the stream's task must send it, after queued events."""
        if self._step is None:
            return False
        if reply is None or self._writing is not None or not self._stream.clear:
            self._hand_over()
            return False
        self._step = None
        self._send(reply)
        return True

    def _hand_over(self) -> None:
        """Lets the stream's task wait for the Step's reply."""
        if self._reading is not None and not self._reading.done():
            self._begun, self._step = self._step, None
            self._reading.set_result(None)

    def _take(self) -> bytes | None:
        """Removes the next whole message from the buffer and returns it; None if there is none."""
        if len(self._buffer) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._buffer)
        if length > self._limit:
            self._refuse(Closed.TOO_LONG, f"{length} bytes")
            return None
        end = _LENGTH.size + length
        if len(self._buffer) < end:
            return None
        message = bytes(self._buffer[_LENGTH.size : end])
        del self._buffer[:end]
        return message

    def _end(self) -> None:
        self._ended = True
        self._hand_over()
        self._loop.call_soon(self._give_up)

    def _give_up(self) -> None:
        """Cancels a request that still waits for other participants, since its sender has gone."""
        if not self._idle:
            self.task.cancel()

    def _refuse(self, reason: Closed, requested: str) -> object:
        """Sends an error with the reason and ends the stream."""
        self._lane.count(reason, requested)
        self._buffer.clear()
        self._ended = True
        error = errors.BadField(
            f"{reason}; the connection ends",
            field="connection",
            requested=requested,
            allowed=f"whole messages of up to {self._limit} bytes, Join first",
        )
        self._send(pb.LockstepReply(error=errors.error_info(error)))
        return grpc.aio.EOF

    def _send(self, reply: packed.Reply) -> None:
        message = packed.encode(reply)
        self._transport.write(_LENGTH.pack(len(message)) + message)

    def _expire(self) -> None:
        if not self._stream.joined:
            self._refuse(Closed.NOT_JOINED, f"{self._lane.config.fast_join_timeout:g} s")
            self.task.cancel()

    def _done(self, task: asyncio.Task[None]) -> None:
        """Closes the transport after the stream's end; what was written is still sent if the peer takes it in time."""
        self._lane.connections.discard(self)
        self._timer.cancel()
        for left in (self._step, self._begun):
            if left is not None:
                left.cancel()
        self._transport.close()
        if self._transport.get_write_buffer_size():
            self._loop.call_later(self._lane.config.tell_timeout, self._transport.abort)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._loop.call_exception_handler({"message": "fast lane: a stream failed", "exception": error})


def check_socket(path: Path) -> None:
    """Raises OSError if a server listens at ``path``, or if its folder does not exist.

    asyncio and gRPC would silently replace a socket there, and gRPC prints its own lines if there is no folder.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"unix socket {str(path)!r}: expected a path in a folder that exists")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(os.fspath(path))
        except OSError:
            return
    raise FileExistsError(f"another server listens at {path}")
