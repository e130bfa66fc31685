"""gRPC method handlers. A request longer than the limit is refused before it is parsed, since parsing costs time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

import grpc

from jounce_proto import jounce_pb2 as pb
from jounce_proto import packed
from jounce_service.transport import errors

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["SessionService"]
#: Name of the service on the wire.
SERVICE_NAME: Final = _SERVICE.full_name
#: The call without a limit: its pieces are plain bytes, which are parsed quickly.
_LONG: Final = "UploadSnapshot"


class TooLong:
    """Stands for a message that was not parsed; reading any field of it raises BadField."""

    def __init__(self, size: int, most: int) -> None:
        """``size`` [bytes] of the message and ``most`` [bytes] allowed."""
        self._size, self._most = size, most

    def __getattr__(self, name: str) -> NoReturn:
        raise errors.BadField(
            f"a request of {self._size} bytes is too long",
            field="request",
            requested=self._size,
            allowed=f"up to {self._most} bytes",
        )


def handlers(calls: Any, most: int) -> dict[str, Any]:
    """Method name -> handler, for every method of the service; ``most`` [bytes] is the longest request."""
    return {method.name: _handler(calls, method, most) for method in _SERVICE.methods}


def _handler(calls: Any, method: Any, most: int) -> Any:
    read: Callable[[bytes], Any] = getattr(pb, method.input_type.name).FromString
    if method.name == "Lockstep":
        read = packed.request
    if method.name != _LONG:
        read = _measured(read, most)
    streams = method.client_streaming, method.server_streaming
    make = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[streams]
    return make(getattr(calls, method.name), read, _encoded)


def _measured(read: Callable[[bytes], Any], most: int) -> Callable[[bytes], Any]:
    return lambda data: read(data) if len(data) <= most else TooLong(len(data), most)


def _encoded(reply: Any) -> bytes:
    """Serializes a reply; replies that are the same for every caller are cached as bytes."""
    return reply if isinstance(reply, bytes) else packed.encode(reply)
