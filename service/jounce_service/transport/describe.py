"""The signal table and a session's status on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jounce import __version__
from jounce.signals import SignalTable
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.models import HostedModel
from jounce_service.lockstep.barrier import Barrier
from jounce_service.lockstep.participant import Participant

if TYPE_CHECKING:
    from jounce_service.session.session import Session

_CAUSALITY = {"input": pb.CAUSALITY_INPUT, "output": pb.CAUSALITY_OUTPUT, "parameter": pb.CAUSALITY_PARAMETER}
_TYPE = {
    "Real": pb.SIGNAL_TYPE_REAL,
    "Integer": pb.SIGNAL_TYPE_INTEGER,
    "Boolean": pb.SIGNAL_TYPE_BOOLEAN,
    "Enumeration": pb.SIGNAL_TYPE_ENUMERATION,
}
_VARIABILITY = {
    "continuous": pb.VARIABILITY_CONTINUOUS,
    "discrete": pb.VARIABILITY_DISCRETE,
    "fixed": pb.VARIABILITY_FIXED,
    "tunable": pb.VARIABILITY_TUNABLE,
}


def describe(table: SignalTable, *, tick_length: float, version: str) -> pb.DescribeModelResponse:
    """The DescribeModel reply; ``tick_length`` is the default [s]."""
    reply = pb.DescribeModelResponse(model=table.name, server_version=version, tick_seconds=tick_length)
    scalars = iter(table.scalars)
    for signal in table.signals:
        parts = [next(scalars) for _ in signal.components]
        reply.signals.append(
            pb.Signal(
                name=signal.name,
                causality=_CAUSALITY[signal.causality],
                type=_TYPE[signal.type],
                unit=signal.unit,
                frame=signal.frame,
                shape=signal.shape,
                components=signal.components,
                first_index=parts[0].index,
                first_value_reference=parts[0].value_reference,
                start=[p.start for p in parts],
                minimum=signal.minimum,
                maximum=signal.maximum,
                nominal=signal.nominal,
                variability=_VARIABILITY[signal.variability],
                items=signal.items,
                description=signal.description,
            )
        )
    return reply


def described(model: HostedModel, name: str) -> pb.DescribeModelResponse:
    """The same for a hosted model, under the name by which clients ask for it."""
    reply = describe(model.table, tick_length=model.tick_length, version=__version__)
    reply.model = name
    return reply


def status(session: Session) -> pb.GetSessionResponse:
    """Where the session stands."""
    session.require("GetSession")
    return pb.GetSessionResponse(
        session_id=session.id,
        model=session.setup.name,
        state=pb.SessionState.Name(session.state.value),
        epoch=session.barrier.epoch,
        tick=session.tick,
        sim_ns=session.sim_ns,
        tick_seconds=session.instance.tick_length,
        participants=participants(session.barrier, session.table, session.engine.patience.now()),
        failure=session.failure,
        failure_reason=session.failure_reason,
        pacing=None if session.engine.pacer is None else session.engine.pacer.status(),
        frames_dropped=session.viewers.dropped,
        evictions=session.evictions,
        stalls=session.engine.stalls.count - session.stalls_before[0],
        stalled_seconds=session.engine.stalls.seconds - session.stalls_before[1],
        recording=None if session.engine.recording is None else session.engine.recording.status(),
    )


def summary(session: Session, now: float, own: bool) -> pb.SessionSummary:
    """The session in short; ``now`` [s] is monotonic time."""
    return pb.SessionSummary(
        session_id=session.id,
        model=session.setup.name,
        state=pb.SessionState.Name(session.state.value),
        tick=session.tick,
        participants=sorted(session.members.keys() | session.barrier.expected),
        connected=sum(m.participant.gone_at is None for m in session.members.values()),
        created_unix_ns=session.created_ns,
        idle_seconds=max(0.0, now - session.last_used),
        own=own,
        failure=session.failure,
    )


def participants(barrier: Barrier, table: SignalTable, now: float) -> list[pb.ParticipantStatus]:
    """Status of everyone joined or expected, by name; ``now`` [s] is the session's time."""
    missing = set(barrier.missing(now))
    found = []
    for name in sorted(barrier.participants.keys() | barrier.expected):
        member = barrier.participants.get(name)
        known = {} if member is None else _known(member, table)
        one = pb.ParticipantStatus(name=name, expected=name in barrier.expected, missing=name in missing, **known)
        found.append(one)
    return found


def _known(member: Participant, table: SignalTable) -> dict[str, Any]:
    return {
        "joined": member.gone_at is None,
        "due_tick": member.due,
        "period_ticks": member.period,
        "inputs": [table.inputs[column].name for column in member.columns.tolist()],
        "late": member.lateness.policy.value,
        "missed": member.missed,
    }

