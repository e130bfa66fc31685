"""FMI 3 snapshots: restore then step equals never restored, bit for bit, over processes, forms and modes."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from raw3 import OK, Raw3

from jounce_fmu.importer.host import Factory


def started(factory: Factory, *, events: bool = False) -> Raw3:
    raw = Raw3(str(factory.library), factory.interface.guid, events=events)
    assert raw.set("x0 tick", 0.2, 0.002) == OK
    assert raw.set("cubic", 1, kind="Boolean") == OK
    raw.ready(start=5.0)
    if events:
        assert raw.call("EnterStepMode") == OK
    assert raw.set("push", 3.0, 2.0, 1.0) == OK
    assert raw.step(5.0, 0.246) == OK
    assert raw.set("gain", 1.5) == OK  # pending until the next step: part of the state, too
    return raw


def run_on(raw: Raw3, start: float = 5.246) -> list[float]:
    rows: list[float] = []
    for k in range(50):
        assert raw.set("force push", 10.0 * math.sin(0.1 * k), 0.1 * k, 1.0, -k) == OK
        assert raw.step(start + 0.014 * k, 0.014) == OK
        rows += raw.get("position velocity acceleration load time", 7) + raw.get("tick_count", 1, "Int64")
    return rows


def test_a_restored_run_equals_the_first_bit_for_bit(factory: Factory) -> None:
    raw = started(factory)
    blob = raw.save()
    first = run_on(raw)
    assert raw.load(blob) == OK
    assert raw.save() == blob
    assert run_on(raw) == first
    other = Raw3(str(factory.library), factory.interface.guid)
    assert other.load(blob) == OK
    assert run_on(other) == first


def test_another_process_without_arrays_goes_on_bit_for_bit(factory: Factory, tmp_path: Path) -> None:
    raw = started(factory)
    (tmp_path / "blob").write_bytes(raw.save())
    script = Path(__file__).parent / "raw3.py"
    snippet = (
        f"import math; from pathlib import Path; f=new(); p=Path({str(tmp_path)!r})\n"
        "assert f.load((p / 'blob').read_bytes()) == OK\nrows=[]\n"
        "for k in range(50):\n"
        "  v=(ct.c_double * 4)(10.0 * math.sin(0.1 * k), 0.1 * k, 1.0, -k)\n"
        "  assert f.values('Set', 'Float64', [1000, 1001, 1002, 1003], v) == OK\n"
        "  assert f.step(5.246 + 0.014 * k, 0.014) == OK; w=(ct.c_double * 7)()\n"
        "  assert f.values('Get', 'Float64', [10000, 10001, 10002, 10004, 10005, 10006, 0], w) == OK\n"
        "  rows += list(w) + f.get('tick_count', 1, 'Int64')\n"
        "(p / 'rows').write_text(repr(rows))"
    )
    command = [sys.executable, str(script), str(factory.library), factory.interface.guid + "scalars", snippet]
    subprocess.run(command, check=True)
    assert (tmp_path / "rows").read_text() == repr(run_on(raw))


@pytest.mark.parametrize("events", [False, True])
def test_a_snapshot_brings_back_its_mode(factory: Factory, events: bool) -> None:
    raw = started(factory, events=events)
    if events:
        assert raw.call("EnterEventMode") == OK
    blob = raw.save()
    if events:
        assert raw.call("EnterStepMode") == OK
    first = run_on(raw)
    assert raw.call("Terminate") == OK
    assert raw.load(blob) == OK
    if events:
        assert raw.call("EnterStepMode") == OK
    assert run_on(raw) == first
    assert raw.call("Reset") == OK
    assert raw.load(blob) == OK


def test_a_state_object_is_reused_and_serves_another_instance(factory: Factory) -> None:
    import ctypes as ct

    a, b = started(factory), started(factory)
    state = ct.c_void_p()
    assert a.call("GetFMUState", ct.byref(state)) == OK
    first = run_on(a)
    address = state.value
    assert b.call("GetFMUState", ct.byref(state)) == OK
    assert state.value == address
    assert a.call("SetFMUState", state) == OK
    assert run_on(a) == first
    assert b.call("FreeFMUState", ct.byref(state)) == OK
    assert not state
