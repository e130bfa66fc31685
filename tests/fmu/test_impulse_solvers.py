"""Sequential impulses against the direct solver, and impacts: what the paper prints, and what is right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from impulse import Array, ball, cart

from jounce.architecture import rows
from jounce.architecture.composite import build
from jounce.architecture.layout import LayoutError, Piece, layout
from jounce.architecture.trim import trimmed
from jounce.reference import impulse as judge
from jounce_fmu.models.impulse.engine import Engine

G = 9.81


def _bounces(e: float, n: int) -> list[float]:
    """Times of the impacts of a ball that falls 1 m: t1 = sqrt(2 / g), then 2 v / g with v falling by e each time."""
    times, v = [np.sqrt(2 / G)], G * np.sqrt(2 / G)
    for _ in range(n):
        v *= e
        times.append(times[-1] + 2 * v / G)
    return times


def _height(t: Array, e: float, times: list[float]) -> Array:
    z = 1.1 - 0.5 * G * t**2
    for k, start in enumerate(times):
        after = t >= start
        z[after] = 0.1 + G * times[0] * e ** (k + 1) * (t[after] - start) - 0.5 * G * (t[after] - start) ** 2
    return z


@pytest.mark.parametrize("h", [1e-3, 1e-2])
@pytest.mark.parametrize("e", [0.5, 0.9])
def test_ball_bounces_at_the_exact_times_whatever_the_tick(h: float, e: float) -> None:
    engine = Engine(layout(ball(), spins=False, rigid=True, restitution=e), h)
    engine.start()
    times = _bounces(e, 5)
    n = int(times[5] / h)
    z = engine.run(n, [2])[:, 0]
    assert z.min() > 0.1 - 1e-12
    np.testing.assert_allclose(z, _height(h * np.arange(1, n + 1), e, times[:5]), atol=1e-10)


def test_ball_comes_to_rest_after_infinitely_many_impacts() -> None:
    engine = Engine(layout(ball(), spins=False, rigid=True, restitution=0.5))
    engine.start()
    engine.run(2500)
    assert engine.bodies[0, 2] == pytest.approx(0.1, abs=1e-5)
    assert abs(engine.bodies[0, 9]) < 0.02


def test_printed_restitution_makes_the_ground_pull() -> None:
    """Eq. 18's b = v_a - v_b, after less before, in J v + b = 0: the velocity grows by 1 + e; right is b = e v_b."""
    e, before = 0.5, -3.0
    model = ball()
    tick = replace(judge.tick(model, rows.drawn(model), np.array([[0, 0, before, 0, 0, 0]]), 1e-9), bounded=())
    row = np.eye(6)[2:3]
    after = {}
    for name, bias in (("printed", -e * before - before), ("mended", e * before)):
        ground = replace(tick, free=row, cfm=np.zeros(1), bias=np.array([bias]))
        (v,) = ground.solutions()
        after[name] = v[2]
    assert after["printed"] == pytest.approx((1 + e) * before)  # an impulse m e v_b: downwards
    assert after["mended"] == pytest.approx(-e * before)
    pushes = replace(tick, bounded=(judge.Bounded(row[0], 0.0, -e * before - before, 0.0, np.inf),))
    (v,) = pushes.solutions()  # as the ground cannot pull, it does nothing
    assert v[2] == pytest.approx(before)
    engine = Engine(layout(ball(), spins=False, rigid=True, restitution=e))
    engine.numbers[2] = 0.0
    engine.bodies[0, 2], engine.bodies[0, 9] = 0.1 + 1e-3, before
    engine.run(1)
    assert engine.bodies[0, 9] == pytest.approx(after["mended"])


def test_printed_inequalities_alone_pick_no_solution() -> None:
    """Eqs. 5b and 7a have L >= 0 and J v + b >= 0: a ball on the ground may do anything but fall.

    Eq. 5a, -inf >= L >= +inf, has no solution at all. The engine adds L (J v + b) = 0.
    """
    assert not any(-np.inf >= L >= np.inf for L in (-np.inf, -1.0, 0.0, 1.0, np.inf))
    h, heights = 1e-3, []
    for more in (0.0, 0.02, 0.05):
        z = v = 0.0
        for _ in range(500):
            free = v - G * h
            L = max(-free - z / h, 0.0) + more
            v = free + L  # 1 kg
            assert L >= 0
            assert v + z / h >= -1e-12
            z += h * v
        heights.append(z)
    assert heights[0] == pytest.approx(0, abs=1e-12)
    assert heights[0] + 0.01 < heights[1] < heights[2]  # three of many: it rests, or flies away
    engine = Engine(layout(ball(), spins=False, rigid=True), h)
    engine.bodies[0, 2], engine.bodies[0, 9] = 0.1, -1.0
    engine.run(500)
    assert engine.bodies[0, 2] - 0.1 == pytest.approx(heights[0], abs=1e-9)


def test_sweeps_converge_by_the_radius_of_gauss_seidels_matrix() -> None:
    """Golub, Van Loan, section 11.2: (L + D)^-1 U of J M^-1 J^T + cfm."""
    built = trimmed(build("class3")[1])
    model = replace(built, wheels=tuple(replace(w, friction=0.0) for w in built.wheels))
    engine = Engine(layout(model, spins=False))
    tick = judge.tick(model, rows.drawn(model), np.zeros((len(model.bodies), 6)), engine.tick_length)
    J = np.array([*tick.free, *(b.row for b in tick.bounded)])
    cfm = np.array([*tick.cfm, *(b.cfm for b in tick.bounded)])
    A = J @ np.linalg.solve(tick.mass, J.T) + np.diag(cfm)
    radius = np.abs(np.linalg.eigvals(np.linalg.solve(np.tril(A), np.triu(A, 1)))).max()
    engine.run(1)
    exact = engine.bodies[:, 7:].copy()
    errors = []
    for sweeps in (400, 600):
        engine.x[:], engine.warm[:] = engine.layout.drawn(), 0.0
        engine.sweeps = sweeps
        engine.run(1)
        errors.append(np.abs(engine.bodies[:, 7:] - exact).max())
    assert errors[1] > 1e-12
    assert (errors[1] / errors[0]) ** (1 / 200) == pytest.approx(radius, rel=1e-3)


def _cab(sweeps: int, truck: str = "class3", *, warm: bool = True, **how: object) -> Array:
    model = trimmed(build(truck)[1])
    engine = Engine(layout(model, spins=False, road=[Piece(6.0, 0.12, length=1.2)], **how))  # type: ignore[arg-type]
    engine.bodies[:, 7] = 8.0
    for w in model.wheels:
        engine.bodies[w.body, 11] = 8.0 / w.centre[2]
    engine.start()
    engine.sweeps = sweeps
    place = 13 * engine.layout.model.index("cab.shell") + 2
    if warm:
        return engine.run(3000, [place])[:, 0]
    heights = []
    for _ in range(3000):
        engine.warm[:] = 0.0
        heights.append(engine.run(1, [place])[0, 0])
    return np.array(heights)


@pytest.mark.slow
# architecture-abstraction, section 5: the cab over a bump, sequential impulses against the exact solution.
@pytest.mark.parametrize(("truck", "errors", "cold"), [
    ("class3", {10: 6.3e-6, 20: 2.2e-6, 50: 0.5e-6, 200: 8e-9}, 0.38e-3),
    ("class7", {10: 0.33e-6, 20: 0.07e-6, 50: 2e-9, 200: 0.0}, 3e-6),
])  # fmt: skip
def test_sweeps_over_a_bump_are_off_by_what_the_prototype_found_or_less(
    truck: str, errors: dict[int, float], cold: float
) -> None:
    """Within 20 %, but after few warm sweeps as little as half: the order of rows matters (decision 59).

    Class7's after 200 is rounding, also where its tires slide: both have one direction of sliding and one projection.
    """
    exact = _cab(0, truck)
    for sweeps, error in errors.items():
        least = 0.5 if sweeps == 10 or (truck, sweeps) == ("class7", 20) else 0.8
        assert least * error < np.abs(_cab(sweeps, truck) - exact).max() < 1.2 * error + 1e-11
    assert np.abs(_cab(20, truck, warm=False) - exact).max() == pytest.approx(cold, rel=0.2)


_PRINTED = {"stuck": True, "regularized": 1e-6}


@pytest.mark.slow
def test_sweeps_on_friction_without_stiffness_are_off_by_millimetres() -> None:
    """The same table, the paper's friction: left and right wheel of an axle have the same row, so sweeps hardly end."""
    exact = _cab(0, **_PRINTED)
    for sweeps, error in ((10, 5.6e-3), (20, 3.2e-3), (50, 1.4e-3), (200, 0.34e-3)):
        assert np.abs(_cab(sweeps, **_PRINTED) - exact).max() == pytest.approx(error, rel=0.2)
    assert np.abs(_cab(20, warm=False, **_PRINTED) - exact).max() == pytest.approx(21e-3, rel=0.2)


@pytest.mark.slow
def test_sweeps_on_such_friction_are_off_by_micrometres_on_rigid_axles() -> None:
    """Class7, against sweeps that have ended: the direct solver keeps the first direction of sliding (decision 59)."""
    exact = _cab(5000, "class7", **_PRINTED)
    for sweeps, error in ((10, 51e-6), (20, 28e-6), (50, 14e-6)):
        assert np.abs(_cab(sweeps, "class7", **_PRINTED) - exact).max() == pytest.approx(error, rel=0.2)
    assert np.abs(_cab(200, "class7", **_PRINTED) - exact).max() < 3e-6
    assert np.abs(_cab(20, "class7", warm=False, **_PRINTED) - exact).max() == pytest.approx(0.29e-3, rel=0.2)


def test_wheels_as_turn_rates_have_the_same_sweeps() -> None:
    """A touch one tick earlier must change little: 46 um once came from tires that touch for whole ticks."""
    model = trimmed(build("class3")[1])
    heights = []
    for sweeps in (0, 10):
        engine = Engine(layout(model, road=[Piece(6.0, 0.12, length=1.2)]))
        engine.bodies[:, 7] = 8.0
        for s, k in enumerate(engine.layout.spins):
            engine.x[13 * len(engine.bodies) + 2 * s + 1] = 8.0 / model.wheels[k].centre[2]
        engine.start()
        engine.sweeps = sweeps
        heights.append(engine.run(1500, [13 * engine.layout.model.index("cab.shell") + 2])[:, 0])
    assert np.abs(heights[1] - heights[0]).max() < 6.3e-6


def test_friction_without_stiffness_is_refused_unless_it_is_regularized() -> None:
    with pytest.raises(LayoutError, match="expected regularized > 0"):
        layout(cart(), stuck=True)


def test_sweeps_keep_every_bound() -> None:
    model = cart(friction=0.8)
    engine = Engine(layout(replace(model), wheel_motors=True))
    engine.sweeps = 200
    engine.motors[:2] = [50.0, 5000.0]
    engine.start()
    engine.run(300)
    assert (engine.forces[:, 2] >= 0).all()
    assert (np.hypot(engine.forces[:, 0], engine.forces[:, 1]) <= 0.8 * engine.forces[:, 2] * (1 + 1e-9)).all()
    assert engine.bodies[0, 7] > 0.5
