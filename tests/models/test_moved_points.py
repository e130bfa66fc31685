"""Five-link axles with every joint moved, in the model: each is refused, or drives where exact kinematics have it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jounce.data import load_vehicle
from jounce.suspension.kinematics import kinematics_of
from jounce_fmu.importer.host import FmuError, open_builtin
from jounce_fmu.importer.linear import Exchange

POINTS = [f"rear.{name}_{end}" for name in ("UPPER_F", "UPPER_B", "LATERAL", "TRAILING", "TIEROD") for end in "CU"]
#: Vehicles that are tried, with JOUNCE_SLOW and always; how far each point is moved [m].
COUNT, MOVED = (300 if os.environ.get("JOUNCE_SLOW") else 12), 0.04


@pytest.mark.slow
def test_a_moved_five_link_axle_is_refused_or_goes_where_exact_kinematics_go(tmp_path: Path) -> None:
    works, refused = 0, []
    for seed in range(COUNT):
        random, car = np.random.default_rng(seed), load_vehicle("car")
        names = [f"{point}.{a}" for point in POINTS for a in "xyz"]
        moved = {name: car[name] + float(random.uniform(-MOVED, MOVED)) for name in names}
        path = tmp_path / "vehicle.toml"
        lines = [f'"{name}" = {value!r}' for name, value in moved.items()]
        path.write_text("\n".join(['name = "moved"', 'base = "car"', "[overrides]", *lines]), encoding="utf-8")
        vehicle, factory = load_vehicle(path), open_builtin(path)
        exact = kinematics_of(vehicle, vehicle.axles[1])
        place = {s.name: k for k, s in enumerate(factory.table.states)}
        with replace(factory, kind=Exchange).instance("moved") as instance:
            try:
                instance.setup({"tire_source": "EXTERNAL", "init.equilibrium": False, "init.z": 50.0})
            except FmuError as error:
                assert "axle rear" in str(error), error
                refused.append(seed)
                continue
            works += 1
            x = np.zeros(len(place))
            x[place["state.rot.e0"]] = 1.0
            for height in np.linspace(0.0, 0.12, 13) * random.choice([-1.0, 1.0]):
                for w in ("L", "R"):
                    x[place[f"state.wheel_R{w}.arm_angle"]] = height
                instance.set_states(x)
                try:
                    y = dict(zip((s.name for s in factory.table.outputs), instance.get_outputs(), strict=True))
                except FmuError as error:
                    assert "wheel height" in str(error), error
                    break
                assert y["closure_residual"] < 1e-9
                for w, wheel in zip(("L", "R"), exact.position([height, height]).wheels, strict=True):
                    at = [y[f"wheel_R{w}.pos.{a}"] for a in "xyz"]
                    assert at == pytest.approx(wheel.centre, abs=1e-8), seed
    assert works > 0.9 * COUNT, refused
