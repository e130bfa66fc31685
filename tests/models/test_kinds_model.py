"""Vehicles on struts, five links and trailing arms, steered by a rack: the shipped `car` and `microbus`."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import fmpy
import judged
import numpy as np
import pytest
from flight import Flight, check_conservation
from fmpy.validation import validate_fmu
from processes import check_another_process
from quotients import check_linear_model
from rested import named, rested

from jounce.data import Vehicle, load_vehicle
from jounce.dynamics.embedding import Embedding
from jounce.models.double_wishbone.kinds_c import Kinds
from jounce.steering.pitman import INNER
from jounce.suspension.embedded import close_function, probe_function
from jounce.suspension.inner_ends import inner_end
from jounce.suspension.kinematics import kinematics_of
from jounce.suspension.mechanisms.templates import mechanism_of
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import FmuError, open_builtin
from jounce_fmu.importer.linear import Exchange
from jounce_fmu.models import axles
from jounce_tools.vehicle.rest import standing

NAMES = ("car", "microbus")
#: How far each vehicle's coordinates go within its box [rad or m], and how fast they swing in flight [1/s].
REACH, SWING = {"car": 0.05, "microbus": 0.12}, {"car": 0.25, "microbus": 0.8}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def driven(vehicle: Vehicle) -> list[str]:
    return [w for w, axle in zip(vehicle.wheels, (a for a in vehicle.axles for _ in "LR"), strict=True) if axle.driven]


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_are_those_of_the_maximal_coordinate_system(name: str, seed: int) -> None:
    off = judged.difference(load_vehicle(name), open_builtin(name), seed, REACH[name])
    assert off.pop("closure") < 1e-13
    assert max(off.values()) < 1e-10, off


def test_it_rests_where_the_check_says(name: str) -> None:
    """`jounce vehicle check` balances weights, springs and tires by virtual work of exact kinematics."""
    factory, vehicle = open_builtin(name), load_vehicle(name)
    stands, y, _ = rested(factory, vehicle, 1e-9)
    wheels = vehicle.wheels
    for k in range(len(vehicle.axles)):
        for w in wheels[2 * k : 2 * k + 2]:
            assert y[f"wheel_{w}.travel"] == pytest.approx(stands.travel[k], abs=2e-4)
            assert y[f"wheel_{w}.tire_force.z"] == pytest.approx(stands.load[k], rel=1e-4)
    assert y["ref_frame.pos.z"] == pytest.approx(stands.height, abs=2e-4)
    assert y["ref_frame.pitch"] == pytest.approx(stands.pitch, abs=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("height", [0.03, 0.06, -0.06])
def test_a_vehicle_whose_axles_are_drawn_at_different_heights_finds_its_rest(height: float) -> None:
    """Its design position has wheels in the air, where the search for rest must not begin."""
    factory, changes = open_builtin("car"), {"rear.origin.z": height}
    stands = standing(load_vehicle("car").replaced(changes))
    with factory.instance("rest") as instance:
        instance.setup(changes)
        y = named(factory, instance.get_outputs())
    for w, travel in (("FL", stands.travel[0]), ("RL", stands.travel[1])):
        assert y[f"wheel_{w}.travel"] == pytest.approx(travel, abs=2e-4)
    assert y["ref_frame.pitch"] == pytest.approx(stands.pitch, abs=2e-4)


def test_energy_and_momenta_stay_over_a_second_with_the_fourth_order(name: str) -> None:
    flight = Flight(open_builtin(name), tuple(a.name for a in load_vehicle(name).axles))
    error = check_conservation(flight, SWING[name])
    assert error[4e-3][0] > 12.0**2 * error[1e-3][0] > 0.0, error


def test_linear_models_are_those_of_difference_quotients(name: str) -> None:
    check_linear_model(open_builtin(name), 0.5, 500)


def drive(name: str, steering: float, ticks: int = 1000, **parameters: object) -> dict[str, float]:
    factory, vehicle = open_builtin(name), load_vehicle(name)
    with factory.instance("drive") as instance:
        instance.setup({"init.speed": 10.0, **parameters})  # type: ignore[dict-item]
        torques = {f"wheel_{w}.drive_torque": 100.0 for w in driven(vehicle)}
        instance.set_values({"steering_wheel_angle": steering, **torques})
        instance.step(ticks)
        return named(factory, instance.get_outputs())


def test_a_turn_to_the_right_mirrors_one_to_the_left(name: str) -> None:
    left, right = drive(name, 1.5), drive(name, -1.5)
    assert left["ref_frame.yaw"] > 0.15
    for signal, sign in (("yaw", -1), ("pos.x", 1), ("pos.y", -1), ("roll", -1), ("pitch", 1)):
        mine, other = right[f"ref_frame.{signal}"], left[f"ref_frame.{signal}"]
        assert mine == pytest.approx(sign * other, rel=1e-8, abs=1e-11), signal
    assert left["ref_frame.roll"] > 0.0  # outwards, the right side down


def test_the_implicit_integrator_drives_the_same_way(name: str) -> None:
    rk4, implicit = drive(name, 1.5), drive(name, 1.5, integrator="ROSENBROCK")
    for signal in ("ref_frame.yaw", "ref_frame.pos.x", "ref_frame.pos.y", "speed", "wheel_RR.tire_force.z"):
        assert implicit[signal] == pytest.approx(rk4[signal], rel=1e-3)


@pytest.mark.parametrize(("wheel", "step", "words"), [
    ("FL", 0.0065, "FL.*lower-arm angle"), ("RR", 0.0025, "RR.*wheel height"),
])  # fmt: skip
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_beyond_its_box_a_corner_is_refused_before_its_links_are_anywhere_else(
    wheel: str, step: float, words: str, way: float
) -> None:
    """The strut's arm and the five links' height from the middle outwards: closed within 1e-9 m and where exact
    kinematics, followed from the design position, have the wheel; or a fault by name. The strut, whose loops have a
    closed form, goes on to their dead centre."""
    factory, vehicle = open_builtin("car"), load_vehicle("car")
    place = {s.name: k for k, s in enumerate(factory.table.states)}
    exact = kinematics_of(vehicle, vehicle.axles[wheel[0] == "R"])
    with replace(factory, kind=Exchange).instance("box") as instance:
        instance.setup({"tire_source": "EXTERNAL", "init.equilibrium": False, "init.z": 50.0})
        x = np.zeros(len(place))
        x[place["state.rot.e0"]], closed = 1.0, 0
        with pytest.raises(FmuError, match=words):
            for k in range(200):
                x[place[f"state.wheel_{wheel}.arm_angle"]] = way * k * step
                instance.set_states(x)
                y = named(factory, instance.get_outputs())
                assert y["closure_residual"] < 1e-9
                centre = exact.position([way * k * step] * 2).wheels[wheel[1] == "R"].centre
                assert [y[f"wheel_{wheel}.pos.{a}"] for a in "xyz"] == pytest.approx(centre, abs=1e-8)
                closed += 1
        assert closed * step > (1.0 if wheel == "FL" else 0.05)


def other_assembly(vehicle: Vehicle, axle: str) -> np.ndarray:
    """Dependent coordinates that close the loops of the left corner's design position as well as zeros do."""
    embedding = Embedding(mechanism_of(vehicle, axle, next(a.kind for a in vehicle.axles if a.name == axle)))
    numbers = ca.evalf(embedding.mechanism.numbers())
    close, probe = close_function(embedding), probe_function(embedding)
    told = np.zeros(INNER.size)
    told[:3] = inner_end(vehicle, next(a for a in vehicle.axles if a.name == axle), "TIEROD_C", 1).at(0.0)[0]
    for seed in range(200):
        u = np.random.default_rng(seed).uniform(-2.5, 2.5, len(embedding.dependent))
        for _ in range(60):
            u = np.array(close(u, np.zeros(3), told, numbers)).ravel()
        if np.abs(u).max() < 3.0 and np.abs(u).max() > 0.1 and float(probe(u, np.zeros(3), told, numbers)[0]) < 1e-13:
            return np.asarray(u)
    raise AssertionError("no other assembly found")


@pytest.mark.slow
def test_links_that_are_assembled_another_way_are_a_fault_of_axle_and_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A model whose first Newton step goes there: the second one then closes the loops, folded over."""
    folded = other_assembly(load_vehicle("car"), "rear").tolist()
    guess, recursion = Kinds._guess, axles.recursion.text
    there = " ".join(f"JN_PUT(u, {k}, JN_CONST({v!r}));" for k, v in enumerate(folded))
    step = re.compile(r"(JN_\w*NAME)(\(corner_multilink_close\)\(e->second \+ c)")

    def with_fold(self: Kinds, variant: str) -> str:
        text = guess(self, variant)
        return f"{text}\nJN_FN void JN_NAME(fold)(double *u) {{ {there} }}" if variant == "multilink" else text

    def folding(*arguments: Any, **options: Any) -> str:
        text = recursion(*arguments, **options)
        text, count = step.subn(r"\1(fold)(e->second + c); \1\2", text)
        assert count > 0
        return text

    monkeypatch.setattr(Kinds, "_guess", with_fold)
    monkeypatch.setattr(axles.recursion, "text", folding)
    monkeypatch.setattr(axles, "cache_folder", lambda: tmp_path)
    with pytest.raises(FmuError, match="axle rear, wheel RL: .*they may have folded over"), \
            open_builtin("car").instance("folded") as instance:  # fmt: skip
        instance.setup({"init.equilibrium": False, "init.z": 5.0})


@pytest.mark.parametrize("fmi", [pytest.param(2, marks=pytest.mark.slow), 3])  # tests/fmu/test_builtin.py has FMI 2
def test_its_fmu_is_valid_and_runs_in_fmpy(tmp_path: Path, name: str, fmi: int) -> None:
    path = export_builtin(tmp_path / "own.fmu", name, fmi=fmi)
    assert validate_fmu(str(path)) == []
    wanted = "speed"
    result = fmpy.simulate_fmu(str(path), stop_time=0.02, step_size=0.001, output=[wanted], fmi_type="CoSimulation",
                               start_values={"init.speed": 5.0})  # fmt: skip
    assert np.isfinite(result[wanted]).all() and abs(result[wanted][-1] - 5.0) < 0.1


def test_another_process_goes_on_bit_for_bit(tmp_path: Path) -> None:
    check_another_process("car", tmp_path)


def test_its_files_are_made_without_casadi(name: str) -> None:
    code = (
        "import sys; sys.modules['casadi'] = None\n"
        f"from jounce_fmu.models import find; print(len(find({name!r}).sources.all_files()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30
