"""Fixtures: servers that stop at the end, and the ErrorInfo of a refusal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "fmu"))

import hostile
from rig import Running

from jounce_proto import jounce_pb2 as pb
from jounce_service import ServerConfig
from jounce_service.hosting.fmu_model import registry


@pytest.fixture
def fast() -> bool:
    """Whether participants take the fast lane."""
    return False


@pytest.fixture
def serve(tmp_path: Path, fast: bool) -> Iterator[Callable[..., Running]]:
    """Starts servers; all stop at the end."""
    running: list[Running] = []

    def start(**config: Any) -> Running:
        own = str(len(running) or "")
        settings = {"address": "127.0.0.1:0", "socket_path": str(tmp_path / f"j{own}.sock"), "drain": 0.0} | config
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


@pytest.fixture
def recording(serve: Callable[..., Running], tmp_path: Path) -> Running:
    """A server that records every stop of the clock into ``rec``."""
    return serve(record=str(tmp_path / "rec"), record_every=1)


@pytest.fixture(scope="session")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An FMU that makes trouble when told to."""
    return hostile.build(tmp_path_factory.mktemp("hostile") / "hostile.fmu")


@pytest.fixture
def host(serve: Callable[..., Running]) -> Callable[..., Running]:
    """Starts servers that host these FMUs and the built-in models."""

    def start(*fmus: Path, **config: Any) -> Running:
        server = serve(fmu=tuple(map(str, fmus)), **config)
        server.server.manager.registry = registry(server.server.config)
        return server

    return start


def info(error: grpc.RpcError) -> pb.ErrorInfo:
    """ErrorInfo of a failed unary call."""
    metadata = dict(error.trailing_metadata())
    found: pb.ErrorInfo = pb.ErrorInfo.FromString(metadata["jounce-error-bin"])
    assert found.code == error.code().value[0]
    return found


@pytest.fixture(name="info")
def _info() -> Callable[[grpc.RpcError], pb.ErrorInfo]:
    return info
