"""TLS for a listener that limits its connections.

asyncio's own TLS reports a connection only after the handshake, so handshakes under way could not be counted.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable


class Handshakes:
    """The TLS handshakes of one listener."""

    def __init__(
        self, context: ssl.SSLContext, timeout: float, room: Callable[[], bool], made: Callable[[], asyncio.Protocol]
    ) -> None:
        """``timeout`` [s] limits a handshake, ``room`` says whether one may begin, ``made`` makes what follows it."""
        self.context, self.timeout, self.room, self.made = context, timeout, room, made
        self.under_way: set[Gate] = set()


class Gate(asyncio.Protocol):
    """The protocol of one connection during its TLS handshake."""

    def __init__(self, handshakes: Handshakes) -> None:
        """``handshakes`` are those of the listener."""
        self._all = handshakes
        # Decrypted bytes that arrive before ``start_tls`` returns.
        self._early = bytearray()
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Starts the handshake, or aborts if too many connections are open."""
        assert isinstance(transport, asyncio.Transport)
        if not self._all.room():
            transport.abort()
            return
        transport.pause_reading()
        self._all.under_way.add(self)
        self._task = asyncio.get_running_loop().create_task(self._shake(transport))

    async def _shake(self, transport: asyncio.Transport) -> None:
        try:
            secure = await asyncio.get_running_loop().start_tls(
                transport, self, self._all.context, server_side=True, ssl_handshake_timeout=self._all.timeout
            )
        except OSError:
            return  # The peer has gone, was too slow, or has no valid certificate.
        finally:
            self._all.under_way.discard(self)
        if secure is None:
            return
        made = self._all.made()
        secure.set_protocol(made)
        made.connection_made(secure)
        if self._early:
            made.data_received(bytes(self._early))
        if self._ended:
            made.eof_received()

    def data_received(self, data: bytes) -> None:
        """Keeps bytes that arrive before the handshake's end is known here."""
        self._early += data

    def eof_received(self) -> bool:
        """Notes that the peer has closed its side; the protocol made afterwards is told."""
        self._ended = True
        return True
