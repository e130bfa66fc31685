"""Serializes snapshots, checks their bytes before parsing, and stores those that a session keeps."""

from __future__ import annotations

import hashlib
import struct
from typing import Final

from google.protobuf.message import DecodeError

from jounce_proto import jounce_pb2 as pb
from jounce_service.lockstep.barrier import Barrier
from jounce_service.transport import errors

_MAGIC: Final = b"JNCS"
_FORMAT: Final = 1
#: Magic, format, length of the message, SHA-256 of all that and the message.
_HEADER: Final = struct.Struct("<4sIQ")
_HASH: Final = 32
#: Most fields of the message [1]. Each parameter, ramp and hold is one, so real snapshots have far fewer. The number is
#: limited because a parsed field takes up to 30 times its bytes, and the hash does not protect against an attacker.
MOST_FIELDS: Final = 1 << 16
#: Wire type -> length [bytes], for those with a fixed length.
_FIXED: Final = {1: 8, 5: 4}


def pack(snapshot: pb.Snapshot) -> bytes:
    """Serializes a snapshot."""
    message = snapshot.SerializeToString(deterministic=True)
    head = _HEADER.pack(_MAGIC, _FORMAT, len(message))
    return head + hashlib.sha256(head + message).digest() + message


def unpack(data: bytes, model: str, build: str) -> pb.Snapshot:
    """Reads a snapshot, after checking its length and hash.

    Raises SnapshotCorrupt, or SnapshotForeign if it is not of this ``model`` and ``build``.
    """
    start = _HEADER.size + _HASH
    if len(data) < start:
        raise _corrupt(f"{len(data)} bytes are too few", len(data), f"at least {start} bytes")
    magic, number, length = _HEADER.unpack_from(data)
    if magic != _MAGIC or number != _FORMAT:
        raise _corrupt("the bytes are not a snapshot of this format", data[: _HEADER.size].hex(), f"format {_FORMAT}")
    if length != len(data) - start:
        raise _corrupt("the length is wrong", len(data) - start, f"{length} bytes after the header")
    digest = hashlib.sha256(data[: _HEADER.size] + data[start:]).digest()
    if digest != data[_HEADER.size : start]:
        raise _corrupt("the hash is wrong", digest.hex(), data[_HEADER.size : start].hex())
    _check_fields(data, start)
    try:
        snapshot = pb.Snapshot.FromString(data[start:])
    except DecodeError as error:
        raise _corrupt("the content cannot be read", error, "a Snapshot message") from error
    if snapshot.model != model:
        raise errors.SnapshotForeign(
            "the snapshot is of another model", field="model", requested=snapshot.model, allowed=model
        )
    if snapshot.build != build:
        raise errors.SnapshotForeign(
            "the snapshot is of another build", field="build", requested=snapshot.build, allowed=build
        )
    return snapshot


def _check_fields(data: bytes, at: int) -> None:
    """Raises SnapshotCorrupt if the message that begins at ``at`` has too many fields.

    Each field is a tag (field number, and the wire type in the last three bits) and its payload (Protocol Buffers,
    Encoding).
    """
    for _ in range(MOST_FIELDS):
        if at >= len(data):
            return
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind in _FIXED:
            at += _FIXED[kind]
        elif kind in (0, 2):
            number, at = _varint(data, at)
            at += number if kind == 2 else 0
        else:
            raise _corrupt("the content cannot be read", f"wire type {kind}", "a Snapshot message")
    raise _corrupt("the content has too many parts", f"more than {MOST_FIELDS}", f"up to {MOST_FIELDS}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(number that begins at ``at``, index after it). Raises SnapshotCorrupt."""
    value = 0
    for i, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return value, at + i + 1
    raise _corrupt("the content cannot be read", data[at : at + 10].hex(), "a Snapshot message")


def check_upload(data: bytes, size: int, sha256: bytes) -> None:
    """Raises SnapshotCorrupt if length or hash differ from those that the sender announced."""
    if len(data) != size:
        raise _corrupt("the length is not the one announced", len(data), f"{size} bytes")
    if hashlib.sha256(data).digest() != sha256:
        raise _corrupt("the hash is not the one announced", hashlib.sha256(data).hexdigest(), sha256.hex())


def note_clock(snapshot: pb.Snapshot, barrier: Barrier) -> None:
    """Writes the first-order holds and the participants' last deliveries into a snapshot."""
    snapshot.ramps.extend(pb.Ramp(input=c, tick=t, value=v, slope=s) for c, t, v, s in barrier.ramps.save())
    snapshot.holds.extend(
        pb.Hold(
            participant=p.name,
            delivered_tick=p.delivered_tick,
            missed=p.missed,
            due_tick=p.asked_due(barrier.tick),
        )
        for p in barrier.participants.values()
    )


def check_dues(snapshot: pb.Snapshot, barrier: Barrier) -> None:
    """Raises SnapshotCorrupt if the due tick of a participant is out of range."""
    last = snapshot.tick + barrier.longest
    for hold in snapshot.holds:
        if hold.HasField("due_tick") and not snapshot.tick <= hold.due_tick <= last:
            raise _corrupt(
                f"the due tick of {hold.participant!r} is out of range", hold.due_tick, f"{snapshot.tick} to {last}"
            )


def load_clock(snapshot: pb.Snapshot, barrier: Barrier) -> None:
    """Restores what ``note_clock`` wrote, in a barrier at the snapshot's tick."""
    barrier.ramps.load((r.input, r.tick, r.value, r.slope) for r in snapshot.ramps)
    for hold in snapshot.holds:
        participant = barrier.participants.get(hold.participant)
        if participant is not None:
            participant.delivered_tick, participant.missed = hold.delivered_tick, hold.missed
            if hold.HasField("due_tick"):
                participant.due = hold.due_tick


class Store:
    """The snapshots of one session, by id."""

    def __init__(self, most: int, most_bytes: int) -> None:
        """Keeps at most ``most`` snapshots of ``most_bytes`` [bytes] in total."""
        self._most, self._most_bytes = most, most_bytes
        self._kept: dict[str, bytes] = {}
        self._made = 0

    def check_room(self, size: int) -> None:
        """Raises TooManySnapshots if there is no room for ``size`` [bytes]."""
        total = sum(map(len, self._kept.values())) + size
        if len(self._kept) >= self._most or total > self._most_bytes:
            raise errors.TooManySnapshots(
                "there is no room for another snapshot; DeleteSnapshot makes room",
                field="snapshots",
                requested=f"{len(self._kept) + 1} of {total} bytes",
                allowed=f"{self._most} of {self._most_bytes} bytes",
            )

    def keep(self, data: bytes) -> str:
        """Keeps the bytes and returns their id. Raises TooManySnapshots."""
        self.check_room(len(data))
        self._made += 1
        self._kept[str(self._made)] = data
        return str(self._made)

    def find(self, snapshot_id: str) -> bytes:
        """Returns the bytes; raises UnknownSnapshot."""
        try:
            return self._kept[snapshot_id]
        except KeyError:
            raise errors.UnknownSnapshot(
                f"no snapshot {snapshot_id!r}",
                field="snapshot_id",
                requested=snapshot_id,
                allowed=", ".join(self._kept) or "an id from SaveSnapshot",
            ) from None

    def delete(self, snapshot_id: str) -> None:
        """Deletes a snapshot; raises UnknownSnapshot."""
        self.find(snapshot_id)
        del self._kept[snapshot_id]


def _corrupt(message: str, requested: object, allowed: str) -> errors.SnapshotCorrupt:
    return errors.SnapshotCorrupt(message, field="snapshot", requested=requested, allowed=allowed)
