"""Identifies the caller by its bearer token. Each token is one tenant; some tokens are administrators."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Caller:
    """Who makes a call. ``owner`` marks the sessions that it creates; None if the server has no tenants."""

    owner: bytes | None = None
    administrator: bool = False


#: Every caller of a server without bearer tokens; not an administrator.
ANYBODY: Final = Caller()


class Callers:
    """The bearer tokens of the server, kept as hashes so that the time of a look-up leaks nothing."""

    def __init__(self, tokens: Iterable[str] = (), administrators: Iterable[str] = ()) -> None:
        """With ``tokens``, every call must carry one of them or one of ``administrators``."""
        self._administrators = frozenset(map(_hash, administrators))
        self._tenants = frozenset(map(_hash, tokens)) - self._administrators

    @property
    def any(self) -> bool:
        """Whether there are any tokens."""
        return bool(self._tenants or self._administrators)

    def who(self, metadata: Iterable[tuple[str, str | bytes]] | None) -> Caller | None:
        """The caller with this metadata; None if it must be refused."""
        if not self.any:
            return ANYBODY
        shown = [v for k, v in metadata or () if k == "authorization"]
        if not shown and not self._tenants:
            return ANYBODY
        token = _token(shown[0]) if len(shown) == 1 else None
        mark = None if token is None else _hash(token)
        if mark in self._administrators:
            return Caller(mark if self._tenants else None, administrator=True)
        return Caller(mark) if mark in self._tenants else None


def _token(value: str | bytes) -> str | None:
    """The token of an ``authorization`` value; the scheme's name is case-insensitive (RFC 9110, section 11.1)."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else value
    scheme, _, token = text.partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else None


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
