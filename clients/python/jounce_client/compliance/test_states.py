"""The table of calls that each state of a session allows, with one test per cell."""

from __future__ import annotations

import hashlib
import time

import pytest

from jounce_client.compliance.contract import ALLOWED, STATES
from jounce_client.compliance.rig import Server, proper, refusal, wait_until
from jounce_proto import jounce_pb2 as pb

STREAM = ("Join", "Step", "Sync", "Leave")


class Case:
    """A session in a given state, with a participant if the call needs one."""

    def __init__(self, server: Server, call: str, state: str) -> None:
        """Brings a new session into ``state``."""
        self.server, self.call, self.state = server, call, state
        self.session = server.create()
        if "Snapshot" in call or call == "ForkSession":
            self.snapshot = server.save(self.session).snapshot_id
            self.data = server.download(self.session, self.snapshot)
        if state != "CREATED":
            server.advance(self.session)
        if call in ("Step", "Sync", "Leave", "EvictParticipant"):
            self.member = server.member(self.session, "a")
        if state == "PAUSED":
            server.call("PauseSession", self.session)
        if state == "FAILED":
            server.member(self.session, "lost", late=pb.LATE_POLICY_FAIL).call.cancel()
            wait_until(lambda: server.state(self.session) == "FAILED", "a lost participant fails the session")
        if state == "CLOSED":
            server.call("DeleteSession", self.session)
        else:
            assert server.state(self.session) == state

    def stream(self) -> pb.LockstepReply:
        """Makes a call of the stream and returns its reply."""
        if self.call == "Join":
            return self.server.stream().join(self.session, "b")
        if self.call != "Step":
            return self.member.ask(**{self.call.lower(): getattr(pb, self.call)()})
        self.member.deliver()
        if self.state == "PAUSED":
            # The server has taken the Step, which waits.
            time.sleep(0.05)
            self.server.call("ResumeSession", self.session)
        return self.member.read()

    def unary(self) -> None:
        """Makes a unary call; raises if it is refused."""
        if self.call == "UploadSnapshot":
            self.server.upload(self.session, self.data, len(self.data), hashlib.sha256(self.data).digest())
        elif self.call == "DownloadSnapshot":
            assert self.server.download(self.session, self.snapshot) == self.data
        elif self.call == "Watch":
            self._watch()
        elif self.call == "GetSession":
            self.server.status(self.session)
        elif self.call == "ForkSession":
            self.server.kept(self.server.call(self.call, self.session, snapshot_id=self.snapshot))
        elif self.call == "EvictParticipant":
            self.server.call(self.call, self.session, name="a")
        elif self.call in ("RestoreSnapshot", "DeleteSnapshot"):
            self.server.call(self.call, self.session, snapshot_id=self.snapshot)
        else:
            self.server.call(self.call, self.session)

    def _watch(self) -> None:
        # A frame is sent only when the clock moves.
        moves = {"PAUSED": "ResumeSession", "FAILED": "ResetSession"}.get(self.state)
        self.server.watch(self.session, lambda: moves and self.server.call(moves, self.session))


class TestStates:
    """The table ALLOWED of ``contract``."""

    @pytest.mark.parametrize("state", STATES)
    @pytest.mark.parametrize("call", list(ALLOWED))
    def test_a_call_is_served_in_the_states_of_its_row_and_refused_without_a_change_in_all_others(
            self, server: Server, call: str, state: str) -> None:
        case = Case(server, call, state)
        before = None if state == "CLOSED" else server.status(case.session)
        if state in ALLOWED[call]:
            if call in STREAM:
                assert not case.stream().HasField("error")
            else:
                case.unary()
            return
        error = proper(case.stream().error) if call in STREAM else refusal(case.unary)
        if state == "CLOSED":
            # Other calls no longer find the session.
            assert error.reason == ("SESSION_CLOSED" if call in ("Step", "Sync") else "UNKNOWN_SESSION")
        else:
            assert error.reason == ("SESSION_FAILED" if state == "FAILED" else "WRONG_STATE")
            assert server.status(case.session) == before

    def test_a_session_is_created_then_running_and_created_again_after_a_reset(self, server: Server) -> None:
        session = server.create()
        assert server.state(session) == "CREATED"
        server.advance(session)
        assert server.state(session) == "RUNNING"
        server.call("ResetSession", session)
        assert (server.state(session), server.status(session).tick) == ("CREATED", 0)

    def test_a_reset_revives_a_failed_session(self, server: Server) -> None:
        case = Case(server, "ResetSession", "FAILED")
        assert server.status(case.session).failure_reason == "PARTICIPANT_LOST"
        case.unary()
        assert server.advance(case.session, 2).tick == 2
        assert server.status(case.session).failure == ""
