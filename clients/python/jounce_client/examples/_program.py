"""Code that the example programs share: command line, round-trip times, logs."""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from jounce.contact.soil import SOILS
from jounce_client import Client, JounceError, Participant, Session, State
from jounce_client.examples.on_soil import PARAMETERS, start_on_soil

#: Wall-clock time [s] to wait for the program that creates the session, and between two checks.
_WAIT, _LOOK = 60.0, 0.1


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser with the flags that all programs have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--address", required=True, help="host:port or unix:/path of the server")
    parser.add_argument("--session", help="session id")
    parser.add_argument("--token", help="join token of the session (or its session token)")
    parser.add_argument("--session-file", type=Path,
                        help="instead of both: JSON file to wait for, which the program with --create writes")
    parser.add_argument("--create", metavar="MODEL",
                        help="make the session, write --session-file, and delete the session at the end")
    parser.add_argument("--participants", nargs="+", default=[], help="with --create: who must join before the start")
    parser.add_argument("--parameter", action="append", default=[], metavar="NAME=VALUE",
                        help="with --create: a parameter of the model, may repeat")
    parser.add_argument("--start-on-soil", metavar="SOIL", choices=sorted(SOILS),
                        help="with --create: start rolling on this soil, which a terramechanics program must carry on")
    parser.add_argument("--duration", type=float, default=20.0, help="simulated time [s] (default %(default)s)")
    parser.add_argument("--log", type=Path, help="CSV file to write")
    parser.add_argument("--summary", type=Path, help="JSON file to write")
    return parser


def parse(parser: argparse.ArgumentParser, argv: list[str] | None) -> argparse.Namespace:
    """Parses the flags, and checks that they name a session in one of the two ways."""
    options = parser.parse_args(argv)
    if not options.session_file and not (options.session and options.token):
        parser.error("--session and --token, or --session-file, must be given")
    if options.create and not options.session_file:
        parser.error("--create needs --session-file")
    if any("=" not in one for one in options.parameter):
        parser.error(f"--parameter {' '.join(options.parameter)}: expected NAME=VALUE")
    if len({one.partition("=")[0] for one in options.parameter}) < len(options.parameter):
        parser.error(f"--parameter {' '.join(options.parameter)}: expected each name once")
    return options


@contextmanager
def session_of(options: argparse.Namespace, client: Client) -> Iterator[Session]:
    """Creates or waits for the session of the flags; deletes it at the end if created here. Raises JounceError."""
    if not options.create:
        yield _named(options, client)
        return
    parameters = dict(_parameter(text) for text in options.parameter)
    inputs: dict[str, float] = {}
    if options.start_on_soil:
        speed = float(parameters.get("init.speed", 0.0))
        inputs = start_on_soil(client, options.create, parameters, SOILS[options.start_on_soil], speed)
        parameters |= PARAMETERS
    with client.create_session(options.create, parameters, start_inputs=inputs,
                               participants=options.participants) as session:
        # Whole or not at all, and for this user only: it holds a secret.
        part = options.session_file.with_name(options.session_file.name + ".part")
        part.touch(mode=0o600)
        part.write_text(json.dumps({"session": session.id, "token": session.join_token}))
        part.replace(options.session_file)
        yield session
        # Wait until the other programs have left.
        while any(member.joined for member in client.get_session(session).participants):
            time.sleep(_LOOK)


def _named(options: argparse.Namespace, client: Client) -> Session:
    if not options.session_file:
        return Session(options.session, options.token)
    end = time.monotonic() + _WAIT
    while True:
        try:
            named = json.loads(options.session_file.read_text())
            session = Session(named["session"], named["token"])
            client.get_session(session)
            return session
        except (FileNotFoundError, JounceError) as error:
            # The file of an earlier run names a session that no longer exists; wait for the new file.
            if isinstance(error, JounceError) and error.reason != "UNKNOWN_SESSION" or time.monotonic() > end:
                raise
        time.sleep(_LOOK)


def _parameter(text: str) -> tuple[str, float | str]:
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError:
        return name, value


class Recorder:
    """Steps a participant, times every round trip and logs rows."""

    def __init__(self, participant: Participant, columns: list[str]) -> None:
        """``columns`` are the names of a row's values; the time comes first."""
        self._participant = participant
        self._columns = ["time", *columns]
        self._rows: list[list[float]] = []
        self._round_trips: list[int] = []
        self._begin = self._back = time.perf_counter_ns()
        self._own = 0

    def step(self, inputs: np.ndarray) -> State:
        """One lockstep round trip."""
        before = time.perf_counter_ns()
        self._own += before - self._back
        state = self._participant.step(inputs)
        self._back = time.perf_counter_ns()
        self._round_trips.append(self._back - before)
        return state

    def row(self, moment: float, values: list[float]) -> None:
        """Adds a row for the time ``moment`` [s]."""
        self._rows.append([moment, *values])

    def save(self, log: Path | None, summary: Path | None, **facts: float) -> None:
        """Writes the log and the summary; ``facts`` go into the summary."""
        if log:
            with log.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(self._columns)
                # 17 digits read back as the same double: logs of two runs can be compared bit by bit.
                writer.writerows([f"{value:.17g}" for value in row] for row in self._rows)
        if summary:
            trips = np.array(self._round_trips) * 1e-6 if self._round_trips else np.zeros(1)
            p50, p99 = np.percentile(trips, [50, 99])
            data = {"steps": len(self._round_trips), "wall_seconds": (time.perf_counter_ns() - self._begin) * 1e-9,
                    "own_seconds": self._own * 1e-9, "round_trip_p50_ms": p50, "round_trip_p99_ms": p99, **facts}
            summary.write_text(json.dumps({k: float(v) for k, v in data.items()}, indent=1))
