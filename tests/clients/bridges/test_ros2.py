"""The vehicle as a node of ROS 2, beside a node that follows a path, both real, in a network namespace of their own.

The interpreter is this one if it has rclpy, or that of JOUNCE_ROS_PYTHON.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jounce
from jounce_client.bridges import ros2
from jounce_client.bridges.session import BridgeError
from jounce_tools.cli.main import main

sys.path.insert(0, str(Path(__file__).parent))
import ros2_follower as follower

PYTHON = os.environ.get("JOUNCE_ROS_PYTHON") or (sys.executable if importlib.util.find_spec("rclpy") else "")
SPACE = ["unshare", "-n", "bash", "-c"]


def missing() -> str:
    if not PYTHON:
        return "no rclpy here, and JOUNCE_ROS_PYTHON does not name an interpreter that has it"
    if not shutil.which("unshare") or subprocess.run([*SPACE, "ip link set lo up multicast on"], check=False,
                                                     capture_output=True).returncode:  # fmt: skip
        return "no network namespace can be made"
    return ""


real = pytest.mark.skipif(bool(missing()), reason=missing() or "-")


def driven(address: str, states: int, command: str, *options: str) -> dict[str, Any]:
    """What the follower saw."""
    program = Path(__file__).with_name("ros2_follower.py")
    bridge = (f"{PYTHON} -m jounce_client.bridges.ros2 --address={address} --command={command} --set=init.speed=8 "
              f"--frames={states - 1} {' '.join(options)}")  # fmt: skip
    code = f"ip link set lo up multicast on; ({bridge} >&2; sleep 1) & {PYTHON} {program} {states} {command}; wait"
    run = subprocess.run([*SPACE, code], capture_output=True, text=True, timeout=120)
    assert run.stdout, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    found["rows"] = np.array([[float.fromhex(v) for v in row] for row in found["seen"]])
    return found


STATES = 500
OWNS = ",".join(follower.INPUTS)


def in_process() -> np.ndarray:
    """The same law without ROS."""
    from jounce_client.bridges.frames import into_body

    rows = []
    with jounce.join("hmmwv", owns=follower.INPUTS, wants=["ref_frame.pos", "ref_frame.rot", "ref_frame.lin_vel",
                                                           "ref_frame.ang_vel"], period=10,
                     **{"init.speed": 8.0}) as vehicle:  # fmt: skip
        state = vehicle.start
        for _ in range(STATES):
            (x, y, _), (w, qx, qy, z) = state["ref_frame.pos"], state["ref_frame.rot"]
            speed = into_body(state["ref_frame.rot"], state["ref_frame.lin_vel"])[0]
            rows.append([state.time, x, y, speed, state["ref_frame.ang_vel"][2]])
            state = vehicle.step(follower.command(follower.curvature(x, y, w, z, qx, qy), speed))
    return np.array(rows)


@real
def test_in_lockstep_a_node_that_follows_a_path_gives_the_bits_of_the_same_law_in_process(address: str) -> None:
    """Twice: from run to run the same. 5 s at 100 Hz, through the lane change."""
    expected = in_process()
    for _ in range(2):
        found = driven(address, STATES, "inputs", "--wait", "--pace=free", f"--receive={OWNS}")
        assert found["rows"][:, 1:].tolist() == expected[:, 1:].tolist()
        assert found["rows"][:, 0] == pytest.approx(expected[:, 0], abs=1e-9)
    assert np.diff(sorted(set(found["clocks"]))).tolist() == [10_000_000] * (STATES - 1)
    assert found["felt"][0] == pytest.approx(9.81, abs=0.5)
    assert found["spins"][0] == pytest.approx(8.0 / 0.47, rel=0.05)
    assert abs(expected[-1, 2] - 3.5) < 0.3 or expected[-1, 1] < 45.0
    assert expected[-1, 2] > 1.0


@real
def test_a_stamped_twist_drives_the_lane_change(address: str) -> None:
    rows = driven(address, STATES, "twist_stamped", "--wait", "--pace=free")["rows"]
    assert rows[-1, 2] > 1.0 and abs(rows[-1, 3] - 8.0) < 0.5


@real
def test_in_real_time_odometry_comes_at_a_hundred_hertz_and_a_command_that_is_too_old_brakes(address: str) -> None:
    rows = driven(address, 150, "twist", "--max-age=0.3")["rows"]
    assert np.diff(rows[:, 0]) == pytest.approx(0.01, abs=0.0101) and len(rows) > 100
    assert rows[-1, 0] > 1.0


LAW = ros2.Law(26.0, 3.302, 600.0, 1500.0, 3000.0)


def test_signs_and_limits_of_the_law() -> None:
    """1 m/s too slow: 600 N.m forward. Left is positive, at the steering wheel 26 times the road wheel's angle."""
    assert LAW.inputs(5.0, 0.1, 4.0) == [pytest.approx(2.6), *[600.0, 0.0] * 4]
    assert LAW.inputs(5.0, 0.0, 6.0) == [0.0, *[0.0, 600.0] * 4]  # too fast: brakes
    assert LAW.inputs(-2.0, 0.0, 0.0) == [0.0, *[-1200.0, 0.0] * 4]  # backward from rest
    assert LAW.inputs(20.0, 0.0, 0.0)[1] == 1500.0 and LAW.inputs(1.0, 0.0, 20.0)[2] == 3000.0
    assert LAW.inputs(0.0, 0.0, 3.0) == [0.0, *[0.0, 3000.0] * 4]
    assert LAW.of_twist(4.0, 0.4, 4.0)[0] == pytest.approx(26 * math.atan(3.302 * 0.1))
    assert LAW.of_twist(-4.0, 0.4, -4.0)[0] < 0.0  # backward a left yaw needs wheels to the right
    assert LAW.of_twist(0.0, 1.0, 0.0)[0] == 0.0


def test_an_ackermann_command_is_speed_and_road_wheel_angle() -> None:
    said = SimpleNamespace(drive=SimpleNamespace(speed=5.0, steering_angle=0.1))
    state: Any = {"ref_frame.rot": np.array([1.0, 0, 0, 0]), "ref_frame.lin_vel": np.array([4.0, 0, 0])}
    assert ros2.chosen("ackermann", [], LAW)(said, state, []) == LAW.inputs(5.0, 0.1, 4.0)


def test_inputs_by_name_keep_those_that_are_not_named_and_refuse_others() -> None:
    law = ros2.chosen("inputs", ["a", "b"], LAW)
    state: Any = None
    assert law(SimpleNamespace(name=["b"], position=[2.0]), state, [1.0, 0.0]) == [1.0, 2.0]
    with pytest.raises(BridgeError, match="c: expected one of a, b"):
        law(SimpleNamespace(name=["c"], position=[2.0]), state, [1.0, 0.0])
    with pytest.raises(BridgeError, match="1 names and 2 positions"):
        law(SimpleNamespace(name=["a"], position=[2.0, 3.0]), state, [1.0, 0.0])


def test_without_rclpy_it_says_what_is_needed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
                                              ) -> None:  # fmt: skip
    monkeypatch.setitem(sys.modules, "rclpy", None)
    assert main(["bridge", "ros2"]) == 2
    assert "rclpy is not installed: expected a ROS 2 installation" in capsys.readouterr().err


def test_waiting_needs_a_command_with_a_stamp(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rclpy", "rclpy.executors"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(executors=None))
    parser = argparse.ArgumentParser()
    ros2.add_options(parser)
    with pytest.raises(BridgeError, match="expected a command with a stamp, not twist"):
        ros2.run(parser.parse_args(["--wait"]))
    with pytest.raises(BridgeError, match="expected 1 or more ticks"):
        ros2.run(parser.parse_args(["--period=0"]))
