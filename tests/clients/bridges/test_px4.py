"""The PX4 bridge against a stand-in of PX4 SITL, written from the public description, with pymavlink's codec."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import jounce
from jounce import frames as ours
from jounce_client.bridges import earth, frames, px4
from jounce_client.bridges.pilot import Pilot, pilot_of
from jounce_client.bridges.session import BridgeError
from jounce_tools.cli.main import main

os.environ["MAVLINK20"] = "1"
common = pytest.importorskip("pymavlink.dialects.v20.common")
PERIOD = 4


class Sitl:
    """A booted PX4: takes messages, answers HIL_SENSOR with controls."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=60.0)
        self.codec = common.MAVLink(None, srcSystem=1, srcComponent=1)
        self.codec.robust_parsing = True
        self.waiting: list[Any] = []
        self.kinds: dict[str, Any] = {}

    def sensor(self) -> Any:
        """The next HIL_SENSOR; other messages are kept by kind."""
        while True:
            while self.waiting:
                message = self.waiting.pop(0)
                self.kinds[message.get_type()] = message
                if message.get_type() == "HIL_SENSOR":
                    return message
            data = self.sock.recv(65536)
            if not data:
                raise ConnectionError
            self.waiting += self.codec.parse_buffer(data) or []

    def control(self, stamp: int, steer: float, drive: float, armed: bool = True) -> None:
        controls = [math.nan] * 16
        controls[:2] = [steer, drive]
        mode = (px4.ARMED if armed else 0) | 1
        self.sock.sendall(common.MAVLink_hil_actuator_controls_message(stamp, controls, mode, 1).pack(self.codec))

    def close(self) -> None:
        self.sock.close()


@pytest.fixture
def listening(address: str) -> Iterator[Any]:
    """Starts a bridge with these options: (process, port)."""
    running = []

    def start(*options: str) -> tuple[subprocess.Popen[str], int]:
        command = [sys.executable, "-m", "jounce_client.bridges.px4", f"--address={address}", "--port=0", *options]
        running.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        assert running[-1].stderr is not None
        line = running[-1].stderr.readline()
        assert "listening at" in line, line + running[-1].stderr.read()
        return running[-1], int(line.rpartition(":")[2])

    yield start
    for one in running:
        one.kill()
        one.wait()


def command(k: int) -> tuple[float, float]:
    return 0.3 * math.sin(0.02 * k), 0.4


def by_hand(pilot: Pilot, steps: int, idle: int) -> list[Any]:
    """States of the same run in process: ``idle`` steps with brakes on, then commands."""
    with jounce.join("hmmwv", owns=px4.OWNS, wants=px4.WANTS, period=PERIOD) as vehicle:
        states = [vehicle.start]
        for k in range(steps):
            states.append(vehicle.step(pilot.safe() if k < idle else px4.inputs(pilot, [*command(k - idle)] * 8, True)))
    return states


def test_px4_boots_while_the_vehicle_waits_and_then_drives_it_step_by_step(listening: Any) -> None:
    steps, boots = 300, 7
    process, port = listening(f"--frames={steps}")
    sitl = Sitl(port)
    sensors = [sitl.sensor() for _ in range(boots)]  # without an answer: the clock of PX4 moves while it boots
    sitl.control(10**9, *command(0))  # for whatever step the vehicle has reached meanwhile
    sitl.sock.settimeout(2.0)
    with contextlib.suppress(TimeoutError):
        while True:
            sensors.append(sitl.sensor())
    sitl.sock.settimeout(60.0)
    idle = len(sensors) - 2  # the step from the last but one was made with the controls
    for k in range(1, steps - idle):
        sitl.control(sensors[-1].time_usec, *command(k))
        if k < steps - idle - 1:
            sensors.append(sitl.sensor())
    assert process.wait(60) == 0
    sitl.close()
    stamps = [s.time_usec for s in sensors]
    assert stamps == [px4.START + 1000 * PERIOD * k for k in range(steps)]
    expected = by_hand(Pilot(**px4.CHANNELS), steps, idle)
    for sensor, state in zip(sensors, expected, strict=False):
        force, rate = state["imu.specific_force"], state["imu.ang_vel"]
        assert (sensor.xacc, sensor.yacc, sensor.zacc) == pytest.approx((force[0], -force[1], -force[2]), rel=1e-6,
                                                                        abs=1e-6)
        assert (sensor.xgyro, sensor.ygyro, sensor.zgyro) == pytest.approx((rate[0], -rate[1], -rate[2]), abs=1e-7)
    assert sensors[0].zacc == pytest.approx(-9.81, abs=0.05)
    truth = sitl.kinds["HIL_STATE_QUATERNION"]
    state = expected[(truth.time_usec - px4.START) // (1000 * PERIOD)]
    turned_to = frames.quaternion(state["ref_frame.rot"])
    assert list(truth.attitude_quaternion) == pytest.approx(turned_to.tolist(), abs=1e-6)
    assert expected[-1]["ref_frame.pos"][0] > 0.3


def test_controls_of_an_earlier_time_make_no_step_and_a_silent_px4_is_waited_for(listening: Any) -> None:
    _, port = listening("--log=json")
    sitl = Sitl(port)
    first = sitl.sensor()
    sitl.control(first.time_usec, 0.0, 0.0)
    second = sitl.sensor()
    assert second.time_usec == first.time_usec + 1000 * PERIOD
    sitl.sock.sendall(b"\xfd\x00garbage\x00")
    sitl.control(first.time_usec, 0.5, 0.5)  # again
    sitl.sock.settimeout(0.5)
    with pytest.raises(TimeoutError):
        sitl.sensor()
    sitl.sock.settimeout(60.0)
    sitl.control(second.time_usec + 10, 0.0, 0.0)
    assert sitl.sensor().time_usec == first.time_usec + 2000 * PERIOD
    sitl.close()


def test_a_px4_that_boots_anew_finds_the_vehicle_at_its_start(listening: Any) -> None:
    """Two of a few runs are the same: the first step does not wait for controls, and on a busy machine goes without."""
    _, port = listening()
    runs: list[list[tuple[float, ...]]] = []
    while len(runs) == len({*map(tuple, runs)}):
        assert len(runs) < 10, runs
        sitl = Sitl(port)
        seen = [sitl.sensor()]
        for k in range(20):
            sitl.control(seen[-1].time_usec, *command(k))
            seen.append(sitl.sensor())
        sitl.close()
        runs.append([(s.time_usec, s.xacc, s.zgyro) for s in seen])
        assert runs[-1][0] == runs[0][0]


def test_unarmed_or_not_a_number_is_brakes_on_or_neutral() -> None:
    pilot = Pilot(**px4.CHANNELS)
    assert px4.inputs(pilot, [1.0, 1.0], False) == [0.0, *[0.0, 2000.0] * 4] == pilot.safe()
    assert px4.inputs(pilot, [math.nan, 0.5], True) == [-0.0, *[250.0, 0.0] * 4]
    assert px4.inputs(pilot, [3.0, -3.0], True) == [-10.0, *[-500.0, 0.0] * 4]  # to the right, backward


def turned(yaw: float, pitch: float, roll: float) -> Any:
    return ours.quaternion_of(ours.rotation_zyx([yaw, pitch, roll]))


def messages_of(**state: Any) -> dict[str, Any]:
    """What is sent for a state: by kind."""

    class Fake(dict[str, Any]):
        time = 0.5

    base = {"ref_frame.pos": np.zeros(3), "ref_frame.rot": np.array([1.0, 0, 0, 0]), "ref_frame.lin_vel": np.zeros(3),
            "imu.specific_force": np.array([0, 0, 9.81]), "imu.ang_vel": np.zeros(3)}  # fmt: skip
    sensors = px4.Sensors(common, px4.origin_of("47.397742,8.545594,488"), None)
    data = sensors.messages(Fake({**base, **state}))  # type: ignore[arg-type]
    return {m.get_type(): m for m in common.MAVLink(None).parse_buffer(data)}


def test_signs_by_a_turn_a_bank_and_a_heading() -> None:
    """Heading east (yaw 0 in ENU), the field's north lies to the left; heading north it lies ahead. Nose up, the
    specific force points forward; right side down it points to the left, which is negative in forward-right-down."""
    field = earth.magnetic_field(47.397742, 8.545594) * 1e4
    east = messages_of()["HIL_SENSOR"]
    assert (east.xmag, east.ymag, east.zmag) == pytest.approx((field[1], -field[0], field[2]), abs=1e-6)
    north = messages_of(**{"ref_frame.rot": turned(math.pi / 2, 0, 0)})["HIL_SENSOR"]
    assert (north.xmag, north.ymag) == pytest.approx((field[0], field[1]), abs=1e-6)
    up = messages_of(**{"imu.specific_force": np.array([1.0, 2.0, 9.7])})["HIL_SENSOR"]
    assert (up.xacc, up.yacc, up.zacc) == pytest.approx((1.0, -2.0, -9.7))
    left = messages_of(**{"imu.ang_vel": np.array([0.0, 0.0, 0.3])})
    assert left["HIL_SENSOR"].zgyro == pytest.approx(-0.3)
    bank = messages_of(**{"ref_frame.rot": turned(math.pi / 2, 0, 0.2)})["HIL_STATE_QUATERNION"]
    assert bank.attitude_quaternion == pytest.approx([math.cos(0.1), math.sin(0.1), 0, 0], abs=1e-6)


def test_gps_says_place_course_and_speed() -> None:
    """1000 m north is 0.0089932 deg (meridian radius of WGS 84 at 47.4 deg and 488 m up: 6 370 552 m)."""
    state = {"ref_frame.pos": np.array([1000.0, 1000.0, 10.0]), "ref_frame.lin_vel": np.array([-3.0, 4.0, -1.0])}
    gps = messages_of(**state)["HIL_GPS"]
    assert gps.lat == pytest.approx(1e7 * (47.397742 + math.degrees(1000 / 6370552.3)), abs=20)
    parallel = 6390223.4 * math.cos(math.radians(47.397742))
    assert gps.lon == pytest.approx(1e7 * (8.545594 + math.degrees(1000 / parallel)), abs=20)
    assert (gps.alt, gps.vel, gps.vn, gps.ve, gps.vd) == (498_000, 500, 400, -300, 100)
    assert gps.cog == pytest.approx(100 * (360 - math.degrees(math.atan2(3, 4))), abs=1)


def test_the_field_and_the_air_are_those_of_the_sources() -> None:
    """IGRF at Zurich: about 48 uT, 64 deg down; a dipole gives 10 % less. ISO 2533 at 1000 m: 89 874.6 Pa, 281.65 K."""
    north, east, down = earth.magnetic_field(47.4, 8.5) * 1e6
    assert 40 < math.hypot(north, east, down) < 52
    assert 58 < math.degrees(math.atan2(down, math.hypot(north, east))) < 68
    pole = earth.magnetic_field(90.0, 0.0) * 1e9
    assert pole[2] == pytest.approx(2 * 29404.8)
    assert earth.magnetic_field(0.0, 0.0)[0] * 1e9 == pytest.approx(29404.8)
    assert earth.pressure(1000.0) == pytest.approx(89874.6, rel=1e-4)
    assert earth.temperature(1000.0) == pytest.approx(281.65)
    assert messages_of()["HIL_SENSOR"].abs_pressure == pytest.approx(0.01 * earth.pressure(488.0))


def test_noise_comes_from_its_seed() -> None:
    def acc(seed: int | None) -> Any:
        class Fake(dict[str, Any]):
            time = 0.0

        state = Fake({n: np.zeros(3) for n in px4.WANTS} | {"ref_frame.rot": np.array([1.0, 0, 0, 0])})
        data = px4.Sensors(common, px4.origin_of("0,0,0"), seed).messages(state)  # type: ignore[arg-type]
        return next(m.xacc for m in common.MAVLink(None).parse_buffer(data) if m.get_type() == "HIL_SENSOR")

    assert acc(1) == acc(1) != acc(2)
    assert acc(None) == 0.0


@pytest.mark.parametrize("text", ["1,2", "91,0,0", "0,181,0", "0,0,1e9", "a,b,c", "nan,0,0"])
def test_an_origin_that_is_not_on_earth_is_refused(text: str) -> None:
    with pytest.raises(BridgeError, match="expected"):
        px4.origin_of(text)


@pytest.mark.parametrize("text", ["steering=0", "steering=17", "brake=1", "steering"])
def test_a_control_that_does_not_exist_is_refused(text: str) -> None:
    parser = argparse.ArgumentParser()
    px4.add_options(parser)
    with pytest.raises(BridgeError, match="expected steering=N or throttle=N"):
        pilot_of(parser.parse_args(["--control", text]), "control", px4.CHANNELS, 16)


def test_without_pymavlink_the_package_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
                                                ) -> None:  # fmt: skip
    for name in ("pymavlink", "pymavlink.dialects", "pymavlink.dialects.v20"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["bridge", "px4"]) == 2
    assert "pip install 'jounce[mavlink]'" in capsys.readouterr().err
