"""The table of transitions, which the state diagram of the docs is drawn from, is what a session does."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from jounce_proto import jounce_pb2 as pb
from jounce_service.session.states import ALLOWED, TRANSITIONS, SessionState

CALLS = ("Advance", "PauseSession", "ResumeSession", "ResetSession", "RestoreSnapshot 0", "RestoreSnapshot 1",
         "DeleteSession")
#: State, and whether the clock has left tick 0.
STARTS = [(SessionState.CREATED, False), (SessionState.RUNNING, True)] + [
    (state, started) for state in (SessionState.PAUSED, SessionState.FAILED) for started in (False, True)]


def session_in(server: Any, state: SessionState, started: bool) -> tuple[Any, list[str]]:
    """A session in that state, and its snapshots of tick 0 and of a later one."""
    session = server.create(limit=0.001 * 10.0)
    kept = [server.call("SaveSnapshot", session).snapshot_id]
    server.advance(session, 1)
    kept.append(server.call("SaveSnapshot", session).snapshot_id)
    if not started:
        server.call("ResetSession", session)
    if state is SessionState.PAUSED:
        server.call("PauseSession", session)
    if state is SessionState.FAILED:
        with pytest.raises(grpc.RpcError):
            server.advance(session, 100, **{"velocity.x": 10.0})
    return session, kept


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("before", "started"), STARTS)
def test_a_session_goes_where_the_table_says_and_nowhere_else(
    server: Any, before: SessionState, call: str, started: bool
) -> None:
    session, kept = session_in(server, before, started)
    assert server.status(session).state == before
    name, _, which = call.partition(" ")
    more = {"snapshot_id": kept[int(which)]} if which else {"n_ticks": 1} if name == "Advance" else {}
    try:
        server.call(name, session, **more)
    except grpc.RpcError:
        assert before not in ALLOWED[name]
        assert server.status(session).state == before
        return
    assert before in ALLOWED[name]
    after = SessionState.CLOSED if name == "DeleteSession" else SessionState(server.status(session).state)
    assert after is before or name in TRANSITIONS[before, after]


def test_every_call_of_the_table_is_allowed_in_the_state_it_leaves() -> None:
    for (before, after), causes in TRANSITIONS.items():
        assert before is not after
        assert all(before in ALLOWED[cause] for cause in causes if cause != "a failure")
    assert pb.SessionState.values()[1:] == list(SessionState)
