"""The HMMWV by pedals at rest: in P, by brake and hand brake on slopes, shaken, taking off and turning round."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drives import HELD, SLOPE, factory, position, run

from jounce.axles import WHEELS
from jounce_fmu.importer.host import FmuInstance


@pytest.mark.parametrize("how", HELD)
@pytest.mark.parametrize("shaken", [False, True])
def test_held_on_thirty_percent_it_stays(how: str, shaken: bool) -> None:
    """Shaken by 2 kN at 3 Hz; whole seconds apart it is where it was. A minute of it takes `slow` (below)."""
    seconds = 9.0

    def shake(fmu: FmuInstance, t: float) -> None:
        push = 2000.0 * math.sin(6 * math.pi * t) if shaken else 0.0
        fmu.set_values({"chassis.ext_force.x": push, "chassis.ext_force.y": push / 2})

    p = position(run([(0.0, HELD[how])], seconds, SLOPE, every_row=shake))
    settled = 500
    assert np.linalg.norm(p[:, settled] - p[:, 0]) < 0.06
    assert np.abs(p[:, settled::100] - p[:, settled : settled + 1]).max() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("how", HELD)
def test_held_on_thirty_percent_it_stays_for_a_minute(how: str) -> None:
    def shake(fmu: FmuInstance, t: float) -> None:
        push = 2000.0 * math.sin(6 * math.pi * t)
        fmu.set_values({"chassis.ext_force.x": push, "chassis.ext_force.y": push / 2})

    p = position(run([(0.0, HELD[how])], 65.0, SLOPE, every_row=shake))
    assert np.abs(p[:, 500::100] - p[:, 500:501]).max() < 1e-3


def test_with_one_wheel_of_each_axle_on_ice_open_differentials_let_a_vehicle_in_park_go() -> None:
    """The pawl holds the propeller shaft alone; the hand brake holds the rear wheels themselves."""
    ice = {"terrain_source": 2, "differential.front.bias": 1.0, "differential.rear.bias": 1.0}
    rise = {f"wheel_{w}.terrain_normal.x": -0.3 for w in WHEELS}
    mu = {"wheel_FL.terrain_mu": 0.02, "wheel_RL.terrain_mu": 0.02}

    def slide(fmu: FmuInstance, _t: float) -> None:
        """The ground under each wheel on the slope."""
        y = dict(zip((s.name for s in factory().table.outputs), fmu.get_outputs(), strict=True))
        fmu.set_values({f"wheel_{w}.terrain_height": 0.3 * y[f"wheel_{w}.query_point.x"] for w in WHEELS})

    o = run([(0.0, {"gear_selector": -2.0} | rise | mu)], 2.5, ice | {"init.equilibrium": False, "init.z": 0.9},
            every_row=slide)  # fmt: skip
    assert abs(o["speed"][-1]) > 0.3


def test_taking_off_on_a_slope_it_does_not_roll_back_further_than_its_brakes_unwind() -> None:
    o = run([(0.0, {"brake_pedal": 1.0}), (0.5, {"throttle": 1.0}), (1.1, {"brake_pedal": 0.0})], 3.0, SLOPE)
    x = o["ref_frame.pos.x"]
    assert x.min() - x[0] > -0.01
    assert o["speed"][-1] > 1.5


def test_from_forward_through_rest_into_reverse_nothing_chatters() -> None:
    o = run([(0.0, {"throttle": 0.4}), (2.0, {"throttle": 0.0, "brake_pedal": 0.5}),
             (4.0, {"gear_selector": -1.0, "brake_pedal": 0.0, "throttle": 0.3})], 6.5)  # fmt: skip
    v, rest = o["speed"], (o["time"] > 3.7) & (o["time"] < 4.0)
    assert v.max() > 1.5
    assert v[-1] < -0.8
    assert np.abs(v[rest]).max() < 1e-2
    moving = np.diff(v[o["time"] >= 4.3])
    assert (moving < 1e-3).all()  # it only gets faster
    torque = o["gearbox.torque"][o["time"] > 4.5]
    assert (torque < 0.0).all()
