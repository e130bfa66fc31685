"""What all bridges share: their options, the session, counters and the line of status."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from typing import TextIO

from jounce_client import Client, Late, Pacing, Participant, Session, State, Tls
from jounce_client.errors import JounceError

#: Wheels of the vehicles that pilots drive; `jounce.axles` has them for all, and the client installs without it.
WHEELS = ("FL", "FR", "RL", "RR")
#: Seconds between two lines of status.
STATUS = 1.0


class BridgeError(ValueError):
    """An option or a message of the peer that cannot be used; the text says what is expected."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of every bridge."""
    parser.add_argument("--address", default="127.0.0.1:50051", help="host:port or unix:/path of the server "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--vehicle", default="hmmwv", help="vehicle of the session (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="parameter, may repeat")
    parser.add_argument("--session", metavar="ID", help="join this session instead of making one")
    parser.add_argument("--session-token", metavar="TOKEN", help="token of that session")
    parser.add_argument("--participant", action="append", default=[], metavar="NAME",
                        help="who else must join before the clock starts, may repeat")
    parser.add_argument("--pace", choices=("free", "realtime"), default="free",
                        help="free: as fast as the peers allow; realtime: by the wall clock (default: %(default)s)")
    parser.add_argument("--record", type=int, metavar="TICKS", help="record the session at this interval")
    parser.add_argument("--token", default="", help="bearer token of the server")
    parser.add_argument("--tls-ca", metavar="FILE", help="certificate of the server's authority; turns TLS on")
    parser.add_argument("--log", choices=("text", "json"), default="text", help="form of the line of status")
    parser.add_argument("--frames", type=int, default=0, metavar="N", help="end after N steps (default: never)")


def program(name: str, text: str, add_options: Callable[[argparse.ArgumentParser], None],
            run: Callable[[argparse.Namespace], int]) -> None:  # fmt: skip
    """A bridge as a program of its own: ends with its exit code, or with one line that says what was wrong."""
    parser = argparse.ArgumentParser(description=text)
    add_options(parser)
    try:
        sys.exit(run(parser.parse_args()))
    except (BridgeError, JounceError, OSError) as error:
        sys.exit(f"{name}: {error}")


def number(text: str) -> float:
    """A finite number. Raises BridgeError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BridgeError(f"{text!r}: expected a finite number")
    return value


def _parameters(texts: Sequence[str]) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise BridgeError(f"--set {text}: expected NAME=VALUE")
        if name in found:
            raise BridgeError(f"--set {text}: {name} is given twice; expected once")
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = value
    return found


@contextmanager
def opened(given: argparse.Namespace, name: str) -> Iterator[tuple[Client, Session]]:
    """The client, and the session that the options name or ask for. Raises JounceError, OSError, BridgeError."""
    parameters = _parameters(given.set)
    if (given.session is None) != (given.session_token is None):
        raise BridgeError("--session and --session-token: expected both or none")
    tls = Tls(ca=given.tls_ca) if given.tls_ca else None
    with Client.connect(given.address, tls=tls, token=given.token) as client:
        if given.session is not None:
            yield client, Session(given.session, given.session_token)
            return
        pacing = Pacing() if given.pace == "realtime" else None
        with client.create_session(given.vehicle, parameters, participants=[name, *given.participant], pacing=pacing,
                                   record_every=given.record) as session:  # fmt: skip
            yield client, session


def joined(client: Client, session: Session, name: str, *, owns: Sequence[str], wants: Sequence[str], period: int,
           safe: Sequence[float] | None) -> Participant:  # fmt: skip
    """The bridge's place in the session; ``safe`` are its inputs once it is gone, None: the session waits for it."""
    late = None if safe is None else Late("SAFE_VALUE", safe=tuple(safe))
    return client.join(session, name, owns=owns, wants=wants, period=period, late=late, barrier_timeout=0.0)


def stepped(participant: Participant, inputs: Sequence[float]) -> State:
    """One step; after a reset or a restore by somebody else the state there. Raises JounceError.

    A session that has gone on with the safe values meanwhile is taken up where it is.
    """
    try:
        return participant.step(inputs)
    except JounceError as error:
        if error.reason == "WRONG_EPOCH":
            return participant.state
        if error.reason != "TOO_LATE":
            raise
    participant.sync()
    return participant.step(inputs)


@dataclass
class Counters:
    """What the peer sent, by kind."""

    steps: int = 0
    repeats: int = 0
    gaps: int = 0
    restarts: int = 0
    refused: int = 0


class Status:
    """One line a second: time, rate, and what the peer did."""

    def __init__(self, name: str, form: str, file: TextIO = sys.stderr) -> None:
        """``form`` is text or json."""
        self._name, self._form, self._file = name, form, file
        self._last, self._steps = time.monotonic(), 0

    def told(self, counters: Counters, sim_time: float, *, waiting: str = "") -> None:
        """Writes the line where it is due; ``waiting`` says for whom the bridge waits."""
        now = time.monotonic()
        if now - self._last < STATUS:
            return
        rate = (counters.steps - self._steps) / (now - self._last)
        self._last, self._steps = now, counters.steps
        if self._form == "json":
            line = json.dumps({"bridge": self._name, "time": sim_time, "rate": rate, **asdict(counters),
                               "waiting": waiting})  # fmt: skip
        else:
            parts = [f"{f.name} {getattr(counters, f.name)}" for f in fields(counters)]
            line = f"{self._name}: {sim_time:.2f} s, {rate:.0f} steps/s, {', '.join(parts)}"
            line += f"; waiting for {waiting}" if waiting else ""
        self._file.write(line + "\n")
        self._file.flush()
