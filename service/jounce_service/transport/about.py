"""Version, uptime, limits and defaults of the server."""

from __future__ import annotations

import time
from dataclasses import fields

from jounce import __version__
from jounce_proto import jounce_pb2 as pb
from jounce_service.session.manager import SessionManager
from jounce_service.transport.callers import Caller


def server(manager: SessionManager, caller: Caller) -> pb.GetServerResponse:
    """The reply to GetServer."""
    numbers = {f.name: getattr(manager.config, f.name) for f in fields(manager.config)}
    return pb.GetServerResponse(
        server_version=__version__,
        api=pb.DESCRIPTOR.package,
        uptime_seconds=time.monotonic() - manager.since,
        draining=manager.draining,
        administrator=caller.administrator,
        records=manager.recorder is not None,
        sessions=manager.count,
        fast_addresses=manager.fast_addresses,
        stalls=manager.stalls.count,
        stalled_seconds=manager.stalls.seconds,
        limits={n: v for n, v in numbers.items() if type(v) in (int, float)},
    )
