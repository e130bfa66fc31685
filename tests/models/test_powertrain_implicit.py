"""ROSENBROCK with a powertrain: the same gears as RK4, no energy from its clutches, and rest."""

from __future__ import annotations

import numpy as np
import pytest
from drives import SLOPE, factory, in_the_air, position, run, unaccounted

from jounce_fmu.importer.host import FmuError


@pytest.mark.slow
@pytest.mark.parametrize(("tick", "share"), [(2.5e-3, 2e-5), (5e-3, 5e-4)])
def test_the_implicit_integrator_goes_through_the_same_gears_and_makes_no_energy(tick: float, share: float) -> None:
    implicit = {"integrator": 2.0, "tick": tick}
    plan = [(0.0, {"throttle": 0.5}), (0.6, {"front.diff_lock": 1.0, "throttle": 0.9}), (1.5, {"throttle": 0.0}),
            (2.0, {"gear_selector": 0, "front.diff_lock": 0.0})]  # fmt: skip
    free = run(plan, 2.5, in_the_air() | implicit)
    assert unaccounted(free) < share * free["energy.engine"].max()
    drive = [(0.0, {"throttle": 0.6}), (3.0, {"throttle": 0.0, "brake_pedal": 0.4}),
             (5.5, {"gear_selector": -1.0, "brake_pedal": 0.0, "throttle": 0.3})]  # fmt: skip
    fine, coarse = run(drive, 6.5), run(drive, 6.5, implicit)
    assert (fine["gearbox.gear"] == coarse["gearbox.gear"]).all()
    for name, off in (("speed", 3e-3), ("engine.speed", 0.05), ("gearbox.turbine_speed", 0.5)):
        assert np.abs(fine[name] - coarse[name]).max() < off, name


@pytest.mark.slow
@pytest.mark.parametrize("mode", [1.0, 2.0])
def test_the_implicit_integrator_holds_it_in_park_and_by_the_brake(mode: float) -> None:
    for held in ({"gear_selector": -2.0}, {"brake_pedal": 0.8}):
        p = position(run([(0.0, held)], 6.0, SLOPE | {"integrator": 2.0, "tick": 5e-3, "steering.mode": mode}))
        assert np.abs(p[:, 400:] - p[:, 400:401]).max() < 1e-6
    with factory().instance("x") as fmu, pytest.raises(FmuError, match=r"tick = 0\.01: expected up to 0\.005 s"):
        fmu.setup({"integrator": 2.0, "tick": 0.01})
