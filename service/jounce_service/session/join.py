"""Join: admits a new participant or one that rejoins, and checks its terms."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from jounce.signals import SignalTable
from jounce.values import in_use
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.values import Selection, check, named, select
from jounce_service.lockstep.participant import Columns, Late, Lateness
from jounce_service.server.config import ServerConfig
from jounce_service.session.members import EventSink, Member, Terms, bare
from jounce_service.session.session import Session
from jounce_service.transport import errors

#: Kinds of events that a Join may request; others go to all participants, or only into recordings.
NOTICES: Final = (
    pb.EVENT_KIND_FAILED,
    pb.EVENT_KIND_EVICTED,
    pb.EVENT_KIND_MISSED,
    pb.EVENT_KIND_BARRIER_TIMEOUT,
)


async def join(session: Session, request: pb.Join, event_sink: EventSink) -> tuple[Member, pb.Joined]:
    """Adds a participant, or lets one rejoin. Raises a ServiceError with nothing changed."""
    async with session.exclusive():
        session.require("Join")
        y = session.outputs()
        enter = _rejoin if request.participant_token else _admit
        member = enter(session, request, event_sink)
        return member, pb.Joined(
            epoch=session.epoch,
            tick=member.participant.next_tick,
            clock_tick=session.tick,
            sim_ns=session.sim_ns,
            tick_seconds=session.tick_length,
            inputs=member.inputs.names,
            outputs=member.outputs.names,
            input_values=session.inputs[member.inputs.columns].tolist(),
            output_values=y[member.outputs.columns].tolist(),
            participant_token=member.token,
            request=member.participant.request,
        )


def _admit(session: Session, request: pb.Join, event_sink: EventSink) -> Member:
    terms = terms_of(request, session.table, session.setup.parameters, session.config)
    present = session.member(request.name)
    if request.take_over and not session.holds(request.token):
        raise errors.NoRight(
            "take_over needs the session token", field="take_over", requested=request.name, allowed="the session token"
        )
    if present is not None and present.participant.gone_at is None and not request.take_over:
        raise errors.NameTaken(
            f"a participant named {request.name!r} is connected",
            field="name",
            requested=request.name,
            allowed="a name not connected now, the participant token to rejoin, or take_over with the session token",
        )
    if present is None and len(session.joined) >= session.config.max_participants:
        raise errors.TooManyParticipants(
            "too many participants",
            field="name",
            requested=request.name,
            allowed=f"{session.config.max_participants} participants",
        )
    return session.admit(terms, event_sink)


def _rejoin(session: Session, request: pb.Join, event_sink: EventSink) -> Member:
    member = session.member(request.name)
    if member is None or not secrets.compare_digest(request.participant_token.encode(), member.token.encode()):
        raise errors.WrongToken(
            f"no participant {request.name!r} with that token; its lease may have ended",
            field="participant_token",
            allowed="token of Joined",
        )
    if bare(request) != member.terms:
        raise errors.BadField(
            "a rejoin must have the terms of the first Join",
            field="join",
            requested=request.name,
            allowed="the first Join and the participant token",
        )
    session.rejoin(member, event_sink)
    return member


def terms_of(join: pb.Join, table: SignalTable, parameters: Mapping[str, float], config: ServerConfig) -> Terms:
    """Reads a Join to a session with these parameters; raises a ServiceError that names the field at fault."""
    period = join.period_ticks or 1
    named(join.name)
    _check_notices(join.notices)
    if period > config.max_ticks_per_call:
        raise errors.TooManyTicks(
            f"period {period} ticks is too long",
            field="period_ticks",
            requested=period,
            allowed=f"1 to {config.max_ticks_per_call}",
        )
    if join.phase_ticks >= period:
        raise errors.BadField(
            "the phase is not less than the period",
            field="phase_ticks",
            requested=join.phase_ticks,
            allowed=f"0 to {period - 1}",
        )
    timeout = join.barrier_timeout if join.HasField("barrier_timeout") else config.barrier_timeout
    if not 0.0 <= timeout < math.inf:
        raise errors.BadField(
            f"barrier_timeout {timeout!r} s",
            field="barrier_timeout",
            requested=timeout,
            allowed="0 s (for ever) or more",
        )
    inputs = select(in_use(table, parameters), join.inputs, "input")
    if inputs.parts:
        name = inputs.parts[0].signal.name
        raise errors.BadField(
            f"{name} is one direction",
            field=name,
            requested=inputs.parts[0].name,
            allowed="all of its components, or none",
        )
    outputs = select(table.outputs, join.outputs, "output")
    return Terms(join, inputs, outputs, period, timeout, _lateness(join, inputs, config), _ramps(join, inputs))


def _check_notices(kinds: Sequence[int]) -> None:
    """Raises BadField if a Join requests an event that is not a notice."""
    for kind in kinds:
        if kind not in NOTICES:
            requested = pb.EventKind.Name(kind) if kind in pb.EventKind.values() else kind
            raise errors.BadField(
                "no such notice",
                field="notices",
                requested=requested,
                allowed=", ".join(pb.EventKind.Name(k) for k in NOTICES),
            )


def _lateness(join: pb.Join, inputs: Selection, config: ServerConfig) -> Lateness:
    if join.late not in pb.LatePolicy.values():
        raise errors.BadField("no such policy", field="late", requested=join.late, allowed="0 to 4")
    policy = Late(join.late or Late.BLOCK)
    after = join.late_after if join.HasField("late_after") else config.late_after
    lease = join.lease if join.HasField("lease") else (
        math.inf if policy in (Late.HOLD_LAST, Late.SAFE_VALUE) else 0.0
    )
    if not 0.0 < after < math.inf:
        raise errors.BadField(
            f"late_after {after!r} s", field="late_after", requested=after, allowed="more than 0 s, finite"
        )
    if not lease >= 0.0 or (lease and policy is Late.FAIL):
        raise errors.BadField(
            f"lease {lease!r} s", field="lease", requested=lease, allowed="0 s or more; 0 s with FAIL"
        )
    if join.max_age_ticks and policy is not Late.HOLD_LAST:
        raise errors.BadField(
            "only held inputs have an age",
            field="max_age_ticks",
            requested=join.max_age_ticks,
            allowed="0, or HOLD_LAST",
        )
    safe = np.empty(0)
    if policy is Late.SAFE_VALUE:
        safe = _safe(inputs, join.safe_values)
    elif join.safe_values:
        raise errors.BadField(
            "safe values are of use to SAFE_VALUE only",
            field="safe_values",
            requested=len(join.safe_values),
            allowed="none, or SAFE_VALUE",
        )
    at_release = not join.HasField("late_after") and policy in (Late.HOLD_LAST, Late.SAFE_VALUE)
    return Lateness(policy, after, join.max_age_ticks, safe, lease, at_release)


def _safe(inputs: Selection, values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if len(values) != len(inputs.scalars):
        raise errors.WrongLength(
            f"{len(inputs.scalars)} safe values are due, {len(values)} were given",
            field="safe_values",
            requested=len(values),
            allowed=str(len(inputs.scalars)),
        )
    return check(inputs, values)


def _ramps(join: pb.Join, inputs: Selection) -> Columns:
    chosen = set(select([s for s in inputs.scalars], join.first_order_inputs, "owned input").names)
    for scalar in inputs.scalars:
        if scalar.name in chosen and scalar.signal.type != "Real":
            raise errors.BadField(
                f"{scalar.name} is not a real number", field=scalar.name, requested=scalar.signal.type, allowed="Real"
            )
    return np.array([i for i, s in enumerate(inputs.scalars) if s.name in chosen], dtype=np.intp)
