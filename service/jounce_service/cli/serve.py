"""``jounce serve``: the server until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from dataclasses import fields
from pathlib import Path

from jounce_service.cli.main import UsageError
from jounce_service.config import ServerConfig
from jounce_service.hosted import builtin_registry
from jounce_service.server import ConfigError, JounceServer

_HELP = {
    "address": "TCP address host:port; port 0 takes a free one; '' for none",
    "socket_path": "path of a unix socket to listen on, too",
    "fast_socket": "path of the fast lane's unix socket; '' for none",
    "fast_address": "TCP address host:port of the fast lane; '' for none",
    "allow_insecure": "listen without TLS on an address other than loopback",
    "barrier_timeout": "wall-clock seconds a Step waits for others by default; 0 = for ever",
    "late_after": "wall-clock seconds after which a participant is late by default",
    "tell_timeout": "seconds within which a participant must take in an event",
    "spin": "seconds that a paced session busy-waits before a tick is released",
    "max_viewers": "viewers per session",
    "max_fast_connections": "connections to the fast lane at a time",
    "fast_join_timeout": "seconds within which a connection to the fast lane must join",
    "max_snapshots": "snapshots that a session keeps",
    "max_snapshot_bytes": "size of a session's snapshots in all, in bytes",
    "record": "folder in which every session is recorded (extra: recording); '' for none",
    "record_every": "outputs are recorded at every so many ticks where a session does not say",
    "max_recording_bytes": "greatest recording of one session in bytes",
    "max_sessions": "sessions at a time",
    "max_participants": "participants per session",
    "max_ticks_per_call": "ticks that one Advance or one period may span",
    "max_message_bytes": "greatest message in bytes",
    "offload_ticks": "moves longer than this many ticks run off the event loop",
    "session_lease": "seconds after which an unused session is closed; 0 = never",
    "drain": "seconds that running calls get when the server stops",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One flag per field of ServerConfig, and where to say that the server is ready."""
    for field in fields(ServerConfig):
        flag = "--" + field.name.replace("_", "-")
        if isinstance(field.default, bool):
            parser.add_argument(flag, action="store_true", help=_HELP[field.name])
        else:
            kind = type(field.default)
            parser.add_argument(
                flag, type=kind, default=field.default, help=f"{_HELP[field.name]} (default: %(default)s)"
            )
    ready = "file that gets one address per line once all listen; the fast lane's begin with fast:"
    parser.add_argument("--ready-file", type=Path, help=ready)


def run(arguments: argparse.Namespace) -> int:
    """Serves until told to stop."""
    config = ServerConfig(**{f.name: getattr(arguments, f.name) for f in fields(ServerConfig)})
    try:
        asyncio.run(_serve(config, arguments.ready_file))
    except ConfigError as error:
        raise UsageError(str(error)) from error
    return 0


async def _serve(config: ServerConfig, ready_file: Path | None) -> None:
    registry = builtin_registry()
    for failure in registry.open_all().values():
        sys.stderr.write(f"jounce serve: {failure}\n")
    server = JounceServer(registry, config)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await server.start()
    listening = [*server.addresses, *(f"fast:{a}" for a in server.fast.addresses)]
    if ready_file is not None:
        # Whole or not at all: who waits for the file must not read half of it.
        part = ready_file.with_name(ready_file.name + ".part")
        part.write_text("".join(f"{a}\n" for a in listening))
        part.replace(ready_file)
    sys.stdout.write(f"listening on {' '.join(listening)}\n")
    sys.stdout.flush()
    await stop.wait()
    await server.stop()
