"""Forks a running session many times at one tick; each fork tries another steering angle.

This is one decision of a sampling model-predictive controller that uses the real model for its forecast. The plant
waits between two ticks while every candidate is driven over the horizon on its own fork; the best candidate is then
applied to the plant. The forks are independent sessions, and several run at a time to use the server's cores. A fork
has the complete state, so the plant then does exactly what its fork did, bit for bit; the program checks that.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from jounce_client import Client, JounceError, Session, Snapshot, State

STEERING = "steering_wheel_angle"
WANTS = ("ref_frame.pos", "ref_frame.yaw", "speed")


@dataclass(frozen=True)
class Task:
    """The goal: to be ``offset`` [m] to the left, with the same heading, ``horizon`` [s] from now."""

    offset: float = 1.0
    horizon: float = 1.5
    #: Largest steering-wheel angle to try [rad].
    most: float = 3.0
    candidates: int = 200


@dataclass(frozen=True)
class Decision:
    """The best ``angle`` [rad] with its ``cost`` [m], the ``spread`` of all costs [m], and the time that it took."""

    angle: float
    cost: float
    spread: float
    candidates: int
    #: Wall-clock time of all forks [s], and the number of forks at a time [1].
    seconds: float
    workers: int


class WhatIf:
    """Tries steering angles on forks of one session."""

    def __init__(self, client: Client, session: Session, task: Task) -> None:
        """``session`` has no participants."""
        self._client, self._session, self._task = client, session, task
        self._half = round(0.5 * task.horizon / session.tick_seconds)

    def decide(self, workers: int) -> tuple[Decision, State]:
        """Returns the best of all candidates, and the state at the end of its fork."""
        angles = np.linspace(-self._task.most, self._task.most, self._task.candidates)
        begin = time.perf_counter()
        start = self._client.advance(self._session, 0, outputs=WANTS)
        instant = self._client.save(self._session)
        try:
            with ThreadPoolExecutor(workers) as pool:
                ends = list(pool.map(lambda angle: self.forecast(instant, float(angle)), angles))
        finally:
            self._client.delete_snapshot(self._session, instant)
        costs = np.array([self.cost(start, end) for end in ends])
        best = int(np.argmin(costs))
        decision = Decision(float(angles[best]), float(costs[best]), float(np.ptp(costs)), len(angles),
                            time.perf_counter() - begin, workers)
        return decision, ends[best]

    def forecast(self, instant: Snapshot, angle: float) -> State:
        """Returns the state at the end of the horizon, from a fork."""
        with self._client.fork(self._session, instant) as fork:
            return self.drive(fork, angle)

    def drive(self, session: Session, angle: float) -> State:
        """Changes the lane: steers to one side for half of the horizon, and then to the other side."""
        self._client.advance(session, self._half, {STEERING: angle})
        return self._client.advance(session, self._half, {STEERING: -angle}, WANTS)

    def cost(self, start: State, end: State) -> float:
        """Distance from the goal [m]; one radian of heading counts as 10 m."""
        yaw = float(start["ref_frame.yaw"])
        moved = np.asarray(end["ref_frame.pos"])[:2] - np.asarray(start["ref_frame.pos"])[:2]
        left = float(moved @ [-np.sin(yaw), np.cos(yaw)])
        return abs(left - self._task.offset) + 10.0 * abs(float(end["ref_frame.yaw"]) - yaw)


def main(argv: list[str] | None = None) -> int:
    """Makes one decision, starting from straight driving."""
    parser = argparse.ArgumentParser(description="Sweeps the steering over forks of one instant, and applies the best.")
    parser.add_argument("--address", required=True, help="host:port or unix:/path of the server")
    parser.add_argument("--model", default="hmmwv", help="model of the session (default %(default)s)")
    parser.add_argument("--speed", type=float, default=12.0, help="speed at the start [m/s] (default %(default)s)")
    parser.add_argument("--candidates", type=int, default=200, help="angles to try (default %(default)s)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1,
                        help="forks under way at a time (default: the processors here, %(default)s)")
    parser.add_argument("--summary", type=Path, help="JSON file to write; else standard output has it")
    options = parser.parse_args(argv)
    with (Client.connect(options.address) as client,
          client.create_session(options.model, {"init.speed": options.speed}) as session):
        client.advance(session, round(1.0 / session.tick_seconds))
        what_if = WhatIf(client, session, Task(candidates=options.candidates))
        decision, forecast = what_if.decide(options.workers)
        applied = what_if.drive(session, decision.angle)
    if applied.values.tobytes() != forecast.values.tobytes():
        sys.exit("what_if: the plant's state differs from that of its fork")
    text = json.dumps(asdict(decision), indent=1) + "\n"
    options.summary.write_text(text) if options.summary else sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except JounceError as error:
        sys.exit(f"what_if: {error}")
