"""What do clients that only make trouble take from a session paced at 1 kHz?

One participant on the fast lane answers each state at once, while another process does one of `ATTACKS` as fast as it
can. The first row has nobody beside it; the second a process that only computes, which takes a core as an attacker does
and asks nothing of the server: what an attack costs beyond that is the server's. Rounds of all rows are interleaved.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import numpy as np
from numpy.typing import NDArray
from paced import CLIENT, HEAD, SERVER, check_priority, lateness, share
from participants import Way, fast_in_c, in_python, looping, participant
from serving import OWNED, Serving, moving, serve, used
from timing import machine, table, versions

from jounce_client import Client, Pacing
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc

_LENGTH = struct.Struct("<I")


def spin(_grpc: str, _fast: str) -> Iterator[None]:
    """Computes."""
    while True:
        sum(range(10_000))
        yield


def describe(address: str, _fast: str) -> Iterator[None]:
    """DescribeModel over one channel."""
    with grpc.insecure_channel(address) as channel:
        stub = rpc.SessionServiceStub(channel)
        while True:
            stub.DescribeModel(pb.DescribeModelRequest(model="hmmwv"))
            yield


def refused(address: str, _fast: str) -> Iterator[None]:
    """Advance of a session that does not exist, over one channel."""
    with grpc.insecure_channel(address) as channel:
        stub = rpc.SessionServiceStub(channel)
        while True:
            with contextlib.suppress(grpc.RpcError):
                stub.Advance(pb.AdvanceRequest(session_id="none", token="none", n_ticks=1))
            yield


def names(address: str, _fast: str) -> Iterator[None]:
    """Joins with 200 000 unknown names over gRPC."""
    join = pb.LockstepRequest(join=pb.Join(session_id="none", token="none", name="x",
                                           inputs=[f"n{k}" for k in range(200_000)]))
    with grpc.insecure_channel(address) as channel:
        stub = rpc.SessionServiceStub(channel)
        while True:
            with contextlib.suppress(grpc.RpcError):
                list(stub.Lockstep(iter([join])))
            yield


def joins(_grpc: str, fast: str) -> Iterator[None]:
    """A refused Join to the fast lane, over a new connection each time."""
    data = pb.LockstepRequest(join=pb.Join(session_id="none", token="none", name="x")).SerializeToString()
    while True:
        with _connected(fast) as connection:
            connection.sendall(_LENGTH.pack(len(data)) + data)
            with contextlib.suppress(OSError):
                connection.recv(4096)
        yield


def burst(_grpc: str, fast: str) -> Iterator[None]:
    """A hundred connections at once, each with a refused Join, again and again."""
    data = pb.LockstepRequest(join=pb.Join(session_id="none", token="none", name="x")).SerializeToString()
    while True:
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for connection in [stack.enter_context(_connected(fast)) for _ in range(100)]:
                connection.sendall(_LENGTH.pack(len(data)) + data)
        yield


def _connected(fast: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    # Blocking: where the queue of connections is full, this waits.
    connection.connect(fast.removeprefix("unix:"))
    return connection


ATTACKS: dict[str, Callable[[str, str], Iterator[None]]] = {
    a.__name__: a for a in (spin, describe, refused, names, joins, burst)
}


def attack(name: str, address: str, fast: str) -> None:
    """Does it until the process is ended; prints how often, once a second."""
    begin = time.monotonic()
    for count, _ in enumerate(ATTACKS[name](address, fast), 1):
        if time.monotonic() - begin > 1.0:
            print(count, flush=True)
            begin = time.monotonic()


@contextlib.contextmanager
def attacker(name: str, serving: Serving) -> Iterator[subprocess.Popen[str] | None]:
    """The process that does it, or none."""
    if not name:
        yield None
        return
    command = [sys.executable, __file__, "--attack", name, serving.unix, serving.fast_unix]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline(), name
            yield process
        finally:
            process.kill()


@dataclass(frozen=True)
class Round:
    """What one run of paced ticks gave."""

    ticks: int
    overruns: int
    late: int
    #: Share of a core that the server took [1].
    used: float
    #: Arrivals [ns].
    arrived: NDArray[np.float64]


def measure(serving: Serving, client: Client, way: Way, name: str, ticks: int, priority: int) -> Round:
    """So many paced ticks of a new session beside an attacker that is at work already."""
    with attacker(name, serving):
        session = moving(client, "rig", pacing=Pacing())
        with looping(participant(way, serving, session, "rig", OWNED), priority) as loop:
            cpu, begin = used(serving.pid), time.monotonic_ns()
            # The grid begins with the first step: one run, of which the beginning is not counted by the client.
            arrived = loop.run(ticks)[:, 1]
            took, cpu = time.monotonic_ns() - begin, used(serving.pid) - cpu
            kept = client.get_session(session).pacing
        client.delete_session(session)
    return Round(ticks, kept.overruns, kept.late_releases, cpu / took, arrived[ticks // 10 :])


def row(name: str, rounds: list[Round], alone: int) -> list[str]:
    """Of the table; ``alone`` are the overruns with nobody beside."""
    overruns = sum(r.overruns for r in rounds)
    figures = np.array([[float(x) for x in lateness(r.arrived)[1:4]] for r in rounds])
    text = (ATTACKS[name].__doc__ or "") if name else "nobody"
    return [
        text.rstrip("."), share(overruns, sum(r.ticks for r in rounds)), f"{overruns / max(1, alone):.1f}",
        str(sum(r.late for r in rounds)), *(f"{x:.0f}" for x in np.median(figures, axis=0)),
        f"{100.0 * float(np.mean([r.used for r in rounds])):.0f} %",
    ]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attack", nargs=3, metavar=("NAME", "GRPC", "FAST"), help="be the attacker")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each row in a round (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default %(default)s)")
    parser.add_argument("--only", default="", help="rows, with commas")
    parser.add_argument("--realtime", action="store_true", help="real-time priority for server and participant")
    parser.add_argument("--server", action="append", default=[], metavar="FLAG", help="as --server=--realtime-cores=1")
    parser.add_argument("--build", type=Path, default=Path("build/benchmarks"), help="folder of compiled programs")
    options = parser.parse_args()
    if options.attack:
        attack(*options.attack)
        return
    rows = ["", *(n for n in ATTACKS if not options.only or n in options.only.split(","))]
    ticks, priority, flags = max(1, round(options.seconds * 1e3)), 0, options.server
    if options.realtime:
        check_priority()
        priority, flags = CLIENT, ["--realtime", f"--realtime-priority={SERVER}", *flags]
    print(machine(), versions("jounce", "grpcio", "protobuf"), sep="; ")
    in_c = fast_in_c(options.build)
    way = Way(True, "C", "unix", lambda serving: in_c or in_python(f"fast={serving.unix}"))
    found: dict[str, list[Round]] = {name: [] for name in rows}
    with (
        tempfile.TemporaryDirectory() as place,
        serve(Path(place), "s", *flags) as serving,
        Client.connect(serving.unix) as client,
    ):
        for _, name in itertools.product(range(options.rounds), rows):
            found[name].append(measure(serving, client, way, name, ticks, priority))
    alone = sum(r.overruns for r in found[""])
    head = ["beside it", HEAD[1], "ratio", HEAD[2], *HEAD[4:7], "server's share of a core"]
    lines = [row(name, rounds, alone) for name, rounds in found.items()]
    print(f"\n{options.rounds} x {options.seconds:g} s each; times in us, medians of the rounds\n")
    print(table(head, lines))


if __name__ == "__main__":
    main()
