"""Ends the wait of a participant for others after its barrier timeout."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from jounce_proto import jounce_pb2 as pb
from jounce_service.lockstep.barrier import Barrier
from jounce_service.session.engine import Engine
from jounce_service.session.members import Member, Members
from jounce_service.session.notices import Notices
from jounce_service.transport import errors

#: Shortest interval [s] between two checks of the session's time, which may stand still.
_LOOK: Final = 0.05


class BarrierTimeouts:
    """Ends waits of a session's members with BarrierTimeout, each after the member's own timeout."""

    def __init__(
        self, engine: Engine, barrier: Barrier, members: Members, notices: Notices, at_work: Callable[[], bool]
    ) -> None:
        """``at_work`` says whether a move is under way."""
        self._engine, self._barrier, self._members = engine, barrier, members
        self._notices, self._at_work = notices, at_work

    def begin(self, member: Member) -> None:
        """Begins a wait. The timer keeps running after its end and serves the next wait, so a step needs none."""
        if member.timeout:
            member.deadline = self._engine.session_time.now() + member.timeout
            if member.timer is None:
                self._look_in(member, member.timeout)

    def _look_in(self, member: Member, seconds: float) -> None:
        member.timer = asyncio.get_running_loop().call_later(seconds, self._look, member)

    def _look(self, member: Member) -> None:
        member.timer = None
        if member.pending is None:
            return
        now = self._engine.session_time.now()
        missing = [name for name in self._barrier.missing(now) if name != member.name]
        left = member.deadline - now
        if left > 0.0:
            # The timer was set for an earlier wait, or the session's time stood still.
            self._look_in(member, max(left, _LOOK))
        elif not missing or self._at_work():
            # The model itself is at work, so the wait is not for other participants.
            self._look_in(member, member.timeout)
        else:
            self._engine.count("barrier_timeouts")
            error = self._timeout(member, missing)
            self._notices.tell(pb.EVENT_KIND_BARRIER_TIMEOUT, f"{member.name}: {error.message}", missing)
            member.refuse(error)

    def _timeout(self, member: Member, missing: list[str]) -> errors.BarrierTimeout:
        barrier, gone = self._barrier, self._members.gone
        said = [f"{n} (gone since tick {gone[n]})" if n in gone else n for n in missing]
        return errors.BarrierTimeout(
            f"tick {barrier.tick}: waited {member.timeout:g} s for {', '.join(said)}",
            field="participants",
            requested=", ".join(missing),
            allowed="a delivery by every participant that is due",
            missing=missing,
            tick=member.participant.request_tick,
            epoch=barrier.epoch,
        )
