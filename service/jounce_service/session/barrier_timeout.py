"""How long a participant waits for the others."""

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

#: Least interval [s] at which a wait looks at a session clock that may stand still.
_LOOK: Final = 0.05


class Patience:
    """Ends waits of a session's members with BarrierTimeout, each after the member's own timeout."""

    def __init__(
        self, engine: Engine, barrier: Barrier, members: Members, notices: Notices, at_work: Callable[[], bool]
    ) -> None:
        """No waits yet; ``at_work`` says whether a move is under way."""
        self._engine, self._barrier, self._members = engine, barrier, members
        self._notices, self._at_work = notices, at_work

    def begin(self, member: Member) -> None:
        """A wait begins. The timer stays when the wait has ended: a step needs none of its own."""
        if member.timeout:
            member.deadline = self._engine.patience.now() + member.timeout
            if member.timer is None:
                self._look_in(member, member.timeout)

    def _look_in(self, member: Member, seconds: float) -> None:
        member.timer = asyncio.get_running_loop().call_later(seconds, self._look, member)

    def _look(self, member: Member) -> None:
        member.timer = None
        if member.pending is None:
            return
        now = self._engine.patience.now()
        missing = [name for name in self._barrier.missing(now) if name != member.name]
        left = member.deadline - now
        if left > 0.0:
            # The timer was an earlier wait's, or time stood still.
            self._look_in(member, max(left, _LOOK))
        elif not missing or self._at_work():
            # It is not the others' fault: the model itself is at work.
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
            given=", ".join(missing),
            allowed="a delivery by every participant that is due",
            missing=missing,
            tick=member.participant.request_tick,
            epoch=barrier.epoch,
        )
