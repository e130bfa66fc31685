"""Viewers of a session, which get decimated outputs. A slow viewer drops frames and does not slow the session down."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.values import Selection, Vector
from jounce_service.transport import errors

#: Frames that wait for a slow viewer [1]; the oldest is dropped for a new one.
_QUEUE: Final = 16


class Viewer:
    """One viewer: its queue of frames, and the number of frames dropped."""

    def __init__(self, outputs: Selection, every: int, *, present: bool = False) -> None:
        """``every`` [ticks] is the distance between frames; ``present`` asks for one of the state that is there."""
        self.outputs = outputs
        self.every = every
        self.present = present
        #: Whether it still needs a frame of the present state.
        self.waits = present
        self.dropped = 0
        self.next_tick = 0
        self._frames: deque[pb.WatchResponse] = deque()
        self._wake = asyncio.Event()
        self._ended = False

    def put(self, frame: pb.WatchResponse) -> None:
        """Queues a frame; drops the oldest one if the queue is full."""
        if len(self._frames) >= _QUEUE:
            self._frames.popleft()
            self.dropped += 1
        self._frames.append(frame)
        self._wake.set()

    def end(self) -> None:
        """Ends the stream after the queued frames."""
        self._ended = True
        self._wake.set()

    async def frame(self) -> pb.WatchResponse | None:
        """Returns the next frame; None at the end of the session."""
        while not self._frames:
            if self._ended:
                return None
            self._wake.clear()
            await self._wake.wait()
        found = self._frames.popleft()
        found.dropped = self.dropped
        return found


class Viewers:
    """All viewers of a session."""

    def __init__(self) -> None:
        """Starts without viewers."""
        self._viewers: list[Viewer] = []
        self._dropped = 0
        #: Next tick at which a viewer is due.
        self.next_tick: float = float("inf")

    def __len__(self) -> int:
        return len(self._viewers)

    @property
    def waiting(self) -> bool:
        """Whether a viewer needs a frame of the present state."""
        return any(v.waits for v in self._viewers)

    @property
    def dropped(self) -> int:
        """Number of frames dropped so far [1]."""
        return self._dropped + sum(v.dropped for v in self._viewers)

    def add(self, viewer: Viewer, most: int) -> None:
        """Adds a viewer, whose first frame is at the next stop of the clock. Raises TooManyViewers."""
        if len(self._viewers) >= most:
            raise errors.TooManyViewers(
                "too many viewers", field="session_id", requested=len(self._viewers) + 1, allowed=f"{most} viewers"
            )
        self._viewers.append(viewer)
        self.next_tick = 0

    def remove(self, viewer: Viewer) -> None:
        """Removes a viewer."""
        self._viewers.remove(viewer)
        self._dropped += viewer.dropped
        self._plan()

    def restart(self) -> None:
        """Lets every viewer get a frame at the next stop of the clock, which may have been set back."""
        for viewer in self._viewers:
            viewer.next_tick, viewer.waits = 0, viewer.present
        self._plan()

    def show(self, epoch: int, tick: int, sim_ns: int, outputs: Vector) -> None:
        """Queues a frame for every viewer that is due at ``tick``, which the clock has reached."""
        self._put([v for v in self._viewers if tick >= v.next_tick], epoch, tick, sim_ns, outputs)

    def show_present(self, epoch: int, tick: int, sim_ns: int, outputs: Vector) -> None:
        """Queues a frame for every viewer that needs one of the present state; the clock stands at ``tick``."""
        self._put([v for v in self._viewers if v.waits], epoch, tick, sim_ns, outputs)

    def end(self) -> None:
        """Ends the streams of all viewers."""
        for viewer in self._viewers:
            viewer.end()

    def _put(self, viewers: list[Viewer], epoch: int, tick: int, sim_ns: int, outputs: Vector) -> None:
        for viewer in viewers:
            viewer.next_tick, viewer.waits = (tick // viewer.every + 1) * viewer.every, False
            values = outputs[viewer.outputs.columns].tolist()
            viewer.put(pb.WatchResponse(epoch=epoch, tick=tick, sim_ns=sim_ns, outputs=values))
        self._plan()

    def _plan(self) -> None:
        self.next_tick = min((v.next_tick for v in self._viewers), default=float("inf"))
