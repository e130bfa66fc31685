"""Encodes vectors as protobuf messages with one named field per scalar, so that viewers of recordings show names.

All values have a fixed width on the wire, so encoding copies the vector's bytes into a template. It needs no message
class, and 200 values take a few microseconds.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import Final

import numpy as np
from google.protobuf import descriptor_pb2
from numpy.typing import NDArray

Vector = NDArray[np.float64]
#: Wire type I64 of double and sfixed64 (protobuf encoding, "Message Structure").
_I64: Final = 1
_WIDTH: Final = 8
#: Field numbers that protobuf reserves.
_KEPT: Final = range(19000, 20000)


class VectorCodec:
    """Codec of the message ``jounce.recorded.<name>``: field 1 is the tick, the others are the scalars in order."""

    def __init__(self, name: str, scalars: Sequence[str]) -> None:
        """``scalars`` are their names in the signal table."""
        self.name = f"jounce.recorded.{name}"
        self._short = name
        self._fields = list(zip(_field_names(scalars), _numbers(len(scalars)), strict=True))
        template = bytearray()
        places = []
        for number in (1, *(n for _, n in self._fields)):
            template += _varint(number << 3 | _I64)
            places.append(len(template))
            template += bytes(_WIDTH)
        self._template = np.frombuffer(bytes(template), dtype=np.uint8)
        self._places = (np.array(places)[:, None] + np.arange(_WIDTH)).ravel()
        self._tags = np.ones(len(template), dtype=bool)
        self._tags[self._places] = False

    def schema(self) -> bytes:
        """The serialized FileDescriptorSet, which MCAP stores as the schema."""
        field = descriptor_pb2.FieldDescriptorProto
        message = descriptor_pb2.DescriptorProto(name=self._short)
        message.field.add(name="tick", number=1, type=field.TYPE_SFIXED64, label=field.LABEL_OPTIONAL)
        for name, number in self._fields:
            message.field.add(name=name, number=number, type=field.TYPE_DOUBLE, label=field.LABEL_OPTIONAL)
        file = descriptor_pb2.FileDescriptorProto(
            name=f"jounce/recorded/{self._short}.proto",
            package="jounce.recorded",
            syntax="proto3",
            message_type=[message],
        )
        return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()

    def encode(self, tick: int, values: bytes) -> bytes:
        """Encodes a message; ``values`` are the bytes of the vector of doubles."""
        message = self._template.copy()
        message[self._places] = np.frombuffer(struct.pack("<q", tick) + values, dtype=np.uint8)
        return message.tobytes()

    def decode(self, data: bytes) -> tuple[int, Vector]:
        """Decodes tick and vector; raises ValueError if the bytes are not such a message."""
        message = np.frombuffer(data, dtype=np.uint8)
        if message.shape != self._template.shape:
            raise ValueError(f"{len(data)} bytes; expected the {len(self._template)} of a {self._short} message")
        if not np.array_equal(message[self._tags], self._template[self._tags]):
            raise ValueError(f"the fields are not those of {self._short}")
        content = message[self._places].tobytes()
        (tick,) = struct.unpack_from("<q", content)
        return tick, np.frombuffer(content, dtype="<f8", offset=_WIDTH)


def _field_names(scalars: Sequence[str]) -> list[str]:
    seen = {"tick"}
    names = []
    for scalar in scalars:
        name = re.sub(r"[^A-Za-z0-9_]", "_", scalar)
        if not name or name[0].isdigit():
            name = f"_{name}"
        while name in seen:
            name += "_"
        seen.add(name)
        names.append(name)
    return names


def _numbers(count: int) -> list[int]:
    numbers = [n for n in range(2, count + 2 + len(_KEPT)) if n not in _KEPT]
    return numbers[:count]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
