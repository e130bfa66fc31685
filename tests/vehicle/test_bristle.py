"""The law of friction at rest: bounded below break-away, plastic at the limit, and it never makes energy."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from jounce.contact.bristle import BREAKAWAY, NEAR, bristle

Array = NDArray[np.float64]
LIMIT, RATE, STEP = 0.05, 500.0, 1e-3


def _build(n: int, *, settles: float | None = None) -> ca.Function:
    z, v = ca.SX.sym("z", n), ca.SX.sym("v", n)
    limit, damping, relaxation = (ca.SX.sym(s) for s in ("m", "d", "r"))
    out = bristle(z, v, limit=limit, damping=damping, rate_limit=RATE, relaxation=relaxation, settles=settles)
    return ca.Function("bristle", [z, v, limit, damping, relaxation], [out.rate, out.stretch, out.slip])


#: By kind: components, and two of one component that settle, from what slides fast and from what slides slowly.
BRISTLES = {"1": _build(1), "2": _build(2), "settles": _build(1, settles=1.0), "early": _build(1, settles=NEAR)}


def at(z: object, v: object, *, limit: float = LIMIT, damping: float = 0.05, relaxation: float = 0.0,
       kind: str = "") -> list[Array]:  # fmt: skip
    z = np.atleast_1d(np.asarray(z, float))
    return [np.asarray(a).ravel() for a in BRISTLES[kind or str(len(z))](z, v, limit, damping, relaxation)]


def run(z: Array, motion: Array, limits: Array, damping: float = 0.05, *, kind: str = "",
        step: float = STEP) -> tuple[Array, float]:  # fmt: skip
    """(z after each step, work done on the bristle over its stiffness) by RK4, motion and limits in half steps."""
    law = BRISTLES[kind or str(len(z))]
    x, t = ca.SX.sym("x", len(z) + 1), ca.SX.sym("t", 3 * (len(z) + 1))
    parts = ca.vertsplit(t, len(z) + 1)

    def rate(x: ca.SX, u: ca.SX) -> ca.SX:
        zdot, stretch, _ = law(x[:-1], u[:-1], u[-1], damping, 0.0)
        return ca.vertcat(zdot, ca.dot(stretch, u[:-1]))

    a = rate(x, parts[0])
    b = rate(x + step / 2 * a, parts[1])
    c = rate(x + step / 2 * b, parts[1])
    after = x + step / 6 * (a + 2 * b + 2 * c + rate(x + step * c, parts[2]))
    both = np.column_stack([motion, limits])
    rows = np.column_stack([both[:-2:2], both[1:-1:2], both[2::2]])
    steps = ca.Function("step", [x, t], [after])
    found = np.array(steps.mapaccum("run", len(rows))(np.append(z, 0.0), rows.T)).T
    return found[:, :-1], float(found[-1, -1])


@pytest.mark.parametrize("kind", ["1", "settles"])
@pytest.mark.parametrize("frequency", [0.5, 2.0, 12.0, 50.0])
def test_below_break_away_a_swinging_bristle_comes_back_to_its_place(frequency: float, kind: str) -> None:
    time = np.arange(0.0, 20.0 + STEP / 4, STEP / 2)
    mean, swing = 0.6 * LIMIT, 0.36 * LIMIT
    motion = swing * 2 * np.pi * frequency * np.sin(2 * np.pi * frequency * time)
    z, _ = run(np.array([mean - swing]), motion[:, None], np.full(len(time), LIMIT), kind=kind)
    assert z.max() < BREAKAWAY * LIMIT
    assert abs(z[-1, 0] - (mean - swing)) < 1e-5 * LIMIT  # 20 s are whole periods


def test_a_limit_that_swings_above_the_deflection_moves_nothing() -> None:
    time = np.arange(0.0, 5.0 + STEP / 4, STEP / 2)
    z, _ = run(np.array([0.03, 0.0]), np.zeros((len(time), 2)), LIMIT * (1 + 0.3 * np.sin(40 * time)))
    assert np.all(z == [0.03, 0.0])


@pytest.mark.parametrize("speed", [0.01, 1.0, 30.0])
def test_a_sliding_bristle_ends_at_the_limit_along_the_velocity(speed: float) -> None:
    time = np.arange(0.0, 2.0 + 20 * LIMIT / speed, STEP / 2)
    v = speed * np.array([0.6, -0.8])
    z, _ = run(np.array([-0.02, 0.01]), np.tile(v, (len(time), 1)), np.full(len(time), LIMIT))
    assert z[-1] == pytest.approx(LIMIT * v / speed, rel=1e-3)
    rate, stretch, slip = at(LIMIT * v / speed, v)
    assert np.abs(rate).max() < 1e-12 * speed
    assert stretch == pytest.approx(LIMIT * v / speed)
    assert slip[0] == pytest.approx(speed)


SIZE = st.floats(0.0, 1.0)
ANGLE = st.floats(-np.pi, np.pi)


@settings(max_examples=500)
@given(
    st.floats(0.0, 3.0), ANGLE, st.floats(-5.0, 2.5), ANGLE, st.floats(-6.0, 0.0), st.floats(2e-3, 0.5),
    st.one_of(st.just(0.0), st.floats(0.0, 2000.0)), st.sampled_from(list(BRISTLES)),
)  # fmt: skip
def test_power_lost_is_never_negative(stretch: float, where: float, speed: float, heading: float, limit: float,
                                      damping: float, relaxation: float, kind: str) -> None:  # fmt: skip
    limit, n = 10.0**limit, 2 if kind == "2" else 1
    z = stretch * limit * np.array([np.cos(where), np.sin(where)])[:n]
    v = 10.0**speed * np.array([np.cos(heading), np.sin(heading)])[:n]
    rate, force, _ = at(z, v, limit=limit, damping=damping, relaxation=relaxation, kind=kind)
    power, stored = force @ v, z @ rate
    assert power - stored >= -1e-9 * (abs(power) + abs(stored) + 1e-12)
    assert np.linalg.norm(force) <= limit * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(list(BRISTLES)), st.floats(-3.0, 0.3))
def test_a_periodic_motion_under_a_periodic_limit_never_gains_energy(seed: int, kind: str, size: float) -> None:
    """Random motions and limits of up to ten harmonics over a second, four seconds of them."""
    rng, n = np.random.default_rng(seed), 2 if kind == "2" else 1
    time = np.arange(0.0, 4.0 + STEP / 4, STEP / 2)
    k = np.arange(1, 11)
    waves = np.sin(2 * np.pi * k[:, None] * time + rng.uniform(0, 2 * np.pi, (n + 1, 10, 1)))
    amplitudes = rng.normal(size=(n + 1, 10, 1)) / k[:, None]
    motion, modulation = (amplitudes[:n] * waves[:n]).sum(1).T, (amplitudes[n] * waves[n]).sum(0)
    limits = LIMIT * np.clip(1.0 + modulation, 0.0, None)
    start = LIMIT * rng.uniform(-0.5, 0.5, n)
    z, work = run(start, 10.0**size * motion, limits, kind=kind)
    stored = 0.5 * (z[-1] @ z[-1] - start @ start)
    assert work - stored >= -1e-4 * LIMIT**2


@pytest.mark.parametrize("kind", BRISTLES)
def test_no_eigenvalue_of_steady_sliding_is_above_twice_the_rate_limit(kind: str) -> None:
    rng, n = np.random.default_rng(4), 2 if kind == "2" else 1
    bristle_rate = BRISTLES[kind]
    x = [ca.SX.sym(s, k) for s, k in (("z", n), ("v", n), ("m", 1), ("d", 1), ("r", 1))]
    slope = ca.Function("slope", x, [ca.jacobian(bristle_rate(*x)[0], x[0])])
    for _ in range(2000):
        v = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 2.5)
        z = LIMIT * (1 - 1e-9) * v / np.linalg.norm(v)
        real = np.linalg.eigvals(np.asarray(slope(z, v, LIMIT, 0.05, 0.0))).real
        assert -2.0 * RATE * 1.01 < real.min() <= 0.0


def test_a_bristle_that_settles_early_is_resolved_by_steps_of_a_millisecond_wherever_it_is() -> None:
    """Eigenvalues while it loads below the limit; without settling they are more than fifty times those."""
    x = [ca.SX.sym(s) for s in ("z", "v", "m", "d", "r")]
    places, speeds = LIMIT * np.linspace(0.0, 0.99999, 1000), RATE * LIMIT * np.logspace(-3, 2, 200)
    z, v = (a.reshape(1, -1) for a in np.meshgrid(places, speeds))

    def most(kind: str) -> float:
        slope = ca.Function("slope", x, [ca.jacobian(BRISTLES[kind](*x)[0], x[0])])
        return -float(np.asarray(slope(z, v, LIMIT, 0.05, 0.0)).min())

    assert most("early") < 5.0 * RATE < 2.785 / STEP
    assert most("1") > 50.0 * most("early")


@pytest.mark.parametrize(("kind", "speed", "lag"), [
    ("settles", 30.0, 0.2), ("settles", 300.0, 0.06), ("early", 2.5, 0.06), ("early", 10.0, 0.06), ("early", 30.0, 0.2),
])  # fmt: skip
def test_a_limit_that_grows_from_nothing_while_it_slides_is_followed_alike_by_steps_of_a_millisecond(
    kind: str, speed: float, lag: float
) -> None:
    """The work against that of a hundredth of the step, and beside it that of a bristle which does not settle."""
    off = {}
    for law in ("1", kind):
        work = []
        for step in (STEP, STEP / 100):
            time = np.arange(0.0, 0.3 + step / 4, step / 2)
            limits = LIMIT * (1 - np.exp(-time / lag))
            z, done = run(np.zeros(1), np.full((len(time), 1), speed), limits, 2.2 / RATE, kind=law,
                          step=step)  # fmt: skip
            work.append(done)
            assert z[-1, 0] == pytest.approx(limits[-1], rel=0.02)
        off[law] = abs(work[0] / work[1] - 1)
        assert work[1] == pytest.approx(speed * np.trapezoid(limits, time), rel=0.02)
    assert off[kind] < 1e-6
    assert off[kind] < 0.03 * off["1"]


@given(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(1e-6, 1.0))
def test_what_sticks_or_slides_slowly_does_not_know_whether_it_settles(z: float, v: float, limit: float) -> None:
    slow, v = NEAR * v * RATE * limit, v * RATE * limit
    for speed, kind in ((v, "settles"), (slow, "early")):
        other = at(z * limit, speed, limit=limit, kind=kind)
        for one, two in zip(at(z * limit, speed, limit=limit), other, strict=True):
            assert one == pytest.approx(two, rel=1e-12)


def test_without_grip_there_is_no_force() -> None:
    for n, kind in ((1, "1"), (2, "2"), (1, "settles"), (1, "early")):
        _, force, _ = at(np.full(n, 0.01), np.ones(n), limit=0.0, kind=kind)
        assert not np.any(force)
