"""Makes the moves of a session's clock, one at a time; calls that need the clock to stand run between them.

Short moves run on the event loop and long ones off it; paced ones are held until their time. All other changes wait for
the end of a move.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from jounce_service.lockstep.barrier import Barrier
from jounce_service.lockstep.participant import Participant
from jounce_service.session.engine import Engine
from jounce_service.transport import errors


class Moves:
    """Makes the moves that the barrier allows."""

    def __init__(
        self,
        engine: Engine,
        barrier: Barrier,
        *,
        may_move: Callable[[], bool],
        taken: Callable[[int], None],
        stopped: Callable[[list[Participant]], None],
        stood: Callable[[], None],
        failed: Callable[[errors.ServiceError], None],
    ) -> None:
        """``may_move`` says whether the session's state allows a move. ``taken`` is told each move [ticks] before it is
        made, and 0 where none is due; ``stopped`` whose due tick the clock has reached; ``failed`` of an error.
        ``stood`` is called after each ``exclusive`` block and each move off the event loop."""
        self._engine, self._barrier = engine, barrier
        self._may_move, self._taken, self._stopped, self._failed = may_move, taken, stopped, failed
        self._stood = stood
        self._busy: asyncio.Future[None] | None = None
        # Number of callers that wait for the clock to stand; the next move waits for them.
        self._queue = 0
        # The event loop keeps only weak references to its tasks.
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def at_work(self) -> bool:
        """Whether a move or an ``exclusive`` block is under way."""
        return self._busy is not None

    def advance_if_due(self) -> None:
        """Advances as long as a move is due."""
        engine, barrier = self._engine, self._barrier
        while self._busy is None and self._may_move():
            now = self._now()
            try:
                ticks = barrier.take(now, engine.stride)
            except errors.FATAL as error:
                self._failed(error)
                return
            self._taken(ticks)
            if not ticks:
                if barrier.timed:
                    self._plan(now)
                return
            if not engine.is_quick(ticks):
                self._busy = asyncio.get_running_loop().create_future()
                task = asyncio.get_running_loop().create_task(self._run(ticks))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return
            try:
                engine.start(barrier.tick)
                engine.advance(barrier, ticks)
                if engine.pacer is not None:
                    engine.release(engine.pacer, barrier.tick + ticks, partial(self._released, ticks))
                    self._busy = asyncio.get_running_loop().create_future()
                    return
                reached = self._finish(ticks, now)
            except errors.FATAL as error:
                self._failed(error)
                return
            if reached and not barrier.timed:
                # The participants must deliver first.
                return

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Holds the clock between two ticks during the block; nothing else changes the session."""
        self._queue += 1
        try:
            while self._busy is not None:
                await asyncio.wait([self._busy])
        finally:
            self._queue -= 1
        self._busy = asyncio.get_running_loop().create_future()
        try:
            yield
        finally:
            self._release()

    async def move(self, ticks: int, limit: float) -> None:
        """Advances within ``exclusive``, at the session's pace. Raises the errors that make the session fail.

        Raises CallTooLong after ``limit`` [s] of wall-clock time.
        """
        left = ticks
        while left:
            some = min(left, self._engine.stride or left)
            await self._engine.move(self._barrier, some, limit)
            self._finish(some, self._now())
            left -= some

    def _plan(self, now: float) -> None:
        deadline = self._barrier.deadline(now)
        if deadline < math.inf:
            self._engine.wake_when_due(deadline)

    def _release(self) -> None:
        self._stand()
        self._stood()
        if not self._queue:
            self.advance_if_due()

    def _stand(self) -> None:
        busy, self._busy = self._busy, None
        if busy is not None:
            busy.set_result(None)

    async def _run(self, ticks: int) -> None:
        try:
            await self._engine.move(self._barrier, ticks)
            self._finish(ticks, self._now())
        except errors.FATAL as error:
            self._failed(error)
        finally:
            self._release()

    def _released(self, ticks: int) -> None:
        """Ends a move that was held until its time; the next move is planned after the replies are sent."""
        try:
            self._finish(ticks, self._now())
        except errors.FATAL as error:
            self._failed(error)
        finally:
            self._stand()
        if not self._queue:
            asyncio.get_running_loop().call_soon(self.advance_if_due)

    def _now(self) -> float:
        return self._engine.session_time.now() if self._barrier.timed else 0.0

    def _finish(self, ticks: int, now: float) -> bool:
        """Ends a move; returns whether a participant's due tick was reached."""
        reached = self._barrier.commit(ticks, now)
        self._stopped(reached)
        return bool(reached)
