"""Messages whose packed doubles are bytes: what is on the wire is the same, however the sender spells it."""

from __future__ import annotations

import struct

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from jounce_proto import jounce_pb2 as pb
from jounce_proto import packed

NUMBERS = st.lists(st.floats(width=64), max_size=40)
STEP = pb.LockstepRequest.DESCRIPTOR.fields_by_name["step"].number
COUNTS = st.integers(0, 2**40)
#: Field 4 of Step and State with one double, not packed.
LOOSE = struct.pack("<Bd", 4 << 3 | 1, 1.5)


def step_of(*pieces: bytes) -> bytes:
    """A request whose Step is spelt by hand."""
    body = b"".join(pieces)
    return bytes([STEP << 3 | 2, len(body)]) + body


def piece(*numbers: float) -> bytes:
    return bytes([4 << 3 | 2, 8 * len(numbers)]) + struct.pack(f"<{len(numbers)}d", *numbers)


@given(COUNTS, COUNTS, COUNTS, NUMBERS)
def test_a_step_is_the_same_on_the_wire(epoch: int, tick: int, request: int, inputs: list[float]) -> None:
    data = struct.pack(f"<{len(inputs)}d", *inputs)
    usual = pb.LockstepRequest(step=pb.Step(epoch=epoch, tick=tick, request=request, inputs=inputs))
    ours = packed.LockstepRequest(step=packed.Step(epoch=epoch, tick=tick, request=request, inputs=data))
    assert packed.encode(ours) == usual.SerializeToString()
    read = packed.request(usual.SerializeToString()).step
    assert (read.epoch, read.tick, read.request, read.inputs) == (epoch, tick, request, data)


@given(COUNTS, NUMBERS, st.lists(st.text(max_size=5), max_size=3))
def test_a_state_is_the_same_on_the_wire(tick: int, outputs: list[float], held: list[str]) -> None:
    data = struct.pack(f"<{len(outputs)}d", *outputs)
    usual = pb.LockstepReply(state=pb.State(tick=tick, sim_ns=tick, outputs=outputs, held=held))
    ours = packed.LockstepReply(state=packed.State(tick=tick, sim_ns=tick, outputs=data, held=held))
    assert packed.encode(ours) == usual.SerializeToString()
    read = packed.reply(usual.SerializeToString()).state
    assert (read.tick, read.outputs, list(read.held)) == (tick, data, held)


def test_what_is_no_step_and_no_state_is_a_usual_message() -> None:
    join = pb.LockstepRequest(join=pb.Join(name="a")).SerializeToString()
    assert isinstance(packed.request(join), pb.LockstepRequest)
    assert isinstance(packed.reply(pb.LockstepReply(left=pb.Left(tick=3)).SerializeToString()), pb.LockstepReply)
    assert isinstance(packed.request(b""), pb.LockstepRequest)


@pytest.mark.parametrize("data", [
    step_of(LOOSE, LOOSE), step_of(piece(1.0), piece(2.0, 3.0)), step_of(LOOSE, piece(2.0)), step_of(piece(2.0), LOOSE),
    step_of(piece(1.0)) + step_of(piece(2.0)), step_of(b"\x08\x81\x00", piece(1.0)), step_of(piece()),
    step_of(b"\x78\x05", piece(1.0)), step_of(piece(1.0), b"\x10\x07\x10\x08"),
    step_of(b"\x08\x05") + pb.LockstepRequest(join=pb.Join(name="a")).SerializeToString() + step_of(piece(1.0)),
], ids=["loose", "two pieces", "loose, packed", "packed, loose", "two steps", "a long varint", "none",
        "an unknown field", "a field twice", "another kind between"])  # fmt: skip
def test_however_it_is_spelt_it_is_read_as_protobuf_reads_it(data: bytes) -> None:
    usual = pb.LockstepRequest.FromString(data).step
    read = packed.request(data).step
    assert read.inputs == struct.pack(f"<{len(usual.inputs)}d", *usual.inputs)
    assert (read.epoch, read.tick, read.request) == (usual.epoch, usual.tick, usual.request)


@pytest.mark.parametrize("data", [step_of(piece(1.0)[:-1]), step_of(bytes([4 << 3 | 2, 7]) + b"1234567"), b"\xff"])
def test_bytes_that_are_no_message_are_refused(data: bytes) -> None:
    for kind in (pb.LockstepRequest.FromString, packed.request):
        with pytest.raises(DecodeError):
            kind(data)
