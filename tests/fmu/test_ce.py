"""Trucks in minimal coordinates: against the impulse engine, statics and the modes of its tick, as FMUs, as states."""

from __future__ import annotations

from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

import jounce
from jounce.architecture.composite import build
from jounce.architecture.trim import trimmed
from jounce.axles import WHEELS
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.linear import linearize, read_states
from jounce_tools.architecture import frequencies

TRUCKS = ["class3", pytest.param("class7", marks=pytest.mark.slow)]
BUMP = {"road": "BUMP", "init.speed": 8.0}


@pytest.mark.parametrize("truck", TRUCKS)
def test_drawn_truck_is_at_rest(truck: str) -> None:
    shown = ["body_cab.pos", "body_frame.pos", "body_engine.pos"]
    run = jounce.simulate(f"{truck}-ce", {}, 5.0, shown, output_interval=0.5)
    assert np.ptp(run.values, axis=0).max() < 1e-9


def test_wheels_carry_what_statics_give() -> None:
    loads = [f"wheel_{w}.tire_force.z" for w in WHEELS]
    run = jounce.simulate("class3-ce", {}, 0.01, loads)
    assert [run[n][-1] for n in loads] == pytest.approx([8670, 8645, 10619, 10130], abs=0.6)


@pytest.mark.parametrize("truck", TRUCKS)
def test_both_engines_go_to_one_motion_over_a_bump_as_the_tick_falls(truck: str) -> None:
    """Without friction; 0.1 mm at 1 ms, and the impulse engine of order 2 towards this one."""

    def height(name: str, tick: float) -> np.ndarray:
        run = jounce.simulate(name, {}, 3.0, ["body_cab.pos.z"], output_interval=0.004, **BUMP, mu=0.0, tick=tick)
        return run["body_cab.pos.z"]

    exact = height(f"{truck}-ce", 2.5e-4)
    assert np.abs(height(f"{truck}-ce", 1e-3) - height(truck, 1e-3)).max() < 1e-4
    errors = [np.abs(height(truck, tick) - exact).max() for tick in (2e-3, 1e-3, 5e-4)]
    assert errors[0] < 5e-5 and errors[2] < errors[0] / 6
    own = [np.abs(height(f"{truck}-ce", tick) - exact).max() for tick in (2e-3, 5e-4)]
    assert own[0] < 2e-5 and own[1] < own[0] / 4


@pytest.mark.parametrize("truck", TRUCKS)
def test_modes_of_the_linear_model_are_those_of_the_step_map(truck: str) -> None:
    """architecture-abstraction, section 7; the step of the other engine has an error of (w h)^2 / 24."""
    factory = open_builtin(f"{truck}-ce")
    with factory.instance("at rest") as truck_at_rest:
        truck_at_rest.setup({"mu": 5.0})
        x = read_states(truck_at_rest)
    found = linearize(factory, {"mu": 5.0}, x, np.zeros(len(factory.table.inputs)))
    values = np.linalg.eigvals(found.A)
    values = np.array(sorted(values[values.imag > 0.3], key=abs))
    step = frequencies.modes(trimmed(build(truck)[1]), 2.5e-4)
    assert np.abs(values) / (2 * np.pi) == pytest.approx([mode.frequency for mode in step], rel=1e-3)
    assert -values.real / np.abs(values) == pytest.approx([mode.damping for mode in step], abs=0.015)


def test_state_goes_on_in_another_instance_bit_by_bit() -> None:
    factory = open_builtin("class3-ce")
    with factory.instance("one") as one, factory.instance("two") as two:
        for each in (one, two):
            each.setup({"road": 2, "init.speed": 8.0})
        one.step(800)  # the front wheels are on the bump
        two.set_state(one.get_state())
        for each in (one, two):
            each.step(10_000)
        assert one.get_outputs().tobytes() == two.get_outputs().tobytes()


@pytest.mark.parametrize("fmi", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_fmu_is_valid_and_runs_in_fmpy_in_both_kinds(fmi: int, tmp_path: Path) -> None:
    archive = export_builtin(tmp_path / "truck.fmu", "class3-ce", fmi=fmi)
    assert not validate_fmu(str(archive))
    starts = {"init.speed": 8.0, "road.start": 2.0}
    shown = ["speed", "closure_residual", "wheel_RR.omega", "ref_frame.pitch"]
    ours = jounce.simulate("class3-ce", {}, 1.0, shown, output_interval=0.01, road="BUMP", **starts)
    for kind in ("CoSimulation", "ModelExchange"):
        found = fmpy.simulate_fmu(str(archive), stop_time=1.0, output_interval=0.01, output=shown, fmi_type=kind,
                                  start_values={**starts, "road": 2}, relative_tolerance=1e-8)  # fmt: skip
        for name in shown:
            if kind == "CoSimulation":
                assert np.array_equal(found[name], ours[name])
            else:
                assert found[name] == pytest.approx(ours[name], abs=5e-3)
