"""The committed C is what the generator emits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jounce.axles import WHEELS
from jounce.data import load_vehicle
from jounce.models.double_wishbone import emit as double_wishbone
from jounce.models.double_wishbone import powered
from jounce.models.double_wishbone.signals import table
from jounce.signals import Signal, SignalTable
from jounce_fmu.build.library import Sources, builtin_sources, ensure_library
from jounce_fmu.importer.foreign import Interface
from jounce_fmu.importer.host import Factory
from jounce_fmu.models import Model, axles, ce, find, powertrain
from jounce_fmu.models.double_wishbone import GENERATED, emit


@pytest.mark.parametrize("model", [find("hmmwv"), find("halfcar")], ids=lambda m: m.name)
def test_the_committed_c_is_what_the_generator_emits(model: Model) -> None:
    emitted = model.emit()
    for path, text in emitted.items():
        assert path.read_text() == text, f"run python -m jounce_fmu.build.generate: {path.name}"
    ledger = next(p for p in emitted if p.name == "references.txt")
    assert {*model.table_file.parent.iterdir(), ledger} == emitted.keys()


def test_the_committed_c_of_the_kinds_of_axles_is_what_the_generator_emits() -> None:
    emitted = axles.emit_shared()
    for path, text in emitted.items():
        assert path.read_text() == text, f"run python -m jounce_fmu.build.generate: {path.name}"
    assert {*axles.GENERATED.iterdir()} == {path for path in emitted if path.parent == axles.GENERATED}


def test_the_committed_c_of_the_powertrain_is_what_the_generator_emits() -> None:
    emitted = powertrain.emit()
    for path, text in emitted.items():
        assert path.read_text() == text, f"run python -m jounce_fmu.build.generate: {path.name}"
    folders = {path.parent for path in emitted if path.parent.name == "generated"}
    assert {path for folder in folders for path in folder.iterdir()} == emitted.keys() - {powered.LEDGER}


@pytest.mark.slow
def test_the_committed_c_of_trucks_in_minimal_coordinates_is_what_the_generator_emits() -> None:
    emitted = ce.emit_shared()
    for path, text in emitted.items():
        assert path.read_text() == text, f"run python -m jounce_fmu.build.generate: {path.name}"
    assert {*ce.GENERATED.iterdir()} == {path for path in emitted if path.parent == ce.GENERATED}


def test_a_report_out_of_the_tables_order_is_not_emitted() -> None:
    signals = table(load_vehicle("hmmwv"))
    odd = SignalTable("odd", (Signal("strange", "output", "1", "not reported"), *signals.signals))
    with pytest.raises(ValueError, match="ref_frame.pos where the signal table has strange"):
        double_wishbone.check_reports(odd)


def test_inputs_of_a_wheel_in_another_order_are_not_emitted() -> None:
    signals = list(table(load_vehicle("hmmwv")).signals)
    places = [next(i for i, s in enumerate(signals) if s.name == f"wheel_RL.{name}") for name in ("force", "moment")]
    signals[places[0]], signals[places[1]] = signals[places[1]], signals[places[0]]
    with pytest.raises(ValueError, match=r"wheel_RL has the input moment\.x where wheel_FL has force\.x"):
        double_wishbone.check_inputs(SignalTable("odd", tuple(signals)))


@pytest.mark.slow
def test_force_and_moment_keep_their_meaning_when_the_table_swaps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table may order a wheel's inputs as it likes: the model finds them by name."""
    signals = list(table(load_vehicle("hmmwv")).signals)
    for wheel in WHEELS:
        first = next(i for i, s in enumerate(signals) if s.name == f"wheel_{wheel}.force")
        signals[first], signals[first + 1] = signals[first + 1], signals[first]
    swapped = replace(table(load_vehicle("hmmwv")), signals=tuple(signals))
    for path, text in emit(swapped).items():
        (tmp_path / path.name).write_text(text)
    own = tuple(f for f in builtin_sources().files if f.parent != GENERATED)
    emitted = tuple(p for p in tmp_path.iterdir() if p.suffix in (".c", ".h", ".inc"))
    with monkeypatch.context() as quick:
        quick.setenv("JOUNCE_OPTIMIZE", "0")
        library = ensure_library(Sources("jounce_swapped", (*own, *emitted)), tmp_path)
    ends = []
    for signals_of, built in ((table(load_vehicle("hmmwv")), ensure_library(builtin_sources())), (swapped, library)):
        with Factory("hmmwv", built, Interface.of_table(signals_of)).instance("pushed") as fmu:
            fmu.setup({"tire_source": "EXTERNAL"})
            given = {"wheel_FL.force.z": 7000.0, "wheel_FL.moment.x": 300.0, "wheel_RR.force.y": -500.0}
            fmu.set_inputs(np.array([given.get(s.name, s.start) for s in signals_of.inputs]))
            fmu.step(20)
            ends.append(fmu.get_outputs())
    assert np.array_equal(*ends)
