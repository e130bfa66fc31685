"""The tables of the contract, which docs/service.md shows as well; a test compares them with the server's code."""

from __future__ import annotations

from typing import Final

#: States of a session, in the order of their numbers on the wire (1 ...).
STATES: Final = ("CREATED", "RUNNING", "PAUSED", "FAILED", "CLOSED")
_ALIVE: Final = "CREATED RUNNING PAUSED"
_THERE: Final = f"{_ALIVE} FAILED"

#: Call -> states that allow it.
ALLOWED: Final[dict[str, frozenset[str]]] = {call: frozenset(states.split()) for call, states in {
    "GetSession": _THERE,
    "DeleteSession": _THERE,
    "EvictParticipant": _THERE,
    "Advance": "CREATED RUNNING",
    "Join": _ALIVE,
    "Step": _ALIVE,
    "Sync": _ALIVE,
    "Leave": " ".join(STATES),
    "PauseSession": "CREATED RUNNING",
    "ResumeSession": "PAUSED",
    "ResetSession": _THERE,
    "SaveSnapshot": _ALIVE,
    "RestoreSnapshot": _THERE,
    "DeleteSnapshot": _THERE,
    "DownloadSnapshot": _THERE,
    "UploadSnapshot": _THERE,
    "ForkSession": _THERE,
    "Watch": _THERE,
}.items()}

#: Reason of a refusal -> name of its gRPC status.
STATUS: Final[dict[str, str]] = {reason: code for code, reasons in {
    "INVALID_ARGUMENT": "BAD_FIELD UNKNOWN_SIGNAL WRONG_LENGTH NOT_FINITE BAD_PARAMETERS",
    "OUT_OF_RANGE": "INPUT_OUT_OF_RANGE TOO_MANY_TICKS",
    "NOT_FOUND": "UNKNOWN_MODEL UNKNOWN_SESSION UNKNOWN_SNAPSHOT UNKNOWN_PARTICIPANT",
    "ALREADY_EXISTS": "INPUT_OWNED NAME_TAKEN",
    "ABORTED": "WRONG_TICK TOO_LATE WRONG_EPOCH STALE_REQUEST STEP_PENDING",
    "FAILED_PRECONDITION": "WRONG_STATE SESSION_FAILED SESSION_CLOSED NOT_JOINED ALREADY_JOINED STREAM_REPLACED "
                           "EVICTED PARTICIPANTS_PRESENT MODEL_UNAVAILABLE RECORDING_UNAVAILABLE",
    "RESOURCE_EXHAUSTED": "TOO_MANY_SESSIONS TOO_MANY_PARTICIPANTS TOO_MANY_SNAPSHOTS TOO_MANY_VIEWERS",
    "DATA_LOSS": "SNAPSHOT_CORRUPT SNAPSHOT_FOREIGN RECORDING_LOST",
    "DEADLINE_EXCEEDED": "BARRIER_TIMEOUT PARTICIPANT_LATE PARTICIPANT_LOST HELD_TOO_LONG OVERRUN TOO_SLOW "
                         "CALL_TOO_LONG",
    "UNAUTHENTICATED": "NOT_AUTHENTICATED NO_TOKEN",
    "PERMISSION_DENIED": "WRONG_TOKEN NO_RIGHT",
    "UNAVAILABLE": "DRAINING",
    "INTERNAL": "SOLVER_FAILED WORKER_LOST",
    "UNIMPLEMENTED": "NO_SNAPSHOTS",
}.items() for reason in reasons.split()}
