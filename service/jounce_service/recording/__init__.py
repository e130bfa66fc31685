"""Recordings of sessions: written, read, replayed, exported. Needs the extra ``recording``."""

from __future__ import annotations

from importlib.util import find_spec

from jounce_service.recording.reader import RecordingError


def require(extra: str, *packages: str) -> None:
    """Raises RecordingError where a package of an optional extra is not installed."""
    for package in packages:
        if find_spec(package) is None:
            raise RecordingError(f"{package} is not installed; it comes with pip install 'jounce[{extra}]'")
