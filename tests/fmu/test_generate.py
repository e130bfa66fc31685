"""The committed C is what the generator emits."""

from __future__ import annotations

import pytest

from jounce.data import load_vehicle
from jounce.emit import double_wishbone
from jounce.signals import Signal, SignalTable, table
from jounce_fmu.generate import FOLDER, files


def test_the_committed_c_is_what_the_generator_emits() -> None:
    emitted = files()
    for name, text in emitted.items():
        assert (FOLDER / name).read_text() == text, f"run python -m jounce_fmu.generate: {name}"
    assert {f.name for f in FOLDER.iterdir()} == emitted.keys()


def test_a_report_out_of_the_tables_order_is_not_emitted() -> None:
    signals = table(load_vehicle("hmmwv"))
    odd = SignalTable("odd", (Signal("strange", "output", "1", "not reported"), *signals.signals))
    with pytest.raises(ValueError, match="ref_frame.pos where the signal table has strange"):
        double_wishbone.check_reports(odd)
