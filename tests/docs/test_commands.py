"""Every command of README and docs: run as it stands, or listed here with the test that runs it or what it takes.

They run in an environment with jounce: that of the tests, and with JOUNCE_SLOW one made by the README's own line.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "service"))
from ports import free_port

ROOT = Path(__file__).parents[2]
DOCS = [p for p in sorted((ROOT / "docs").rglob("*.md")) if p.parent.name != "decisions"]
PAGES = [ROOT / "README.md", *DOCS, ROOT / "benchmarks" / "README.md"]
#: How a command in running text begins; in an indented block every line is one.
PROGRAM = re.compile(r"(\S*/)?(jounce|python3?|pip|pytest|docker|podman|grpcurl|cmake|apt-get) ")
#: Blocks of the pages that are no shell.
OTHER = re.compile(r"oms_|from |import |run[ .]|rows = ")


@dataclass(frozen=True)
class By:
    """A test file that runs the command, in its folder ``tests``."""

    test: str


@dataclass(frozen=True)
class Takes:
    """Not run by a test: what it takes."""

    reason: str


#: A server that is started, reached and stopped.
SERVES = "serves"
RUNS = "runs"

INSTALLS = Takes("downloads from a registry; with JOUNCE_SLOW the README's first line is run")
PLAN: dict[str, object] = {
    # README.md
    "python3 -m venv .venv && . .venv/bin/activate && pip install . && jounce demo": By("docs/test_commands.py"),
    "python3 -m venv .venv && . .venv/bin/activate && pip install '.[test]' && pytest": Takes(
        "is how the tests themselves run"),
    "jounce demo --only rough": By("clients/test_demo.py"),
    "jounce simulate --sample in.csv": RUNS,
    "jounce simulate --inputs in.csv -o out.csv --set init.speed=10": RUNS,
    "jounce export": RUNS,
    "jounce export --partner driver": RUNS,
    "jounce export --ssp": RUNS,
    "jounce describe": RUNS,
    "pip install '.[sweep]'": INSTALLS,
    "jounce sweep sweep.toml": By("service/test_sweep.py"),
    "jounce linearize --speed 20 -o linear.npz": RUNS,
    "jounce simulate --vehicle halfcar --set torque_max=550 --duration 30 -o halfcar.csv": RUNS,
    "jounce export --vehicle halfcar -o halfcar.fmu": RUNS,
    "jounce simulate --vehicle car --duration 5 -o car.csv": RUNS,
    "jounce export --vehicle microbus -o microbus.fmu": RUNS,
    # docs/compare.md
    "jounce compare hmmwv -o out/": Takes("minutes; tests/tools/test_compare.py runs a part, and all with JOUNCE_SLOW"),
    "jounce simulate --vehicle hmmwv-ta-two-point --duration 5 --set init.speed=10 --outputs speed,closure_residual "
    "-o ta.csv": RUNS,
    "jounce export --vehicle hmmwv-ta-two-point -o ta.fmu": RUNS,
    "jounce serve --vehicle hmmwv-ta-two-point --address 127.0.0.1:50051": By("service/test_formulation_served.py"),
    # docs/roads.md
    "jounce terrain iso --class C --seed 7 --length 500 -o rough.jnt": RUNS,
    "jounce terrain show rough.jnt --picture rough.png": RUNS,
    "jounce simulate --road rough.jnt --duration 5 --set init.speed=10 -o rough.csv": RUNS,
    "jounce export --road rough.jnt -o rough.fmu": By("fmu/test_terrain_fmu.py"),
    "jounce serve --road rough.jnt": SERVES,
    "jounce export --road FILE": By("fmu/test_terrain_fmu.py"),
    "jounce export --tire FILE --road FILE": By("fmu/test_importers.py"),
    "jounce terrain pack": By("tools/test_terrain_command.py"),
    "jounce terrain show": By("tools/test_terrain_command.py"),
    "jounce terrain show course.jnt --mesh course.obj": By("tools/test_terrain_command.py"),
    "jounce view --demo --vehicle class3": By("tools/view/test_demo.py"),
    "jounce terrain iso": By("vehicle/test_terrain.py"),
    "jounce terrain show road.crg --picture road.png": By("tools/test_terrain_command.py"),
    "jounce terrain pack course.toml -o course.jnt": By("tools/test_terrain_command.py"),
    "python benchmarks/ground.py": By("benchmarks/test_benchmarks.py"),
    "python benchmarks/contact.py": By("benchmarks/test_benchmarks.py"),
    # docs/soil.md
    "jounce simulate --duration 5 --set terrain.soil=BEKKER --set init.speed=5 -o soil.csv": RUNS,
    "python docs/roads/area.py": Takes("20 s; draws a picture of docs/roads.md"),
    "python docs/soil/draw.py": Takes("15 s; draws the picture of the page"),
    # docs/driving-by-pedals.md
    "jounce simulate --throttle 0.4 --duration 10 -o drive.csv": RUNS,
    "jounce simulate --throttle 0.5 --gear D --until 60kmh -o away.mcap": RUNS,
    "jounce view away.mcap -o away.html": By("tools/view/test_recorded.py"),
    "jounce simulate --set init.speed=20 --brake 0.5 --until 0 -o stop.csv": RUNS,
    "jounce simulate --vehicle truck8x8 --throttle 0.6 --duration 6 -o truck.csv": By(
        "models/test_powertrain_many.py"),
    "jounce simulate --vehicle truck8x8 --throttle 0.6 --duration 6 --input axle_3.interaxle_lock=1 -o locked.csv": By(
        "models/test_powertrain_many.py"),
    "jounce export --vehicle hmmwv_pedals -o pedals.fmu": RUNS,
    "jounce simulate --vehicle hmmwv_electric --throttle 0.4 --duration 10 -o electric.csv": By(
        "models/test_electric.py"),
    "jounce powertrain map hmmwv_electric -o map": By("tools/test_powertrain_command.py"),
    "jounce powertrain check my_car": By("tools/test_powertrain_command.py"),
    "jounce powertrain map hmmwv_pedals -o map": By("tools/test_powertrain_command.py"),
    "jounce simulate --tire my.tir --duration 5 -o out.csv": By("fmu/test_tire_file.py"),
    "jounce export --tire my.tir -o car.fmu": By("fmu/test_tire_file.py"),
    "jounce tire show my.tir": By("tools/test_tire_command.py"),
    "jounce tire curve my.tir --load 4000,8000,16000 --slip -1:1 -o curve.png": By("tools/test_tire_command.py"),
    "jounce tire compare my.tir other.tir --load 8000 -o both.png": By("tools/test_tire_command.py"),
    "jounce export --tire front=my.tir --tire rear=other.tir -o car.fmu": By("fmu/test_tire_file.py"),
    "jounce uk study -o halfcar": By("tools/test_uk.py"),
    "jounce uk study": By("tools/test_uk.py"),
    "jounce test step-steer --vehicle utv -o step": By("tools/manoeuvres/test_command.py"),
    "jounce test": By("tools/manoeuvres/test_command.py"),
    "jounce test list": RUNS,
    "jounce replay": By("tools/manoeuvres/test_command.py"),
    "jounce export-recording": By("tools/view/test_recorded.py"),
    "jounce test double-lane-change -o lane": By("tools/manoeuvres/test_manoeuvres.py"),
    "jounce view": By("tools/view/test_recorded.py"),
    "jounce view --demo": By("tools/view/test_demo.py"),
    "jounce view --demo --vehicle my/vehicle.toml --road rough.jnt": By("tools/view/test_demo.py"),
    "jounce view --address 127.0.0.1:50051": By("tools/view/test_live.py"),
    "jounce view lane/run.mcap --compare other/run.mcap -o both.html": By("tools/view/test_recorded.py"),
    "jounce view lane/run.mcap -o lane.html": By("tools/view/test_recorded.py"),
    "jounce view lane/run.mcap --png lane.png --at 2.6": By("tools/view/test_recorded.py"),
    "jounce view lane/run.mcap --mp4 lane.mp4 --camera side": By("tools/view/test_recorded.py"),
    "jounce test all": By("tools/manoeuvres/test_manoeuvres.py"),
    "jounce test brake-straight --set terrain.mu=0.4 --setting speed=20 --limit 'distance<=70' -o wet": By(
        "tools/manoeuvres/test_command.py"),
    "jounce test step-steer --compare utv -o both": By("tools/manoeuvres/test_command.py"),
    "jounce test step-steer --set chassis.mass=2400 --compare step -o changed": By("tools/manoeuvres/test_command.py"),
    "jounce test step-steer --measured data.csv --band 0.05 -o validated": By("tools/manoeuvres/test_command.py"),
    "jounce test step-steer --address 127.0.0.1:50051": By("tools/manoeuvres/test_command.py"),
    "jounce bridge ardupilot --address 127.0.0.1:50051": By("clients/bridges/test_ardupilot.py"),
    "jounce bridge udp --address 127.0.0.1:50051 --send speed --receive steering_wheel_angle --layout": By(
        "clients/bridges/test_udp.py"),
    "jounce bridge udp --address 127.0.0.1:50051 --send speed --receive steering_wheel_angle": By(
        "clients/bridges/test_udp.py"),
    "jounce bridge ardupilot": By("clients/bridges/test_ardupilot.py"),
    "jounce bridge udp": By("clients/bridges/test_udp.py"),
    "jounce describe --vehicle halfcar": RUNS,
    "jounce serve --address 127.0.0.1:50051": SERVES,
    "jounce serve --fmu pump.fmu": SERVES,
    "python -m jounce_client.examples.what_if --address 127.0.0.1:50051": By("clients/test_what_if.py"),
    "python -m jounce_client.examples.commonroad --address 127.0.0.1:50051": By("clients/test_commonroad.py"),
    "python -m jounce_client.compliance --address 127.0.0.1:50051": By("clients/test_compliance.py"),
    "jounce serve --record DIR": SERVES,
    "jounce replay FILE": RUNS,
    "pip install ./clients/python": INSTALLS,
    "pip install .": By("docs/test_commands.py"),
    "python -m jounce_fmu.build.generate": By("fmu/test_generate.py"),
    # docs
    "jounce COMMAND --help": By("service/test_command_line.py"),
    "python3.11 -m venv .venv-commonroad && . .venv-commonroad/bin/activate": INSTALLS,
    "pip install commonroad-control 'commonroad-io<2026'": INSTALLS,
    "python -m jounce_client.examples.commonroad --address 127.0.0.1:50051 --controller pid --speed 12": By(
        "clients/test_commonroad.py"),
    "pip install './clients/python[compliance]'": INSTALLS,
    "python -m jounce_client.compliance --address unix:/run/jounce/jounce.sock": By("clients/test_compliance.py"),
    "pytest -p jounce_client.compliance.plugin --pyargs jounce_client.compliance --address ...": By(
        "clients/test_compliance.py"),
    "python -m jounce_tools.docs docs/configuration.md": By("service/test_docs.py"),
    "python -m jounce_tools.docs docs/service.md": By("service/test_docs.py"),
    "cmake -S clients/cpp -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build": By("clients/test_cpp_client.py"),
    "build/loop 127.0.0.1:50051 hmmwv steering_wheel_angle 100": By("clients/test_cpp_client.py"),
    "pip install '.[parquet]'": INSTALLS,
    "pip install '.[completion]'": INSTALLS,
    "pip install '.[gym]'": INSTALLS,
    "pip install '.[osi]'": INSTALLS,
    "jounce bridge ros2": By("clients/bridges/test_ros2.py"),
    "python -m jounce_client.bridges.ros2 --address 127.0.0.1:50051 --command twist": By(
        "clients/bridges/test_ros2.py"),
    "pip install '.[mavlink]'": INSTALLS,
    "jounce bridge px4 --address 127.0.0.1:50051": By("clients/bridges/test_px4.py"),
    "pip install '.[can]'": INSTALLS,
    "pip install '.[view]'": INSTALLS,
    "jounce describe --format dbc > vehicle.dbc": By("clients/bridges/test_can.py"),
    "jounce bridge can --interface socketcan --channel can0": By("clients/bridges/test_can.py"),
    "jounce bridge can --dbc own.dbc --map map.toml": By("clients/bridges/test_can.py"),
    "pip install '.[helics]'": INSTALLS,
    "jounce bridge helics --example": RUNS,
    "jounce bridge helics --address 127.0.0.1:50051 --config vehicle.json --set init.speed=10": By(
        "clients/bridges/test_helics.py"),
    "jounce export-recording FILE -o out.mcap --format osi": By("service/test_osi_trace.py"),
    'eval "$(jounce completion bash)"': By("tools/test_completion.py"),
    "jounce completion fish | source": By("tools/test_completion.py"),
    "pip install '.[mdf]'": INSTALLS,
    "python tests/fmu/hil.py": By("fmu/test_hil.py"),
    "python tests/fmu/importers.py": By("fmu/test_importers.py"),
    "jounce vehicle new macpherson my": RUNS,
    "jounce vehicle check my": By("tools/test_vehicle_check.py"),
    "jounce vehicle kc my -o kc": By("tools/test_vehicle_command.py"),
    "jounce vehicle check car": By("tools/test_vehicle_command.py"),
    "jounce vehicle graph my": RUNS,
    "jounce vehicle new graph my": By("tools/test_vehicle_command.py"),
    # docs/architecture.md, docs/tutorial/truck.md
    "jounce build": By("tools/test_build_command.py"),
    "jounce build class3": RUNS,
    "jounce build class3 --engine impulse -o heavy": By("tools/test_build_command.py"),
    "jounce simulate --vehicle class3-impulse --set init.speed=8 --set road=BUMP --duration 3 -o impulse.csv": RUNS,
    "jounce simulate --vehicle class7 --throttle 0.5 --gear D --duration 3 -o away.csv": RUNS,
    "jounce build class7 -o truck": RUNS,
    "jounce spectrum": By("tools/test_spectrum_command.py"),
    "jounce spectrum class3 -o spectrum": By("tools/test_spectrum_command.py"),
    "jounce build sketch.toml": By("tools/test_build_command.py"),
    "jounce build sketch.toml -o sketch": By("tools/test_build_command.py"),
    "jounce spectrum sketch.toml -o frequencies": By("tools/test_build_command.py"),
    "jounce simulate --vehicle sketch --set init.speed=8 --set road=BUMP --duration 3 -o bump.csv": By(
        "tools/test_build_command.py"),
    "jounce render": By("tools/test_render_command.py"),
    "jounce render class3 bump.csv -o bump.html": By("tools/test_render_command.py"),
    "jounce render class3 bump.csv --at 0.85 -o bump.png": By("tools/test_render_command.py"),
    "jounce describe --vehicle class3": RUNS,
    "jounce simulate --vehicle class3 --set init.speed=8 --set road=BUMP --duration 3 -o bump.csv": RUNS,
    "jounce export --vehicle class7 -o class7.fmu": By("fmu/test_ce.py"),
    "jounce linearize -o at20.npz --speed 20": RUNS,
    "python docs/validation/modes.py": Takes("minutes; tests/fmu/test_linear.py asserts what it draws"),
    "python docs/validation/make.py": Takes("minutes; tests/docs/test_validation.py asserts the page"),
    "pytest tests/vehicle": Takes("is part of how the tests themselves run"),
    "python docs/ssp/coupling.py": Takes("minutes; tests/fmu/test_ssp.py asserts the bits"),
    "jounce health ADDRESS": By("service/test_server.py"),
    "jounce serve --fast-socket PATH": SERVES,
    "jounce serve --fmu pump.fmu --fmu folder/": SERVES,
    "jounce replay FILE --fmu pump.fmu": By("service/test_foreign.py"),
    "jounce export-recording FILE -o out.csv|out.parquet|out.mf4": By("service/test_recording_export.py"),
    "jounce export --ssp --set soil=dry_sand --set driver.target_speed=10 --set init.speed=10": RUNS,
    "pip install libcosimpy": INSTALLS,
    "pip install -e '.[platforms]'": INSTALLS,
    "pip install . -r benchmarks/requirements.txt": INSTALLS,
}
#: Exports of the pages on importers: each in a second.
EXPORTS = re.compile(r"jounce export (vehicle\.fmu|system\.ssp|--source-only)")
#: Commands that stand in many forms, by how they begin.
FAMILIES = {
    "grpcurl ": By("clients/test_by_hand.py"),
    "apt-get ": Takes("root, and the network; `.ci/run` does it"),
    "docker ": Takes("docker; tests/docker runs the services of compose.yaml with podman"),
    "python benchmarks/": By("benchmarks/test_benchmarks.py"),
}


def commands(page: Path) -> Iterator[str]:
    """The commands of a page, in order."""
    fence = None
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            fence = None if fence is not None else line[3:].strip()
        elif fence is not None:
            if fence in ("bash", "sh"):
                yield line.strip()
        elif line.startswith("    ") and not OTHER.match(line.strip()):
            yield line.strip().partition("   #")[0].strip()
        else:
            yield from filter(PROGRAM.match, re.findall(r"`([^`]+)`", line))


def planned(command: str) -> object:
    """What is to be done with a command; None where nothing is said."""
    if command in PLAN:
        return PLAN[command]
    if "--platforms" in command:
        return By("fmu/test_platforms.py")
    if EXPORTS.match(command):
        return RUNS
    return next((how for start, how in FAMILIES.items() if command.startswith(start)), None)


#: Pages that test_pages.py follows word by word.
FOLLOWED = re.findall(
    r'"(?:tutorial/)?([\w-]+\.md)"', (ROOT / "tests" / "docs" / "test_pages.py").read_text().partition("PORT")[0])
FOUND = {command: page.name for page in PAGES if page.name not in FOLLOWED for command in commands(page)}
#: Mentions like `jounce serve` in running text: a command without arguments, or with options alone that others show.
MENTIONS = re.compile(r"jounce (serve|simulate|export|demo|describe|compare)( --workers| --realtime)?|chrt .*")


def chosen(how: str) -> list[str]:
    return [command for command in FOUND if planned(command) == how]


def test_every_command_of_the_pages_is_run_or_listed_with_the_reason() -> None:
    assert len(FOUND) > 60 and len(FOLLOWED) >= 5
    assert [c for c in FOUND if planned(c) is None and not MENTIONS.fullmatch(c)] == []


def test_nothing_is_listed_that_no_page_says_and_every_test_that_is_named_exists() -> None:
    assert [command for command in PLAN if command not in FOUND] == []
    tests = {how.test for how in [*PLAN.values(), *FAMILIES.values()] if isinstance(how, By)}
    assert [name for name in sorted(tests) if not (ROOT / "tests" / name).exists()] == []


@pytest.fixture(scope="module", params=["tests", pytest.param("fresh", marks=pytest.mark.slow)])
def environment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables with which `jounce` and `python` are found: here, or in what the README's first line makes."""
    folder = tmp_path_factory.mktemp("environment")
    plain = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    if request.param == "tests":
        for name, words in (("python", ""), ("jounce", "-m jounce_tools.cli")):
            (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
            (folder / name).chmod(0o755)
        return plain | {"PATH": f"{folder}:{os.environ['PATH']}",
                        "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    clone = folder / "clone"
    shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns(".git", ".venv", "_native", "*.pyc", "out", "build"))
    line = next(c for c in FOUND if c.endswith("pip install . && jounce demo"))
    done = subprocess.run(line + " --duration 1", shell=True, cwd=clone, env=plain, capture_output=True, text=True,
                          timeout=1800, executable="/bin/bash")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (clone / "jounce-demo" / "demo.png").stat().st_size > 10_000
    return plain | {"PATH": f"{clone / '.venv' / 'bin'}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def folder(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands are typed, with the files that the pages' names stand for."""
    there = tmp_path_factory.mktemp("typed")
    (there / "folder").mkdir()
    road = "jounce terrain iso --class C --seed 7 --length 500 -o rough.jnt"
    for command in ("jounce simulate --sample in.csv", "jounce export pump.fmu", road):
        run(command, environment, there)
    shutil.copy(there / "pump.fmu", there / "folder" / "valve.fmu")
    return there


def run(command: str, environment: dict[str, str], folder: Path) -> str:
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


class Server:
    """A server that runs as the command says, at a free port."""

    def __init__(self, command: str, environment: dict[str, str], folder: Path) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        words = command.replace("DIR", "recordings").replace("PATH", "fast.sock")
        if "127.0.0.1:50051" in words:
            words = words.replace("127.0.0.1:50051", self.address)
        else:
            words += f" --address {self.address}"
        ready = folder / "ready"
        ready.unlink(missing_ok=True)
        self.process = subprocess.Popen(shlex.split(f"{words} --ready-file {ready}"), cwd=folder, env=environment,
                                        stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 600.0
        while not ready.exists():
            assert self.process.poll() is None and time.monotonic() < end, self.process.communicate(timeout=60)[1]
            time.sleep(0.05)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=60)
        assert self.process.returncode == 0 and "Traceback" not in said, said


@pytest.fixture(scope="module")
def server(environment: dict[str, str], folder: Path) -> Iterator[Server]:
    """A server that records, as the README has it, and the file of a session that was driven by the README's loop."""
    server = Server("jounce serve --record DIR", environment, folder)
    try:
        loop = (ROOT / "README.md").read_text().partition("```python\n")[2].partition("```")[0]
        (folder / "loop.py").write_text(loop.replace("127.0.0.1:50051", server.address))
        assert run("python loop.py", environment, folder).splitlines()[-1].startswith("5.0 ")
        yield server
    finally:
        server.stop()


@pytest.mark.parametrize("command", chosen(SERVES))
def test_a_server_of_the_pages_comes_up_says_that_it_serves_and_stops(
    command: str, environment: dict[str, str], folder: Path
) -> None:
    server = Server(command, environment, folder)
    try:
        assert "SERVING" in run(f"jounce health {server.address}", environment, folder)
    finally:
        server.stop()


@pytest.mark.parametrize("command", chosen(RUNS))
def test_a_command_of_the_pages_ends_well(
    command: str, environment: dict[str, str], folder: Path, request: pytest.FixtureRequest
) -> None:
    if "FILE" in command:
        request.getfixturevalue("server")
        recordings = sorted((folder / "recordings").glob("*.mcap"), key=lambda path: path.stat().st_size)
        command = command.replace("FILE", str(recordings[-1]))
    if "--sample" in command:  # writes over nothing
        folder = folder / "folder"
    run(command, environment, folder)
