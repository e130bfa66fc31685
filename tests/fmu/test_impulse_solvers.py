"""Sequential impulses against the direct solver, and impacts: what the paper prints, and what is right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from impulse import Array, ball, cart

from jounce.architecture import rows
from jounce.architecture.composite import build
from jounce.architecture.layout import Piece, layout
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
    """Eq. 18 gives the row the impulse m e v_b <= 0; right is -m (1 + e) v_b."""
    e, before = 0.5, -3.0
    engine = Engine(layout(ball(), spins=False, rigid=True, restitution=e))
    engine.numbers[2] = 0.0
    engine.bodies[0, 2], engine.bodies[0, 9] = 0.1 + 1e-3, before
    engine.run(1)
    impulse = engine.bodies[0, 9] - before
    assert impulse == pytest.approx(-(1 + e) * before)
    printed = e * before
    assert printed < 0 < impulse


def test_printed_inequalities_alone_pick_no_solution() -> None:
    """Eqs. 5b and 7a have L >= 0 and J v + b >= 0; the engine's solution is the one of them with L (J v + b) = 0."""
    engine = Engine(layout(ball(), spins=False, rigid=True), 1e-3)
    engine.bodies[0, 2], engine.bodies[0, 9] = 0.1, -1.0
    engine.run(1)
    free = -1.0 - G * 1e-3
    found = engine.bodies[0, 9] - free
    allowed = [L for L in np.linspace(0, 10, 101) if free + L >= 0]
    assert len(allowed) > 50
    assert found * (free + found) == pytest.approx(0, abs=1e-9)
    assert min(allowed) == pytest.approx(found, abs=0.1)


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


def _cab(sweeps: int, warm: bool = True, truck: str = "class3") -> Array:
    model = trimmed(build(truck)[1])
    engine = Engine(layout(model, spins=False, road=[Piece(6.0, 0.12, length=1.2)]))
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


def test_sweeps_over_a_bump_are_off_by_what_the_prototype_found() -> None:
    """architecture-abstraction, section 5, class3 on tires with relaxation: cab height against the direct solver."""
    exact = _cab(0)
    for sweeps, warm, error in ((20, True, 2.2e-6), (50, True, 0.5e-6), (20, False, 0.38e-3)):
        assert np.abs(_cab(sweeps, warm) - exact).max() == pytest.approx(error, rel=0.2)


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
