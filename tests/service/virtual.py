"""An event loop in virtual time: a wait takes no time, and one that nothing can end is an error.

Connections to a session on it need no network.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from jounce_proto import jounce_pb2 as pb
from jounce_proto import packed
from jounce_service.session.session import Session
from jounce_service.transport.stream import Stream


class Deadlock(RuntimeError):
    """Everyone waits for ever."""


class _Selector(selectors.DefaultSelector):  # select() itself knows 1024 descriptors at most
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


class Connection:
    """A stream without a network: what the server has of it, and how it breaks."""

    def __init__(self, lobby: Any) -> None:
        self.requests: asyncio.Queue[pb.LockstepRequest] = asyncio.Queue()
        self.replies: asyncio.Queue[pb.LockstepReply] = asyncio.Queue()
        self._task = asyncio.get_running_loop().create_task(Stream(lobby, self).run())

    async def read(self) -> Any:
        return packed.request((await self.requests.get()).SerializeToString())

    async def write(self, reply: Any) -> None:
        await self.replies.put(pb.LockstepReply.FromString(packed.encode(reply)))

    def cut(self, notice: float) -> None:
        """Breaks it; the server notices after ``notice`` [s]."""
        asyncio.get_running_loop().call_later(notice, self._task.cancel)

    async def ask(self, **kind: Any) -> pb.LockstepReply:
        await self.requests.put(pb.LockstepRequest(**kind))
        return await self.replies.get()


@dataclass
class Lobby:
    session: Session

    def joinable(self, session_id: str, token: str) -> Session:
        return self.session

    def touch(self, session: Session) -> None:
        pass
