"""Reads recordings, including those that end early because their writer was killed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from google.protobuf.message import DecodeError

from jounce_proto import jounce_pb2 as pb
from jounce_service.recording.vectors import Vector, VectorCodec

_M = TypeVar("_M", pb.DescribeModelResponse, pb.RecordedEvent)
_INPUT, _OUTPUT = pb.CAUSALITY_INPUT, pb.CAUSALITY_OUTPUT


class RecordingError(ValueError):
    """The file is not a recording, is damaged, or cannot be used here; the message says why."""


@dataclass(frozen=True)
class Sample:
    """Inputs that act from ``tick`` on, or outputs at ``tick``; ``ns`` [ns] is the log time."""

    causality: pb.Causality
    tick: int
    ns: int
    values: Vector


class Reader:
    """A recording, which can be iterated over once."""

    def __init__(self, path: Path) -> None:
        """Reads the signal table and the first event. Raises RecordingError or OSError."""
        self._path = path
        #: Whether the file has been read to its end record, which a killed writer does not write.
        self.complete = False
        self._messages: Iterator[tuple[str, int, bytes]] = self._read()
        topic, _, data = next(self._messages, ("", 0, b""))
        if topic != "/model":
            raise RecordingError(f"{path.name} is not a recording of a session: its first message is not the model")
        #: The model and its signals.
        self.model = self._parse(pb.DescribeModelResponse, data)
        #: The event that began the session; None if the recording was cut before it.
        self.started: pb.RecordedEvent | None = None
        #: The events read so far that began an epoch.
        self.origins: list[pb.RecordedEvent] = []
        self.inputs, self.outputs = (tuple(_scalars(self.model, kind)) for kind in (_INPUT, _OUTPUT))
        self._codecs = {
            "/inputs": (_INPUT, VectorCodec("Inputs", [name for name, _ in self.inputs])),
            "/outputs": (_OUTPUT, VectorCodec("Outputs", [name for name, _ in self.outputs])),
        }

        first = next(self._messages, None)
        if first is not None:
            self._messages = chain([first], self._messages)
            if first[0] == "/events":
                self.started = self._parse(pb.RecordedEvent, first[2])

    def __iter__(self) -> Iterator[Sample | pb.RecordedEvent]:
        """Yields samples and events in the order in which they happened; raises RecordingError if damaged."""
        for topic, ns, data in self._messages:
            if topic == "/events":
                event = self._parse(pb.RecordedEvent, data)
                if event.HasField("origin"):
                    self.origins.append(event)
                yield event
            elif topic not in self._codecs:
                raise RecordingError(f"{self._path.name} has a topic {topic!r}: expected /events, /inputs, /outputs")
            else:
                causality, codec = self._codecs[topic]
                try:
                    tick, values = codec.decode(data)
                except ValueError as error:
                    raise self._damaged(error) from error
                yield Sample(causality, tick, ns, values)

    def _read(self) -> Iterator[tuple[str, int, bytes]]:
        from mcap.exceptions import EndOfFile, McapError
        from mcap.records import Channel, Message
        from mcap.stream_reader import StreamReader
        from zstandard import ZstdError

        topics: dict[int, str] = {}
        with self._path.open("rb") as file:
            try:
                for record in StreamReader(file, validate_crcs=True).records:
                    if isinstance(record, Channel):
                        topics[record.id] = record.topic
                    elif isinstance(record, Message):
                        yield topics[record.channel_id], record.log_time, record.data
                self.complete = True
            except (McapError, ZstdError, ValueError, KeyError, struct.error) as error:
                # A killed writer leaves an unfinished last record, for which mcap raises one of two errors.
                if not isinstance(error, (EndOfFile, struct.error)) or file.read(1):
                    raise self._damaged(error) from error

    def _parse(self, kind: type[_M], data: bytes) -> _M:
        try:
            return kind.FromString(data)
        except DecodeError as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> RecordingError:
        return RecordingError(f"{self._path.name} is damaged: {error}")


def _scalars(model: pb.DescribeModelResponse, causality: pb.Causality) -> Iterator[tuple[str, str]]:
    """Name and unit of every scalar of one causality, in table order."""
    for signal in model.signals:
        if signal.causality == causality:
            yield from ((signal.name + suffix, signal.unit) for suffix in signal.components)
