"""Two peers without computation: length-prefixed protobuf messages on a plain socket, and gRPC.

Both answer each LockstepRequest with a LockstepReply that has the requested number of outputs.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from pathlib import Path
from typing import Any

import grpc

from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc

LENGTH = struct.Struct("<I")


def connect(address: str) -> socket.socket:
    """A blocking socket to ``unix:/path`` or ``host:port``."""
    if address.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address.removeprefix("unix:"))
        return connection
    host, _, port = address.rpartition(":")
    connection = socket.create_connection((host, int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def receive(connection: socket.socket) -> bytes:
    """One message; empty when the other side has closed."""
    data = connection.recv(1 << 16)
    while len(data) >= 4 and len(data) - 4 < LENGTH.unpack_from(data)[0]:
        data += connection.recv(1 << 16)
    return data[4:]


def send(connection: socket.socket, message: bytes) -> None:
    """One message."""
    connection.sendall(LENGTH.pack(len(message)) + message)


def reply(request: pb.LockstepRequest, outputs: list[float]) -> pb.LockstepReply:
    """The reply of both peers."""
    step = request.step
    return pb.LockstepReply(state=pb.State(epoch=step.epoch, tick=step.tick, sim_ns=step.tick * 1_000_000,
                                           outputs=outputs, request=step.request))


def listen(path: str) -> socket.socket:
    """On a unix socket; or on TCP, where the port is written to the file named after ``tcp:``."""
    if not path.startswith("tcp:"):
        listener = socket.socket(socket.AF_UNIX)
        # Whoever sees the path may connect.
        listener.bind(f"{path}.part")
        listener.listen(1)
        Path(f"{path}.part").replace(path)
        return listener
    listener = socket.create_server(("127.0.0.1", 0))
    ready = Path(path.removeprefix("tcp:"))
    part = ready.with_suffix(".part")
    part.write_text(f"127.0.0.1:{listener.getsockname()[1]}")
    part.replace(ready)
    return listener


def serve_socket(path: str, outputs: list[float]) -> None:
    """Serves one connection."""
    with listen(path) as listener:
        connection, _ = listener.accept()
        with connection:
            if connection.family != socket.AF_UNIX:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := receive(connection):
                send(connection, reply(pb.LockstepRequest.FromString(data), outputs).SerializeToString())


class Echo(rpc.SessionServiceServicer):
    """The Lockstep stream with nothing behind it."""

    def __init__(self, outputs: list[float]) -> None:
        """`outputs` of every reply."""
        self._outputs = outputs

    async def Lockstep(self, _: Any, context: Any) -> None:
        """One reply per request."""
        while (request := await context.read()) is not grpc.aio.EOF:
            await context.write(reply(request, self._outputs))


async def serve_grpc(path: str, outputs: list[float]) -> None:
    """Serves until terminated."""
    server = grpc.aio.server()
    rpc.add_SessionServiceServicer_to_server(Echo(outputs), server)
    server.add_insecure_port(f"unix:{path}")
    await server.start()
    await server.wait_for_termination()


def main() -> None:
    """``echo.py socket|grpc PATH OUTPUTS``; for ``socket`` also ``tcp:FILE``."""
    kind, path, outputs = sys.argv[1], sys.argv[2], [0.1 * i for i in range(int(sys.argv[3]))]
    if kind == "socket":
        serve_socket(path, outputs)
    else:
        asyncio.run(serve_grpc(path, outputs))


if __name__ == "__main__":
    main()
