"""NAME=VALUE on the command line."""

from __future__ import annotations

from typing import Literal

from jounce.signals import SignalTable
from jounce_service import errors
from jounce_service.cli.main import UsageError
from jounce_service.values import parse, scalar_of


def pair(text: str, option: str = "--set") -> tuple[str, str]:
    """Name and value; raises UsageError with the option's name."""
    name, _, value = text.partition("=")
    if not name.strip() or "=" not in text:
        raise UsageError(f"{option} {text!r}: allowed is name=value")
    return name.strip(), value.strip()


def scalar(table: SignalTable, text: str, what: Literal["parameter", "input"]) -> tuple[str, float]:
    """The same for a signal of the table, its value checked; a parameter is ``--set``, an input ``--input``."""
    option, group = ("--set", table.parameters) if what == "parameter" else ("--input", table.inputs)
    name, value = pair(text, option)
    try:
        found = scalar_of(table, group, name, what)
        return found.name, parse(found, value)
    except errors.ServiceError as error:
        raise UsageError(f"{option} {text!r}: {with_expected(error)}") from error


def with_expected(error: Exception) -> str:
    """The error's text, and what is expected where the error knows and the text does not say so."""
    wanted = error.allowed if isinstance(error, errors.ServiceError) else ""
    return str(error) if wanted in str(error) else f"{error}; expected {wanted}"
