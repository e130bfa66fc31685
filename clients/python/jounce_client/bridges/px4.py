"""PX4 SITL drives the vehicle: the simulator's side of its MAVLink HIL interface, over TCP.

PX4 connects to port 4560. It gets HIL_SENSOR each period, which moves its clock, HIL_GPS ten times a second, and the
truth as HIL_STATE_QUATERNION. It sends HIL_ACTUATOR_CONTROLS. Until the first of these the vehicle goes on with brakes
on, at the wall clock's pace (PX4 boots); from then on every step waits for the controls that answer its HIL_SENSOR.
Sources: PX4 guide, "Simulation" and "Lockstep"; MAVLink common message set.
"""

from __future__ import annotations

import argparse
import math
import os
import socket
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jounce_client import Client, Participant, Session, State
from jounce_client.bridges import frames
from jounce_client.bridges.earth import Origin, magnetic_field, pressure, temperature
from jounce_client.bridges.pilot import OWNS, Pilot, add_pilot, pilot_of
from jounce_client.bridges.session import (
    BridgeError,
    Counters,
    Status,
    add_arguments,
    joined,
    number,
    opened,
    program,
    stepped,
)

Array = NDArray[np.float64]
NAME: Final = "px4"
PORT: Final = 4560
ARMED, LOCKSTEP = 128, 1  # bits of mode and flags
#: All sensors but the differential pressure: bits 0 to 9, 11, 12 of fields_updated.
FIELDS: Final = 0b1_1011_1111_1111
GPS_PERIOD: Final = 0.1  # [s]
#: What PX4 is told as the time of the session's start [us]: 0 could be taken for no time.
START: Final = 1_000_000
#: Standard deviations of --noise: m/s2, rad/s, gauss, Pa, m.
NOISE: Final = (0.05, 0.003, 0.001, 2.0, 0.3)
WANTS: Final = ("ref_frame.pos", "ref_frame.rot", "ref_frame.lin_vel", "imu.specific_force", "imu.ang_vel")
CHANNELS: Final = {"steering": 1, "throttle": 2}


def codec() -> Any:
    """pymavlink's messages, version 2. Raises BridgeError without it."""
    os.environ.setdefault("MAVLINK20", "1")
    try:
        from pymavlink.dialects.v20 import common
    except ImportError:
        raise BridgeError("pymavlink is not installed: pip install 'jounce[mavlink]'") from None
    return common


def inputs(pilot: Pilot, controls: list[float], armed: bool) -> list[float]:
    """Values of `OWNS`; controls that are not numbers (outputs that are off) are neutral."""
    if not armed:
        return pilot.safe()
    steer, drive = (min(max(c, -1.0), 1.0) if math.isfinite(c) else 0.0
                    for c in (controls[pilot.steering - 1], controls[pilot.throttle - 1]))  # fmt: skip
    return pilot.inputs(steer, drive)


class Sensors:
    """The messages of a state."""

    def __init__(self, common: Any, origin: Origin, seed: int | None) -> None:
        """``seed`` turns noise on."""
        self._common, self._origin = common, origin
        self._random = None if seed is None else np.random.default_rng(seed)
        self._out = common.MAVLink(None, srcSystem=1, srcComponent=51)
        self._fixed = -math.inf

    def _noise(self, kind: int, size: int = 3) -> Array:
        return np.zeros(size) if self._random is None else NOISE[kind] * self._random.standard_normal(size)

    def messages(self, state: State) -> bytes:
        """HIL_SENSOR and the truth, and GPS where it is due."""
        common, stamp, place = self._common, told(state), np.asarray(state["ref_frame.pos"])
        latitude, longitude, altitude = self._origin.geodetic(place)
        q = frames.quaternion(state["ref_frame.rot"])
        force = frames.forward_right_down(state["imu.specific_force"]) + self._noise(0)
        rate = frames.forward_right_down(state["imu.ang_vel"])
        field_ = 1e4 * frames.into_body(q, magnetic_field(latitude, longitude)) + self._noise(2)
        air = pressure(altitude) + float(self._noise(3, 1)[0])
        velocity = frames.north_east_down(state["ref_frame.lin_vel"])
        made = [
            common.MAVLink_hil_sensor_message(
                stamp, *force.tolist(), *(rate + self._noise(1)).tolist(), *field_.tolist(), 0.01 * air, 0.0, altitude,
                temperature(altitude) - 273.15, FIELDS, 0),
            common.MAVLink_hil_state_quaternion_message(
                stamp, q.tolist(), *rate.tolist(), round(latitude * 1e7), round(longitude * 1e7), round(altitude * 1e3),
                *(_whole(100.0 * v, 15) for v in velocity), 0, 0, *(_whole(v / 9.80665e-3, 15) for v in force)),
        ]  # fmt: skip
        if state.time >= self._fixed + GPS_PERIOD - 1e-9 or state.time < self._fixed:
            self._fixed = state.time
            made.append(self._gps(stamp, place + self._noise(4), velocity))
        return b"".join(bytes(m.pack(self._out)) for m in made)

    def _gps(self, stamp: int, place: Array, velocity: Array) -> Any:
        latitude, longitude, altitude = self._origin.geodetic(place)
        north, east, down = velocity.tolist()
        course = math.degrees(math.atan2(east, north)) % 360.0
        return self._common.MAVLink_hil_gps_message(
            stamp, 3, round(latitude * 1e7), round(longitude * 1e7), round(altitude * 1e3), 100, 100,
            _whole(100.0 * math.hypot(north, east), 16), *(_whole(100.0 * v, 15) for v in (north, east, down)),
            round(course * 100.0) % 36000, 10)  # fmt: skip

    def heartbeat(self) -> bytes:
        """Says that there is a simulator."""
        c = self._common
        beat = c.MAVLink_heartbeat_message(c.MAV_TYPE_GENERIC, c.MAV_AUTOPILOT_INVALID, 0, 0, 0, 3)
        return bytes(beat.pack(self._out))


def told(state: State) -> int:
    """The time [us] that PX4 is told for a state."""
    return START + round(state.time * 1e6)


def _whole(value: float, bits: int) -> int:
    """As an integer of the message, at its end where it does not fit."""
    most = 2**bits - 1
    return int(max(-most, min(most, round(value))))


class Gone(Exception):
    """PX4 has closed the connection."""


@dataclass
class Bridge:
    """One connection of PX4."""

    common: Any
    sock: socket.socket
    pilot: Pilot
    counters: Counters = field(default_factory=Counters)
    lockstep: bool = False
    """Whether PX4 has sent controls."""

    def __post_init__(self) -> None:
        self._in = self.common.MAVLink(None)
        self._in.robust_parsing = True
        self._waiting: list[Any] = []

    def controls(self, stamp: int, seconds: float) -> Any | None:
        """HIL_ACTUATOR_CONTROLS that answer the sensors of ``stamp`` [us], or None after ``seconds``. Raises Gone."""
        end = time.monotonic() + seconds
        while True:
            while self._waiting:
                message = self._waiting.pop(0)
                if message.get_type() == "BAD_DATA":
                    self.counters.refused += 1
                elif message.get_type() == "HIL_ACTUATOR_CONTROLS":
                    if message.time_usec >= stamp:
                        return message
                    self.counters.repeats += 1  # of an earlier time: it makes no step
            left = end - time.monotonic()
            if left <= 0.0:
                return None
            self.sock.settimeout(left)
            try:
                data = self.sock.recv(65536)
            except TimeoutError:
                return None
            except OSError as error:
                raise Gone from error
            if not data:
                raise Gone
            self._waiting += self._in.parse_buffer(data) or []

    def send(self, data: bytes) -> None:
        """Raises Gone."""
        self.sock.settimeout(10.0)
        try:
            self.sock.sendall(data)
        except OSError as error:
            raise Gone from error


def drive(bridge: Bridge, sensors: Sensors, member: Participant, status: Status, period: float, wanted: int) -> None:
    """Steps until PX4 is gone (raises Gone), the session's time goes back, or ``wanted`` steps are made."""
    state = member.state
    bridge.send(sensors.heartbeat())
    while not wanted or bridge.counters.steps < wanted:
        bridge.send(sensors.messages(state))
        found = bridge.controls(told(state), 1.0 if bridge.lockstep else period)
        while found is None and bridge.lockstep:
            status.told(bridge.counters, state.time, waiting="PX4")
            found = bridge.controls(told(state), 1.0)
        bridge.lockstep = bridge.lockstep or found is not None
        if found is None:
            moved = stepped(member, bridge.pilot.safe())
        else:
            moved = stepped(member, inputs(bridge.pilot, list(found.controls), bool(found.mode & ARMED)))
        if moved.time <= state.time:
            raise Gone  # PX4's clock only goes forward: it has to connect anew
        state = moved
        bridge.counters.steps += 1
        status.told(bridge.counters, state.time)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds all options of this bridge."""
    add_arguments(parser)
    parser.add_argument("--bind", default="127.0.0.1", metavar="HOST", help="address to listen at "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--port", type=int, default=PORT, help="TCP port; PX4's instance N connects to 4560 + N "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--period", type=int, default=4, metavar="TICKS", help="ticks of a step (default: %(default)s)")
    parser.add_argument("--control", nargs="+", default=[], metavar="NAME=N", help="control of steering and throttle, "
                        "from 1 to 16 (default: steering=1 throttle=2)")  # fmt: skip
    add_pilot(parser)
    parser.add_argument("--origin", default="47.397742,8.545594,488", metavar="LAT,LON,ALT",
                        help="where the world's origin is, in degrees and m (default: %(default)s, PX4's home)")
    parser.add_argument("--noise", type=int, metavar="SEED", help="noise of the sensors from this seed (default: none)")


def origin_of(text: str) -> Origin:
    """The place of the option. Raises BridgeError."""
    parts = [number(p) for p in text.split(",")]
    if len(parts) != 3 or abs(parts[0]) > 89.0 or abs(parts[1]) > 180.0 or not -500.0 <= parts[2] <= 9000.0:
        raise BridgeError(f"--origin {text}: expected LAT,LON,ALT: -89 to 89 and -180 to 180 degrees, -500 to 9000 m")
    return Origin(*parts)


def run(given: argparse.Namespace) -> int:
    """Listens, and serves one connection of PX4 after the other until Ctrl-C."""
    common, pilot, origin = codec(), pilot_of(given, "control", CHANNELS, 16), origin_of(given.origin)
    if given.period < 1:
        raise BridgeError(f"--period {given.period}: expected 1 or more ticks")
    with socket.create_server((given.bind, given.port)) as server, opened(given, NAME) as (client, session):
        sys.stderr.write(f"{NAME}: listening at {given.bind}:{server.getsockname()[1]}\n")
        with joined(client, session, NAME, owns=OWNS, wants=WANTS, period=given.period, safe=pilot.safe()) as member:
            _served(given, server, common, Sensors(common, origin, given.noise), pilot, (client, session, member))
    return 0


def _served(given: argparse.Namespace, server: socket.socket, common: Any, sensors: Sensors, pilot: Pilot,
            place: tuple[Client, Session, Participant]) -> None:  # fmt: skip
    client, session, member = place
    period = given.period * client.get_session(session).tick_seconds
    counters, status = Counters(), Status(NAME, given.log)
    server.settimeout(1.0)
    while not given.frames or counters.steps < given.frames:
        try:
            sock, _ = server.accept()
        except TimeoutError:
            status.told(counters, member.state.time, waiting="PX4")
            continue
        if counters.steps:  # PX4 has booted anew: so does the session
            counters.restarts += 1
            client.reset(session)
            member.sync()
        with sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                drive(Bridge(common, sock, pilot, counters), sensors, member, status, period, given.frames)
            except Gone:
                continue


if __name__ == "__main__":
    program(NAME, "PX4 SITL drives the vehicle.", add_options, run)
