"""One exception tree, and the one table from exception to gRPC status and reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import grpc

from jounce_proto import jounce_pb2 as pb

#: Trailing metadata key of the serialised ErrorInfo on unary calls.
METADATA_KEY: Final = "jounce-error-bin"
#: Longest text of an ErrorInfo [bytes].
LONGEST: Final = 1000


class ServiceError(Exception):
    """A refused request; nothing was applied.

    ``field`` names the field at fault, ``requested`` is its value and ``allowed`` says what is accepted.
    """

    def __init__(
        self,
        message: str,
        *,
        field: str = "",
        requested: object = "",
        allowed: str = "",
        missing: Iterable[str] = (),
        tick: int = 0,
        epoch: int = 0,
        done: int = 0,
    ) -> None:
        """``tick`` and ``epoch`` are those that the session expects in the sender's next message.

        ``done`` is the number of ticks of a move that the model completed before it failed.
        """
        super().__init__(message)
        self.message = message
        self.field = field
        self.requested = str(requested)
        self.allowed = allowed
        self.missing = tuple(missing)
        self.tick = tick
        self.epoch = epoch
        self.done = done

    def with_message(self, message: str) -> ServiceError:
        """A copy with another message. Raising one exception object repeatedly would grow its traceback."""
        return type(self)(
            message,
            field=self.field,
            requested=self.requested,
            allowed=self.allowed,
            missing=self.missing,
            tick=self.tick,
            epoch=self.epoch,
            done=self.done,
        )


class BadField(ServiceError):
    """A field has a value that is never valid."""


class UnknownSignal(ServiceError):
    """The model has no signal of that name and causality."""


class WrongLength(ServiceError):
    """A vector of values does not have as many values as there are names."""


class NotFinite(ServiceError):
    """A value is NaN or infinite."""


class BadParameters(ServiceError):
    """The model refused its parameters or start values."""


class InputOutOfRange(ServiceError):
    """A value is outside the signal's bounds."""


class TooManyTicks(ServiceError):
    """A call asks for more ticks than one call may have."""


class UnknownModel(ServiceError):
    """The server hosts no model of that name."""


class ModelUnavailable(ServiceError):
    """The model is hosted but could not be opened, for example because its library cannot be built."""


class UnknownSession(ServiceError):
    """The server has no session of that id."""


class UnknownSnapshot(ServiceError):
    """The session keeps no snapshot of that id."""


class InputOwned(ServiceError):
    """Another participant owns the input."""


class NameTaken(ServiceError):
    """A participant of that name is connected."""


class UnknownParticipant(ServiceError):
    """The session has no participant of that name."""


class Evicted(ServiceError):
    """The participant was evicted from the session."""


class WrongTick(ServiceError):
    """The inputs are for another tick than the one that is due."""


class WrongEpoch(ServiceError):
    """The message belongs to another epoch."""


class StaleRequest(ServiceError):
    """The request number does not rise, or is repeated with different content."""


class StepPending(ServiceError):
    """An earlier Step still waits for its reply; only that Step may be repeated."""


class TooLate(ServiceError):
    """The tick has passed without the sender's inputs; Sync gives the state to go on from."""


class WrongState(ServiceError):
    """The session's state does not allow the call."""


class SessionFailed(ServiceError):
    """The solver failed in an earlier call."""


class SessionClosed(ServiceError):
    """The session was deleted."""


class NotJoined(ServiceError):
    """The stream has not joined a session."""


class AlreadyJoined(ServiceError):
    """The stream has joined a session already."""


class StreamReplaced(ServiceError):
    """The participant takes part over another stream, or its lease has ended."""


class ParticipantsPresent(ServiceError):
    """The call is Advance, which is for sessions without participants."""


class TooManySessions(ServiceError):
    """The cap on sessions is reached."""


class TooManyParticipants(ServiceError):
    """The cap on participants is reached."""


class TooManySnapshots(ServiceError):
    """The cap on a session's snapshots, or on their bytes, is reached."""


class TooManyViewers(ServiceError):
    """The cap on a session's viewers is reached."""


class SnapshotCorrupt(ServiceError):
    """The bytes do not match the snapshot's length and hash."""


class SnapshotForeign(ServiceError):
    """The snapshot is of another model or build."""


class NoSnapshots(ServiceError):
    """The FMU cannot save its state."""


class RecordingUnavailable(ServiceError):
    """A recording was asked for and cannot be made."""


class RecordingLost(ServiceError):
    """The recording ended and the session was created with recording required; the session has failed."""


class BarrierTimeout(ServiceError):
    """Other participants did not deliver in time; the sender's delivery stands, and a repeated Step waits again."""


class ParticipantLate(ServiceError):
    """A participant whose policy is FAIL was late; the session has failed."""


class ParticipantLost(ServiceError):
    """The connection of a participant whose policy is FAIL has gone; the session has failed."""


class HeldTooLong(ServiceError):
    """The inputs of a participant were held for longer than its greatest age; the session has failed."""


class Overrun(ServiceError):
    """A tick was late in a session whose overrun policy is FAIL; the session has failed."""


class TooSlow(ServiceError):
    """A stream did not join in time, or the next piece of an upload did not come in time."""


class CallTooLong(ServiceError):
    """The call takes more wall-clock time than one call may; the session is unchanged."""


class NotAuthenticated(ServiceError):
    """The call has no bearer token that the server knows."""


class NoToken(ServiceError):
    """The call needs the session token."""


class WrongToken(ServiceError):
    """The token is not the session's."""


class NoRight(ServiceError):
    """The caller may not do this: it is not the session's owner or controller, or it has only the join token."""


class Draining(ServiceError):
    """The server is stopping."""


class SolverFailed(ServiceError):
    """The model failed in this call."""


class WorkerLost(ServiceError):
    """The worker process of the model has died, or took too long and was killed; the session has failed."""


#: Errors after which the session is FAILED.
FATAL: Final = (SolverFailed, WorkerLost, ParticipantLate, ParticipantLost, HeldTooLong, Overrun)

_S = grpc.StatusCode

#: Exception -> (gRPC status, reason on the wire). The reasons are part of the protocol and do not change.
TABLE: Final[dict[type[ServiceError], tuple[grpc.StatusCode, str]]] = {
    BadField: (_S.INVALID_ARGUMENT, "BAD_FIELD"),
    UnknownSignal: (_S.INVALID_ARGUMENT, "UNKNOWN_SIGNAL"),
    WrongLength: (_S.INVALID_ARGUMENT, "WRONG_LENGTH"),
    NotFinite: (_S.INVALID_ARGUMENT, "NOT_FINITE"),
    BadParameters: (_S.INVALID_ARGUMENT, "BAD_PARAMETERS"),
    InputOutOfRange: (_S.OUT_OF_RANGE, "INPUT_OUT_OF_RANGE"),
    TooManyTicks: (_S.OUT_OF_RANGE, "TOO_MANY_TICKS"),
    UnknownModel: (_S.NOT_FOUND, "UNKNOWN_MODEL"),
    ModelUnavailable: (_S.FAILED_PRECONDITION, "MODEL_UNAVAILABLE"),
    UnknownSession: (_S.NOT_FOUND, "UNKNOWN_SESSION"),
    UnknownSnapshot: (_S.NOT_FOUND, "UNKNOWN_SNAPSHOT"),
    InputOwned: (_S.ALREADY_EXISTS, "INPUT_OWNED"),
    NameTaken: (_S.ALREADY_EXISTS, "NAME_TAKEN"),
    UnknownParticipant: (_S.NOT_FOUND, "UNKNOWN_PARTICIPANT"),
    WrongTick: (_S.ABORTED, "WRONG_TICK"),
    TooLate: (_S.ABORTED, "TOO_LATE"),
    WrongEpoch: (_S.ABORTED, "WRONG_EPOCH"),
    StaleRequest: (_S.ABORTED, "STALE_REQUEST"),
    StepPending: (_S.ABORTED, "STEP_PENDING"),
    WrongState: (_S.FAILED_PRECONDITION, "WRONG_STATE"),
    SessionFailed: (_S.FAILED_PRECONDITION, "SESSION_FAILED"),
    SessionClosed: (_S.FAILED_PRECONDITION, "SESSION_CLOSED"),
    NotJoined: (_S.FAILED_PRECONDITION, "NOT_JOINED"),
    AlreadyJoined: (_S.FAILED_PRECONDITION, "ALREADY_JOINED"),
    StreamReplaced: (_S.FAILED_PRECONDITION, "STREAM_REPLACED"),
    Evicted: (_S.FAILED_PRECONDITION, "EVICTED"),
    ParticipantsPresent: (_S.FAILED_PRECONDITION, "PARTICIPANTS_PRESENT"),
    TooManySessions: (_S.RESOURCE_EXHAUSTED, "TOO_MANY_SESSIONS"),
    TooManyParticipants: (_S.RESOURCE_EXHAUSTED, "TOO_MANY_PARTICIPANTS"),
    TooManySnapshots: (_S.RESOURCE_EXHAUSTED, "TOO_MANY_SNAPSHOTS"),
    TooManyViewers: (_S.RESOURCE_EXHAUSTED, "TOO_MANY_VIEWERS"),
    SnapshotCorrupt: (_S.DATA_LOSS, "SNAPSHOT_CORRUPT"),
    SnapshotForeign: (_S.DATA_LOSS, "SNAPSHOT_FOREIGN"),
    RecordingLost: (_S.DATA_LOSS, "RECORDING_LOST"),
    NoSnapshots: (_S.UNIMPLEMENTED, "NO_SNAPSHOTS"),
    RecordingUnavailable: (_S.FAILED_PRECONDITION, "RECORDING_UNAVAILABLE"),
    BarrierTimeout: (_S.DEADLINE_EXCEEDED, "BARRIER_TIMEOUT"),
    ParticipantLate: (_S.DEADLINE_EXCEEDED, "PARTICIPANT_LATE"),
    ParticipantLost: (_S.DEADLINE_EXCEEDED, "PARTICIPANT_LOST"),
    HeldTooLong: (_S.DEADLINE_EXCEEDED, "HELD_TOO_LONG"),
    Overrun: (_S.DEADLINE_EXCEEDED, "OVERRUN"),
    TooSlow: (_S.DEADLINE_EXCEEDED, "TOO_SLOW"),
    CallTooLong: (_S.DEADLINE_EXCEEDED, "CALL_TOO_LONG"),
    NotAuthenticated: (_S.UNAUTHENTICATED, "NOT_AUTHENTICATED"),
    NoToken: (_S.UNAUTHENTICATED, "NO_TOKEN"),
    WrongToken: (_S.PERMISSION_DENIED, "WRONG_TOKEN"),
    NoRight: (_S.PERMISSION_DENIED, "NO_RIGHT"),
    Draining: (_S.UNAVAILABLE, "DRAINING"),
    SolverFailed: (_S.INTERNAL, "SOLVER_FAILED"),
    WorkerLost: (_S.INTERNAL, "WORKER_LOST"),
}


def status(error: ServiceError) -> grpc.StatusCode:
    """gRPC status of an error."""
    return TABLE[type(error)][0]


def error_info(error: ServiceError) -> pb.ErrorInfo:
    """The wire form of an error."""
    code, reason = TABLE[type(error)]
    return pb.ErrorInfo(
        reason=reason,
        field=_short(error.field),
        given=_short(error.requested),
        allowed=_short(error.allowed),
        message=_short(error.message),
        code=code.value[0],
        missing=error.missing,
        expected_tick=error.tick,
        expected_epoch=error.epoch,
    )


def _short(text: str) -> str:
    """The text, cut to LONGEST bytes: a text may hold names of any length, and gRPC limits metadata to 16 kB."""
    data = text.encode()
    return text if len(data) <= LONGEST else f"{data[:LONGEST].decode(errors='ignore')}... ({len(data)} bytes)"
