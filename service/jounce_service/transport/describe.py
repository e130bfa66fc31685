"""Replies of the wire that describe a signal table and the participants of a session."""

from __future__ import annotations

from typing import Any

from jounce import __version__
from jounce.signals import SignalTable
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.models import HostedModel
from jounce_service.lockstep.barrier import Barrier
from jounce_service.lockstep.participant import Participant

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
    """The DescribeModel reply; ``tick_length`` [s] is the model's default."""
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
    """The DescribeModel reply for a hosted model; ``name`` is the name that clients use."""
    reply = describe(model.table, tick_length=model.tick_length, version=__version__)
    reply.model = name
    return reply


def participants(barrier: Barrier, table: SignalTable, now: float) -> list[pb.ParticipantStatus]:
    """Status of every participant joined or expected, sorted by name; ``now`` [s] is the session's time."""
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

