"""A real server on its own event loop in a thread: TCP, unix socket and fast lane, with plain sync stubs."""

from __future__ import annotations

import socket
import struct
from typing import Any

import grpc
from closing_loop import ClosingLoop
from integrator_model import Integrator, IntegratorModel, registry

from jounce_client.compliance.stream import Stream
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc
from jounce_service import JounceServer, ServerConfig


class Running:
    """A running server and a stub to it."""

    def __init__(self, config: ServerConfig, fast: bool = False) -> None:
        """``fast``: participants take the fast lane."""
        self.fast = fast
        self.model = IntegratorModel()
        self.streams: list[Stream] = []
        self.loop = ClosingLoop()
        self.server = JounceServer(registry(self.model), config)
        self.run(self.server.start())
        self.channels = [grpc.insecure_channel(a) for a in self.server.addresses]
        self.stub = rpc.SessionServiceStub(self.channels[-1])

    def run(self, coroutine: Any) -> Any:
        return self.loop.run(coroutine)

    def create(self, *expected: str, pacing: pb.Pacing | None = None, controllers: Any = (),
               **parameters: float) -> pb.CreateSessionResponse:
        return self.stub.CreateSession(pb.CreateSessionRequest(
            model="integrator", expected_participants=expected, pacing=pacing, controllers=controllers,
            parameters={n: pb.Value(number=v) for n, v in parameters.items()}))

    def instance(self, session: pb.CreateSessionResponse) -> Integrator:
        return self.model.made[session.session_id]

    def member(self, session: pb.CreateSessionResponse, name: str, **join: Any) -> Stream:
        stream = FastStream(self.server.fast.addresses[-1]) if self.fast else Stream(self.stub)
        # A call that nobody refers to is cancelled.
        self.streams.append(stream)
        stream.join(session, name, **join)
        return stream

    def call(self, name: str, session: pb.CreateSessionResponse, /, **fields: Any) -> Any:
        """A unary call with the session's id and token."""
        given = {"session_id": session.session_id, "token": session.token} | fields
        return getattr(self.stub, name)(getattr(pb, f"{name}Request")(**given))

    def advance(self, session: pb.CreateSessionResponse, n: int, **inputs: float) -> list[float]:
        """All outputs after ``n`` ticks with these inputs."""
        return list(self.call("Advance", session, n_ticks=n, input_names=inputs, inputs=inputs.values(),
                              output_names=["*"]).outputs)

    def status(self, session: pb.CreateSessionResponse) -> pb.GetSessionResponse:
        return self.stub.GetSession(pb.GetSessionRequest(session_id=session.session_id))

    def close(self) -> None:
        for stream in self.streams:
            if isinstance(stream, FastStream):
                stream.call.cancel()
        for channel in self.channels:
            channel.close()
        self.run(self.server.stop())
        self.loop.end()


class FastStream(Stream):
    """The same over the fast lane."""

    def __init__(self, address: str) -> None:
        self.call = _Connection(address)
        self.tick, self.epoch, self.request = 0, 1, 0
        self.events = []

    def send(self, **kind: Any) -> None:
        data = pb.LockstepRequest(**kind).SerializeToString()
        self.call.socket.sendall(struct.pack("<I", len(data)) + data)

    def end(self) -> None:
        self.call.socket.shutdown(socket.SHUT_WR)


class _Connection:
    """Replies of the fast lane, with what the tests use of a gRPC call."""

    def __init__(self, address: str) -> None:
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            self.socket = socket.create_connection((host, int(port)))
        self.socket.settimeout(30)

    def __next__(self) -> pb.LockstepReply:
        return pb.LockstepReply.FromString(self._exactly(*struct.unpack("<I", self._exactly(4))))

    def _exactly(self, n: int) -> bytes:
        data = b""
        while len(data) < n:
            piece = self.socket.recv(n - len(data))
            if not piece:
                raise StopIteration
            data += piece
        return data

    def cancel(self) -> None:
        self.socket.close()
