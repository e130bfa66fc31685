"""Packed UDP: chosen outputs and inputs as doubles, for Simulink, LabVIEW, dSPACE and programs without any protocol.

A datagram, little-endian without padding: uint32 magic, uint32 version, uint64 tick, uint32 crc, doubles. The crc is
CRC-32 (IEEE 802.3, as zlib's) over all bytes but its own. The bridge sends the state at a tick and waits for the inputs
of that tick, whose datagram has the same tick; others are dropped and counted.
"""

from __future__ import annotations

import argparse
import socket
import struct
import sys
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jounce_client import JounceError, Participant, State
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

NAME: Final = "udp"
PORT: Final = 25000
#: "jnUD" little-endian.
MAGIC, VERSION = 0x44556E6A, 1
_HEADER: Final = struct.Struct("<IIQI")
#: Largest number of values that fit a datagram.
MOST: Final = (65507 - _HEADER.size) // 8


def packed(tick: int, values: Sequence[float] | NDArray[np.float64]) -> bytes:
    """A datagram."""
    body = np.asarray(values, dtype="<f8").tobytes()
    start = struct.pack("<IIQ", MAGIC, VERSION, tick)
    return start + struct.pack("<I", zlib.crc32(start + body)) + body


def unpacked(data: bytes, size: int) -> tuple[int, list[float]]:
    """(tick, values) of a datagram with ``size`` values. Raises BridgeError."""
    if len(data) != _HEADER.size + 8 * size:
        raise BridgeError(f"{len(data)} bytes: expected {_HEADER.size + 8 * size}")
    magic, version, tick, crc = _HEADER.unpack_from(data)
    if (magic, version) != (MAGIC, VERSION):
        raise BridgeError(f"magic {magic:#x}, version {version}: expected {MAGIC:#x}, {VERSION}")
    if crc != zlib.crc32(data[:16] + data[20:]):
        raise BridgeError("the crc does not fit the bytes")
    return tick, list(struct.unpack_from(f"<{size}d", data, _HEADER.size))


def described(kind: str, names: Sequence[str]) -> str:
    """The C struct of a datagram, and the byte layout for block diagrams."""
    lines = [f"/* {kind}: {_HEADER.size + 8 * len(names)} bytes, little-endian, no padding */",
             f"struct __attribute__((packed)) jounce_{kind} {{",
             f"    uint32_t magic;   /* byte 0: {MAGIC:#x} */", f"    uint32_t version; /* byte 4: {VERSION} */",
             "    uint64_t tick;    /* byte 8 */",
             "    uint32_t crc;     /* byte 16: CRC-32 of all bytes but these four */"]  # fmt: skip
    for k, name in enumerate(names):
        lines.append(f"    double value_{k}; /* byte {_HEADER.size + 8 * k}: {name} */")
    return "\n".join([*lines, "};"])


@dataclass
class Bridge:
    """Exchanges a state for inputs, tick by tick."""

    member: Participant
    sock: socket.socket
    peer: tuple[str, int] | None
    """Where states go to; None: where the first datagram comes from."""
    resend: float = 1.0
    """Time without an answer after which the state is sent again [s]."""
    counters: Counters = field(default_factory=Counters)

    def exchange(self, state: State, status: Status) -> list[float]:
        """Sends the state until the inputs of its tick come. Raises OSError."""
        self.sock.settimeout(self.resend)
        message, size = packed(state.tick, state.values), len(self.member.inputs)
        while True:
            if self.peer is not None:
                self.sock.sendto(message, self.peer)
            end = time.monotonic() + self.resend
            while (left := end - time.monotonic()) > 0.0:
                self.sock.settimeout(left)
                try:
                    data, sender = self.sock.recvfrom(65535)
                except TimeoutError:
                    break
                if self.peer is None:  # the peer's first datagram says where it is; it has seen no state yet
                    self.peer = sender
                    break
                try:
                    tick, values = unpacked(data, size)
                except BridgeError as error:
                    self._refuse(str(error))
                    continue
                if tick == state.tick:
                    return values
                if tick < state.tick:
                    self.counters.repeats += 1
                else:
                    self._refuse(f"tick {tick}: expected {state.tick}")
            status.told(self.counters, state.time, waiting="the peer")

    def _refuse(self, text: str) -> None:
        self.counters.refused += 1
        if self.counters.refused == 1:
            sys.stderr.write(f"{NAME}: a datagram is left out: {text}\n")

    def step(self, state: State, values: Sequence[float]) -> State:
        """The next state, or the same one where the server refuses the values."""
        try:
            moved = stepped(self.member, values)
        except JounceError as error:
            if error.reason not in ("INPUT_OUT_OF_RANGE", "NOT_FINITE", "NOT_A_WHOLE_NUMBER"):
                raise
            self._refuse(str(error))
            return state
        self.counters.steps += 1
        return moved


def _names(text: str) -> list[str]:
    names = [n.strip() for n in text.split(",") if n.strip()]
    if len(names) > MOST:
        raise BridgeError(f"{len(names)} values: expected at most {MOST}, which fit a datagram")
    return names


def _place(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise BridgeError(f"{text}: expected HOST:PORT")
    return host, int(port)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds all options of this bridge."""
    add_arguments(parser)
    parser.add_argument("--send", default="ref_frame.pos,ref_frame.rot,speed", metavar="NAME,...",
                        help="outputs to send (default: %(default)s)")  # fmt: skip
    parser.add_argument("--receive", default="steering_wheel_angle", metavar="NAME,...",
                        help="inputs to receive (default: %(default)s)")  # fmt: skip
    parser.add_argument("--period", type=int, default=1, metavar="TICKS", help="ticks between two states")
    parser.add_argument("--bind", default=f"127.0.0.1:{PORT}", metavar="HOST:PORT",
                        help="address to listen at (default: %(default)s)")  # fmt: skip
    parser.add_argument("--peer", metavar="HOST:PORT", help="where states are sent to (default: to who sends first)")
    parser.add_argument("--resend", default="1", metavar="S", help="time in s after which a state is sent again")
    parser.add_argument("--layout", action="store_true", help="print the structs of both directions and end")


def run(given: argparse.Namespace) -> int:
    """Exchanges datagrams until Ctrl-C."""
    wants, owns, resend = _names(given.send), _names(given.receive), number(given.resend)
    if not resend > 0.0:
        raise BridgeError(f"--resend {given.resend} s: expected more than 0")
    if given.period < 1:
        raise BridgeError(f"--period {given.period}: expected 1 or more ticks")
    peer = _place(given.peer) if given.peer else None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, opened(given, NAME) as (client, session):
        if not given.layout:
            sock.bind(_place(given.bind))
        with joined(client, session, NAME, owns=owns, wants=wants, period=given.period, safe=None) as member:
            sys.stdout.write(f"{described('state', member.outputs)}\n\n{described('inputs', member.inputs)}\n")
            sys.stdout.flush()
            if given.layout:
                return 0
            bridge, status, state = Bridge(member, sock, peer, resend), Status(NAME, given.log), member.start
            while not given.frames or bridge.counters.steps < given.frames:
                state = bridge.step(state, bridge.exchange(state, status))
                status.told(bridge.counters, state.time)
            sock.sendto(packed(state.tick, state.values), bridge.peer or ("127.0.0.1", 9))
    return 0


if __name__ == "__main__":
    program(NAME, "Exchanges chosen outputs and inputs as packed UDP.", add_options, run)
