"""Progress of commands that take longer than two seconds."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final, Self, TextIO

#: Silence at the start, and time between two tellings on a terminal and elsewhere [s].
_PATIENCE: Final = 2.0
_TERMINAL: Final = 0.2
_LOG: Final = 10.0
_BUILDS: Final = logging.getLogger("jounce_fmu.build.library")


class _Compilations(logging.Handler):
    """Notes the library that is being compiled: a vehicle's takes up to half a minute, once."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(logging.INFO)
        self._progress = progress

    def emit(self, record: logging.LogRecord) -> None:
        """Takes the words of `ensure_library`."""
        text = record.getMessage()
        self._progress.compiles(f"{text} (once)" if text.startswith("compiling") else "")


class Progress:
    """One line that is written over on a terminal, a line now and then in a log.

    A thread of its own tells, so that it goes on while the command waits for a compiler or for native code.
    """

    def __init__(self, label: str, file: TextIO) -> None:
        """``label`` comes first in the line."""
        self._label, self._file, self._terminal = label, file, file.isatty()
        self._share: float | None = None
        self._quiet, self._note, self._compiled = False, "", ""
        self._start = self._begun = time.monotonic()
        self._ended = threading.Event()
        self._compilations = _Compilations(self)
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def at(self, share: float) -> None:
        """The share that is done, 0 to 1; the time left is judged from the first share on, without compiling."""
        if self._share is None:
            self._begun = time.monotonic()
        self._share = share

    def note(self, text: str) -> None:
        """What is being done, where there is no share to tell."""
        self._note = text

    def compiles(self, text: str) -> None:
        """What is being compiled, if anything; it is told in place of share and note."""
        self._compiled = text

    def be_quiet(self) -> None:
        """Shows no progress, because the results go to the terminal."""
        self._quiet = True

    def __enter__(self) -> Self:
        """Begins."""
        _BUILDS.setLevel(logging.INFO)
        _BUILDS.addHandler(self._compilations)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends, with an empty line on a terminal."""
        _BUILDS.removeHandler(self._compilations)
        self._ended.set()
        self._thread.join()

    def _tell(self) -> None:
        wait, width = _PATIENCE, 0
        while not self._ended.wait(wait):
            if self._quiet:
                return
            line = self._line()
            self._file.write(f"\r{line:<{width}}" if self._terminal else f"{line}\n")
            self._file.flush()
            width = max(width, len(line))
            wait = _TERMINAL if self._terminal else _LOG
        if width and self._terminal:
            self._file.write(f"\r{'':<{width}}\r")
            self._file.flush()

    def _line(self) -> str:
        now, share = time.monotonic(), self._share
        note = self._compiled or self._note
        if share is None or self._compiled:
            return f"{self._label}: {note}{', ' * bool(note)}{now - self._start:.0f} s"
        left = f", {(now - self._begun) / share * (1.0 - share):.0f} s left" if share > 0.0 else ""
        return f"{self._label}: {100.0 * share:.0f} %{left}"
