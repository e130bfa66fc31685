"""The synchronous client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc
import numpy as np

from jounce_client import _wire
from jounce_client._wire import Inputs, ParameterValue, Session, State
from jounce_client.errors import JounceError, from_rpc
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc

_Reply = TypeVar("_Reply")


class Client:
    """A connection to a jounce server.

    A lockstep loop::

        with Client.connect("unix:/tmp/jounce.sock") as client:
            session = client.create_session("hmmwv", {"init.speed": 10.0})
            with client.join(session, "pilot", owns=["steering_wheel_angle"], wants=["speed"], period=20) as pilot:
                state = pilot.start
                while state.time < 5.0:
                    state = pilot.step({"steering_wheel_angle": 0.1 * state["speed"]})

    All calls raise JounceError.
    """

    def __init__(self, channel: grpc.Channel) -> None:
        """Takes over ``channel``; ``connect`` is the usual way in."""
        self._channel = channel
        self._descriptions: dict[str, pb.DescribeModelResponse] = {}
        self._stub: Any = rpc.SessionServiceStub(channel)

    @classmethod
    def connect(cls, address: str, *, timeout: float = 10.0) -> Self:
        """Connect to ``host:port`` or ``unix:/path``; UNAVAILABLE if nobody answers within ``timeout`` [s]."""
        channel = grpc.insecure_channel(address, options=_wire.CHANNEL_OPTIONS)
        client = cls(channel)
        try:
            _call(client._stub.ListModels, pb.ListModelsRequest(), timeout=timeout, wait_for_ready=True)
        except JounceError:
            channel.close()
            raise
        return client

    def models(self) -> tuple[str, ...]:
        """Names of the hosted models."""
        return tuple(m.name for m in _call(self._stub.ListModels, pb.ListModelsRequest()).models)

    def describe(self, model: str) -> pb.DescribeModelResponse:
        """The signal table of a model."""
        reply: pb.DescribeModelResponse = _call(self._stub.DescribeModel, pb.DescribeModelRequest(model=model))
        return reply

    def _described(self, session: Session) -> pb.DescribeModelResponse:
        model = session.model or (self.get_session(session)).model
        if model not in self._descriptions:
            self._descriptions[model] = self.describe(model)
        return self._descriptions[model]

    def create_session(self, model: str, parameters: Mapping[str, ParameterValue] | None = None, *,
                       start_inputs: Mapping[str, float] | None = None, participants: Sequence[str] = ()) -> Session:
        """Make a session at tick 0; its clock waits until all named ``participants`` have joined."""
        request = _wire.create_request(model, parameters or {}, start_inputs or {}, participants)
        reply = _call(self._stub.CreateSession, request)
        return Session(reply.session_id, reply.token, reply.tick_seconds, model)

    def get_session(self, session: Session) -> pb.GetSessionResponse:
        """Where a session stands."""
        reply: pb.GetSessionResponse = _call(self._stub.GetSession, pb.GetSessionRequest(session_id=session.id))
        return reply

    def delete_session(self, session: Session) -> None:
        """Close a session."""
        _call(self._stub.DeleteSession, pb.DeleteSessionRequest(session_id=session.id, token=session.token))

    def advance(self, session: Session, ticks: int, inputs: Mapping[str, float] | None = None,
                outputs: Sequence[str] = ()) -> State:
        """Set ``inputs`` by scalar name, advance exactly ``ticks``, and get ``outputs`` (scalars, vectors, ``*``)."""
        request = _wire.advance_request(session, ticks, inputs or {}, outputs)
        reply = _call(self._stub.Advance, request)
        names = _wire.expand(self._described(session), outputs)
        return State(reply.tick, reply.sim_ns, np.array(reply.outputs), names, _wire.index_of(names))

    def join(self, session: Session, name: str, *, owns: Sequence[str] = (), wants: Sequence[str] = (),
             period: int = 1, phase: int = 0, barrier_timeout: float | None = None) -> Participant:
        """Take part in lockstep, due every ``period`` ticks from tick ``phase`` on.

        ``owns`` are inputs and ``wants`` outputs, scalars or vectors by name. ``barrier_timeout`` [s] is how long
        a step waits for the others on the wall clock (None: the server's default, 0: for ever).
        """
        join = _wire.join_request(session, name, owns, wants, period, phase, barrier_timeout)
        return Participant(self._stub, join)

    def close(self) -> None:
        """Close the connection; participants joined over it are detached."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


class Participant(_wire.Member):
    """One participant in lockstep; made by ``Client.join``."""

    def __init__(self, stub: Any, join: pb.LockstepRequest) -> None:
        """Opens the stream and joins."""
        self._requests: SimpleQueue[pb.LockstepRequest | None] = SimpleQueue()
        self._replies: Iterator[pb.LockstepReply] = stub.Lockstep(iter(self._requests.get, None))
        try:
            self._member = _wire.joined(self._exchange(join))
        except JounceError:
            self._requests.put(None)
            raise
        #: State at the clock when the participant joined.
        self.start = self._member.first()

    def step(self, inputs: Inputs) -> State:
        """Deliver inputs for the due tick; return the state at the next due tick.

        ``inputs`` are packed in the order of ``Participant.inputs``, or a mapping by name of those that change.
        After a JounceError nothing was applied and the step may be repeated.
        """
        return self._member.state(self._exchange(self._member.step(inputs)))

    def leave(self) -> None:
        """Leave in an orderly way: the clock no longer waits for this participant."""
        self._exchange(pb.LockstepRequest(leave=pb.Leave()))
        self._requests.put(None)

    def _exchange(self, request: pb.LockstepRequest) -> pb.LockstepReply:
        self._requests.put(request)
        try:
            reply: pb.LockstepReply = _call(next, self._replies)
        except StopIteration:
            raise JounceError("STREAM_ENDED", message="the server has ended the stream") from None
        return reply

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            self.leave()
        else:
            self._requests.put(None)


def _call(call: Callable[..., _Reply], request: Any, **options: Any) -> _Reply:
    try:
        return call(request, **options)
    except grpc.RpcError as error:
        raise from_rpc(error) from None
