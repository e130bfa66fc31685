"""The Lockstep messages with their packed doubles as bytes: the same on the wire, and no loop over numbers in Python.

``Step.inputs`` and ``State.outputs`` are the only fields that differ from ``jounce_pb2``: little-endian IEEE 754
doubles, for ``numpy.frombuffer(..., "<f8")``. Protobuf lets a sender spell a message in many ways (doubles unpacked or
in several pieces, fields twice); one that is not spelt as we would spell it is read by ``jounce_pb2`` first.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from jounce_proto import jounce_pb2 as pb

#: A LockstepRequest or LockstepReply of jounce_pb2, or of this module where it is a Step or a State.
Request = Any
Reply = Any
_PACKED: Final = {"Step": "inputs", "State": "outputs"}


def _classes(*names: str) -> list[Any]:
    file = descriptor_pb2.FileDescriptorProto()
    pb.DESCRIPTOR.CopyToProto(file)
    kinds = descriptor_pb2.FieldDescriptorProto
    for message in file.message_type:
        for field in message.field:
            if _PACKED.get(message.name) == field.name:
                field.type, field.label = kinds.TYPE_BYTES, kinds.LABEL_OPTIONAL
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.{name}")) for name in names]


#: Messages of the same names in jounce_pb2.
LockstepRequest, LockstepReply, Step, State = _classes("LockstepRequest", "LockstepReply", "Step", "State")


def request(data: bytes) -> Request:
    """A LockstepRequest of this module where it is a Step, of jounce_pb2 where not; raises DecodeError."""
    message = LockstepRequest.FromString(data)
    if not message.HasField("step"):
        return pb.LockstepRequest.FromString(data)
    return message if _is_plain(message, message.step.inputs, data) else _spelt_anew(pb.LockstepRequest, message, data)


def reply(data: bytes) -> Reply:
    """A LockstepReply of this module where it is a State, of jounce_pb2 where not; raises DecodeError."""
    message = LockstepReply.FromString(data)
    if not message.HasField("state"):
        return pb.LockstepReply.FromString(data)
    return message if _is_plain(message, message.state.outputs, data) else _spelt_anew(pb.LockstepReply, message, data)


def encode(message: Message) -> bytes:
    """The bytes of a message of either kind."""
    return message.SerializeToString()


def _is_plain(message: Any, doubles: bytes, data: bytes) -> bool:
    message.DiscardUnknownFields()
    return message.ByteSize() == len(data) and len(doubles) % 8 == 0


def _spelt_anew(usual: Any, packed: Any, data: bytes) -> Any:
    return type(packed).FromString(usual.FromString(data).SerializeToString())
