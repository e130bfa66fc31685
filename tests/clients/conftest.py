"""A real server on its own event loop in a thread, with the integrator of the service's tests."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jounce_service import JounceServer, ServerConfig

sys.path.insert(0, str(Path(__file__).parent))
_FILE = Path(__file__).parents[1] / "service" / "integrator_model.py"


def integrator_registry() -> Any:
    """Registry of the service tests' hand-computable model."""
    if "integrator_model" not in sys.modules:
        spec = importlib.util.spec_from_file_location("integrator_model", _FILE)
        assert spec and spec.loader
        sys.modules["integrator_model"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["integrator_model"])
    module = sys.modules["integrator_model"]
    return module.registry(module.IntegratorModel())


@pytest.fixture
def registry() -> Any:
    """The models of the server."""
    return integrator_registry()


@pytest.fixture
def settings() -> dict[str, Any]:
    """Settings of the server that differ."""
    return {}


@pytest.fixture
def server(tmp_path: Path, registry: Any, settings: dict[str, Any]) -> Iterator[JounceServer]:
    """A running server."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    own = {"address": "127.0.0.1:0", "socket_path": str(tmp_path / "s"), "fast_socket": str(tmp_path / "f"),
           "fast_address": "127.0.0.1:0", "barrier_timeout": 0.3, "drain": 0.2}
    server = JounceServer(registry, ServerConfig(**(own | settings)))
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(30)
    yield server
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


@pytest.fixture
def address(server: JounceServer) -> str:
    """Unix address of a running server."""
    return server.addresses[-1]
