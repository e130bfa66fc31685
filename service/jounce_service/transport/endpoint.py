"""The HTTP endpoint for Prometheus, with TLS if configured. The number and the time of connections are limited."""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, Final

from jounce.optional import missing
from jounce_service.server.config import ServerConfig
from jounce_service.server.metrics import Totals
from jounce_service.transport.security import ConfigError, tls_context

#: Most connections at a time [1]; each has a thread, and a scraper needs one.
MOST: Final = 32
_log = logging.getLogger(__name__)


class Endpoint:
    """Serves metrics at ``config.metrics_address`` on its own threads."""

    def __init__(self, config: ServerConfig, totals: Totals) -> None:
        """Starts to listen; raises OSError, or ConfigError for bad certificate files or without prometheus_client."""
        try:
            from prometheus_client import CollectorRegistry
            from prometheus_client.exposition import choose_encoder
        except ModuleNotFoundError as error:
            raise ConfigError(f"metrics: {missing('prometheus_client')}") from error
        registry = CollectorRegistry()
        # Without ``auto_describe``: it would collect, and each collection resets the real-time factor.
        registry.register(totals)  # type: ignore[arg-type, unused-ignore]

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                encode, kind = choose_encoder(self.headers.get("Accept", ""))
                body = encode(registry)
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:
                _log.debug(format, *arguments)

        host, _, port = config.metrics_address.rpartition(":")
        self._server = _Server((host.strip("[]"), int(port)), Handler, tls_context(config), config.message_timeout)
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()
        self.address = f"{host}:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stops listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingTCPServer):
    """Refuses more than ``MOST`` connections, and closes those that take longer than ``timeout`` seconds."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler],
                 context: ssl.SSLContext | None, timeout: float) -> None:
        """Starts to listen; raises OSError."""
        self._context, self._timeout = context, timeout
        self._ends: dict[socket.socket, float] = {}
        found = socket.getaddrinfo(address[0] or None, address[1], type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        self.address_family = found[0][0]
        super().__init__(address, handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accepts a connection; the TLS handshake happens in its own thread, since a peer may be slow."""
        connection, peer = self.socket.accept()
        if self._context is not None:
            connection = self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, peer

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether the number of connections allows one more."""
        if len(self._ends) >= MOST:
            return False
        self._ends[request] = time.monotonic() + self._timeout
        return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serves one connection in its thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            del self._ends[request]

    def service_actions(self) -> None:
        """Closes connections that have timed out; called every half second and after each connection."""
        now = time.monotonic()
        for connection, end in list(self._ends.items()):
            if now > end:
                with contextlib.suppress(OSError):  # The connection may have closed meanwhile.
                    # The plain socket's shutdown: that of TLS may not be called from another thread.
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Logs errors of one connection at debug level: the peer has closed it or refused the certificate."""
        _log.debug("metrics: a connection failed", exc_info=True)
