"""Recordings of sessions: written, read, replayed, exported."""

from __future__ import annotations

from jounce.optional import missing
from jounce_service.recording.reader import RecordingError


def require(*packages: str) -> None:
    """Raises RecordingError where an optional package is not installed."""
    if told := missing(*packages):
        raise RecordingError(told)
