"""Channels, requests and replies, which the synchronous and the asynchronous client share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from jounce_client._arguments import bad, check_address, message, number, numbers, whole
from jounce_client._records import NOTICES, Frame, Late, Pacing, ParameterValue, Session, Snapshot, index_of
from jounce_client.errors import JounceError
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc
from jounce_proto import keepalive, packed

_Made = TypeVar("_Made", bound=Session)

#: Default time [s] after which a peer that does not answer is gone; see ``Client.connect``.
KEEPALIVE = 15.0
#: Size of the pieces of an uploaded snapshot [bytes].
_PIECE = 2**20
#: Key in the initial metadata of Watch which says that frames are being collected (jounce.proto).
WATCHING = "jounce-watching"


def channel_options(address: str, seconds: float) -> list[tuple[str, int]]:
    """Options of a channel with a keep-alive of ``seconds`` [s]; raises JounceError for a bad address or time."""
    check_address(address, "address")
    if not 0.0 <= seconds <= 86400.0:
        raise bad("keepalive", seconds, "0 (off) to 86400 s")
    return [
        # Packed replies exceed gRPC's default of 4 MB for no model we know; a describe reply may.
        ("grpc.max_receive_message_length", 64 * 2**20),
        # Without sharing: a connection shared with other channels would, after a failure, refuse for minutes.
        ("grpc.use_local_subchannel_pool", 1),
        *keepalive.grpc_options(seconds),
    ]


def unreachable(error: JounceError, address: str, timeout: float) -> JounceError:
    """The error of the first call, in which DEADLINE_EXCEEDED after ``timeout`` [s] becomes UNAVAILABLE."""
    if error.reason == "DEADLINE_EXCEEDED":
        return JounceError("UNAVAILABLE", "address", address, message=f"no answer within {timeout:g} s")
    return error


def stub_of(channel: Any) -> Any:
    """The stub of a synchronous or asynchronous channel; its Lockstep takes protobuf and packed messages."""
    stub = rpc.SessionServiceStub(channel)
    method = f"/{pb.DESCRIPTOR.services_by_name['SessionService'].full_name}/Lockstep"
    stub.Lockstep = channel.stream_stream(method, packed.encode, packed.reply)
    return stub


def create_request(model: str, parameters: Mapping[str, ParameterValue], start_inputs: Mapping[str, float],
                   participants: Sequence[str], controllers: Sequence[str], pacing: Pacing | None,
                   record_every: int | None, record_required: bool | None) -> pb.CreateSessionRequest:
    """The wire form of a new session's settings."""
    recording = None
    if record_every is not None or record_required is not None:
        every = None if record_every is None else whole("record_every", record_every, 1)
        recording = message(pb.Recording, every_ticks=every, fail_session=record_required)
    return message(pb.CreateSessionRequest, model=model, parameters=parameter_values(parameters),
                   start_inputs=numbers(start_inputs), expected_participants=participants, controllers=controllers,
                   pacing=pacing_message(pacing), recording=recording)


def reset_request(session: Session, parameters: Mapping[str, ParameterValue],
                  start_inputs: Mapping[str, float]) -> pb.ResetSessionRequest:
    """The wire form of a reset."""
    return pb.ResetSessionRequest(**named(session), parameters=parameter_values(parameters),
                                  start_inputs=numbers(start_inputs))


def parameter_values(parameters: Mapping[str, ParameterValue]) -> dict[str, pb.Value]:
    """The wire form of parameters."""
    if not isinstance(parameters, Mapping):
        raise bad("parameters", parameters, "a mapping of names to numbers, truth values or texts")
    return {name: pb.Value(text=value) if isinstance(value, str) else pb.Value(number=number(name, value))
            for name, value in parameters.items()}


def pacing_message(pacing: Pacing | None) -> pb.Pacing | None:
    """The wire form of a pacing; raises JounceError for an unknown policy."""
    if pacing is None:
        return None
    if not isinstance(pacing, Pacing):
        raise bad("pacing", pacing, "a Pacing, or None")
    overrun = _enum(pb.OverrunPolicy, "OVERRUN_POLICY_", pacing.overrun, "overrun")
    return message(pb.Pacing, mode="PACING_MODE_REALTIME", factor=pacing.factor, overrun=overrun)


def join_request(session: Session, name: str, late: Late | str | None, rejoin: str, barrier_timeout: float | None,
                 period: int, phase: int, notices: Sequence[str], **terms: Any) -> pb.LockstepRequest:
    """The wire form of a Join; ``terms`` are further fields. Raises JounceError for bad arguments."""
    if isinstance(late, str):
        late = Late(late)
    late = late or Late()
    if not isinstance(late, Late):
        raise bad("late", late, "a Late, the name of its policy, or None")
    period, phase = whole("period", period, 1), whole("phase", phase, 0)
    for kind in notices:
        if kind not in NOTICES:
            raise bad("notices", kind, ", ".join(NOTICES))
    return message(pb.LockstepRequest, join=message(
        pb.Join, session_id=session.id, token=session.token, name=name, participant_token=rejoin,
        late=_enum(pb.LatePolicy, "LATE_POLICY_", late.policy, "late"),
        max_age_ticks=whole("max_age", late.max_age, 0), safe_values=late.safe, period_ticks=period,
        phase_ticks=phase, barrier_timeout=barrier_timeout, late_after=late.after, lease=late.lease,
        notices=[f"EVENT_KIND_{kind}" for kind in notices], **terms))


def _enum(kind: Any, prefix: str, word: str, what: str) -> str:
    """Wire name of an enumeration's value; raises JounceError."""
    names = [n.removeprefix(prefix) for n, _ in kind.items() if not n.endswith("_UNSPECIFIED")]
    if word not in names:
        raise JounceError("BAD_FIELD", what, str(word), ", ".join(names), message=f"no such {what} policy")
    return prefix + word


def named(session: Session) -> dict[str, str]:
    """The fields with a session's id and token."""
    return {"session_id": session.id, "token": session.token}


def opened(kind: Callable[..., _Made], client: object, reply: pb.CreateSessionResponse, model: str) -> _Made:
    """The session in a reply, as a ``kind`` that its ``client`` can delete."""
    return kind(reply.session_id, reply.token, reply.tick_seconds, model, reply.join_token, client)


def fork_request(session: Session, snapshot: Snapshot | None, participants: Sequence[str],
                 pacing: Pacing | None) -> pb.ForkSessionRequest:
    """The wire form of a fork."""
    return message(pb.ForkSessionRequest, **named(session), snapshot_id=snapshot.id if snapshot else "",
                   expected_participants=participants, pacing=pacing_message(pacing))


def upload_requests(session: Session, data: bytes) -> Iterator[pb.UploadSnapshotRequest]:
    """The wire form of a snapshot's bytes, in pieces."""
    yield pb.UploadSnapshotRequest(session_id=session.id, token=session.token, size=len(data),
                                   sha256=hashlib.sha256(data).digest())
    for start in range(0, len(data), _PIECE):
        yield pb.UploadSnapshotRequest(data=data[start:start + _PIECE])


def evict_request(session: Session, name: str, release: bool) -> pb.EvictParticipantRequest:
    """The wire form of an eviction."""
    return pb.EvictParticipantRequest(**named(session), name=name, release=release)


def frame(reply: pb.WatchResponse, names: tuple[str, ...], index: Mapping[str, int | slice]) -> Frame:
    """The frame in a reply."""
    return Frame(reply.tick, reply.sim_ns, np.array(reply.outputs, dtype=np.float64), names, index,
                 epoch=reply.epoch, dropped=reply.dropped)


#: Scalar names of outputs, and their indices by name.
Layout = tuple[tuple[str, ...], dict[str, int | slice]]


def layout(description: pb.DescribeModelResponse, names: Sequence[str]) -> Layout:
    """The scalars for outputs named as scalars, vectors or ``*``, in the order in which the server sends them."""
    outputs = [s for s in description.signals if s.causality == pb.CAUSALITY_OUTPUT]
    vectors = {s.name: tuple(s.name + suffix for suffix in s.components) for s in outputs}
    vectors["*"] = tuple(scalar for s in outputs for scalar in vectors[s.name])
    scalars = tuple(scalar for name in names for scalar in vectors.get(name, (name,)))
    return scalars, index_of(scalars)


def advance_request(session: Session, ticks: int, inputs: Mapping[str, float],
                    outputs: Sequence[str]) -> pb.AdvanceRequest:
    """The wire form of an Advance."""
    values = numbers(inputs)
    return message(pb.AdvanceRequest, **named(session), n_ticks=whole("ticks", ticks, 0), input_names=list(values),
                   inputs=list(values.values()), output_names=outputs)


def watch_request(session: Session, outputs: Sequence[str], every: int, present: bool) -> pb.WatchRequest:
    """The wire form of a Watch."""
    return message(pb.WatchRequest, **named(session), outputs=outputs, every_ticks=whole("every", every, 1),
                   present=present)
