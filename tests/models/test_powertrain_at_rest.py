"""The HMMWV by pedals at rest: in P, by brake and hand brake on slopes, shaken, taking off and turning round."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from drives import HELD, SLOPE, factory, position, run

from jounce.axles import AXLES, WHEELS
from jounce_fmu.importer.host import FmuInstance
from jounce_fmu.models.tires import on_tires

GRIP = {"terrain.mu": 0.8}
TIRE = Path(__file__).parents[1] / "data" / "tires" / "HMMWV_Pac02Tire.tir"


@pytest.fixture(scope="module", params=["TMeasy", pytest.param("Magic Formula", marks=pytest.mark.slow)])
def law(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def vehicle(law: str) -> str:
    """The HMMWV by pedals on tires of that law."""
    return "hmmwv_pedals" if law == "TMeasy" else str(on_tires("hmmwv_pedals", TIRE))


def shake(fmu: FmuInstance, t: float) -> None:
    """2 kN along and 1 kN across at 3 Hz; whole seconds apart it is where it was."""
    push = 2000.0 * math.sin(6 * math.pi * t)
    fmu.set_values({"chassis.ext_force.x": push, "chassis.ext_force.y": push / 2})


@pytest.mark.parametrize("how", HELD)
@pytest.mark.parametrize("every_row", [shake, lambda _fmu, _t: None], ids=["shaken", "left alone"])
def test_held_on_thirty_percent_it_stays(
    how: str, every_row: Callable[[FmuInstance, float], None], vehicle: str
) -> None:
    """A minute of it takes `slow` (below)."""
    p = position(run([(0.0, HELD[how])], 9.0, SLOPE | GRIP, every_row=every_row, vehicle=vehicle))
    settled = 500
    assert np.linalg.norm(p[:, settled] - p[:, 0]) < 0.06
    assert np.abs(p[:, settled::100] - p[:, settled : settled + 1]).max() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.3, -0.3], ids=["uphill", "downhill"])
@pytest.mark.parametrize("how", HELD)
def test_held_on_a_slope_and_shaken_it_stays_for_a_minute(how: str, slope: float, vehicle: str) -> None:
    """Also across the slope. Downhill the rear wheels carry little, and P asks as much of them as of the front ones."""
    least = -0.15 if how == "hand brake" else -0.25
    slopes = {"terrain.slope": math.atan(max(slope, least)), "terrain.bank": 0.1}
    p = position(run([(0.0, HELD[how])], 65.0, slopes | GRIP, every_row=shake, vehicle=vehicle))
    assert np.abs(p[:, 500::100] - p[:, 500:501]).max() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("law", ["Magic Formula"], indirect=True)
@pytest.mark.parametrize(("how", "least", "enough"), [("P", 0.6, 1.2), ("hand brake", 0.6, 1.5)])
def test_with_the_nose_down_it_slides_only_where_both_rear_wheels_need_more_than_friction_gives(
    how: str, least: float, enough: float, vehicle: str
) -> None:
    """On 30 %, shaken."""
    down = {"terrain.slope": math.atan(-0.3)}
    held, slid = (run([(0.0, HELD[how])], 12.0, down | {"terrain.mu": mu}, every_row=shake, vehicle=vehicle)
                  for mu in (enough, least))  # fmt: skip
    assert np.abs(position(held)[:, 500::100] - position(held)[:, 500:501]).max() < 1e-4
    assert np.linalg.norm(position(slid)[:, -1] - position(slid)[:, 500]) > 2e-3
    rear = [np.hypot(held[f"wheel_{w}.tire_force.x"], held[f"wheel_{w}.tire_force.y"])[500:] for w in AXLES["rear"]]
    load = [held[f"wheel_{w}.tire_force.z"][500:] for w in AXLES["rear"]]
    assert (sum(rear) / sum(load)).max() > least


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


def test_taking_off_on_a_slope_it_does_not_roll_back_further_than_its_brakes_unwind(vehicle: str) -> None:
    o = run([(0.0, {"brake_pedal": 1.0}), (0.5, {"throttle": 1.0}), (1.1, {"brake_pedal": 0.0})], 3.0, SLOPE,
            vehicle=vehicle)  # fmt: skip
    x = o["ref_frame.pos.x"]
    assert x.min() - x[0] > -0.01
    assert o["speed"][-1] > 1.5


def test_from_forward_through_rest_into_reverse_nothing_chatters(vehicle: str) -> None:
    o = run([(0.0, {"throttle": 0.4}), (2.0, {"throttle": 0.0, "brake_pedal": 0.5}),
             (4.0, {"gear_selector": -1.0, "brake_pedal": 0.0, "throttle": 0.3})], 6.5, vehicle=vehicle)  # fmt: skip
    v, rest = o["speed"], (o["time"] > 3.7) & (o["time"] < 4.0)
    assert v.max() > 1.5
    assert v[-1] < -0.8
    assert np.abs(v[rest]).max() < 1e-2
    moving = np.diff(v[o["time"] >= 4.3])
    assert (moving < 1e-3).all()  # it only gets faster
    torque = o["gearbox.torque"][o["time"] > 4.5]
    assert (torque < 0.0).all()
