"""The asynchronous client: the same calls as ``Client``, awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
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


class AsyncClient:
    """A connection to a jounce server, for asyncio; see ``Client`` for the meaning of every call."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        """Takes over ``channel``; ``connect`` is the usual way in."""
        self._channel = channel
        self._descriptions: dict[str, pb.DescribeModelResponse] = {}
        self._stub: Any = rpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call, unused-ignore]

    @classmethod
    async def connect(cls, address: str, *, timeout: float = 10.0) -> Self:
        """Connect to ``host:port`` or ``unix:/path``; UNAVAILABLE if nobody answers within ``timeout`` [s]."""
        channel = grpc.aio.insecure_channel(address, options=_wire.CHANNEL_OPTIONS)
        client = cls(channel)
        try:
            await _call(client._stub.ListModels(pb.ListModelsRequest(), timeout=timeout, wait_for_ready=True))
        except JounceError:
            await channel.close()
            raise
        return client

    async def models(self) -> tuple[str, ...]:
        """Names of the hosted models."""
        return tuple(m.name for m in (await _call(self._stub.ListModels(pb.ListModelsRequest()))).models)

    async def describe(self, model: str) -> pb.DescribeModelResponse:
        """The signal table of a model."""
        reply: pb.DescribeModelResponse = await _call(self._stub.DescribeModel(pb.DescribeModelRequest(model=model)))
        return reply

    async def _described(self, session: Session) -> pb.DescribeModelResponse:
        model = session.model or (await self.get_session(session)).model
        if model not in self._descriptions:
            self._descriptions[model] = await self.describe(model)
        return self._descriptions[model]

    async def create_session(self, model: str, parameters: Mapping[str, ParameterValue] | None = None, *,
                             start_inputs: Mapping[str, float] | None = None,
                             participants: Sequence[str] = ()) -> Session:
        """Make a session at tick 0; its clock waits until all named ``participants`` have joined."""
        request = _wire.create_request(model, parameters or {}, start_inputs or {}, participants)
        reply = await _call(self._stub.CreateSession(request))
        return Session(reply.session_id, reply.token, reply.tick_seconds, model)

    async def get_session(self, session: Session) -> pb.GetSessionResponse:
        """Where a session stands."""
        request = pb.GetSessionRequest(session_id=session.id)
        reply: pb.GetSessionResponse = await _call(self._stub.GetSession(request))
        return reply

    async def delete_session(self, session: Session) -> None:
        """Close a session."""
        await _call(self._stub.DeleteSession(pb.DeleteSessionRequest(session_id=session.id, token=session.token)))

    async def advance(self, session: Session, ticks: int, inputs: Mapping[str, float] | None = None,
                      outputs: Sequence[str] = ()) -> State:
        """Set ``inputs``, advance exactly ``ticks``, and get ``outputs``, in one call."""
        reply = await _call(self._stub.Advance(_wire.advance_request(session, ticks, inputs or {}, outputs)))
        names = _wire.expand(await self._described(session), outputs)
        return State(reply.tick, reply.sim_ns, np.array(reply.outputs), names, _wire.index_of(names))

    async def join(self, session: Session, name: str, *, owns: Sequence[str] = (), wants: Sequence[str] = (),
                   period: int = 1, phase: int = 0, barrier_timeout: float | None = None) -> AsyncParticipant:
        """Take part in lockstep, due every ``period`` ticks from tick ``phase`` on; see ``Client.join``."""
        stream = self._stub.Lockstep()
        try:
            join = _wire.join_request(session, name, owns, wants, period, phase, barrier_timeout)
            return AsyncParticipant(stream, _wire.joined(await _exchange(stream, join)))
        except JounceError:
            stream.cancel()
            raise

    async def close(self) -> None:
        """Close the connection; participants joined over it are detached."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self.close()


class AsyncParticipant(_wire.Member):
    """One participant in lockstep; made by ``AsyncClient.join``."""

    def __init__(self, stream: Any, member: _wire.Membership) -> None:
        """Takes over a stream that has joined."""
        self._stream = stream
        self._member = member
        #: State at the clock when the participant joined.
        self.start = member.first()

    async def step(self, inputs: Inputs) -> State:
        """Deliver inputs for the due tick; return the state at the next due tick (see ``Participant.step``)."""
        return self._member.state(await _exchange(self._stream, self._member.step(inputs)))

    async def leave(self) -> None:
        """Leave in an orderly way: the clock no longer waits for this participant."""
        await _exchange(self._stream, pb.LockstepRequest(leave=pb.Leave()))
        await self._stream.done_writing()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        if kind is None:
            await self.leave()
        else:
            self._stream.cancel()


async def _exchange(stream: Any, request: pb.LockstepRequest) -> pb.LockstepReply:
    async def both() -> Any:
        await stream.write(request)
        return await stream.read()

    reply = await _call(both())
    if reply is grpc.aio.EOF:
        raise JounceError("STREAM_ENDED", message="the server has ended the stream")
    answer: pb.LockstepReply = reply
    return answer


async def _call(call: Awaitable[_Reply]) -> _Reply:
    try:
        return await call
    except grpc.RpcError as error:
        raise from_rpc(error) from None
