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
from jounce.frames import rotation_of
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.instance import FmuError
from jounce_fmu.importer.linear import linearize, read_states
from jounce_tools.architecture import frequencies

TRUCKS = ["class3", pytest.param("class7", marks=pytest.mark.slow)]
BUMP = {"road": "BUMP", "init.speed": 8.0}


@pytest.mark.parametrize("truck", TRUCKS)
def test_drawn_truck_is_at_rest(truck: str) -> None:
    shown = ["body_cab.pos", "body_frame.pos", "body_engine.pos"]
    run = jounce.simulate(truck, {}, 5.0, shown, output_interval=0.5)
    assert np.ptp(run.values, axis=0).max() < 1e-9


def test_wheels_carry_what_statics_give() -> None:
    loads = [f"wheel_{w}.tire_force.z" for w in WHEELS]
    run = jounce.simulate("class3", {}, 0.01, loads)
    assert [run[n][-1] for n in loads] == pytest.approx([8670, 8645, 10619, 10130], abs=0.6)


@pytest.mark.parametrize("truck", TRUCKS)
def test_both_engines_go_to_one_motion_over_a_bump_as_the_tick_falls(truck: str) -> None:
    """Without friction; 0.1 mm at 1 ms, and the impulse engine of order 2 towards this one."""

    def height(name: str, tick: float) -> np.ndarray:
        run = jounce.simulate(name, {}, 3.0, ["body_cab.pos.z"], output_interval=0.004, **BUMP, mu=0.0, tick=tick)
        return run["body_cab.pos.z"]

    exact = height(truck, 2.5e-4)
    assert np.abs(height(truck, 1e-3) - height(f"{truck}-impulse", 1e-3)).max() < 1e-4
    errors = [np.abs(height(f"{truck}-impulse", tick) - exact).max() for tick in (2e-3, 1e-3, 5e-4)]
    assert errors[0] < 5e-5 and errors[2] < errors[0] / 6
    own = [np.abs(height(truck, tick) - exact).max() for tick in (2e-3, 5e-4)]
    assert own[0] < 2e-5 and own[1] < own[0] / 4


@pytest.mark.parametrize("truck", TRUCKS)
def test_joints_have_the_forces_of_the_other_engine_as_its_tick_falls(truck: str) -> None:
    """Those that it tells after a tick act at the pose before it. Its order is 2, while all wheels touch."""

    def forces(name: str, tick: float, every: float) -> np.ndarray:
        return jounce.simulate(name, {}, 1.6, joints, output_interval=every, tick=tick, mu=0.0,
                               **{**BUMP, "road.height": 0.04, "road.length": 2.0}).values  # fmt: skip

    joints = [s.name for s in open_builtin(truck).table.outputs if s.name.startswith("joint_")]
    assert joints == [s.name for s in open_builtin(f"{truck}-impulse").table.outputs if s.name.startswith("joint_")]
    exact = forces(truck, 5e-4, 0.01)
    errors = []
    for tick in (2e-3, 5e-4):
        every = round(0.01 / tick)
        errors.append(np.abs(forces(f"{truck}-impulse", tick, tick)[every + 1 :: every] - exact[1:-1]).max())
    assert errors[0] < 5e-4 * np.abs(exact).max() and errors[1] < errors[0] / 12


def test_the_cab_moves_by_the_forces_of_its_slider_and_springs() -> None:
    """Newton's law of one body, in a turn over a bump: along the slider its springs, across it the slider."""
    springs = [f"spring_cab_spring_{w}.force" for w in WHEELS]
    slider = [f"joint_cab_guide.force_{k}" for k in (1, 2)]
    cab = [f"body_cab.{n}" for n in ("lin_acc.x", "lin_acc.y", "lin_acc.z")]
    frame = [f"ref_frame.rot.e{k}" for k in range(4)]
    run = jounce.simulate("class3", {"steering_wheel_angle": 1.0}, 2.0, [*springs, *slider, *cab, *frame],
                          output_interval=0.02, **{**BUMP, "road.side": "LEFT"})  # fmt: skip
    mass = 998.0  # architecture-abstraction, section 8
    force = mass * (np.stack([run[n] for n in cab], axis=1) + [0, 0, 9.81])
    turns = rotation_of(np.stack([run[n] for n in frame], axis=1))
    own = np.einsum("kij,ki->kj", turns, force)
    assert own[:, 2] == pytest.approx(sum(run[n] for n in springs), rel=1e-9)
    across = np.hypot(*(run[n] for n in slider))
    assert across == pytest.approx(np.hypot(own[:, 0], own[:, 1]), rel=1e-9, abs=1e-6)
    assert across.max() > 2000


@pytest.mark.parametrize("truck", TRUCKS)
def test_modes_of_the_linear_model_are_those_of_the_step_map(truck: str) -> None:
    """architecture-abstraction, section 7; the step of the other engine has an error of (w h)^2 / 24."""
    factory, undamped = open_builtin(truck), {"mu": 5.0, "tire_damping_time": 0.0}
    with factory.instance("at rest") as truck_at_rest:
        truck_at_rest.setup(undamped)
        x = read_states(truck_at_rest)
    found = linearize(factory, undamped, x, np.zeros(len(factory.table.inputs)))
    values = np.linalg.eigvals(found.A)
    values = np.array(sorted(values[values.imag > 0.3], key=abs))
    step = frequencies.modes(trimmed(build(truck)[1]), 2.5e-4)
    assert np.abs(values) / (2 * np.pi) == pytest.approx([mode.frequency for mode in step], rel=1e-3)
    assert -values.real / np.abs(values) == pytest.approx([mode.damping for mode in step], abs=0.015)


@pytest.mark.parametrize("fmi", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_fmu_is_valid_and_runs_in_fmpy_in_both_kinds(fmi: int, tmp_path: Path) -> None:
    archive = export_builtin(tmp_path / "truck.fmu", "class3", fmi=fmi)
    assert not validate_fmu(str(archive))
    starts = {"init.speed": 8.0, "road.start": 2.0, "tick": 5e-4}  # a wheel that lands is 0.04 rad/s off at 1 ms
    shown = ["speed", "closure_residual", "wheel_RR.omega", "ref_frame.pitch"]
    ours = jounce.simulate("class3", {}, 1.0, shown, output_interval=0.01, road="BUMP", **starts)
    for kind in ("CoSimulation", "ModelExchange"):
        found = fmpy.simulate_fmu(str(archive), stop_time=1.0, output_interval=0.01, output=shown, fmi_type=kind,
                                  start_values={**starts, "road": 2}, relative_tolerance=1e-8)  # fmt: skip
        for name in shown:
            if kind == "CoSimulation":
                assert np.array_equal(found[name], ours[name])
            else:
                at = np.interp(ours.time, found["time"], found[name])  # fmpy shows both sides of a time event
                assert at == pytest.approx(ours[name], rel=2e-3, abs=5e-3)


@pytest.mark.parametrize(("values", "fault"), [
    ({"spring_cab_spring_FL.stiffness": 1e12}, "cab_spring_FL is too stiff or damped for RK4 and this tick"),
    ({"spring_cab_spring_FL.damping": 1e8}, "cab_spring_FL is too stiff or damped for RK4 and this tick"),
    ({"wheel_RL.stiffness": 1e13}, "RL is too stiff or damped for RK4 and this tick"),
    ({"road.term_1.place": 3.0, "road.term_1.factor": 50.0}, "the centre of wheel FL is 0.21. m too low"),
])  # fmt: skip
def test_a_run_that_explodes_ends_in_a_fault_that_names_the_spring_or_the_wheel(
    values: dict[str, float], fault: str
) -> None:
    with pytest.raises(FmuError, match=fault):
        jounce.simulate("class3", {}, 2.0, ["speed"], **{"init.speed": 8.0, **values})


def test_a_spring_too_stiff_for_rk4_is_none_for_rosenbrock() -> None:
    run = jounce.simulate("class3", {}, 1.0, ["speed", "spring_cab_spring_FL.force"], output_interval=0.1,
                          integrator="ROSENBROCK", **{"spring_cab_spring_FL.stiffness": 1e12})  # fmt: skip
    assert np.abs(run["speed"]).max() < 1e-6 and np.isfinite(run.values).all()


def test_rosenbrock_goes_to_the_motion_of_rk4() -> None:
    """With differences as its Jacobian it keeps its order of 2."""

    def height(tick: float, integrator: str) -> np.ndarray:
        run = jounce.simulate("class3", {}, 1.6, ["body_cab.pos.z"], output_interval=0.008, tick=tick, mu=0.0,
                              integrator=integrator, **BUMP)  # fmt: skip
        return run["body_cab.pos.z"]

    exact = height(2.5e-4, "RK4")
    errors = [np.abs(height(tick, "ROSENBROCK") - exact).max() for tick in (8e-3, 1e-3)]
    assert errors[0] < 3e-4 and errors[1] < errors[0] / 8


def test_driven_wheels_bring_the_truck_to_a_speed_and_brakes_hold_it() -> None:
    drive = {"drive.target_speed": 5.0, "drive.max_torque": 6000.0}
    run = jounce.simulate("class3", drive, 6.0, ["speed", "wheel_RL.omega"], output_interval=0.1)
    assert run["speed"][-1] == pytest.approx(5.0, rel=0.02)
    brakes = {f"wheel_{w}.brake_torque": 1500.0 for w in WHEELS}
    run = jounce.simulate("class3", brakes, 3.0, ["speed", "wheel_RL.omega"], output_interval=0.01,
                          **{"init.speed": 5.0})  # fmt: skip
    wheels, radius = 4, 0.36
    deceleration = (run["speed"][20] - run["speed"][80]) / 0.6
    assert deceleration == pytest.approx(wheels * 1500.0 / radius / 3880.0, rel=0.1)
    assert abs(run["speed"][-1]) < 0.03 and abs(run["wheel_RL.omega"][-1]) < 0.03  # it still rocks


def test_energy_is_kept_without_dampers_and_friction() -> None:
    """RK4 at 1 ms over a bump with the tires' and springs' dampers off, and wheels that keep touching."""
    run = jounce.simulate("class3", {}, 2.0, ["energy.kinetic", "energy.potential"], output_interval=0.01, mu=0.0,
                          **{"damping_factor": 0.0, "init.speed": 5.0, "road": "BUMP", "road.start": 1.0,
                             "road.height": 0.02, "road.length": 3.0})  # fmt: skip
    energy = run["energy.kinetic"] + run["energy.potential"]
    assert np.ptp(energy) < 1e-6 * run["energy.kinetic"][0]


@pytest.mark.parametrize("shaken", [0.0, 1.0, 2.0, 7.0])
@pytest.mark.parametrize("name", ["class3", "class7"])
@pytest.mark.slow
def test_truck_parked_on_30_percent_for_a_minute_moves_less_than_a_millimetre(name: str, shaken: float) -> None:
    """Four wheels are braked. Torques of that frequency [Hz] on the last axle's, a quarter apart, shake the truck.

    At 2 Hz class7, whose last axle rolls, swings on its tires with little damping.
    """
    with open_builtin(name).instance("parked") as truck:
        truck.setup({"grade": 0.3})
        inputs = np.array([s.start for s in truck.table.inputs])
        place = [s.index for s in truck.table.outputs if s.name in ("ref_frame.pos.x", "ref_frame.pos.y")]
        inputs[[s.index for s in truck.table.inputs if s.name.endswith(".brake_torque")][:4]] = 12e3
        last = [s.index for s in truck.table.inputs if s.name.endswith(".drive_torque")][-2:]
        truck.set_inputs(inputs)
        truck.step(15_000)
        x, seen = truck.get_outputs()[place], []
        for k in range(12_000):
            turn = 2 * np.pi * shaken * 0.005 * k
            inputs[last] = np.array([np.sin(turn), np.cos(turn)]) * (1500.0 if shaken and k < 11_000 else 0.0)
            truck.set_inputs(inputs)
            truck.step(5)
            seen.append(truck.get_outputs()[place])
        assert np.hypot(*(seen[-1] - x)) < 1e-3
        assert (np.ptp(seen, axis=0).max() > 2e-4) == (shaken > 0)
