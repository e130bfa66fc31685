"""CAN: outputs and inputs of the vehicle as frames, for HIL rigs and their tools (python-can, cantools).

The database is generated from the signal table, or the user's own with a map (`dbc`). Each period the bridge takes the
frames that have arrived, makes a step, and sends its messages. A frame with a wrong length, CRC, counter or value is
dropped and counted. The inputs of a message that is missing for three cycles have their safe values until it is back.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from jounce_client import JounceError, State
from jounce_client.bridges import dbc
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

NAME: Final = "can"
#: Cycles without a good frame after which a message is lost.
MISSING: Final = 3


@dataclass
class CanCounters(Counters):
    """With the messages that were lost for three cycles."""

    lost: int = 0


def with_crc(frame: dbc.Frame, data: bytes) -> int:
    """The CRC that belongs to a frame's bytes: over all but its own byte."""
    at = frame.message.get_signal_by_name(frame.crc).start // 8
    return dbc.crc8(data[:at] + data[at + 1 :])


class Sender:
    """Encodes the outputs."""

    def __init__(self, frames: Sequence[dbc.Frame]) -> None:
        """Counters begin at 0."""
        self._frames, self._count = frames, 0

    def messages(self, values: dict[str, float]) -> list[tuple[int, bool, bytes]]:
        """(id, whether it has 29 bits, bytes) of every frame; values are clipped to what a signal can hold."""
        made = []
        for frame in self._frames:
            given: dict[str, float] = {}
            for signal in frame.message.signals:
                given[signal.name] = signal.conversion.raw_to_scaled(signal.raw_initial or 0)
            for entry in frame.entries:
                signal = frame.message.get_signal_by_name(entry.signal)
                given[entry.signal] = _clipped(signal, entry.factor * values[entry.name] + entry.offset)
            if frame.counter:
                given[frame.counter] = self._count % 2 ** frame.message.get_signal_by_name(frame.counter).length
            data = bytes(frame.message.encode(given, strict=False))
            if frame.crc:
                given[frame.crc] = 0
                given[frame.crc] = with_crc(frame, data)
                data = bytes(frame.message.encode(given, strict=False))
            made.append((frame.message.frame_id, frame.message.is_extended_frame, data))
        self._count += 1
        return made


def _clipped(signal: Any, value: float) -> float:
    """Within what the integer of a signal holds."""
    if signal.conversion.is_float:
        return value
    low, high = (-(2 ** (signal.length - 1)), 2 ** (signal.length - 1) - 1) if signal.is_signed else (
        0, 2**signal.length - 1)  # fmt: skip
    ends = sorted((signal.conversion.raw_to_scaled(low), signal.conversion.raw_to_scaled(high)))
    return float(min(max(value, ends[0]), ends[1]))


class Receiver:
    """Inputs from frames, with their safe values where frames are missing."""

    def __init__(self, frames: Sequence[dbc.Frame], names: Sequence[str], safe: dict[str, float],
                 bounds: dict[str, tuple[float, float]], cycle: float) -> None:
        """``cycle`` [s] is that of messages that have none."""
        self._frames = {(f.message.frame_id, f.message.is_extended_frame): f for f in frames}
        self._safe, self._bounds, self._names = safe, bounds, names
        self._values = dict(safe)
        self._last: dict[str, int] = {}
        self._seen = dict.fromkeys((f.message.name for f in frames), 0.0)
        self._cycle = {f.message.name: (f.message.cycle_time or 0) * 1e-3 or cycle for f in frames}
        self._lost: set[str] = set()
        #: Messages of which a good frame came since it was cleared.
        self.fresh: set[str] = set()

    @property
    def wanted(self) -> set[str]:
        """Messages that it receives."""
        return set(self._seen)

    def take(self, number: int, extended: bool, data: bytes, now: float, counters: Counters) -> None:
        """A frame that arrived at the session's time ``now`` [s]."""
        frame = self._frames.get((number, extended))
        if frame is None:
            return
        name = frame.message.name
        wrong = len(data) != frame.message.length
        if wrong or frame.crc and with_crc(frame, data) != self._raw(frame, data, frame.crc):
            counters.refused += 1
            return
        if frame.counter:
            count = int(self._raw(frame, data, frame.counter))
            last = self._last.get(name)
            self._last[name] = count
            if last == count:
                counters.repeats += 1
                return
            span = 2 ** frame.message.get_signal_by_name(frame.counter).length
            if last is not None and count != (last + 1) % span and name not in self._lost:
                counters.gaps += 1
                return
        found = self._decoded(frame, data)
        if found is None:
            counters.refused += 1
            return
        self._values |= found
        self._seen[name] = now
        self._lost.discard(name)
        self.fresh.add(name)

    def _raw(self, frame: dbc.Frame, data: bytes, signal: str) -> float:
        return float(frame.message.decode(data, decode_choices=False, scaling=False)[signal])

    def _decoded(self, frame: dbc.Frame, data: bytes) -> dict[str, float] | None:
        decoded = frame.message.decode(data, decode_choices=False)
        found = {}
        for entry in frame.entries:
            value = float(decoded[entry.signal])
            signal = frame.message.get_signal_by_name(entry.signal)
            low = -math.inf if signal.minimum is None else signal.minimum
            high = math.inf if signal.maximum is None else signal.maximum
            own = (value - entry.offset) / entry.factor
            least, most = self._bounds[entry.name]
            if not (low <= value <= high and least <= own <= most):
                return None
            found[entry.name] = own
        return found

    def inputs(self, now: float, counters: CanCounters) -> list[float]:
        """The inputs at the session's time ``now`` [s]."""
        for frame in self._frames.values():
            name = frame.message.name
            self._seen[name] = min(self._seen[name], now)  # a reset sets the clock back
            if now - self._seen[name] > MISSING * self._cycle[name] * (1 + 1e-9):
                if name not in self._lost:
                    counters.lost += 1
                    self._lost.add(name)
                self._values |= {e.name: self._safe[e.name] for e in frame.entries}
        return [self._values[n] for n in self._names]


@dataclass
class Bridge:
    """A bus and the vehicle's participant."""

    bus: Any
    """Of python-can."""
    sender: Sender
    receiver: Receiver
    wait: float = 0.0
    """Wall-clock time to wait for a frame of every message before a step [s]; 0: takes what is there."""
    counters: CanCounters = field(default_factory=CanCounters)

    def send(self, state: State, names: Sequence[str]) -> None:
        """The outputs as frames."""
        import can

        for number_, extended, data in self.sender.messages(dict(zip(names, state.values.tolist(), strict=True))):
            self.bus.send(can.Message(arbitration_id=number_, is_extended_id=extended, data=data))

    def take(self, now: float) -> None:
        """The frames that have arrived; with ``wait`` those of all messages."""
        self.receiver.fresh.clear()
        end = time.monotonic() + self.wait
        while True:
            left = max(end - time.monotonic(), 0.0) if self.receiver.fresh < self.receiver.wanted else 0.0
            got = self.bus.recv(timeout=left)
            if got is None:
                return
            if not (got.is_error_frame or got.is_remote_frame):
                self.receiver.take(got.arbitration_id, got.is_extended_id, bytes(got.data), now, self.counters)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds all options of this bridge."""
    add_arguments(parser)
    parser.set_defaults(pace="realtime")
    parser.add_argument("--interface", default="socketcan", help="of python-can: socketcan, virtual, udp_multicast, "
                        "pcan, vector and others (default: %(default)s)")  # fmt: skip
    parser.add_argument("--channel", default="can0", help="channel of the interface (default: %(default)s)")
    parser.add_argument("--dbc", type=Path, metavar="FILE", help="your own database; needs --map")
    parser.add_argument("--map", type=Path, metavar="FILE", help="TOML: which signal is what; needs --dbc")
    parser.add_argument("--send", default="speed,ref_frame.pos.x,ref_frame.pos.y,ref_frame.yaw", metavar="NAME,...",
                        help="scalar outputs to send, without --dbc (default: %(default)s)")  # fmt: skip
    parser.add_argument("--receive", default="steering_wheel_angle", metavar="NAME,...",
                        help="scalar inputs to receive, without --dbc (default: %(default)s)")  # fmt: skip
    parser.add_argument("--period", type=int, default=10, metavar="TICKS", help="ticks between two steps "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--safe", action="append", default=[], metavar="NAME=VALUE",
                        help="value of an input while its message is missing (default: the start value), may repeat")
    parser.add_argument("--wait", default="0", metavar="S",
                        help="wait up to this time for a frame of every message before each step (default: do not)")


def _frames(given: argparse.Namespace, known: Sequence[dbc.Scalar], cycle: float
            ) -> tuple[list[dbc.Frame], list[dbc.Frame]]:  # fmt: skip
    if (given.dbc is None) != (given.map is None):
        raise BridgeError("--dbc and --map: expected both or none")
    if given.dbc is not None:
        own = dbc.Own(given.dbc, given.map, known)
        return own.send, own.receive
    by_name = {s.name: s for s in known}
    wanted = {False: given.send, True: given.receive}
    for is_input, text in wanted.items():
        for name in filter(None, text.split(",")):
            if name not in by_name or by_name[name].is_input != is_input:
                raise BridgeError(f"{'--receive' if is_input else '--send'} {name}: expected a scalar "
                                  f"{'input' if is_input else 'output'} of `jounce describe`")  # fmt: skip
    # ids and places are those of the whole vehicle's database, whichever signals are used
    _, frames = dbc.database(known, cycle)
    send, receive = ([f for f in frames if {e.name for e in f.entries} & set(text.split(","))]
                     for text in (given.send, given.receive))  # fmt: skip
    return send, receive


def _safe(given: argparse.Namespace, names: Sequence[str], known: dict[str, dbc.Scalar]) -> dict[str, float]:
    values: dict[str, float] = {}
    for text in given.safe:
        name, sign, value = text.partition("=")
        if not sign or name not in names:
            raise BridgeError(f"--safe {text}: expected NAME=VALUE of an input that is received")
        if name in values:
            raise BridgeError(f"--safe {text}: {name} is given twice; expected once")
        values[name] = number(value)
        if not known[name].low <= values[name] <= known[name].high:
            raise BridgeError(f"--safe {text}: expected {known[name].low} to {known[name].high}")
    return {n: known[n].start for n in names} | values


def run(given: argparse.Namespace) -> int:
    """Exchanges frames until Ctrl-C."""
    dbc.cantools()
    try:
        import can
    except ImportError:
        raise BridgeError("python-can is not installed: pip install 'jounce[can]'") from None
    wait = number(given.wait)
    if given.period < 1 or wait < 0.0:
        raise BridgeError(f"--period {given.period}, --wait {given.wait}: expected at least 1 tick and 0 s")
    with opened(given, NAME) as (client, session):
        known = dbc.scalars(client.describe(session.model or given.vehicle))
        cycle = given.period * session.tick_seconds
        send, receive = _frames(given, known, cycle)
        by_name = {s.name: s for s in known}
        owns, wants = (list(dict.fromkeys(e.name for f in frames for e in f.entries)) for frames in (receive, send))
        safe = _safe(given, owns, by_name)
        receiver = Receiver(receive, owns, safe, {n: (by_name[n].low, by_name[n].high) for n in owns}, cycle)
        try:
            bus = can.Bus(interface=given.interface, channel=given.channel)
        except Exception as error:
            raise BridgeError(f"--interface {given.interface} --channel {given.channel}: {error}") from error
        try:
            late = None if wait else [safe[n] for n in owns]
            with joined(client, session, NAME, owns=owns, wants=wants, period=given.period, safe=late) as member:
                _exchange(given, Bridge(bus, Sender(send), receiver, wait), member, wants)
        except can.CanError as error:
            raise BridgeError(f"--interface {given.interface} --channel {given.channel}: {error}") from error
        finally:
            bus.shutdown()
    return 0


def _exchange(given: argparse.Namespace, bridge: Bridge, member: Any, wants: Sequence[str]) -> None:
    status, state = Status(NAME, given.log), member.start
    bridge.send(state, wants)
    while not given.frames or bridge.counters.steps < given.frames:
        bridge.take(state.time)
        try:
            state = stepped(member, bridge.receiver.inputs(state.time, bridge.counters))
        except JounceError as error:
            raise BridgeError(str(error)) from error
        bridge.counters.steps += 1
        bridge.send(state, wants)
        status.told(bridge.counters, state.time)


if __name__ == "__main__":
    program(NAME, "Exchanges outputs and inputs as CAN frames.", add_options, run)
