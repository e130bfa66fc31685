"""`jounce view --demo`: a vehicle that drives by itself on a rough road, watched through the socket of frames."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from websockets.sync.client import connect

from jounce.axles import WHEELS
from jounce.terrain.iso8608 import iso_road
from jounce.terrain.packed import save
from jounce_tools.manoeuvres.bench import Car
from jounce_tools.view.run import steered


def test_the_demonstration_drives_on_the_road_in_real_time_until_it_is_stopped(tmp_path: Path) -> None:
    save(iso_road("C", 7, 200.0), tmp_path / "rough.jnt")
    command = [sys.executable, "-m", "jounce_tools.cli", "view", "--demo", "--vehicle", "utv", "--road",
               str(tmp_path / "rough.jnt"), "--port", "0"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.match(r"open http://(\S+) in a browser", line)
        assert found, line + process.communicate(timeout=60)[1]
        with connect(f"ws://{found[1]}/frames", origin=f"http://{found[1]}") as socket:  # type: ignore[arg-type]
            socket.send(json.dumps({"signals": ["speed", "wheel_FL.travel"]}))
            names: list[str] = []
            paces = []
            # A machine that others use may hold it up, and then it catches up; but not every time.
            while not paces or paces[-1] > 1.1 and len(paces) < 5:
                rows, begun = [], time.monotonic()
                while len(rows) < 60:
                    message = socket.recv(timeout=60)
                    if isinstance(message, bytes):
                        time_and_values = np.frombuffer(message, "<f8", 1)[0], *np.frombuffer(message, "<f4", offset=24)
                        rows.append(time_and_values)
                    else:
                        names = json.loads(message).get("names", names)
                table = np.array(rows)
                paces.append((table[-1, 0] - table[0, 0]) / (time.monotonic() - begun))
        assert np.all(np.diff(table[:, 0]) > 0) and paces[-1] <= 1.1, paces  # no faster than real time
        speed, travel = (table[:, 1 + names.index(n)] for n in ("speed", "wheel_FL.travel"))
        assert np.all(np.abs(speed - 10.0) < 1.0) and np.std(travel) > 1e-3  # the road is felt
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


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
