"""Brake circuits by the pedal: booster, proportioning valve and lags, from numbers worked out by hand."""

from __future__ import annotations

import casadi as ca
import pytest

from jounce.brakes.hydraulics import pressure_rates

N = {"pressure_max": 12e6, "knee": 8e6, "rear_knee": 4e6, "rear_slope": 0.3, "rise": 0.06, "fall": 0.04}


def rates(pedal: float, front: float, rear: float) -> tuple[float, float]:
    """Of the two pressures [Pa/s] at these [Pa]."""
    states = {"brake.front_pressure": front, "brake.rear_pressure": rear}
    of = [{name: ca.SX(value) for name, value in part.items()} for part in (states, {"brake_pedal": pedal}, N)]
    front_rate, rear_rate = pressure_rates(*of)
    return float(front_rate), float(rear_rate)


@pytest.mark.parametrize(("pedal", "front", "rear"), [
    (0.0, 0.0, 0.0),
    (0.25, 3e6, 3e6),  # below both knees the rear circuit has what the front one has
    (0.5, 6e6, 4.6e6),  # 4 MPa and 0.3 of the 2 MPa beyond
    (1.0, 9e6, 5.5e6),  # beyond the booster's knee a quarter of 4 MPa
])  # fmt: skip
def test_pressures_rest_at_the_pedals_with_both_knees(pedal: float, front: float, rear: float) -> None:
    assert rates(pedal, front, rear) == pytest.approx((0.0, 0.0), abs=1e-3)


def test_a_pressure_rises_by_one_lag_and_falls_by_the_other() -> None:
    assert rates(0.25, 1e6, 1e6) == pytest.approx((2e6 / 0.06, 2e6 / 0.06))
    assert rates(0.25, 5e6, 4e6) == pytest.approx((-2e6 / 0.04, -1e6 / 0.04))
