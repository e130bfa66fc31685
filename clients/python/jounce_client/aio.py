"""The asynchronous client: the same calls as ``Client``, awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc
import numpy as np

from jounce_client import _wire
from jounce_client._member import Inputs, Member, Membership, joined
from jounce_client._records import Frame, Late, Pacing, ParameterValue, Session, Snapshot, State
from jounce_client.access import Bearer, Tls
from jounce_client.errors import JounceError, from_rpc
from jounce_proto import jounce_pb2 as pb
from jounce_proto import packed

_Reply = TypeVar("_Reply")


class AsyncClient:
    """A connection to a jounce server, for asyncio; see ``Client`` for the meaning of every call."""

    def __init__(self, channel: grpc.aio.Channel, token: str = "") -> None:
        """Takes over ``channel``; usually a client is made by ``connect``."""
        self._channel = channel
        self._layouts: dict[tuple[str, ...], _wire.Layout] = {}
        self._viewers = _Viewers()
        stub: Any = _wire.stub_of(channel)
        self._stub: Any = Bearer(stub, token) if token else stub

    @classmethod
    async def connect(cls, address: str, *, timeout: float = 10.0, tls: Tls | None = None, token: str = "",
                      keepalive: float = _wire.KEEPALIVE) -> Self:
        """Connects to ``host:port`` or ``unix:/path``; see ``Client.connect``."""
        options = _wire.channel_options(address, keepalive)
        if tls is None:
            channel = grpc.aio.insecure_channel(address, options=options)
        else:
            channel = grpc.aio.secure_channel(address, tls.credentials(), options=[*options, *tls.options()])
        client = cls(channel, token)
        try:
            await _call(client._stub.ListModels(pb.ListModelsRequest(), timeout=timeout))
        except JounceError as error:
            await channel.close()
            raise _wire.unreachable(error, address, timeout) from None
        return client

    async def models(self) -> tuple[str, ...]:
        """Names of the hosted models."""
        return tuple(m.name for m in (await _call(self._stub.ListModels(pb.ListModelsRequest()))).models)

    async def describe(self, model: str) -> pb.DescribeModelResponse:
        """The signal table of a model."""
        reply: pb.DescribeModelResponse = await _call(self._stub.DescribeModel(pb.DescribeModelRequest(model=model)))
        return reply

    async def _layout(self, session: Session, outputs: Sequence[str]) -> _wire.Layout:
        model = session.model or (await self.get_session(session)).model
        key = model, *outputs
        if key not in self._layouts:
            self._layouts[key] = _wire.layout(await self.describe(model), outputs)
        return self._layouts[key]

    async def create_session(self, model: str, parameters: Mapping[str, ParameterValue] | None = None, *,
                             start_inputs: Mapping[str, float] | None = None, participants: Sequence[str] = (),
                             controllers: Sequence[str] = (), pacing: Pacing | None = None,
                             record_every: int | None = None, record_required: bool | None = None) -> AsyncOpenSession:
        """Creates a session at tick 0; its clock waits until all named ``participants`` have joined.

        ``async with await client.create_session(...) as session`` deletes it at the end of the block.
        Participants named in ``controllers`` may pause, reset, save, restore and fork it. ``pacing`` ties it to the
        wall clock (None: as fast as the participants allow). ``record_every`` [ticks] requests a recording with outputs
        at that interval; ``record_required`` says whether the session fails if its recording ends early. None is the
        server's setting.
        """
        request = _wire.create_request(model, parameters or {}, start_inputs or {}, participants, controllers, pacing,
                                       record_every, record_required)
        return _wire.opened(AsyncOpenSession, self, await _call(self._stub.CreateSession(request)), model)

    async def get_session(self, session: Session) -> pb.GetSessionResponse:
        """Returns the status of a session."""
        request = pb.GetSessionRequest(**_wire.named(session))
        reply: pb.GetSessionResponse = await _call(self._stub.GetSession(request))
        return reply

    async def get_server(self) -> pb.GetServerResponse:
        """Returns versions, uptime, limits and defaults of the server."""
        reply: pb.GetServerResponse = await _call(self._stub.GetServer(pb.GetServerRequest()))
        return reply

    async def list_sessions(self) -> tuple[pb.SessionSummary, ...]:
        """Lists the sessions of this client's bearer token, or all for an administrator or without tokens."""
        return tuple((await _call(self._stub.ListSessions(pb.ListSessionsRequest()))).sessions)

    async def evict(self, session: Session, name: str, *, release: bool = False) -> None:
        """Removes a participant, connected or gone; see ``Client.evict``."""
        await _call(self._stub.EvictParticipant(_wire.evict_request(session, name, release)))

    async def delete_session(self, session: Session) -> None:
        """Closes a session; an administrator does not need its token."""
        await _call(self._stub.DeleteSession(pb.DeleteSessionRequest(session_id=session.id, token=session.token)))

    async def advance(self, session: Session, ticks: int, inputs: Mapping[str, float] | None = None,
                      outputs: Sequence[str] = ()) -> State:
        """Sets ``inputs``, advances by exactly ``ticks``, and returns ``outputs``; see ``Client.advance``."""
        await self._viewers.in_place()
        reply = await _call(self._stub.Advance(_wire.advance_request(session, ticks, inputs or {}, outputs)))
        return State(reply.tick, reply.sim_ns, np.array(reply.outputs), *await self._layout(session, outputs))

    async def join(self, session: Session, name: str, *, owns: Sequence[str] = (), wants: Sequence[str] = (),
                   period: int = 1, phase: int = 0, first_order: Sequence[str] = (),
                   barrier_timeout: float | None = None, late: Late | str | None = None,
                   rejoin: str = "", take_over: bool = False, notices: Sequence[str] = ()) -> AsyncParticipant:
        """Joins a session as a participant, due every ``period`` ticks from tick ``phase`` on; see ``Client.join``."""
        join = _wire.join_request(session, name, late, rejoin, barrier_timeout, period, phase, notices, inputs=owns,
                                  outputs=wants, first_order_inputs=first_order, take_over=take_over)
        stream = self._stub.Lockstep()
        try:
            await stream.write(join)
            return AsyncParticipant(stream, joined(await _read(stream)), self._viewers)
        except grpc.RpcError as error:
            raise from_rpc(error) from None
        except JounceError:
            stream.cancel()
            raise

    async def pause(self, session: Session) -> int:
        """Stops the clock and returns its tick. Every participant gets an event, and steps wait."""
        return int((await _call(self._stub.PauseSession(pb.PauseSessionRequest(**_wire.named(session))))).tick)

    async def resume(self, session: Session) -> None:
        """Lets the clock of a paused session go on."""
        await _call(self._stub.ResumeSession(pb.ResumeSessionRequest(**_wire.named(session))))

    async def reset(self, session: Session, parameters: Mapping[str, ParameterValue] | None = None, *,
                    start_inputs: Mapping[str, float] | None = None) -> None:
        """Sets a session back to tick 0 in a new epoch, with some values changed; its participants get an event."""
        await _call(self._stub.ResetSession(_wire.reset_request(session, parameters or {}, start_inputs or {})))

    async def save(self, session: Session) -> Snapshot:
        """Saves a snapshot of the whole session in the server."""
        reply = await _call(self._stub.SaveSnapshot(pb.SaveSnapshotRequest(**_wire.named(session))))
        return Snapshot(reply.snapshot_id, reply.tick)

    async def restore(self, session: Session, snapshot: Snapshot) -> None:
        """Sets a session back to a snapshot in a new epoch; its participants get an event."""
        request = pb.RestoreSnapshotRequest(**_wire.named(session), snapshot_id=snapshot.id)
        await _call(self._stub.RestoreSnapshot(request))

    async def fork(self, session: Session, snapshot: Snapshot | None = None, *, participants: Sequence[str] = (),
                   pacing: Pacing | None = None) -> AsyncOpenSession:
        """Creates a session that continues from a snapshot, or from the present tick; also a context manager."""
        request = _wire.fork_request(session, snapshot, participants, pacing)
        return _wire.opened(AsyncOpenSession, self, await _call(self._stub.ForkSession(request)), session.model)

    async def download(self, session: Session, snapshot: Snapshot) -> bytes:
        """Returns the bytes of a snapshot, for another session or server of the same build."""
        request = pb.DownloadSnapshotRequest(**_wire.named(session), snapshot_id=snapshot.id)
        pieces = self._stub.DownloadSnapshot(request)
        return b"".join([piece.data async for piece in _frames(pieces)])

    async def upload(self, session: Session, data: bytes) -> Snapshot:
        """Uploads a snapshot's bytes; raises SNAPSHOT_CORRUPT if damaged, SNAPSHOT_FOREIGN if of another build."""
        reply = await _call(self._stub.UploadSnapshot(_wire.upload_requests(session, data)))
        return Snapshot(reply.snapshot_id, reply.tick)

    async def delete_snapshot(self, session: Session, snapshot: Snapshot) -> None:
        """Deletes a snapshot; a session can keep only a limited number."""
        request = pb.DeleteSnapshotRequest(**_wire.named(session), snapshot_id=snapshot.id)
        await _call(self._stub.DeleteSnapshot(request))

    def watch(self, session: Session, outputs: Sequence[str], every: int = 1, *,
              present: bool = False) -> AsyncIterator[Frame]:
        """Yields a frame at every ``every``-th tick until the session ends; see ``Client.watch``.

        The server has accepted the viewer before any later ``advance`` of this client or ``step`` of its participants
        is sent.
        """
        call = self._stub.Watch(_wire.watch_request(session, outputs, every, present))
        self._viewers.add(call)
        return self._shown(call, session, outputs)

    async def _shown(self, call: Any, session: Session, outputs: Sequence[str]) -> AsyncIterator[Frame]:
        try:
            layout = await self._layout(session, outputs)
            async for reply in _frames(call):
                yield _wire.frame(reply, *layout)
        finally:
            call.cancel()

    async def close(self) -> None:
        """Closes the connection; participants that joined over it are detached."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self.close()


@dataclass(frozen=True)
class AsyncOpenSession(Session):
    """A session that ``client`` has made; as a context manager it is deleted at the end of the block."""

    client: AsyncClient | None = field(default=None, repr=False, compare=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        assert self.client is not None
        try:
            await self.client.delete_session(self)
        except (JounceError, grpc.aio.UsageError) as error:  # UsageError comes from a closed channel.
            # A session that no longer exists is fine, and an error of the block itself is more important.
            if kind is None and not (isinstance(error, JounceError) and error.reason == "UNKNOWN_SESSION"):
                raise


class _Viewers:
    """Viewers that the server may not have accepted yet."""

    def __init__(self) -> None:
        self._calls: list[Any] = []

    def add(self, call: Any) -> None:
        self._calls = [c for c in self._calls if not c.done()] + [call]

    async def in_place(self) -> None:
        """Waits until every viewer has been accepted or refused; a refusal is raised where its frames are read."""
        while self._calls:
            begun = asyncio.ensure_future(self._calls.pop().initial_metadata())
            await asyncio.wait([begun])
            _ = begun.cancelled() or begun.exception()


class AsyncParticipant(Member):
    """One participant in lockstep; made by ``AsyncClient.join``."""

    def __init__(self, stream: Any, member: Membership, viewers: _Viewers) -> None:
        """Takes over a stream that has joined; no step is sent before the server has accepted ``viewers``."""
        self._stream, self._viewers = stream, viewers
        self._member = member
        #: State at the clock when the participant joined.
        self.start = member.latest

    async def step(self, inputs: Inputs, *, next_tick: int | None = None) -> State:
        """Delivers inputs for the due tick; returns the state at the next due tick (see ``Participant.step``)."""
        return self._member.state(await self._ask(self._member.step(inputs, next_tick)))

    async def sync(self) -> State:
        """Waits until the clock is at the due tick, and returns the state; needed after a rejoin or a TOO_LATE."""
        return self._member.state(await self._ask(pb.LockstepRequest(sync=pb.Sync())))

    async def leave(self) -> None:
        """Leaves the session: the clock no longer waits for this participant."""
        try:
            await self._ask(pb.LockstepRequest(leave=pb.Leave()))
            await self._stream.done_writing()
        finally:
            self._stream.cancel()

    async def _ask(self, request: packed.Request) -> packed.Reply:
        await self._viewers.in_place()
        try:
            await self._stream.write(request)
            reply = await _read(self._stream)
            while self._member.is_event(reply):
                reply = await _read(self._stream)
        except grpc.RpcError as error:
            raise from_rpc(error) from None
        return reply

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        if kind is None:
            await self.leave()
        else:
            self._stream.cancel()


async def _read(stream: Any) -> packed.Reply:
    reply = await stream.read()
    if reply is grpc.aio.EOF:
        raise JounceError("STREAM_ENDED", message="the server has ended the stream")
    answer: packed.Reply = reply
    return answer


async def _call(call: Awaitable[_Reply]) -> _Reply:
    try:
        return await call
    except grpc.RpcError as error:
        raise from_rpc(error) from None


async def _frames(replies: AsyncIterator[_Reply]) -> AsyncIterator[_Reply]:
    try:
        async for reply in replies:
            yield reply
    except grpc.RpcError as error:
        raise from_rpc(error) from None
