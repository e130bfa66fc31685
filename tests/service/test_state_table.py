"""One test per row of the state table, each against a real server."""

from __future__ import annotations

import time
from typing import Any

import grpc
import pytest

from jounce_proto import jounce_pb2 as pb
from jounce_service.session.states import ALLOWED, SessionState

CREATED, RUNNING, PAUSED, FAILED, CLOSED = SessionState
STATE_REASONS = {"WRONG_STATE", "SESSION_FAILED", "SESSION_CLOSED"}


class Case:
    """A session in some state, with a participant where the call needs one."""

    def __init__(self, server: Any, state: SessionState, joined: bool) -> None:
        self.server = server
        self.session = server.create(limit=0.005)
        self.snapshot = server.call("SaveSnapshot", self.session).snapshot_id
        self.a = server.member(self.session, "a", inputs=["velocity.x"])
        if state is not CREATED:
            self.a.step(1.0)
        if state is FAILED:
            self.a.step(10.0)
        if not joined:
            self.a.ask(leave=pb.Leave())
        if state is PAUSED:
            server.call("PauseSession", self.session)
        if state is CLOSED:
            server.call("DeleteSession", self.session)
        else:
            assert server.status(self.session).state == state

    def lockstep(self, call: str) -> pb.ErrorInfo | None:
        if call == "Join":
            stream = self.server.member(self.session, "b")
            return None if hasattr(stream, "joined") else stream.join(self.session, "b").error
        if call == "Step":
            self.a.deliver(0.0)
            time.sleep(0.05)
            if any(self.server.server.manager._sessions) and self.server.status(self.session).state == PAUSED:
                self.server.call("ResumeSession", self.session)
            reply = self.a.read()
        else:
            reply = self.a.ask(**{call.lower(): getattr(pb, call)()})
        return reply.error if reply.HasField("error") else None

    def unary(self, call: str, info: Any) -> pb.ErrorInfo | None:
        named = {"session_id": self.session.session_id, "token": self.session.token}
        if call in ("RestoreSnapshot", "DeleteSnapshot", "DownloadSnapshot", "ForkSession"):
            named["snapshot_id"] = self.snapshot
        if call in ("GetSession", "Watch"):
            del named["token"]
        if call == "EvictParticipant":
            named["name"] = "a"
        request = getattr(pb, f"{call}Request")(**named)
        try:
            if call == "UploadSnapshot":
                self.server.stub.UploadSnapshot(iter([request]))
            elif call == "DownloadSnapshot":
                assert next(self.server.stub.DownloadSnapshot(request)).data.startswith(b"JNCS")
            elif call == "Watch":
                return self.watch(request, info)
            else:
                getattr(self.server.stub, call)(request)
        except grpc.RpcError as error:
            found: pb.ErrorInfo = info(error)
            return found
        return None

    def watch(self, request: pb.WatchRequest, info: Any) -> pb.ErrorInfo | None:
        frames = self.server.stub.Watch(request)
        live = self.server.server.manager._sessions.get(request.session_id)
        end = time.monotonic() + 5.0
        while live is not None and not len(live._viewers) and time.monotonic() < end:
            time.sleep(0.005)
        if live is not None and len(live._viewers):
            frames.cancel()
            return None
        with pytest.raises(grpc.RpcError) as caught:
            next(frames)
        found: pb.ErrorInfo = info(caught.value)
        return found


@pytest.mark.parametrize("state", list(SessionState), ids=lambda s: s.name)
@pytest.mark.parametrize("call", list(ALLOWED))
def test_a_call_is_served_in_the_states_of_its_row_and_refused_in_all_others(server: Any, info: Any, call: str,
                                                                            state: SessionState) -> None:
    case = Case(server, state, joined=call in ("Step", "Sync", "Leave", "Join", "EvictParticipant"))
    stream = call in ("Join", "Step", "Sync", "Leave")
    error = case.lockstep(call) if stream else case.unary(call, info)
    if state in ALLOWED[call]:
        assert error is None or (call, error.reason) == ("UploadSnapshot", "SNAPSHOT_CORRUPT"), error
    elif state is CLOSED and (not stream or call == "Join"):
        assert error is not None
        assert error.reason == "UNKNOWN_SESSION"
    else:
        assert error is not None
        assert (error.reason in STATE_REASONS, error.code) == (True, grpc.StatusCode.FAILED_PRECONDITION.value[0])
