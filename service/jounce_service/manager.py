"""All sessions of a server: made, found, checked for their token, reaped."""

from __future__ import annotations

import asyncio
import secrets
import time

import numpy as np

from jounce_proto import jounce_pb2 as pb
from jounce_service import errors
from jounce_service.config import ServerConfig
from jounce_service.models import Registry
from jounce_service.session import Session
from jounce_service.states import require
from jounce_service.values import check_scalar, parse, scalar_of


class SessionManager:
    """The sessions by id."""

    def __init__(self, registry: Registry, config: ServerConfig) -> None:
        """No sessions yet."""
        self.registry = registry
        self.config = config
        self.draining = False
        self._sessions: dict[str, Session] = {}

    async def create(self, request: pb.CreateSessionRequest) -> pb.CreateSessionResponse:
        """A new session; every name and value is checked before the model is made."""
        if self.draining:
            raise errors.Draining("the server is stopping", field="server", allowed="another server")
        if len(self._sessions) >= self.config.max_sessions:
            raise errors.TooManySessions(
                "too many sessions",
                field="sessions",
                given=len(self._sessions) + 1,
                allowed=str(self.config.max_sessions),
            )
        model = self.registry.get(request.model)
        table = model.table
        parameters = {}
        for name, value in request.parameters.items():
            scalar = scalar_of(table, table.parameters, name, "parameter")
            given = value.text if value.WhichOneof("kind") == "text" else value.number
            parameters[name] = parse(table, scalar, given)
        start = np.array([s.start for s in table.inputs], dtype=np.float64)
        for name, number in request.start_inputs.items():
            scalar = scalar_of(table, table.inputs, name, "input")
            start[scalar.index] = check_scalar(scalar, number)
        expected = list(request.expected_participants)
        if "" in expected or len(set(expected)) != len(expected) or len(expected) > self.config.max_participants:
            raise errors.BadField(
                "expected participants must be distinct names",
                field="expected_participants",
                given=", ".join(expected),
                allowed=f"up to {self.config.max_participants} names",
            )
        session_id = secrets.token_hex(8)
        # Settling to equilibrium may take a while; other sessions go on meanwhile.
        instance = await asyncio.to_thread(model.create, session_id, parameters, dict(request.start_inputs))
        session = Session(
            session_id,
            secrets.token_urlsafe(24),
            table,
            instance,
            self.config,
            start=start,
            expected=expected,
            model=request.model,
        )
        self._sessions[session.id] = session
        self.touch(session)
        return pb.CreateSessionResponse(
            session_id=session.id,
            token=session.token,
            epoch=session.barrier.epoch,
            tick=session.tick,
            tick_seconds=instance.tick,
        )

    def find(self, session_id: str) -> Session:
        """The session of that id; raises UnknownSession."""
        try:
            return self._sessions[session_id]
        except KeyError:
            raise errors.UnknownSession(
                f"no session {session_id!r}",
                field="session_id",
                given=session_id,
                allowed="an id from CreateSession",
            ) from None

    def owned(self, session_id: str, token: str) -> Session:
        """The session of that id, for a call that changes it; raises NoToken or WrongToken."""
        session = self.find(session_id)
        if not token:
            raise errors.NoToken("the call needs the session token", field="token", allowed="token of CreateSession")
        if not secrets.compare_digest(token.encode(), session.token.encode()):
            # The token given is a secret of somebody, so it is not repeated.
            raise errors.WrongToken("the token is not the session's", field="token", allowed="token of CreateSession")
        self.touch(session)
        return session

    async def delete(self, session_id: str, token: str) -> None:
        """Closes a session and forgets it."""
        session = self.owned(session_id, token)
        require("DeleteSession", session.state)
        del self._sessions[session_id]
        # A caller that goes away must not leave the session half closed.
        await asyncio.shield(asyncio.create_task(session.close()))

    def touch(self, session: Session) -> None:
        """Somebody used the session now."""
        session.last_used = time.monotonic()

    async def reap(self, now: float) -> list[str]:
        """Closes sessions that nobody has used for the lease; ``now`` is monotonic time [s]. Their ids."""
        lease = self.config.session_lease
        old = [s for s in self._sessions.values() if lease and not s.occupied and now - s.last_used > lease]
        for session in old:
            await self.delete(session.id, session.token)
        return [s.id for s in old]

    async def reap_for_ever(self) -> None:
        """Reaps now and then, until cancelled."""
        while True:
            await asyncio.sleep(max(0.05, min(self.config.session_lease / 4.0, 30.0)))
            await self.reap(time.monotonic())

    async def close_all(self) -> None:
        """Closes every session."""
        for session in list(self._sessions.values()):
            await self.delete(session.id, session.token)
