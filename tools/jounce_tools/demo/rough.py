"""The second act: the vehicle with a powertrain drives by pedals over a rough road with obstacles.

Its server starts with the first act, since the model of that vehicle is compiled once, which takes some seconds.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np

from jounce.axles import WHEELS
from jounce.data import load_vehicle, with_pedals
from jounce.powertrain.kinds import AUTOMATIC, powertrain_kind
from jounce_client import Client
from jounce_fmu.build.library import has_cc
from jounce_fmu.models.roads import on_road
from jounce_tools.demo.run import Child, DemoError, Settings, Table, front_axle, load, starting

#: The road; the x from which on a speed is wanted on it [m, m/s].
ROAD = Path(__file__).with_name("rough.toml")
STRETCHES: Final = ((0, 7), (36, 4), (95, 3), (100, 2.5), (116, 2.5), (125, 4), (145, 4), (152, 12), (285, 0))
#: Longest time that the drive may take, simulated [s]; ticks between two recorded outputs; time between two looks [s].
_LONGEST, _RECORDED, _POLL = 90.0, 20, 0.25

Started = Callable[[], tuple[Child, str]]


@dataclass(frozen=True)
class Drive:
    """What the driver measured; ``facts`` are the numbers of the table, by label."""

    title: str
    log: Table
    facts: dict[str, float]
    recorded: str
    """Name of the recording."""

    @property
    def steepest(self) -> float:
        """Time at which the nose is highest [s]."""
        return float(self.log["time"][np.argmin(self.log["ref_frame.pitch"])])


def obstacle() -> str:
    """What keeps the second act from being shown; empty where it can be."""
    return "" if has_cc() or find_spec("ziglang") else "its vehicle is compiled once, which needs a C compiler"


def drives(model: str) -> bool:
    """Whether the driver of this act can drive a vehicle: by engine and gearbox, on four wheels."""
    vehicle = load_vehicle(with_pedals(model))
    return powertrain_kind(vehicle.powertrain) is AUTOMATIC and vehicle.wheels == WHEELS


def vehicle(model: str) -> str:
    """That of the first act with pedals where `drives`, else the HMMWV with them."""
    return with_pedals(model) if drives(model) else AUTOMATIC.example


@contextlib.contextmanager
def behind_the_scenes(folder: Path, own: str, *options: str) -> Iterator[Started]:
    """The act's server, which starts while the first act runs. ``own``: vehicle of the first act."""
    with starting("server of the second act", folder, f"--vehicle={on_road(vehicle(own), ROAD)}", *options) as started:
        yield started


def drive(settings: Settings, own: str, started: Started, folder: Path, progress: Callable[[str], None]) -> Drive:
    """From rest over the road to rest. ``own``: vehicle of the first act. Raises DemoError, JounceError."""
    progress("rough: its server starts; at the first time it compiles the vehicle with a powertrain")
    server, address = started()
    model = f"{load_vehicle(vehicle(own)).name}_{ROAD.stem}"
    log, begin = settings.out / "rough_driver.csv", time.perf_counter()
    with Client.connect(address) as client:
        info = client.get_server()
        with client.create_session(model, {}, participants=["driver"],
                                   record_every=_RECORDED if info.records else None) as session:  # fmt: skip
            child = Child("driver", [
                "jounce_client.examples.pedals", f"--address={address}", f"--session={session.id}",
                f"--token={session.join_token}", f"--duration={_LONGEST}", f"--log={log}",
                "--stretch", *(f"{x}:{v}" for x, v in STRETCHES),
            ], folder)  # fmt: skip
            try:
                while all([child.running(), server.running()]):
                    progress(f"rough: {client.get_session(session).tick * session.tick_seconds:5.1f} s")
                    time.sleep(_POLL)
            finally:
                child.stop()
            recorded = client.get_session(session).recording.name
    wall, table = time.perf_counter() - begin, load(log)
    if not np.isfinite(table["time"][-1]) or len(table["time"]) < 2:
        raise DemoError(f"the driver of the second act did not drive:\n{child.words()}")
    title = f"{model}: {ROAD.stem} road of class C with obstacles, by pedals"
    return Drive(title, table, facts(table, wall), recorded)


def facts(log: Table, wall: float) -> dict[str, float]:
    """The numbers of the table, by label."""
    time, x = log["time"], front_axle(log)[0]
    loads = np.array([log[f"wheel_{w}.tire_force.z"] for w in WHEELS])
    in_air = np.count_nonzero((loads <= 0.0).any(axis=0)) / len(time)
    return {
        "way [m]": float(x[-1] - x[0]),
        "time [s]": float(time[-1]),
        "speed, max [km/h]": 3.6 * float(log["speed"].max()),
        "gear changes [-]": float(np.count_nonzero(np.diff(log["gearbox.gear"]))),
        "fuel [g]": 1e3 * float(log["engine.fuel"][-1]),
        "pitch, nose up, max [deg]": math.degrees(float(-log["ref_frame.pitch"].min())),
        "wheel load, max [kN]": 1e-3 * float(loads.max()),
        "time with a wheel in the air [s]": in_air * float(time[-1]),
        "real-time factor [-]": float(time[-1]) / wall,
    }
