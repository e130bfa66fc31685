"""Calls that act between two ticks: pause, resume, reset, snapshots.

Every participant gets the event before the next tick.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from jounce_proto import jounce_pb2 as pb
from jounce_service.lockstep.participant import Participant
from jounce_service.session.session import Session
from jounce_service.session.session_spec import Setup
from jounce_service.session.snapshots import pack, unpack
from jounce_service.session.states import SessionState
from jounce_service.transport import errors

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


async def pause(session: Session) -> pb.PauseSessionResponse:
    """Pauses the clock, the leases and the timers."""
    async with session.exclusive():
        session.require("PauseSession")
        session.state = SessionState.PAUSED
        session.engine.stop_time()
        session.record(pb.EVENT_KIND_PAUSED)
        await _tell(session, pb.EVENT_KIND_PAUSED)
        return pb.PauseSessionResponse(epoch=session.barrier.epoch, tick=session.tick)


async def resume(session: Session) -> pb.ResumeSessionResponse:
    """The clock may go on."""
    async with session.exclusive():
        session.require("ResumeSession")
        await _tell(session, pb.EVENT_KIND_RESUMED)
        session.state = SessionState.RUNNING if session.tick else SessionState.CREATED
        session.engine.let_time_go()
        session.record(pb.EVENT_KIND_RESUMED)
        return pb.ResumeSessionResponse(epoch=session.barrier.epoch, tick=session.tick)


async def evict(session: Session, request: pb.EvictParticipantRequest, anyone: bool) -> pb.EvictParticipantResponse:
    """Takes a participant out; ``anyone`` is an administrator, who needs no token."""
    async with session.exclusive():
        session.require("EvictParticipant")
        if not anyone:
            # Here, since a participant may come and go while the call waits.
            _check_may_evict(session, request.token, request.name)
        expected = request.name in session.barrier.expected
        if request.name in session.members:
            session.evict(
                request.name,
                errors.Evicted(f"{request.name!r} was evicted", field="name", given=request.name, allowed="a new Join"),
            )
        elif not (expected and request.release):
            raise errors.UnknownParticipant(
                f"{request.name!r} is expected and has not joined" if expected else f"no participant {request.name!r}",
                field="name",
                given=request.name,
                allowed="release, for one that is only expected"
                if expected
                else ", ".join(sorted(session.members)) or "none: nobody has joined",
            )
        if request.release:
            session.barrier.release(request.name)
        return pb.EvictParticipantResponse(tick=session.tick)


def _check_may_evict(session: Session, token: str, name: str) -> None:
    if not token:
        raise errors.NoToken("the call needs a token", field="token", allowed="the session's or the participant's")
    if session.holds(token):
        return
    member = session.member_with(token)
    if member is None:
        raise errors.WrongToken(
            "the token is neither the session's nor the participant's",
            field="token",
            allowed="the session's or the participant's",
        )
    if member.name != name:
        raise errors.NoRight(
            f"the token is that of {member.name!r}", field="token", given=member.name, allowed="the session token"
        )


async def warn(session: Session) -> None:
    """Tells every participant that the server is stopping; the session goes on."""
    async with session.exclusive():
        await _tell(session, pb.EVENT_KIND_DRAINING)


async def recording_lost(session: Session) -> None:
    """The recording has ended before its session: everyone is told, or the session fails where it is required."""
    recording = session.engine.recording
    assert recording is not None
    facts = {"session": session.id, "recording": recording.name, "text": recording.failure}
    _log.warning("recording ended before its session", extra=facts)
    async with session.exclusive():
        if session.state in (SessionState.FAILED, SessionState.CLOSED):
            return
        if recording.required:
            session.fail(
                errors.RecordingLost(
                    f"the recording ended: {recording.failure}",
                    field="recording",
                    given=recording.name,
                    allowed="a recording as long as the session",
                )
            )
        else:
            await _tell(session, pb.EVENT_KIND_RECORDING_ENDED)


async def reset(session: Session, request: pb.ResetSessionRequest) -> pb.ResetSessionResponse:
    """A new instance at tick 0; where it cannot be made, nothing changes."""
    async with session.exclusive():
        session.require("ResetSession")
        setup = session.setup.changed(request.parameters, request.start_inputs)
        instance = await asyncio.to_thread(setup.instance, session.id)
        session.replace(instance, setup, setup.start, 0)
        session.record(pb.EVENT_KIND_RESET, origin=start_of(session))
        await _tell_new_epoch(session, pb.EVENT_KIND_RESET, "reset")
        return pb.ResetSessionResponse(epoch=session.barrier.epoch, tick=session.tick)


async def save(session: Session) -> bytes:
    """Everything that the future depends on, as bytes."""
    async with session.exclusive():
        session.require("SaveSnapshot")
        return pack(await _snapshot(session))


async def save_and_keep(session: Session) -> pb.SaveSnapshotResponse:
    """Keeps a snapshot in the session."""
    async with session.exclusive():
        session.require("SaveSnapshot")
        data = pack(await _snapshot(session))
        return pb.SaveSnapshotResponse(
            snapshot_id=session.snapshots.keep(data),
            tick=session.tick,
            size=len(data),
            sha256=hashlib.sha256(data).digest(),
        )


async def restore(session: Session, snapshot_id: str) -> pb.RestoreSnapshotResponse:
    """Back to a snapshot; one that the model refuses changes nothing."""
    async with session.exclusive():
        session.require("RestoreSnapshot")
        snapshot = read(session.setup, session.snapshots.find(snapshot_id))
        _check_dues(session, snapshot)
        await _ask(session, session.instance.set_state, snapshot.state)
        _adopt(session, snapshot)
        session.record(pb.EVENT_KIND_RESTORED, origin=snapshot)
        await _tell_new_epoch(session, pb.EVENT_KIND_RESTORED, "restored")
        return pb.RestoreSnapshotResponse(epoch=session.barrier.epoch, tick=session.tick)


def read(setup: Setup, data: bytes) -> pb.Snapshot:
    """A snapshot for a session of that setup, all of it checked; raises SnapshotCorrupt or SnapshotForeign."""
    snapshot = unpack(data, setup.name, setup.model.build)
    n = len(setup.model.table.inputs)
    ticks = [snapshot.tick, *(h.delivered_tick for h in snapshot.holds), *(r.tick for r in snapshot.ramps)]
    names = {s.name for s in setup.model.table.parameters}
    sound = (
        len(snapshot.inputs) == len(snapshot.start_inputs) == n
        and bool(np.isfinite([*snapshot.inputs, *snapshot.start_inputs]).all())
        and all(math.isfinite(v) for r in snapshot.ramps for v in (r.value, r.slope))
        and all(0 <= t <= snapshot.tick for t in ticks)
        and all(r.input < n for r in snapshot.ramps)
        and set(snapshot.parameters) <= names
    )
    if not sound:
        raise errors.SnapshotCorrupt(
            "the content does not fit the model", field="snapshot", given=f"tick {snapshot.tick}", allowed=f"{n} inputs"
        )
    return snapshot


def _check_dues(session: Session, snapshot: pb.Snapshot) -> None:
    last = snapshot.tick + session.barrier.longest
    for hold in snapshot.holds:
        if hold.HasField("due_tick") and not snapshot.tick <= hold.due_tick <= last:
            raise errors.SnapshotCorrupt(
                f"the due tick of {hold.participant!r} cannot be",
                field="snapshot",
                given=hold.due_tick,
                allowed=f"{snapshot.tick} to {last}",
            )


def revive(session: Session, snapshot: pb.Snapshot) -> None:
    """Takes over a snapshot whose state the new session's instance has."""
    _adopt(session, snapshot)
    # Nobody has seen an epoch of the new session yet.
    session.barrier.epoch = 1


def start_of(session: Session) -> pb.Snapshot:
    """What a recording needs of a session at tick 0: parameters and start inputs make the state."""
    setup = session.setup
    return pb.Snapshot(
        model=setup.name,
        build=setup.model.build,
        tick_seconds=session.instance.tick_length,
        tick=session.tick,
        parameters=setup.parameters,
        start_inputs=setup.start.tolist(),
        inputs=session.barrier.inputs.tolist(),
    )


async def _snapshot(session: Session) -> pb.Snapshot:
    barrier = session.barrier
    barrier.settle()
    snapshot = start_of(session)
    snapshot.state = await _ask(session, session.instance.get_state)
    snapshot.ramps.extend(pb.Ramp(input=c, tick=t, value=v, slope=s) for c, t, v, s in barrier.ramps.save())
    snapshot.holds.extend(_hold(m.participant, barrier.tick) for m in session.members.values())
    return snapshot


async def _ask(session: Session, function: Callable[..., _T], *arguments: object) -> _T:
    try:
        return await session.engine.ask(function, *arguments)
    except errors.WorkerLost as error:
        session.fail(error)
        raise


def _hold(participant: Participant, tick: int) -> pb.Hold:
    return pb.Hold(
        participant=participant.name,
        delivered_tick=participant.delivered_tick,
        missed=participant.missed,
        due_tick=participant.asked_due(tick),
    )


def _adopt(session: Session, snapshot: pb.Snapshot) -> None:
    setup = session.setup.with_past(dict(snapshot.parameters), np.array(snapshot.start_inputs))
    session.replace(session.instance, setup, np.array(snapshot.inputs), snapshot.tick)
    session.barrier.ramps.load((r.input, r.tick, r.value, r.slope) for r in snapshot.ramps)
    for hold in snapshot.holds:
        participant = session.barrier.participants.get(hold.participant)
        if participant is not None:
            participant.delivered_tick, participant.missed = hold.delivered_tick, hold.missed
            if hold.HasField("due_tick"):
                participant.due = hold.due_tick


async def _tell_new_epoch(session: Session, kind: pb.EventKind, what: str) -> None:
    await _tell(session, kind)
    for member in session.members.values():
        error = session.barrier.wrong_epoch(member.participant, session.barrier.epoch - 1)
        member.refuse(error.with_message(f"the session was {what}: {error.message}"))


async def _tell(session: Session, kind: pb.EventKind) -> None:
    """Tells every participant what has happened; one that cannot be told in time counts as gone."""
    y = session.instance.get_outputs()
    told = {}
    for member in list(session.members.values()):
        if member.participant.gone_at is not None:
            continue
        member.event_sink.push(
            pb.Event(
                kind=kind,
                epoch=session.barrier.epoch,
                tick=session.tick,
                due_tick=member.participant.next_tick,
                sim_ns=session.sim_ns,
                outputs=y[member.outputs.columns].tolist(),
                inputs=session.barrier.inputs[member.inputs.columns].tolist(),
            )
        )
        told[asyncio.create_task(member.event_sink.flush())] = member
    if not told:
        return
    time, tasks = session.engine.stalls.time, set(told)
    end, done, late = time() + session.config.tell_timeout, set[asyncio.Task[None]](), tasks
    while late and (left := end - time()) > 0.0:
        done, late = await asyncio.wait(tasks, timeout=left)
    for task in done:
        # Who cannot be told has gone: its stream ends by itself.
        task.exception()
    for task in late:
        task.cancel()
        session.detach(told[task], told[task].event_sink)
