"""Errors about what the user gave, for programs that call the tools and for the command line."""

from __future__ import annotations

from pathlib import Path

from jounce_service.transport import errors


class UsageError(ValueError):
    """What the user gave cannot be used; the text says what, where and what is expected."""


def with_expected(error: Exception) -> str:
    """The error's text, and what is expected where the error knows and the text does not say so."""
    wanted = error.allowed if isinstance(error, errors.ServiceError) else ""
    return str(error) if wanted in str(error) else f"{error}; expected {wanted}"


def check_output(path: Path, *suffixes: str, option: str = "-o") -> None:
    """Raises UsageError before anything runs: where the name asks for another format, or the folder is not there."""
    if path.suffix not in suffixes:
        *most, last = suffixes
        wanted = f"{', '.join(most)} or {last}" if most else last
        raise UsageError(f"{option} {path}: expected a name that ends in {wanted}")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"{option} {path}: expected a file in a folder that exists")
