"""Discs at the inner ends of the half shafts: what they react on, and that they take energy away."""

from __future__ import annotations

import numpy as np
import pytest
from drives import ROW, factory, in_the_air, run

from jounce.axles import WHEELS
from jounce_fmu.importer.host import FmuInstance
from jounce_fmu.importer.linear import read_states

AT_THE_WHEELS = {"brake.front_inboard": 0.0, "brake.rear_inboard": 0.0}
ROLLING = {"init.speed": 12.0}
PLAN = [(0.0, {"gear_selector": 0.0}), (0.5, {"brake_pedal": 0.4})]


def test_without_hub_gears_an_inboard_brake_is_a_torque_on_the_half_shaft() -> None:
    """What brakes there moves the vehicle as the same torque does by the input that reacts on the chassis."""
    plain = ROLLING | {"hub.ratio": 1.0, "hub.sense": 1.0}
    braked = run(PLAN, 1.8, plain)
    torque = {w: braked[f"wheel_{w}.brake_torque_total"] for w in WHEELS}

    def drive(fmu: FmuInstance, t: float) -> None:
        k = round(t / ROW)
        fmu.set_values({f"wheel_{w}.drive_torque": float(torque[w][k : k + 2].mean()) for w in WHEELS})

    driven = run(PLAN[:1], 1.8, plain, every_row=drive)
    dive = np.ptp(braked["ref_frame.pitch"])
    assert dive > 5e-3
    assert np.abs(braked["ref_frame.pitch"] - driven["ref_frame.pitch"]).max() < 3e-3 * dive
    assert braked["speed"] == pytest.approx(driven["speed"], abs=2e-3)


def test_dive_grows_with_the_share_of_the_torque_that_the_chassis_takes() -> None:
    """0 at the wheels, 1 on plain half shafts, -1/1.92 with hubs that reverse."""
    cases: list[dict[str, float]] = [AT_THE_WHEELS, {"hub.ratio": 1.0, "hub.sense": 1.0}, {}]
    wheels, plain, geared = (run(PLAN, 1.8, ROLLING | more) for more in cases)
    at, half, hub = (float(o["ref_frame.pitch"][100:].mean()) for o in (wheels, plain, geared))
    assert half > at > hub
    assert (hub - at) / (half - at) == pytest.approx(-1 / 1.92, abs=0.05)
    for o in (wheels, geared):  # the same torque on the wheels
        assert o["wheel_RL.brake_torque_total"][-1] == pytest.approx(-0.4 * 12e6 * 0.000222222222, rel=1e-6)
        assert abs(o["wheel_RL.drive_torque_total"][-1]) < 50.0  # drag of the driveline


def test_whatever_they_react_on_brakes_only_take_energy() -> None:
    """In the air: turning wheels, springs, and a chassis that the torques turn.

    A disc that stops gives back what winds up pads and disc; that is counted from the states, k phi^2 / 2 with the
    stiffness of the vehicle's data.
    """
    table = factory().table
    winds = [[s.name for s in table.states].index(f"state.wheel_{w}.brake_wind_up") for w in WHEELS]
    capacity, deflection = (table.by_name(f"brake.{name}").start for name in ("capacity", "deflection"))
    wound = []
    o = run([(0.0, {"throttle": 1.0}), (0.8, {"throttle": 0.0, "gear_selector": 0.0}),
             (1.2, {"brake_pedal": 0.5}), (1.5, {"brake_pedal": 0.0}), (1.7, {"hand_brake": 1.0})], 2.2,
            in_the_air(), every_row=lambda fmu, _t: wound.append(read_states(fmu)[winds]))  # fmt: skip
    parts = (o[f"energy.{name}"] for name in ("kinetic", "potential", "driveline", "losses"))
    outside = (np.sum(list(parts), axis=0) - o["energy.engine"])[120 : len(wound)]
    stored = 0.5 * capacity / deflection * np.square(wound[120:]).sum(1)
    assert outside[0] - outside[-1] > 100.0
    assert stored.max() > 5.0
    assert np.diff(outside + stored).max() < 1e-9 * o["energy.engine"].max()
    assert np.abs(o["ref_frame.pitch"]).max() > 1e-4  # the chassis has turned
