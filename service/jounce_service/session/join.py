"""Join: how a participant comes into a session, for the first time or again."""

from __future__ import annotations

import secrets

from jounce_proto import jounce_pb2 as pb
from jounce_service.session.members import EventSink, Member, bare, terms_of
from jounce_service.session.session import Session
from jounce_service.transport import errors


async def join(session: Session, request: pb.Join, event_sink: EventSink) -> tuple[Member, pb.Joined]:
    """Adds a participant, or lets one come back. Raises a ServiceError without a change where it cannot be."""
    async with session.exclusive():
        session.require("Join")
        y = session.instance.get_outputs()
        enter = _rejoin if request.participant_token else _admit
        member = enter(session, request, event_sink)
        session.gone.pop(member.name, None)
        return member, pb.Joined(
            epoch=session.barrier.epoch,
            tick=member.participant.next_tick,
            clock_tick=session.tick,
            sim_ns=session.sim_ns,
            tick_seconds=session.instance.tick_length,
            inputs=member.inputs.names,
            outputs=member.outputs.names,
            input_values=session.barrier.inputs[member.inputs.columns].tolist(),
            output_values=y[member.outputs.columns].tolist(),
            participant_token=member.token,
            request=member.participant.request,
        )


def _admit(session: Session, request: pb.Join, event_sink: EventSink) -> Member:
    terms = terms_of(request, session.table, session.setup.parameters, session.config)
    present = session.members.get(request.name)
    if request.take_over and not session.holds(request.token):
        raise errors.NoRight(
            "take_over needs the session token", field="take_over", given=request.name, allowed="the session token"
        )
    if present is not None and present.participant.gone_at is None and not request.take_over:
        raise errors.NameTaken(
            f"a participant named {request.name!r} is connected",
            field="name",
            given=request.name,
            allowed="a name not connected now, the participant token to rejoin, or take_over with the session token",
        )
    if present is None and len(session.members) >= session.config.max_participants:
        raise errors.TooManyParticipants(
            "too many participants",
            field="name",
            given=request.name,
            allowed=f"{session.config.max_participants} participants",
        )
    terms.check_free(session.barrier)
    if present is not None:
        # Nothing can fail from here on.
        session.evict(request.name, _replaced(present.name))
    member = terms.member(session.barrier, event_sink, session.engine.patience.now())
    session.members[member.name] = member
    return member


def _rejoin(session: Session, request: pb.Join, event_sink: EventSink) -> Member:
    member = session.members.get(request.name)
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
            given=request.name,
            allowed="the first Join and the participant token",
        )
    member.refuse(_replaced(member.name))
    member.event_sink = event_sink
    session.barrier.rejoin(member.participant, session.engine.patience.now())
    return member


def _replaced(name: str) -> errors.StreamReplaced:
    return errors.StreamReplaced(
        f"{name!r} has joined over another stream", field="name", given=name, allowed="that one"
    )
