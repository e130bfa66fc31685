"""Just enough HTTP/2 to misbehave with: frames by hand over a plain socket (RFC 9113; header block RFC 7541)."""

from __future__ import annotations

import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = struct.pack(">I", 0)[1:] + bytes([4, 0]) + struct.pack(">I", 0)


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def headers(path: str, stream: int = 1, token: str = "") -> bytes:
    """The HEADERS of a gRPC call: every field a literal that is not indexed."""
    fields = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "x", "te": "trailers",
              "content-type": "application/grpc"} | ({"authorization": f"Bearer {token}"} if token else {})
    block = b"".join(b"\0" + bytes([len(k)]) + k.encode() + bytes([len(v)]) + v.encode() for k, v in fields.items())
    return frame(1, 4, stream, block)


def message(length: int, data: bytes = b"", stream: int = 1) -> bytes:
    """The start of a gRPC message that says it has ``length`` bytes."""
    return frame(0, 0, stream, struct.pack(">BI", 0, length) + data)


def connect(address: str) -> socket.socket:
    """A connection to ``host:port`` or ``unix:/path``."""
    if address.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        # Waits for its turn, which a socket with Python's own timeout does not.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 10, 0))
        connection.connect(address.removeprefix("unix:"))
        connection.settimeout(10)
        return connection
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def read_until(connection: socket.socket, words: bytes, limit: int = 1 << 16) -> bytes:
    """What comes until ``words`` have, or the other side closes."""
    data = b""
    while words not in data and len(data) < limit:
        try:
            piece = connection.recv(4096)
        except ConnectionResetError:
            break
        if not piece:
            break
        data += piece
    return data
