"""The HMMWV by pedals at a tick of 1 ms against a tenth of it, through shifts, lock-up, braking and rest."""

from __future__ import annotations

import numpy as np
import pytest
from drives import run

from jounce.axles import WHEELS

#: Throttle, brake at speed, throttle again, to rest by the brake, reverse: time [s] and inputs.
DRIVE = [(0.0, {"throttle": 0.6}), (6.0, {"throttle": 0.0, "brake_pedal": 0.5}), (7.0, {"brake_pedal": 0.0}),
         (7.5, {"throttle": 0.9}), (9.5, {"throttle": 0.0}), (9.7, {"brake_pedal": 0.5}),
         (12.0, {"gear_selector": -1.0, "brake_pedal": 0.0, "throttle": 0.2})]  # fmt: skip
CASES = {
    "pedals": (DRIVE, 13.0, {"converter.lock_gear": 2.0, "converter.lock_speed": 120.0}, 1e-4),
    "outboard discs": (DRIVE, 13.0, {"brake.front_inboard": 0.0, "brake.rear_inboard": 0.0}, 1e-4),
    "torques of brakes at once": ([(0.0, {"gear_selector": 0.0}),
                                   (0.5, {f"wheel_{w}.brake_torque": 1500.0 for w in WHEELS})], 3.0,
                                  {"init.speed": 20.0}, 5e-5),
    "wheels that lock": ([(0.0, {}), (0.5, {"brake_pedal": 1.0})], 2.0,
                         {"init.speed": 15.0, "terrain.mu": 0.3}, 3e-5),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_tick_of_a_millisecond_gives_what_a_tenth_of_it_gives(case: str) -> None:
    plan, end, start, most = CASES[case]
    coarse, fine = (run(plan, end, start | {"tick": tick}) for tick in (1e-3, 1e-4))
    assert (coarse["gearbox.gear"] == fine["gearbox.gear"]).all()

    def off(name: str) -> float:
        return float(np.abs(coarse[name] - fine[name]).max())

    if case == "pedals":
        assert set(fine["gearbox.gear"]) >= {-1.0, 1.0, 2.0, 3.0} and fine["converter.lock"].max() > 0.99
    assert off("speed") < most
    assert off("engine.speed") < 5e-3
