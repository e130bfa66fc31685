"""The states of a session, and the table of the calls that each state allows."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from jounce_service.transport.errors import SessionClosed, SessionFailed, WrongState


class SessionState(IntEnum):
    """States of a session; the numbers are those of the wire."""

    CREATED = 1
    RUNNING = 2
    PAUSED = 3
    FAILED = 4
    CLOSED = 5


#: States in which the clock may move, and those in which it may move or is paused.
OPEN: Final = frozenset({SessionState.CREATED, SessionState.RUNNING})
ALIVE: Final = OPEN | {SessionState.PAUSED}
_THERE = ALIVE | {SessionState.FAILED}

#: Call -> states that allow it.
ALLOWED: Final[dict[str, frozenset[SessionState]]] = {
    "GetSession": _THERE,
    "DeleteSession": _THERE,
    "EvictParticipant": _THERE,
    "Advance": OPEN,
    "Join": ALIVE,
    "Step": ALIVE,
    "Sync": ALIVE,
    "Leave": frozenset(SessionState),
    "PauseSession": OPEN,
    "ResumeSession": frozenset({SessionState.PAUSED}),
    "ResetSession": _THERE,
    "SaveSnapshot": ALIVE,
    "RestoreSnapshot": _THERE,
    "DeleteSnapshot": _THERE,
    "DownloadSnapshot": _THERE,
    "UploadSnapshot": _THERE,
    "ForkSession": _THERE,
    "Watch": _THERE,
}


#: (state, next state) -> causes: calls, or texts for causes that are not calls.
TRANSITIONS: Final[dict[tuple[SessionState, SessionState], tuple[str, ...]]] = {
    (SessionState.CREATED, SessionState.RUNNING): ("Advance", "Step", "RestoreSnapshot"),
    (SessionState.CREATED, SessionState.PAUSED): ("PauseSession",),
    (SessionState.RUNNING, SessionState.PAUSED): ("PauseSession",),
    (SessionState.PAUSED, SessionState.RUNNING): ("ResumeSession",),
    (SessionState.PAUSED, SessionState.CREATED): ("ResumeSession",),
    (SessionState.RUNNING, SessionState.CREATED): ("ResetSession", "RestoreSnapshot"),
    (SessionState.FAILED, SessionState.CREATED): ("ResetSession", "RestoreSnapshot"),
    (SessionState.FAILED, SessionState.RUNNING): ("RestoreSnapshot",),
    **{(state, SessionState.FAILED): ("a failure",) for state in sorted(ALIVE)},
    **{(state, SessionState.CLOSED): ("DeleteSession",) for state in sorted(_THERE)},
}


def require(call: str, state: SessionState, why: str = "", reason: str = "") -> None:
    """Raises SessionFailed, SessionClosed or WrongState if the state does not allow the call.

    ``why`` and ``reason`` are the message and the reason of a failed session.
    """
    allowed = ALLOWED[call]
    if state in allowed:
        return
    names = ", ".join(s.name for s in sorted(allowed))
    if state is SessionState.FAILED:
        raise SessionFailed(f"{call}: the session has failed: {why}", field=call, requested=reason, allowed=names)
    if state is SessionState.CLOSED:
        raise SessionClosed(f"{call}: the session was deleted", field=call, requested=state.name, allowed=names)
    raise WrongState(f"{call} is not allowed while {state.name}", field=call, requested=state.name, allowed=names)
