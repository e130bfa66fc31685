"""CAN messages for the signals of a vehicle: one generated database, or one's own with a map.

A generated message is a classic frame of 8 bytes with a 29-bit id: byte 0 CRC-8 (SAE J1850) over the other bytes, byte
1 a counter from 0 to 15, bytes 2 to 7 up to three scaled integers of 16 or 32 bits, little-endian, of one group of
signals (the chassis, a wheel, the driver). Quanta are powers of ten.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from jounce_client.bridges.session import BridgeError
from jounce_proto import jounce_pb2 as pb

CRC, COUNTER = "crc8", "counter"
#: Ids of the first output's and the first input's message.
FIRST_OUTPUT, FIRST_INPUT = 0x1A000000, 0x1B000000
#: Bits of a frame that hold values.
ROOM: Final = 48
#: Without bounds a signal reaches this many times its nominal value, and never more than the other.
REACH: Final = 1e4
MOST: Final = 1e6


@dataclass(frozen=True)
class Scalar:
    """A scalar of the signal table."""

    name: str
    unit: str
    low: float
    high: float
    nominal: float
    start: float
    description: str
    is_input: bool
    whole: bool
    """An integer, a boolean or an enumeration."""


@dataclass(frozen=True)
class Entry:
    """A signal of a message and what it stands for: on the bus is factor * value + offset."""

    signal: str
    name: str
    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Frame:
    """A message of the database (cantools) with its entries, and the signals that protect it, or ""."""

    message: Any
    entries: tuple[Entry, ...]
    counter: str = ""
    crc: str = ""


def scalars(model: pb.DescribeModelResponse) -> list[Scalar]:
    """Inputs and outputs of a model on a server."""
    return [
        Scalar(s.name + part, s.unit, s.minimum, s.maximum, s.nominal, start, s.description,
               s.causality == pb.CAUSALITY_INPUT, s.type != pb.SIGNAL_TYPE_REAL)
        for s in model.signals if s.causality != pb.CAUSALITY_PARAMETER
        for part, start in zip(s.components, s.start or [0.0] * len(s.components), strict=True)
    ]  # fmt: skip


def cantools() -> Any:
    """The library. Raises BridgeError."""
    try:
        import cantools as found
    except ImportError:
        raise BridgeError("cantools is not installed: pip install 'jounce[can]'") from None
    return found


def crc8(data: bytes) -> int:
    """CRC-8 SAE J1850: polynomial 0x1D, start 0xFF, result inverted."""
    crc = 0xFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x1D) & 0xFF if crc & 0x80 else crc << 1
    return crc ^ 0xFF


def reach(scalar: Scalar) -> float:
    """Largest magnitude that a message holds."""
    most = max(abs(scalar.low), abs(scalar.high))
    if not math.isfinite(most) or most == 0.0:
        return REACH * scalar.nominal
    return min(most, MOST * scalar.nominal)


def scaled(scalar: Scalar) -> tuple[int, float]:
    """Bits and quantum: 16 bits where they resolve a thousandth of the nominal value, else 32."""
    nominal, most = scalar.nominal, reach(scalar)
    for bits in (16, 32):
        quantum = 10.0 ** math.ceil(math.log10(most / (2 ** (bits - 1) - 1)) - 1e-9)
        if scalar.whole:
            quantum = max(quantum, 1.0)
        if bits == 32 or quantum <= 1e-3 * nominal:
            break
    return bits, float(f"{quantum:.0e}")


def identifier(name: str) -> str:
    """A name as a C identifier, as DBC files have them."""
    return re.sub(r"\W", "_", name)


def _group(scalar: Scalar) -> tuple[bool, str]:
    first, dot, _ = scalar.name.partition(".")
    return scalar.is_input, first if dot else "vehicle"


def database(found: Iterable[Scalar], cycle: float) -> tuple[Any, list[Frame]]:
    """(cantools database, its frames) for these scalars; ``cycle`` [s] between two frames of a message."""
    dbc = cantools().database.can
    frames: list[Frame] = []
    counts = {True: 0, False: 0}
    for (is_input, group), members in groupby(sorted(found, key=_group), key=_group):
        for k, part in enumerate(_filled(members), 1):
            base = FIRST_INPUT if is_input else FIRST_OUTPUT
            name = f"{'set_' if is_input else ''}{identifier(group)}_{k}"
            message = _message(dbc, name, base + counts[is_input], part, cycle)
            counts[is_input] += 1
            entries = tuple(Entry(identifier(s.name), s.name) for s in part)
            frames.append(Frame(message, entries, COUNTER, CRC))
    nodes = [dbc.Node("jounce"), dbc.Node("rig")]
    made = dbc.Database(messages=[f.message for f in frames], nodes=nodes, version="1")
    return made, frames


def _filled(members: Iterable[Scalar]) -> Iterator[list[Scalar]]:
    part: list[Scalar] = []
    for scalar in members:
        if sum(scaled(s)[0] for s in [*part, scalar]) > ROOM:
            yield part
            part = []
        part.append(scalar)
    yield part


def _message(dbc: Any, name: str, number: int, part: Sequence[Scalar], cycle: float) -> Any:
    from cantools.database.conversion import BaseConversion

    signals = [dbc.Signal(CRC, 0, 8), dbc.Signal(COUNTER, 8, 4)]
    at = 16
    for s in part:
        bits, quantum = scaled(s)
        most = quantum * (2 ** (bits - 1) - 1)
        signals.append(dbc.Signal(
            identifier(s.name), at, bits, is_signed=True, conversion=BaseConversion.factory(quantum, 0),
            minimum=max(s.low, -most), maximum=min(s.high, most), unit="" if s.unit == "1" else s.unit,
            comment=s.description.replace('"', "'") or None, receivers=["jounce" if s.is_input else "rig"],
        ))  # fmt: skip
        at += bits
    return dbc.Message(number, name, 8, signals, is_extended_frame=True, cycle_time=round(1e3 * cycle),
                       senders=["rig" if part[0].is_input else "jounce"])  # fmt: skip


class Own:
    """A database of the user's with a map (TOML): ``[send]`` and ``[receive]`` tables of "Message.Signal" = "name" or
    {signal, factor, offset}, and ``[protect.Message]`` with counter and crc."""

    def __init__(self, path: Path, map_path: Path, known: Sequence[Scalar]) -> None:
        """Raises BridgeError with the file and the entry."""
        try:
            self.database = cantools().database.load_file(path)
        except OSError as error:
            raise BridgeError(f"--dbc {path}: {error.strerror}") from error
        except Exception as error:
            raise BridgeError(f"--dbc {path}: {error}") from error
        try:
            self._map = tomllib.loads(map_path.read_text())
        except OSError as error:
            raise BridgeError(f"--map {map_path}: {error.strerror}") from error
        except ValueError as error:
            raise BridgeError(f"--map {map_path}: {error}") from error
        self._path, self._known = map_path, {s.name: s for s in known}
        if extra := sorted(set(self._map) - {"send", "receive", "protect"}):
            raise self._error(extra[0], "expected send, receive or protect")
        self.send = self._frames("send", False)
        self.receive = self._frames("receive", True)
        used = {f.message.name for f in (*self.send, *self.receive)}
        if extra := sorted(set(self._map.get("protect", {})) - used):
            raise self._error(f"protect.{extra[0]}", "expected a message of send or receive")

    def _error(self, place: str, text: str) -> BridgeError:
        return BridgeError(f"--map {self._path}: {place}: {text}")

    def _frames(self, table: str, is_input: bool) -> list[Frame]:
        found: dict[str, list[Entry]] = {}
        owners: dict[str, str] = {}
        for place, what in self._map.get(table, {}).items():
            message, _, signal = place.partition(".")
            entry = self._entry(f"{table}.{place!r}", signal, what, is_input)
            self._signal(f"{table}.{place!r}", message, signal)
            if is_input and entry.name in owners:
                other = owners[entry.name]
                raise self._error(f"{table}.{place!r}", f"{entry.name} is set by {other}, too; expected once")
            owners[entry.name] = place
            found.setdefault(message, []).append(entry)
        return [self._protected(name, tuple(entries)) for name, entries in found.items()]

    def _signal(self, place: str, message: str, signal: str) -> Any:
        try:
            return self.database.get_message_by_name(message).get_signal_by_name(signal)
        except KeyError:
            raise self._error(place, 'expected "Message.Signal" of the database') from None

    def _entry(self, place: str, signal: str, what: Any, is_input: bool) -> Entry:
        values = {"signal": what} if isinstance(what, str) else what
        if not isinstance(values, dict) or not set(values) <= {"signal", "factor", "offset"} or "signal" not in values:
            raise self._error(place, "expected a name, or {signal = name, factor = number, offset = number}")
        factor, offset = values.get("factor", 1.0), values.get("offset", 0.0)
        if not all(isinstance(v, (int, float)) and math.isfinite(v) for v in (factor, offset)) or factor == 0:
            raise self._error(place, f"factor {factor}, offset {offset}: expected finite numbers, factor not 0")
        known = self._known.get(values["signal"])
        if known is None or known.is_input != is_input:
            raise self._error(place, f"{values['signal']}: expected a scalar {'input' if is_input else 'output'}")
        return Entry(signal, known.name, float(factor), float(offset))

    def _protected(self, name: str, entries: tuple[Entry, ...]) -> Frame:
        own = self._map.get("protect", {}).get(name, {})
        if not isinstance(own, dict) or not set(own) <= {"counter", "crc"}:
            raise self._error(f"protect.{name}", "expected counter and crc")
        for kind, signal in own.items():
            found = self._signal(f"protect.{name}.{kind}", name, signal)
            first = 7 if found.byte_order == "big_endian" else 0
            if kind == "crc" and (found.length != 8 or found.start % 8 != first):
                raise self._error(f"protect.{name}.crc", "expected a signal that is one whole byte")
        return Frame(self.database.get_message_by_name(name), entries, own.get("counter", ""), own.get("crc", ""))
