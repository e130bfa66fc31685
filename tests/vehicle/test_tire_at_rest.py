"""What the bristles of a TMeasy tire promise near standstill: no creep, no energy made, friction as its limit."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_tire import (
    CZ,
    LOAD,
    OUTPUTS,
    PAR,
    RADIUS,
    RESISTING,
    TIRE,
    TWIST,
    K,
    bore_radius,
    bristle_rate,
    settled,
    tire,
)

from jounce.contact.standstill import RATE_LIMIT
from jounce.contact.tires.tmeasy import STATES


def test_a_parked_tire_below_the_friction_limit_does_not_creep_at_all() -> None:
    out = tire(state={"bristle": (0.02, -0.05), "rolled": 0.004, "turned": 0.03, "travelled": 0.01})
    assert np.all(out["rate"] == 0.0)
    assert out["contact_force"][:2] == pytest.approx(-K * np.array([0.02, -0.05]))


def test_a_locked_wheel_on_a_thirty_percent_slope_comes_to_rest_and_stays() -> None:
    mass, gravity, h = 643.0, 9.81, 1e-3
    slope = np.arctan(0.3)
    normal = np.array([-np.sin(slope), 0.0, np.cos(slope)])
    along = np.array([np.cos(slope), 0.0, np.sin(slope)])
    height = RADIUS - mass * gravity * np.cos(slope) / CZ

    x = ca.SX.sym("x", 2 + STATES.size)
    out = dict(
        zip(
            OUTPUTS,
            TIRE(
                x[0] * along + height * normal,
                x[1] * along,
                (0.0, 1.0, 0.0),
                (0.0, 0.0, 0.0),
                (0.0, 0.0, 0.0),
                normal,
                0.9,
                x[2:],
                1.0,
            ),
            strict=True,
        )
    )
    acceleration = ca.dot(out["force"], along) / mass - gravity * np.sin(slope)
    rate = ca.Function("rate", [x], [ca.vertcat(x[1], acceleration, out["rate"])])
    a = rate(x)
    b = rate(x + h / 2 * a)
    c = rate(x + h / 2 * b)
    step = ca.Function("step", [x], [x + h / 6 * (a + 2 * b + 2 * c + rate(x + h * c))])
    states = np.asarray(step.mapaccum(8000)(np.zeros(2 + STATES.size)))  # thirty times as quick as calls from here
    track = states[0]
    assert -0.1 < track[-1] < 0.0
    assert abs(track[-1] - track[-1000]) < 1e-6
    assert abs(states[1, -1]) < 1e-5


@given(*[st.floats(-1.0, 1.0)] * 4)
@settings(max_examples=10, deadline=None)
def test_a_tread_that_sticks_comes_back_with_a_wheel_that_moves_rolls_steers_and_leans_in_a_loop(
    move: float, roll: float, steer: float, lean: float
) -> None:
    """Its deflection is a function of the wheel's pose: integrated around a closed loop of poses nothing is left."""
    t, h, z = ca.SX.sym("t"), 2 * np.pi / 300, ca.SX.sym("z", STATES.size)
    yaw, camber, spun = 0.1 * steer * ca.sin(t), 0.05 * lean * ca.cos(t + 1.0), 0.02 * roll * ca.cos(t)
    heading = ca.vertcat(ca.cos(yaw), ca.sin(yaw), 0.0)
    axis = ca.vertcat(-ca.sin(yaw) * ca.cos(camber), ca.cos(yaw) * ca.cos(camber), ca.sin(camber))
    place = ca.vertcat(0.01 * move * ca.cos(2.0 * t), 0.01 * ca.sin(t), 0.4499)
    turning = ca.vertcat(0, 0, ca.jacobian(yaw, t)) + heading * ca.jacobian(camber, t) + axis * ca.jacobian(spun, t)
    out = TIRE(place, ca.jacobian(place, t), axis, turning, np.zeros(3), (0.0, 0.0, 1.0), 0.9, z, 1.0)
    rate = ca.Function("rate", [z, t], [out[OUTPUTS.index("rate")]])
    a = rate(z, t)
    b = rate(z + h / 2 * a, t + h / 2)
    c = rate(z + h / 2 * b, t + h / 2)
    step = ca.Function("step", [z, t], [z + h / 6 * (a + 2 * b + 2 * c + rate(z + h * c, t + h))])
    once = round(2 * np.pi / h)
    start = np.zeros(STATES.size)
    start[:2] = 0.01, -0.02
    end = np.asarray(step.mapaccum(3 * once)(start, h * np.arange(3 * once)))[:2, [once - 1, -1]]
    assert np.linalg.norm(end[:, 1] - end[:, 0]) < 3e-6


SPINS = st.tuples(st.floats(-2.0, 2.0), st.floats(-40.0, 40.0), st.floats(-5.0, 5.0))


@given(
    st.floats(-1.0, 1.0), st.floats(-20.0, 20.0), SPINS, st.floats(0.0, 1.5), st.floats(-np.pi, np.pi),
    st.floats(-0.02, 0.02), st.floats(-0.2, 0.2), st.floats(-0.05, 0.05), st.floats(0.0, 1.0), st.floats(0.0, 1.0),
)  # fmt: skip
def test_the_tire_never_makes_energy_at_low_speed(
    vx: float, vy: float, spins: tuple[float, float, float], stretch: float, direction: float, rolled: float,
    turned: float, travelled: float, sliding: float, mu: float,
) -> None:  # fmt: skip
    z = stretch * mu * LOAD / K * np.array([np.cos(direction), np.sin(direction)])
    velocity = np.array([vx, vy, 0.0])
    out = tire(velocity=velocity, turning=spins, mu=mu, state={
        "bristle": z, "rolled": rolled, "turned": turned, "travelled": travelled, "sliding": sliding,
    })  # fmt: skip
    power = out["force"] @ velocity + out["moment"] @ np.array(spins)
    twisting = TWIST * turned * out["rate"][3] + RESISTING * rolled * out["rate"][2]
    stored = K * (z @ bristle_rate(out)) + twisting
    assert power + stored <= 1e-9 * (1.0 + abs(power) + abs(stored))


@given(st.floats(-np.pi, np.pi), st.floats(0.1, 1.0))
def test_the_bristle_never_leaves_the_friction_circle(direction: float, mu: float) -> None:
    edge = mu * LOAD / K * np.array([np.cos(direction), np.sin(direction)])
    for velocity in (1.0, 30.0):
        for angle in np.linspace(0, 2 * np.pi, 12, endpoint=False):
            v = velocity * np.array([np.cos(angle), np.sin(angle), 0.0])
            out = tire(velocity=(0.0, v[1], 0.0), spin=-v[0] / 0.4499, state={"bristle": edge}, mu=mu)
            assert edge @ bristle_rate(out) <= 1e-9
            assert np.hypot(*out["contact_force"][:2]) <= mu * out["contact_force"][2] * (1 + 1e-12)


@pytest.mark.parametrize("mu", [0.05, 0.9])
def test_the_bristle_is_never_stiffer_than_twice_its_rate_limit(mu: float) -> None:
    edge = mu * LOAD / K
    for v in (0.1, 3.0, 300.0):
        for part in (0.0, 0.5, 1.0):  # the last is steady sliding
            low, high = (bristle_rate(tire(velocity=(0, v, 0), spin=v, state={"bristle": (0, z)}, mu=mu))[1]
                         for z in (part * edge - 1e-9, part * edge))  # fmt: skip
            assert -1e-6 <= (low - high) / 1e-9 <= 2.001 * RATE_LIMIT


def test_a_tire_in_the_air_gives_nothing_and_its_bristle_springs_back() -> None:
    out = tire((0, 0, 1.0), (5.0, 1.0, -3.0), 20.0, {"bristle": (0.01, 0.0)})
    assert not np.any(out["force"]) and not np.any(out["moment"])
    assert out["rate"][0] < 0.0


def test_a_tire_at_rest_breaks_away_at_the_friction_of_the_ground() -> None:
    largest = 0.0
    z = np.zeros(STATES.size)
    for _ in range(8000):  # a pull that grows slowly
        parts = {name: z[k : k + STATES.sizes[name]] for name, k in STATES.first.items()}
        out = tire(velocity=(0.0, 0.01, 0.0), state=parts, mu=0.6)
        z = z + 1e-3 * out["rate"]
        largest = max(largest, -out["contact_force"][1])
    assert largest == pytest.approx(0.6 * LOAD, rel=0.02)


@pytest.mark.slow
def test_turned_on_the_spot_the_tire_resists_with_friction_at_the_bore_radius() -> None:
    out = settled((0.0, 0.0, 0.0), 1.0, 0.8, turning=(0.0, 0.0, 0.5))
    assert out["contact_moment"][2] == pytest.approx(-0.8 * LOAD * bore_radius(LOAD), rel=0.01)
    rolling = settled((1.0, 0.0, 0.0), 1.0, 0.8, turning=(0.0, 0.0, 0.5), spin=1.0 / 0.4632)
    assert 0.0 < -rolling["contact_moment"][2] < 0.6 * -out["contact_moment"][2]


def test_rolling_resistance_holds_what_it_can_and_no_more() -> None:
    most = PAR["rolling_resistance"] * LOAD * RADIUS
    held = tire(state={"rolled": 0.9 * most / RESISTING})
    assert held["contact_moment"][1] == pytest.approx(-0.9 * most)
    assert np.all(held["rate"] == 0.0)
    assert tire(state={"rolled": 2 * most / RESISTING})["contact_moment"][1] == pytest.approx(-most)
