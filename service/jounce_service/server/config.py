"""The server's settings; flags, environment variables, the file's keys and docs/configuration.md are made from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any


def _setting(default: object, text: str, least: float = 0, most: float = math.inf) -> Any:
    """A setting with its help ``text``; numbers must be finite and from ``least`` to ``most``."""
    return field(default=default, metadata={"help": text, "least": least, "most": most})


#: First setting of each group -> the group's title, for `jounce serve --help` and docs/configuration.md.
GROUPS = {
    "address": "addresses",
    "insecure": "security",
    "metrics_address": "metrics and logs",
    "barrier_timeout": "lockstep",
    "spin": "real time",
    "keepalive": "connections and sessions",
    "max_snapshots": "snapshots",
    "record": "recordings",
    "max_ticks_per_call": "length of a call",
    "fmu": "models",
    "max_message_bytes": "messages",
    "offload_ticks": "running and stopping",
}


@dataclass(frozen=True)
class ServerConfig:
    """Every setting of a server."""

    address: str = _setting("127.0.0.1:50051", "host:port (port 0: a free one) or unix:/path to listen on; '' for none")
    socket_path: str = _setting(
        "", "path of a further unix socket to listen on (also --uds); only its owner may connect"
    )
    fast_socket: str = _setting("", "path of the fast lane's unix socket; '' for none")
    fast_address: str = _setting("", "address of the fast lane, host:port or unix:/path; '' for none")
    insecure: bool = _setting(False, "allow to listen without TLS on an address other than loopback")
    tls_certificate: str = _setting("", "PEM file with the server's certificate chain; all TCP addresses then use TLS")
    tls_key: str = _setting("", "PEM file with the certificate's private key")
    tls_client_ca: str = _setting(
        "", "PEM file with the authorities of client certificates; every client then needs one"
    )
    token_file: str = _setting("", "file with bearer tokens, one per line; every call except health then needs one")
    admin_token_file: str = _setting("", "file with bearer tokens of administrators, one per line; '' for none")
    metrics_address: str = _setting("", "host:port of the Prometheus endpoint; '' for none")
    log_format: str = _setting("text", "text, or json for one object per line")
    barrier_timeout: float = _setting(
        5.0, "default of the wall-clock seconds that a Step waits for others; 0 = for ever"
    )
    late_after: float = _setting(
        1.0, "default of the seconds after which a participant is late; for paced sessions see service.md"
    )
    tell_timeout: float = _setting(1.0, "seconds within which a participant must read an event")
    spin: float = _setting(0.00005, "seconds that a paced session busy-waits before a tick is released")
    busy_poll: float = _setting(
        0.0002, "seconds that the event loop polls before it sleeps, while clients answer faster; 0 = none"
    )
    realtime: bool = _setting(False, "use real-time priority, locked memory and no CPU idle states, as far as granted")
    realtime_priority: int = _setting(40, "priority of SCHED_FIFO, 2 to 98; workers get one less")
    realtime_cores: str = _setting(
        "", "cores to pin the server to, such as 1 or 0,2-3, if the priority is granted; '' for none"
    )
    keepalive: float = _setting(15.0, "seconds after which a peer that does not answer is gone; 0 = never", 0, 86400)
    max_connections: int = _setting(1024, "connections at a time, per listener", 1)
    max_sessions: int = _setting(64, "open sessions", 1)
    max_participants: int = _setting(64, "participants per session", 1)
    max_viewers: int = _setting(16, "viewers per session")
    max_fast_connections: int = _setting(256, "connections to the fast lane at a time", 1)
    fast_join_timeout: float = _setting(10.0, "seconds within which a connection to the fast lane must join")
    max_snapshots: int = _setting(64, "snapshots per session")
    max_snapshot_bytes: int = _setting(64 << 20, "total size of the snapshots of a session in bytes")
    record: str = _setting("", "folder to record every session in; '' for none")
    record_every: int = _setting(20, "ticks between two recorded outputs, unless the session sets its own", 1)
    record_required: bool = _setting(False, "a session fails when its recording cannot begin or ends early")
    max_recording_bytes: int = _setting(8 << 30, "largest recording of one session in bytes; it ends there", 1 << 10)
    max_ticks_per_call: int = _setting(1_000_000, "ticks that one Advance or one period may span", 1)
    max_call_seconds: float = _setting(600.0, "wall-clock seconds that one Advance or upload may take; 0 = any")
    fmu: tuple[str, ...] = _setting((), "FMU to host under its file name, or a folder of FMUs; may repeat")
    vehicle: tuple[str, ...] = _setting(
        (), "an example's name, or your own vehicle to host under its name: its folder or vehicle.toml; may repeat"
    )
    workers: bool = _setting(
        False, "run each session of a built-in model in its own process, as those of FMUs always are"
    )
    worker_seconds: float = _setting(
        10.0, "wall-clock seconds after which a worker that does not answer is killed; 0 = never"
    )
    worker_memory: int = _setting(2 << 30, "address space of a worker in bytes; 0 = any")
    max_message_bytes: int = _setting(4 << 20, "largest gRPC message in bytes: a piece of a snapshot", 1 << 10)
    max_request_bytes: int = _setting(
        64 << 10, "largest request in bytes on gRPC and on the fast lane, except pieces of snapshots", 1 << 10
    )
    message_timeout: float = _setting(
        10.0, "seconds within which a connection must send, a stream must join and an upload must go on"
    )
    offload_ticks: int = _setting(20, "advances of more ticks than this run in a thread, off the event loop", 1)
    session_lease: float = _setting(3600.0, "seconds after which an unused session is closed; 0 = never")
    drain: float = _setting(5.0, "seconds for which sessions may go on when the server stops")
