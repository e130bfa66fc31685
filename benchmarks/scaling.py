"""Measures round trip and throughput for different numbers of participants and sessions, per transport.

Two servers, one with its sessions in process and one with a worker for each (`--workers`). Every participant is a
process of its own that steps as fast as it may: the native clients cost next to nothing and show the server's limit,
the Python clients share the cores with it. Each case takes blocks in turn with the raw socket echo of `echo.py` on the
same network. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from participants import Loop, Way, apart, looping, participant, ways
from serving import OWNED, Raw, Serving, moving, raw_peer, serve, sizes
from timing import Samples, machine, table, versions

from jounce_client import Client

#: Sessions, participants of each.
CASES = ((1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (4, 1), (8, 1))


@dataclass
class Case:
    """Round trips, those of the raw socket between them, and ticks per second of all sessions together."""

    trips: Samples = field(default_factory=Samples)
    floor: Samples = field(default_factory=Samples)
    rates: list[float] = field(default_factory=list)

    def p50(self) -> str:
        """In us, and to the floor."""
        p50 = self.trips.percentile(50)
        return f"{p50 / 1e3:.0f} ({p50 / self.floor.percentile(50):.1f})"


def together(loops: Sequence[Loop], n: int) -> NDArray[np.float64]:
    """Begin and end [ns] of ``n`` steps of each, all at once: loop, step, begin or end."""
    for loop in loops:
        loop.start(n)
    return np.array([loop.times() for loop in loops])


def measure(serving: Serving, client: Client, way: Way, raw: Raw, case: tuple[int, int], rounds: int, n: int) -> Case:
    """One case, in blocks of ``n`` ticks."""
    sessions, participants = case
    found = Case()
    with contextlib.ExitStack() as stack:
        loops = []
        for _ in range(sessions):
            names = [f"p{i}" for i in range(participants)]
            session = moving(client, *names)
            stack.callback(client.delete_session, session)
            for i, name in enumerate(names):
                # All inputs have an owner, whoever it is.
                command = participant(way, serving, session, name, OWNED[i::participants])
                loops.append(stack.enter_context(looping(command)))
        together(loops, n)
        for _ in range(rounds):
            found.floor.add(raw.trips(n))
            times = together(loops, n)
            found.trips.add(Samples((times[:, :, 1] - times[:, :, 0]).ravel().tolist()))
            found.rates.append(sessions * n * 1e9 / (times[:, :, 1].max() - times[:, :, 0].min()))
    return found


def report(found: dict[str, list[Case]], names: list[str]) -> None:
    """Three tables: a row per way, a column per case."""
    head = ["sessions x participants", *names]
    tables: dict[str, Callable[[Case], str]] = {
        "Round trip, p50 in us (and to the raw socket's p50 in the same case)": Case.p50,
        "Round trip, p99 in us": lambda case: f"{case.trips.percentile(99) / 1e3:.0f}",
        "Ticks per second, all sessions together": lambda case: f"{np.median(case.rates):.0f}",
    }
    for title, cell in tables.items():
        rows = [[name, *map(cell, cases)] for name, cases in found.items()]
        print(f"\n{title}:\n\n{table(head, rows)}")
    floors = [case.floor for cases in found.values() for case in cases]
    middle = [floor.percentile(50) / 1e3 for floor in floors]
    print(f"\nraw socket: p50 {np.median(middle):.0f} us, {min(middle):.0f} to {max(middle):.0f} over the cases\n")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6, help="blocks of each case (default %(default)s)")
    parser.add_argument("--ticks", type=int, default=100, help="ticks a block")
    parser.add_argument("--most", type=int, default=8, help="most participants of a case, in all its sessions")
    parser.add_argument("--only", default="", help="rows whose name has this in it, as \"stream\" or \"in process\"")
    parser.add_argument("--networks", nargs="+", choices=("unix", "tcp"), default=["unix", "tcp"])
    parser.add_argument("--priority", type=int, default=30, help="of SCHED_FIFO, so that processes do not share a core"
                        " while another is free; 0 = none (default %(default)s)")
    parser.add_argument("--server", action="append", default=[], metavar="FLAG", help="as --server=--realtime")
    parser.add_argument("--cpp", action="store_true", help="build and measure the C++ client, too")
    parser.add_argument("--build", type=Path, default=Path("build/benchmarks"), help="folder of compiled programs")
    options = parser.parse_args()
    print(machine(), versions("jounce", "grpcio", "protobuf"), sep="; ")
    cases = [(sessions, each) for sessions, each in CASES if sessions * each <= options.most]
    found: dict[str, list[Case]] = {}
    with apart(options.priority), tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        folder = Path(place)
        servers = {
            "in process": stack.enter_context(serve(folder, "s", *options.server)),
            "worker": stack.enter_context(serve(folder, "w", "--workers", *options.server)),
        }
        clients = {name: stack.enter_context(Client.connect(s.unix)) for name, s in servers.items()}
        scalars = sizes(clients["in process"])
        floors = {network: raw_peer(stack, folder, network, scalars)[0] for network in options.networks}
        for way, (hosting, serving) in product(ways(options.build, options.networks, options.cpp), servers.items()):
            name, raw = f"{way.name}, {hosting}", floors[way.network]
            if options.only not in name:
                continue
            sys.stderr.write(f"{name}\n")
            found[name] = [
                measure(serving, clients[hosting], way, raw, case, options.rounds, options.ticks) for case in cases
            ]
    report(found, [f"{sessions} x {each}" for sessions, each in cases])
    print(machine())


if __name__ == "__main__":
    main()
