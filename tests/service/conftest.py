"""Fixtures: servers that stop at the end, and the ErrorInfo of a refusal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from rig import Running

from jounce_proto import jounce_pb2 as pb
from jounce_service import ServerConfig


@pytest.fixture
def fast() -> bool:
    """Whether participants take the fast lane."""
    return False


@pytest.fixture
def serve(tmp_path: Path, fast: bool) -> Iterator[Callable[..., Running]]:
    """Starts servers; all stop at the end."""
    running: list[Running] = []

    def start(**config: Any) -> Running:
        settings = {"address": "127.0.0.1:0", "socket_path": str(tmp_path / "j.sock"), "drain": 0.2} | config
        if fast:
            settings = {"fast_socket": str(tmp_path / "f.sock")} | settings
        running.append(Running(ServerConfig(**settings), fast))
        return running[-1]

    yield start
    for one in running:
        one.close()


@pytest.fixture
def server(serve: Callable[..., Running]) -> Running:
    """A server with the default settings."""
    return serve()


def info(error: grpc.RpcError) -> pb.ErrorInfo:
    """ErrorInfo of a failed unary call."""
    metadata = dict(error.trailing_metadata())
    found: pb.ErrorInfo = pb.ErrorInfo.FromString(metadata["jounce-error-bin"])
    assert found.code == error.code().value[0]
    return found


@pytest.fixture(name="info")
def _info() -> Callable[[grpc.RpcError], pb.ErrorInfo]:
    return info
