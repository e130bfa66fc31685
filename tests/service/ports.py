"""Ports for programs that must be told one."""

from __future__ import annotations

import random
import socket


def free_port(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    """A port of 127.0.0.1 at which nobody listens.

    It lies below the range from which systems take the ports of outgoing connections and of ``bind`` to port 0 (Linux
    from 32768, others from 49152 on). A port of that range may be another's before the program has bound it.
    """
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
