"""What every powertrain has between its shafts."""

from __future__ import annotations

import casadi as ca
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce.powertrain.elements import biased, friction, loss_sign


@given(torque=st.floats(-1e4, 1e4), ratio=st.floats(1.0, 20.0))
def test_the_slower_side_of_a_differential_gets_up_to_the_bias_ratio_of_the_faster_ones_torque(
    torque: float, ratio: float
) -> None:
    capacity = float(biased(*map(ca.SX, (torque, ratio, 0.0, 0.0, 500.0))))
    slower, faster = abs(torque) / 2 + capacity, abs(torque) / 2 - capacity
    assert slower == pytest.approx(ratio * faster, rel=1e-9, abs=1e-9)


@given(locked=st.floats(-1.0, 2.0))
def test_a_lock_adds_its_share_of_its_capacity_and_no_more_than_all_of_it(locked: float) -> None:
    capacity = float(biased(*map(ca.SX, (0.0, 1.0, locked, 5.0, 200.0))))
    assert capacity == pytest.approx(5.0 + 200.0 * min(max(locked, 0.0), 1.0))


@given(windup=st.floats(-0.1, 0.1), slip=st.floats(-50.0, 50.0), capacity=st.floats(1.0, 500.0))
def test_friction_loses_no_less_than_nothing_and_what_it_takes_is_stored_or_lost(
    windup: float, slip: float, capacity: float
) -> None:
    w, v = ca.SX.sym("w"), ca.SX.sym("v")
    f = friction(w, v, *map(ca.SX, (capacity, 1e4, 1 / 300, 300.0)))
    at = ca.Function("f", [w, v], [f.torque, f.rate, f.lost, f.stored, ca.gradient(f.stored, w)])
    torque, rate, lost, _, slope = map(float, at(windup, slip))
    assert torque * slip == pytest.approx(lost + slope * rate, rel=1e-9, abs=1e-6)
    assert lost >= -1e-9 * max(1.0, abs(torque * slip))


@pytest.mark.parametrize(("speed", "sign"), [(-30.0, -1.0), (-0.5, -0.5), (0.0, 0.0), (2.0, 1.0)])
def test_losses_of_gears_change_sign_without_a_jump(speed: float, sign: float) -> None:
    assert float(loss_sign(ca.SX(speed))) == sign
