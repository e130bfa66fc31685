"""The gRPC servicer: passes calls on to the session manager, and turns errors into status and ErrorInfo."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Self, TypeAlias, TypeVar

import grpc

from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc
from jounce_proto import packed
from jounce_service.hosting.models import Registry
from jounce_service.session import control
from jounce_service.session.advance import advance
from jounce_service.session.manager import SessionManager
from jounce_service.session.session import Session
from jounce_service.session.snapshots import check_upload
from jounce_service.transport import errors
from jounce_service.transport.about import server
from jounce_service.transport.callers import ANYBODY, Caller, Callers
from jounce_service.transport.describe import described
from jounce_service.transport.reads import Reads, origin_of
from jounce_service.transport.stream import Stream, in_time

_Context = Any  # grpc.aio.ServicerContext: the stubs' class is generic, the real one is not.
_Reply = TypeVar("_Reply")
_Undo: TypeAlias = Callable[[_Reply], Coroutine[Any, Any, None]]
#: Key in the initial metadata of Watch which says that frames are being collected (jounce.proto).
_WATCHING = "jounce-watching"
#: Size of the pieces of a downloaded snapshot [bytes]; gRPC's default limit of a message is 4 MiB.
_PIECE = 1 << 20


class SessionServicer(rpc.SessionServiceServicer):
    """Implements the SessionService. Calls that change a session run to their end even if the caller goes away."""

    def __init__(self, manager: SessionManager, callers: Callers | None = None) -> None:
        """``manager`` holds the sessions; ``callers`` the bearer tokens, or None for a server without tokens."""
        self._manager = manager
        self._callers = callers or Callers()
        # The event loop keeps only weak references to its tasks.
        self._unwanted: set[asyncio.Task[None]] = set()
        self._described: dict[str, bytes] = {}
        self._reads = Reads()

    async def ListModels(self, request: pb.ListModelsRequest, context: _Context) -> pb.ListModelsResponse:
        """Lists the hosted models; those that could not be opened come with the reason."""
        registry = self._manager.registry
        async with self._turn(context):
            return pb.ListModelsResponse(models=[_summary(registry, name) for name in registry.names])

    async def GetServer(self, request: pb.GetServerRequest, context: _Context) -> pb.GetServerResponse:
        """Returns version, uptime, limits and defaults of the server."""
        async with self._turn(context):
            return server(self._manager, self._caller(context))

    async def DescribeModel(self, request: pb.DescribeModelRequest, context: _Context) -> bytes:
        """Returns a model's signal table, as a serialized DescribeModelResponse that is made once."""
        # Sending it costs as many reads as it is long.
        async with self._turn(context, len(self._described.get(request.model, b""))), _errors_to(context):
            model = self._manager.registry.get(request.model)
            if request.model not in self._described:
                self._described[request.model] = described(model, request.model).SerializeToString()
            return self._described[request.model]

    async def CreateSession(self, request: pb.CreateSessionRequest, context: _Context) -> pb.CreateSessionResponse:
        """Creates a session."""
        async with self._refusals(context):
            return await self._made(self._manager.create(request, self._caller(context)), self._close)

    async def GetSession(self, request: pb.GetSessionRequest, context: _Context) -> pb.GetSessionResponse:
        """Returns the status of a session."""
        async with self._turn(context), _errors_to(context):
            return self._readable(request, context).status()

    async def ListSessions(self, request: pb.ListSessionsRequest, context: _Context) -> pb.ListSessionsResponse:
        """Lists the caller's sessions; an administrator sees all."""
        async with self._turn(context):
            return self._manager.listed(self._caller(context))

    async def EvictParticipant(
        self, request: pb.EvictParticipantRequest, context: _Context
    ) -> pb.EvictParticipantResponse:
        """Removes a participant from a session."""
        async with self._refusals(context):
            return await _whole(self._manager.evict(request, self._caller(context)))

    async def DeleteSession(self, request: pb.DeleteSessionRequest, context: _Context) -> pb.DeleteSessionResponse:
        """Closes a session."""
        async with self._refusals(context):
            await _whole(self._manager.delete(request.session_id, request.token, self._caller(context)))
            return pb.DeleteSessionResponse()

    async def Advance(self, request: pb.AdvanceRequest, context: _Context) -> pb.AdvanceResponse:
        """Sets inputs, advances the clock and returns outputs, in a session without participants."""
        async with self._refusals(context):
            return await _whole(advance(self._manager.owned(request.session_id, request.token), request))

    async def PauseSession(self, request: pb.PauseSessionRequest, context: _Context) -> pb.PauseSessionResponse:
        """Stops a session's clock."""
        async with self._refusals(context):
            return await _whole(control.pause(self._controlled(request)))

    async def ResumeSession(self, request: pb.ResumeSessionRequest, context: _Context) -> pb.ResumeSessionResponse:
        """Lets a paused session's clock go on."""
        async with self._refusals(context):
            return await _whole(control.resume(self._controlled(request)))

    async def ResetSession(self, request: pb.ResetSessionRequest, context: _Context) -> pb.ResetSessionResponse:
        """Sets a session back to tick 0."""
        async with self._refusals(context):
            return await _whole(control.reset(self._controlled(request), request))

    async def SaveSnapshot(self, request: pb.SaveSnapshotRequest, context: _Context) -> pb.SaveSnapshotResponse:
        """Saves a snapshot of the present state in the session."""
        async with self._refusals(context):
            session = self._controlled(request)

            async def forget(kept: pb.SaveSnapshotResponse) -> None:
                session.delete_snapshot(kept.snapshot_id)

            return await self._made(control.save_and_keep(session), forget)

    async def RestoreSnapshot(
        self, request: pb.RestoreSnapshotRequest, context: _Context
    ) -> pb.RestoreSnapshotResponse:
        """Sets a session back to one of its snapshots."""
        async with self._refusals(context):
            return await _whole(control.restore(self._controlled(request), request.snapshot_id))

    async def DeleteSnapshot(self, request: pb.DeleteSnapshotRequest, context: _Context) -> pb.DeleteSnapshotResponse:
        """Deletes a snapshot."""
        async with self._refusals(context):
            session = self._controlled(request)
            session.require("DeleteSnapshot")
            session.delete_snapshot(request.snapshot_id)
            return pb.DeleteSnapshotResponse()

    async def DownloadSnapshot(self, request: pb.DownloadSnapshotRequest, context: _Context) -> None:
        """Streams a snapshot's bytes in pieces."""
        async with self._refusals(context):
            session = self._controlled(request)
            session.require("DownloadSnapshot")
            data = session.find_snapshot(request.snapshot_id)
            for start in range(0, len(data), _PIECE):
                await context.write(pb.DownloadSnapshotResponse(data=data[start : start + _PIECE]))

    async def UploadSnapshot(self, _: Any, context: _Context) -> pb.UploadSnapshotResponse:
        """Receives a snapshot's bytes, no more than announced, and keeps them if length and hash are right."""
        async with self._refusals(context):
            stalls, config = self._manager.stalls, self._manager.config
            end = stalls.time() + (config.max_call_seconds or math.inf)
            async with in_time(stalls, config.message_timeout, "the upload"):
                first = await context.read()
            if first is grpc.aio.EOF:
                raise errors.BadField("no message came", field="data", allowed="a first message")
            session = self._controlled(first)
            session.require("UploadSnapshot")
            session.check_room(first.size)
            data = bytearray(first.data)
            while len(data) <= first.size:
                async with in_time(stalls, min(end - stalls.time(), config.message_timeout), "the upload's next piece"):
                    piece = await context.read()
                if piece is grpc.aio.EOF:
                    break
                data += piece.data
            whole = bytes(data)
            # In a thread: hashing tens of megabytes takes as long as a hundred steps of other sessions.
            snapshot = await asyncio.to_thread(_uploaded, session, whole, first)
            return pb.UploadSnapshotResponse(snapshot_id=session.keep_snapshot(whole), tick=snapshot.tick)

    async def ForkSession(self, request: pb.ForkSessionRequest, context: _Context) -> pb.CreateSessionResponse:
        """Creates a session from a snapshot of another."""
        async with self._refusals(context):
            forked = self._manager.fork(self._controlled(request), request, self._caller(context))
            return await self._made(forked, self._close)

    async def Watch(self, request: pb.WatchRequest, context: _Context) -> None:
        """Streams frames until the viewer goes or the session is closed."""
        async with self._refusals(context):
            session = self._readable(request, context)
            viewer = session.watch(request)
            try:
                # Tells the viewer that it receives every change from now on.
                await context.send_initial_metadata(((_WATCHING, "1"),))
                while (frame := await viewer.frame()) is not None:
                    await context.write(frame)
            finally:
                session.unwatch(viewer)

    async def Lockstep(self, _: Any, context: _Context) -> None:
        """Serves one participant's stream."""
        join_by = self._manager.stalls.time() + self._manager.config.message_timeout
        async with _errors_to(context), _Ahead(context) as ahead:
            async with self._turn(context):
                # A new stream costs as much as a read.
                pass
            await Stream(self._manager, ahead, self._reads, origin_of(context.peer())).run(join_by)

    def _turn(self, context: _Context, size: int = 0) -> AbstractAsyncContextManager[None]:
        return self._reads.turn(origin_of(context.peer()), size)

    @asynccontextmanager
    async def _refusals(self, context: _Context) -> AsyncIterator[None]:
        """As ``_errors_to``; a refusal takes its turn as a read, so that a loop of bad calls is no faster."""
        async with _errors_to(context):
            try:
                yield
            except errors.ServiceError:
                async with self._turn(context):
                    raise

    async def _made(self, making: Coroutine[Any, Any, _Reply], undo: _Undo[_Reply]) -> _Reply:
        """Returns the new object; deletes it if the caller has gone, since then nobody knows its id."""
        task = asyncio.create_task(_outcome(making))
        try:
            return _result(await asyncio.shield(task))
        except asyncio.CancelledError:
            unwanted = asyncio.create_task(_unmake(task, undo))
            self._unwanted.add(unwanted)
            unwanted.add_done_callback(self._unwanted.discard)
            raise

    async def _close(self, made: pb.CreateSessionResponse) -> None:
        await self._manager.delete(made.session_id, made.token)

    def _caller(self, context: _Context) -> Caller:
        # BearerCheck has refused unknown callers before.
        return (self._callers.any and self._callers.who(context.invocation_metadata())) or ANYBODY

    def _readable(self, request: Any, context: _Context) -> Session:
        return self._manager.readable(request.session_id, request.token, self._caller(context))

    def _controlled(self, request: Any) -> Session:
        return self._manager.controlled(request.session_id, request.token)


def _uploaded(session: Session, data: bytes, first: pb.UploadSnapshotRequest) -> pb.Snapshot:
    check_upload(data, first.size, first.sha256)
    return control.read(session.setup, data)


class _Ahead:
    """A stream's context whose ``write`` waits for the previous message only, not for its own.

    gRPC reports that a message was sent one turn of its threads later, when the peer may have answered already. The
    next ``read`` has begun by then.
    """

    def __init__(self, context: _Context) -> None:
        self._context = context
        self._writing: asyncio.Task[None] | None = None
        self._ended = False
        self.read = context.read

    async def write(self, reply: packed.Reply) -> None:
        if self._writing is not None:
            await self._writing
        if self._ended:  # An event was pushed while the stream ended.
            return
        self._writing = asyncio.get_running_loop().create_task(self._context.write(reply))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Waits until the last message has been sent, or the peer has gone."""
        self._ended = True
        if self._writing is None:
            return
        if kind is asyncio.CancelledError:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
        else:
            await self._writing


def _summary(registry: Registry, name: str) -> pb.ModelSummary:
    try:
        table = registry.get(name).table
    except errors.ModelUnavailable as error:
        return pb.ModelSummary(name=name, unavailable=error.message)
    return pb.ModelSummary(
        name=name,
        input_count=len(table.inputs),
        output_count=len(table.outputs),
        parameter_count=len(table.parameters),
    )


async def _whole(change: Coroutine[Any, Any, _Reply]) -> _Reply:
    # Shielded: a change must not stop half-way because the caller goes away.
    return _result(await asyncio.shield(asyncio.create_task(_outcome(change))))


async def _outcome(change: Coroutine[Any, Any, _Reply]) -> _Reply | errors.ServiceError:
    # As a result, not raised: asyncio would log a refusal that no caller waits for as a failure of the server.
    try:
        return await change
    except errors.ServiceError as error:
        return error


async def _unmake(task: asyncio.Task[_Reply | errors.ServiceError], undo: _Undo[_Reply]) -> None:
    made = await task
    if not isinstance(made, errors.ServiceError):
        await _outcome(undo(made))


def _result(outcome: _Reply | errors.ServiceError) -> _Reply:
    if isinstance(outcome, errors.ServiceError):
        raise outcome
    return outcome


@asynccontextmanager
async def _errors_to(context: _Context) -> AsyncIterator[None]:
    try:
        yield
    except errors.ServiceError as error:
        info = errors.error_info(error)
        # Not ``context.abort``: its exception would keep the call, and with it the request, in memory.
        context.set_trailing_metadata(((errors.METADATA_KEY, info.SerializeToString()),))
        context.set_details(info.message)
        context.set_code(errors.status(error))
