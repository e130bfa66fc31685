"""The pages for a first use, followed word by word: files are written, commands run, Python is run, top to bottom."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "service"))
from ports import free_port

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("csv.md", "own-vehicle.md", "own-driver.md", "own-terrain.md", "in-process.md", "tutorial/drive.md")
PORT = "50051"


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Language and text of each fenced block, and "" with each line of a block that is indented by four."""
    outside = True
    for part in re.split(r"^```", text, flags=re.MULTILINE):
        if outside:
            yield from (("", line.strip()) for line in re.findall(r"^ {4}(?=jounce )(.*)$", part, re.MULTILINE))
        else:
            language, _, block = part.partition("\n")
            yield language, block
        outside = not outside


class Page:
    """One page in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.running: list[subprocess.Popen[str]] = []
        self.port = str(free_port())

    def run(self, text: str) -> None:
        for language, block in blocks(text):
            if named := re.match(r"# file: (\S+)\n", block):
                (self.folder / named[1]).write_text(block)
            elif language == "python":
                self.call([sys.executable, "-c", block.replace(PORT, self.port)])
            elif not language:
                self.command(block.replace(PORT, self.port))

    def command(self, line: str) -> None:
        words = shlex.split(line.removesuffix("&"))
        assert words[0] == "jounce", line
        command = [sys.executable, "-m", "jounce_tools.cli", *words[1:]]
        if not line.endswith("&"):
            self.call(command)
            return
        ready = self.folder / f"ready{len(self.running)}"
        self.running.append(subprocess.Popen([*command, f"--ready-file={ready}"], cwd=self.folder, text=True))
        deadline = time.monotonic() + 600
        while not ready.exists():
            assert self.running[-1].poll() is None and time.monotonic() < deadline, line
            time.sleep(0.05)

    def call(self, command: list[str]) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(["", *filter(None, sys.path)])}
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, env=environment)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        self.said.append(done.stdout)

    def end(self) -> None:
        for process in self.running:
            process.terminate()
            process.wait(timeout=60)


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    made = Page(tmp_path)
    yield made
    made.end()


def followed(page: Page, name: str) -> list[str]:
    page.run((DOCS / name).read_text(encoding="utf-8"))
    return page.said


def test_the_tutorial(page: Page) -> None:
    turn, alone, served = followed(page, "tutorial/drive.md")
    dry, wet = (list(map(float, re.findall(r"-?\d+\.\d+", line))) for line in turn.splitlines())
    assert dry[2] > wet[2] and 0.7 * 0.2 * 9.81 < wet[3] < 0.2 * 9.81  # the slippery one turns less, at its friction
    assert alone == served
    y, speed = map(float, re.findall(r"[\d.]+(?= m at| m/s)", alone))
    assert y == pytest.approx(3.5, abs=0.05) and speed == pytest.approx(15.0, abs=0.1)


def test_the_pictures_of_the_tutorial_are_drawn_from_its_programs(tmp_path: Path) -> None:
    folder = tmp_path / "tutorial"
    folder.mkdir()
    for name in ("drive.md", "draw.py"):
        shutil.copy(DOCS / "tutorial" / name, folder / name)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "draw.py"], cwd=folder, check=True, timeout=300, env=environment)
    shown = re.findall(r"!\[[^\]]+\]\((\w+\.png)\)", (folder / "drive.md").read_text(encoding="utf-8"))
    assert {p.name for p in folder.glob("*.png")} == set(shown)
    assert all((folder / name).stat().st_size > 10_000 and (DOCS / "tutorial" / name).exists() for name in shown)


@pytest.mark.slow
@pytest.mark.parametrize("program", ["own-axles/draw.py", "pedals/draw.py", "roads/area.py", "soil/draw.py",
                                     "ssp/coupling.py"])  # fmt: skip
def test_a_program_that_draws_a_pages_pictures_runs_to_its_end(program: str, tmp_path: Path) -> None:
    """Beside copies of it and of the page that it may write into."""
    if program == "ssp/coupling.py":
        pytest.importorskip("libcosimpy")
    place = tmp_path / program
    place.parent.mkdir()
    shutil.copy(DOCS / program, place)
    if (page := (DOCS / program).parent.with_suffix(".md")).exists():
        shutil.copy(page, tmp_path)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, place], check=True, timeout=1800, env=environment)
    drawn = [p.name for p in place.parent.glob("*.png")]
    assert drawn and all(((DOCS / program).parent / name).exists() for name in drawn)


def test_the_page_on_csv(page: Page) -> None:
    said = followed(page, "csv.md")
    written = {p.name for p in page.folder.iterdir()}
    assert len(said) == 6 and {"in.csv", "out.csv", "braked.csv", "out.parquet", "out.mcap"} <= written
    text = (DOCS / "csv.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"```csv\n(.*?)```", text, re.DOTALL)
    (page.folder / "shown.csv").write_text(shown)
    page.command("jounce simulate --inputs shown.csv --outputs steering.pitman_angle --duration 3.01 -o shown-out.csv")
    last = (page.folder / "shown-out.csv").read_text().splitlines()[-1]
    assert last.split(",")[0] == "3.01" and float(last.split(",")[1]) == pytest.approx(1.5 / 26.0)


def test_the_page_on_ones_own_vehicle(page: Page) -> None:
    said = followed(page, "own-vehicle.md")
    assert "chassis.mass,parameter,Real,kg,,2500.0,0.001" in said[1]
    mass = float(said[-2].split()[0])
    assert 2900.0 < mass < 3300.0  # 2500 kg and what is unsprung
    assert "'mine'" in said[-1] and "m/s" in said[-1]
    assert {"mine.csv", "mine.npz", "mine.fmu"} <= {p.name for p in page.folder.iterdir()}


def test_the_page_on_ones_own_driver(page: Page) -> None:
    alone, served = followed(page, "own-driver.md")
    assert alone == served
    yaw, speed = map(float, re.findall(r"[\d.]+(?= rad| m/s)", alone))
    assert yaw == pytest.approx(0.3, abs=0.05) and speed == pytest.approx(12.0, abs=0.5)


def test_the_page_on_ones_own_terrain(page: Page) -> None:
    alone, served = followed(page, "own-terrain.md")
    assert served == "0.5 s\n"
    assert 10 < int(re.findall(r"(\d+) mm", alone)[0]) < 100


def test_the_page_on_in_process_runs(page: Page) -> None:
    run, steps = followed(page, "in-process.md")
    assert run.startswith("5.0 ") and "(501, 3)" in run
    assert steps.startswith("5000 ") and float(steps.split()[1]) == pytest.approx(0.3, abs=0.05)
