"""The demonstration with the built-in vehicle: real server, real programs, each a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from jounce.axles import WHEELS
from jounce.course import ISO_SPEED, DoubleLaneChange
from jounce_tools.demo.acts import demonstrate
from jounce_tools.demo.run import Settings, front_axle


def test_the_vehicle_drives_the_double_lane_change_on_soil_and_on_asphalt_gently_and_at_80_km_h(tmp_path: Path) -> None:
    told: list[str] = []
    (soil, asphalt, iso), _ = demonstrate(Settings(out=tmp_path, duration=13.0), "hmmwv", ("lanes",), told.append)
    for result, speed in ((soil, 12.0), (asphalt, 12.0), (iso, ISO_SPEED)):
        assert front_axle(result.pilot)[0][-1] > DoubleLaneChange().lanes[-1].end
        # ISO 3888-1: within 3 km/h of 80 at the entry.
        assert result.facts["speed at the entry [km/h]"] == pytest.approx(3.6 * speed, abs=3.0)
        assert result.facts["lateral error, max [m]"] < 0.9
        assert result.pilot["speed"][-1] == pytest.approx(speed, abs=0.7)
        assert any(line.startswith(result.ground) for line in told)
    assert asphalt.facts["cones hit [-]"] == 0.0 == asphalt.facts["body beyond the lane's edge, max [m]"]
    load = np.array([soil.soil[f"load_{w}"] for w in WHEELS])
    assert np.mean(load.sum(0)) == pytest.approx(2573.0 * 9.81, rel=0.02)
    # It starts rolling in its ruts: until the course bends after 2 s no load moves by more than 4 %.
    straight = load[:, soil.soil["time"] < 2.0]
    assert np.abs(straight / straight.mean(1, keepdims=True) - 1.0).max() < 0.04
    assert np.abs(soil.pilot["speed"][soil.pilot["time"] < 2.0] - 12.0).max() < 0.15
    split = soil.facts["  the soil program computes [ms]"] + soil.facts["  server and transport [ms]"]
    assert soil.facts["autopilot's step of 20 ms, mean [ms]"] == pytest.approx(split)


def test_a_demo_that_is_interrupted_ends_at_once_with_one_line_and_leaves_no_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jounce_tools.cli", "demo", f"--out={tmp_path / 'out'}"]
    demo = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True,
                            # a shell starts what runs in the background with Ctrl-C ignored
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
                            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    assert demo.stderr is not None
    try:
        assert demo.stderr.readline().startswith("soil: ")
        while "of 15 s" not in demo.stderr.readline():
            assert demo.poll() is None
        os.killpg(demo.pid, signal.SIGINT)  # as a terminal does
        _, said = demo.communicate(timeout=60)
        assert demo.returncode == 130, said
        assert said.splitlines()[-1] == "jounce: interrupted" and "Traceback" not in said
        deadline = time.monotonic() + 60.0
        while True:
            try:
                os.killpg(demo.pid, 0)
            except ProcessLookupError:
                break
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        demo.kill()
