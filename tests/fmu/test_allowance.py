"""The time limit of a worker does not count the time in which its server does not run."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import hostile
import numpy as np
import pytest

from jounce_fmu.importer import allowance
from jounce_fmu.importer.allowance import INTERVAL, STALL, Allowance
from jounce_fmu.importer.host import open_fmu
from jounce_fmu.importer.process import FmuGone, FmuProcess, Limits

#: Prints a line, makes 12 steps of 50 ms of processor time in one request, and prints what came of it.
ASKING = """
import asyncio, sys
from dataclasses import replace
import numpy as np
from jounce_fmu.importer.host import open_fmu
from jounce_fmu.importer.process import FmuProcess, Limits
process = FmuProcess(replace(open_fmu(sys.argv[1]), by_tick=True), "a", Limits(float(sys.argv[3]), 0))
process.setup({}, {})
process.set_inputs(np.array([0.5, 7.0, 1.0]))
print("asks", flush=True)
asyncio.run(process.move(12)) if sys.argv[2] == "soon" else process.step(12)
print(process.get_outputs()[1], flush=True)
process.free()
"""


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr(allowance, "time", one)
    return one


def test_it_ends_after_its_time_when_it_is_looked_at_often(clock: Clock) -> None:
    one = Allowance(1.0)
    looks = 0
    while left := one.look():
        assert 0.0 < left <= INTERVAL
        clock.now += max(left, 1e-6)
        looks += 1
    assert clock.now == pytest.approx(101.0)
    assert looks == pytest.approx(1.0 / INTERVAL, abs=2)


@pytest.mark.parametrize("at", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("stall", [1.01 * STALL, 1.5, 86400.0])
def test_a_stall_counts_as_one_interval_and_leaves_time_to_read(clock: Clock, at: float, stall: float) -> None:
    one = Allowance(1.0)
    while clock.now < 100.0 + at:
        clock.now += min(max(one.look(), 1e-6), 100.0 + at - clock.now)
    clock.now += stall
    assert one.look() > 0.0
    begin = clock.now
    while left := one.look():
        clock.now += max(left, 1e-6)
    assert clock.now - begin == pytest.approx(max(1.0 - at - INTERVAL, INTERVAL), abs=INTERVAL)


def test_a_process_that_stalls_all_the_time_does_not_wait_for_ever(clock: Clock) -> None:
    one = Allowance(1.0)
    for _ in range(100):
        if not one.look():
            return
        clock.now += 2.0 * STALL
    pytest.fail("it never ends")


def test_infinite_time_needs_no_look() -> None:
    assert Allowance(float("inf")).look() == float("inf")


@pytest.mark.parametrize("how", ["soon", "at once"])
def test_a_server_that_was_stopped_takes_its_workers_answer_in(tmp_path: Path, how: str) -> None:
    fmu = hostile.build(tmp_path / "hostile.fmu")
    server = subprocess.Popen([sys.executable, "-c", ASKING, str(fmu), how, "6"], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, env=os.environ | {
                                  "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    assert server.stdout is not None
    assert server.stdout.readline() == "asks\n"
    server.send_signal(signal.SIGSTOP)
    try:
        time.sleep(6.5)
    finally:
        server.send_signal(signal.SIGCONT)
    out, errors = server.communicate(timeout=60)
    assert (out, server.returncode) == ("12.0\n", 0), errors


def test_a_worker_that_hangs_is_still_killed(tmp_path: Path) -> None:
    factory = replace(open_fmu(hostile.build(tmp_path / "hostile.fmu")), by_tick=True)
    for soon in (True, False):
        process = FmuProcess(factory, "a", Limits(0.5, 0))
        process.setup({}, {})
        process.set_inputs(np.array([0.5, float(hostile.LOOP), 1.0]))
        with pytest.raises(FmuGone, match=r"did not answer within 0\.5 s"):
            asyncio.run(process.move(1)) if soon else process.step(1)
        assert process.gone
