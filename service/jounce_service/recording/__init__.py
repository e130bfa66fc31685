"""Recordings of sessions: writing, reading, replay and export."""

from __future__ import annotations

from jounce.optional import missing
from jounce_service.recording.reader import RecordingError


def require(*packages: str) -> None:
    """Raises RecordingError if an optional package is not installed."""
    if message := missing(*packages):
        raise RecordingError(message)
