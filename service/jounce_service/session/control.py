"""Calls that act between two ticks: pause, resume, reset, evict, snapshots.

Every participant gets the event of such a call before the next tick.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math

import numpy as np

from jounce_proto import jounce_pb2 as pb
from jounce_service.recording.recorder import Recording
from jounce_service.session.session import Session
from jounce_service.session.session_spec import Setup
from jounce_service.session.snapshots import pack, unpack
from jounce_service.session.states import SessionState
from jounce_service.transport import errors

_log = logging.getLogger(__name__)


async def pause(session: Session) -> pb.PauseSessionResponse:
    """Stops the clock, the leases and the timers."""
    async with session.exclusive():
        session.require("PauseSession")
        session.pause()
        await session.tell(pb.EVENT_KIND_PAUSED)
        return pb.PauseSessionResponse(epoch=session.epoch, tick=session.tick)


async def resume(session: Session) -> pb.ResumeSessionResponse:
    """Lets the clock, the leases and the timers go on."""
    async with session.exclusive():
        session.require("ResumeSession")
        await session.tell(pb.EVENT_KIND_RESUMED)
        session.resume()
        return pb.ResumeSessionResponse(epoch=session.epoch, tick=session.tick)


async def evict(session: Session, request: pb.EvictParticipantRequest, anyone: bool) -> pb.EvictParticipantResponse:
    """Removes a participant; with ``anyone``, for an administrator, no token is needed."""
    async with session.exclusive():
        session.require("EvictParticipant")
        if not anyone:
            # Checked here, since participants may join or leave while the call waits.
            _check_may_evict(session, request.token, request.name)
        expected = request.name in session.expected
        if session.member(request.name) is not None:
            session.evict(
                request.name,
                errors.Evicted(
                    f"{request.name!r} was evicted", field="name", requested=request.name, allowed="a new Join"
                ),
            )
        elif not (expected and request.release):
            raise errors.UnknownParticipant(
                f"{request.name!r} is expected and has not joined" if expected else f"no participant {request.name!r}",
                field="name",
                requested=request.name,
                allowed="release, for one that is only expected"
                if expected
                else ", ".join(session.joined) or "none: nobody has joined",
            )
        if request.release:
            session.release(request.name)
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
            f"the token is that of {member.name!r}", field="token", requested=member.name, allowed="the session token"
        )


async def warn(session: Session) -> None:
    """Tells every participant that the server is stopping; the session goes on."""
    async with session.exclusive():
        await session.tell(pb.EVENT_KIND_DRAINING)


async def recording_lost(session: Session, recording: Recording) -> None:
    """Handles a recording that ended early: the session fails if the recording is required; otherwise all are told."""
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
                    requested=recording.name,
                    allowed="a recording as long as the session",
                )
            )
        else:
            await session.tell(pb.EVENT_KIND_RECORDING_ENDED)


async def reset(session: Session, request: pb.ResetSessionRequest) -> pb.ResetSessionResponse:
    """Sets the session back to tick 0 with a new instance; changes nothing if that cannot be made."""
    async with session.exclusive():
        session.require("ResetSession")
        setup = session.setup.changed(request.parameters, request.start_inputs)
        instance = await asyncio.to_thread(setup.instance, session.id)
        session.replace(instance, setup, setup.start, 0)
        session.record(pb.EVENT_KIND_RESET, origin=session.past())
        await session.tell_new_epoch(pb.EVENT_KIND_RESET, "reset")
        return pb.ResetSessionResponse(epoch=session.epoch, tick=session.tick)


async def save(session: Session) -> bytes:
    """Returns a snapshot of the complete state, as bytes."""
    async with session.exclusive():
        session.require("SaveSnapshot")
        return pack(await session.snapshot())


async def save_and_keep(session: Session) -> pb.SaveSnapshotResponse:
    """Saves a snapshot in the session."""
    async with session.exclusive():
        session.require("SaveSnapshot")
        data = pack(await session.snapshot())
        return pb.SaveSnapshotResponse(
            snapshot_id=session.keep_snapshot(data),
            tick=session.tick,
            size=len(data),
            sha256=hashlib.sha256(data).digest(),
        )


async def restore(session: Session, snapshot_id: str) -> pb.RestoreSnapshotResponse:
    """Sets the session back to a snapshot; changes nothing if the model refuses it."""
    async with session.exclusive():
        session.require("RestoreSnapshot")
        snapshot = read(session.setup, session.find_snapshot(snapshot_id))
        await session.restore(snapshot)
        session.record(pb.EVENT_KIND_RESTORED, origin=snapshot)
        await session.tell_new_epoch(pb.EVENT_KIND_RESTORED, "restored")
        return pb.RestoreSnapshotResponse(epoch=session.epoch, tick=session.tick)


def read(setup: Setup, data: bytes) -> pb.Snapshot:
    """Reads and checks a snapshot for a session with that setup; raises SnapshotCorrupt or SnapshotForeign."""
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
            "the content does not fit the model",
            field="snapshot",
            requested=f"tick {snapshot.tick}",
            allowed=f"{n} inputs",
        )
    return snapshot
