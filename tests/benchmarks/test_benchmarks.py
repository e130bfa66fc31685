"""The benchmarks run, and measure the right vehicle; nothing here depends on a time."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import table
from jounce_fmu.build.library import has_cc

FOLDER = Path(__file__).parents[2] / "benchmarks"
needs_compiler = pytest.mark.skipif(not has_cc(), reason="the harnesses are compiled with cc")


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("build")


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, str(FOLDER / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def figures(output: str, row: str) -> list[float]:
    line = next(line for line in output.replace("\n| ", "\n").splitlines() if line.startswith(row))
    return [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?(?!\S)", line[len(row):])]


def vehicle_tree() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vehicle_tree", FOLDER / "vehicle_tree.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@needs_compiler
def test_step_measures_every_call_of_jounce_and_the_peers_that_are_installed(build: Path) -> None:
    # Pinocchio's harness takes minutes to compile
    output = run("step.py", "--rounds=1", "--blocks=1", "--calls=20", f"--build={build}", "--without", "pinocchio")
    for call in ("rhs", "outputs", "step", "step + outputs", "inputs + step + outputs"):
        assert all(f > 0.0 for f in figures(output, f"jounce 1 lane: {call} "))
    if importlib.util.find_spec("mujoco"):
        assert all(f > 0.0 for f in figures(output, "MuJoCo: step, RK4"))
    else:
        assert "mujoco left out" in output


@needs_compiler
def test_do_step_measures_the_core_and_three_masters(build: Path) -> None:
    output = run("do_step.py", "--rounds=1", "--blocks=1", "--calls=20", f"--build={build}")
    for master in ("core, C", "fmi2, C", "fmi2, jounce_fmu.importer.host", "fmi2, fmpy"):
        assert all(f > 0.0 for f in figures(output, f"{master}: step ")[:3])


def test_the_round_trip_measures_every_client_and_its_peers(build: Path) -> None:
    output = run("round_trip.py", "--rounds=1", "--trips=5", "--priority=0", f"--build={build}")
    rows = ["raw socket echo", "gRPC aio stream echo", "Lockstep, fast lane, Python ", "Lockstep, sync client",
            "Lockstep, fast lane, Python, worker", "Lockstep, aio client ", "Advance, sync client"]
    for row in [*rows, *(["Lockstep, fast lane, C"] if shutil.which("cc") else [])]:
        assert all(f > 0.0 for f in figures(output, row)[:3])
    assert "28 inputs" in output and f"{len(table(load_vehicle('hmmwv')).outputs)} outputs" in output


@pytest.mark.slow
def test_hostile_tells_overruns_beside_nobody_and_beside_attackers(build: Path) -> None:
    output = run("hostile.py", "--rounds=1", "--seconds=0.1", "--only=describe,burst", f"--build={build}")
    rows = [line.split(" |")[0] for line in output.splitlines() if line.startswith("| ")][2:]
    assert [r[2:30].strip() for r in rows] == [
        "nobody", "DescribeModel over one chann", "A hundred connections at onc"]


@pytest.mark.slow
def test_scaling_tells_round_trips_and_ticks_of_every_case(build: Path) -> None:
    way = f"fast lane, {'C' if shutil.which('cc') else 'Python'}, tcp"
    output = run("scaling.py", "--rounds=1", "--ticks=5", "--most=2", "--priority=0", "--networks=tcp", f"--only={way}",
                 f"--build={build}")
    trips, slow, ticks = (part.splitlines() for part in re.split(r"\n\n(?:Round trip|Ticks).*:\n\n", output)[1:])
    for lines in (trips, slow, ticks):
        first, *others = (line.strip("| ").split(" | ") for line in [lines[0], *lines[2:4]])
        assert [cell.strip() for cell in first] == ["sessions x participants", "1 x 1", "1 x 2", "2 x 1"]
        assert [cells[0].strip() for cells in others] == [f"{way}, in process", f"{way}, worker"]
    for p50, p99, rate in zip(trips[2:], slow[2:], ticks[2:], strict=False):
        # Of 5 ticks on end, 3 took the median or more; half a unit is rounding.
        medians, longest, rates = (
            [float(x.split()[0]) for x in line.strip("| ").split(" | ")[1:]] for line in (p50, p99, rate))
        for sessions, middle, worst, per_second in zip((1, 1, 2), medians, longest, rates, strict=True):
            assert 0.0 < middle <= worst
            assert per_second <= sessions * 5e6 / (3.0 * (middle - 0.5)) + 0.5


@pytest.mark.slow
def test_paced_counts_overruns_and_late_slots_of_a_path_and_of_a_bare_pair_before_it(build: Path) -> None:
    output = run("paced.py", "--seconds=0.3", "--only=Python, unix, in process", f"--build={build}")
    rows = {cells[0].strip("| "): cells[1:] for line in output.splitlines() if len(cells := line.split(" | ")) == 9}
    wanted = (["two C programs alone"] if shutil.which("cc") else []) + ["fast lane, Python, unix, in process"]
    assert list(rows)[2:] == wanted
    for name in wanted:
        overruns, releases, slots, *times = (cell.split()[0] for cell in rows[name][:7])
        middle, *_, greatest = map(float, times)
        assert sorted(map(float, times)) == [float(t) for t in times]
        # A slot is late by 1 ms or more: with none, or all of them, the times say so; half a unit is rounding.
        assert (int(slots) > 0) == (greatest >= 999.5) or 999.5 <= greatest <= 1000.5
        assert int(slots) < 300 or middle >= 999.5
        assert 0 <= int(overruns) <= int(releases) <= 300


@pytest.mark.slow
def test_gym_env_measures_one_environment_and_three_vectors(build: Path) -> None:
    pytest.importorskip("gymnasium")
    output = run("gym_env.py", "--envs=2", "--calls=5", "--rounds=1")
    for row in ("one environment", "JounceVectorEnv ", "JounceVectorEnv, one process", "AsyncVectorEnv"):
        assert all(f > 0.0 for f in figures(output, row))


@pytest.mark.slow
def test_view_counts_frames_of_each_page_and_overruns_of_the_session(build: Path) -> None:
    output = run("view.py", "--seconds=0.5", "--rounds=1", "--no-browser")
    lines = [line.split() for line in output.splitlines()]
    rows = {cells[0]: cells[1:] for cells in lines if len(cells) == 8 and cells[0].isdigit()}
    assert list(rows) == ["0", "1", "10"] and float(rows["0"][5]) == 0.0
    for pages in ("1", "10"):
        # at most one frame at each stop of the clock, which comes every 10 ms
        assert 0.0 < float(rows[pages][5]) <= 100.0 and int(rows[pages][1]) <= 50


def test_the_tree_has_the_vehicles_mass_and_degrees_of_freedom() -> None:
    module = vehicle_tree()
    tree = module.vehicle_tree(load_vehicle("hmmwv"))
    joints = {"free": 6, "hinge": 1, "ball": 3, "universal": 2, "slide": 1}
    assert sum(joints[b.kind] for b in tree.bodies) - 3 * len(tree.closures) == 14
    # chassis, steering link and arm; arms, upright, spindle, tierod, shock tubes and wheel of each corner
    corner = 5.813 + 23.965 + 19.45 + 14.705 + 6.0 + 2.0 + 2.0 + 56.4
    assert sum(b.mass for b in tree.bodies) == pytest.approx(2086.52 + 3.681 + 1.605 + 4 * corner, rel=1e-12)


def test_the_probes_motion_keeps_every_cut_loop_closed() -> None:
    module = vehicle_tree()
    vehicle = load_vehicle("hmmwv")
    tree = module.vehicle_tree(vehicle)
    rates = module.probe(vehicle, tree, seed=7).velocity
    turning, moving = [rates[3:6]], [rates[0:3]]  # of each body, at its joint
    at = 6
    for b in tree.bodies[1:]:
        mother = tree.bodies[b.parent]
        w = turning[b.parent]
        v = moving[b.parent] + np.cross(w, b.point - mother.point)
        axes = np.eye(3) if b.kind == "ball" else np.array(b.axes)
        own = rates[at : at + len(axes)] @ axes
        at += len(axes)
        turning.append(w if b.kind == "slide" else w + own)
        moving.append(v + own if b.kind == "slide" else v)
    assert at == len(rates) and np.min(np.abs(rates)) > 0.0
    for c in tree.closures:
        a, b = (moving[i] + np.cross(turning[i], c.point - tree.bodies[i].point) for i in c.bodies)
        assert np.allclose(a, b, rtol=0.0, atol=1e-11)


@needs_compiler
@pytest.mark.slow
def test_aggregates_are_measured_beside_the_closed_form() -> None:
    printed = run("aggregates.py", "--rounds", 1, "--calls", 5)
    for name in ("closed form, 1 lane", "five-link, 4 lanes", "solid axle, both wheels, 1 lane"):
        assert name in printed


@needs_compiler
@pytest.mark.slow
def test_other_kinds_of_axles_are_measured_beside_the_hmmwv() -> None:
    printed = run("kinds.py", "microbus", "--rounds", 1, "--calls", 5)
    assert figures(printed, "hmmwv ")[1] == 1.0 and figures(printed, "microbus ")[1] > 0.1


@pytest.mark.slow
def test_an_axle_more_is_measured() -> None:
    printed = run("axles.py", "--most", 2, "--rounds", 1, "--calls", 5)
    assert figures(printed, "2 ")[0] > 0.0 and "ns an axle" in printed


@needs_compiler
@pytest.mark.slow
def test_the_ground_benchmark_asks_every_kind_of_terrain() -> None:
    printed = run("ground.py")
    names = ("heightmap along a path", "the same with splines", "heightmap at random places", "random road",
             "OpenCRG road", "closed OpenCRG road", "OpenCRG road with a NaN border",
             "heightmap with 20 obstacles")  # fmt: skip
    for name in names:
        single, of_four = figures(printed, name)
        assert single > 0.0 and of_four > 0.0
    assert "goal: at most 100" in printed


@needs_compiler
def test_contacts_are_measured_beside_the_plane(build: Path) -> None:
    """With the harness that the step's benchmark has compiled."""
    printed = run("contact.py", "--rounds=1", "--calls=5", f"--build={build}")
    for name in ("random road ", "random road, AREA ", "soft soil "):
        assert figures(printed, name)[2] > 0.0
