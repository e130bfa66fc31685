"""Manages all sessions of a server: creates, finds and authorizes them, and closes them when unused."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.models import Registry
from jounce_service.recording.recorder import Recorder, Recording
from jounce_service.server.config import ServerConfig
from jounce_service.server.metrics import Totals
from jounce_service.server.stalls import Stalls
from jounce_service.session.control import evict, read, recording_lost, save, warn
from jounce_service.session.pacing import pacing_of
from jounce_service.session.session import Session
from jounce_service.session.session_spec import names_of, setup_of
from jounce_service.session.states import SessionState
from jounce_service.transport import errors
from jounce_service.transport.callers import ANYBODY, Caller
from jounce_service.transport.describe import described

#: Time [s] after a call in which another is likely: a client that has left its session may still save or delete it.
_JUST_NOW = 1.0
_log = logging.getLogger(__name__)


class SessionManager:
    """The sessions by id."""

    def __init__(self, registry: Registry, config: ServerConfig) -> None:
        """``registry`` holds the models of the sessions."""
        self.registry = registry
        self.config = config
        #: Records every session; None if the server keeps no recordings.
        self.recorder: Recorder | None = None
        self.draining = False
        self._sessions: dict[str, Session] = {}
        self._making = 0
        #: Monotonic time [s] of the server's start, and the addresses of its fast lane.
        self.since = time.monotonic()
        self.fast_addresses: tuple[str, ...] = ()
        #: Time without the server's own stalls, by which leases count.
        self.stalls = Stalls(time.monotonic)
        self.totals = Totals(self.stalls)
        # The event loop keeps only weak references to its tasks.
        self._telling: set[asyncio.Task[None]] = set()

    async def create(self, request: pb.CreateSessionRequest, caller: Caller = ANYBODY) -> pb.CreateSessionResponse:
        """Creates a session; all names and values are checked before the model is instantiated."""
        setup = setup_of(self.registry.get(request.model), request, self.config.max_participants)
        if request.HasField("recording") and self.recorder is None:
            raise errors.RecordingUnavailable(
                "the server keeps no recordings", field="recording", allowed="none, or a server with --record"
            )
        session_id = secrets.token_hex(8)
        with self._room():
            # In a thread: the search for the equilibrium may take a while, and other sessions must go on.
            instance = await asyncio.to_thread(setup.instance, session_id)
            session = Session(session_id, setup, instance, self.config, self.stalls)
            asked = request.recording if request.HasField("recording") else None
            await self._record(session, session.past(), asked)
            return self._opened(session, caller)

    async def fork(
        self, source: Session, request: pb.ForkSessionRequest, caller: Caller = ANYBODY
    ) -> pb.CreateSessionResponse:
        """Creates a session that continues from a snapshot of another; raises a ServiceError with nothing changed."""
        source.require("ForkSession")
        expected = names_of(request.expected_participants, "expected_participants", self.config.max_participants)
        pacing = pacing_of(request.pacing)
        if request.snapshot_id:
            data = source.find_snapshot(request.snapshot_id)
        else:
            data = await save(source)
        snapshot = read(source.setup, data)
        setup = replace(source.setup, expected=expected, controllers=frozenset(), pacing=pacing)
        session_id = secrets.token_hex(8)
        with self._room():
            instance = await asyncio.to_thread(setup.model.revive, session_id, snapshot.state)
            session = Session(session_id, setup, instance, self.config, self.stalls)
            session.revive(snapshot)
            await self._record(session, snapshot, None)
            return self._opened(session, caller)

    def find(self, session_id: str) -> Session:
        """Finds a session by its id; raises UnknownSession."""
        try:
            return self._sessions[session_id]
        except KeyError:
            raise errors.UnknownSession(
                f"no session {session_id!r}",
                field="session_id",
                requested=session_id,
                allowed="an id from CreateSession",
            ) from None

    def listed(self, caller: Caller) -> pb.ListSessionsResponse:
        """The ListSessions reply: the caller's sessions, or all for an administrator."""
        now = self.stalls.time()
        seen = [s for s in self._sessions.values() if caller.administrator or s.owner == caller.owner]
        return pb.ListSessionsResponse(sessions=[_summary(s, now, s.owner == caller.owner) for s in seen])

    def readable(self, session_id: str, token: str, caller: Caller) -> Session:
        """Finds a session for a call that only reads; raises UnknownSession, or NoRight if it is another tenant's."""
        session = self.find(session_id)
        if caller.administrator or session.owner == caller.owner:
            return session
        if token and (session.admits(token) or session.member_with(token) is not None):
            return session
        raise errors.NoRight(
            "the session is another caller's",
            field="session_id",
            requested=session_id,
            allowed="its owner's bearer token, an administrator's, or one of the session's tokens",
        )

    def owned(self, session_id: str, token: str, caller: Caller = ANYBODY) -> Session:
        """Finds a session for a call that changes it; raises UnknownSession, NoToken or WrongToken.

        An administrator as ``caller`` needs no token.
        """
        session = self.find(session_id)
        if caller.administrator and not token:
            return session
        if not token:
            raise errors.NoToken("the call needs the session token", field="token", allowed="token of CreateSession")
        if not session.holds(token):
            # The token may be a secret of another session, so the message does not repeat it.
            raise errors.WrongToken("the token is not the session's", field="token", allowed="token of CreateSession")
        self.touch(session)
        return session

    def controlled(self, session_id: str, token: str) -> Session:
        """Like ``owned``, for a call that controllers may make as well; raises NoRight for other participants."""
        session = self.find(session_id)
        member = session.member_with(token)
        if member is None:
            return self.owned(session_id, token)
        if member.name not in session.setup.controllers:
            raise errors.NoRight(
                f"participant {member.name!r} may not control the session",
                field="token",
                requested=member.name,
                allowed=", ".join(sorted(session.setup.controllers)) or "the session token",
            )
        self.touch(session)
        return session

    def joinable(self, session_id: str, token: str) -> Session:
        """Finds a session for a Join; raises UnknownSession, NoToken or WrongToken."""
        session = self.find(session_id)
        if session.admits(token):
            self.touch(session)
            return session
        return self.owned(session_id, token)

    async def evict(self, request: pb.EvictParticipantRequest, caller: Caller) -> pb.EvictParticipantResponse:
        """Removes a participant from a session."""
        session = self.find(request.session_id)
        reply = await evict(session, request, caller.administrator and not request.token)
        self.touch(session)
        return reply

    async def delete(self, session_id: str, token: str, caller: Caller = ANYBODY) -> None:
        """Closes a session and removes it."""
        session = self.owned(session_id, token, caller)
        session.require("DeleteSession")
        del self._sessions[session_id]
        await session.close()
        if session.meter is not None:
            self.totals.closed(session.meter)
        _log.info("session closed", extra={"session": session.id, "tick": session.tick})
        if session.recording is not None and self.recorder is not None:
            await asyncio.wrap_future(self.recorder.close(session.recording))

    def touch(self, session: Session) -> None:
        """Notes that the session is used now."""
        session.last_used = self.stalls.time()

    async def reap(self, now: float) -> list[str]:
        """Closes sessions that were not used for the lease; ``now`` [s] is monotonic time. Returns their ids."""
        lease = self.config.session_lease
        old = [s for s in self._sessions.values() if lease and not s.occupied and now - s.last_used > lease]
        for session in old:
            await self.delete(session.id, session.token)
        return [s.id for s in old]

    async def reap_for_ever(self) -> None:
        """Reaps at intervals until cancelled."""
        while True:
            await asyncio.sleep(max(0.05, min(self.config.session_lease / 4.0, 30.0)))
            await self.reap(self.stalls.time())

    @property
    def count(self) -> int:
        """Number of open sessions [1]."""
        return len(self._sessions)

    @property
    def in_use(self) -> bool:
        """Whether a participant of any session is connected, or a session was used within the last second."""
        since = self.stalls.time() - _JUST_NOW
        return any(s.connections or s.last_used > since for s in self._sessions.values())

    async def warn_all(self) -> None:
        """Tells every participant that the server is stopping."""
        await asyncio.gather(*(warn(s) for s in self._sessions.values()))

    def end_views(self) -> None:
        """Ends the stream of every viewer."""
        for session in self._sessions.values():
            session.end_views()

    async def close_all(self) -> None:
        """Closes all sessions, including those whose worker does not answer."""
        for session in self._sessions.values():
            session.interrupt()
        for session in list(self._sessions.values()):
            await self.delete(session.id, session.token)

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Reserves room for one more session while it is made; raises Draining or TooManySessions."""
        if self.draining:
            raise errors.Draining("the server is stopping", field="server", allowed="another server")
        if len(self._sessions) + self._making >= self.config.max_sessions:
            raise errors.TooManySessions(
                "too many sessions: delete those that are done (DeleteSession; in Python, `with "
                "client.create_session(...) as session` does), or start the server with a higher --max-sessions",
                field="sessions",
                requested=len(self._sessions) + self._making + 1,
                allowed=f"at most {self.config.max_sessions}",
            )
        self._making += 1
        try:
            yield
        finally:
            self._making -= 1

    async def _record(self, session: Session, origin: pb.Snapshot, asked: pb.Recording | None) -> None:
        """Begins a recording. Raises RecordingUnavailable if a requested or required one cannot be written."""
        if self.recorder is None:
            return
        requested, asked = asked is not None, asked or pb.Recording()
        model = session.setup.model
        try:
            recording = self.recorder.open(session.id, origin.model, model.table, asked.every_ticks)
        except OSError as error:
            session.abandon()
            raise _no_recording(str(error.strerror)) from error
        loop = asyncio.get_running_loop()
        recording.on_failure = lambda: loop.call_soon_threadsafe(self._recording_lost, session, recording)
        session.record_to(recording)
        recording.required = asked.fail_session if asked.HasField("fail_session") else self.config.record_required
        recording.model(described(model, origin.model))
        session.record(pb.EVENT_KIND_STARTED, origin=origin)
        if requested or recording.required:
            await asyncio.wrap_future(self.recorder.begin(recording))
            if recording.failure:
                session.abandon()
                (self.recorder.folder / recording.name).unlink(missing_ok=True)
                raise _no_recording(recording.failure)

    def _recording_lost(self, session: Session, recording: Recording) -> None:
        if session.id not in self._sessions and session.state is not SessionState.CLOSED:
            return  # The session was refused, so its caller gets the error.
        self.totals.lost_recordings += 1
        task = asyncio.get_running_loop().create_task(recording_lost(session, recording))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    def _opened(self, session: Session, caller: Caller) -> pb.CreateSessionResponse:
        session.owner = caller.owner
        self._sessions[session.id] = session
        self.touch(session)
        if session.meter is not None:
            self.totals.opened(session.meter)
        _log.info("session opened", extra={"session": session.id, "model": session.setup.name})
        return pb.CreateSessionResponse(
            session_id=session.id,
            token=session.token,
            join_token=session.join_token,
            epoch=session.epoch,
            tick=session.tick,
            tick_seconds=session.tick_length,
        )


def _no_recording(why: str) -> errors.RecordingUnavailable:
    return errors.RecordingUnavailable(
        f"no recording can be made: {why}", field="recording", allowed="room in the server's folder"
    )


def _summary(session: Session, now: float, own: bool) -> pb.SessionSummary:
    """One entry of the ListSessions reply; ``now`` [s] is monotonic time."""
    return pb.SessionSummary(
        session_id=session.id,
        model=session.setup.name,
        state=pb.SessionState.Name(session.state.value),
        tick=session.tick,
        participants=sorted({*session.joined, *session.expected}),
        connected=session.connections,
        created_unix_ns=session.created_ns,
        idle_seconds=max(0.0, now - session.last_used),
        own=own,
        failure=session.failure,
    )
