"""Ctrl-C as a flag: a loop polls it, ends between two steps and keeps what is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def asked_to_stop(at_once: bool = False) -> Iterator[Callable[[], bool]]:
    """Gives a function that tells whether Ctrl-C was pressed; pressed again it ends the command at once.

    With ``at_once`` it raises KeyboardInterrupt the first time, too.
    """
    asked = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if at_once:
            signal.default_int_handler(number, frame)

    before = signal.getsignal(signal.SIGINT)
    # Only the main thread has signals, and a command that was started with Ctrl-C ignored goes on ignoring it.
    own = threading.current_thread() is threading.main_thread() and before is not signal.SIG_IGN
    if own:
        signal.signal(signal.SIGINT, note)
    try:
        yield lambda: asked
    finally:
        if own:
            signal.signal(signal.SIGINT, before)
