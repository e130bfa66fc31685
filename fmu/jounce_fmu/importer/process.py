"""Runs an FMU instance in its own process, with the methods of an `FmuInstance`; a crash there is an FmuError here.

The inputs are sent with the step and the outputs come back with its reply, so a step is one message each way.
"""

from __future__ import annotations

import asyncio
import logging
import math
import pickle
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from jounce.values import Value
from jounce_fmu.importer.allowance import INTERVAL, Allowance
from jounce_fmu.importer.host import Factory
from jounce_fmu.importer.instance import Array, FmuError
from jounce_fmu.importer.output import Output
from jounce_fmu.importer.worker import COUNT, DONE, FRAME, GRACE, LOAD, OPEN, SAVE, SETUP, STEP, TICK

#: Bytes read at a time.
_PIECE: Final = 1 << 16
#: Longest reply that is accepted [bytes].
_MOST: Final = 1 << 30
#: Wall-clock time [s] that a process may take to start and to load the library.
STARTING: Final = 30.0
#: Rate at which a process may print [bytes/s]; reading its output takes time of this process.
_PRINTED: Final = 1 << 20
_CODE: Final = (
    "import sys; sys.path[:] = {path!r}; "
    "from jounce_fmu.importer.worker import main; main({descriptor}, {memory})"
)
_log = logging.getLogger(__name__)


class FmuGone(FmuError):
    """The process of the instance has ended or was killed."""


@dataclass(frozen=True)
class Limits:
    """Limits of a worker process."""

    seconds: float = math.inf
    """Wall-clock time after which a worker that does not answer is killed [s]. Stalls of the calling process do not
    count, and the start of a worker gets at least `STARTING`."""
    memory: int = 0
    """Address space [bytes]; 0 is without limit."""


class FmuProcess:
    """One instance in its own process. It takes one call at a time, from any thread or as a coroutine."""

    def __init__(self, factory: Factory, name: str, limits: Limits) -> None:
        """Starts the process and instantiates; `setup` or `set_state` must be called next. Raises FmuError."""
        self.table = factory.table
        self.tick_length = factory.tick_length
        self.keeps_state = factory.interface.keeps_state
        self._name, self._limits = name, limits
        self._opening = pickle.dumps((replace(factory, keep=None), name))
        self._outputs = np.zeros(len(self.table.outputs))
        self._start()

    def _start(self) -> None:
        self._buffer = bytearray()
        self._given = b""
        self._asking = False
        self._socket, self._process = self._spawn()
        self._socket.setblocking(False)
        try:
            self._ask(OPEN, self._opening, max(self._limits.seconds, STARTING))
        except FmuError:
            self.free()
            raise

    def _spawn(self) -> tuple[socket.socket, subprocess.Popen[bytes]]:
        try:
            ours, theirs = socket.socketpair()
            with theirs:
                path, end = [str(p) for p in sys.path], theirs.fileno()
                code = _CODE.format(path=path, descriptor=end, memory=self._limits.memory)
                process = subprocess.Popen(
                    [sys.executable, "-P", "-c", code],
                    pass_fds=[end],
                    stdin=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    # Signals from a terminal must reach only the server.
                    start_new_session=True,
                )
            assert process.stderr is not None
            facts = {"fmu": self.table.name, "instance": self._name, "pid": process.pid}
            Output(process.stderr, partial(_log.info, "%s", extra=facts), _PRINTED).start()
        except (OSError, RuntimeError) as error:  # The process or the thread could not be started.
            raise FmuGone(f"cannot start a process for {self.table.name}: {error}") from error
        return ours, process

    @property
    def gone(self) -> bool:
        """Whether the process has ended."""
        return self._socket.fileno() < 0

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    def setup(self, parameters: Mapping[str, Value], start_inputs: Mapping[str, Value]) -> None:
        """Sets parameters and start inputs, and initializes the FMU; raises FmuError."""
        self._show(self._ask(SETUP, pickle.dumps((dict(parameters), dict(start_inputs)))))

    def set_inputs(self, values: Array) -> None:
        """Sets all inputs; they are sent with the next step, or before outputs or state are read."""
        if len(values) != len(self.table.inputs):
            raise FmuError(f"{len(values)} input values given; expected {len(self.table.inputs)}")
        self._given = np.asarray(values, dtype=np.float64).tobytes()

    def step(self, n_ticks: int = 1) -> None:
        """Advances by whole ticks."""
        self._show(self._ask(STEP, self._step(n_ticks)))

    async def move(self, n_ticks: int) -> None:
        """Like `step`, but as a coroutine; with 0 ticks it only sets the inputs."""
        self._show(await self._ask_soon(STEP, self._step(n_ticks)))

    def get_outputs(self) -> Array:
        """Returns the last outputs, also after the process has ended. If inputs are set since, it fetches new ones."""
        if self._given:
            self.step(0)
        return self._outputs

    def get_state(self) -> bytes:
        """Returns the complete state; raises FmuError if the FMU cannot save it."""
        if self._given:
            self.step(0)
        return self._ask(SAVE, b"")

    def set_state(self, state: bytes) -> None:
        """Sets a state, in a new process if the old one has ended; raises FmuError."""
        self._given = b""
        if not self.gone:
            self._show(self._ask(LOAD, state))
            return
        self._start()
        try:
            self._show(self._ask(LOAD, state))
        except FmuError:
            self.free()
            raise

    def interrupt(self) -> None:
        """Kills the process if a call is under way; otherwise does nothing."""
        if self._asking and not self.gone:
            self._process.kill()

    def free(self) -> None:
        """Ends the process without waiting for it; may be called again."""
        if not self.gone:
            self._socket.close()
            threading.Thread(target=_reap, args=(self._process,)).start()

    # ------------------------------------------------------------ inside

    def _ask(self, code: int, body: bytes, seconds: float = 0.0) -> bytes:
        allowance = Allowance(seconds or self._limits.seconds)
        self._check_there()
        try:
            # Non-blocking sends: a blocking one that timed out would not say how much was sent.
            rest = memoryview(FRAME.pack(len(body), code) + body)
            while rest:
                self._wait(allowance, selectors.EVENT_WRITE)
                rest = rest[self._socket.send(rest) :]
            while not self._complete():
                self._wait(allowance, selectors.EVENT_READ)
                self._take(self._socket.recv(_PIECE))
        except TimeoutError:
            raise self._killed() from None
        except OSError:
            raise self._ended() from None
        return self._reply()

    async def _ask_soon(self, code: int, body: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        self._check_there()
        try:
            async with _allowed(self._limits.seconds):
                await loop.sock_sendall(self._socket, FRAME.pack(len(body), code) + body)
                while not self._complete():
                    self._take(await loop.sock_recv(self._socket, _PIECE))
        except TimeoutError:
            raise await asyncio.to_thread(self._killed) from None
        except OSError:
            raise await asyncio.to_thread(self._ended) from None
        except asyncio.CancelledError:
            # The reply would be taken for that of the next call.
            self._process.kill()
            self.free()
            raise
        return self._reply()

    def _step(self, n_ticks: int) -> bytes:
        given, self._given = self._given, b""
        return COUNT.pack(n_ticks) + given

    def _wait(self, allowance: Allowance, event: int) -> None:
        """Waits until the socket is ready; raises TimeoutError."""
        with selectors.PollSelector() as selector:
            selector.register(self._socket, event)
            while not selector.select(None if (left := allowance.look()) == math.inf else left):
                if not left:
                    raise TimeoutError

    def _check_there(self) -> None:
        if self.gone:
            raise FmuGone(f"the process of {self.table.name} has ended")
        self._asking = True

    def _take(self, data: bytes) -> None:
        if not data:
            raise ConnectionResetError
        self._buffer += data

    def _complete(self) -> bool:
        if len(self._buffer) < FRAME.size:
            return False
        length, code = FRAME.unpack_from(self._buffer)
        if length > _MOST or code > 1 or len(self._buffer) > FRAME.size + length:
            self._process.kill()
            raise ConnectionAbortedError
        return len(self._buffer) == FRAME.size + int(length)

    def _reply(self) -> bytes:
        self._asking = False
        _, code = FRAME.unpack_from(self._buffer)
        body = bytes(self._buffer[FRAME.size :])
        self._buffer.clear()
        if code != DONE:
            if len(body) < COUNT.size:
                self._process.kill()
                raise self._ended()
            raise FmuError(body[COUNT.size :].decode(errors="replace"), *COUNT.unpack_from(body))
        return body

    def _show(self, reply: bytes) -> None:
        if len(reply) != TICK.size + self._outputs.nbytes:
            self._process.kill()
            raise self._ended()
        (self.tick_length,) = TICK.unpack_from(reply)
        self._outputs = np.frombuffer(reply, dtype=np.float64, offset=TICK.size)

    def _killed(self) -> FmuGone:
        self._process.kill()
        self._process.wait()
        self._socket.close()
        return FmuGone(f"{self.table.name} did not answer within {self._limits.seconds:g} s: its process was killed")

    def _ended(self) -> FmuGone:
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._socket.close()
        how = f"exit code {code}" if code >= 0 else f"signal {-code} ({signal.strsignal(-code)})"
        allowed = f"; it may use {self._limits.memory} bytes" if self._limits.memory else ""
        return FmuGone(f"the process of {self.table.name} ended with {how}{allowed}")


@asynccontextmanager
async def _allowed(seconds: float) -> AsyncIterator[None]:
    """Raises TimeoutError if the block takes longer; stalls of this process do not count."""
    loop, allowance = asyncio.get_running_loop(), Allowance(seconds)
    handle: asyncio.TimerHandle | None = None
    async with asyncio.timeout(None) as limit:

        def look() -> None:
            nonlocal handle
            left = allowance.look()
            if left:
                handle = loop.call_later(left, look)
            else:
                limit.reschedule(loop.time())

        if seconds < math.inf:
            handle = loop.call_later(min(seconds, INTERVAL), look)
        try:
            yield
        finally:
            if handle is not None:
                handle.cancel()


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(GRACE + 1.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
