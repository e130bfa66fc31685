"""The impulse engine against exact solutions, Euler's equations, and a dense judge that tries every active set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from impulse import Array, anything, cart, frame4, oscillator, pendulum

from jounce.architecture import rows
from jounce.architecture.layout import LayoutError, Piece, layout
from jounce.architecture.target import GROUND, Body, Joint, Multibody
from jounce.reference import impulse as judge
from jounce.spectrum import modes, step_map
from jounce_fmu.models.impulse.engine import Engine, EngineFault


def _rk4(rate: Callable[[Array], Array], y: Array, t: float, n: int) -> Array:
    h = t / n
    for _ in range(n):
        a = rate(y)
        b = rate(y + 0.5 * h * a)
        c = rate(y + 0.5 * h * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c))
    return y


@pytest.fixture(scope="module")
def swung() -> float:
    """Angle of the pendulum after 5 s: theta'' = -m g l / (I + m l^2) sin(theta)."""
    start = np.array([np.pi / 3, 0.0])
    return float(_rk4(lambda y: np.array([y[1], -9.81 / 1.02 * np.sin(y[0])]), start, 5.0, 5000)[0])


# architecture-abstraction, section 4: angle errors at 4, 2, 1 ms of a prototype.
@pytest.mark.parametrize(("paper", "expected"), [
    (("joints", "drift"), (7.6e-3, 4.3e-3, 2.3e-3)),
    (("joints",), (2.2e-2, 1.2e-2, 6.0e-3)),
    ((), (5.3e-5, 1.35e-5, 3.4e-6)),
])  # fmt: skip
def test_pendulum_is_second_order_with_curvature_rows_and_first_order_without(
    paper: tuple[str, ...], expected: tuple[float, ...], swung: float
) -> None:
    for h, error in zip((4e-3, 2e-3, 1e-3), expected, strict=True):
        engine = Engine(layout(pendulum(), paper=paper), h)
        engine.start()
        engine.run(round(5 / h))
        x, z = engine.bodies[0, 0], engine.bodies[0, 2]
        assert abs(np.arctan2(x, -z) - swung) == pytest.approx(error, rel=0.1)
        if "drift" not in paper:
            assert abs(np.hypot(x, z) - 1) < 1e-8


def _bias(model: Multibody, pose: rows.Pose, v: Array, h: float, by_halves: bool) -> Array:
    """Of a joint's rows: the formula h/2 (J' v) v by differences, or J(x + h v/2) v - J(x) v."""
    if by_halves:
        return (rows.joints(model, pose.moved(0.5 * h * v))[1] - rows.joints(model, pose)[1]) @ v
    bend: Array = (rows.joints(model, pose.moved(1e-5 * v))[1] - rows.joints(model, pose.moved(-1e-5 * v))[1]) @ v
    return 0.5 * h * bend / 2e-5


@pytest.mark.parametrize(("by_halves", "expected"), [(True, 1.4e-4), (False, 2.28e-4)])
def test_unprojected_pendulum_depends_on_how_its_curvature_is_written(
    by_halves: bool, expected: float, swung: float
) -> None:
    """The prototype's unprojected column has J(x + h v/2) v - J(x) v, the engine the formula h/2 (J' v) v.

    They differ by h^2/8 (J'' v, v) v, so both are of second order; dense ticks in each form give the two columns.
    """
    model, h = pendulum(), 4e-3
    pose, v, first = rows.drawn(model), np.zeros(6), 0.5
    body = model.bodies[0]
    M = np.diag([body.mass] * 3 + [float(body.inertia[0, 0])] * 3)  # of a ball's inertia, in any pose
    for _ in range(round(5 / h)):
        J = rows.joints(model, pose)[1]
        K = np.block([[M, J.T], [J, np.zeros((5, 5))]])
        right = M @ v + [0, 0, -9.81 * h * body.mass, 0, 0, 0]
        v, first = v + first * (np.linalg.solve(K, [*right, *-_bias(model, pose, v, h, by_halves)])[:6] - v), 1.0
        pose = pose.moved(h * v)
    assert abs(np.arctan2(pose.x[0, 0], -pose.x[0, 2]) - swung) == pytest.approx(expected, rel=0.1)
    if not by_halves:
        engine = Engine(layout(model, paper=("drift",)), h)
        engine.start()
        engine.run(round(5 / h))
        np.testing.assert_allclose(engine.bodies[0, :3], pose.x[0], atol=1e-7)


def test_link_without_projection_grows_by_a_centimetre_as_in_the_paper_and_by_micrometres_with_curvature() -> None:
    lengths = []
    for paper in (("joints", "drift"), ("drift",)):
        engine = Engine(layout(pendulum(), paper=paper))
        engine.start()
        engine.run(5000)
        lengths.append(np.hypot(engine.bodies[0, 0], engine.bodies[0, 2]) - 1)
    assert lengths[0] == pytest.approx(10e-3, rel=0.1)
    assert 0 < lengths[1] < 4e-6


def _grows(omega: float, zeta: float, h: float, paper: tuple[str, ...]) -> bool:
    engine = Engine(layout(oscillator(omega, zeta), paper=paper), h)
    engine.bodies[0, 2] += 1e-3
    try:
        engine.run(20_000)
    except EngineFault:
        return True
    return bool(abs(engine.bodies[0, 2] - 1) > 1)


@pytest.mark.parametrize("zeta", [0.0, 0.1, 0.3, 0.7, 0.95])
def test_dampers_at_the_old_velocity_lower_the_step_limit_and_centred_ones_do_not(zeta: float) -> None:
    """The paper's Eq. 23 has the damped frequency: 2 / w_d, which allows h w_n = 6.4 at 0.95."""
    omega = 10.0
    for paper, limit in ((("dampers",), 2 * (np.sqrt(1 + zeta**2) - zeta)), ((), 2.0)):
        assert not _grows(omega, zeta, limit * (1 - 1e-3) / omega, paper)
        assert _grows(omega, zeta, limit * (1 + 1e-3) / omega, paper)


def test_free_body_turns_as_eulers_equations_say_to_second_order() -> None:
    inertia, w0 = np.array([1.0, 2.0, 3.0]), np.array([0.3, 4.0, 0.2])
    exact = _rk4(lambda w: np.cross(inertia * w, w) / inertia, w0, 3.0, 6000)
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        engine = Engine(layout(Multibody("free", (Body("body", 1.0, np.zeros(3), np.diag(inertia)),), gravity=0.0)), h)
        engine.bodies[0, 10:] = w0
        engine.start()
        engine.run(round(3 / h) + 1)
        w = 0.5 * (engine.before[0, 3:] + engine.bodies[0, 10:])
        # The angular velocity at 3 s belongs to the pose before the last tick, half of whose turn is taken back here.
        back = rows.turned(-h * engine.bodies[0, 10:])
        errors.append(float(np.abs((back @ _matrix(engine.x[3:7])).T @ w - exact).max()))
    assert errors[2] < 1e-5
    assert errors[0] / errors[2] > 12


def _matrix(q: Array) -> Array:
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip


@pytest.mark.parametrize("spin", [0.0, 20.0, 200.0])
def test_spinning_top_precesses_and_nods_as_eulers_equations_say(spin: float) -> None:
    """Heavy symmetric top on a ball joint; Euler's equations about the fixed point, in body axes.

    Leapfrog turns an oscillation of w by w (w h)^2 / 24 too far per second (Hairer, Lubich, Wanner 2003, "Geometric
    numerical integration illustrated by the Stoermer-Verlet method"): the spin is the largest of its rates, beside
    the swing on its arm.
    """
    mass, arm, across, along = 2.0, 0.3, 0.05, 0.02
    about = across + mass * arm**2
    inertia = np.array([about, about, along])

    def rate(y: Array) -> Array:  # angular velocity and the upward direction, in body axes
        w, up = y[:3], y[3:]
        moment = np.cross([0, 0, arm], -mass * 9.81 * up)
        return np.concatenate([(moment + np.cross(inertia * w, w)) / inertia, np.cross(up, w)])

    lean = 0.4
    up0 = np.array([np.sin(lean), 0.0, np.cos(lean)])
    exact = _rk4(rate, np.array([0.0, 0, spin, *up0]), 1.0, 2000)[5]
    turn = rows.turned(np.array([0.0, -lean, 0.0]))
    errors = []
    for h in (1e-3, 5e-4):
        body = Body("top", mass, turn @ np.array([0, 0, arm]), turn @ np.diag([across, across, along]) @ turn.T)
        ball = Joint("ball", "ball", 0, GROUND, np.zeros(3), np.zeros(3))
        engine = Engine(layout(Multibody("top", (body,), (ball,))), h)
        engine.bodies[0, 10:] = turn @ np.array([0.0, 0.0, spin])
        engine.start()
        engine.run(round(1 / h))
        errors.append(abs(engine.bodies[0, 2] / arm - exact))
        swing = mass * 9.81 * arm / about * h**2 / 24
        assert errors[-1] < 2 * ((spin * h) ** 2 / 24 + 3 * swing)
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.2)


@pytest.mark.parametrize("ticks", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_active_set_finds_the_solution_that_enumeration_finds_in_ticks_of_random_systems(ticks: int) -> None:
    """Cottle, Pang, Stone 1992; joints, dampers, a motor with a bound, a limit, two tires with friction."""
    r = np.random.default_rng(17)
    done = slid = 0
    while done < ticks:
        model = anything(r)
        try:
            engine = Engine(layout(model, spins=False))
        except LayoutError:
            continue  # more rows than motions
        pose = rows.drawn(model)
        free = np.eye(6 * len(model.bodies))
        jacobian = rows.joints(model, pose)[1]
        free -= np.linalg.pinv(jacobian) @ jacobian
        for _ in range(20):
            v = (free @ r.normal(size=len(free)) * 2).reshape(-1, 6)
            bound, target = float(r.uniform(0, 50)), float(3 * r.normal())
            engine.x[:] = engine.layout.drawn()
            engine.bodies[:, 7:] = v
            engine.motors[:] = [[target, bound]]
            deflections = r.uniform(-0.01, 0.01, (2, 2))
            engine.motion[-4:] = deflections.ravel()
            engine.run(1)
            tick = judge.tick(model, pose, v, engine.tick_length, ((target, bound),), deflections)
            found = engine.bodies[:, 7:].copy()
            moments = (judge.gyroscopic(model, pose, v, engine.tick_length, a) for a in (found, None))
            (expected,) = replace(tick, right=tick.right + next(moments) - next(moments)).solutions()
            assert np.abs(found.ravel() - expected).max() < 2e-6  # gyroscopic moments: where they matter
            slid += int(np.hypot(*engine.forces[:, :2].T).max() > 1.0)
            assert engine.x[-2] == 0  # settled
            done += 1
    assert slid > ticks / 2


def _bumpy(speed: float = 8.0, friction: float = 0.8, spins: bool = True) -> Engine:
    model = cart(friction=friction)
    engine = Engine(layout(model, spins=spins, wheel_motors=spins, road=[Piece(3.0, 0.06, length=1.0)]))
    engine.bodies[:, 7] = speed
    for s, k in enumerate(engine.layout.spins):
        engine.x[13 * len(engine.bodies) + 2 * s + 1] = speed / model.wheels[k].centre[2]
    if not spins:
        for w in model.wheels:
            engine.bodies[w.body, 11] = speed / w.centre[2]
    engine.start()
    return engine


def test_state_copied_in_the_middle_of_a_bump_goes_on_bit_for_bit() -> None:
    first, second = _bumpy(), _bumpy()
    first.motors[:2] = [30.0, 500.0]
    second.motors[:] = first.motors
    first.run(250)
    assert np.ptp(first.forces[:, 2]) > 1000  # on the bump
    second.x[:] = 0
    second.motion[:] = first.motion
    first.run(10_000)
    second.run(10_000)
    assert np.array_equal(first.motion, second.motion)


def test_wheel_as_a_turn_rate_of_its_carrier_moves_as_a_wheel_on_a_hinge() -> None:
    with_spins, with_hinges = _bumpy(), _bumpy(spins=False)
    assert len(with_spins.bodies) == 5
    assert len(with_hinges.bodies) == 9
    a = with_spins.run(1500, [0, 1, 2])
    b = with_hinges.run(1500, [0, 1, 2])
    assert a[-1, 0] > 10
    np.testing.assert_allclose(a, b, atol=2e-5)


def test_drawn_vehicle_stands_still() -> None:
    model = cart()
    engine = Engine(layout(model))
    engine.start()
    before = engine.bodies[:, :3].copy()
    engine.run(5000)
    assert np.abs(engine.bodies[:, :3] - before).max() < 1e-9
    np.testing.assert_allclose(engine.forces[:, 2], [w.load for w in model.wheels], rtol=1e-6)


@pytest.mark.parametrize("shaken", [False, True])
def test_vehicle_parked_on_30_percent_stays_where_it_is(shaken: bool) -> None:
    engine = Engine(layout(cart(), wheel_motors=True))
    angle = np.arctan(0.3)
    engine.numbers[:3] = 9.81 * np.array([-np.sin(angle), 0.0, -np.cos(angle)])
    engine.motors[:, 1] = 12e3
    engine.start()
    engine.run(10_000)
    x = engine.bodies[0, 0]
    assert x > -0.1
    weight = engine.numbers[:3].copy()
    for k in range(600):
        if shaken:  # 5 Hz, 2 m/s^2 along and up
            engine.numbers[:3] = weight + 2.0 * np.sin(2 * np.pi * 5 * 0.1 * (k % 2 + 0.25)) * np.array([1, 0, 1])
        engine.run(100)
    engine.numbers[:3] = weight
    engine.run(5000)
    assert abs(engine.bodies[0, 0] - x) < 1e-3


def test_wheels_of_one_rigid_axle_without_stiffness_along_the_ground_are_refused() -> None:
    """The paper's friction rows: left and right are the same row."""
    with pytest.raises(LayoutError, match="depend on others; expected regularized > 0"):
        layout(cart(), rigid=True)
    engine = Engine(layout(cart(), rigid=True, regularized=1e-6))
    engine.start()
    engine.run(500)
    assert np.isfinite(engine.x).all()


def test_modes_of_the_tick_are_those_of_lagranges_equations() -> None:
    """architecture-abstraction, section 7: 10 coordinates, exact potential; the tick's are (w h)^2 / 24 higher."""
    for gravity, expected in (
        (0.0, [1.186688, 1.638631, 1.722556, 10.527245, 10.539027, 12.076625, 12.079649]),
        (9.81, [1.184086, 1.496418, 1.696045, 10.527188, 10.539011, 12.076599, 12.079644]),
    ):
        for h in (1e-3, 2.5e-4):
            engine = Engine(layout(frame4(gravity)), h)
            engine.start()

            def tick(x: Array, engine: Engine = engine) -> Array:
                engine.motion[:] = x
                engine.run(1)
                return engine.motion.copy()

            found = [m.frequency for m in modes(step_map(tick, engine.motion.copy(), 5, 0), h)]
            higher = (2 * np.pi * np.array(expected) * h) ** 2 / 24
            np.testing.assert_allclose(found, np.array(expected) * (1 + higher), rtol=2e-6)
            if h < 1e-3:
                np.testing.assert_allclose(found[:3], expected[:3], rtol=1e-5)


def test_spring_beyond_its_step_limit_ends_in_a_fault_that_names_its_body() -> None:
    engine = Engine(layout(oscillator(5000.0, 0.0)))
    engine.bodies[0, 2] += 1e-3
    with pytest.raises(EngineFault, match="the motion of mass is not finite"):
        engine.run(100_000)


def test_road_that_steps_up_under_a_resting_wheel_ends_in_a_fault_that_names_it() -> None:
    engine = Engine(layout(cart()).with_road([Piece(1.59, 100.0, order=1)]))
    with pytest.raises(EngineFault, match="wheel wheel0 is .* m below the road"):
        engine.start()


def test_active_set_that_does_not_settle_ends_in_a_fault_that_names_the_wheel() -> None:
    """A spinning body that strikes with rigid contacts at a friction of 5: there may be no solution (Painleve 1895)."""
    engine = Engine(layout(anything(np.random.default_rng(57)), spins=False, rigid=True, regularized=1e-6), 1e-2)
    engine.start()
    engine.friction[:], engine.motors[:] = 5.0, [[30.0, 5e3]]
    with pytest.raises(EngineFault, match="what wheel wheel1 does has not settled for 10 ticks"):
        engine.run(300)
    assert np.isfinite(engine.x).all()


@pytest.mark.parametrize("axis", [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
@pytest.mark.parametrize("kind", ["slider", "hinge", "line", "ball"])
def test_joint_with_the_ground_along_an_axis_of_the_world_has_its_pivots(kind: str, axis: list[float]) -> None:
    """Its rows have zeros at every pose, which must be the zeros of the pattern."""
    joint = Joint("joint", kind, 0, GROUND, np.zeros(3), np.zeros(3), np.array(axis))
    engine = Engine(layout(Multibody("one", (Body("body", 100.0, np.zeros(3), np.eye(3)),), (joint,))))
    engine.start()
    engine.run(100)
    falls = 0.5 * 9.81 * 0.1**2 if axis[2] and kind in ("slider", "line") else 0.0
    assert engine.bodies[0, 2] == pytest.approx(-falls, abs=1e-9)


def test_more_bodies_than_the_engine_has_room_for_are_refused() -> None:
    bodies = tuple(Body(f"body{k}", 1.0, np.zeros(3), np.eye(3)) for k in range(65))
    with pytest.raises(LayoutError, match="65 bodies and 0 rows; expected at most 64 and 512"):
        layout(Multibody("many", bodies))


def test_mass_ratio_of_a_million_is_solved() -> None:
    model = pendulum()
    heavy = Body("heavy", 1e6, model.bodies[0].com * 2, 1e6 * np.eye(3))
    ball = Joint("ball", "ball", 1, 0, heavy.com, heavy.com)
    engine = Engine(layout(replace(model, bodies=(*model.bodies, heavy), joints=(*model.joints, ball))))
    engine.start()
    engine.run(3000)
    assert engine.closure < 1e-6
    assert abs(np.linalg.norm(engine.bodies[0, :3]) - 1) < 1e-6


def test_motor_turns_at_its_target_or_pushes_with_its_bound() -> None:
    model = cart()
    engine = Engine(layout(model, wheel_motors=True))
    engine.numbers[2] = 0.0  # no weight, no contact
    engine.bodies[:, 2] += 1.0
    engine.motors[0] = [5.0, 18.0]
    engine.run(100)
    spin = engine.x[13 * len(engine.bodies) :].reshape(-1)[5]
    assert spin == pytest.approx(18.0 / 1.8 * 0.1, rel=1e-3)
    engine.run(900)
    spin = engine.x[13 * len(engine.bodies) :].reshape(-1)[5]
    assert spin - engine.bodies[3, 11] == pytest.approx(5.0, abs=1e-6)


def test_wheel_over_a_narrow_dip_stands_on_both_of_its_edges() -> None:
    """A dip 0.3 m wide with sides of slope 1: each edge pushes with the tire's stiffness towards the wheel's centre."""
    model = cart(friction=0.0)
    edges = 1.45, 1.75
    road = [Piece(edges[0], -1.0, 1), Piece(1.6, 2.0, 1), Piece(edges[1], -1.0, 1)]
    engine = Engine(layout(model).with_road(road))
    engine.start()
    engine.run(500)
    for _ in range(10):
        centre = engine.bodies[1, [0, 2]].copy()
        engine.run(1)
        ways = [centre - [edge, 0.0] for edge in edges]
        deep = [model.wheels[0].radius - np.hypot(*way) for way in ways]
        push = sum(2e5 * d * way / np.hypot(*way) for d, way in zip(deep, ways, strict=True))
        assert min(deep) > 0.01
        assert engine.forces[0, 2] == pytest.approx(np.hypot(*push), rel=0.01)  # and a little of its damper
        engine.run(99)
        assert abs(engine.bodies[1, 0] - 1.6) < 0.005  # rocks in the dip without friction
