"""Arguments of calls: checked before anything is sent, and refused in the form of the server's errors."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from google.protobuf.message import Message

from jounce_client.errors import JounceError

_M = TypeVar("_M", bound=Message)


def check_address(address: str, what: str) -> None:
    """Raises JounceError (UNAVAILABLE) for an address that is neither ``host:port`` nor ``unix:/path``."""
    host, _, port = str(address).rpartition(":")
    if isinstance(address, str) and address.startswith("unix:") and len(address) > len("unix:"):
        return
    if not host or "/" in host or not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise JounceError("UNAVAILABLE", what, str(address), "host:port or unix:/path",
                          message="not an address")


def bad(name: str, given: object, allowed: str) -> JounceError:
    """The error for a wrong argument, in the form of the server's errors."""
    return JounceError("BAD_FIELD", name, repr(given)[:200], allowed, message=f"{name} is not valid")


def message(kind: type[_M], **fields: Any) -> _M:
    """A message of the wire; raises JounceError (BAD_FIELD) for a field of the wrong type."""
    made = kind()
    for name, value in fields.items():
        if value is None:
            continue
        field = kind.DESCRIPTOR.fields_by_name[name]
        try:
            if field.is_repeated and isinstance(value, str | bytes):
                raise TypeError
            made.MergeFrom(kind(**{name: value}))
        except (TypeError, ValueError, OverflowError, AttributeError):
            raise bad(name, value, _expected(field)) from None
    return made


def _expected(field: Any) -> str:
    words = {field.CPPTYPE_UINT32: "0 to 4294967295", field.CPPTYPE_UINT64: "0 to 18446744073709551615",
             field.CPPTYPE_INT64: "a whole number of 64 bits", field.CPPTYPE_DOUBLE: "numbers",
             field.CPPTYPE_STRING: "text"}.get(field.cpp_type, "as in jounce.proto")
    return f"a list of {words}" if field.is_repeated else words


def whole(name: str, value: int, least: int) -> int:
    """Returns a whole number of at least ``least``; raises JounceError (BAD_FIELD) for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise bad(name, value, f"a whole number, {least} or more")
    return int(value)


def numbers(values: Mapping[str, float]) -> dict[str, float]:
    """Returns values by name; raises JounceError (BAD_FIELD) for a value that is not a number."""
    if not isinstance(values, Mapping):
        raise bad("inputs", values, "a mapping of names to numbers")
    return {name: number(name, value) for name, value in values.items()}


def number(name: str, value: Any) -> float:
    """Returns a number; raises JounceError (BAD_FIELD) for anything else."""
    if not isinstance(value, str):
        with contextlib.suppress(TypeError, ValueError):
            return float(value)
    raise bad(name, value, "a number")
