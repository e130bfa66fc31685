"""Sends events to participants: those that all get before the next tick, and notices, which are only information.

A participant requests notices in its Join.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from jounce_proto import jounce_pb2 as pb
from jounce_service.lockstep.barrier import Barrier
from jounce_service.session.engine import Engine
from jounce_service.session.members import Member, Members

#: Most notices [1] that wait to be sent to one participant; further ones are dropped.
_MOST: Final = 100


class Notices:
    """Sends events to the members of a session."""

    def __init__(self, engine: Engine, barrier: Barrier, members: Members) -> None:
        """The arguments are the parts of the session."""
        self._engine, self._barrier, self._members = engine, barrier, members
        # Tasks that send notices; referenced here, since the event loop keeps only weak references.
        self._tasks: dict[asyncio.Task[None], int] = {}
        self._unsent: Counter[int] = Counter()

    def tell(self, kind: pb.EventKind, text: str, participants: Iterable[str] = ()) -> None:
        """Sends a notice about ``participants`` to those that requested it, before any later reply."""
        about = list(participants)
        for member in self._members:
            if kind not in member.terms.notices or member.participant.gone_at is not None:
                continue
            place = id(member.event_sink)
            if self._unsent[place] >= _MOST:
                continue
            member.event_sink.push(self._event(member, kind, text=text, participants=about))
            task = asyncio.get_running_loop().create_task(member.event_sink.flush())
            self._tasks[task] = place
            self._unsent[place] += 1
            task.add_done_callback(self._sent)

    async def tell_everyone(self, kind: pb.EventKind, timeout: float) -> list[Member]:
        """Sends an event with the present state to all members; returns those that did not take it in ``timeout`` [s].
        """
        y, u = self._engine.instance.get_outputs(), self._barrier.inputs
        told = {}
        for member in list(self._members):
            if member.participant.gone_at is not None:
                continue
            values = {"outputs": y[member.outputs.columns].tolist(), "inputs": u[member.inputs.columns].tolist()}
            member.event_sink.push(self._event(member, kind, **values))
            told[asyncio.create_task(member.event_sink.flush())] = member
        if not told:
            return []
        time, tasks = self._engine.stalls.time, set(told)
        end, done, late = time() + timeout, set[asyncio.Task[None]](), tasks
        while late and (left := end - time()) > 0.0:
            done, late = await asyncio.wait(tasks, timeout=left)
        for task in done:
            # Who cannot be told has gone: its stream ends by itself.
            task.exception()
        for task in late:
            task.cancel()
        return [told[task] for task in late]

    def _event(self, member: Member, kind: pb.EventKind, **more: Any) -> pb.Event:
        barrier = self._barrier
        return pb.Event(
            kind=kind,
            epoch=barrier.epoch,
            tick=barrier.tick,
            due_tick=member.participant.next_tick,
            sim_ns=self._engine.sim_ns(barrier.tick),
            **more,
        )

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._unsent -= Counter([self._tasks.pop(task)])
        if not task.cancelled():
            # Who cannot be told has gone: its stream ends by itself.
            task.exception()
