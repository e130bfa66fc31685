"""A server with the vehicle, for the bridges."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from jounce_service import JounceServer, ServerConfig
from jounce_service.hosting.fmu_model import registry


@contextlib.contextmanager
def serving(folder: Path, late_after: float) -> Iterator[str]:
    """Address of a server whose sessions go on without a bridge that is silent for so long [s]."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    config = ServerConfig(address="127.0.0.1:0", socket_path=str(folder / "s"), drain=0.0, late_after=late_after)
    server = JounceServer(registry(config), config)
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(600)  # what is stale is compiled first
    yield server.addresses[-1]
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(60)
    loop.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a running server, which is patient: the peers here wait for a machine that others use."""
    with serving(tmp_path_factory.mktemp("bridges"), 60.0) as found:
        yield found


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[str]:
    """Address of a server whose sessions go on after a second."""
    with serving(tmp_path, 1.0) as found:
        yield found
