"""Identifies the caller: each bearer token is one tenant, and some are administrators."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Caller:
    """Who makes a call: owner of the sessions that it makes (None where the server has no tenants)."""

    owner: bytes | None = None
    administrator: bool = False


#: Everybody, where the server has no bearer tokens; no administrator.
ANYBODY: Final = Caller()


class Callers:
    """The bearer tokens of the server, kept as hashes so that the time of a look-up leaks nothing."""

    def __init__(self, tokens: Iterable[str] = (), administrators: Iterable[str] = ()) -> None:
        """With ``tokens``, every call must show one of them or of the ``administrators``."""
        self._administrators = frozenset(map(_hash, administrators))
        self._tenants = frozenset(map(_hash, tokens)) - self._administrators

    @property
    def any(self) -> bool:
        """Whether there are any tokens."""
        return bool(self._tenants or self._administrators)

    def who(self, metadata: Iterable[tuple[str, str | bytes]] | None) -> Caller | None:
        """Who shows that metadata; None for somebody whom the server must refuse."""
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
    """The token of an authorization; the name of the scheme may be in any case (RFC 9110, section 11.1)."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else value
    scheme, _, token = text.partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else None


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
