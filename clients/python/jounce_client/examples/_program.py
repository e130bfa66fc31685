"""What the example programs share: their command line, round-trip times, logs."""

from __future__ import annotations

import argparse
import csv
import json
import time
from pathlib import Path

import numpy as np

from jounce_client import Participant, Session, State


def arguments(description: str) -> argparse.ArgumentParser:
    """Flags every program has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--address", required=True, help="host:port or unix:/path of the server")
    parser.add_argument("--session", required=True, help="session id")
    parser.add_argument("--token", required=True, help="join token of the session (or its session token)")
    parser.add_argument("--duration", type=float, default=20.0, help="simulated time [s] (default %(default)s)")
    parser.add_argument("--log", type=Path, help="CSV file to write")
    parser.add_argument("--summary", type=Path, help="JSON file to write")
    return parser


def session_of(given: argparse.Namespace) -> Session:
    """The session that the flags name."""
    return Session(given.session, given.token)


class Recorder:
    """Steps a participant, times every round trip and logs rows."""

    def __init__(self, participant: Participant, columns: list[str]) -> None:
        """``columns`` are the names of a row's values; the time comes first."""
        self._participant = participant
        self._columns = ["time", *columns]
        self._rows: list[list[float]] = []
        self._round_trips: list[int] = []
        self._begin = time.perf_counter_ns()

    def step(self, inputs: np.ndarray) -> State:
        """One lockstep round trip."""
        before = time.perf_counter_ns()
        state = self._participant.step(inputs)
        self._round_trips.append(time.perf_counter_ns() - before)
        return state

    def row(self, moment: float, values: list[float]) -> None:
        """Log one row at ``moment`` [s]."""
        self._rows.append([moment, *values])

    def save(self, log: Path | None, summary: Path | None, **facts: float) -> None:
        """Write the log and the summary; ``facts`` go into the summary."""
        if log:
            with log.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(self._columns)
                writer.writerows([f"{value:.9g}" for value in row] for row in self._rows)
        if summary:
            trips = np.array(self._round_trips) * 1e-6 if self._round_trips else np.zeros(1)
            p50, p99 = np.percentile(trips, [50, 99])
            data = {"steps": len(self._round_trips), "wall_seconds": (time.perf_counter_ns() - self._begin) * 1e-9,
                    "round_trip_p50_ms": p50, "round_trip_p99_ms": p99, **facts}
            summary.write_text(json.dumps({k: float(v) for k, v in data.items()}, indent=1))
