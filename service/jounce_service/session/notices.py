"""Notices: events that a participant has asked for in its Join, and that change nothing for it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Final, Protocol

from jounce_proto import jounce_pb2 as pb
from jounce_service.lockstep.barrier import Barrier
from jounce_service.session.members import Member

#: Most notices [1] that wait for one participant to take them in; more are dropped.
_MOST: Final = 100


class Told(Protocol):
    """What a notice needs to know of its session."""

    barrier: Barrier
    members: dict[str, Member]

    @property
    def sim_ns(self) -> int:
        """Simulated time [ns]."""


class Notices:
    """Sends notices to the members of a session that asked for them."""

    def __init__(self, session: Told) -> None:
        """No notices yet."""
        self._session = session
        # Notices on their way, by task and place: the event loop keeps only weak references to its tasks.
        self._tasks: dict[asyncio.Task[None], int] = {}
        self._unsent: Counter[int] = Counter()

    def tell(self, kind: pb.EventKind, text: str, participants: Iterable[str] = ()) -> None:
        """Something has happened, to these ``participants``. It goes out before any later reply."""
        barrier, about = self._session.barrier, list(participants)
        for member in self._session.members.values():
            if kind not in member.terms.notices or member.participant.gone_at is not None:
                continue
            place = id(member.event_sink)
            if self._unsent[place] >= _MOST:
                continue
            event = pb.Event(
                kind=kind,
                epoch=barrier.epoch,
                tick=barrier.tick,
                due_tick=member.participant.next_tick,
                sim_ns=self._session.sim_ns,
                text=text,
                participants=about,
            )
            member.event_sink.push(event)
            task = asyncio.get_running_loop().create_task(member.event_sink.flush())
            self._tasks[task] = place
            self._unsent[place] += 1
            task.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._unsent -= Counter([self._tasks.pop(task)])
        if not task.cancelled():
            # Who cannot be told has gone: its stream ends by itself.
            task.exception()
