"""A model that steps itself: exact motion, faults that change nothing, snapshots, and no model exchange."""

from __future__ import annotations

import math
from pathlib import Path

import fmpy.validation
import numpy as np
import pytest

from jounce.signals import Signal, SignalTable
from jounce_fmu.build.library import Sources, ensure_library
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.build.table_c import emit_header, emit_table
from jounce_fmu.description.fmi2 import model_description
from jounce_fmu.importer.foreign import Interface
from jounce_fmu.importer.host import Factory, FmuError


def _parameter(name: str, unit: str, start: float, text: str, low: float, high: float) -> Signal:
    return Signal(name, "parameter", unit, text, start=(start,), minimum=low, maximum=high, variability="fixed")


TABLE = SignalTable("bouncer", (
    Signal("lift", "input", "m/s2", "against gravity", minimum=0.0, maximum=9.0),
    Signal("height", "output", "m", "above the ground"),
    Signal("speed", "output", "m/s", "upwards"),
    _parameter("tick", "s", 0.001, "internal step", 1e-5, 1.0),
    _parameter("gravity", "m/s2", 9.81, "along -z", 1.0, 100.0),
    _parameter("restitution", "1", 0.8, "speed after over speed before an impact", 0.0, 1.0),
    _parameter("height_start", "m", 1.0, "height at the start", 0.0, 100.0),
))  # fmt: skip


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    folder = tmp_path_factory.mktemp("bouncer")
    table, header = folder / "bouncer_table.c", folder / "bouncer_table.h"
    table.write_text(emit_table(TABLE, "bouncer"))
    header.write_text(emit_header(TABLE, "bouncer"))
    return Sources("jounce_bouncer", (Path(__file__).parent / "bouncer.c", table, header))


@pytest.fixture(scope="module")
def factory(sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Factory:
    return Factory("bouncer", ensure_library(sources, tmp_path_factory.mktemp("native")), Interface.of_table(TABLE))


def fall(height: float, restitution: float, seconds: float, g: float = 9.81) -> float:
    """Height after a fall from rest with impacts (textbook)."""
    speed, time = math.sqrt(2 * g * height), math.sqrt(2 * height / g)
    if seconds <= time:
        return height - g * seconds**2 / 2
    while seconds > time:
        speed *= restitution
        flight, start = 2 * speed / g, time
        time += flight
    return speed * (seconds - start) - g * (seconds - start) ** 2 / 2


@pytest.mark.parametrize("tick", [0.001, 0.01, 0.1])
def test_its_own_step_is_exact_at_any_tick(factory: Factory, tick: float) -> None:
    with factory.instance("ball") as ball:
        ball.setup({"tick": tick})
        for k in range(1, 21):
            ball.step(round(0.1 / tick))
            assert ball.get_outputs()[0] == pytest.approx(fall(1.0, 0.8, 0.1 * k), abs=1e-10)


def test_a_fault_of_its_step_leaves_the_state_and_names_the_signal(factory: Factory) -> None:
    with factory.instance("ball") as ball:
        ball.setup({"restitution": 0.5, "tick": 0.01})
        with pytest.raises(FmuError, match=r"speed = .*more than 1000 impacts in a tick"):
            for _ in range(1000):
                ball.step()


def test_a_snapshot_in_flight_goes_on_with_the_same_bits(factory: Factory) -> None:
    with factory.instance("one") as one, factory.instance("other") as other:
        one.setup()
        one.step(700)
        other.setup()
        other.set_state(one.get_state())
        for ball in (one, other):
            ball.step(900)
        assert np.array_equal(one.get_outputs(), other.get_outputs())


def test_its_fmu_is_for_co_simulation_alone(sources: Sources, factory: Factory, tmp_path: Path) -> None:
    assert b"<ModelExchange" not in model_description(TABLE, "bouncer")
    for fmi in (2, 3):
        path = export_fmu(tmp_path / f"ball{fmi}.fmu", TABLE, sources, library_folder=factory.library.parent, fmi=fmi)
        assert not fmpy.validation.validate_fmu(str(path))
        result = fmpy.simulate_fmu(str(path), stop_time=1.5, output_interval=0.01)
        assert result["height"][-1] == pytest.approx(fall(1.0, 0.8, 1.5), abs=1e-10)
        with pytest.raises(Exception, match="(?i)model ?exchange"):
            fmpy.simulate_fmu(str(path), fmi_type="ModelExchange")


@pytest.mark.parametrize(("old", "new"), [
    (".step = step, ", ""), (".step = step", ".step = step, .nominals = ones, .state_references = references"),
    (".p_integrator = -1", ".p_integrator = 0"),
])  # fmt: skip
def test_a_model_whose_plug_contradicts_itself_is_not_instantiated(
        sources: Sources, tmp_path: Path, old: str, new: str) -> None:
    code = (Path(__file__).parent / "bouncer.c").read_text().replace(old, new)
    more = "static const double ones[] = {1.0, 1.0, 0.0};\nstatic const unsigned references[] = {200000U, 200001U};\n"
    other = tmp_path / "odd.c"
    other.write_text(code.replace("static const jn_model", more + "static const jn_model", 1))
    odd = Sources("jounce_odd", (other, *(f for f in sources.files if f.name != "bouncer.c")))
    with pytest.raises(FmuError):
        Factory("odd", ensure_library(odd, tmp_path), Interface.of_table(TABLE)).instance("x")
