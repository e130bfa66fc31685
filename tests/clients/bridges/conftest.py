"""A server with the vehicle, for the bridges."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from jounce_fmu.importer.host import open_builtin
from jounce_service import JounceServer, ServerConfig
from jounce_service.hosting.fmu_model import registry


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a running server."""
    open_builtin()  # compiled here where it is stale: a client waits for ten seconds only
    folder: Path = tmp_path_factory.mktemp("bridges")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    config = ServerConfig(address="127.0.0.1:0", socket_path=str(folder / "s"), drain=0.0)
    server = JounceServer(registry(config), config)
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(60)
    yield server.addresses[-1]
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()
