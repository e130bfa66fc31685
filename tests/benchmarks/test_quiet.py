"""Which overruns the quiet benchmark attributes to the host."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce_fmu.build.library import has_cc
from jounce_service.session.pacing import Pacer, Pacing

FOLDER = Path(__file__).parents[2] / "benchmarks"
TICK = 1_000_000.0


@pytest.fixture(scope="module")
def quiet() -> Any:
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module("quiet")
    finally:
        sys.path.remove(str(FOLDER))


def test_where_no_real_time_priority_may_be_given_that_is_said_and_the_rest_goes_on(
    quiet: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    participants = sys.modules["participants"]

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(participants.os, "sched_setscheduler", refuse)
    with participants.apart(0):
        assert capsys.readouterr().out == ""
    with pytest.raises(PermissionError, match="its own"), participants.apart(30):
        assert "no real-time priority" in capsys.readouterr().out
        raise PermissionError("its own")


def test_overruns_are_found_in_the_log_of_a_client_that_sleeps_now_and_then(quiet: Any) -> None:
    sleeps = {100: 3.3e6, 500: 1.5e6, 700: 0.3e6, 900: 20.2e6}
    pacer, log, now, found = Pacer(Pacing(), 1e-3), [], 5e9, []
    for k in range(1000):
        begin = now + 10e3 + sleeps.get(k, 0.0)
        pacer.start(k, begin * 1e-9)
        before = pacer.overruns
        ready = begin + 150e3
        now = max(ready, pacer.release(k + 1, ready * 1e-9) * 1e9) + 30e3
        found += [k] if pacer.overruns > before else []
        log.append([begin, now])
    assert found == [100, 500, 900]
    begins, ends, over = quiet.rounds(np.array(log), pacer.overruns)
    assert (np.flatnonzero(over) + 1).tolist() == found
    # The round of a sleep: from when the state before it was due to when the next was ready.
    assert ends[99] - begins[99] == pytest.approx(3.3e6, abs=0.5e6)


def test_a_core_that_stays_away_over_several_wake_ups_was_away_once(quiet: Any) -> None:
    due = np.arange(1, 11) * quiet.WAKE
    woken = due + 20e3
    # Gone from before the fourth wake-up until after the seventh.
    woken[3:7] = due[6] + np.array([200e3, 210e3, 220e3, 230e3])
    moments, times, length = quiet.gone(due, woken)
    assert times == 1
    assert (moments[0, 0], moments[-1, 1]) == (woken[2], woken[6])
    assert length == woken[6] - due[3]
    assert quiet.gone(due, due + 20e3)[1:] == (0, 0.0)


moments = st.lists(st.tuples(st.integers(0, 100), st.integers(1, 30)), max_size=12)


@given(moments, moments)
def test_a_span_is_touched_where_it_overlaps_a_moment(quiet: Any, first: list[Any], second: list[Any]) -> None:
    spans, away = (np.array(sorted((b, b + n) for b, n in x), dtype=float).reshape(-1, 2) for x in (first, second))
    slow = [bool(np.any((away[:, 0] < end) & (away[:, 1] >= begin))) for begin, end in spans]
    assert quiet.touched(spans, away).tolist() == slow


@pytest.mark.skipif(not has_cc(), reason="the watchers are compiled with cc")
def test_it_counts_as_the_server_does_beside_watchers_on_each_core(tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / "quiet.py"), "--seconds=0.6", "--runs=1", f"--build={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if "needs CAP_SYS_NICE" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    nothing, *rows = ([x.strip() for x in line.split("|")[1:-1]] for line in done.stdout.splitlines()
                      if line.startswith(("| nothing", "| two C programs", "| fast lane, C, unix")))
    assert nothing[3:7] == ["-"] * 4
    for row, most in zip(rows, (200, 600), strict=True):
        overruns, told, undisturbed, own = (int(x.split()[0]) for x in row[3:7])
        assert overruns <= most and told <= most and own <= undisturbed <= most
