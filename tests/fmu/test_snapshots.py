"""Snapshots: restore then step equals never restored, bit for bit."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from jounce_fmu.importer.host import Factory, Fmu2Instance, FmuError


def run_on(fmu: Fmu2Instance) -> bytes:
    rows = []
    for k in range(50):
        fmu.set_inputs(np.array([10.0 * np.sin(0.1 * k), 0.1 * k, 1.0, -k]))
        fmu.step(7)
        rows.append(fmu.get_outputs())
    return np.array(rows).tobytes()


def ready(factory: Factory) -> Fmu2Instance:
    fmu = factory.instance("snap")
    fmu.setup({"x0": 0.2, "cubic": True, "tick": 0.002}, {"force": 3.0}, start_time=5.0)
    fmu.step(123)
    fmu.set_values({"gain": 1.5})  # pending until the next step: part of the state, too
    return fmu


def test_a_restored_run_equals_the_first_bit_for_bit(factory: Factory) -> None:
    fmu = ready(factory)
    blob, outputs = fmu.get_state(), fmu.get_outputs()
    first = run_on(fmu)
    fmu.set_state(blob)
    assert np.array_equal(fmu.get_outputs(), outputs)
    assert fmu.get_state() == blob
    assert run_on(fmu) == first
    with factory.instance("other") as other:
        other.set_state(blob)
        assert other.time == 5.0 + 123 * 0.002
        assert run_on(other) == first


def test_another_process_goes_on_bit_for_bit(factory: Factory, tmp_path: Path) -> None:
    fmu = ready(factory)
    (tmp_path / "blob").write_bytes(fmu.get_state())
    script = (
        "import sys; from pathlib import Path; folder, library, tests = map(Path, sys.argv[1:4])\n"
        "sys.path[:0] = sys.argv[4:]\n"
        "sys.path.insert(0, str(tests))\n"
        "import oscillator, test_snapshots; from jounce_fmu.importer.host import Fmu2Instance\n"
        "fmu = Fmu2Instance(library, oscillator.TABLE, 'x'); fmu.set_state((folder / 'blob').read_bytes())\n"
        "(folder / 'rows').write_bytes(test_snapshots.run_on(fmu))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path), str(factory.library), str(Path(__file__).parent)]
    subprocess.run([*command, *filter(None, sys.path)], check=True)
    assert (tmp_path / "rows").read_bytes() == run_on(fmu)


def test_a_snapshot_revives_a_failed_and_a_terminated_instance(factory: Factory) -> None:
    fmu = factory.instance("f")
    fmu.setup({"damping": -100.0})
    blob = fmu.get_state()
    with pytest.raises(FmuError):
        fmu.step(5_000)
    fmu.set_state(blob)
    fmu.step(10)
    fmu.terminate()
    fmu.set_state(blob)
    fmu.step(10)


def test_a_damaged_or_foreign_blob_changes_nothing(factory: Factory) -> None:
    fmu = ready(factory)
    blob = fmu.get_state()
    header = 24  # the host's own clock
    for place in range(header, len(blob), 5):
        bad = bytearray(blob)
        bad[place] ^= 0x41
        with pytest.raises(FmuError, match="snapshot"):
            fmu.set_state(bytes(bad))
    for bad_blob in (b"", blob[:10], blob[:-8], blob + bytes(8), blob[:header]):
        with pytest.raises(FmuError):
            fmu.set_state(bad_blob)
    assert fmu.get_state() == blob


def test_instances_step_in_different_threads(factory: Factory) -> None:
    def work(_: int) -> bytes:
        with ready(factory) as fmu:
            return run_on(fmu)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(work, range(32)))) == 1
