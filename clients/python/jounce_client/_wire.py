"""What the sync and the async client share: requests, replies and the order of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from jounce_client.errors import JounceError, from_info
from jounce_proto import jounce_pb2 as pb

Array = npt.NDArray[np.float64]
ParameterValue = float | bool | str
#: Inputs of a step: packed in the order of ``Participant.inputs``, or by scalar name (others are held).
Inputs = npt.ArrayLike | Mapping[str, float]

#: Packed replies exceed gRPC's default of 4 MB for no model we know; a describe reply may.
CHANNEL_OPTIONS = [("grpc.max_receive_message_length", 64 * 2**20)]


@dataclass(frozen=True)
class Session:
    """A session: ``id``, its secret ``token``, the tick length ``tick_seconds`` [s] and the ``model``."""

    id: str
    token: str
    tick_seconds: float = 0.001
    model: str = ""


@dataclass(frozen=True)
class State:
    """Outputs at a tick.

    ``tick`` [1] is the clock and the next due tick, ``time`` [s] the simulated time since tick 0, ``values`` the
    outputs in the order of ``names``. ``state["ref_frame.yaw"]`` is a scalar, ``state["ref_frame.pos"]`` a vector.
    """

    tick: int
    sim_ns: int
    values: Array
    names: tuple[str, ...]
    _index: Mapping[str, int | slice] = field(repr=False, default_factory=dict)

    @property
    def time(self) -> float:
        """Simulated time since tick 0 [s]."""
        return self.sim_ns * 1e-9

    def __getitem__(self, name: str) -> Array | np.float64:
        try:
            found: Array | np.float64 = self.values[self._index[name]]
        except KeyError:
            raise KeyError(f"{name!r} is not among the outputs asked for: {', '.join(self.names)}") from None
        return found


def index_of(names: Sequence[str]) -> dict[str, int | slice]:
    """Place of every scalar, and the range of every vector whose components stand side by side."""
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
    """Where a participant stands: pure bookkeeping, no I/O."""

    joined: pb.Joined
    epoch: int = 0
    due: int = 0
    request: int = 0

    def __post_init__(self) -> None:
        self.epoch = self.joined.epoch
        self.due = self.joined.tick
        self.inputs = tuple(self.joined.inputs)
        self.outputs = tuple(self.joined.outputs)
        self.held = np.array(self.joined.input_values, dtype=np.float64)
        self.index = index_of(self.outputs)
        self._places = {name: i for i, name in enumerate(self.inputs)}

    def first(self) -> State:
        """State at the clock when the participant joined."""
        values = np.array(self.joined.output_values, dtype=np.float64)
        return State(self.joined.clock_tick, self.joined.sim_ns, values, self.outputs, self.index)

    def step(self, inputs: Inputs) -> pb.LockstepRequest:
        """The request for the due tick; raises JounceError for names or lengths that do not fit."""
        values = self.held.copy()
        if isinstance(inputs, Mapping):
            for name, value in inputs.items():
                if name not in self._places:
                    raise JounceError("UNKNOWN_SIGNAL", name, name, ", ".join(self.inputs),
                                      message="not an input that this participant owns")
                values[self._places[name]] = value
        else:
            values = np.asarray(inputs, dtype=np.float64)
            if values.shape != self.held.shape:
                raise JounceError("WRONG_LENGTH", "inputs", str(values.shape), str(self.held.shape),
                                  message="inputs must be packed in the order of Participant.inputs")
        self._sent = values
        step = pb.Step(epoch=self.epoch, tick=self.due, request=self.request + 1, inputs=values.tolist())
        return pb.LockstepRequest(step=step)

    def state(self, reply: pb.LockstepReply) -> State:
        """The state in a reply; raises JounceError for a refusal, after which the same step may be retried."""
        kind = reply.WhichOneof("kind")
        if kind == "error":
            raise from_info(reply.error)
        if kind != "state":
            raise JounceError("UNEXPECTED_REPLY", "kind", str(kind), "state", message="the server broke the protocol")
        state = reply.state
        self.request += 1
        self.epoch, self.due, self.held = state.epoch, state.tick, self._sent
        return State(state.tick, state.sim_ns, np.array(state.outputs, dtype=np.float64), self.outputs, self.index)


def joined(reply: pb.LockstepReply) -> Membership:
    """The membership from the reply to a Join; raises JounceError for a refusal."""
    if reply.WhichOneof("kind") == "error":
        raise from_info(reply.error)
    return Membership(reply.joined)


def create_request(model: str, parameters: Mapping[str, ParameterValue], start_inputs: Mapping[str, float],
                   participants: Sequence[str]) -> pb.CreateSessionRequest:
    """The wire form of a new session's settings."""
    values = {
        name: pb.Value(text=value) if isinstance(value, str) else pb.Value(number=float(value))
        for name, value in parameters.items()
    }
    return pb.CreateSessionRequest(model=model, parameters=values, start_inputs=dict(start_inputs),
                                   expected_participants=list(participants))


def join_request(session: Session, name: str, owns: Sequence[str], wants: Sequence[str], period: int, phase: int,
                 barrier_timeout: float | None) -> pb.LockstepRequest:
    """The wire form of a Join."""
    join = pb.Join(session_id=session.id, token=session.token, name=name, inputs=list(owns), outputs=list(wants),
                   period_ticks=period, phase_ticks=phase)
    if barrier_timeout is not None:
        join.barrier_timeout = barrier_timeout
    return pb.LockstepRequest(join=join)


def expand(description: pb.DescribeModelResponse, names: Sequence[str]) -> tuple[str, ...]:
    """Scalar names of outputs given as scalars, vectors or ``*``, as the server expands them."""
    outputs = [s for s in description.signals if s.causality == pb.CAUSALITY_OUTPUT]
    vectors = {s.name: tuple(s.name + suffix for suffix in s.components) for s in outputs}
    vectors["*"] = tuple(scalar for s in outputs for scalar in vectors[s.name])
    return tuple(scalar for name in names for scalar in vectors.get(name, (name,)))


def advance_request(session: Session, ticks: int, inputs: Mapping[str, float],
                    outputs: Sequence[str]) -> pb.AdvanceRequest:
    """The wire form of set, advance, get."""
    return pb.AdvanceRequest(session_id=session.id, token=session.token, n_ticks=ticks, input_names=list(inputs),
                             inputs=[float(v) for v in inputs.values()], output_names=list(outputs))


class Member:
    """What every participant tells of its membership, sync or async."""

    _member: Membership

    @property
    def inputs(self) -> tuple[str, ...]:
        """Owned scalar inputs, in the order of packed inputs."""
        return self._member.inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        """Wanted scalar outputs, in the order of ``State.values``."""
        return self._member.outputs

    @property
    def due(self) -> int:
        """Tick [1] that the next step's inputs are for."""
        return self._member.due
