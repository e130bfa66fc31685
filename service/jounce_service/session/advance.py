"""Advance: sets inputs, advances by exactly n ticks and returns outputs, for sessions without participants."""

from __future__ import annotations

from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.values import check, check_directions
from jounce_service.session.session import Session
from jounce_service.transport import errors


async def advance(session: Session, request: pb.AdvanceRequest) -> pb.AdvanceResponse:
    """Advances completely or not at all; a repeat of the last request number returns the stored reply."""
    async with session.exclusive():
        session.require("Advance")
        names = sorted({*session.joined, *session.expected})
        if names:
            raise errors.ParticipantsPresent(
                f"the session has participants: {', '.join(names)}",
                field="session_id",
                requested=session.id,
                allowed="Lockstep",
            )
        stored = _stored(session, request)
        if stored is not None:
            return stored
        _check_place(session, request)
        inputs = session.select_inputs(request.input_names)
        outputs = session.select_outputs(request.output_names)
        values = check(inputs, request.inputs)
        if inputs.parts:
            whole = session.inputs
            whole[inputs.columns] = values
            check_directions(session.select_inputs(["*"]), whole)
        y = await session.drive(inputs.columns, values, request.n_ticks)
        reply = pb.AdvanceResponse(
            epoch=session.epoch,
            tick=session.tick,
            sim_ns=session.sim_ns,
            outputs=y[outputs.columns].tolist(),
        )
        if request.request:
            session.last_advance = request, reply
        return reply


def _stored(session: Session, request: pb.AdvanceRequest) -> pb.AdvanceResponse | None:
    if not request.request or session.last_advance is None:
        return None
    last, reply = session.last_advance
    if request.request < last.request:
        raise errors.StaleRequest(
            f"request {request.request} does not rise",
            field="request",
            requested=request.request,
            allowed=f"more than {last.request}",
        )
    if request.request > last.request:
        return None
    if request != last:
        raise errors.StaleRequest(
            f"request {request.request} was sent before with different content",
            field="request",
            requested=request.request,
            allowed="a new number",
        )
    if reply.epoch != session.epoch:
        raise _wrong_epoch(session, reply.epoch)
    return reply


def _check_place(session: Session, request: pb.AdvanceRequest) -> None:
    if request.epoch and request.epoch != session.epoch:
        raise _wrong_epoch(session, request.epoch)
    if request.HasField("tick") and request.tick != session.tick:
        raise errors.WrongTick(
            f"the session is at tick {session.tick}, not {request.tick}",
            field="tick",
            requested=request.tick,
            allowed=str(session.tick),
            tick=session.tick,
            epoch=session.epoch,
        )
    if request.n_ticks > session.config.max_ticks_per_call:
        raise errors.TooManyTicks(
            f"{request.n_ticks} ticks in one call are too many",
            field="n_ticks",
            requested=request.n_ticks,
            allowed=f"0 to {session.config.max_ticks_per_call}",
        )
    seconds, most = session.wall_time(request.n_ticks), session.config.max_call_seconds
    if most and seconds > most:
        raise errors.CallTooLong(
            f"{request.n_ticks} ticks at this pace take {seconds:g} s",
            field="n_ticks",
            requested=request.n_ticks,
            allowed=f"{most:g} s in one call",
        )


def _wrong_epoch(session: Session, requested: int) -> errors.WrongEpoch:
    return errors.WrongEpoch(
        f"epoch {requested} is not the session's epoch {session.epoch}",
        field="epoch",
        requested=requested,
        allowed=str(session.epoch),
        tick=session.tick,
        epoch=session.epoch,
    )
