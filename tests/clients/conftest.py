"""A real server on its own event loop in a thread, with the integrator of the service's tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jounce_service import JounceServer, ServerConfig

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "service")]
import integrator_model  # noqa: E402
from certificates import Authority  # noqa: E402
from closing_loop import ClosingLoop  # noqa: E402


@pytest.fixture
def registry() -> Any:
    """The models of the server."""
    return integrator_model.registry(integrator_model.IntegratorModel())


@pytest.fixture
def settings() -> dict[str, Any]:
    """Settings of the server that differ."""
    return {}


@pytest.fixture
def secured(tmp_path: Path) -> dict[str, Any]:
    """Settings for TLS with what ``authority.pem`` signed, and for the bearer token correct-horse-battery."""
    certificate, key = Authority(tmp_path, "authority").issue("server")
    (tmp_path / "tokens").write_text("correct-horse-battery\n")
    return {"tls_certificate": str(certificate), "tls_key": str(key), "token_file": str(tmp_path / "tokens")}


@pytest.fixture
def server(tmp_path: Path, registry: Any, settings: dict[str, Any]) -> Iterator[JounceServer]:
    """A running server."""
    loop = ClosingLoop()
    own = {"address": "127.0.0.1:0", "socket_path": str(tmp_path / "s"), "fast_socket": str(tmp_path / "f"),
           "fast_address": "127.0.0.1:0", "barrier_timeout": 0.3, "drain": 0.0}
    server = JounceServer(registry, ServerConfig(**(own | settings)))
    loop.run(server.start())
    yield server
    loop.run(server.stop())
    loop.end()


@pytest.fixture
def address(server: JounceServer) -> str:
    """Unix address of a running server."""
    return server.addresses[-1]
