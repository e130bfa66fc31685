"""Standstill through the FMU: parked on a slope, stopped, started at equilibrium."""

from __future__ import annotations

import math

import measure
import numpy as np
import pytest

from jounce.axles import WHEELS
from jounce_fmu.importer.host import open_builtin

STEP = measure.STEP


@pytest.mark.parametrize("name", measure.WAYS)
def test_parked_on_a_thirty_percent_slope_the_vehicle_creeps_less_than_a_millimetre_in_a_minute(name: str) -> None:
    record = measure.parked(name)
    assert record.time[-1] >= 60.0
    rise = record.vector("wheel_FL.pos") - record.vector("wheel_RR.pos")
    assert abs(rise[0, 2]) > 0.3  # it does stand on a slope
    assert measure.creep(record).max() < 1e-5


def test_brakes_that_the_first_step_applies_hold_as_if_they_had_been_on_before() -> None:
    with open_builtin().instance("parked") as fmu:
        fmu.setup({"terrain.slope": math.atan(0.3)})
        start = fmu.get_outputs()[:3]
        fmu.set_values({f"wheel_{w}.brake_torque": 4000.0 for w in WHEELS})
        for _ in range(100):
            fmu.step(100)
            assert np.abs(fmu.get_outputs()[:3] - start).max() < 1e-4


def test_without_brakes_the_vehicle_rolls_down_the_slope() -> None:
    record = measure.hold(measure.WAYS["nose up"], {}, 1.0)
    assert measure.creep(record, 1.0).max() > 1.0


@pytest.mark.parametrize("torque", measure.TORQUES)
def test_braked_from_20_km_h_the_vehicle_comes_to_rest_within_the_friction_limit_and_stays(torque: float) -> None:
    record = measure.stop(torque)
    rest, speed = measure.rest_time(record), record.speed()
    assert speed[0] == pytest.approx(20.0 / 3.6)
    assert np.ptp(record("ref_frame.pos.x")) > speed[0] ** 2 / (2 * 0.8 * 9.81)
    assert rest < 6.0 and record.time[-1] - rest > 10.0
    assert speed[-round(10.0 / STEP) :].max() < 1e-6


@pytest.mark.parametrize("torque", measure.TORQUES)
def test_no_brake_torque_reverses_from_tick_to_tick(torque: float) -> None:
    brake = measure.brake_torque(measure.stop(torque))
    # where the tires stick, the torque steps by a quarter of a percent
    assert measure.reversals(brake[round(0.1 / STEP) :], 10.0) == 0
    assert measure.reversals(brake[-round(10.0 / STEP) :], 1e-6) == 0
    assert np.abs(brake[:-1]).max() < 1.1 * torque
    assert np.abs(brake[round(0.5 / STEP)]).max() > 1000.0


def test_a_start_at_equilibrium_has_no_transient() -> None:
    record = measure.at_rest()
    assert record.speed().max() < 1e-9
    assert np.abs(record.wheels("travel_rate")).max() < 1e-9
    assert np.all(record.wheels("tire_force.z") > 5000.0)
