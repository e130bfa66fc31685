"""TLS for a listener that counts connections. asyncio's own TLS reports a connection only after its handshake."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable


class Handshakes:
    """Those of one listener; ``room`` says whether one more may begin, ``made`` makes what it becomes."""

    def __init__(
        self, context: ssl.SSLContext, patience: float, room: Callable[[], bool], made: Callable[[], asyncio.Protocol]
    ) -> None:
        """``patience`` [s] is the longest time of a handshake."""
        self.context, self.patience, self.room, self.made = context, patience, room, made
        self.under_way: set[Gate] = set()


class Gate(asyncio.Protocol):
    """One connection, until it is encrypted."""

    def __init__(self, handshakes: Handshakes) -> None:
        """Not yet connected."""
        self._all = handshakes
        # What comes with the last of the handshake, before its end is known here.
        self._early = bytearray()
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins, if there is room."""
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
                transport, self, self._all.context, server_side=True, ssl_handshake_timeout=self._all.patience
            )
        except OSError:
            return  # gone, too slow, or without a good certificate
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
        """The first bytes of the handshake."""
        self._early += data

    def eof_received(self) -> bool:
        """The peer has closed its side."""
        self._ended = True
        return True
