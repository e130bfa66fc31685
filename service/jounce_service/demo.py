"""The demonstration: a server and two programs, each a process of its own, in lockstep over a unix socket.

On soil the terramechanics program (1 kHz) carries the vehicle and the autopilot (50 Hz) drives it through the
double lane change; on asphalt the model's own tires do, and the autopilot drives alone.
"""

from __future__ import annotations

import contextlib
import csv
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jounce.course import DoubleLaneChange
from jounce_client import Client, JounceError

Table = dict[str, NDArray[np.float64]]
#: Wall-clock time [s] a child gets to start, and to end after SIGTERM.
_START, _STOP = 300.0, 10.0
_POLL = 0.25


class DemoError(RuntimeError):
    """The demonstration cannot go on; the text holds the words of the process that failed."""


@dataclass(frozen=True)
class Settings:
    """What to run: ``model`` at ``speed`` [m/s] for ``duration`` [s] simulated; files go into ``out``."""

    out: Path
    model: str = "hmmwv"
    soil: str = "sandy_loam"
    duration: float = 20.0
    speed: float = 12.0


@dataclass(frozen=True)
class Ground:
    """One run: its name, the parameters of the session and whether the terramechanics program takes part."""

    name: str
    parameters: Mapping[str, float | str]
    soft: bool


GROUNDS: Final = (
    Ground("soil", {"tire_source": "EXTERNAL"}, soft=True),
    Ground("asphalt", {"tire_source": "TMEASY"}, soft=False),
)


@dataclass(frozen=True)
class Result:
    """What a run measured; ``facts`` are the numbers of the table, by label."""

    ground: str
    pilot: Table
    soil: Table
    facts: dict[str, float]


class Child:
    """A child process whose standard error is kept in a file."""

    def __init__(self, name: str, command: list[str], folder: Path) -> None:
        """Starts ``python -m`` with ``command``."""
        self.name = name
        self._stderr = folder / f"{name}.stderr"
        with self._stderr.open("wb") as stderr:
            self.process = subprocess.Popen([sys.executable, "-m", *command], stdout=subprocess.DEVNULL, stderr=stderr)

    def running(self) -> bool:
        """Whether it still runs; DemoError with its own words if it has failed."""
        code = self.process.poll()
        if code:
            raise DemoError(f"{self.name} ended with code {code}:\n{self.words()}")
        return code is None

    def words(self) -> str:
        """The end of its standard error."""
        return self._stderr.read_text(errors="replace")[-4000:].strip() or "(it wrote nothing to standard error)"

    def stop(self) -> None:
        """Ends it, kindly first."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_STOP)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[Child, str]]:
    """A server process on a unix socket in ``folder``, and its address."""
    ready, socket = folder / "ready", folder / "s"
    server = Child("server", ["jounce_service.cli", "serve", "--address=", f"--socket-path={socket}",
                              f"--ready-file={ready}"], folder)
    try:
        deadline = time.monotonic() + _START
        while not ready.exists():
            if not server.running() or time.monotonic() > deadline:
                raise DemoError(f"the server did not start within {_START:g} s:\n{server.words()}")
            time.sleep(0.02)
        yield server, f"unix:{socket}"
    finally:
        server.stop()


def run_ground(ground: Ground, settings: Settings, server: Child, address: str, folder: Path,
               progress: Callable[[str], None]) -> Result:
    """Runs one ground with its programs as processes. Raises DemoError, JounceError."""
    names = ["autopilot", "terramechanics"] if ground.soft else ["autopilot"]
    parameters = {"init.speed": settings.speed, **ground.parameters}
    children: list[Child] = []
    with Client.connect(address) as client:
        session = client.create_session(settings.model, parameters, participants=names)
        try:
            for name in names:
                own = [f"--speed={settings.speed}"] if name == "autopilot" else [f"--soil={settings.soil}"]
                children.append(Child(name, [
                    f"jounce_client.examples.{name}", f"--address={address}", f"--session={session.id}",
                    f"--token={session.join_token}", f"--duration={settings.duration}", *own,
                    f"--log={_log(settings.out, ground, name)}", f"--summary={folder / ground.name}.{name}.json",
                ], folder))
            while any([child.running() for child in (*children, server)][:-1]):
                simulated = client.get_session(session).tick * session.tick_seconds
                progress(f"{ground.name}: {simulated:5.1f} of {settings.duration:g} s")
                time.sleep(_POLL)
        finally:
            for child in children:
                child.stop()
        client.delete_session(session)
    summaries = {name: json.loads((folder / f"{ground.name}.{name}.json").read_text()) for name in names}
    pilot = load(_log(settings.out, ground, "autopilot"))
    soil = load(_log(settings.out, ground, "terramechanics")) if ground.soft else {}
    return Result(ground.name, pilot, soil, facts(pilot, summaries, settings))


def facts(pilot: Table, summaries: Mapping[str, Mapping[str, float]], settings: Settings) -> dict[str, float]:
    """The numbers of the table, by label."""
    drive = summaries["autopilot"]
    soil = summaries.get("terramechanics", {})
    course = DoubleLaneChange()
    axle_x, axle_y = front_axle(pilot)
    return {
        "ticks [1]": drive["ticks"],
        "real-time factor [1]": settings.duration / max(s["wall_seconds"] for s in summaries.values()),
        "round trip, autopilot, p50 [ms]": drive["round_trip_p50_ms"],
        "round trip, autopilot, p99 [ms]": drive["round_trip_p99_ms"],
        "round trip, terramechanics, p50 [ms]": soil.get("round_trip_p50_ms", math.nan),
        "round trip, terramechanics, p99 [ms]": soil.get("round_trip_p99_ms", math.nan),
        "lateral error, rms [m]": drive["lateral_error_rms"],
        "lateral error, max [m]": drive["lateral_error_max"],
        "peak lateral acceleration [m/s2]": float(np.max(np.abs(pilot["com.lin_acc.y"]))),
        "mean sinkage [m]": soil.get("sinkage_mean", math.nan),
        "samples past the cones [1]": float(course.cones_hit(axle_x, axle_y)),
    }


def front_axle(pilot: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """x and y of the middle of the front wheel centres [m]."""
    x, y = (0.5 * (pilot[f"wheel_FL.pos.{axis}"] + pilot[f"wheel_FR.pos.{axis}"]) for axis in "xy")
    return x, y


def load(path: Path) -> Table:
    """Columns of a CSV file by name."""
    with path.open(newline="") as file:
        header = next(csv.reader(file))
        columns = np.loadtxt(file, delimiter=",", ndmin=2).T
    return dict(zip(header, columns, strict=True))


def report(results: list[Result]) -> str:
    """The table as text; a dash where a run has no such number."""
    labels = list(results[0].facts)
    wide = max(map(len, labels))
    lines = [" " * wide + "".join(f"{r.ground:>12}" for r in results)]
    for label in labels:
        values = (r.facts[label] for r in results)
        lines.append(f"{label:<{wide}}" + "".join(f"{'-' if math.isnan(v) else format(v, '.5g'):>12}" for v in values))
    return "\n".join(lines)


def demonstrate(settings: Settings, progress: Callable[[str], None]) -> list[Result]:
    """Runs every ground in turn and writes logs into ``settings.out``. Raises DemoError."""
    settings.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="jounce-") as name:
        folder = Path(name)
        with serving(folder) as (server, address):
            try:
                return [run_ground(g, settings, server, address, folder, progress) for g in GROUNDS]
            except JounceError as error:
                server.running()
                raise DemoError(f"the server refused: {error}") from error


def _log(out: Path, ground: Ground, program: str) -> Path:
    return out / f"{ground.name}_{program}.csv"
