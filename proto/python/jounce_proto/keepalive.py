"""Keep-alive options of gRPC and of plain TCP sockets from one setting, for the server and the clients.

A peer that has been silent for a third of the time is asked for a sign of life, and has the rest for it. What was sent
and is not acknowledged has no longer than the whole time: while it is under way, TCP asks for no other sign (RFC 5482).
"""

from __future__ import annotations

import socket

#: For ever, as gRPC has it [ms].
_NEVER = 2**31 - 1


def grpc_options(seconds: float) -> list[tuple[str, int]]:
    """Options of a channel or server; 0 = no keep-alive."""
    ask, wait = (max(1, round(seconds * part * 1e3)) if seconds else _NEVER for part in (1.0 / 3.0, 2.0 / 3.0))
    return [
        ("grpc.keepalive_time_ms", ask),
        ("grpc.keepalive_timeout_ms", wait),
        # gRPC has pings of its own, to measure the line, and without this gives them a minute.
        ("grpc.http2.ping_timeout_ms", round(seconds * 1e3) if seconds else _NEVER),
        # A participant may wait long for the others.
        ("grpc.http2.max_pings_without_data", 0),
    ]


def apply(connection: socket.socket, seconds: float) -> None:
    """The same for a TCP socket, in whole seconds. A unix socket needs none."""
    if connection.family not in (socket.AF_INET, socket.AF_INET6) or not seconds:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    parts = {"TCP_KEEPIDLE": round(seconds / 3.0), "TCP_KEEPINTVL": round(seconds * 2.0 / 3.0), "TCP_KEEPCNT": 1,
             "TCP_USER_TIMEOUT": round(seconds * 1e3)}  # fmt: skip
    for name, value in parts.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), max(1, value))
