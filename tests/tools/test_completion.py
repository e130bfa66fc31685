"""Completion in bash, with the code that ``jounce completion`` prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jounce.data import vehicle_names
from jounce_tools import completion
from jounce_tools.cli.main import COMMANDS, main

pytest.importorskip("argcomplete")


def completed(line: str, tmp_path: Path) -> list[str]:
    """What bash offers after the line."""
    jounce = tmp_path / "jounce"
    jounce.write_text(f'#!/bin/sh\nexec {sys.executable} -m jounce_tools.cli "$@"\n')
    jounce.chmod(0o755)
    code = (f'PATH={tmp_path}:$PATH\neval "$(jounce completion bash)"\nCOMP_LINE={line!r}\nCOMP_POINT=${{#COMP_LINE}}\n'
            "COMP_TYPE=9\nCOMP_WORDS=($COMP_LINE)\nCOMP_CWORD=1\n_python_argcomplete jounce\n"
            'printf "%s\\n" "${COMPREPLY[@]}"\n')  # fmt: skip
    run = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return [word.strip() for word in run.stdout.splitlines()]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("jounce ", set(COMMANDS)),
        ("jounce lin", {"linearize"}),
        ("jounce simulate --out", {"--output", "--outputs", "--output-interval"}),
        ("jounce simulate --vehicle ", set(vehicle_names())),
        ("jounce simulate --set terrain.m", {"terrain.mu="}),
        ("jounce simulate --outputs speed,sides", {"speed,sideslip"}),
        ("jounce describe --format ", {"table", "md", "csv", "json"}),
    ],
)
def test_bash_completes(line: str, offered: set[str], tmp_path: Path) -> None:
    found = completed(line, tmp_path)
    assert offered <= set(found)
    assert len(offered) > 1 or offered == set(found)


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_every_shell_has_its_code(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "jounce" in capsys.readouterr().out


def test_nothing_is_offered_for_a_vehicle_that_does_not_exist(tmp_path: Path) -> None:
    assert [w for w in completed("jounce simulate --vehicle nowhere --set ter", tmp_path) if w] == []


def test_without_argcomplete_the_package_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
                                                  ) -> None:  # fmt: skip
    monkeypatch.setattr("jounce_tools.completion.missing", lambda name: f"{name} is not installed: pip install it")
    assert main(["completion"]) == 2
    assert "argcomplete is not installed" in capsys.readouterr().err
