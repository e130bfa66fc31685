"""Measures the timing of a session paced at 1 kHz, in the server and at a client, for each transport.

For each transport one participant, in its own process, answers every state at once. As a baseline, two C programs do
the same with empty messages (`native/pair_loop.c`) before each measurement. With `--realtime` the server runs as
`jounce serve --realtime`, and clients and baseline at lower real-time priorities. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from participants import Loop, Way, compiled, looping, participant, prioritized, ways
from serving import OWNED, Serving, moving, serve
from timing import machine, table, versions

from jounce_client import Client, Pacing
from jounce_proto import jounce_pb2 as pb

TICK = 1e6  # ns
#: Priorities of SCHED_FIFO.
SERVER, CLIENT = 40, 30
HEAD = ["1 kHz", "overruns", "late releases", "late slots", "p50", "p99", "p99.9", "greatest", "stolen"]


class Stolen:
    """Time [% of all cores] that the host did not give to this virtual machine, if the system reports it."""

    def __init__(self) -> None:
        """From now on."""
        self._begin = self._count()

    def share(self) -> str:
        """Until now."""
        steal, whole = self._count() - self._begin
        return f"{100.0 * steal / whole:.1f} %" if whole else "-"

    def _count(self) -> NDArray[np.int64]:
        place = Path("/proc/stat")
        fields = place.read_text().splitlines()[0].split()[1:9] if place.is_file() else []
        return np.array([int(fields[7]), sum(map(int, fields))] if len(fields) == 8 else [0, 0])


def lateness(arrived: NDArray[np.float64]) -> list[str]:
    """Of arrivals [ns], past the grid through the earliest: slots that were missed, and percentiles in us."""
    late = arrived - np.arange(len(arrived)) * TICK
    late -= late.min()
    percentiles = [*np.percentile(late, (50, 99, 99.9)), late.max()]
    return [share(int(np.sum(late >= TICK)), len(late)), *(f"{x / 1e3:.0f}" for x in percentiles)]


def share(events: int, of: int) -> str:
    """As a number and in percent."""
    return f"{events} ({100.0 * events / of:.2f} %)"


def stepped(
    serving: Serving, client: Client, way: Way, ticks: int, priority: int, pacing: Pacing | None
) -> tuple[NDArray[np.float64], pb.PacingStatus, str]:
    """Of so many steps in a new session: the client's log, what the server counted, and what the host stole."""
    session = moving(client, "rig", pacing=pacing)
    with looping(participant(way, serving, session, "rig", OWNED), priority) as loop:
        stolen = Stolen()
        log = loop.run(ticks)
        lost = stolen.share()
        kept = client.get_session(session).pacing
    client.delete_session(session)
    return log, kept, lost


def measure(serving: Serving, client: Client, way: Way, ticks: int, priority: int) -> list[str]:
    """What the server counted, and how late states arrived after a grid through the earliest of them."""
    # First without a pace: all code that takes part has run once.
    stepped(serving, client, way, 200, priority, None)
    log, kept, lost = stepped(serving, client, way, ticks, priority, Pacing())
    return [share(kept.overruns, ticks), str(kept.late_releases), *lateness(log[:, 1]), lost]


def measure_pair(pair: Loop, ticks: int) -> list[str]:
    """The same of the floor, counted as the server counts (`jounce_service.session.pacing`)."""
    stolen = Stolen()
    due, ready, arrived = pair.run(ticks).T
    lost = stolen.share()
    behind = np.maximum(ready - due, 0.0)
    overruns = int(np.sum(np.diff(behind, prepend=0.0) > 0.0))
    return [share(overruns, ticks), str(np.count_nonzero(behind)), *lateness(arrived), lost]


def check_priority() -> None:
    """Ends the program where it may not give real-time priority."""
    try:
        with prioritized(SERVER):
            pass
    except PermissionError:
        sys.exit("--realtime needs CAP_SYS_NICE or RLIMIT_RTPRIO")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each path (default %(default)s)")
    parser.add_argument("--only", default="", help='rows whose name has this in it, as "in process" or "fast lane, C"')
    parser.add_argument("--realtime", action="store_true", help="real-time priority for server, clients and floor")
    parser.add_argument("--server", action="append", default=[], metavar="FLAG", help="as --server=--realtime-cores=1")
    parser.add_argument("--cpp", action="store_true", help="build and measure the C++ client, too")
    parser.add_argument("--build", type=Path, default=Path("build/benchmarks"), help="folder of compiled programs")
    options = parser.parse_args()
    ticks, priority, flags = max(1, round(options.seconds * 1e3)), 0, options.server
    if options.realtime:
        check_priority()
        priority, flags = CLIENT, ["--realtime", f"--realtime-priority={SERVER}", *flags]
    print(machine(), versions("jounce", "grpcio", "protobuf"), sep="; ")
    rows = []
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        folder = Path(place)
        servers = {"in process": stack.enter_context(serve(folder, "s", *flags)),
                   "worker": stack.enter_context(serve(folder, "w", "--workers", *flags))}
        for line in servers["in process"].log.read_text().splitlines():
            if "real time" in line:
                print(line.partition("real time ")[2])
        program = compiled("pair_loop", options.build)
        pair = None if program is None else stack.enter_context(looping(program, priority and SERVER))
        for hosting, way in product(servers, ways(options.build, ["unix"], options.cpp, ("sync", "aio"))):
            name = f"{way.name}, {hosting}"
            if options.only in name:
                if pair is not None:
                    rows.append(["two C programs alone", *measure_pair(pair, max(1, ticks // 3))])
                with Client.connect(servers[hosting].unix) as client:
                    rows.append([name, *measure(servers[hosting], client, way, ticks, priority)])
                sys.stderr.write("".join(f"{' | '.join(row)}\n" for row in rows[-2:]))
    print(f"\n{options.seconds:g} s each; late slots: by 1 ms or more; times in us\n\n{table(HEAD, rows)}\n")
    print(machine())


if __name__ == "__main__":
    main()
