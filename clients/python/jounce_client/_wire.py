"""Code that the synchronous and the asynchronous client share: requests, replies and the order of values."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from google.protobuf.message import Message

from jounce_client.errors import JounceError, from_info
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc
from jounce_proto import keepalive, packed

_M = TypeVar("_M", bound=Message)
Array = npt.NDArray[np.float64]
ParameterValue = float | bool | str
#: Inputs of a step: a sequence in the order of ``Participant.inputs``, or a mapping by scalar name (others are held).
Inputs = npt.ArrayLike | Mapping[str, float]
_Made = TypeVar("_Made", bound="Session")

#: Default time [s] after which a peer that does not answer is gone; see ``Client.connect``.
KEEPALIVE = 15.0
#: Size of the pieces of an uploaded snapshot [bytes].
_PIECE = 2**20
#: Names that a message lists; of more it gives those that are like the wrong one.
_SHOWN = 12


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


def check_address(address: str, what: str) -> None:
    """Raises JounceError (UNAVAILABLE) for an address that is neither ``host:port`` nor ``unix:/path``."""
    host, _, port = str(address).rpartition(":")
    if isinstance(address, str) and address.startswith("unix:") and len(address) > len("unix:"):
        return
    if not host or "/" in host or not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise JounceError("UNAVAILABLE", what, str(address), "host:port or unix:/path",
                          message="not an address")


def unreachable(error: JounceError, address: str, timeout: float) -> JounceError:
    """The error of the first call, in which DEADLINE_EXCEEDED after ``timeout`` [s] becomes UNAVAILABLE."""
    if error.reason == "DEADLINE_EXCEEDED":
        return JounceError("UNAVAILABLE", "address", address, message=f"no answer within {timeout:g} s")
    return error


def bad(name: str, given: object, allowed: str) -> JounceError:
    """The error for a wrong argument, in the form of the server's errors."""
    return JounceError("BAD_FIELD", name, repr(given)[:200], allowed, message=f"{name} is not valid")


def message(kind: type[_M], **fields: Any) -> _M:
    """A message of the wire; raises JounceError (BAD_FIELD) for a field of the wrong type."""
    made = kind()
    for name, value in fields.items():
        if value is None:
            continue
        field = kind.DESCRIPTOR.fields_by_name[name]
        try:
            if field.is_repeated and isinstance(value, str | bytes):
                raise TypeError
            made.MergeFrom(kind(**{name: value}))
        except (TypeError, ValueError, OverflowError, AttributeError):
            raise bad(name, value, _expected(field)) from None
    return made


def _expected(field: Any) -> str:
    words = {field.CPPTYPE_UINT32: "0 to 4294967295", field.CPPTYPE_UINT64: "0 to 18446744073709551615",
             field.CPPTYPE_INT64: "a whole number of 64 bits", field.CPPTYPE_DOUBLE: "numbers",
             field.CPPTYPE_STRING: "text"}.get(field.cpp_type, "as in jounce.proto")
    return f"a list of {words}" if field.is_repeated else words


def whole(name: str, value: int, least: int) -> int:
    """Returns a whole number of at least ``least``; raises JounceError (BAD_FIELD) for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise bad(name, value, f"a whole number, {least} or more")
    return int(value)


def numbers(values: Mapping[str, float]) -> dict[str, float]:
    """Returns values by name; raises JounceError (BAD_FIELD) for a value that is not a number."""
    if not isinstance(values, Mapping):
        raise bad("inputs", values, "a mapping of names to numbers")
    return {name: _number(name, value) for name, value in values.items()}


def _number(name: str, value: Any) -> float:
    if not isinstance(value, str):
        with contextlib.suppress(TypeError, ValueError):
            return float(value)
    raise bad(name, value, "a number")


def stub_of(channel: Any) -> Any:
    """The stub of a synchronous or asynchronous channel; its Lockstep takes protobuf and packed messages."""
    stub = rpc.SessionServiceStub(channel)
    method = f"/{pb.DESCRIPTOR.services_by_name['SessionService'].full_name}/Lockstep"
    stub.Lockstep = channel.stream_stream(method, packed.encode, packed.reply)
    return stub


@dataclass(frozen=True)
class Session:
    """A session: ``id``, its secret ``token``, the tick length ``tick_seconds`` [s] and the ``model``."""

    id: str
    token: str
    tick_seconds: float = 0.001
    model: str = ""
    join_token: str = ""

    def for_participants(self) -> Session:
        """The same session with the join token, for programs that may only join it."""
        return self._under(self.join_token)

    def controlled_by(self, participant: Member) -> Session:
        """The same session with a participant's own token.

        With it the participant may pause, reset, save, restore and fork the session, if it is among the
        ``controllers`` with which the session was created.
        """
        return self._under(participant.token)

    def _under(self, token: str) -> Session:
        return Session(self.id, token, self.tick_seconds, self.model, self.join_token)

    def __reduce__(self) -> tuple[type[Session], tuple[str, str, float, str, str]]:
        # Pickled as a plain Session: only the process that made it deletes it.
        return Session, (self.id, self.token, self.tick_seconds, self.model, self.join_token)


@dataclass(frozen=True)
class Pacing:
    """Real-time pacing.

    ``factor`` [1] is the simulated seconds per wall-clock second. ``overrun`` says what a late tick does: COUNT (later
    ticks catch up), SLIP (all later release times move) or FAIL (the session fails).
    """

    factor: float = 1.0
    overrun: str = "COUNT"


@dataclass(frozen=True)
class Late:
    """What the session does when a participant is late or gone.

    ``policy`` is BLOCK (the session waits), HOLD_LAST (its inputs are held; the session fails if they become older than
    ``max_age`` [ticks], 0 = without limit), SAFE_VALUE (its inputs become ``safe``, in their order [unit of each]) or
    FAIL. The participant is late ``after`` [s] of wall-clock time (None: the server's default), or when its connection
    has gone. It may then rejoin within ``lease`` [s] (None: without limit for HOLD_LAST and SAFE_VALUE, not at all for
    BLOCK).
    """

    policy: str = "BLOCK"
    after: float | None = None
    max_age: int = 0
    safe: Sequence[float] = ()
    lease: float | None = None


@dataclass(frozen=True)
class Snapshot:
    """A snapshot that a session keeps: its ``id`` within the session, and its ``tick``."""

    id: str
    tick: int


@dataclass(frozen=True)
class State:
    """Outputs at a tick.

    ``tick`` is the clock and the next due tick, ``time`` [s] the simulated time since tick 0, and ``values`` [unit of
    each] the outputs in the order of ``names``. ``state["ref_frame.yaw"]`` is a scalar, ``state["ref_frame.pos"]`` a
    vector. ``overruns`` [1] is the number of late ticks of a paced session, ``missed`` [1] the number of due ticks that
    passed without this participant's inputs. ``held`` names the participants whose inputs were held, or were their safe
    values, since the previous state.
    """

    tick: int
    sim_ns: int
    values: Array
    names: tuple[str, ...]
    _index: Mapping[str, int | slice] = field(repr=False, default_factory=dict)
    overruns: int = 0
    missed: int = 0
    held: tuple[str, ...] = ()

    @property
    def time(self) -> float:
        """Simulated time since tick 0 [s]."""
        return self.sim_ns / 1e9  # the nearest number, as no product with 1e-9 is

    def __getitem__(self, name: str) -> Array | np.float64:
        try:
            found: Array | np.float64 = self.values[self._index[name]]
        except KeyError:
            near = get_close_matches(str(name), self.names)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            told = ", ".join(self.names) if len(self.names) <= _SHOWN else f"the {len(self.names)} names{hint}"
            raise KeyError(f"{name!r} is not among the requested outputs: {told}") from None
        return found

    def __contains__(self, name: object) -> bool:
        """Whether the output was asked for, scalar or vector."""
        return name in self._index


@dataclass(frozen=True)
class Frame(State):
    """A state for a viewer; ``epoch`` rises at resets and restores, ``dropped`` [1] is the number of lost frames."""

    epoch: int = 0
    dropped: int = 0


#: Events that a Join may request.
NOTICES = ("FAILED", "EVICTED", "MISSED", "BARRIER_TIMEOUT")


@dataclass(frozen=True)
class Event:
    """An event of the session.

    ``kind`` is PAUSED, RESUMED, RESET, RESTORED, DRAINING (the server is stopping; the session goes on for a while) or
    RECORDING_ENDED (before the session), and ``state`` is the state after it. The notices that the Join requested are
    FAILED, EVICTED, MISSED and BARRIER_TIMEOUT: ``text`` says what happened, ``participants`` names those concerned,
    and ``state`` is the last known state.
    """

    kind: str
    epoch: int
    due: int
    state: State
    text: str = ""
    participants: tuple[str, ...] = ()


def index_of(names: Sequence[str]) -> dict[str, int | slice]:
    """Index of every scalar, and slice of every vector whose components are adjacent."""
    index: dict[str, int | slice] = {name: i for i, name in enumerate(names)}
    start = 0
    for i, name in enumerate(names):
        stem = name.rpartition(".")[0]
        last = i + 1 == len(names) or names[i + 1].rpartition(".")[0] != stem
        if last:
            if stem and stem not in index:
                index[stem] = slice(start, i + 1)
            start = i + 1
    return index


@dataclass
class Membership:
    """The state of a participant in its session. No I/O."""

    joined: pb.Joined
    epoch: int = 0
    due: int = 0
    request: int = 0
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.epoch = self.joined.epoch
        self.due = self.joined.tick
        self.request = self.joined.request
        self.inputs = tuple(self.joined.inputs)
        self.outputs = tuple(self.joined.outputs)
        self.held = np.array(self.joined.input_values, dtype=np.float64)
        self.index = index_of(self.outputs)
        self._places = {name: i for i, name in enumerate(self.inputs)}
        self._sent = self.held
        self.latest = self._at(self.joined.clock_tick, self.joined.sim_ns, self.joined.output_values)

    def step(self, inputs: Inputs, next_tick: int | None = None) -> packed.Request:
        """The request for the due tick; raises JounceError for unknown names or a wrong number of values."""
        if next_tick is not None:
            next_tick = whole("next_tick", next_tick, self.due + 1)
        if isinstance(inputs, Mapping):
            values = self.held.copy()
            for name, value in inputs.items():
                if name not in self._places:
                    raise JounceError("UNKNOWN_SIGNAL", name, name, ", ".join(self.inputs),
                                      message="not an input that this participant owns")
                values[self._places[name]] = _number(name, value)
        else:
            try:
                values = np.array(inputs, dtype=np.float64)
            except (TypeError, ValueError):
                raise bad("inputs", inputs, "numbers, in the order of Participant.inputs") from None
            if values.shape != self.held.shape:
                raise JounceError("WRONG_LENGTH", "inputs", str(values.shape), str(self.held.shape),
                                  message="inputs must be packed in the order of Participant.inputs")
        self._sent = values
        request = packed.LockstepRequest()
        step = request.step
        step.epoch, step.tick, step.request = self.epoch, self.due, self.request + 1
        step.inputs = values.astype("<f8", copy=False).tobytes()
        if next_tick is not None:
            step.next_tick = next_tick
        return request

    def is_event(self, reply: packed.Reply) -> bool:
        """Whether the message is an event, which is noted, and not the reply."""
        if not reply.HasField("event"):
            return False
        event = reply.event
        kind = pb.EventKind.Name(event.kind).removeprefix("EVENT_KIND_")
        if kind in NOTICES:
            told = event.text, tuple(event.participants)
            self.events.append(Event(kind, event.epoch, event.due_tick, self.latest, *told))
            return True
        state = self._at(event.tick, event.sim_ns, event.outputs)
        self.events.append(Event(kind, event.epoch, event.due_tick, state))
        if event.epoch != self.epoch:
            self.epoch, self.due, self.request = event.epoch, event.due_tick, 0
            self.held = np.array(event.inputs, dtype=np.float64)
            self.latest = state
        return True

    def state(self, reply: packed.Reply) -> State:
        """The state in a reply; raises JounceError for a refusal."""
        kind = reply.WhichOneof("kind")
        if kind == "error":
            raise from_info(reply.error)
        if kind != "state":
            raise JounceError("UNEXPECTED_REPLY", "kind", str(kind), "state", message="the server broke the protocol")
        state = reply.state
        if state.request > self.request:
            self.held = self._sent
        self.epoch, self.due, self.request = state.epoch, state.tick, state.request
        outputs = np.frombuffer(state.outputs, "<f8").astype(np.float64)
        self.latest = State(state.tick, state.sim_ns, outputs, self.outputs, self.index, state.overruns, state.missed,
                            tuple(state.held))
        return self.latest

    def _at(self, tick: int, sim_ns: int, values: Iterable[float]) -> State:
        return State(tick, sim_ns, np.array(values, dtype=np.float64), self.outputs, self.index)


def joined(reply: packed.Reply) -> Membership:
    """The membership from the reply to a Join; raises JounceError for a refusal."""
    kind = reply.WhichOneof("kind")
    if kind == "error":
        raise from_info(reply.error)
    if kind != "joined":
        raise JounceError("UNEXPECTED_REPLY", "kind", str(kind), "joined", message="the server broke the protocol")
    return Membership(reply.joined)


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
    return {name: pb.Value(text=value) if isinstance(value, str) else pb.Value(number=_number(name, value))
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


class Member:
    """Base class of the synchronous and the asynchronous participant."""

    _member: Membership

    @property
    def inputs(self) -> tuple[str, ...]:
        """Owned scalar inputs, in the order in which a step takes their values."""
        return self._member.inputs

    @property
    def held(self) -> Array:
        """Last values of the owned inputs [unit of each], in the order of ``inputs``; at first the start values."""
        return self._member.held.copy()

    @property
    def outputs(self) -> tuple[str, ...]:
        """Requested scalar outputs, in the order of ``State.values``."""
        return self._member.outputs

    @property
    def due(self) -> int:
        """Tick for which the inputs of the next step are."""
        return self._member.due

    @property
    def token(self) -> str:
        """Secret token to rejoin with, and for the calls of a controller."""
        return self._member.joined.participant_token

    @property
    def state(self) -> State:
        """The last known state: of the last step, sync, reset or restore, or of the join."""
        return self._member.latest

    @property
    def events(self) -> list[Event]:
        """Events of the session, oldest first; they are received during a step or a sync."""
        return self._member.events
