"""The demonstration's first act: a server and two programs, each a process, in lockstep over a unix socket.

On soil the terramechanics program (1 kHz) carries the vehicle and the autopilot (50 Hz) drives it through the double
lane change of ISO 3888-1, gently; on asphalt the model's own tires carry it and the autopilot drives alone, at the same
speed and at the standard's.
"""

from __future__ import annotations

import contextlib
import csv
import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jounce.contact.soil import SOILS
from jounce.course import ISO_SPEED, DoubleLaneChange
from jounce.driver import PERIOD
from jounce_client import Client, ParameterValue
from jounce_client.examples.on_soil import PARAMETERS, start_on_soil
from jounce_fmu.models import data_sets

Table = dict[str, NDArray[np.float64]]
#: Wall-clock time [s] a child gets to start, and to end after SIGTERM.
_START, _STOP = 300.0, 10.0
_POLL = 0.25
#: Ticks between two recorded outputs.
_RECORDED = 20


class DemoError(RuntimeError):
    """The demonstration cannot go on; the text holds the output of the process that failed."""


@dataclass(frozen=True)
class Settings:
    """What to run: ``model`` at ``speed`` [m/s] for ``duration`` [s] simulated; files go into ``out``.

    ``options`` are those of the server, such as a vehicle of the user's own.
    """

    out: Path
    model: str = "hmmwv"
    soil: str = "sandy_loam"
    duration: float = 15.0
    speed: float = 12.0
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ground:
    """One run: its name, the parameters of the session and whether the terramechanics program carries the vehicle.

    ``speed`` [m/s] is that of the settings where it is None; a faster run covers the same distance in less time.
    """

    name: str
    parameters: Mapping[str, ParameterValue]
    soft: bool
    speed: float | None = None

    def at(self, settings: Settings) -> tuple[float, float]:
        """Speed [m/s] and duration [s], whole periods of the autopilot."""
        speed = self.speed or settings.speed
        time = settings.duration * min(1.0, settings.speed / speed)
        return speed, settings.duration if time == settings.duration else math.ceil(time / PERIOD) * PERIOD

    def title(self, settings: Settings) -> str:
        """Ground, friction and speed in words."""
        soil = SOILS[settings.soil]
        friction = (f"{settings.soil}, c = {soil.cohesion / 1e3:.3g} kPa, phi = {math.degrees(soil.friction):.3g} deg"
                    if self.soft else f"mu = {self.parameters['terrain.mu']}")
        return f"{self.name.split('_')[0]} ({friction}) at {3.6 * self.at(settings)[0]:.3g} km/h"


_ASPHALT: Final[Mapping[str, ParameterValue]] = {"tire_source": "TMEASY", "terrain.mu": 0.8}
GROUNDS: Final = (
    Ground("soil", PARAMETERS, soft=True),
    Ground("asphalt", _ASPHALT, soft=False),
    Ground("asphalt_iso", _ASPHALT, soft=False, speed=ISO_SPEED),
)


@dataclass(frozen=True)
class Result:
    """What a run measured; ``facts`` are the numbers of the table, by label, and ``title`` says what was run."""

    ground: str
    title: str
    pilot: Table
    soil: Table
    facts: dict[str, float]
    recorded: str = ""
    """Name of the recording."""


def hosting(vehicle: str) -> tuple[str, ...]:
    """Options with which a server has a vehicle, by name or path: none for those that every server has."""
    if vehicle in data_sets():
        return ()
    path = Path(vehicle)
    return (f"--vehicle={path.resolve() if path.exists() else vehicle}",)


class Child:
    """A child process whose standard error is kept in a file."""

    def __init__(self, name: str, command: list[str], folder: Path) -> None:
        """Starts ``python -m`` with ``command``."""
        self.name = name
        self._stderr = folder / f"{name}.stderr"
        with self._stderr.open("wb") as stderr:
            self.process = subprocess.Popen([sys.executable, "-m", *command], stdout=subprocess.DEVNULL, stderr=stderr)

    def running(self) -> bool:
        """Whether it still runs; DemoError with its output if it has failed."""
        code = self.process.poll()
        if code == -signal.SIGINT:  # Ctrl-C reaches all processes of a terminal; a child may end first
            raise KeyboardInterrupt
        if code:
            raise DemoError(f"{self.name} ended with code {code}:\n{self.words()}")
        return code is None

    def words(self) -> str:
        """The end of its standard error."""
        return self._stderr.read_text(errors="replace")[-4000:].strip() or "(it wrote nothing to standard error)"

    def stop(self) -> None:
        """Ends the process: SIGTERM first, then SIGKILL."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_STOP)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@contextlib.contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[Child, str]]:
    """A server process on a unix socket in ``folder``, with further options, and its address."""
    with starting("server", folder, *options) as started:
        yield started()


@contextlib.contextmanager
def starting(name: str, folder: Path, *options: str) -> Iterator[Callable[[], tuple[Child, str]]]:
    """The same server while it starts; what is given waits for it, up to ``_START`` s. Raises DemoError."""
    ready, socket = folder / f"{name}.ready", folder / f"{name}.s"
    server = Child(name, ["jounce_tools.cli", "serve", "--address=", f"--socket-path={socket}",
                          f"--ready-file={ready}", *options], folder)
    deadline = time.monotonic() + _START

    def started() -> tuple[Child, str]:
        while not ready.exists():
            if not server.running() or time.monotonic() > deadline:
                raise DemoError(f"the {name} did not start within {_START:g} s:\n{server.words()}")
            time.sleep(0.02)
        return server, f"unix:{socket}"

    try:
        yield started
    finally:
        server.stop()


def run_ground(ground: Ground, settings: Settings, server: Child, address: str, folder: Path,
               progress: Callable[[str], None]) -> Result:
    """Runs one ground with its programs as processes. Raises DemoError, JounceError."""
    names = ["autopilot", "terramechanics"] if ground.soft else ["autopilot"]
    speed, duration = ground.at(settings)
    parameters = {"init.speed": speed, **ground.parameters}
    children: list[Child] = []
    with Client.connect(address) as client:
        inputs = {}
        if ground.soft:
            progress(f"{ground.name}: looking for the equilibrium on {settings.soil}")
            try:
                inputs = start_on_soil(client, settings.model, parameters, SOILS[settings.soil], speed)
            except ValueError as error:
                raise DemoError(str(error)) from None
        with client.create_session(settings.model, parameters, start_inputs=inputs, participants=names,
                                   record_every=_RECORDED if client.get_server().records else None) as session:
            try:
                for name in names:
                    own = [f"--speed={speed}"] if name == "autopilot" else [f"--soil={settings.soil}"]
                    children.append(Child(name, [
                        f"jounce_client.examples.{name}", f"--address={address}", f"--session={session.id}",
                        f"--token={session.join_token}", f"--duration={duration}", *own,
                        f"--log={_log(settings.out, ground, name)}", f"--summary={folder / ground.name}.{name}.json",
                    ], folder))
                while any([child.running() for child in (*children, server)][:-1]):
                    simulated = client.get_session(session).tick * session.tick_seconds
                    progress(f"{ground.name}: {simulated:5.1f} of {duration:g} s")
                    time.sleep(_POLL)
            finally:
                for child in children:
                    child.stop()
            recorded = client.get_session(session).recording.name
    summaries = {name: json.loads((folder / f"{ground.name}.{name}.json").read_text()) for name in names}
    pilot = load(_log(settings.out, ground, "autopilot"))
    soil = load(_log(settings.out, ground, "terramechanics")) if ground.soft else {}
    return Result(ground.name, ground.title(settings), pilot, soil, facts(pilot, summaries, duration), recorded)


def facts(pilot: Table, summaries: Mapping[str, Mapping[str, float]], duration: float) -> dict[str, float]:
    """The numbers of the table, by label, of a run of ``duration`` [s].

    While the autopilot waits for a tick of its own, the terramechanics program is at work on each tick between.
    """
    drive = summaries["autopilot"]
    soil = summaries.get("terramechanics", {})
    course, body = DoubleLaneChange(), (*front_axle(pilot), pilot["ref_frame.yaw"])
    trip, soil_work = (1e3 * total / drive["steps"] for total in (
        drive["wall_seconds"] - drive["own_seconds"], soil.get("own_seconds", 0.0)))
    return {
        "speed at the entry [km/h]": 3.6 * float(np.interp(course.start, body[0], pilot["speed"])),
        "cones hit [-]": float(course.cones_hit(*body)),
        "body beyond the lane's edge, max [m]": course.excursion(*body),
        "lateral error, rms [m]": drive["lateral_error_rms"],
        "lateral error, max [m]": drive["lateral_error_max"],
        "lateral acceleration, max [m/s2]": float(np.max(np.abs(pilot["com.lin_acc.y"]))),
        "sinkage, mean [m]": soil.get("sinkage_mean", math.nan),
        "ticks [-]": drive["ticks"],
        "real-time factor [-]": duration / max(s["wall_seconds"] for s in summaries.values()),
        "autopilot's step of 20 ms, mean [ms]": trip,
        "  the soil program computes [ms]": soil_work if soil else math.nan,
        "  server and transport [ms]": trip - soil_work,
        "autopilot's step, p50 [ms]": drive["round_trip_p50_ms"],
        "autopilot's step, p99 [ms]": drive["round_trip_p99_ms"],
        "soil program's step of 1 ms, p50 [ms]": soil.get("round_trip_p50_ms", math.nan),
        "soil program's step, p99 [ms]": soil.get("round_trip_p99_ms", math.nan),
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
    return table_of([(r.ground, r.facts) for r in results])


def table_of(columns: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    """A table of columns with a title and numbers by label, which are the same in all."""
    labels = list(columns[0][1])
    wide = max(map(len, labels))
    lines = [" " * wide + "".join(f"{title:>13}" for title, _ in columns)]
    for label in labels:
        cells = ("-" if math.isnan(v) else format(v, ".4g" if abs(v) < 1e4 else ".0f")
                 for v in (facts[label] for _, facts in columns))  # fmt: skip
        lines.append(f"{label:<{wide}}" + "".join(f"{cell:>13}" for cell in cells))
    return "\n".join(lines)


def recording(out: Path, ground: str) -> Path:
    """The recording of a run in the folder of the demonstration."""
    return out / f"{ground}.mcap"


def _log(out: Path, ground: Ground, program: str) -> Path:
    return out / f"{ground.name}_{program}.csv"
