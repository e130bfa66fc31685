"""Forwards the lines that native code or a child process prints to a logger."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from typing import IO, Any, Final

#: Most lines per second and most bytes per line; further lines are only counted.
LINES: Final = 100
LONGEST: Final = 4096
_PIECE: Final = 1 << 16


class Output(threading.Thread):
    """Reads a pipe to its end and passes its lines on at a limited rate."""

    def __init__(self, pipe: IO[bytes], say: Callable[[str], Any], rate: float = math.inf) -> None:
        """Calls ``say`` with each line, and closes ``pipe`` at its end. ``rate`` [bytes/s] slows the writer down."""
        super().__init__(name="output", daemon=True)
        self._pipe, self._say, self._rate = pipe, say, rate
        self._said = self._left_out = 0

    def run(self) -> None:
        """Reads until the pipe is closed by all writers."""
        rest, size, end = b"", 0, 0.0
        with self._pipe:
            while piece := os.read(self._pipe.fileno(), _PIECE):
                now = time.monotonic()
                if now >= end:
                    self._count()
                    size, end = 0, now + 1.0
                size += len(piece)
                *lines, rest = (rest + piece).split(b"\n")
                if len(rest) > LONGEST:
                    lines, rest = [*lines, rest], b""
                self._pass(lines)
                if size > self._rate:
                    time.sleep(end - now)
        self._pass([rest])
        self._count()

    def _pass(self, lines: list[bytes]) -> None:
        for line in filter(None, lines):
            if self._said == LINES:
                self._left_out += 1
            else:
                self._said += 1
                self._say(line[:LONGEST].decode(errors="replace").rstrip("\r"))

    def _count(self) -> None:
        """Ends a second: passes on the number of lines left out, and starts to count again."""
        if self._left_out:
            self._say(f"({self._left_out} more lines)")
        self._said = self._left_out = 0
