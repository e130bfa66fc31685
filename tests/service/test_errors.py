"""The one table from exception to status: complete, and as the design lists it."""

from __future__ import annotations

import grpc
import pytest

from jounce_proto import jounce_pb2 as pb
from jounce_service.session.states import ALLOWED, SessionState, require
from jounce_service.transport import errors
from jounce_service.transport.errors import ServiceError, error_info, status

WANTED = {
    "BAD_FIELD": 3, "UNKNOWN_SIGNAL": 3, "WRONG_LENGTH": 3, "NOT_FINITE": 3, "BAD_PARAMETERS": 3,
    "INPUT_OUT_OF_RANGE": 11, "TOO_MANY_TICKS": 11, "UNKNOWN_MODEL": 5, "MODEL_UNAVAILABLE": 9, "UNKNOWN_SESSION": 5,
    "INPUT_OWNED": 6,
    "UNKNOWN_PARTICIPANT": 5, "EVICTED": 9,
    "NAME_TAKEN": 6, "WRONG_TICK": 10, "WRONG_EPOCH": 10, "STALE_REQUEST": 10, "STEP_PENDING": 10, "WRONG_STATE": 9,
    "SESSION_FAILED": 9, "SESSION_CLOSED": 9, "NOT_JOINED": 9, "ALREADY_JOINED": 9, "PARTICIPANTS_PRESENT": 9,
    "TOO_MANY_SESSIONS": 8, "TOO_MANY_PARTICIPANTS": 8, "BARRIER_TIMEOUT": 4, "NO_TOKEN": 16, "WRONG_TOKEN": 7,
    "DRAINING": 14, "SOLVER_FAILED": 13, "UNKNOWN_SNAPSHOT": 5, "TOO_LATE": 10, "STREAM_REPLACED": 9, "NO_RIGHT": 7,
    "TOO_MANY_SNAPSHOTS": 8, "TOO_MANY_VIEWERS": 8, "SNAPSHOT_CORRUPT": 15, "SNAPSHOT_FOREIGN": 15,
    "TOO_SLOW": 4, "CALL_TOO_LONG": 4, "NOT_AUTHENTICATED": 16,
    "PARTICIPANT_LATE": 4, "PARTICIPANT_LOST": 4, "HELD_TOO_LONG": 4, "OVERRUN": 4,
    "RECORDING_UNAVAILABLE": 9, "NO_SNAPSHOTS": 12, "WORKER_LOST": 13, "RECORDING_LOST": 15,
}


@pytest.mark.parametrize("kind", list(errors.TABLE), ids=lambda k: k.__name__)
def test_each_error_has_the_status_and_reason_that_programs_rely_on(kind: type[ServiceError]) -> None:
    error = kind("it is so", field="f", requested=1.5, allowed="a", missing=["b"], tick=7, epoch=2)
    info = error_info(error)
    assert WANTED[info.reason] == info.code == status(error).value[0]
    assert pb.ErrorInfo.FromString(info.SerializeToString()) == pb.ErrorInfo(
        reason=info.reason, field="f", given="1.5", allowed="a", message="it is so", code=info.code, missing=["b"],
        expected_tick=7, expected_epoch=2)


def test_a_refusal_of_something_very_long_is_short_enough_to_arrive() -> None:
    info = error_info(errors.UnknownModel("no model " + "\u20ac" * 9000, field="m" * 9000, requested="\u20ac" * 9000))
    assert info.given == "\u20ac" * 333 + "... (27000 bytes)" and info.message.startswith("no model \u20ac")
    assert info.ByteSize() < 3200
    exact = "x" * errors.LONGEST
    assert error_info(errors.UnknownModel(exact, requested=exact)).given == exact


def test_every_exception_of_the_tree_is_in_the_table_once() -> None:
    assert set(ServiceError.__subclasses__()) == set(errors.TABLE)
    assert sorted(reason for _, reason in errors.TABLE.values()) == sorted(WANTED)
    assert all(isinstance(code, grpc.StatusCode) for code, _ in errors.TABLE.values())


@pytest.mark.parametrize("call", list(ALLOWED))
@pytest.mark.parametrize("state", list(SessionState))
def test_a_call_that_the_state_does_not_allow_says_why(call: str, state: SessionState) -> None:
    if state in ALLOWED[call]:
        require(call, state)
        return
    with pytest.raises(ServiceError) as caught:
        require(call, state, "the wheel came off")
    assert status(caught.value) is grpc.StatusCode.FAILED_PRECONDITION
    assert ("the wheel came off" in str(caught.value)) == (state is SessionState.FAILED)
