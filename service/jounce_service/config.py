"""The server's settings, once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServerConfig:
    """Every setting of a server; flags are made from it."""

    #: TCP address ``host:port``; port 0 takes a free one; empty for none.
    address: str = "127.0.0.1:50051"
    #: Path of a unix socket; empty for none.
    socket_path: str = ""
    #: The fast lane's unix socket, and its TCP address ``host:port``; empty for none.
    fast_socket: str = ""
    fast_address: str = ""
    #: Listen without TLS on an address other than loopback.
    allow_insecure: bool = False
    #: Wall-clock time [s] a Step waits for others where Join names none; 0 = for ever.
    barrier_timeout: float = 5.0
    #: Wall-clock time [s] after which a participant is late where Join names none.
    late_after: float = 1.0
    #: Time [s] within which a participant must take in an event; after that it counts as gone.
    tell_timeout: float = 1.0
    #: Time [s] that a paced session busy-waits before a tick is released, for less jitter.
    spin: float = 0.00005
    #: Sessions at a time [1].
    max_sessions: int = 64
    #: Participants per session [1].
    max_participants: int = 64
    #: Viewers per session [1].
    max_viewers: int = 16
    #: Connections to the fast lane at a time [1], and time [s] in which one must have joined.
    max_fast_connections: int = 256
    fast_join_timeout: float = 10.0
    #: Snapshots that a session keeps [1], and their size in all [bytes].
    max_snapshots: int = 64
    max_snapshot_bytes: int = 64 << 20
    #: Folder in which every session is recorded; empty for none.
    record: str = ""
    #: Outputs are recorded at every so many ticks where CreateSession says nothing [ticks].
    record_every: int = 20
    #: Greatest recording of one session [bytes]; it ends there, and the session goes on.
    max_recording_bytes: int = 8 << 30
    #: Ticks that one Advance, or one period, may span [ticks].
    max_ticks_per_call: int = 1_000_000
    #: Greatest message [bytes].
    max_message_bytes: int = 4 << 20
    #: Moves longer than this [ticks] run off the event loop, so that other sessions go on.
    offload_ticks: int = 20
    #: A session without participants and calls is reaped after this time [s]; 0 = never.
    session_lease: float = 3600.0
    #: Time [s] that running calls get to end when the server stops.
    drain: float = 5.0
