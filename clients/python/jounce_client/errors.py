"""The exception of the client, and its conversion from the wire."""

from __future__ import annotations

from typing import Any

import grpc

from jounce_proto import jounce_pb2 as pb

#: Trailing metadata key of the serialised ErrorInfo on unary calls (jounce.proto, head comment).
METADATA_KEY = "jounce-error-bin"


class JounceError(Exception):
    """A refused request: nothing was applied, and the session or stream goes on unless ``reason`` says otherwise.

    ``reason`` is a stable upper-case word for programs to decide on. ``field`` is the signal, field or participant
    concerned; ``given`` and ``allowed`` are texts; ``missing`` names the participants that a barrier waited for. If the
    connection itself failed, ``reason`` is the name of the gRPC status, for example UNAVAILABLE.
    """

    def __init__(self, reason: str, field: str = "", given: str = "", allowed: str = "", *, message: str = "",
                 missing: tuple[str, ...] = (), expected_tick: int = 0, expected_epoch: int = 0) -> None:
        """``expected_tick`` and ``expected_epoch`` are those that the session expects in the next message."""
        self.reason = reason
        self.field = field
        self.given = given
        self.allowed = allowed
        self.message = message
        self.missing = missing
        self.expected_tick = expected_tick
        self.expected_epoch = expected_epoch
        facts = {"field": field, "given": given, "expected": allowed, "missing": ", ".join(missing)}
        details = "".join(f"; {label} {value}" for label, value in facts.items() if value)
        super().__init__(f"{reason}: {message}{details}")


def from_info(info: pb.ErrorInfo) -> JounceError:
    """The exception for an ErrorInfo of the wire."""
    return JounceError(info.reason, info.field, info.given, info.allowed, message=info.message,
                       missing=tuple(info.missing), expected_tick=info.expected_tick,
                       expected_epoch=info.expected_epoch)


def from_rpc(error: grpc.RpcError) -> JounceError:
    """The exception for a failed call; reads the ErrorInfo of its trailing metadata if there is one."""
    call: Any = error
    for key, value in call.trailing_metadata() or ():
        if key == METADATA_KEY:
            return from_info(pb.ErrorInfo.FromString(value))
    return JounceError(call.code().name, message=call.details() or "the call failed")
