"""Checks that a server in use for a long time leaks no memory or descriptors and reports no errors.

A `jounce serve` of its own with the built-in vehicle, recordings and metrics; eight sessions, each with two
participants that close a loop (gRPC streams over TCP and unix sockets, and the fast lane over both). Every session
lives for a while, is deleted, and is followed by another; meanwhile its participants lose their connections and rejoin,
it is paused, reset, saved, downloaded, uploaded, restored, forked and watched, and calls that must be refused are.
Sessions run at real time: half of them paced by the server, the others by a participant that sleeps.

A first phase only warms up. The memory's slope is that of a straight line through the samples of the second phase but
for its first quarter; descriptors, threads and child processes are compared with no session open, before and after.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import math
import os
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from serving import WHEELS, Serving, serve
from timing import machine, table, versions

from jounce_client import Client, JounceError, Late, Pacing, Participant, Session

TORQUES = [f"wheel_{w}.drive_torque" for w in WHEELS]
SPEED = 12.0  # where the pilot keeps the vehicle [m/s]


# ---------------------------------------------------------------- the server, seen from outside


@dataclass(frozen=True)
class Sample:
    """Memory, descriptors and processes of the server, as the system reports them."""

    seconds: float
    megabytes: float
    descriptors: int
    threads: int
    children: int
    children_megabytes: float


def resident(pid: int) -> float:
    """Resident memory [MB]; 0 of a process that has gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return 0.0


def sample(pid: int, begin: float) -> Sample:
    """Looks once."""
    tasks = Path(f"/proc/{pid}/task")
    children = []
    for task in tasks.iterdir():
        with contextlib.suppress(OSError):  # a thread may have gone
            children += [int(p) for p in (task / "children").read_text().split()]
    return Sample(time.monotonic() - begin, resident(pid), len(os.listdir(f"/proc/{pid}/fd")),
                  len(list(tasks.iterdir())), len(children), sum(map(resident, children)))


def flags(folder: Path) -> list[str]:
    """Everything on that is installed."""
    found = []
    for extra, package, setting in (("recording", "mcap", f"--record={folder / 'recordings'}"),
                                    ("metrics", "prometheus_client", "--metrics-address=127.0.0.1:0")):
        if importlib.util.find_spec(package):
            found.append(setting)
        else:
            print(f"{extra} left out: no {package}")
    return found


# ---------------------------------------------------------------- the load


class Dropped(Exception):
    """Ends a participant's connection without a Leave."""


@dataclass(frozen=True)
class Pace:
    """How often things happen."""

    period: int  # of the pilot; the trailer's is twice that [ticks]
    life: float  # of a session [s]
    visit: float  # from one act upon a session to the next [s]
    connected: int  # due ticks after which a participant loses its connection [1]


class Load:
    """Sessions and participants until told to stop; counts what they did and notes what went wrong."""

    def __init__(self, server: Serving, pace: Pace) -> None:
        """Nothing runs yet."""
        self.addresses, self.lanes = (server.tcp, server.unix), (server.fast_tcp, server.fast_unix)
        self.pace = pace
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        self.over = threading.Event()
        self._lock = threading.Lock()

    def run(self, sessions: int, seconds: float, look: Callable[[], None]) -> None:
        """Runs that many sessions side by side; ``look`` is called once a second."""
        self.over.clear()
        slots = [threading.Thread(target=self.slot, args=(k,), name=f"slot {k}") for k in range(sessions)]
        for slot in slots:
            slot.start()
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            time.sleep(min(1.0, left))
            look()
        self.over.set()
        for slot in slots:
            slot.join(60.0)
            if slot.is_alive():
                self.errors.append(f"{slot.name} did not end")

    def count(self, what: str) -> None:
        """Once more."""
        with self._lock:
            self.counts[what] += 1

    def slot(self, k: int) -> None:
        """One session after another, each with clients of its own."""
        lives = 0
        while not self.over.is_set():
            # All four pairs of transports, over TCP and unix sockets in turn.
            transports = (self.lanes[lives % 2] if k & 1 else "", self.lanes[(lives + 1) % 2] if k & 2 else "")
            try:
                with Client.connect(self.addresses[(k + lives) % 2]) as client:
                    self.live(client, k, lives, transports)
            except (JounceError, AssertionError, OSError) as error:
                # An error of the run, which goes on.
                self.errors.append(f"session {k}.{lives}: {error!r}")
            lives += 1
            self.over.wait(0.2)

    def live(self, client: Client, k: int, lives: int, transports: tuple[str, str]) -> None:
        """A session's life."""
        paced = (k + lives) % 2 == 0
        session = client.create_session("hmmwv", {"init.speed": SPEED}, participants=("pilot", "trailer"),
                                        pacing=Pacing() if paced else None)
        self.count("sessions")
        done = threading.Event()
        members = [
            threading.Thread(target=self.take_part, args=(client, session, name, transport, not paced, done))
            for name, transport in zip(("pilot", "trailer"), transports, strict=True)
        ]
        for member in members:
            member.start()
        try:
            # Every other session lives as long as the run; the others not for the same time.
            end = math.inf if k & 4 else time.monotonic() + self.pace.life * (1.0 + 0.05 * k)
            visits = k
            while time.monotonic() < end and not done.is_set() and not self.over.wait(self.pace.visit):
                (self.roll_back, self.watch, self.fork, self.interrupt)[visits % 4](client, session)
                visits += 1
        finally:
            # Every third session is deleted under its participants.
            abrupt = lives % 3 == 2
            if abrupt:
                client.delete_session(session)
            done.set()
            for member in members:
                member.join(30.0)
                assert not member.is_alive(), f"{member.name} hangs"
            if not abrupt:
                client.delete_session(session)

    def take_part(self, client: Client, session: Session, name: str, transport: str, timed: bool,
                  done: threading.Event) -> None:
        """A participant that loses its connection now and then."""
        pilot = name == "pilot"
        owns, wants = (["steering_wheel_angle", *TORQUES], ["speed"]) if pilot else (["chassis.ext_force"], ["*"])
        period, token, left = self.pace.period * (1 if pilot else 2), "", False
        try:
            # Whoever has lost its connection comes back to leave: the other would wait for it until its lease ends.
            while not left:
                with contextlib.suppress(Dropped), client.join(
                    session.for_participants(), name, owns=owns, wants=wants, period=period, transport=transport,
                    rejoin=token, late=Late(lease=60.0), barrier_timeout=30.0,
                ) as member:
                    if token:
                        self.count("rejoins")
                        member.sync()
                    token = member.token
                    self.drive(member, period, timed and pilot, done)
                    left = True
        except JounceError as error:
            if error.reason not in ("SESSION_CLOSED", "UNKNOWN_SESSION") or not done.wait(1.0):
                self.errors.append(f"{name} over {transport or 'gRPC'}: {error!r}")
            else:
                self.count("deleted under a participant")
        except (AssertionError, OSError) as error:
            self.errors.append(f"{name} over {transport or 'gRPC'}: {error!r}")
        finally:
            # One that failed must not keep the other waiting.
            done.set()

    def drive(self, member: Participant, period: int, timed: bool, done: threading.Event) -> None:
        """Steps until its connection is lost, or the session's end."""
        for _ in range(self.pace.connected):
            before = member.state
            speed = float(before["speed"])
            if len(member.inputs) == 3:  # the trailer drags
                inputs = [-40.0 * speed, 0.0, 0.0]
            else:
                torque = min(max(400.0 * (SPEED - speed), 0.0), 2000.0)
                inputs = [0.3 * math.sin(0.5 * before.time), *[torque] * 4]
            try:
                state = member.step(inputs)
            except JounceError as error:
                if error.reason != "WRONG_EPOCH":
                    raise
                self.count("epochs told")
                continue
            self.count("steps")
            # That must be what a vehicle does.
            assert state.tick % period == 0 and np.isfinite(state.values).all(), state
            assert 5.0 < float(state["speed"]) < 20.0, state["speed"]
            if done.is_set():
                return
            if timed:
                time.sleep(period * 1e-3)
        raise Dropped

    # ------------------------------------------------------------ visits

    def roll_back(self, client: Client, session: Session) -> None:
        """Save, download, go on, upload, restore; then a reset."""
        saved = client.save(session)
        data = client.download(session, saved)
        self.over.wait(0.3)
        uploaded = client.upload(session, data)
        assert uploaded.tick == saved.tick
        client.restore(session, uploaded)
        for snapshot in (saved, uploaded):
            client.delete_snapshot(session, snapshot)
        self.count("restores")
        self.over.wait(0.3)
        client.reset(session, {"init.speed": SPEED + 1.0})
        self.count("resets")

    def watch(self, client: Client, session: Session) -> None:
        """A viewer that looks for a moment."""
        frames = client.watch(session, ["*"], self.pace.period)
        ticks = [next(frames).tick for _ in range(3)]
        assert len(set(ticks)) == 3, ticks
        self.count("viewers")

    def fork(self, client: Client, session: Session) -> None:
        """A fork that goes its own way."""
        forked = client.fork(session)
        begin = client.get_session(forked).tick
        assert client.advance(forked, 50, {"steering_wheel_angle": 1.0}, ["*"]).tick == begin + 50
        client.delete_session(forked)
        self.count("forks")

    def interrupt(self, client: Client, session: Session) -> None:
        """A pause, and calls that are refused."""
        tick = client.pause(session)
        self.over.wait(0.2)
        assert client.get_session(session).tick == tick
        client.resume(session)
        for reason, call in {
            "PARTICIPANTS_PRESENT": lambda: client.advance(session, 1),
            "UNKNOWN_MODEL": lambda: client.create_session("../hmmwv"),
            "UNKNOWN_SIGNAL": lambda: client.join(session, "other", owns=["no such"]),
            "SNAPSHOT_CORRUPT": lambda: client.upload(session, b"x" * 1000),
        }.items():
            try:
                call()
            except JounceError as error:
                assert error.reason == reason, f"{error} instead of {reason}"
                self.count("refusals")
            else:
                raise AssertionError(f"not refused: {reason}")


# ---------------------------------------------------------------- the run


def slope(samples: list[Sample]) -> float:
    """Growth of the memory along the straight line of least squares [MB/min]."""
    return float(np.polyfit([s.seconds / 60.0 for s in samples], [s.megabytes for s in samples], 1)[0])


def idle(pid: int, begin: float, like: Sample | None = None) -> Sample:
    """A look with no session open; the server gets 10 s to let go of what its clients have left."""
    deadline = time.monotonic() + 10.0
    time.sleep(2.0)
    found = sample(pid, begin)
    while like is not None and time.monotonic() < deadline and (
            found.descriptors > like.descriptors or found.children > like.children):
        time.sleep(0.2)
        found = sample(pid, begin)
    return found


def soak(options: argparse.Namespace, folder: Path) -> bool:
    """Runs, prints, and says whether all is well."""
    pace = Pace(options.period, options.life, options.visit, options.connected)
    samples: list[Sample] = []
    with serve(folder, "s", *flags(folder), *(["--workers"] if options.workers else [])) as server:
        pid, begin = server.pid, time.monotonic()
        load = Load(server, pace)
        load.run(options.sessions, options.warm_up, lambda: None)
        before = idle(pid, begin)
        load.counts.clear()
        load.run(options.sessions, options.seconds, lambda: samples.append(sample(pid, begin)))
        after = idle(pid, begin, before)
        logged = server.log.read_text().splitlines()
    load.errors += [f"the server's log: {line}" for line in logged if "ERROR" in line or "Traceback" in line]
    late = samples[len(samples) // 4 :]
    growth = slope(late)
    shown = [before, *samples[:: max(len(samples) // 20, 1)], after]
    print(table(["s", "MB", "descriptors", "threads", "workers", "their MB"], [
        [f"{s.seconds:.0f}", f"{s.megabytes:.1f}", *map(str, (s.descriptors, s.threads, s.children)),
         f"{s.children_megabytes:.0f}"] for s in shown]))
    print(f"first and last line: no session open. {options.sessions} sessions, {options.seconds:g} s;",
          ", ".join(f"{n} {what}" for what, n in sorted(load.counts.items())))
    for error in load.errors[:20]:
        print(f"error: {error}")
    lines = {
        "errors": (len(load.errors), 0),
        "memory MB/min": (growth, options.most_growth),
        "descriptors left": (after.descriptors - before.descriptors, 0),
        "workers left": (after.children, 0),
    }
    for name, (found, allowed) in lines.items():
        print(f"{name}: {found:.3g}, allowed {allowed:g}")
    return all(found <= allowed for found, allowed in lines.values())


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1200.0, help="second phase (default %(default)s)")
    parser.add_argument("--warm-up", type=float, default=60.0, help="first phase [s]")
    parser.add_argument("--sessions", type=int, default=8, help="at a time")
    parser.add_argument("--workers", action="store_true", help="a process for each session")
    parser.add_argument("--period", type=int, default=20, help="of the pilot [ticks]")
    parser.add_argument("--life", type=float, default=30.0, help="of a session [s]")
    parser.add_argument("--visit", type=float, default=3.0, help="time between two acts upon a session [s]")
    parser.add_argument("--connected", type=int, default=400, help="steps before a connection is lost")
    parser.add_argument("--most-growth", type=float, default=1.0, help="memory allowed [MB/min]")
    options = parser.parse_args()
    print(machine(), versions("jounce", "grpcio", "protobuf"), sep="; ")
    with tempfile.TemporaryDirectory() as folder:
        return 0 if soak(options, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
