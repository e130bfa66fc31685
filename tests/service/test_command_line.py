"""What all commands have in common: names of options, exit codes, progress, Ctrl-C."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import pytest

from jounce_fmu.build.library import builtin_sources, ensure_library
from jounce_service.server.config import GROUPS, ServerConfig
from jounce_tools.cli.main import COMMANDS, USAGE, main
from jounce_tools.cli.progress import Progress

WITH_A_VEHICLE = ("simulate", "export", "describe", "linearize", "demo", "test")
WITH_A_FILE = ("simulate", "export", "linearize", "sweep", "export-recording", "demo", "uk", "compare", "test",
               "view", "build", "spectrum", "render")


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_vehicle_has_one_name_and_the_file_to_write_another(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(command, capsys)
    assert "--model" not in text
    assert ("--vehicle VEHICLE" in text) == (command in (*WITH_A_VEHICLE, "sweep", "serve", "replay", "view"))
    assert ("-o " in text and "--output" in text) == (command in WITH_A_FILE)


@pytest.mark.parametrize("command", [
    "simulate --duration 1_0", "simulate --output-interval 1_0", "linearize -o x.npz --speed 1_0",
    "linearize -o x.npz --time \u0661", "demo --duration 1_0", "demo --speed 1_0", "health a:1 --timeout 1_0",
    "sweep x.toml --workers 1_0",
])  # fmt: skip
def test_numbers_are_written_as_everywhere_else(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    *_, option, value = command.split()
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    assert ended.value.code == USAGE
    assert re.search(rf"argument {option}: '{value}': expected a (whole )?number", capsys.readouterr().err)


@pytest.mark.parametrize("option", ["--vehicle", "--model"])
def test_the_former_name_of_the_vehicle_still_works(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", option, "utv"]) == 0
    assert "chassis.mass" in capsys.readouterr().out


def test_an_fmu_goes_where_either_form_says_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for form in (["-o", "a.fmu"], ["--output", "b.fmu"], ["c.fmu"]):
        assert main(["export", "--source-only", *form]) == 0
    assert main(["export", "--source-only", "c.fmu", "-o", "d.fmu"]) == 2
    assert main(["export", "--source-only", "-o", "e.txt"]) == 2
    assert "expected a name that ends in .fmu" in capsys.readouterr().err
    assert main(["export", "--ssp", "-o", "e.fmu"]) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.fmu", "b.fmu", "c.fmu"]
    assert (tmp_path / "a.fmu").read_bytes()[:2] == b"PK"


@pytest.mark.parametrize(("arguments", "code"), [
    (["describe"], 0),
    (["describe", "--vehicle", "no_such"], 2),
    (["describe", "--vehicle", "empty"], 2),
    (["export", "--vehicle", "broken", "--source-only"], 2),
    (["export", "--set", "no.such=1", "--source-only"], 2),
    (["export", "--set", "chassis.mass=-1", "--source-only"], 2),
    (["export", "--set", "chassis.inertia.xy=1e6", "--source-only"], 2),
    (["simulate", "--duration", "0.01", "--set", "chassis.inertia.xy=1e6"], 2),
    (["replay", "no.mcap"], 2),
    (["export-recording", "no.mcap", "-o", "x.csv"], 2),
    (["sweep", "no.toml"], 2),
    (["serve", "--config", "no.toml"], 2),
    (["health", "127.0.0.1:1"], 1),
])  # fmt: skip
def test_what_was_given_ends_with_2_and_what_fails_with_1(
    arguments: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("empty", 'name = "empty"\nfiles = []\n'), ("broken", "[overrides\n")):
        Path(name).mkdir()
        Path(name, "vehicle.toml").write_text(text)
    assert main(arguments) == code
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(("arguments", "text"), [
    ("fly", "argument COMMAND: 'fly': expected "),
    ("serve --realtime-coers 1", "jounce serve: error: unknown options or arguments: --realtime-coers 1"),
    ("serve --max-sessions x", "argument --max-sessions: 'x': expected a whole number"),
    ("serve --address here", "address 'here': expected host:port or unix:/path"),
    ("serve --address unix:/no/such/folder/s", "unix socket '/no/such/folder/s': expected a path in a folder"),
    ("serve --address 127.0.0.1:0 --uds /no/such/folder/s", "/folder/s': expected a path in a folder that exists"),
    ("serve --address 127.0.0.1:0 --fast-socket /no/such/s", "unix socket '/no/such/s': expected a path in a folder"),
    ("serve --record /proc/x", "record = '/proc/x': No such file or directory; expected a folder that can be written"),
    ("serve --tls-key k", "tls_key, tls_client_ca: expected with tls_certificate"),
    ("health here", "address 'here': expected host:port or unix:/path"),
    ("health a:1 --timeout -1", "--timeout -1.0 s: expected a finite time above 0 s"),
    ("health a:1 --ca no.pem", "jounce health: no.pem: No such file or directory"),
    ("simulate", "expected --duration, or --inputs"),
    ("simulate --duration x", "argument --duration: 'x': expected a number"),
    ("simulate --inputs no.csv", "jounce simulate: no.csv: No such file or directory"),
    ("simulate --duration 1 --vehicle halfcar --throttle 0.4", "--throttle: halfcar has no pedals; expected a vehicle"),
    ("simulate --duration 1 --vehicle utv --gear D", "--gear: utv has no pedals; expected a vehicle with a powertrain"),
    ("simulate --duration 1 --hold", "--hold: expected --inputs, whose lines it holds"),
    ("simulate --duration 1 --units line -o x.parquet", "--units line: expected a CSV; x.parquet has units by column"),
    ("simulate --duration 1 --outputs ,", "--outputs ',': expected names of outputs, or *"),
    ("simulate --sample no/in.csv", "--sample no/in.csv: expected a file in a folder that exists"),
    ("simulate --sample in.parquet", "--sample in.parquet: expected a name that ends in .csv or .txt"),
    ("simulate --duration 1 --tire .", "not a regular file; expected a tire file (.tir)"),
    ("simulate --duration 1 --set init.x=1 --set init.x=1", "--set: init.x is given twice; expected once"),
    ("simulate --duration 1 --set tire.pn=1e3 --set tire.nominal_load=1e3", "tire.nominal_load is given twice"),
    ("export --set init.x=1 --set init.x=2", "--set: init.x is given twice; expected once"),
    ("linearize -o x.npz --set init.x=1 --set init.x=2", "--set: init.x is given twice; expected once"),
    ("test step-steer -o x --set init.x=1 --set init.x=2", "--set: init.x is given twice; expected once"),
    ("test step-steer -o x --setting speed=1 --setting speed=2", "--setting: speed is given twice; expected once"),
    ("test step-steer -o x --limit yaw_gain<=1 --limit yaw_gain<=2", "yaw_gain<= is given twice; expected once"),
    ("view --address unix:/no --set init.x=1 --set init.x=2", "--set: init.x is given twice; expected once"),
    ("simulate --duration 1 --vehicle halfcar --input chassis.mass=9", "'chassis.mass' in halfcar; expected --set for"),
    ("simulate --duration 1 --inputs .", "jounce simulate: .: Is a directory; expected a file"),
    ("describe --format xml", "argument --format: 'xml': expected "),
    ("describe --vehicle no_such", "vehicle 'no_such': expected class3, class7, frame4, halfcar, "),
    ("export --platforms vax", "platform 'vax': expected linux64, "),
    ("export --partner driver --vehicle utv --source-only", "--vehicle, --source-only: expected without --partner"),
    ("export --partner driver --platforms win64", "--platforms: expected without --partner"),
    ("export --partner driver --fmi 3", "--fmi 3, --scalars: expected without --partner"),
    ("export --partner driver --set zzz=1", "unknown signal 'zzz'; expected "),
    ("export --ssp --names flat", "--names flat: expected without --ssp"),
    ("export --ssp --set zzz=1", "zzz: 0 of vehicle, driver, terrain have this parameter; expected exactly 1"),
    ("linearize", "expected -o/--output"),
    ("linearize -o x.npz --speed nan", "--speed nan m/s: expected a finite number"),
    ("demo --vehicle class3", "--vehicle class3: expected a vehicle of axles, such as hmmwv"),
    ("demo --vehicle truck8x8", "--vehicle truck8x8: expected a vehicle of two axles, such as hmmwv"),
    ("demo --vehicle car", "--vehicle car: expected one whose wheels are all driven, such as hmmwv"),
    ("demo --only rough --vehicle utv", "--only rough: utv has no engine and gearbox; expected --vehicle hmmwv_pedals"),
    ("demo --only rough --vehicle hmmwv_electric", "hmmwv_electric has no engine and gearbox; expected --vehicle"),
    ("demo --only rough --speed 5", "--speed: expected without --only rough, whose drive has its own"),
    ("demo --only rough --soil dry_sand", "--soil: expected without --only rough, whose drive has its own"),
    ("replay x.mcap --road x.jnt --vehicle utv --vehicle car", "2 times --vehicle: expected one with"),
    ("demo -o /proc/version", "-o /proc/version: expected a folder, which may be new"),
    ("demo --speed 100", "--speed 100 m/s: expected more than 0 and at most 40 m/s"),
])  # fmt: skip
def test_a_refusal_is_one_line_that_says_what_is_expected(
    arguments: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = main(arguments.split())
    except SystemExit as ended:
        code = ended.code  # type: ignore[assignment]
    lines = capfd.readouterr().err.splitlines(keepends=True)
    said = "".join(line for line in lines if " INFO compil" not in line)  # of models that no test has opened yet
    assert code == USAGE and text in said.splitlines()[-1]
    assert not said or said.startswith(("jounce", "usage: ")), said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["fly"], [], ["simulate", "--duration", "x"], ["export", "--fmi", "4"]])
def test_a_command_line_that_cannot_be_read_ends_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == USAGE


def test_ctrl_c_ends_any_command_with_130_and_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("jounce_tools.cli.describe.run", interrupted)
    assert main(["describe"]) == 130
    assert capsys.readouterr().err == "jounce: interrupted\n"


def test_a_real_ctrl_c_ends_linearize_and_leaves_no_file(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jounce_tools.cli", "linearize", "-o", "z.npz", "--speed", "5", "--time", "1e5"]
    running = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )  # fmt: skip
    assert running.stderr is not None
    assert "jounce linearize: " in running.stderr.readline()  # the first word comes after two seconds
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 130 and "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_is_told_how_far_a_long_run_is_and_is_left_clean(tmp_path: Path) -> None:
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "jounce_tools.cli", "simulate", "--duration", "1e6", "--output-interval", "100"]
    running = subprocess.Popen(
        [*command, "-o", "x.csv"], cwd=tmp_path, stderr=terminal, stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )  # fmt: skip
    os.close(terminal)
    said, deadline, ready = b"", time.monotonic() + 180, select.poll()  # select() knows 1024 descriptors at most
    ready.register(master, select.POLLIN)
    try:
        while b" % " not in said.replace(b"%,", b"% ,") and time.monotonic() < deadline:
            if ready.poll(1000):
                said += os.read(master, 4096)
    except OSError:  # nobody holds the terminal any more
        pytest.fail(f"the command ended with {running.wait(timeout=60)} and said {said!r}")
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(timeout=60)
        os.close(master)
    assert re.search(rb"\rjounce simulate: \d+ %, \d+ s left", said), said


def test_a_short_command_tells_no_progress() -> None:
    file = io.StringIO()
    with Progress("x", file) as progress:
        progress.at(0.5)
    assert file.getvalue() == ""


def test_a_command_tells_what_is_compiled_for_it_in_place_of_its_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, sources = io.StringIO(), builtin_sources()
    for name in ("_PATIENCE", "_LOG"):
        monkeypatch.setattr(f"jounce_tools.cli.progress.{name}", 0.01)

    def compiled(_sources: object, library: Path, **_: object) -> None:
        until(lambda: "compiling" in file.getvalue())
        library.write_text(sources.build_hash())

    monkeypatch.setattr("jounce_fmu.build.library.compile_library", compiled)
    with Progress("x", file) as progress:
        progress.at(0.5)
        ensure_library(sources, tmp_path / "native")
        told = len(file.getvalue())
        until(lambda: "x: 50 %" in file.getvalue()[told:])
    assert "x: compiling jounce_hmmwv (once), 0 s\n" in file.getvalue()


def test_the_time_left_is_judged_without_the_time_of_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    file, clock = io.StringIO(), SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr("jounce_tools.cli.progress.time", clock)
    for name in ("_PATIENCE", "_LOG"):
        monkeypatch.setattr(f"jounce_tools.cli.progress.{name}", 0.01)
    with Progress("x", file) as progress:
        clock.monotonic = lambda: 140.0  # a vehicle has been compiled
        progress.at(0.0)
        clock.monotonic = lambda: 143.0
        progress.at(0.25)
        until(lambda: "%" in file.getvalue().replace("0 %", ""))
    assert "x: 25 %, 9 s left\n" in file.getvalue()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert holds()


def test_the_settings_of_the_server_stand_in_groups_of_a_size_to_read(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of("serve", capsys)
    found = re.findall(r"^(\w[\w ]+):\n((?:  .*\n|\n)+)", text, re.MULTILINE)
    groups = {title: re.findall(r"^  (?:-\w, )?(--[\w-]+)", body, re.MULTILINE) for title, body in found}
    assert {title for title in groups if title not in ("options", "start")} == set(GROUPS.values())
    assert all(1 <= len(flags) <= 12 for flags in groups.values()), groups
    assert {"--vehicle", "--fmu"} <= set(groups["models"]) and "--tls-key" in groups["security"]
    flags = [f for found in groups.values() for f in found]
    assert len(flags) == len(set(flags)) == len(fields(ServerConfig)) + 4  # --help, --config, --ready-file, --road
