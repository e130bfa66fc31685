"""``jounce sweep``: what a file stands for, what is refused, and what is left after a kill."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integrator_model import IntegratorModel

from jounce_fmu.importer.trajectory import run as trajectory
from jounce_service.hosting.fmu_model import FmuModel
from jounce_tools.cli.main import main
from jounce_tools.errors import UsageError
from jounce_tools.simulate.run import started
from jounce_tools.sweep import run as runs
from jounce_tools.sweep.plan import Case, Plan, planned, read
from jounce_tools.sweep.results import Results

DOCS = Path(__file__).parents[2] / "docs" / "sweep.md"


def plan_of(tmp_path: Path, text: str) -> tuple[Plan, list[Case]]:
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    return planned(path, read(path), lambda _: IntegratorModel())


def drawn(tmp_path: Path, text: str, name: str = "limit") -> list[float]:
    return [c.parameters[name] for c in plan_of(tmp_path, "duration = 1\n" + text)[1]]


NORMAL = 'limit = { distribution = "normal", mean = 5, deviation = 2.0 }\n'


def test_cases_are_the_grid_with_the_last_name_fastest_times_the_draws(tmp_path: Path) -> None:
    text = f'duration = 1\ndraws = 2\n[set]\nsleep = 0\n[grid]\ngain = [1, 3.5]\nmode = ["FAST", 1]\n[random]\n{NORMAL}'
    _, cases = plan_of(tmp_path, text)
    assert [c.number for c in cases] == list(range(8))
    assert [(c.parameters["gain"], c.parameters["mode"], c.draw) for c in cases] == [
        (g, m, d) for g in (1.0, 3.5) for m in (2.0, 1.0) for d in (0, 1)]
    assert {c.parameters["sleep"] for c in cases} == {0.0}
    # Common random numbers: points of the grid differ by the grid alone.
    assert {d: {c.parameters["limit"] for c in cases if c.draw == d} for d in (0, 1)} == {
        d: {cases[d].parameters["limit"]} for d in (0, 1)}


def test_a_draw_depends_on_seed_name_and_place_alone(tmp_path: Path) -> None:
    few = drawn(tmp_path, f"draws = 3\nseed = 4\n[random]\n{NORMAL}")
    more = f"draws = 5\nseed = 4\n[random]\n{NORMAL.replace('limit', 'gain')}{NORMAL}"
    assert drawn(tmp_path, more)[:3] == few
    assert drawn(tmp_path, more, "gain")[:3] != few
    assert not set(drawn(tmp_path, f"draws = 3\nseed = 5\n[random]\n{NORMAL}")) & set(few)


def test_draws_follow_their_distribution(tmp_path: Path) -> None:
    def values(table: str) -> list[float]:
        return sorted(drawn(tmp_path, f"draws = 4000\n[random]\nlimit = {{ distribution = {table} }}\n"))

    normal = values('"normal", mean = 5, deviation = 2.0')
    assert statistics.fmean(normal) == pytest.approx(5.0, abs=0.15)
    assert statistics.stdev(normal) == pytest.approx(2.0, rel=0.05)
    uniform = values('"uniform", low = -1, high = 3')
    assert uniform[0] >= -1.0 and uniform[-1] < 3.0
    assert uniform[1000::1000] == pytest.approx([0.0, 1.0, 2.0], abs=0.12)
    lognormal = values('"lognormal", median = 10, log_deviation = 0.5')
    assert lognormal[2000] == pytest.approx(10.0, rel=0.04)
    assert statistics.stdev(np.log(lognormal)) == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize(("text", "words"), [
    ("", "duration is missing"), ("duration = 1\nmodle = 'x'", "no key 'modle'; expected vehicle, tire, road,"),
    ("manoeuvre = 'park'\nduration = 1", "duration and manoeuvre; expected one of them"),
    ("manoeuvre = 'parc'", "no such manoeuvre; expected "),
    ("duration = 1\n[grid]\nmanoeuvre.speed = [1]", r"\[grid\] manoeuvre.speed: expected manoeuvre = NAME above"),
    ("manoeuvre = 'step-steer'\n[grid]\nmanoeuvre.sped = [1]", "sped: step-steer has no such setting; expected "),
    ("manoeuvre = 'step-steer'\n[set]\nmanoeuvre.speed = 'x'", "manoeuvre.speed = 'x': expected a finite number"),
    ("duration = 1\n[grid]\ntire = [1]", r"\[grid\] tire = \[1\]: expected a list of strings"),
    ("duration = 1\nroad = 'a.jnt'\n[grid]\nroad = ['b.jnt']", r"road: expected it once"),
    ("duration = 1\n[grid]\nvehicle = ['hmmwv', 'hmmwv']", "each value once"),
    ("duration = true", "duration = True: expected a number"), ("duration = 1\n[", "sweep.toml: "),
    ("duration = 0.0005", "duration 0.0005 s: expected a whole multiple"), ("duration = nan", "duration nan s"),
    ("duration = 1\noutput_interval = 0", "output_interval 0.0 s: expected at least one tick"),
    ("duration = 1\nseed = -1", "seed = -1: expected a whole number from 0"),
    ("duration = 1\ndraws = 0", "draws = 0: expected a whole number from 1"),
    ("duration = 1\ndraws = 2", r"draws = 2: expected 1 where nothing is \[random\]"),
    ("duration = 1\noutputs = ['posision']", "outputs: no output named 'posision'; expected position"),
    ("duration = 1\noutputs = [[1]]", "outputs: "),
    ("duration = 1\n[set]\ngane = 1", r"\[set\] gane = 1: no parameter named 'gane' in integrator; expected gain"),
    ("duration = 1\n[set]\ngain = [1]", r"\[set\] gain = \[1\]: gain = .*: expected a finite number"),
    ("duration = 1\n[grid]\ngain = 1", r"\[grid\] gain = 1: expected a list"),
    ("duration = 1\n[grid]\ngain = []", r"\[grid\] gain = \[\]: expected a list"),
    ("duration = 1\n[grid]\ngain = [1, 6]", r"\[grid\] gain = 6: .*0.0 to 5.0"),
    ("duration = 1\n[grid]\ngain = [1, 1.0]", "each value once"),
    ("duration = 1\n[grid]\nmode = ['QUICK']", r"\[grid\] mode = 'QUICK': .*SLOW, FAST"),
    ("duration = 1\n[grid]\ngain = [1]\n[set]\ngain = 1", r"gain: expected one of \[set\], \[grid\] and \[random\]"),
    ("duration = 1\n[random]\nmode = {}", "of type Enumeration: expected real parameters"),
    ("duration = 1\n[random]\nlimit = 3", 'distribution = "uniform" or "normal" or "lognormal"'),
    ("duration = 1\n[random]\nlimit = {distribution = 'normal', mean = 1}", "normal with mean and deviation"),
    ("duration = 1\n[random]\nlimit = {distribution = 'uniform', low = 2, high = 1}", "low below high"),
    ("duration = 1\n[random]\nlimit = {distribution = 'normal', mean = nan, deviation = 1}", "a deviation above 0"),
    (f"duration = 1\ndraws = 1000001\n[random]\n{NORMAL}", "1000001 cases: expected at most 1000000"),
])
def test_a_fault_in_the_file_is_refused_with_its_place_and_what_is_allowed(
        tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        plan_of(tmp_path, text)


def test_the_file_of_the_docs_can_be_used_with_and_without_the_quotes(tmp_path: Path) -> None:
    example = DOCS.read_text().partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "steer.csv").write_text("time,steering_wheel_angle\n0,0\n")
    model, path = FmuModel(runs.open_builtin("hmmwv")), tmp_path / "sweep.toml"
    path.write_text(example)
    plan, cases = planned(path, read(path), lambda _: model)
    assert len(cases) == 300
    assert cases[150].parameters == {"init.speed": 20.0, "terrain.mu": 0.5} | {
        n: cases[50].parameters[n] for n in ("chassis.mass", "chassis.com.z")}
    path.write_text(re.sub(r'^"(.*?)"', r"\1", example, flags=re.MULTILINE))
    assert planned(path, read(path), lambda _: model) == (plan, cases)


def test_inputs_are_those_of_simulate_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("time,velocity.x\n0,1\n0.5,2\n")
    plan, _ = plan_of(tmp_path, "duration = 1\ninputs = 'in.csv'\noutputs = ['position', 'reaction']\n")
    assert plan.tracks[0].times.tolist() == [0.0, 0.5]
    assert plan.outputs == ("position.x", "position.y", "reaction")


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="the extra sweep is not installed")
    monkeypatch.setattr(runs, "_open", lambda name: IntegratorModel())


def test_a_case_that_fails_keeps_its_rows_up_to_there_and_says_why(tmp_path: Path, in_process: None) -> None:
    import pyarrow.parquet as pq

    (tmp_path / "in.csv").write_text("time,velocity.x\n0,10\n")
    plan, cases = plan_of(tmp_path, "duration = 0.01\ninputs = 'in.csv'\noutputs = ['position', 'tick_count']\n"
                                    '[grid]\nlimit = [1e9, 0.045]\nvalid = [true, false]\n')
    cases.append(Case(4, 0, {"limit": 1e9, "valid": 7.0}, cases[0].vehicle))
    results = Results(tmp_path / "out", plan, cases)
    for case in cases:
        results.put(case, runs.run_case(plan, case))
    failed = results.write_table()
    assert failed.keys() == {1, 2, 3, 4}
    assert "position.x passed 0.045" in failed[2]
    assert "valid = 7.0" in failed[4]
    done, cut = (pq.read_table(results.path(c)) for c in (cases[0], cases[2]))
    assert done["time"].to_pylist() == [k / 1000 for k in range(11)]
    assert done["tick_count"].to_pylist() == list(range(11))
    assert cut["tick_count"].to_pylist() == list(range(5))
    assert pq.read_table(results.path(cases[1])).num_rows == 0
    assert {f.name: f.metadata[b"unit"] for f in done.schema} == {
        "case": b"1", "time": b"s", "position.x": b"m", "position.y": b"m", "tick_count": b"1"}
    table = pq.read_table(tmp_path / "out/cases.parquet")
    assert table["status"].to_pylist() == ["done", *["failed"] * 4]
    assert table["reason"].to_pylist() == [None, *failed.values()]
    assert table.schema.field("limit").metadata == {b"unit": b"m"}


def test_a_file_that_was_cut_is_no_result(tmp_path: Path, in_process: None) -> None:
    plan, cases = plan_of(tmp_path, "duration = 0.01\n[grid]\ngain = [1, 2, 3]\n")
    results = Results(tmp_path / "out", plan, cases)
    for case, length in zip(cases, (None, -4, 0), strict=True):
        results.path(case).write_bytes(runs.run_case(plan, case)[:length])
    assert results.failures() == {0: ""}


def test_a_worker_with_another_build_ends_the_sweep(tmp_path: Path, in_process: None) -> None:
    plan, cases = plan_of(tmp_path, "duration = 0.01\n")
    with pytest.raises(runs.OtherBuild, match="a worker has .*: expected other"):
        runs.run_case(replace(plan, builds={cases[0].vehicle: "other"}), cases[0])


@pytest.mark.parametrize(("old", "new", "words"), [
    ("gain = [1, 2]", "gain = [1, 3]", r'grid = {"gain": \[1.0, 3.0\], .*which has grid = {"gain": \[1.0, 2.0\], '),
    ("duration = 0.01", "duration = 0.02", r"duration = 0.02.*which has duration = 0.01"),
    ("gain = [1, 2]\nsleep = [0, 1]", "sleep = [0, 1]\ngain = [1, 2]", 'grid = {"sleep": .*which has grid = {"gain"'),
    ("seed = 1", "seed = 2", "seed = 2.*which has seed = 1"),
    ("mean = 5", "mean = 6", r'random = {.*"mean": 6'),
])
def test_a_changed_sweep_is_refused_where_there_are_results_of_the_old_one(
        tmp_path: Path, old: str, new: str, words: str) -> None:
    text = f"duration = 0.01\nseed = 1\ndraws = 2\n[grid]\ngain = [1, 2]\nsleep = [0, 1]\n[random]\n{NORMAL}"
    Results(tmp_path / "out", *plan_of(tmp_path, text))
    before = (tmp_path / "out/sweep.json").read_bytes()
    Results(tmp_path / "out", *plan_of(tmp_path, text))
    with pytest.raises(UsageError, match=f"(?s){words}.*expected the same sweep"):
        Results(tmp_path / "out", *plan_of(tmp_path, text.replace(old, new)))
    assert (tmp_path / "out/sweep.json").read_bytes() == before


def test_changed_inputs_and_other_draws_are_refused_and_so_is_a_folder_of_something_else(tmp_path: Path) -> None:
    text = f"duration = 0.01\ninputs = 'in.csv'\n[random]\n{NORMAL}"
    (tmp_path / "in.csv").write_text("time,force\n0,1\n")
    plan, cases = plan_of(tmp_path, text)
    Results(tmp_path / "out", plan, cases)
    with pytest.raises(UsageError, match="other draws: .*another sweep"):
        Results(tmp_path / "out", plan, [Case(0, 0, {"limit": 5.0}, "hmmwv")])
    (tmp_path / "in.csv").write_text("time,force\n0,2\n")
    with pytest.raises(UsageError, match=r"inputs \(SHA-256\)"):
        Results(tmp_path / "out", *plan_of(tmp_path, text))
    with pytest.raises(UsageError, match="not a sweep's folder"):
        Results(tmp_path, plan, cases)


@pytest.mark.parametrize(("arguments", "words"), [
    (["--vehicle", "hmmvw"], "vehicle 'hmmvw'"), (["--set", "init.sped=1"], "no parameter named 'init.sped'"),
    (["--set", "init.speed"], "expected NAME=VALUE"), (["--workers", "0"], "--workers 0: expected at least 1"),
])
def test_names_are_checked_before_anything_runs(arguments: list[str], words: str, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("jounce.optional.find_spec", lambda name: object())
    (tmp_path / "s.toml").write_text("duration = 1\n")
    assert main(["sweep", str(tmp_path / "s.toml"), "-o", str(tmp_path / "out"), *arguments]) in (1, 2)
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_missing_packages_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("jounce.optional.find_spec", lambda name: None)
    assert main(["sweep", "s.toml"]) == 2
    assert re.search("pyarrow and ray are not installed: pip install .*pyarrow.* .*ray", capsys.readouterr().err)


def test_vehicles_tires_and_roads_are_swept_and_each_case_is_that_of_its_own_vehicle(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra sweep is not installed")
    assert main(["terrain", "iso", "--class", "C", "--seed", "7", "--length", "60", "-o", str(tmp_path / "c.jnt")]) == 0
    (tmp_path / "s.toml").write_text(
        "duration = 0.2\noutput_interval = 0.2\noutputs = ['speed', 'com.pos.z']\n"
        "[grid]\nvehicle = ['hmmwv', 'utv']\n'init.speed' = [5, 10]\n")
    (tmp_path / "r.toml").write_text(
        "duration = 0.2\noutput_interval = 0.2\noutputs = ['com.pos.z']\nroad = 'c.jnt'\n'set'.'init.speed' = 5\n")

    def opened(vehicle: str) -> FmuModel:
        return FmuModel(runs.open_builtin(vehicle))

    plan, cases = planned(tmp_path / "s.toml", read(tmp_path / "s.toml"), opened)
    assert [(c.texts["vehicle"], c.vehicle, c.parameters["init.speed"]) for c in cases] == [
        (v, v, s) for v in ("hmmwv", "utv") for s in (5.0, 10.0)]
    results = Results(tmp_path / "out", plan, cases)
    for case in cases:
        results.put(case, runs.run_case(plan, case))
    assert results.write_table() == {}
    import pyarrow.parquet as pq

    table = pq.read_table(tmp_path / "out/cases.parquet")
    assert table["vehicle"].to_pylist() == ["hmmwv", "hmmwv", "utv", "utv"]
    heights = [pq.read_table(results.path(c))["com.pos.z"][0].as_py() for c in cases]
    assert heights[0] == heights[1] != heights[2] == heights[3]
    plan, [case] = planned(tmp_path / "r.toml", read(tmp_path / "r.toml"), opened)
    assert case.vehicle.endswith("vehicle.toml") and plan.described["road"] == "c.jnt"
    (tmp_path / "rough.parquet").write_bytes(runs.run_case(plan, case))
    rough = pq.read_table(tmp_path / "rough.parquet")["com.pos.z"].to_pylist()
    assert rough[1] != rough[0]


def test_a_manoeuvre_is_swept_and_its_metrics_are_those_of_the_command(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra sweep is not installed")
    import pyarrow.parquet as pq

    (tmp_path / "s.toml").write_text(
        "manoeuvre = 'brake-straight'\ndraws = 2\n[grid]\nmanoeuvre.speed = [10]\n"
        "[random]\n'chassis.mass' = { distribution = 'uniform', low = 1900, high = 2100 }\n")
    plan, cases = planned(tmp_path / "s.toml", read(tmp_path / "s.toml"), lambda v: FmuModel(runs.open_builtin(v)))
    cases.append(replace(cases[0], number=2, parameters={**cases[0].parameters, "manoeuvre.speed": 1e9}))
    results = Results(tmp_path / "out", plan, cases)
    for case in cases:
        results.put(case, runs.run_case(plan, case))
    [(number, reason)] = results.write_table().items()
    assert number == 2 and "init.speed = 1000000000.0: expected" in reason
    table = pq.read_table(tmp_path / "out/cases.parquet")
    mass = cases[0].parameters["chassis.mass"]
    assert main(["test", "brake-straight", "--setting", "speed=10", "--set", f"chassis.mass={mass!r}",
                 "-o", str(tmp_path / "one")]) in (0, 1)  # fmt: skip
    found = json.loads((tmp_path / "one/metrics.json").read_text())["metrics"]
    for name, metric in found.items():
        assert table[name][0].as_py() == metric["value"]
        assert table.schema.field(name).metadata[b"unit"].decode() == metric["unit"]
        assert table[name][2].as_py() is None
    assert table["passed"][0].as_py() == all(m["passed"] is not False for m in found.values())
    assert table["status"].to_pylist() == ["done", "done", "failed"]


def descendants(pid: int) -> dict[int, str]:
    """Processes below that one: number and title."""
    found = {}
    for child in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split():
        try:
            found[int(child)] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
        found |= descendants(int(child))
    return found


def wait_until(condition: Any, what: str, seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, what
        time.sleep(0.05)
    return found


@pytest.mark.skipif(shutil.which("pgrep") is None, reason="needs pgrep (procps)")
def test_a_sweep_on_ray_that_is_killed_goes_on_and_has_the_bits_of_runs_in_process(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra sweep is not installed")
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra sweep is not installed")
    (tmp_path / "in.csv").write_text("time,steering_wheel_angle\n0,0\n1,1.5\n")
    (tmp_path / "s.toml").write_text(
        "duration = 20\noutput_interval = 0.002\ninputs = 'in.csv'\n"
        "outputs = ['speed', 'ref_frame.pos', 'ref_frame.yaw']\ndraws = 4\n"
        "[set]\n'init.speed' = 8\n[grid]\n'terrain.mu' = [0.3, 0.8]\n"
        "[random]\n'chassis.mass' = { distribution = 'normal', mean = 2000, deviation = 150 }\n")
    out, table = tmp_path / "out", tmp_path / "out/cases.parquet"
    command = [sys.executable, "-m", "jounce_tools.cli", "sweep", "s.toml", "-o", str(out), "--workers", "2"]
    options: dict[str, Any] = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}}

    def results() -> dict[Path, int]:
        return {p: p.stat().st_mtime_ns for p in out.glob("results/*.parquet")}

    def workers(pid: int) -> list[int]:
        found = [n for n, title in descendants(pid).items() if title.startswith("ray::run_case")]
        return found if len(found) > 1 else []

    first = subprocess.Popen(command, **options)
    try:
        wait_until(lambda: workers(first.pid), "two workers at a time")
        wait_until(results, "a result")
    finally:
        left = workers(first.pid)
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
    before = results()
    assert 0 < len(before) < 8 and not table.exists()
    wait_until(lambda: not any(Path(f"/proc/{n}/exe").exists() for n in left), "the workers end with the command")

    second = subprocess.Popen(command, **options, stdout=subprocess.PIPE, text=True)
    # A worker that is killed takes no case with it.
    os.kill(wait_until(lambda: workers(second.pid), "two workers at a time")[0], signal.SIGKILL)
    said = second.communicate(timeout=120)[0]
    assert second.returncode == 0, said
    # Ray has a word to say about that, too.
    assert said.splitlines()[-1] == f"8 of 8 cases in {out}, {8 - len(before)} of them new, 0 failed"
    assert before.items() <= results().items()

    model = FmuModel(runs.open_builtin("hmmwv"))
    plan, cases = planned(tmp_path / "s.toml", read(tmp_path / "s.toml"), lambda _: model)
    columns = [model.table.by_name(n).index for n in plan.outputs]
    for case in (cases[0], cases[7], cases[int(min(set(results()) - set(before)).stem[-6:])]):
        kept = pq.read_table(Results(out, plan, cases).path(case))
        assert json.loads(kept.schema.metadata[b"parameters"]) == case.parameters
        with started(model, case.parameters, plan.tracks) as begun:
            rows = list(trajectory(begun.instance, begun.u, begun.inputs, n_ticks=20_000, every=2))
        wanted = np.array([[t, *y[columns]] for t, y in rows])
        assert np.column_stack([kept[n].to_numpy() for n in ("time", *plan.outputs)]).tobytes() == wanted.tobytes()
    assert pq.read_table(table)["status"].to_pylist() == ["done"] * 8
