"""Every template of a suspension on the impulse engine: at rest as drawn, and over a bump with its joints closed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from jounce.architecture.layout import Piece, layout
from jounce.architecture.trim import trimmed
from jounce_fmu.models.impulse.engine import Engine

sys.path.insert(0, str(Path(__file__).parents[1] / "vehicle" / "architecture"))
from test_templates import BODY, axle, built, moved


@pytest.mark.parametrize("template", BODY)
def test_vehicle_on_two_of_a_template_is_at_rest_and_drives_over_a_bump(template: str, tmp_path: Path) -> None:
    front = axle(template)
    model = trimmed(built(tmp_path, front + moved(front, -2.4, "rear")))
    flat = layout(model)
    assert len(flat.spins) == len(model.wheels) == (8 if template == "walking_tandem" else 4)
    engine = Engine(flat)
    engine.start()
    before = engine.bodies[:, :3].copy()
    engine.run(5000)
    assert np.abs(engine.bodies[:, :3] - before).max() < 1e-9
    engine = Engine(flat.with_road([Piece(1.5, 0.06, length=1.0)]))
    engine.bodies[:, 7] = 5.0
    for s, k in enumerate(flat.spins):
        engine.x[13 * len(engine.bodies) + 2 * s + 1] = 5.0 / model.wheels[k].centre[2]
    engine.start()
    heights = engine.run(2000, [2, len(engine.x) - 4])
    assert np.ptp(heights[:, 0]) > 0.015
    assert heights[:, 1].max() < 1e-6  # before the projection
    assert engine.bodies[0, 0] > 8.0
