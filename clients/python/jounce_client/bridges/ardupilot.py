"""ArduPilot SITL drives the vehicle: the physics side of its JSON interface, over UDP.

SITL sends servo outputs, 40 bytes little-endian (72 with 32 servos): magic 18458 (29569), frame rate [Hz], frame count,
pulse widths [us]. It gets one line of JSON: time, gyro and specific force (forward, right, down), position and velocity
(north, east, down), orientation w x y z. Source: ArduPilot, libraries/SITL/examples/JSON/readme.md.
"""

from __future__ import annotations

import argparse
import json
import socket
import struct
import sys
from dataclasses import dataclass
from typing import Final

from jounce_client import Client, Participant, Session, State
from jounce_client.bridges import frames
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

NAME: Final = "ardupilot"
PORT: Final = 9002
#: Magic -> number of servos.
SERVOS: Final = {18458: 16, 29569: 32}
#: Pulse widths [us]: neutral, and the distance to full deflection. 0 is an output that is not set yet.
NEUTRAL, FULL = 1500.0, 500.0
#: A count that falls from this near its end [frames] to this near 0 has wrapped; any other fall is a restart.
_WRAP: Final = 1 << 20
WANTS: Final = ("ref_frame.pos", "ref_frame.rot", "ref_frame.lin_vel", "imu.specific_force", "imu.ang_vel")
CHANNELS: Final = {"steering": 1, "throttle": 3}


@dataclass(frozen=True)
class Servos:
    """One message of SITL."""

    rate: int
    """Frames a second that it runs at [Hz]."""
    count: int
    pulses: tuple[int, ...]
    """Pulse widths [us]; 0: not set."""

    def position(self, channel: int) -> float:
        """Of a servo, from -1 to 1; an output that is not set is neutral. Channels count from 1."""
        pulse = self.pulses[channel - 1]
        return 0.0 if pulse == 0 else max(-1.0, min(1.0, (pulse - NEUTRAL) / FULL))


def parsed(data: bytes) -> Servos:
    """The message. Raises BridgeError for anything else."""
    if len(data) < 8:
        raise BridgeError(f"{len(data)} bytes: expected 40 or 72")
    magic, rate, count = struct.unpack_from("<HHI", data)
    servos = SERVOS.get(magic)
    if servos is None:
        raise BridgeError(f"magic {magic}: expected 18458 (16 servos) or 29569 (32)")
    if len(data) != 8 + 2 * servos:
        raise BridgeError(f"{len(data)} bytes with {servos} servos: expected {8 + 2 * servos}")
    if not rate:
        raise BridgeError("a frame rate of 0 Hz: expected at least 1")
    return Servos(rate, count, struct.unpack_from(f"<{servos}H", data, 8))


def reply(state: State) -> bytes:
    """The line of JSON for a state."""
    body = {
        "timestamp": state.time,
        "imu": {"gyro": frames.forward_right_down(state["imu.ang_vel"]).tolist(),
                "accel_body": frames.forward_right_down(state["imu.specific_force"]).tolist()},
        "position": frames.north_east_down(state["ref_frame.pos"]).tolist(),
        "velocity": frames.north_east_down(state["ref_frame.lin_vel"]).tolist(),
        "quaternion": frames.quaternion(state["ref_frame.rot"]).tolist(),
    }  # fmt: skip
    return b"\n" + json.dumps(body, separators=(",", ":")).encode() + b"\n"


def inputs(pilot: Pilot, servos: Servos) -> list[float]:
    """Values of `OWNS`; before SITL sets its throttle the brakes hold. Raises BridgeError."""
    for channel in (pilot.steering, pilot.throttle):
        if channel > len(servos.pulses):
            raise BridgeError(f"servo {channel}: expected 1 to {len(servos.pulses)}, which SITL sends")
    armed = servos.pulses[pilot.throttle - 1] != 0
    return pilot.inputs(servos.position(pilot.steering), servos.position(pilot.throttle), armed)


class Bridge:
    """Answers SITL's messages with steps of the session: one step a new frame, none for a repeated one."""

    def __init__(self, client: Client, session: Session, pilot: Pilot) -> None:
        """Joins with the first message, whose frame rate gives the period."""
        self._client, self._session, self._pilot = client, session, pilot
        self._member: Participant | None = None
        self._tick = client.get_session(session).tick_seconds
        self._last: int | None = None
        self._rate = 0
        self._reply = b""
        self.counters = Counters()
        self.time = 0.0

    def answer(self, data: bytes) -> bytes:
        """The reply to a message; empty for one that is none. Raises JounceError."""
        try:
            servos = parsed(data)
            values = inputs(self._pilot, servos)
            member = self._joined(servos.rate)
        except BridgeError as error:
            self.counters.refused += 1
            if self.counters.refused == 1:
                sys.stderr.write(f"{NAME}: a message is left out: {error}\n")
            return b""
        if self._last is not None:
            ahead = (servos.count - self._last) & 0xFFFFFFFF
            if ahead == 0:
                self.counters.repeats += 1
                return self._reply
            fallen = servos.count < self._last
            if fallen and not (servos.count < _WRAP and self._last >= (1 << 32) - _WRAP):
                self._restart()
            elif ahead > 1:
                self.counters.gaps += 1
        self._last = servos.count
        state = stepped(member, values)
        self.counters.steps += 1
        self.time, self._reply = state.time, reply(state)
        return self._reply

    def _joined(self, rate: int) -> Participant:
        if self._member is None:
            ticks = 1.0 / (rate * self._tick)
            period = round(ticks)
            if period < 1 or abs(ticks - period) > 1e-6 * ticks:
                raise BridgeError(f"{rate} frames a second: expected a period of whole ticks of {self._tick:g} s")
            self._member = joined(self._client, self._session, NAME, owns=OWNS, wants=WANTS, period=period,
                                  safe=self._pilot.safe())  # fmt: skip
            self._rate = rate
        elif rate != self._rate:
            raise BridgeError(f"{rate} frames a second: expected {self._rate}, as at the start")
        return self._member

    def _restart(self) -> None:
        """SITL has started anew: so does the session."""
        self.counters.restarts += 1
        self._client.reset(self._session)
        assert self._member is not None
        self._member.sync()

    def leave(self) -> None:
        """Leaves the session."""
        if self._member is not None:
            self._member.leave()


def served(bridge: Bridge, sock: socket.socket, status: Status, frames_wanted: int = 0) -> None:
    """Answers until ``frames_wanted`` steps are done (0: for ever)."""
    sock.settimeout(1.0)
    while not frames_wanted or bridge.counters.steps < frames_wanted:
        try:
            data, peer = sock.recvfrom(2048)
        except TimeoutError:
            status.told(bridge.counters, bridge.time, waiting="SITL")
            continue
        if answer := bridge.answer(data):
            sock.sendto(answer, peer)
        status.told(bridge.counters, bridge.time)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds all options of this bridge."""
    add_arguments(parser)
    parser.add_argument("--bind", default="127.0.0.1", metavar="HOST",
                        help="address to listen at (default: %(default)s)")  # fmt: skip
    parser.add_argument("--port", type=int, default=PORT, help="UDP port to listen at (default: %(default)s)")
    parser.add_argument("--servo", nargs="+", default=[], metavar="NAME=N", help="servo of steering and of throttle "
                        "(default: steering=1 throttle=3)")  # fmt: skip
    add_pilot(parser)
    parser.add_argument("--imu", metavar="X,Y,Z", help="place of the IMU in the chassis axes in m (default: 0,0,0)")


def run(given: argparse.Namespace) -> int:
    """Listens, and answers SITL until Ctrl-C."""
    pilot = pilot_of(given, "servo", CHANNELS, 32)
    if given.imu:
        place = [number(p) for p in given.imu.split(",")]
        if len(place) != 3:
            raise BridgeError(f"--imu {given.imu}: expected X,Y,Z")
        given.set += [f"imu.pos.{axis}={value!r}" for axis, value in zip("xyz", place, strict=True)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((given.bind, given.port))
        with opened(given, NAME) as (client, session):
            bridge = Bridge(client, session, pilot)
            sys.stderr.write(f"{NAME}: listening at {given.bind}:{sock.getsockname()[1]}\n")
            try:
                served(bridge, sock, Status(NAME, given.log), given.frames)
            finally:
                bridge.leave()
    return 0


if __name__ == "__main__":
    program(NAME, "ArduPilot SITL (--model JSON:HOST) drives the vehicle.", add_options, run)
