"""Advances the model of a session, off the event loop if that takes long, and keeps its pace."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from jounce_service.hosting.models import HostedInstance, Vector
from jounce_service.lockstep.barrier import Barrier
from jounce_service.recording.recorder import Recording
from jounce_service.server.clock import LoopAlarm, SessionClock, make_alarm
from jounce_service.server.config import ServerConfig
from jounce_service.server.metrics import Meter
from jounce_service.server.stalls import Stalls
from jounce_service.session.pacing import Pacer, Pacing
from jounce_service.transport import errors

_T = TypeVar("_T")


class Engine:
    """The model's instance, the session's clocks and its timer."""

    def __init__(
        self,
        instance: HostedInstance,
        config: ServerConfig,
        pacing: Pacing | None,
        woken: Callable[[], None],
        stalls: Stalls | None = None,
    ) -> None:
        """``woken`` is called at the times set by ``wake_at`` and ``wake_when_due``, or before."""
        self.instance = instance
        self.recording: Recording | None = None
        self.stalls = stalls or Stalls(asyncio.get_running_loop().time)
        #: Wall-clock time, for the pace, and the participants' time, which stands still while the server does not run.
        self.clock = SessionClock(asyncio.get_running_loop().time)
        self.session_time = SessionClock(self.stalls.time)
        self.pacer = None if pacing is None else Pacer(pacing, instance.tick_length)
        self.meter = Meter(instance.tick_length, self.pacer) if config.metrics_address else None
        self._config = config
        self._call = woken
        self._alarm: LoopAlarm | None = None
        # The call to make when a finished tick may be released, and the time of that.
        self._held: tuple[Callable[[], object], float] | None = None

    @property
    def stride(self) -> int | None:
        """Longest move [ticks]; None is without limit."""
        return None if self.pacer is None else self.pacer.stride

    def sim_ns(self, tick: int) -> int:
        """Simulated time [ns] of a tick."""
        return round(tick * self.instance.tick_length * 1e9)

    def is_quick(self, ticks: int) -> bool:
        """Whether ``advance`` by so many ticks may run on the event loop."""
        return ticks <= self._config.offload_ticks and not self.instance.away

    def advance(self, barrier: Barrier, ticks: int) -> None:
        """Advances the model from the barrier's tick, with its inputs. Raises SolverFailed."""
        begin = time.perf_counter()
        self.instance.step_all(self._pieces(barrier, ticks))
        self._measure(ticks, begin)

    async def move(self, barrier: Barrier, ticks: int, limit: float = math.inf) -> None:
        """Like ``advance``, but off the event loop if it is long; ends when the new tick may be released.

        Raises SolverFailed, Overrun, or CallTooLong after ``limit`` [s] of wall-clock time with the model unchanged.
        """
        self.start(barrier.tick)
        if self.is_quick(ticks):
            self.advance(barrier, ticks)
        else:
            begin = time.perf_counter()
            if barrier.ramps.moving or limit == math.inf or ticks <= self.instance.stride:
                await self.instance.advance(self._pieces(barrier, ticks))
            else:
                await self._within(barrier, ticks, limit)
            self._measure(ticks, begin)
        if self.pacer is not None:
            released = asyncio.Event()
            self.release(self.pacer, barrier.tick + ticks, released.set)
            await released.wait()

    def _pieces(self, barrier: Barrier, ticks: int) -> Iterable[int]:
        """Yields moves [ticks] with constant inputs, which have been set in the instance and recorded before each."""
        if barrier.ramps.moving:
            return self._ramped(barrier, ticks)
        self._set(barrier, barrier.tick)
        return (ticks,)

    def _ramped(self, barrier: Barrier, ticks: int) -> Iterator[int]:
        for tick in range(barrier.tick, barrier.tick + ticks):
            barrier.ramps.apply(barrier.inputs, tick)
            self._set(barrier, tick)
            yield 1

    def _set(self, barrier: Barrier, tick: int) -> None:
        self.instance.set_inputs(barrier.inputs)
        self._record(tick, barrier.inputs)

    def _record(self, tick: int, inputs: Vector) -> None:
        if self.recording is not None:
            self.recording.inputs(tick, inputs)

    async def _within(self, barrier: Barrier, ticks: int, limit: float) -> None:
        before = await self.ask(self.instance.get_state) if self.instance.keeps_state else None
        self.instance.set_inputs(barrier.inputs)
        applied = True
        try:
            await self.instance.advance(self._in_time(ticks, limit))
        except errors.CallTooLong as error:
            if before is None:
                raise errors.SolverFailed(
                    f"{error.message}, and the FMU cannot restore its state",
                    field="n_ticks",
                    requested=ticks,
                    allowed=error.allowed,
                    done=error.done,
                ) from error
            await self.ask(self.instance.set_state, before)
            # The inputs were undone as well.
            applied = False
            raise
        finally:
            if applied:
                self._record(barrier.tick, barrier.inputs)

    def _in_time(self, ticks: int, limit: float) -> Iterator[int]:
        """Yields the ticks in pieces; raises CallTooLong before a piece that would begin after ``limit`` [s]."""
        end, done = time.monotonic() + limit, 0
        while done < ticks:
            if time.monotonic() > end:
                raise errors.CallTooLong(
                    f"{done} of {ticks} ticks took {limit:g} s", field="n_ticks", requested=ticks, allowed="fewer ticks"
                )
            some = min(self.instance.stride, ticks - done)
            yield some
            done += some

    def _measure(self, ticks: int, begin: float) -> None:
        if self.meter is not None:
            self.meter.add(ticks, time.perf_counter() - begin)

    def start(self, tick: int) -> None:
        """Notes that a move from ``tick`` begins."""
        if self.pacer is not None:
            self.pacer.start(tick, self.clock.now())

    def release(self, pacer: Pacer, tick: int, call: Callable[[], object]) -> None:
        """Calls ``call`` from the event loop when ``tick``, which is ready now, may be released. Raises Overrun."""
        now = self.clock.now()
        when = pacer.release(tick, now)
        if when > now:
            self._held = call, when
            self.wake_at(when - self._config.spin)
        else:
            asyncio.get_running_loop().call_soon(call)

    async def show(self, barrier: Barrier) -> Vector:
        """Returns the outputs with the present inputs of the barrier."""
        self.instance.set_inputs(barrier.inputs)
        return await self.ask(self.instance.get_outputs)

    async def ask(self, function: Callable[..., _T], *arguments: object) -> _T:
        """Calls a method of the instance, off the event loop if another process must answer."""
        if self.instance.away:
            return await asyncio.to_thread(function, *arguments)
        return function(*arguments)

    async def ask_or(
        self, lost: Callable[[errors.ServiceError], None], function: Callable[..., _T], *arguments: object
    ) -> _T:
        """Like ``ask``; calls ``lost`` if the process has ended."""
        try:
            return await self.ask(function, *arguments)
        except errors.WorkerLost as error:
            lost(error)
            raise

    def replace(self, instance: HostedInstance) -> None:
        """Takes another instance, or the same in another state; the pace starts again."""
        if instance is not self.instance:
            self.instance.free()
        self.instance = instance
        self.restart_pace()

    def restart_pace(self) -> None:
        """The next move sets a new time base."""
        if self.pacer is not None:
            self.pacer.restart(self.instance.tick_length)

    def count(self, incident: str) -> None:
        """Counts an incident (``metrics.INCIDENTS``)."""
        if self.meter is not None:
            self.meter.incidents[incident] += 1

    def stop_time(self) -> None:
        """Stops leases, timers and the pace."""
        self.clock.stop()
        self.session_time.stop()

    def let_time_go(self) -> None:
        """Lets leases, timers and the pace go on."""
        self.clock.go()
        self.session_time.go()

    def wake_at(self, when: float) -> None:
        """Calls ``woken`` at a time [s] on ``clock``."""
        self._wake(self.clock.wall(when))

    def wake_when_due(self, when: float) -> None:
        """Calls ``woken`` at a time [s] on ``session_time``."""
        self._wake(self.stalls.base(self.session_time.wall(when)))

    def _wake(self, when: float) -> None:
        if self._alarm is None:
            self._alarm = make_alarm(self._woken)
        self._alarm.set(when)

    def interrupt(self) -> None:
        """Ends a call that is under way in a worker, and the worker with it."""
        self.instance.interrupt()

    def close(self) -> None:
        """Frees the instance and the timer."""
        if self._alarm is not None:
            self._alarm.close()
        self.instance.free()

    def _woken(self) -> None:
        if self._held is None:
            self._call()
            return
        call, when = self._held
        if self.clock.now() < when - self._config.spin:
            # The timer was set for an earlier time.
            self.wake_at(when - self._config.spin)
            return
        self._held = None
        self.clock.spin(when)
        call()
