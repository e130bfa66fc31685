"""The demonstration with the built-in vehicle: real server, real programs, each a process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jounce.course import DoubleLaneChange
from jounce_service.demo import Settings, demonstrate, front_axle


def test_the_vehicle_passes_the_double_lane_change_on_soil_and_on_asphalt(tmp_path: Path) -> None:
    soil, asphalt = demonstrate(Settings(out=tmp_path, duration=13.0), lambda _: None)
    for result in (soil, asphalt):
        assert front_axle(result.pilot)[0][-1] > DoubleLaneChange().lanes[-1].end
        assert result.facts["samples past the cones [1]"] == 0.0
        assert result.facts["lateral error, max [m]"] < 0.6
        assert result.pilot["speed"][-1] == pytest.approx(12.0, abs=0.5)
    weight = sum(soil.soil[f"load_{w}"] for w in ("FL", "FR", "RL", "RR"))
    assert np.mean(weight[300:]) == pytest.approx(2573.0 * 9.81, rel=0.03)
