"""``jounce serve``: the server until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from jounce_fmu.models.roads import on_road
from jounce_service.hosting.fmu_model import registry
from jounce_service.server import realtime
from jounce_service.server.config import GROUPS, ServerConfig
from jounce_service.server.event_loop import make_loop
from jounce_service.server.logs import start_logging
from jounce_service.server.server import JounceServer
from jounce_service.server.settings import FILE, flag, load, reader
from jounce_service.transport.security import ConfigError
from jounce_tools.errors import UsageError

_log = logging.getLogger(__name__)
#: Further names of flags.
_SHORT = {"socket_path": ("--uds",)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One flag per field of ServerConfig, and where to say that the server is ready."""
    parser.usage = "jounce serve [options]"  # there are too many to list twice
    group = parser.add_argument_group("start")
    group.add_argument("--config", type=Path, help=f"TOML file with settings (default: the file named by {FILE})")
    ready = "file to write once the server listens: one address per line, with fast: before those of the fast lane"
    group.add_argument("--ready-file", type=Path, help=ready)
    road = "terrain file under the vehicles of --vehicle (hmmwv without it), hosted as VEHICLE_FILE; see docs/roads.md"
    group.add_argument("--road", dest="under", type=Path, metavar="FILE", help=road)
    for field in fields(ServerConfig):
        if field.name in GROUPS:
            group = parser.add_argument_group(GROUPS[field.name])
        # Only flags that are given: the others come from the environment or the file.
        own: dict[str, Any] = {"type": reader(type(field.default))}
        if isinstance(field.default, bool):
            own = {"action": argparse.BooleanOptionalAction}
        elif isinstance(field.default, tuple):
            own = {"action": "append"}
        text = f"{field.metadata['help']} (default: {field.default!r})"
        flags = (flag(field.name), *_SHORT.get(field.name, ()))
        group.add_argument(*flags, default=argparse.SUPPRESS, help=text, **own)


def run(arguments: argparse.Namespace) -> int:
    """Serves until told to stop."""
    names = {f.name for f in fields(ServerConfig)}
    flags = {name: value for name, value in vars(arguments).items() if name in names}
    if arguments.under:
        flags["vehicle"] = [str(on_road(name, arguments.under)) for name in flags.get("vehicle", ["hmmwv"])]
    try:
        config = load(flags, os.environ, arguments.config)
        start_logging(config.log_format)
        _allow_descriptors(config)
        with asyncio.Runner(loop_factory=lambda: make_loop(config.busy_poll)) as runner:
            runner.run(_serve(config, arguments.ready_file))
    except ConfigError as error:
        raise UsageError(str(error)) from error
    return 0


def _allow_descriptors(config: ServerConfig) -> None:
    """Raises the limit of open files to what the caps add up to, so that connections cannot exhaust it."""
    import resource  # not everywhere, as the other commands are

    wanted = 2 * config.max_connections + config.max_fast_connections + 4 * config.max_sessions + 256
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        _log.warning("the limit of open files is %d; the caps on connections and sessions add up to %d", hard, wanted)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def _serve(config: ServerConfig, ready_file: Path | None) -> None:
    models = registry(config)
    server = JounceServer(models, config)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await server.start()
    for failure in models.open_all().values():  # what the start has found
        _log.warning("%s", failure)
    realtime.settle()
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
