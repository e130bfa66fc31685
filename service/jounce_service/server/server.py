"""The gRPC server: listeners, health, reflection, start and stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.internal import api_implementation
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from jounce.optional import missing
from jounce_proto import keepalive
from jounce_service.hosting.models import Registry
from jounce_service.recording.recorder import Recorder
from jounce_service.server import realtime
from jounce_service.server.config import ServerConfig
from jounce_service.server.settings import checked
from jounce_service.session.manager import SessionManager
from jounce_service.transport.endpoint import Endpoint
from jounce_service.transport.fast_lane import FastLane, check_socket
from jounce_service.transport.handlers import SERVICE_NAME, handlers
from jounce_service.transport.security import (
    BearerCheck,
    ConfigError,
    callers_of,
    check_address,
    server_credentials,
    warn_of_dates,
)
from jounce_service.transport.servicer import SessionServicer

#: Concurrent calls over one connection [1]; further ones wait in the client.
_CALLS_PER_CONNECTION = 256
#: Interval [s] at which a stopping server checks whether sessions are still in use.
_LOOK = 0.02
#: Time [s] that calls get to end after gRPC has cancelled them; they need a few turns of the loop.
_LAST = 1.0
_log = logging.getLogger(__name__)


class Running(grpc.aio.ServerInterceptor):  # type: ignore[misc, unused-ignore]
    """Keeps track of the calls under way; gRPC runs each in a task."""

    def __init__(self) -> None:
        """Starts without calls."""
        self._tasks: set[asyncio.Task[Any]] = set()

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], details: Any) -> Any:
        """Notes the present task, in which the call's handler will run, and returns the handler."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await continuation(details)

    async def ended(self) -> None:
        """Waits until all calls have ended.

        gRPC's server stops before its calls have, and prints tracebacks if the loop is closed then.
        """
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_LAST)


class JounceServer:
    """Serves the models of a registry on the running event loop."""

    def __init__(self, registry: Registry, config: ServerConfig | None = None) -> None:
        """Binds nothing; ``start`` does. Raises ConfigError for settings out of their range."""
        self.config = checked(config or ServerConfig())
        realtime.check(self.config)
        self.manager = SessionManager(registry, self.config)
        #: Addresses bound by ``start``, for clients: ``host:port`` and ``unix:path``.
        self.addresses: tuple[str, ...] = ()
        self.fast = FastLane(self.manager, self.config)
        self._server: grpc.aio.Server | None = None
        self._running = Running()
        self._health = health.aio.HealthServicer()
        self._metrics: Endpoint | None = None
        self._reaper: asyncio.Task[None] | None = None

    @property
    def metrics_address(self) -> str:
        """Address of the metrics endpoint; empty if there is none."""
        return "" if self._metrics is None else self._metrics.address

    async def start(self) -> None:
        """Binds the addresses and starts to serve. Raises ConfigError, with nothing left bound.

        The models are opened first, so that no client waits for a compiler, nor a session behind one. With ``realtime``
        the whole process then gets what the system grants.
        """
        if api_implementation.Type() == "python":
            raise ConfigError("the pure-Python protobuf is too slow to serve; install a binary protobuf wheel")
        _check_addresses(self.config)
        self.manager.recorder = _recorder(self.config)
        credentials = server_credentials(self.config)
        warn_of_dates(self.config)
        callers = callers_of(self.config)
        await asyncio.to_thread(self.manager.registry.open_all)
        server = grpc.aio.server(
            interceptors=[self._running, *([BearerCheck(callers)] if callers.any else [])],
            options=[
                ("grpc.max_allowed_incoming_connections", self.config.max_connections),
                ("grpc.max_concurrent_streams", _CALLS_PER_CONNECTION),
                # Closes connections of peers that send nothing.
                ("grpc.server_handshake_timeout_ms", round(self.config.message_timeout * 1e3)),
                # Allows identity only: with compression a small message could expand to a large one.
                ("grpc.compression_enabled_algorithms_bitset", 1),
                ("grpc.max_receive_message_length", self.config.max_message_bytes),
                ("grpc.so_reuseport", 0),
                *keepalive.grpc_options(self.config.keepalive),
                # Clients choose their own keep-alive.
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 100),
            ],
        )
        calls = SessionServicer(self.manager, callers)
        server.add_registered_method_handlers(SERVICE_NAME, handlers(calls, self.config.max_request_bytes))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        reflection.enable_server_reflection((SERVICE_NAME, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
        bound = []
        try:
            if self.config.address:
                _check_free(self.config.address)
                if credentials is None:
                    port = server.add_insecure_port(self.config.address)
                else:
                    port = server.add_secure_port(self.config.address, credentials)
                bound.append(f"{self.config.address.rpartition(':')[0]}:{port}")
            if self.config.socket_path:
                check_socket(Path(self.config.socket_path))
                server.add_insecure_port(f"unix:{self.config.socket_path}")
                bound.append(f"unix:{self.config.socket_path}")
        except (OSError, RuntimeError) as error:
            raise ConfigError(f"cannot listen: {error}") from error
        try:
            await self.fast.start()
            if self.config.metrics_address:
                self._metrics = Endpoint(self.config, self.manager.totals)
        except (OSError, ConfigError) as error:
            await asyncio.gather(server.stop(None), self.fast.stop(0.0))
            raise ConfigError(f"cannot listen: {error}") from error
        if self.config.realtime:
            # Not before the models are open: a compiler must not have real-time priority, nor must the threads of a
            # BLAS, which analyses trucks. They wait for each other by spinning, for ever on one core.
            realtime.enter(self.config)
        await server.start()
        for name in ("", SERVICE_NAME):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self.addresses, self.manager.fast_addresses = tuple(bound), self.fast.addresses
        self._server = server
        self._reaper = asyncio.create_task(self.manager.reap_for_ever())
        self.manager.stalls.start()

    async def stop(self) -> None:
        """Refuses new sessions, gives running calls ``config.drain`` [s] to end, and then closes all sessions."""
        if self._server is None:
            return
        self.manager.draining = True
        _log.info("draining", extra={"seconds": self.config.drain})
        await self._health.enter_graceful_shutdown()
        end = asyncio.get_running_loop().time() + self.config.drain
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                await self.manager.warn_all()
                # Participants that were warned may still finish their runs.
                while self.manager.in_use:
                    await asyncio.sleep(_LOOK)
        # The server does not wait for viewers.
        self.manager.end_views()
        left = max(0.0, end - asyncio.get_running_loop().time())
        await asyncio.gather(self._server.stop(left), self.fast.stop(left))
        await self._running.ended()
        if self._reaper is not None:
            self._reaper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reaper
        self.manager.stalls.stop()
        await self.manager.close_all()
        if self.manager.recorder is not None:
            await asyncio.to_thread(self.manager.recorder.stop)
        if self._metrics is not None:
            await asyncio.to_thread(self._metrics.close)
        self._server = None


def _recorder(config: ServerConfig) -> Recorder | None:
    if not config.record:
        return None
    try:
        return Recorder(Path(config.record), config.record_every, config.max_recording_bytes)
    except ModuleNotFoundError as error:
        raise ConfigError(f"recordings: {missing('mcap') or error}") from error
    except OSError as error:
        raise ConfigError(
            f"record = {config.record!r}: {error.strerror}; expected a folder that can be written"
        ) from error


def _check_free(address: str) -> None:
    """Raises OSError if the address cannot be bound. gRPC would print lines of its own and say less."""
    host, _, port = address.rpartition(":")
    found = socket.getaddrinfo(host.strip("[]") or None, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, place = found[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(place)
        except OSError as error:
            raise OSError(error.errno, f"{address}: {error.strerror}") from error


def _check_addresses(config: ServerConfig) -> None:
    if not config.address and not config.socket_path:
        raise ConfigError("nothing to listen on: give an address, a socket path, or both")
    for path in (config.socket_path, config.fast_socket):
        # The kernel's sun_path holds 108 bytes including the closing zero.
        if len(path.encode()) > 107:
            raise ConfigError(f"the socket path has {len(path.encode())} bytes; expected at most 107")
    if config.fast_socket and config.fast_socket == config.socket_path:
        raise ConfigError(f"{config.fast_socket} is given twice: gRPC and the fast lane each need their own socket")
    if config.address:
        check_address(config.address, config.insecure or bool(config.tls_certificate))
    if config.fast_address:
        check_address(config.fast_address, config.insecure or bool(config.tls_certificate))
    if config.metrics_address:
        check_address(config.metrics_address, config.insecure or bool(config.tls_certificate))
