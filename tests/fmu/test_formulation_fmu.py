"""Vehicles in other formulations: driven as the constraint-embedded one, as FMUs in fmpy, and what they refuse."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu
from numpy.typing import NDArray

import jounce
from jounce.axles import WHEELS
from jounce.data import DataError
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.build.library import BuildError
from jounce_fmu.importer.host import FmuError, open_builtin
from jounce_fmu.importer.linear import linearize
from jounce_fmu.models import ModelError, find

Array = NDArray[np.float64]
#: The others take half a minute to compile.
QUICK = "hmmwv-ta-two-point"
SLOW = pytest.mark.skipif(not os.environ.get("JOUNCE_SLOW"), reason="a minute to compile; JOUNCE_SLOW=1 runs it")
NAMES = [QUICK, pytest.param("hmmwv-ta", marks=SLOW), pytest.param("hmmwv-fa", marks=SLOW)]
SHOWN = ["ref_frame.pos.x", "ref_frame.pos.y", "speed", "wheel_FL.travel", "wheel_RR.arm_angle", "wheel_RL.omega",
         "wheel_FR.tire_force.z", "energy.kinetic", "energy.potential", "closure_residual"]  # fmt: skip
START = {"init.speed": 10.0}


def lane_change(seconds: float) -> dict[str, Array]:
    """Steering that begins softly, with the rate that leads from one angle to the next, then brakes."""
    t = np.arange(0.0, seconds + 5e-4, 1e-3)
    angle = 0.8 * np.sin(np.pi * t) * np.clip(t - 0.3, 0.0, 1.0) ** 2
    rate = np.append(np.diff(angle) / 1e-3, 0.0)
    brake = np.where(t > 1.5, 800.0, 0.0)
    return {"time": t, "steering_wheel_angle": angle, "steering_wheel_rate": rate,
            **{f"wheel_{w}.brake_torque": brake for w in WHEELS[:2]}}  # fmt: skip


def drive(name: str, seconds: float = 2.0, **parameters: float) -> jounce.Run:
    inputs = lane_change(seconds)
    tracks = {n: (inputs["time"], v) for n, v in inputs.items() if n != "time"}
    return jounce.simulate(name, tracks, outputs=SHOWN, **{**START, **parameters})


@pytest.mark.parametrize("name", NAMES)
def test_it_is_driven_as_the_constraint_embedded_vehicle(name: str) -> None:
    ours, judge = drive(name), drive("hmmwv")
    assert np.abs(judge["ref_frame.pos.y"]).max() > 0.1
    for shown, most in {"ref_frame.pos.x": 1e-6, "ref_frame.pos.y": 1e-6, "wheel_FL.travel": 2e-6,
                        "wheel_RR.arm_angle": 1e-6, "wheel_FR.tire_force.z": 1.0, "wheel_RL.omega": 1e-4,
                        "energy.kinetic": 0.01, "energy.potential": 0.01}.items():  # fmt: skip
        assert np.abs(ours[shown] - judge[shown]).max() < most


@pytest.mark.parametrize("name", NAMES)
def test_its_loops_drift_unless_they_are_corrected(name: str) -> None:
    alone, damped, projected = (
        drive(name, baumgarte=alpha, projection=p)["closure_residual"][-1]
        for alpha, p in ((0.0, 0.0), (100.0, 0.0), (0.0, 1.0))
    )
    assert 1e-6 < alone < 1e-4
    assert damped < 1e-2 * alone and projected < 1e-4 * alone


@pytest.fixture(scope="module", params=[2, 3])
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_builtin(tmp_path_factory.mktemp("fmu") / "ta.fmu", QUICK, fmi=request.param,
                          scalars=request.param == 3)  # fmt: skip


def in_fmpy(archive: Path, seconds: float) -> Array:
    inputs = lane_change(seconds)
    table = np.array(list(zip(*inputs.values(), strict=True)), dtype=[(n, float) for n in inputs])
    return fmpy.simulate_fmu(str(archive), stop_time=seconds, output_interval=1e-3, input=table, output=SHOWN,
                             start_values=START)  # fmt: skip


def test_the_fmu_is_valid_and_runs_in_fmpy_with_the_bits_of_one_in_process(archive: Path) -> None:
    assert not validate_fmu(str(archive))
    found, ours = in_fmpy(archive, 1.0), drive(QUICK, 1.0)
    for name in SHOWN:
        assert np.array_equal(found[name], ours[name]), name


@SLOW
@pytest.mark.parametrize("name", ["hmmwv-ta", "hmmwv-fa"])
def test_the_other_formulations_run_in_fmpy_with_the_bits_of_one_in_process(name: str, tmp_path: Path) -> None:
    for fmi in (2, 3):
        archive = export_builtin(tmp_path / f"{fmi}.fmu", name, fmi=fmi, scalars=fmi == 3)
        assert not validate_fmu(str(archive))
        found, ours = in_fmpy(archive, 1.0), drive(name, 1.0)
        assert all(np.array_equal(found[shown], ours[shown]) for shown in SHOWN)


def test_an_importer_that_integrates_itself_reaches_the_same(archive: Path) -> None:
    shown = ["speed", "wheel_FL.travel"]
    found = fmpy.simulate_fmu(str(archive), fmi_type="ModelExchange", stop_time=0.5, output_interval=0.1, output=shown,
                              start_values=START, relative_tolerance=1e-8)  # fmt: skip
    ours = jounce.simulate(QUICK, {}, 0.5, shown, output_interval=0.1, **START)
    assert found["speed"] == pytest.approx(ours["speed"], abs=1e-5)
    assert found["wheel_FL.travel"] == pytest.approx(ours["wheel_FL.travel"], abs=1e-6)


def test_a_state_goes_on_in_another_instance_bit_by_bit() -> None:
    factory = open_builtin(QUICK)
    steering = [s.name for s in factory.table.inputs].index("steering_wheel_angle")
    u = np.array([s.start for s in factory.table.inputs])
    with factory.instance("one") as one, factory.instance("two") as two:
        for each in (one, two):
            each.setup(START)
        u[steering] = 0.5
        one.set_inputs(u)
        one.step(200)
        two.set_state(one.get_state())
        for each in (one, two):
            each.set_inputs(0.5 * u)
            each.step(200)
        assert one.get_outputs().tobytes() == two.get_outputs().tobytes()


def test_a_steering_wheel_that_jumps_leaves_the_loops_closed_and_turns_the_wheels_as_the_embedding_does() -> None:
    ends = []
    for name in (QUICK, "hmmwv"):
        run = jounce.simulate(name, {"steering_wheel_angle": ([0.0, 0.5, 0.501, 2.0], [0.0, 0.0, 6.0, 6.0])},
                              outputs=["wheel_FL.steer", "closure_residual"], hold=True)  # fmt: skip
        assert run["closure_residual"][-1] < 1e-9
        ends.append(run["wheel_FL.steer"][-1])
    assert ends[0] == pytest.approx(ends[1], abs=5e-4) and ends[0] > 0.1


def test_no_friction_lets_it_slide_and_gives_no_nan() -> None:
    run = jounce.simulate(QUICK, {"wheel_FL.brake_torque": 2000.0}, 1.0, SHOWN, **{**START, "terrain.mu": 0.0})
    assert np.isfinite(run.values).all()
    assert run["speed"][-1] == pytest.approx(10.0, abs=1e-2)


def test_correction_that_is_too_fast_for_the_tick_is_refused() -> None:
    with pytest.raises(FmuError, match=r"baumgarte = 5000: expected at most 2\.7 / tick"):
        drive(QUICK, baumgarte=5000.0)


def test_a_start_in_the_ground_is_refused_with_the_tire_that_cannot_bear_it() -> None:
    with pytest.raises(FmuError, match=r"no start state: wheel_FL.deflection = .* pressed in beyond"):
        jounce.simulate(QUICK, {}, 1.0, SHOWN, **{"init.equilibrium": False, "init.z": -0.2})


def test_it_has_no_derivatives_and_says_so() -> None:
    factory = open_builtin(QUICK)
    with pytest.raises(FmuError, match="without states or derivatives cannot be linearized"):
        linearize(factory, {}, np.zeros(len(factory.table.states)), np.zeros(len(factory.table.inputs)))


def test_names_that_are_no_formulation_of_a_vehicle_are_refused() -> None:
    for name, error, text in (
        ("hmmwv-xx", ModelError, "-fa, -ta, -ta-two-point behind it"), ("nix-ta", DataError, "'nix'"),
        ("truck8x8-ta", BuildError, "expected two axles on double wishbones"), ("halfcar-ta", DataError, "'halfcar'"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            find(name)


@pytest.mark.parametrize(("entry", "text"), [("front.LCA.mass", "front.LCA.mass"), ("front.spring.k1", "k1")])
def test_a_vehicle_whose_numbers_are_wrong_is_refused_by_its_entry(tmp_path: Path, entry: str, text: str) -> None:
    (tmp_path / "vehicle.toml").write_text(f'name = "odd"\nbase = "hmmwv"\n[overrides]\n"{entry}" = -1.0\n')
    with pytest.raises((DataError, FmuError), match=text):
        find(f"{tmp_path}-ta-two-point")


def test_without_casadi_the_message_says_what_to_install() -> None:
    program = ("import sys; sys.modules['casadi'] = None\n"
               "from jounce_fmu.models import find\n"
               "find('utv-ta')\n")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "utv-ta: other formulations need CasADi: pip install casadi" in done.stderr


@pytest.mark.parametrize(("language", "compiler"), [("c", ["cc", "-std=c99"]), ("c++", ["c++", "-std=c++17"])])
def test_its_source_compiles_without_a_warning(tmp_path: Path, language: str, compiler: list[str]) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"needs {compiler[0]}")
    for name, data in find(QUICK).sources.packed().items():
        (tmp_path / name).write_bytes(data)
    command = [compiler[0], "-x", language, *compiler[1:], "-Wall", "-Wextra", "-Werror", "-c", "formulation.c"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
