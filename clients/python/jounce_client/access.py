"""Authentication of client and server: TLS and bearer tokens."""

from __future__ import annotations

import functools
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc


@dataclass(frozen=True)
class Tls:
    """PEM files for TLS.

    ``ca`` holds the authorities that may have signed the server's certificate (None: those that come with gRPC);
    ``certificate`` and ``key`` are the client's own, for a server that asks for them; ``server_name`` is the name in
    the server's certificate, if it differs from that of the address.
    """

    ca: Path | str | None = None
    certificate: Path | str | None = None
    key: Path | str | None = None
    server_name: str = ""

    def credentials(self) -> grpc.ChannelCredentials:
        """Credentials of a gRPC channel; raises OSError for a file that cannot be read."""
        ca, key, chain = (Path(p).read_bytes() if p else None for p in (self.ca, self.key, self.certificate))
        return grpc.ssl_channel_credentials(ca, key, chain)

    def context(self) -> ssl.SSLContext:
        """TLS context of a plain socket; without ``ca`` the system's authorities are trusted. Raises OSError."""
        context = ssl.create_default_context(cafile=self.ca)
        if self.certificate:
            context.load_cert_chain(self.certificate, self.key)
        return context

    def options(self) -> list[tuple[str, str]]:
        """Channel options that belong to the credentials."""
        return [("grpc.ssl_target_name_override", self.server_name)] if self.server_name else []


class Bearer:
    """A stub whose calls carry a bearer token as metadata, which works for unix sockets and TLS alike."""

    def __init__(self, stub: Any, token: str) -> None:
        """Wraps ``stub``."""
        self._stub, self._metadata = stub, (("authorization", f"Bearer {token}"),)

    def __getattr__(self, name: str) -> Any:
        return functools.partial(getattr(self._stub, name), metadata=self._metadata)
