"""Every template of a suspension in minimal coordinates, against the impulse engine."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import jounce
from jounce.architecture.spin import merged
from jounce.models.ce.forest import forest
from jounce_fmu.models import ce

sys.path.insert(0, str(Path(__file__).parents[1] / "vehicle" / "architecture"))
from test_templates import BODY, axle, built, moved


def vehicle(folder: Path, template: str, extra: str = "") -> Path:
    """A frame on two axles of a template."""
    front = axle(template, extra=extra)
    built(folder, front + moved(front, -2.4, "rear"))
    (folder / "sketch.toml").rename(folder / "architecture.toml")
    return folder


@pytest.mark.parametrize("template", BODY)
def test_functions_of_its_joints_come_with_jounce(template: str, tmp_path: Path) -> None:
    committed = json.loads(ce.SIZES.read_text(encoding="utf-8"))
    steered = ("", 'steered = "rack"') if template in ("macpherson", "double_wishbone") else ("",)
    for extra in steered:
        front = axle(template, extra=extra)
        trees = forest(merged(built(tmp_path, front + moved(front, -2.4, "rear")))[0])
        assert {b.function for b in trees.branches} <= set(committed)


@pytest.mark.slow
@pytest.mark.parametrize("template", BODY)
def test_both_engines_drive_it_over_a_bump_alike(template: str, tmp_path: Path) -> None:
    """The difference is the impulse engine's error, which falls with the square of the tick.

    It does so down to 0.1 um: where a wheel leaves the bump or meets it, the error depends on when in a tick it does.
    """
    folder = vehicle(tmp_path, template)
    values = {"init.speed": 5.0, "road": "BUMP", "road.start": 1.5, "road.height": 0.06, "road.length": 1.0, "mu": 0.0}

    def height(engine: str, tick: float) -> np.ndarray:
        run = jounce.simulate(f"{folder}-{engine}", {}, 2.0, ["ref_frame.pos.z", "closure_residual"],
                              output_interval=0.004, tick=tick, **values)  # fmt: skip
        assert engine == "impulse" or run["closure_residual"].max() < 1e-12
        return run["ref_frame.pos.z"]

    exact = height("ce", 2.5e-4)
    assert np.ptp(exact) > 0.015
    errors = [np.abs(height("impulse", tick) - exact).max() for tick in (1e-3, 2.5e-4)]
    assert errors[0] < 1e-6 and errors[1] < max(errors[0] / 3, 1e-7)
    run = jounce.simulate(f"{folder}-ce", {}, 5.0, ["ref_frame.pos"], output_interval=0.5)
    assert np.ptp(run.values, axis=0).max() < 1e-9
