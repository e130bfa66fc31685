"""The runtime against the exact solution of a damped oscillator."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from oscillator import exact

from jounce_fmu.importer.host import Factory, FmuError


def run(factory: Factory, seconds: float, **parameters: float | bool | str) -> np.ndarray:
    with factory.instance("osc") as fmu:
        fmu.setup(parameters)
        fmu.step(round(seconds / fmu.tick_length))
        return fmu.get_outputs()


def test_the_error_falls_with_the_fourth_power_of_the_tick(factory: Factory) -> None:
    errors = [abs(run(factory, 2.0, tick=h)[0] - exact(2.0)) for h in (0.04, 0.02, 0.01)]
    orders = [math.log2(errors[i] / errors[i + 1]) for i in range(2)]
    assert all(3.8 < order < 4.2 for order in orders), orders


def test_a_constant_force_leads_to_its_static_deflection(factory: Factory) -> None:
    with factory.instance("osc") as fmu:
        fmu.setup({"damping": 20.0})
        fmu.set_inputs(np.array([20.0, 5.0, 7.0, 0.0]))
        fmu.step(20_000)
        assert fmu.get_outputs()[0] == pytest.approx(0.5, abs=1e-9)


def test_booleans_and_enumerations_reach_the_model(factory: Factory) -> None:
    with factory.instance("osc") as fmu:
        fmu.setup({"direction": "LEFT", "cubic": True, "x0": 1.0}, {"force": 10.0})
        assert fmu.get_outputs()[2] == pytest.approx((-10.0 - 50.0 - 50.0) / 2.0)


def test_a_tunable_parameter_takes_effect_at_the_next_step(factory: Factory) -> None:
    with factory.instance("osc") as fmu:
        fmu.setup({"x0": 0.0}, {"force": 2.0})
        fmu.set_values({"gain": 3.0})
        assert fmu.get_outputs()[2] == 1.0
        fmu.step()
        assert fmu.get_outputs()[2] == pytest.approx(3.0, rel=1e-3)


def test_300000_steps_of_1_ms_end_exactly_at_300_s(factory: Factory) -> None:
    with factory.instance("osc") as fmu:
        fmu.setup()
        for _ in range(300_000):
            fmu.step()
        assert fmu.time == 300.0
        assert fmu.get_outputs()[3] == 300_000


def test_a_failed_step_leaves_the_state_and_names_the_fault(factory: Factory) -> None:
    with factory.instance("osc") as fmu:
        fmu.setup({"damping": -100.0})
        fmu.step(10)
        before = fmu.get_outputs()
        with pytest.raises(FmuError, match=r"position = .*beyond 1000 m *! \(tick .*state is that of tick 10"):
            fmu.step(5_000)
        assert np.array_equal(fmu.get_outputs(), before)
        with pytest.raises(FmuError, match="not allowed in state"):
            fmu.step()
        fmu.reset()
        fmu.setup()
        fmu.step()


def test_a_mass_of_zero_is_refused_by_name_and_can_be_corrected(factory: Factory) -> None:
    with factory.instance("osc") as fmu:
        with pytest.raises(FmuError, match="mass = 0: expected masses > 0"):
            fmu.setup({"mass": 0.0})
        fmu.reset()
        fmu.setup({"mass": 1.0})


def test_a_batch_of_single_ticks_that_fails_in_its_middle_names_the_tick(factory: Factory) -> None:
    with replace(factory, by_tick=True).instance("o") as fmu:
        fmu.setup({}, {"force": 1e6})  # beyond 1000 m after 0.06 s
        with pytest.raises(FmuError, match=r"\(tick (\d+)\)$") as caught:
            fmu.step(100)
        assert 50 < fmu.ticks < 80 and f"(tick {fmu.ticks})" in str(caught.value)
