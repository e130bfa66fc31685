"""A session's model at work: advances it, in a thread where that takes long, and keeps the pace."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

from jounce_service import errors
from jounce_service.barrier import Barrier
from jounce_service.clock import LoopAlarm, SessionClock, make_alarm
from jounce_service.config import ServerConfig
from jounce_service.metrics import Meter
from jounce_service.models import HostedInstance
from jounce_service.pacing import Pacer, Pacing
from jounce_service.recording.recorder import Recording

#: Ticks between two looks at the wall clock.
_STRIDE = 1000


class Engine:
    """The instance, the session's time and its alarm."""

    def __init__(
        self, instance: HostedInstance, config: ServerConfig, pacing: Pacing | None, woken: Callable[[], None]
    ) -> None:
        """``woken`` is called at the times of ``wake_at``, or before."""
        self.instance = instance
        self.recording: Recording | None = None
        self.clock = SessionClock(asyncio.get_running_loop().time)
        self.pacer = None if pacing is None else Pacer(pacing, instance.tick)
        self.meter = Meter(instance.tick, self.pacer) if config.metrics_address else None
        self._config = config
        self._call = woken
        self._alarm: LoopAlarm | None = None
        # A tick that is ready, and the time at which it may be released.
        self._held: tuple[asyncio.Future[None], float] | None = None

    @property
    def stride(self) -> int | None:
        """Longest move [ticks]; None = any."""
        return None if self.pacer is None else self.pacer.stride

    def is_quick(self, ticks: int) -> bool:
        """Whether ``advance`` by so many ticks may run on the event loop."""
        return self.pacer is None and ticks <= self._config.offload_ticks

    def advance(self, barrier: Barrier, ticks: int, limit: float = math.inf) -> None:
        """Advances the model from the barrier's tick, with its inputs. Raises SolverFailed.

        CallTooLong after ``limit`` [s] of wall-clock time, and the model is as before.
        """
        if self.meter is None:
            self._advance(barrier, ticks, limit)
            return
        begin = time.perf_counter()
        self._advance(barrier, ticks, limit)
        self.meter.add(ticks, time.perf_counter() - begin)

    def _advance(self, barrier: Barrier, ticks: int, limit: float) -> None:
        if barrier.ramps.moving:
            for tick in range(barrier.tick, barrier.tick + ticks):
                barrier.ramps.apply(barrier.inputs, tick)
                self.instance.set_inputs(barrier.inputs)
                if self.recording is not None:
                    self.recording.inputs(tick, barrier.inputs)
                self.instance.step(1)
        elif limit < math.inf and ticks > _STRIDE:
            self._within(barrier, ticks, limit)
        else:
            self.instance.set_inputs(barrier.inputs)
            if self.recording is not None:
                self.recording.inputs(barrier.tick, barrier.inputs)
            self.instance.step(ticks)

    async def move(self, barrier: Barrier, ticks: int, limit: float = math.inf) -> None:
        """The same off the loop where it is long; ends when the new tick may be released. Raises Overrun, too.

        CallTooLong after ``limit`` [s] of wall-clock time, and the model is as before.
        """
        if self.pacer is not None:
            self.pacer.start(barrier.tick, self.clock.now())
        if ticks > self._config.offload_ticks:
            await asyncio.to_thread(self.advance, barrier, ticks, limit)
        else:
            self.advance(barrier, ticks)
        if self.pacer is None:
            return
        now = self.clock.now()
        when = self.pacer.release(barrier.tick + ticks, now)
        if when > now:
            self._held = asyncio.get_running_loop().create_future(), when
            self.wake_at(when - self._config.spin)
            await self._held[0]

    def _within(self, barrier: Barrier, ticks: int, limit: float) -> None:
        before, end, late = self.instance.get_state(), time.monotonic() + limit, False
        self.instance.set_inputs(barrier.inputs)
        try:
            for done in range(0, ticks, _STRIDE):
                if late := time.monotonic() > end:
                    self.instance.set_state(before)
                    raise errors.CallTooLong(
                        f"{done} of {ticks} ticks took {limit:g} s", field="n_ticks", given=ticks, allowed="fewer ticks"
                    )
                self.instance.step(min(_STRIDE, ticks - done))
        finally:
            # What was taken back has not been applied.
            if self.recording is not None and not late:
                self.recording.inputs(barrier.tick, barrier.inputs)

    def wake_at(self, when: float) -> None:
        """Calls ``woken`` at a session time [s]."""
        if self._alarm is None:
            self._alarm = make_alarm(self._woken)
        self._alarm.set(self.clock.wall(when))

    def close(self) -> None:
        """Frees the instance and the alarm."""
        if self._alarm is not None:
            self._alarm.close()
        self.instance.free()

    def _woken(self) -> None:
        if self._held is None:
            self._call()
            return
        held, when = self._held
        if self.clock.now() < when - self._config.spin:
            # An earlier time had been set before.
            self.wake_at(when - self._config.spin)
            return
        self._held = None
        self.clock.spin(when)
        held.set_result(None)
