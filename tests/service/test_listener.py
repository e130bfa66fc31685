"""The fast lane's listener: one connection a turn of the loop, at a limited rate, and nobody is lost."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from jounce_service.transport.listener import MOST, Listener
from jounce_service.transport.reads import BURST, SPACING, Reads


class Noted(asyncio.Protocol):
    """Notes when its connection came."""

    came: list[float]
    turns: list[int]
    turn = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        type(self).came.append(asyncio.get_running_loop().time())
        type(self).turns.append(type(self).turn)
        transport.write(b"hello")
        transport.close()


async def listening(path: Path) -> Listener:
    Noted.came, Noted.turns, Noted.turn = [], [], 0
    bound = await asyncio.get_running_loop().create_unix_server(Noted, path, start_serving=False)
    return Listener(bound, Noted, Reads())


def connected(path: Path, count: int) -> list[socket.socket]:
    found = []
    for _ in range(count):
        found.append(socket.socket(socket.AF_UNIX))
        found[-1].connect(str(path))
    return found


def test_a_burst_is_accepted_one_a_turn_and_later_connections_are_spaced_and_none_is_lost(
        tmp_path: Path, finish: Any) -> None:
    async def run() -> None:
        listener = await listening(tmp_path / "s")
        waiting = connected(tmp_path / "s", BURST + 100)
        loop, begin = asyncio.get_running_loop(), asyncio.get_running_loop().time()

        def count() -> None:
            Noted.turn += 1
            if len(Noted.came) < len(waiting):
                loop.call_soon(count)

        count()
        while len(Noted.came) < len(waiting):
            await asyncio.sleep(0.001)
        assert len(set(Noted.turns)) == len(waiting), "two came in one turn of the loop"
        # Lower bounds only: a busy machine may be slower.
        assert Noted.came[-1] - begin > 0.99 * SPACING * 99
        for one in waiting:
            assert one.recv(10) == b"hello"
            one.close()
        listener.close()

    finish(run())


def test_where_no_descriptor_is_left_it_tells_so_and_goes_on_later(
        tmp_path: Path, finish: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jounce_service.transport.listener._PAUSE", 0.01)

    async def run() -> None:
        told: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        listener = await listening(tmp_path / "s")
        (real,) = listener._sockets

        class Full:
            tries = 0

            def accept(self) -> Any:
                self.tries += 1
                if self.tries < 4:
                    raise OSError(errno.EMFILE, "Too many open files")
                return real.accept()

            def __getattr__(self, name: str) -> Any:
                return getattr(real, name)

        asyncio.get_running_loop().remove_reader(real.fileno())
        listener._sockets = [Full()]  # type: ignore[list-item]
        listener._listen()
        (waiting,) = connected(tmp_path / "s", 1)
        while not Noted.came:
            await asyncio.sleep(0.001)
        assert [c["message"] for c in told] == ["no room for another connection"] * 3
        listener.close()
        waiting.close()
        asyncio.get_running_loop().set_exception_handler(None)

    finish(run())


def test_a_storm_of_one_process_keeps_nobody_else_out_and_what_is_too_much_is_closed(
        tmp_path: Path, finish: Any) -> None:
    async def run() -> None:
        listener = await listening(tmp_path / "s")
        storm = connected(tmp_path / "s", BURST + MOST + 200)
        # Another process is another origin.
        code = f"import socket as n; s = n.socket(n.AF_UNIX); s.connect({str(tmp_path / 's')!r}); print(s.recv(10))"
        other = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
        said, _ = await asyncio.wait_for(other.communicate(), 30.0)
        assert said.strip() == b"b'hello'"
        while listener._tasks:
            await asyncio.sleep(0.01)
        replies = []
        for one in storm:
            one.settimeout(10.0)
            replies.append(one.recv(10))
            one.close()
        assert set(replies) == {b"hello", b""} and replies.count(b"hello") >= BURST + MOST
        listener.close()

    finish(run())


def test_a_closed_listener_takes_nobody(tmp_path: Path, finish: Any) -> None:
    async def run() -> None:
        listener = await listening(tmp_path / "s")
        listener.close()
        with pytest.raises(ConnectionRefusedError):
            connected(tmp_path / "s", 1)
        await asyncio.sleep(0.01)
        assert not Noted.came

    finish(run())
