"""The server's settings, once: the flags, the variables, the file's keys and docs/configuration.md come from here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any


def _setting(default: object, text: str, least: float = 0, most: float = math.inf) -> Any:
    """A number is at least ``least``, at most ``most``, and finite."""
    return field(default=default, metadata={"help": text, "least": least, "most": most})


#: What the settings are about, from the first of each group on: `jounce serve --help` and docs/configuration.md.
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
    socket_path: str = _setting("", "path of a unix socket to listen on, too; only its owner may connect")
    fast_socket: str = _setting("", "path of the fast lane's unix socket; '' for none")
    fast_address: str = _setting("", "address of the fast lane, host:port or unix:/path; '' for none")
    insecure: bool = _setting(False, "listen without TLS on an address other than loopback")
    tls_certificate: str = _setting("", "PEM file with the server's certificate chain: TCP addresses speak TLS only")
    tls_key: str = _setting("", "PEM file with the certificate's private key")
    tls_client_ca: str = _setting("", "PEM file with the authorities of clients: each must show a certificate")
    token_file: str = _setting("", "file with bearer tokens, one per line: each call but health must show one")
    admin_token_file: str = _setting("", "file with bearer tokens of administrators, one per line; '' for none")
    metrics_address: str = _setting("", "host:port of the Prometheus endpoint; '' for none")
    log_format: str = _setting("text", "text, or json for one object per line")
    barrier_timeout: float = _setting(5.0, "wall-clock seconds a Step waits for others by default; 0 = for ever")
    late_after: float = _setting(1.0, "seconds after which a participant is late by default; if paced, see service.md")
    tell_timeout: float = _setting(1.0, "seconds within which a participant must take in an event")
    spin: float = _setting(0.00005, "seconds that a paced session busy-waits before a tick is released")
    busy_poll: float = _setting(0.0002, "seconds of polling before it sleeps, while clients need less; 0 = none")
    realtime: bool = _setting(False, "real-time priority, locked memory, no CPU idle states, as far as granted")
    realtime_priority: int = _setting(40, "priority of SCHED_FIFO, 2 to 98; workers get one less")
    realtime_cores: str = _setting("", "cores to pin to, as 1 or 0,2-3, where the priority is granted; '' for none")
    keepalive: float = _setting(15.0, "seconds after which a peer that does not answer is gone; 0 = never", 0, 86400)
    max_connections: int = _setting(1024, "connections at a time, per listener", 1)
    max_sessions: int = _setting(64, "sessions at a time", 1)
    max_participants: int = _setting(64, "participants per session", 1)
    max_viewers: int = _setting(16, "viewers per session")
    max_fast_connections: int = _setting(256, "connections to the fast lane at a time", 1)
    fast_join_timeout: float = _setting(10.0, "seconds within which a connection to the fast lane must join")
    max_snapshots: int = _setting(64, "snapshots that a session keeps")
    max_snapshot_bytes: int = _setting(64 << 20, "size of a session's snapshots in all, in bytes")
    record: str = _setting("", "folder in which every session is recorded; '' for none")
    record_every: int = _setting(20, "outputs are recorded at every so many ticks where a session does not say", 1)
    record_required: bool = _setting(False, "a session whose recording cannot begin or ends before it fails")
    max_recording_bytes: int = _setting(8 << 30, "greatest recording of one session in bytes: there it ends", 1 << 10)
    max_ticks_per_call: int = _setting(1_000_000, "ticks that one Advance or one period may span", 1)
    max_call_seconds: float = _setting(600.0, "wall-clock seconds that one Advance or upload may take; 0 = any")
    fmu: tuple[str, ...] = _setting((), "FMU to host under its file's name, or folder of such; may repeat")
    vehicle: tuple[str, ...] = _setting(
        (), "vehicle of your own to host under its name: its folder or vehicle.toml; may repeat"
    )
    workers: bool = _setting(False, "a process for each session of a built-in model; those of FMUs have one anyway")
    worker_seconds: float = _setting(10.0, "wall-clock seconds after which a silent worker is killed; 0 = never")
    worker_memory: int = _setting(2 << 30, "address space of a worker in bytes; 0 = any")
    max_message_bytes: int = _setting(4 << 20, "greatest message on gRPC in bytes: a piece of a snapshot", 1 << 10)
    max_request_bytes: int = _setting(
        64 << 10, "greatest request in bytes, pieces of snapshots aside, on both lanes", 1 << 10
    )
    message_timeout: float = _setting(
        10.0, "seconds within which a connection must speak, a stream must join and an upload must send its next piece"
    )
    offload_ticks: int = _setting(20, "moves longer than this many ticks run off the event loop", 1)
    session_lease: float = _setting(3600.0, "seconds after which an unused session is closed; 0 = never")
    drain: float = _setting(5.0, "seconds that running calls get when the server stops")
