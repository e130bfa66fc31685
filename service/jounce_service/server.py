"""The gRPC face: listeners, the service, health and reflection."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn, TypeVar

import grpc
from google.protobuf.internal import api_implementation
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from jounce import __version__
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc
from jounce_service import errors
from jounce_service.config import ServerConfig
from jounce_service.describe import describe
from jounce_service.manager import SessionManager
from jounce_service.models import Registry
from jounce_service.session import Member, Session

_Context = Any  # grpc.aio.ServicerContext: the stubs' class is generic, the real one is not.
SERVICE_NAME = pb.DESCRIPTOR.services_by_name["SessionService"].full_name
_Request = TypeVar("_Request")
_Reply = TypeVar("_Reply")


class ConfigError(ValueError):
    """The settings cannot be served; the text says which."""


class JounceServer:
    """Listens as the config says and serves the models of the registry, on the running event loop."""

    def __init__(self, registry: Registry, config: ServerConfig | None = None) -> None:
        """Nothing is bound before ``start``."""
        self.config = config or ServerConfig()
        self.manager = SessionManager(registry, self.config)
        #: Addresses bound by ``start``, for clients: ``host:port`` and ``unix:path``.
        self.addresses: tuple[str, ...] = ()
        self._server: grpc.aio.Server | None = None
        self._health = health.aio.HealthServicer()
        self._reaper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Binds and serves. Raises ConfigError before anything is bound."""
        if api_implementation.Type() == "python":
            raise ConfigError("the pure-Python protobuf is too slow to serve; install a binary protobuf wheel")
        _check_address(self.config)
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", self.config.max_message_bytes),
                ("grpc.so_reuseport", 0),
                # A peer whose machine has gone is noticed within these [ms].
                ("grpc.keepalive_time_ms", 10_000),
                ("grpc.keepalive_timeout_ms", 5_000),
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 1_000),
            ]
        )
        rpc.add_SessionServiceServicer_to_server(_SessionService(self.manager), server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        reflection.enable_server_reflection((SERVICE_NAME, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
        bound = []
        try:
            if self.config.address:
                port = server.add_insecure_port(self.config.address)
                bound.append(f"{self.config.address.rpartition(':')[0]}:{port}")
            if self.config.socket_path:
                server.add_insecure_port(f"unix:{self.config.socket_path}")
                bound.append(f"unix:{self.config.socket_path}")
        except RuntimeError as error:
            raise ConfigError(f"cannot listen: {error}") from error
        await server.start()
        for name in ("", SERVICE_NAME):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self.addresses = tuple(bound)
        self._server = server
        self._reaper = asyncio.create_task(self.manager.reap_for_ever())

    async def stop(self) -> None:
        """Drains: no new session, running calls get ``config.drain`` seconds, then sessions close."""
        if self._server is None:
            return
        self.manager.draining = True
        await self._health.enter_graceful_shutdown()
        await self._server.stop(self.config.drain)
        if self._reaper is not None:
            self._reaper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reaper
        await self.manager.close_all()
        self._server = None


def _check_address(config: ServerConfig) -> None:
    if not config.address and not config.socket_path:
        raise ConfigError("nothing to listen on: give an address, a socket path, or both")
    # The kernel's sun_path holds 108 bytes, with the closing zero.
    if len(config.socket_path.encode()) > 107:
        raise ConfigError(f"the socket path has {len(config.socket_path.encode())} bytes; 107 are allowed")
    if not config.address:
        return
    host, colon, port = config.address.rpartition(":")
    if not colon or not port.isdigit() or not 0 <= int(port) <= 65535:
        raise ConfigError(f"address {config.address!r} is not host:port")
    if not config.allow_insecure and not _is_loopback(host.strip("[]")):
        raise ConfigError(
            f"{config.address} is not a loopback address and the connection is not encrypted; "
            "set allow_insecure (--allow-insecure) to listen there all the same"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _SessionService(rpc.SessionServiceServicer):
    """Wire calls to the manager and its sessions; errors to status and ErrorInfo."""

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager

    async def ListModels(self, request: pb.ListModelsRequest, context: _Context) -> pb.ListModelsResponse:
        def reply(_: pb.ListModelsRequest) -> pb.ListModelsResponse:
            registry = self._manager.registry
            return pb.ListModelsResponse(models=[_summary(registry, name) for name in registry.names])

        return await _unary(_async(reply), request, context)

    async def DescribeModel(self, request: pb.DescribeModelRequest, context: _Context) -> pb.DescribeModelResponse:
        def reply(request: pb.DescribeModelRequest) -> pb.DescribeModelResponse:
            model = self._manager.registry.get(request.model)
            described = describe(model.table, tick=model.tick, version=__version__)
            described.model = request.model
            return described

        return await _unary(_async(reply), request, context)

    async def CreateSession(self, request: pb.CreateSessionRequest, context: _Context) -> pb.CreateSessionResponse:
        return await _unary(self._manager.create, request, context)

    async def GetSession(self, request: pb.GetSessionRequest, context: _Context) -> pb.GetSessionResponse:
        def reply(request: pb.GetSessionRequest) -> pb.GetSessionResponse:
            return self._manager.find(request.session_id).status()

        return await _unary(_async(reply), request, context)

    async def DeleteSession(self, request: pb.DeleteSessionRequest, context: _Context) -> pb.DeleteSessionResponse:
        async def reply(request: pb.DeleteSessionRequest) -> pb.DeleteSessionResponse:
            await self._manager.delete(request.session_id, request.token)
            return pb.DeleteSessionResponse()

        return await _unary(reply, request, context)

    async def Advance(self, request: pb.AdvanceRequest, context: _Context) -> pb.AdvanceResponse:
        async def reply(request: pb.AdvanceRequest) -> pb.AdvanceResponse:
            return await self._manager.owned(request.session_id, request.token).advance(request)

        return await _unary(reply, request, context)

    async def Lockstep(self, _: Any, context: _Context) -> None:
        stream = _Stream(self._manager)
        try:
            while not stream.ended:
                request = await context.read()
                if request is grpc.aio.EOF:
                    return
                try:
                    reply = await stream.answer(request)
                except errors.ServiceError as error:
                    reply = pb.LockstepReply(error=errors.error_info(error))
                await context.write(reply)
        finally:
            # Orderly end, reset and cancellation all come here, once.
            stream.detach()


def _summary(registry: Registry, name: str) -> pb.ModelSummary:
    try:
        table = registry.get(name).table
    except errors.ModelUnavailable as error:
        return pb.ModelSummary(name=name, unavailable=error.message)
    return pb.ModelSummary(
        name=name,
        input_count=len(table.inputs),
        output_count=len(table.outputs),
        parameter_count=len(table.parameters),
    )


class _Stream:
    """One participant's stream."""

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager
        self._session: Session | None = None
        self._member: Member | None = None
        self.ended = False

    async def answer(self, request: pb.LockstepRequest) -> pb.LockstepReply:
        """The one reply to a request."""
        kind = request.WhichOneof("kind")
        if kind == "step":
            session, member = self._joined()
            return pb.LockstepReply(state=await session.step(member, request.step))
        if kind == "join":
            if self._member is not None:
                raise errors.AlreadyJoined(
                    "the stream has joined already",
                    field="join",
                    given=request.join.name,
                    allowed="one Join per stream",
                )
            session = self._manager.owned(request.join.session_id, request.join.token)
            self._member, joined = await session.join(request.join)
            self._session = session
            return pb.LockstepReply(joined=joined)
        if kind == "leave":
            session, member = self._joined()
            left = session.leave(member)
            self.ended = True
            return pb.LockstepReply(left=left)
        raise errors.BadField("an empty request", field="kind", allowed="join, step or leave")

    def detach(self) -> None:
        """The stream has ended."""
        if self._session is not None and self._member is not None:
            self._session.detach(self._member)
            self._manager.touch(self._session)

    def _joined(self) -> tuple[Session, Member]:
        if self._session is None or self._member is None:
            raise errors.NotJoined("the stream has not joined a session", field="kind", allowed="join")
        return self._session, self._member


async def _unary(call: Callable[[_Request], Awaitable[_Reply]], request: _Request, context: _Context) -> _Reply:
    try:
        return await call(request)
    except errors.ServiceError as error:
        await _abort(context, error)


async def _abort(context: _Context, error: errors.ServiceError) -> NoReturn:
    info = errors.error_info(error)
    await context.abort(errors.status(error), info.message, ((errors.METADATA_KEY, info.SerializeToString()),))
    raise AssertionError("abort raises")


def _async(call: Callable[[_Request], _Reply]) -> Callable[[_Request], Awaitable[_Reply]]:
    async def wrapped(request: _Request) -> _Reply:
        return call(request)

    return wrapped
