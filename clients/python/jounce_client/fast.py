"""The fast lane: a participant's stream over a plain blocking socket, without gRPC and threads."""

from __future__ import annotations

import socket
import struct
from typing import Final

from google.protobuf.message import DecodeError

from jounce_client.access import Tls
from jounce_client.errors import JounceError
from jounce_proto import keepalive as keep_alive
from jounce_proto import packed

_LENGTH: Final = struct.Struct("<I")
#: Longest reply that is accepted [bytes].
_MOST: Final = 64 * 2**20
#: A long timeout [s] that still fits into poll's milliseconds.
_FOR_EVER: Final = 20.0 * 86400.0


class FastLine:
    """One connection, with length-prefixed messages. Raises JounceError, UNAVAILABLE for a lost connection."""

    def __init__(self, address: str, timeout: float = 10.0, tls: Tls | None = None, keepalive: float = 15.0) -> None:
        """Connects to ``unix:/path`` or ``host:port``, also with the ``fast:`` of the server's ready file before it.

        ``tls`` is for ``host:port``; a unix socket is plain. ``keepalive`` [s] is that of ``Client.connect``.
        """
        address = address.removeprefix("fast:")
        try:
            if address.startswith("unix:"):
                self._socket = socket.socket(socket.AF_UNIX)
                self._socket.settimeout(timeout)
                self._socket.connect(address.removeprefix("unix:"))
            else:
                host, _, port = address.rpartition(":")
                if not port.isdigit():
                    raise JounceError("BAD_FIELD", "transport", address, "unix:/path or host:port")
                self._socket = socket.create_connection((host.strip("[]"), int(port)), timeout)
                if tls is not None:
                    name = tls.server_name or host.strip("[]")
                    self._socket = tls.context().wrap_socket(self._socket, server_hostname=name)
                # A step must not wait for TCP's acknowledgement of the previous one.
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                keep_alive.apply(self._socket, keepalive)
        except OSError as error:
            raise JounceError("UNAVAILABLE", "transport", address, message=str(error)) from None
        # Waits are ended by the server, not the client. With a timeout Python waits in poll. Without one it waits in
        # recv, which on a unix socket is also woken up when the server reads what was sent.
        self._socket.settimeout(_FOR_EVER)
        self._buffer = b""

    def send(self, request: packed.Request) -> None:
        """Sends one request."""
        message = packed.encode(request)
        try:
            self._socket.sendall(_LENGTH.pack(len(message)) + message)
        except OSError as error:
            # The server may have sent the reason before it closed the connection.
            if not self._buffer and not self._receive():
                raise JounceError("UNAVAILABLE", message=str(error)) from None

    def read(self) -> packed.Reply:
        """Returns the next reply or event."""
        while (end := self._whole()) is None:
            if not self._receive():
                raise JounceError("STREAM_ENDED", message="the server has ended the stream")
        message, self._buffer = self._buffer[_LENGTH.size:end], self._buffer[end:]
        try:
            return packed.reply(message)
        except DecodeError as error:
            raise JounceError("UNEXPECTED_REPLY", message=f"not a reply: {error}") from None

    def end(self) -> None:
        """Ends the connection; the server detaches the participant if it has not left."""
        self._socket.close()

    def _whole(self) -> int | None:
        """End of the first message in the buffer; None if it is not complete."""
        if len(self._buffer) < _LENGTH.size:
            return None
        length: int = _LENGTH.unpack_from(self._buffer)[0]
        if length > _MOST:
            raise JounceError("UNEXPECTED_REPLY", "length", str(length), f"up to {_MOST}",
                              message="the peer is not the fast lane of a jounce server")
        return _LENGTH.size + length if len(self._buffer) >= _LENGTH.size + length else None

    def _receive(self) -> bool:
        try:
            data = self._socket.recv(1 << 16)
        except OSError as error:
            raise JounceError("UNAVAILABLE", message=str(error)) from None
        self._buffer += data
        return bool(data)
