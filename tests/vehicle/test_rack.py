"""A rack moves the inner tierod ends along y, through the functions that follow a Pitman arm."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from jounce.math.algebra import SX
from jounce.steering import pitman, rack

END = np.array([1.2, 0.3, 0.1])


def inner(steering: tuple[float, float, float], gain: float = 0.1, axle: float = 1.0) -> dict[str, np.ndarray]:
    link = rack.function()(ca.DM(steering), gain)
    out = pitman.inner_function()(link, ca.evalf(rack.inner_numbers(SX(ca.DM(END)), axle)))
    return {name: np.array(ca.evalf(v)).ravel() for name, v in pitman.INNER.split(out).items()}


def test_an_end_moves_with_the_pinion_s_angle_rate_and_acceleration() -> None:
    e = inner((0.5, 2.0, -3.0))
    assert np.allclose(e["end"], END + [0, 0.05, 0]) and np.allclose(e["end_partial"], [0, 0.1, 0])
    assert np.allclose(e["end_velocity"], [0, 0.2, 0]) and np.allclose(e["end_acceleration"], [0, -0.3, 0])


@pytest.mark.parametrize("gain", [0.0, -0.4])
def test_an_axle_follows_with_its_gain(gain: float) -> None:
    e = inner((0.5, 2.0, -3.0), axle=gain)
    assert np.allclose(e["end"], END + [0, 0.05 * gain, 0]) and np.allclose(e["end_velocity"], [0, 0.2 * gain, 0])


def test_the_linkage_never_fails_to_close() -> None:
    link = pitman.LINK.split(rack.function()(ca.DM([3.0, 0.0, 0.0]), 0.1))
    assert float(link["discriminant"]) == 1.0
