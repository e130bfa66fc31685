"""Counts the overruns of a session paced at 1 kHz that are not caused by the host of a shared machine.

A watcher on each core, with a higher real-time priority than everything measured, wakes up every 0.5 ms. If it wakes up
late, the host had taken the core away. Rounds that overlap such a moment are left out, and the overruns of the others
are counted. The client's log tells which rounds had an overrun, by the rule of `jounce_service.session.pacing`; the one
time that the client does not know is chosen so that the number agrees with the server's. For comparison the watchers
also run alone, and beside two C programs that only sleep, send and answer. Needs the rights of `--realtime` and a C
compiler. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from paced import CLIENT, SERVER, TICK, Stolen, check_priority, share, stepped
from participants import Loop, compiled, looping, ways
from serving import serve
from timing import machine, table, versions

from jounce_client import Client, Pacing

Times = NDArray[np.float64]
#: Priority of SCHED_FIFO of the watchers.
WATCHER = SERVER + 5
#: Period of their wake-ups, and the lateness of one from which the core was away [ns].
WAKE, AWAY = 500e3, 100e3
HEAD = ["1 kHz", "lost a second", "time lost", "overruns", "by the client's log", "undisturbed rounds",
        "overruns in them", "stolen"]


class Watchers:
    """One on each core."""

    def __init__(self, loops: list[Loop]) -> None:
        """They are running."""
        self._loops = loops

    def start(self, seconds: float) -> None:
        """Begins to watch."""
        for loop in self._loops:
            loop.start(round(seconds * 1e9 / WAKE))

    def away(self) -> tuple[Times, list[str]]:
        """Begin and end [ns] of the moments in which a core was away, in order; how many a second, and their share."""
        found, events, lost, whole = [], 0, 0.0, 0.0
        for loop in self._loops:
            stamps = loop.times().T
            moments, times, span = gone(*stamps)
            found.append(moments)
            events, lost, whole = events + times, lost + span, whole + stamps.shape[1] * WAKE
        every = np.concatenate(found)
        return every[np.argsort(every[:, 0])], [f"{events / whole * 1e9:.1f}", f"{100.0 * lost / whole:.2f} %"]


def gone(due: Times, woken: Times) -> tuple[Times, int, float]:
    """Of a watcher's wake-ups [ns]: begin and end of moments without the core, how many were apart, and their length.

    A moment begins where the core was last seen; its length counts from when it was wanted.
    """
    seen = np.append(-np.inf, woken[:-1])
    late = woken - due > AWAY
    length = np.sum((woken - np.maximum(due, seen))[late])
    return np.stack([seen, woken], axis=1)[late], int(np.sum(late & (due > seen))), float(length)


def grown(behind: Times) -> NDArray[np.bool_]:
    """At which rounds there was an overrun, of how far each was behind."""
    return np.diff(behind, prepend=0.0) > 0.0


def rounds(log: Times, counted: int) -> tuple[Times, Times, NDArray[np.bool_]]:
    """Begin and end [ns] of each round, and at which of them there was an overrun, of the client's log.

    A round begins when a state is due, and ends when the next is ready: ``begin`` of the step, and a time that the
    client does not see. States are due on the grid through the earliest arrival.
    """
    begin, arrived = log[1:, 0], log[1:, 1]
    grid = np.arange(len(begin)) * TICK
    due = grid + (arrived - grid).min()
    lags = np.arange(0.0, TICK, 10e3)
    tries = [grown(np.maximum(0.0, begin + lag - due)) for lag in lags]
    best = min(range(len(lags)), key=lambda k: abs(int(tries[k].sum()) - counted))
    return due - TICK, np.maximum(due, begin + lags[best]), tries[best]


def touched(spans: Times, moments: Times) -> NDArray[np.bool_]:
    """Which spans overlap a moment; both in order of their begins."""
    reach = np.maximum.accumulate(moments[:, 1]) if len(moments) else np.zeros(0)
    before = np.searchsorted(moments[:, 0], spans[:, 1])
    return (before > 0) & (np.append(-np.inf, reach)[before] >= spans[:, 0])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each run (default %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="default %(default)s")
    parser.add_argument("--server", action="append", default=[], metavar="FLAG", help="as --server=--realtime-cores=1")
    parser.add_argument("--build", type=Path, default=Path("build/benchmarks"), help="folder of compiled programs")
    options = parser.parse_args()
    check_priority()
    program, floor = compiled("watch_core", options.build), compiled("pair_loop", options.build)
    if program is None or floor is None:
        sys.exit("a C compiler is needed")
    way = next(way for way in ways(options.build, ["unix"], cpp=False) if way.fast)
    seconds, ticks = options.seconds, round(options.seconds * 1e3)
    print(machine(), versions("jounce", "grpcio", "protobuf"), sep="; ")
    rows: list[list[str]] = []

    def watched(name: str, moments: Times, away: list[str], told: list[Any], lost: str) -> None:
        cells = ["-"] * 4
        if told:
            begin, end, over, counted = told
            quiet = ~touched(np.stack([begin, end], axis=1), moments)
            shares = [(counted, len(over)), (over.sum(), len(over)), (quiet.sum(), len(over)),
                      (np.sum(over & quiet), quiet.sum())]
            cells = [share(int(events), int(of)) for events, of in shares]
        rows.append([name, *away, *cells, lost])
        sys.stderr.write(" | ".join(rows[-1]) + "\n")

    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        flags = ["--realtime", f"--realtime-priority={SERVER}", *options.server]
        serving = stack.enter_context(serve(Path(place), "s", *flags))
        pair = stack.enter_context(looping(floor, SERVER))
        cores = [stack.enter_context(looping([*program, str(core)], WATCHER)) for core in os.sched_getaffinity(0)]
        watchers = Watchers(cores)
        with Client.connect(serving.unix) as client:
            # First without a pace: all code that takes part has run once.
            stepped(serving, client, way, 200, CLIENT, None)
            for _ in range(options.runs):
                stolen = Stolen()
                watchers.start(seconds / 3.0)
                watched("nothing", *watchers.away(), [], stolen.share())
                stolen = Stolen()
                watchers.start(seconds / 3.0)
                due, ready, _ = pair.run(round(seconds / 3.0 * 1e3)).T
                moments, away = watchers.away()
                over = grown(np.maximum(ready - due, 0.0))
                watched("two C programs", moments, away, [due - TICK, np.maximum(due, ready), over, over.sum()],
                        stolen.share())
                watchers.start(seconds + 1.0)
                log, kept, lost = stepped(serving, client, way, ticks, CLIENT, Pacing())
                watched(way.name, *watchers.away(), [*rounds(log, kept.overruns), kept.overruns], lost)
    print(f"\n{seconds:g} s each\n\n{table(HEAD, rows)}\n")
    print(machine())


if __name__ == "__main__":
    main()
