"""The worker process of an FMU instance, which takes requests over a socket. The other end is ``process.py``.

Requests and replies are frames: length of the body, a code, the body. Requests are pickled, since they come from the
process that started this one. Replies are only numbers and text, since a foreign library runs here.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import struct
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

import numpy as np

from jounce_fmu.importer.instance import FmuError

if TYPE_CHECKING:
    from jounce_fmu.importer.instance import FmuInstance

FRAME: Final = struct.Struct("<IB")
COUNT: Final = struct.Struct("<I")
TICK: Final = struct.Struct("<d")
#: Requests. OPEN: pickled Factory and name. SETUP: pickled parameters and start inputs. STEP: ticks, and all inputs
#: or none. LOAD: a state. SETUP, STEP and LOAD are answered with tick length and outputs, SAVE with the state.
OPEN, SETUP, STEP, SAVE, LOAD = range(5)
#: Replies. The body of REFUSED is the number of complete ticks and the reason.
DONE, REFUSED = range(2)
#: Time [s] that the FMU gets to end after the other end has closed the socket.
GRACE: Final = 2.0


def main(descriptor: int, memory: int) -> None:
    """Serves until the other end is closed. ``memory`` [bytes] limits the address space; 0 is without limit."""
    # Libraries print to standard output, which belongs to the server.
    os.dup2(2, 1)
    # Ctrl-C and systemd signal every process of a service, but the server decides when this one ends.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    if memory:
        _limit(memory)
    connection = socket.socket(fileno=descriptor)
    threading.Thread(target=_end_with, args=(descriptor,), daemon=True).start()
    _step_down()
    worker = _Worker()
    while (head := _exactly(connection, FRAME.size)) is not None:
        length, code = FRAME.unpack(head)
        body = _exactly(connection, length)
        if body is None:
            break
        try:
            status, reply = DONE, worker.answer(code, body)
        except FmuError as error:
            status, reply = REFUSED, COUNT.pack(error.done) + str(error).encode()
        except MemoryError:
            status, reply = REFUSED, COUNT.pack(0) + f"out of memory: the limit is {memory} bytes".encode()
        connection.sendall(FRAME.pack(len(reply), status) + reply)
    worker.free()


class _Worker:
    instance: FmuInstance | None = None

    def answer(self, code: int, body: bytes) -> bytes:
        if code == OPEN:
            factory, name = pickle.loads(body)
            self.instance = factory.instance(name)
            return b""
        assert self.instance is not None
        if code == SAVE:
            return self.instance.get_state()
        if code == SETUP:
            self.instance.setup(*pickle.loads(body))
        elif code == LOAD:
            self.instance.set_state(body)
        else:
            (ticks,) = COUNT.unpack_from(body)
            if len(body) > COUNT.size:
                self.instance.set_inputs(np.frombuffer(body, dtype=np.float64, offset=COUNT.size))
            if ticks:
                self.instance.step(ticks)
        return TICK.pack(self.instance.tick_length) + self.instance.get_outputs().tobytes()

    def free(self) -> None:
        if self.instance is not None:
            self.instance.free()


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(min(size - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return bytes(data)


def _limit(memory: int) -> None:
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory if most == resource.RLIM_INFINITY else min(memory, most), most))


def _step_down() -> None:
    """Lowers a real-time priority by one, so that the server can interrupt a library that loops on the same core."""
    if hasattr(os, "sched_getscheduler") and os.sched_getscheduler(0) == os.SCHED_FIFO:
        lower = max(1, os.sched_getparam(0).sched_priority - 1)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(lower))


def _end_with(descriptor: int) -> None:
    """Ends the process soon after the other end is closed, even if the library loops."""
    poll = select.poll()
    poll.register(descriptor, 0)
    poll.poll()
    time.sleep(GRACE)
    sys.stderr.flush()
    os._exit(1)
