"""``jounce serve`` as a process of its own, for tests that kill, limit or attack it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Served:
    """A running server; ``grpc`` and ``fast`` are its addresses, TCP before the unix socket."""

    process: subprocess.Popen[bytes]
    grpc: list[str]
    fast: list[str]

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """An orderly end; it must be one."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0

    def children(self) -> set[int]:
        """Its child processes."""
        found: set[int] = set()
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # a thread that has just ended
                found |= {int(p) for p in (task / "children").read_text().split()}
        return found


def serve(folder: Path, *flags: str, files: int | None = None, **environment: str) -> Served:
    """Starts a server on the unix sockets ``s`` and ``f`` (fast lane) of ``folder``; whoever calls ends it.

    It may open so many ``files``; None = as many as this process. What it writes is in the file ``errors``.
    """
    ready, errors = folder / "ready", folder / "errors"
    ready.unlink(missing_ok=True)
    limit = [] if files is None else ["sh", "-c", f'ulimit -Sn {files} && exec "$@"', "sh"]
    with errors.open("wb") as file:
        process = subprocess.Popen(
            [*limit, sys.executable, "-m", "jounce_tools.cli", "serve", "--address=", f"--socket-path={folder / 's'}",
             f"--fast-socket={folder / 'f'}", f"--ready-file={ready}", "--drain=0.2", *flags],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment,
            stdout=subprocess.DEVNULL, stderr=file)
    if not eventually(lambda: ready.exists() or process.poll() is not None, 600.0) or process.poll() is not None:
        process.kill()
        raise AssertionError(f"the server did not start: {process.wait()}: {errors.read_text()[-2000:]}")
    lines = ready.read_text().split()
    fast = [a.removeprefix("fast:") for a in lines if a.startswith("fast:")]
    return Served(process, [a for a in lines if not a.startswith("fast:")], fast)


def eventually(true: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether it becomes true within that time."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def ended(connection: socket.socket, seconds: float = 10.0) -> bool:
    """Whether the other side closes within that time."""
    connection.settimeout(seconds)
    try:
        while connection.recv(1 << 16):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True
