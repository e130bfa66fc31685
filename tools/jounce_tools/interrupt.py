"""Ctrl-C as a flag that a loop polls, so that it ends between two steps and keeps what is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Gives a function that tells whether Ctrl-C was pressed; pressed again it ends the command at once."""
    asked = False

    def note(_number: int, _frame: Any) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

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
