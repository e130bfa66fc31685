"""``jounce linearize`` writes what numpy reads, at the operating point that was asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jounce_tools.cli.main import main


def test_the_file_holds_the_matrices_and_the_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "linear.npz"
    arguments = ["--speed", "8", "--time", "2", "--set", "chassis.mass=2000", "--input", "steering_wheel_angle=0.5"]
    assert main(["linearize", "-o", str(path), *arguments]) == 0
    text = capsys.readouterr().out
    assert "A (57, 57)" in text and "modes" in text
    with np.load(path) as file:
        n, m, k = len(file["states"]), len(file["inputs"]), len(file["outputs"])
        assert {name: file[name].shape for name in "ABCD"} == {"A": (n, n), "B": (n, m), "C": (k, n), "D": (k, m)}
        assert file["y"][list(file["outputs"]).index("speed")] == pytest.approx(8.0, abs=0.2)
        assert file["u"][list(file["inputs"]).index("steering_wheel_angle")] == 0.5
        yaw = file["y"][list(file["outputs"]).index("ref_frame.ang_vel.z")]
        assert yaw > 0.03
        theta, rate = (list(file["states"]).index(f"state.wheel_FL.{name}") for name in ("arm_angle", "arm_rate"))
        assert file["A"][theta, rate] == 1.0


@pytest.mark.parametrize(("arguments", "text"), [
    (["--set", "chassis.mass"], "expected NAME=VALUE"),
    (["--set", "no.such=1"], "no.such"),
    (["--input", "chassis.mass=1"], "chassis.mass"),
    (["--input", "steering_wheel_angle=nan"], "nan"),
    (["--speed", "inf"], "--speed"),
    (["--time", "-1"], "--time"),
    (["--set", "tick=0.01"], "RK4"),
])  # fmt: skip
def test_what_cannot_be_used_is_named_and_nothing_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
) -> None:
    path = tmp_path / "linear.npz"
    assert main(["linearize", "-o", str(path), *arguments]) == 2
    assert text in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.parametrize("name", ["z.txt", "z", "z.npz.gz", "no/z.npz"])
def test_a_name_that_asks_for_something_else_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["linearize", "-o", str(tmp_path / name)]) == 2
    assert "expected a" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
