"""``jounce.simulate`` and ``jounce.join``: names, units, and the bits of the command."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jounce
from jounce.data import DataError
from jounce_fmu.importer.host import FmuError, open_builtin
from jounce_fmu.importer.trajectory import InputError
from jounce_tools.cli.main import main

PARAMETERS: dict[str, Any] = {"init.speed": 10.0, "terrain.mu": 0.6, "integrator": "RK4"}
STEERING = ([0.0, 1.0, 2.0], [0.0, 0.0, 1.0])


def test_a_run_has_the_numbers_of_the_command_with_names_and_units(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("time,steering_wheel_angle,wheel_RL.drive_torque\n0,0,200\n1,0,200\n2,1,200\n")
    sets = [f"--set={n}={v}" for n, v in PARAMETERS.items()]
    chosen = ["--outputs", "speed,ref_frame.pos", "--output-interval", "0.1", "--units", "none"]
    files = ["--inputs", str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv")]
    assert main(["simulate", *files, *chosen, *sets]) == 0
    with (tmp_path / "out.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    found = jounce.simulate("hmmwv", {"steering_wheel_angle": STEERING, "wheel_RL.drive_torque": 200.0}, 2.0,
                            ["speed", "ref_frame.pos"], output_interval=0.1, **PARAMETERS)  # fmt: skip
    assert header == ["time", *found.names]
    assert np.column_stack([found.time, found.values]).tolist() == [[float(v) for v in row] for row in rows]
    assert found["speed"].shape == (21,) and found["ref_frame.pos"].shape == (21, 3)
    assert found["ref_frame.pos"][:, 1].tolist() == found["ref_frame.pos.y"].tolist()
    metres = ("ref_frame.pos", "ref_frame.pos.x", "ref_frame.pos.y", "ref_frame.pos.z")
    assert found.units == {"speed": "m/s", **dict.fromkeys(metres, "m")}
    with pytest.raises(KeyError, match="'sped' is not among speed"):
        found["sped"]
    assert "ref_frame.pos" in found and "sped" not in found


def test_an_unknown_name_among_many_outputs_is_told_those_like_it() -> None:
    run = jounce.simulate("hmmwv", duration=0.001)
    assert "speed" in run and "time" not in run
    with pytest.raises(KeyError, match=r"'sped' is not among the \d+ names; did you mean speed\?"):
        run["sped"]
    with pytest.raises(KeyError, match=r"'no' is not among the \d+ names"):
        run["no"]


def test_inputs_may_be_a_frame_or_a_mapping_with_time_vectors_and_held() -> None:
    pandas = pytest.importorskip("pandas")
    columns = {"time": STEERING[0], "steering_wheel_angle": STEERING[1]}
    ends = [
        jounce.simulate("hmmwv", given, outputs=["ref_frame.yaw"], output_interval=1.0, **PARAMETERS)
        for given in (columns, pandas.DataFrame(columns), {"steering_wheel_angle": STEERING})
    ]
    assert all(e.values.tobytes() == ends[0].values.tobytes() and e.time[-1] == 2.0 for e in ends)
    held = jounce.simulate("hmmwv", columns, outputs=["ref_frame.yaw"], hold=True, output_interval=1.0, **PARAMETERS)
    assert abs(held.values[-1]) < 0.01 * ends[0].values[-1]
    ramp = {"chassis.ext_force": ([0, 1], [[0, 0, 0], [0, 3000, 0]])}
    pushed = jounce.simulate("hmmwv", ramp, outputs=["com.pos.y"])
    steady = jounce.simulate("hmmwv", {"chassis.ext_force": [0, 3000, 0]}, 1.0, ["com.pos.y"])
    assert min(steady.values[-1], pushed.values[-1]) > 1e-3 and steady.values[100] > 10 * pushed.values[100]


def test_a_run_becomes_a_frame_with_units() -> None:
    pytest.importorskip("pandas")
    frame = jounce.simulate("hmmwv", duration=0.1, outputs=["speed", "com.pos"], output_interval=0.05).to_pandas()
    assert list(frame.columns) == ["speed", "com.pos.x", "com.pos.y", "com.pos.z"] and frame.index.name == "time"
    assert frame.index.tolist() == [0.0, 0.05, 0.1]
    assert frame.attrs["units"] == {"time": "s", "speed": "m/s", **{f"com.pos.{a}": "m" for a in "xyz"}}


def test_without_pandas_the_frame_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        jounce.simulate("hmmwv", duration=0.01).to_pandas()


@pytest.mark.parametrize(("arguments", "parameters", "text"), [
    ({"duration": 1.0, "inputs": {"steering": 1.0}}, {}, "no input named 'steering'; expected a name of"),
    ({"duration": 1.0, "outputs": ["sped"]}, {}, "no output named 'sped'; expected speed"),
    ({"duration": 1.0, "outputs": ["speed", "*"]}, {}, "'speed' is named twice"),
    ({"duration": 1.0}, {"init.sped": 1.0}, "no parameter named 'init.sped'"),
    ({"duration": 1.0}, {"terrain.mu": float("nan")}, "terrain.mu = nan"),
    ({"duration": 1.0}, {"integrator": "EULER"}, "expected RK4, ROSENBROCK"),
    ({"duration": 1.0, "inputs": {"steering_wheel_angle": 99.0}}, {}, "steering_wheel_angle = 99.0"),
    ({"inputs": {"steering_wheel_angle": ([0, 1], [0])}}, {}, r"\(2,\) times and \(1,\) values"),
    ({"inputs": {"steering_wheel_angle": ([1, 0], [0, 1])}}, {}, "finite times that rise"),
    ({"inputs": {"steering_wheel_angle": ([0, float("inf")], [0, 1])}}, {}, "finite times that rise"),
    ({"inputs": {"steering_wheel_angle": ([], [])}}, {}, "expected as many"),
    ({"inputs": {"steering_wheel_angle": ([0, 1], [0, float("nan")])}}, {}, "steering_wheel_angle = nan"),
    ({"inputs": {"chassis.ext_force": ([0, 1], [[0, 0], [1, 1]])}}, {}, "3 components each"),
    ({"inputs": {"steering_wheel_angle": ([0, 0.001], [0, 1])}}, {}, "moves at 1000 rad/s"),
    ({}, {}, "duration is missing"),
    ({"duration": 0.00051}, {}, "whole multiple"), ({"duration": -1.0}, {}, "from 0 s"),
])  # fmt: skip
def test_what_cannot_be_used_is_named(arguments: dict[str, Any], parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        jounce.simulate("hmmwv", **arguments, **parameters)


def test_an_unknown_vehicle_and_parameters_that_do_not_start_are_errors_of_their_own() -> None:
    with pytest.raises(DataError, match="tank"):
        jounce.simulate("tank", duration=1.0)
    with pytest.raises(FmuError, match="RK4"):
        jounce.simulate("hmmwv", duration=1.0, tick=0.01)


def test_a_stepper_has_the_bits_of_the_instance_that_it_drives() -> None:
    factory = open_builtin()
    angle = factory.table.by_name("steering_wheel_angle").index
    wanted = [s.index for s in factory.table.outputs if s.name.startswith("ref_frame.pos")]
    names: dict[str, Any] = {"owns": ["steering_wheel_angle"], "wants": ["ref_frame.pos"], "period": 20}
    with jounce.join("hmmwv", **names, **PARAMETERS) as pilot, factory.instance("reference") as reference:
        reference.setup(PARAMETERS)
        u = np.array([s.start for s in factory.table.inputs])
        assert pilot.start.tick == 0 and pilot.inputs == ("steering_wheel_angle",)
        assert pilot.outputs == ("ref_frame.pos.x", "ref_frame.pos.y", "ref_frame.pos.z")
        for k in range(10):
            u[angle] = 0.1 * k
            reference.set_inputs(u)
            reference.step(20)
            state = pilot.step([0.1 * k]) if k % 2 else pilot.step({"steering_wheel_angle": 0.1 * k})
            assert state["ref_frame.pos"].tolist() == reference.get_outputs()[wanted].tolist()
            assert (state.tick, state.time, pilot.due) == (20 * (k + 1), (k + 1) / 50, 20 * (k + 1))


def test_a_refused_step_changes_nothing_and_inputs_that_are_not_named_hold() -> None:
    def drive(refused: list[Any]) -> list[float]:
        owns = ["steering_wheel_angle", "chassis.ext_force"]
        with jounce.join("hmmwv", owns=owns, wants=["ref_frame.yaw", "speed"], period=50, **PARAMETERS) as pilot:
            pilot.step({"steering_wheel_angle": 1.0, "chassis.ext_force": [0.0, 100.0, 0.0]})
            for bad in refused:
                with pytest.raises(InputError):
                    pilot.step(bad)
                assert pilot.due == 50
            pilot.step()
            return [*pilot.step({"chassis.ext_force.z": 5.0}).values.tolist(), pilot.state.time]

    bad: list[Any] = [[float("nan"), 0, 0, 0], [99.0, 0, 0, 0], [1.0], {"speed": 1.0}, {"chassis.ext_force": [1.0]}]
    bad += [{"steering_wheel_angle": "left"}, {"steering_wheel_angle": 0.5, "chassis.ext_force.x": float("inf")}]
    assert drive(bad) == drive([])


def test_a_saved_state_goes_on_with_the_same_bits_also_in_another_stepper() -> None:
    names = {"owns": ["steering_wheel_angle"], "wants": ["*"], "period": 30}
    pushes = {**names, "owns": ["chassis.ext_force"]}
    with (jounce.join("hmmwv", **names, **PARAMETERS) as one, jounce.join("hmmwv", **names) as other,
          jounce.join("hmmwv", **pushes) as pushing):  # fmt: skip
        one.step([0.7])
        saved = one.save()
        ahead = one.step().values
        for stepper in (one, other, pushing):  # The last has no hold of the steering, which is in the saved state.
            assert stepper.restore(saved).tick == 30
            assert stepper.step().values.tobytes() == ahead.tobytes() and stepper.due == 60
        for wrong in (b"", saved[:100], saved + b"x"):
            with pytest.raises((InputError, FmuError)):
                one.restore(wrong)
        assert one.due == 60 and one.step().tick == 90


@pytest.mark.parametrize("arguments", [{"period": 0}, {"period": 1.5}, {"period": True}, {"owns": ["speed"]},
                                       {"wants": ["nothing"]}, {"start_inputs": {"steering_wheel_angle": 99.0}}])
def test_a_stepper_that_cannot_be_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        jounce.join("hmmwv", **arguments)


def test_the_package_offers_names_from_above_and_imports_nothing_for_it() -> None:
    code = ("import jounce, sys; assert not [m for m in sys.modules if m.startswith('jounce_')]; "
            "assert 'simulate' in dir(jounce) and callable(jounce.simulate)")  # fmt: skip
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        jounce.simulat  # noqa: B018


def test_the_notebook_runs_from_its_first_cell_to_its_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((Path(__file__).parents[2] / "docs" / "in-process.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    assert len(cells) >= 4
    for cell in cells:
        exec(compile(cell, "in-process.ipynb", "exec"), names)
    assert names["left"]["ref_frame.yaw"][-1] > 0.1
