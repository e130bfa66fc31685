"""An event loop whose time is made: a wait costs nothing, and one that nothing can end is an error."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any


class Deadlock(RuntimeError):
    """Everyone waits for ever."""


class _Selector(selectors.SelectSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise Deadlock(f"at {self.now} s everyone waits for ever")
        if timeout > 0.0:
            # The loop calls timers early by up to its clock's resolution: time must not stand still there.
            self.now += timeout + 2e-9
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """For code without threads and I/O."""

    def __init__(self) -> None:
        self._made = _Selector()
        super().__init__(self._made)

    def time(self) -> float:
        return self._made.now


def run(main: Coroutine[Any, Any, Any]) -> Any:
    """asyncio.run on a virtual loop."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
            loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        loop.close()
