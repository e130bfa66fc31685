"""`jounce view --demo`: a vehicle that drives by itself on a rough road, watched through the socket of frames."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from websockets.sync.client import connect

from jounce.axles import WHEELS
from jounce.terrain.iso8608 import iso_road
from jounce.terrain.packed import save
from jounce_tools.manoeuvres.bench import Car
from jounce_tools.view.run import steered


@contextlib.contextmanager
def _demonstration(*options: str) -> Iterator[str]:
    """The address of the page of one that runs; it ends with code 0 at Ctrl-C."""
    command = [sys.executable, "-m", "jounce_tools.cli", "view", "--demo", "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True,
                               env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.match(r"open http://(\S+) in a browser", line)
        assert found, line + process.communicate(timeout=60)[1]
        yield found[1]
        os.killpg(process.pid, signal.SIGINT)  # as of a terminal: to its server, too
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 0 and "jounce view:" not in said, said
    finally:
        process.kill()
        process.communicate()


def _frames(
    address: str, signals: list[str], count: int, *, most: int = 1
) -> tuple[dict[str, np.ndarray], list[float]]:
    """Signals over frames, and the paces of the rounds; more rounds, up to ``most``, while it runs too fast."""
    with connect(f"ws://{address}/frames", origin=f"http://{address}") as socket:  # type: ignore[arg-type]
        socket.send(json.dumps({"signals": signals}))
        names: list[str] = []
        paces: list[float] = []
        # A machine that others use may hold it up, and then it catches up; but not every time.
        while not paces or paces[-1] > 1.1 and len(paces) < most:
            rows, begun = [], time.monotonic()
            while len(rows) < count:
                message = socket.recv(timeout=60)
                if isinstance(message, bytes):
                    rows.append([np.frombuffer(message, "<f8", 1)[0], *np.frombuffer(message, "<f4", offset=24)])
                else:
                    names = json.loads(message).get("names", names)
            table = np.array(rows)
            paces.append((table[-1, 0] - table[0, 0]) / (time.monotonic() - begun))
    return dict(zip(["time", *names], table.T, strict=True)), paces


def test_the_demonstration_drives_on_the_road_in_real_time_until_it_is_stopped(tmp_path: Path) -> None:
    save(iso_road("C", 7, 200.0), tmp_path / "rough.jnt")
    with _demonstration("--vehicle", "utv", "--road", str(tmp_path / "rough.jnt")) as address:
        seen, paces = _frames(address, ["speed", "wheel_FL.travel"], 60, most=5)
    assert np.all(np.diff(seen["time"]) > 0) and paces[-1] <= 1.1, paces  # no faster than real time
    assert np.all(np.abs(seen["speed"] - 10.0) < 1.0) and np.std(seen["wheel_FL.travel"]) > 1e-3  # the road is felt


def test_a_truck_is_demonstrated_too_and_its_bodies_are_in_every_frame() -> None:
    with _demonstration("--vehicle", "class3") as address:
        seen, _ = _frames(address, ["speed"], 30)
        with urlopen(f"http://{address}/look.json") as reply:
            look = json.load(reply)
    assert np.all(np.abs(seen["speed"] - 10.0) < 0.5) and np.ptp(seen["body_cab.pos.x"]) > 1.0
    assert {"body_frame", "body_cab", "body_rear"} <= {part["body"] for part in look["parts"]}
    assert np.std(seen["ref_frame.yaw"]) > 1e-5  # it is steered


@pytest.mark.parametrize(("y", "yaw", "sign"), [(3.0, 0.0, -1), (-3.0, 0.0, 1), (0.0, 1.0, -1), (0.0, -1.0, 1)])
def test_the_demonstrations_driver_steers_back(y: float, yaw: float, sign: int) -> None:
    car = Car(
        WHEELS, WHEELS[2:], WHEELS[:2], (1.5, -1.5), 3.0, 1.6, 2000.0, 1.5, 0.4, 2.0, 0.6, 0.6, 15.0, 8.0, 9.81
    )

    class Seen(dict[str, object]):
        time = 0.0
        values = np.zeros(0)

    command = steered(car, Seen({"ref_frame.pos": [15.0, y, 0.0], "ref_frame.yaw": yaw, "speed": 9.0}))  # type: ignore[arg-type]
    assert len(command) == 9 and np.sign(command[0]) == sign and abs(command[0]) <= car.most_steering
    # 0.8 1/s of the lacking speed, as force of the driven wheels at their radius
    assert command[1:5] == pytest.approx([0.0, 0.0, 320.0, 320.0]) and command[5:] == [0.0] * 4
