"""The ArduPilot bridge against a stand-in of SITL, written from the public description of its JSON interface."""

from __future__ import annotations

import argparse
import json
import math
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ports import free_port

from jounce import frames as ours
from jounce_client import Client
from jounce_client.bridges import ardupilot, frames
from jounce_client.bridges.ardupilot import CHANNELS, Bridge, parsed
from jounce_client.bridges.pilot import Pilot, pilot_of
from jounce_client.bridges.session import BridgeError, Status

RATE = 200


def message(count: int, servos: dict[int, int], *, rate: int = RATE, channels: int = 16) -> bytes:
    """What SITL sends: struct of uint16 magic, uint16 rate, uint32 count, uint16 pwm[16 or 32], little-endian."""
    pwm = [0] * channels
    for channel, pulse in servos.items():
        pwm[channel - 1] = pulse
    return struct.pack(f"<HHI{channels}H", {16: 18458, 32: 29569}[channels], rate, count & 0xFFFFFFFF, *pwm)


class Sitl:
    """Sends a frame, waits for the answer, and sends the same frame again where none comes."""

    def __init__(self, port: int) -> None:
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.settimeout(60.0)
        self.place = ("127.0.0.1", port)
        self.count = 0
        self.channels = 16

    def send(self, servos: dict[int, int]) -> None:
        self.sock.sendto(message(self.count, servos, channels=self.channels), self.place)

    def read(self) -> dict[str, Any]:
        data = self.sock.recv(4096)
        assert data[:1] == data[-1:] == b"\n"
        found: dict[str, Any] = json.loads(data)
        return found

    def frame(self, steering: int = 1500, throttle: int = 1500) -> dict[str, Any]:
        self.count += 1
        self.send({1: steering, 3: throttle})
        return self.read()


class Run:
    """A bridge that listens in a thread."""

    def __init__(self, address: str, **parameters: Any) -> None:
        self.client = Client.connect(address)
        self.session = self.client.create_session("hmmwv", parameters, participants=["ardupilot"])
        self.bridge = Bridge(self.client, self.session, Pilot(**CHANNELS))
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind(("127.0.0.1", 0))
        self.sitl = Sitl(self.sock.getsockname()[1])
        self.end = threading.Event()
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self) -> None:
        self.sock.settimeout(0.05)
        while not self.end.is_set():
            try:
                data, peer = self.sock.recvfrom(2048)
            except TimeoutError:
                continue
            if answer := self.bridge.answer(data):
                self.sock.sendto(answer, peer)

    @property
    def tick(self) -> int:
        return self.client.get_session(self.session).tick

    def close(self) -> None:
        self.end.set()
        self.thread.join(60)
        self.bridge.leave()
        self.client.delete_session(self.session)
        self.client.close()
        self.sock.close()
        self.sitl.sock.close()


@pytest.fixture
def run(address: str, request: pytest.FixtureRequest) -> Iterator[Run]:
    made = Run(address, **getattr(request, "param", {}))
    yield made
    made.close()


def test_axes_are_those_of_the_conventions() -> None:
    """The general conversions of `jounce.frames`, and a quarter turn to the left of a nose that points east."""
    rng = np.random.default_rng(1)
    iso, aerospace = ours.ISO_8855, ours.AEROSPACE
    for _ in range(20):
        q, v = rng.normal(size=4), rng.normal(size=3)
        q /= np.linalg.norm(q)
        wanted = ours.rotation_of(ours.quaternion(q, iso, aerospace))
        assert ours.rotation_of(frames.quaternion(q)) == pytest.approx(wanted, abs=1e-12)
        assert frames.forward_right_down(v) == pytest.approx(ours.vector(v, iso.body, aerospace.body))
        assert frames.north_east_down(v) == pytest.approx(ours.vector(v, iso.world, aerospace.world))
    left = frames.quaternion([math.cos(math.pi / 4), 0.0, 0.0, math.sin(math.pi / 4)])
    assert ours.rotation_of(left) @ [1.0, 0.0, 0.0] == pytest.approx([1.0, 0.0, 0.0])  # nose to the north
    assert frames.north_east_down([0.0, 0.0, 2.0])[2] == -2.0


def test_at_rest_the_accelerometer_feels_the_ground_from_below(run: Run) -> None:
    for _ in range(50):
        seen = run.sitl.frame()
    assert seen["imu"]["accel_body"] == pytest.approx([0.0, 0.0, -9.81], abs=0.05)
    assert seen["imu"]["gyro"] == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)
    assert seen["quaternion"] == pytest.approx([math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)], abs=0.01)  # east
    assert seen["position"][2] < 0.0
    assert seen["timestamp"] == pytest.approx(50 / RATE, abs=1e-9)


@pytest.mark.parametrize("run", [{"init.speed": 8.0}], indirect=True)
def test_a_servo_to_the_right_turns_the_vehicle_to_the_right(run: Run) -> None:
    for _ in range(300):
        seen = run.sitl.frame(steering=1700)
    assert seen["imu"]["gyro"][2] > 0.05  # down is positive, so right is
    assert seen["position"][0] < -0.2  # south of a vehicle that drove east
    assert seen["position"][1] > 5.0
    assert seen["imu"]["accel_body"][1] > 0.5


@pytest.mark.parametrize("run", [{"terrain.slope": 0.1}], indirect=True)
def test_on_a_rise_the_nose_is_up(run: Run) -> None:
    seen = run.sitl.frame()
    w, x, y, z = seen["quaternion"]
    assert math.asin(2 * (w * y - x * z)) == pytest.approx(0.1, abs=0.02)
    assert seen["imu"]["accel_body"][0] == pytest.approx(9.81 * math.sin(0.1), abs=0.6)


def test_throttle_drives_forward_and_backward_and_an_unset_one_holds(run: Run) -> None:
    for _ in range(20):
        run.sitl.count += 1
        run.sitl.send({})
        seen = run.sitl.read()
    assert abs(seen["velocity"][1]) < 1e-3
    for _ in range(200):
        seen = run.sitl.frame(throttle=2000)
    assert seen["velocity"][1] > 0.5
    for _ in range(500):
        seen = run.sitl.frame(throttle=1000)
    assert seen["velocity"][1] < 0.0


def test_each_new_frame_is_one_step_whatever_else_comes(run: Run) -> None:
    rng = np.random.default_rng(3)
    sitl, steps = run.sitl, 0
    for _ in range(400):
        seen = sitl.frame(steering=int(rng.integers(1400, 1600)))
        steps += 1
        kind = rng.integers(0, 8)
        if kind == 0:  # the answer was late: the same frame again
            sitl.send({1: 1500, 3: 1500})
            assert sitl.read() == seen
        elif kind == 1:  # frames were lost
            sitl.count += int(rng.integers(1, 5))
        elif kind == 2:  # not from SITL
            sitl.sock.sendto(os.urandom(int(rng.integers(0, 80))), sitl.place)
        assert seen["timestamp"] == pytest.approx(steps / RATE, abs=1e-9)
    assert run.bridge.counters.steps == steps and run.tick == steps * 5
    assert run.bridge.counters.repeats > 20 and run.bridge.counters.gaps > 20 and run.bridge.counters.refused > 20


#: A stadium in north-east [m], driven to the left from the middle of its southern straight: 2017 m.
STRAIGHT, RADIUS = 820.0, 60.0
LENGTH = 2 * STRAIGHT + 2 * math.pi * RADIUS


def course(s: float) -> tuple[float, float]:
    """(north, east) [m] of the course at the distance s [m]."""
    s = s % LENGTH
    half, turn = STRAIGHT / 2, math.pi * RADIUS
    if s < half or s > LENGTH - half:
        return 0.0, s if s < half else s - LENGTH
    if s < half + turn:
        angle = (s - half) / RADIUS
        return RADIUS * (1 - math.cos(angle)), half + RADIUS * math.sin(angle)
    if s < half + turn + STRAIGHT:
        return 2 * RADIUS, half - (s - half - turn)
    angle = (s - half - turn - STRAIGHT) / RADIUS
    return RADIUS * (1 + math.cos(angle)), -half - RADIUS * math.sin(angle)


def servos_of(seen: dict[str, Any], s: float) -> tuple[int, int]:
    """Pure pursuit of the course 12 m ahead, and 4.5 m/s, from what SITL is told: (steering, throttle)."""
    north, east = (a - b for a, b in zip(course(s + 12.0), seen["position"], strict=False))
    w, x, y, z = seen["quaternion"]
    heading = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))  # from north to the east
    aside = -north * math.sin(heading) + east * math.cos(heading)  # to the right
    curvature = 2 * aside / (north**2 + east**2)
    steering = round(1500 + 500 * max(-1.0, min(1.0, 26 * math.atan(3.3 * curvature) / 10.0)))
    speed = math.hypot(*seen["velocity"][:2])
    return steering, round(1500 + 500 * max(-1.0, min(1.0, 1.0 * (4.5 - speed))))


@pytest.mark.slow
def test_a_hundred_thousand_frames_drive_two_kilometres_without_a_lost_or_a_double_step(run: Run) -> None:
    """With repeated, lost and foreign datagrams, and a counter that wraps on the way; within 1 m of the course."""
    rng = np.random.default_rng(7)
    sitl, s, worst, frames_wanted = run.sitl, 0.0, 0.0, 100_000
    sitl.count = (1 << 32) - 50_000
    seen = sitl.frame()
    for k in range(1, frames_wanted):
        steering, throttle = servos_of(seen, s)
        last, seen = seen, sitl.frame(steering, throttle)
        assert seen["timestamp"] == pytest.approx((k + 1) / RATE, abs=1e-9)
        s += math.dist(seen["position"][:2], last["position"][:2])
        kind = rng.integers(0, 100)
        if kind == 0:
            sitl.send({1: 1000, 3: 2000})  # the same frame again, with other servos: it makes no step
            assert sitl.read() == seen
        elif kind == 1:
            sitl.count += int(rng.integers(1, 5))
        elif kind == 2:
            sitl.sock.sendto(os.urandom(int(rng.integers(0, 80))), sitl.place)
        if k % 100 == 0:
            worst = max(worst, min(math.dist(course(s + d), seen["position"][:2]) for d in np.arange(-8.0, 8.0, 0.25)))
    assert s > 2000.0 and worst < 1.0
    counters = run.bridge.counters
    assert counters.steps == frames_wanted and run.tick == frames_wanted * 5 and counters.restarts == 0
    assert min(counters.repeats, counters.gaps, counters.refused) > 500


def test_a_bridge_that_is_killed_is_taken_up_by_the_next_one_and_sitl_goes_on(address: str) -> None:
    port = free_port(socket.SOCK_DGRAM)
    command = [sys.executable, "-m", "jounce_client.bridges.ardupilot", f"--address={address}", f"--port={port}"]
    sitl = Sitl(port)
    sitl.sock.settimeout(0.5)
    for _ in range(2):
        bridge = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert bridge.stderr is not None and "listening" in bridge.stderr.readline()
        sitl.count += 1
        answered = 0
        for _ in range(40):  # SITL sends the same frame until it is answered
            sitl.send({1: 1500, 3: 1500})
            try:
                answered = sitl.read()["timestamp"]
                break
            except (TimeoutError, ConnectionRefusedError):
                continue
        assert answered == pytest.approx(1 / RATE)
        sitl.frame()
        bridge.kill()
        bridge.wait()
    sitl.sock.close()


def test_a_sitl_that_was_stopped_for_seconds_goes_on_where_the_session_is(impatient: str) -> None:
    """Meanwhile the session goes on with brakes on: time has passed for the vehicle, too."""
    run = Run(impatient)
    try:
        for _ in range(10):
            before = run.sitl.frame()
        time.sleep(2.5)
        after = run.sitl.frame()
        assert after["timestamp"] > before["timestamp"] + 1.5 / RATE
        assert run.sitl.frame()["timestamp"] == pytest.approx(after["timestamp"] + 1 / RATE)
        assert run.bridge.counters.steps == 12 and run.bridge.counters.restarts == 0
    finally:
        run.close()


def test_a_counter_that_wraps_goes_on_and_one_that_falls_starts_anew(run: Run) -> None:
    run.sitl.count = (1 << 32) - 3
    for k in range(6):
        assert run.sitl.frame()["timestamp"] == pytest.approx((k + 1) / RATE)
    assert run.bridge.counters.restarts == 0
    run.sitl.count = 1000
    run.sitl.frame()
    run.sitl.count = 0
    assert run.sitl.frame()["timestamp"] == pytest.approx(1 / RATE)
    assert run.bridge.counters.restarts == 1


def test_thirty_two_servos_are_read(run: Run) -> None:
    run.sitl.channels = 32
    assert run.sitl.frame()["timestamp"] == pytest.approx(1 / RATE)


def test_another_frame_rate_than_at_the_start_is_left_out(run: Run) -> None:
    run.sitl.frame()
    run.sitl.sock.sendto(message(2, {}, rate=100), run.sitl.place)
    run.sitl.count = 2
    assert run.sitl.frame()["timestamp"] == pytest.approx(2 / RATE)
    assert run.bridge.counters.refused == 1


@given(st.binary(max_size=100))
def test_bytes_that_are_no_message_are_refused(data: bytes) -> None:
    try:
        found = parsed(data)
    except BridgeError as error:
        assert "expected" in str(error)
    else:
        assert len(data) in (40, 72) and found.rate > 0
        assert all(-1.0 <= found.position(c) <= 1.0 for c in range(1, len(found.pulses) + 1))


@pytest.mark.parametrize(("options", "text"), [
    (["--servo", "wheel=1"], "--servo wheel=1: expected steering=N or throttle=N"),
    (["--servo", "steering=33"], "N from 1 to 32"),
    (["--drive-torque", "much"], "'much': expected a finite number"),
])  # fmt: skip
def test_options_that_cannot_be_are_refused(options: list[str], text: str) -> None:
    parser = argparse.ArgumentParser()
    ardupilot.add_options(parser)
    with pytest.raises(BridgeError, match=text):
        pilot_of(parser.parse_args(options), "servo", CHANNELS, 32)


def test_a_line_of_status_tells_the_counts_once_a_second(capsys: pytest.CaptureFixture[str]) -> None:
    import io

    out = io.StringIO()
    status = Status("ardupilot", "json", out)
    status._last -= 2.0
    bridge = argparse.Namespace(counters=ardupilot.Counters(steps=10, gaps=2))
    status.told(bridge.counters, 1.5, waiting="SITL")
    status.told(bridge.counters, 1.5)
    [line] = out.getvalue().splitlines()
    told = json.loads(line)
    assert told["steps"] == 10 and told["gaps"] == 2 and told["waiting"] == "SITL" and told["time"] == 1.5
