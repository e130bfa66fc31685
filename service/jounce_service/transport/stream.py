"""One participant's Lockstep stream: one reply for each request, with events between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import grpc

from jounce_proto import jounce_pb2 as pb
from jounce_proto import packed
from jounce_service.server.stalls import Stalls
from jounce_service.session.join import join
from jounce_service.session.manager import SessionManager
from jounce_service.session.members import Member, ReplyCallback
from jounce_service.session.session import Session
from jounce_service.transport import errors
from jounce_service.transport.reads import LONG, VAIN, Reads

#: A reply, or a future of it.
Begun: TypeAlias = "packed.Reply | asyncio.Future[packed.Reply]"


@asynccontextmanager
async def in_time(stalls: Stalls, seconds: float, what: str) -> AsyncIterator[None]:
    """Raises TooSlow if the block takes longer than ``seconds``; the server's own stalls do not count."""
    try:
        async with asyncio.timeout(None) as limit:
            alarm = stalls.call_later(seconds, lambda: limit.reschedule(asyncio.get_running_loop().time()))
            try:
                yield
            finally:
                alarm.cancel()
    except TimeoutError as error:
        raise errors.TooSlow(f"{what} did not come in time", field="stream", allowed="message_timeout") from error


class Stream:
    """Serves one participant's requests, over gRPC or the fast lane."""

    def __init__(self, manager: SessionManager, context: Any, reads: Reads | None = None, origin: str = "") -> None:
        """``context`` is a grpc.aio.ServicerContext, or an object with its ``read`` and ``write``.

        ``reads`` limits the rate of streams and Joins of ``origin``.
        """
        self._manager = manager
        self._context = context
        self._reads, self._origin = reads or Reads(), origin
        self._session: Session | None = None
        self._member: Member | None = None
        self._events: list[pb.Event] = []
        self._lock = asyncio.Lock()
        self.ended = False
        # Whether a Join has come.
        self._tried = False

    @property
    def joined(self) -> bool:
        """Whether a participant has joined over this stream."""
        return self._member is not None

    async def run(self, join_by: float | None = None) -> None:
        """Answers requests one by one until the stream ends.

        Raises TooSlow if nobody has joined by ``join_by`` [s, on the clock of ``Stalls.time``].
        """
        try:
            while not self.ended:
                if self.joined or join_by is None:
                    request = await self._context.read()
                else:
                    stalls = self._manager.stalls
                    async with in_time(stalls, join_by - stalls.time(), "a good Join"):
                        request = await self._context.read()
                if request is grpc.aio.EOF:
                    return
                await self.serve(request)
        finally:
            # Reached once, at an orderly end, a reset or a cancellation.
            if not self.joined:
                self._reads.charge(self._origin, VAIN)
            self._detach()

    async def serve(self, request: packed.Request) -> None:
        """Answers one request."""
        if isinstance(request, packed.LockstepRequest):
            await self.finish(self.begin(request))
        else:
            await self._send(await self._reply_or_refusal(self._answered(request)))

    def begin(self, request: packed.LockstepRequest, reply_callback: ReplyCallback | None = None) -> Begun:
        """The reply to a Step that need not wait; otherwise a future, and ``reply_callback`` gets its State."""
        try:
            session, member = self._joined()
            return session.step(member, request.step, reply_callback)
        except errors.ServiceError as error:
            return _refusal(error)

    @property
    def clear(self) -> bool:
        """Whether a reply may be sent at once: no event is queued or being sent."""
        return not self._events and not self._lock.locked()

    async def finish(self, begun: Begun) -> None:
        """Waits for the reply if it is a future, and sends it."""
        if isinstance(begun, asyncio.Future):
            assert self._session is not None and self._member is not None
            begun = await self._reply_or_refusal(self._session.answered(self._member, begun))
        await self._send(begun)

    async def _send(self, reply: packed.Reply) -> None:
        async with self._lock:
            if self._events:
                await self._write_events()
                reply = self._still_true(reply)
            await self._context.write(reply)

    def push(self, event: pb.Event) -> None:
        """Queues an event; it is sent before any later reply."""
        self._events.append(event)

    async def flush(self) -> None:
        """Sends the queued events."""
        async with self._lock:
            await self._write_events()

    async def _reply_or_refusal(self, reply: Coroutine[Any, Any, packed.Reply]) -> packed.Reply:
        try:
            return await reply
        except errors.ServiceError as error:
            return _refusal(error)

    async def _answered(self, request: pb.LockstepRequest) -> packed.Reply:
        kind = request.WhichOneof("kind")
        if kind == "join":
            await self._pay(request.ByteSize())
            if self._member is not None:
                raise errors.AlreadyJoined(
                    "a participant has joined over this stream already",
                    field="join",
                    requested=request.join.name,
                    allowed="one Join per stream",
                )
            session = self._manager.joinable(request.join.session_id, request.join.token)
            self._member, joined = await join(session, request.join, self)
            self._session = session
            return pb.LockstepReply(joined=joined)
        if kind == "leave":
            session, member = self._joined()
            left = session.leave(member)
            self.ended = True
            return pb.LockstepReply(left=left)
        if kind == "sync":
            session, member = self._joined()
            return await session.sync(member)
        raise errors.BadField("the request is empty", field="kind", allowed="join, step, sync or leave")

    async def _pay(self, size: int) -> None:
        """Takes a turn for a Join of ``size`` [bytes]; the first short one of a stream is free.

        Only the begin of a Join is in the turn, since a Join may have to wait for a long move.
        """
        first, self._tried = not self._tried, True
        if not first or size >= LONG:
            async with self._reads.turn(self._origin, size):
                pass

    def _detach(self) -> None:
        if self._session is not None and self._member is not None:
            self._session.detach(self._member, self)
            self._manager.touch(self._session)

    def _joined(self) -> tuple[Session, Member]:
        if self._session is None or self._member is None:
            raise errors.NotJoined("the stream has not joined a session", field="kind", allowed="join")
        if not self._session.is_at(self._member, self):
            if self._member.ended is not None:
                raise self._member.ended.with_message(self._member.ended.message)
            raise errors.StreamReplaced(
                f"{self._member.name!r} takes part over another stream, or its lease has ended",
                field="kind",
                requested=self._member.name,
                allowed="a new stream with Join and the participant token",
            )
        return self._session, self._member

    async def _write_events(self) -> None:
        while self._events:
            await self._context.write(pb.LockstepReply(event=self._events.pop(0)))

    def _still_true(self, reply: packed.Reply) -> packed.Reply:
        """The reply, or WrongEpoch if its epoch ended while the reply waited to be written."""
        session, member = self._session, self._member
        if session is None or member is None or not reply.HasField("state"):
            return reply
        try:
            session.check_epoch(member, reply.state.epoch)
        except errors.WrongEpoch as error:
            return _refusal(error)
        return reply


def _refusal(error: errors.ServiceError) -> packed.Reply:
    return pb.LockstepReply(error=errors.error_info(error))
