"""An instance in a process of its own: its messages, its end, and what becomes of the process."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import hostile
import numpy as np
import pytest

from jounce_fmu.importer.host import Factory, FmuError, open_fmu
from jounce_fmu.importer.process import FmuGone, FmuProcess, Limits
from jounce_fmu.importer.worker import DONE, FRAME


@pytest.fixture
def made(factory: Factory) -> Iterator[FmuProcess]:
    """The oscillator, initialized."""
    process = FmuProcess(factory, "a", Limits(20.0, 1 << 30))
    process.setup({"mass": 3.0}, {"force": 2.0})
    yield process
    process.free()


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Factory:
    return replace(open_fmu(hostile.build(tmp_path_factory.mktemp("h") / "hostile.fmu")), by_tick=True)


def inputs(force: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([force, 1.0, 2.0, 3.0])


def test_inputs_act_before_outputs_are_read_and_a_state_holds_them(made: FmuProcess, factory: Factory) -> None:
    with factory.instance("b") as alone:
        alone.setup({"mass": 3.0}, {"force": 2.0})
        assert made.get_outputs().tolist() == alone.get_outputs().tolist()
        for each in (made, alone):
            each.set_inputs(inputs(5.0))
        assert made.get_outputs().tolist() == alone.get_outputs().tolist()
        for each in (made, alone):
            each.step(7)
            each.set_inputs(inputs(-1.0))
        assert made.get_state() == alone.get_state()
        asyncio.run(made.move(3))
        alone.step(3)
        assert made.get_outputs().tolist() == alone.get_outputs().tolist()
    with pytest.raises(FmuError, match="3 input values given; expected 4"):
        made.set_inputs(np.zeros(3))


def test_a_refusal_leaves_the_process_as_it_was(made: FmuProcess, factory: Factory) -> None:
    made.step(5)
    state = made.get_state()
    with pytest.raises(FmuError, match="shorter than its header"):
        made.set_state(b"x")
    assert made.get_state() == state
    assert not made.gone
    other = FmuProcess(factory, "b", Limits(20.0))
    with pytest.raises(FmuError, match="unknown input or parameter 'x'"):
        other.setup({"x": 1.0}, {})
    assert not other.gone
    other.free()


def test_a_state_revives_what_was_killed_and_a_bad_one_does_not(made: FmuProcess) -> None:
    made.step(5)
    state, before = made.get_state(), made.pid
    made.step(50)
    expected = made.get_outputs().tolist()
    os.kill(made.pid, signal.SIGKILL)
    with pytest.raises(FmuGone, match="signal 9"):
        made.step(1)
    # What came last can still be read, and nothing else works.
    assert made.gone and made.get_outputs().tolist() == expected
    for call in (made.step, made.get_state, lambda: asyncio.run(made.move(1))):
        with pytest.raises(FmuGone, match="has ended"):
            call()
    with pytest.raises(FmuError, match="shorter"):
        made.set_state(b"x")
    assert made.gone
    made.set_state(state)
    assert made.pid != before
    made.step(50)
    assert made.get_outputs().tolist() == expected


def test_processes_leave_no_descriptor_and_no_child(factory: Factory) -> None:
    def mine() -> tuple[int, int]:
        children = 0
        for task in Path("/proc/self/task").iterdir():
            # Threads of others end while this looks at them.
            with suppress(FileNotFoundError, ProcessLookupError):
                children += len((task / "children").read_text().split())
        return len(os.listdir("/proc/self/fd")), children

    before, _ = mine()
    for _ in range(3):
        process = FmuProcess(factory, "a", Limits(20.0))
        process.free()
        process.free()
    with pytest.raises(FmuError, match="cannot be loaded"):
        FmuProcess(replace(factory, library=Path(__file__)), "a", Limits(20.0))
    end = time.monotonic() + 60.0
    while mine() > (before, 0):
        assert time.monotonic() < end, (mine(), before)
        time.sleep(0.02)


def test_a_cancelled_move_ends_the_process_since_nobody_would_read_its_reply(bad: Factory) -> None:
    process = FmuProcess(bad, "a", Limits())
    process.setup({}, {})
    process.set_inputs(np.array([0.0, float(hostile.LOOP), 0.0]))

    async def give_up() -> None:
        async with asyncio.timeout(0.1):
            await process.move(1)

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    assert process.gone


def test_a_call_without_an_answer_ends_at_its_limit(bad: Factory) -> None:
    for call in (lambda p: p.step(1), lambda p: asyncio.run(p.move(1))):
        process = FmuProcess(bad, "a", Limits(0.5))
        process.setup({}, {})
        process.set_inputs(np.array([0.0, float(hostile.LOOP), 0.0]))
        begin = time.monotonic()
        with pytest.raises(FmuGone, match="did not answer within 0.5 s: its process was killed"):
            call(process)
        assert 0.5 <= time.monotonic() - begin < 10.0
        assert process.gone


def test_a_cap_on_memory_that_python_itself_exceeds_is_an_error(bad: Factory) -> None:
    with pytest.raises(FmuError, match="it may use 20000000 bytes|out of memory"):
        FmuProcess(bad, "a", Limits(20.0, 20_000_000))


@pytest.mark.parametrize("reply", [
    FRAME.pack(1 << 31, DONE), FRAME.pack(8, 7) + b"8 bytes.", FRAME.pack(8, DONE) + b"8 bytes.",
    FRAME.pack(0, DONE) + b"more",
])  # fmt: skip
def test_bytes_that_are_no_reply_end_the_process(made: FmuProcess, reply: bytes) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        made._socket.close()
        made._socket = ours
        theirs.sendall(reply)
        with pytest.raises(FmuGone):
            made.step(1)
    assert made.gone and made._process.poll() is not None
