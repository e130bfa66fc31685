"""An event loop in a thread of its own, which gives its descriptors back at its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any


class ClosingLoop(asyncio.SelectorEventLoop):
    """Runs at once, in a thread.

    All loops of a process share grpc.aio's queue, which keeps each of them and has events of calls that have ended.
    Where a loop is closed by then, handing an event over would fail, and those of other loops behind it would be lost.
    """

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.Thread(target=self.run_forever, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """The result of a coroutine that runs there."""
        return asyncio.run_coroutine_threadsafe(coroutine, self).result(300)

    def end(self) -> None:
        """Ends the thread and closes the loop."""
        self.call_soon_threadsafe(self.stop)
        self._thread.join(60)
        self.close()

    def call_soon_threadsafe(self, *arguments: Any, **named: Any) -> Any:
        return None if self.is_closed() else super().call_soon_threadsafe(*arguments, **named)

    def remove_reader(self, fd: Any) -> bool:
        return False if self.is_closed() else super().remove_reader(fd)
