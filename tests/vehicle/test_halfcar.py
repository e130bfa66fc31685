"""The half car: its equations against other formulations, its laws against enumeration, runs against a prototype's."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from halfcar import ALL_ROLL, CAR, FACTORY, NUMBER, RADIUS, Array, at, put, random_motion, simulate, system

import jounce
from jounce.models.halfcar.equations import AXLES
from jounce.models.halfcar.signals import TRACTION
from jounce.reference.halfcar_prints import in_null_space, parts, rest, udwadia_kalaba, with_multipliers
from jounce_fmu.importer.linear import Exchange, read_states


@pytest.fixture
def exchange(request: pytest.FixtureRequest) -> Iterator[Exchange]:
    with Exchange(FACTORY.library, FACTORY.interface, "halfcar") as made:
        made.setup({"profile": "EXTERNAL", **request.param})
        yield made


# ---- equations ------------------------------------------------------------------------------------------------------


def test_at_rest_the_wheels_bear_what_statics_says() -> None:
    """Moments about the rear contact: 3737.61 N at the common centre of mass."""
    r = simulate(1.0, torque_max=0.0, **{"bearing.coefficient": 0.0})
    for time in (0, -1):
        assert r["front.normal_force"][time] == pytest.approx(1383.5761, abs=1e-3)
        assert r["rear.normal_force"][time] == pytest.approx(2354.0339, abs=1e-3)
        assert r["pos.z"][time] == pytest.approx(0.421010, abs=1e-6)
    assert abs(r["speed"]).max() < 1e-9


def test_a_car_of_other_numbers_starts_at_rest_on_its_springs() -> None:
    r = simulate(2.0, torque_max=0.0, **{"chassis.mass": 500.0, "chassis.com.x": 0.5, "front.pivot.z": 0.05})
    for name in ("pos.z", "pitch", "front.strut_force"):
        assert np.ptp(r[name]) < 1e-7 * (1 + abs(r[name][0]))
    assert r["closure_residual"].max() < 1e-12


def test_udwadia_and_kalaba_give_what_multipliers_and_the_null_space_give() -> None:
    rng, f = np.random.default_rng(1), parts()
    for _ in range(50):
        q, v = random_motion(rng)
        mass, forces, rows, b = (np.array(p) for p in f(q, v, rng.uniform(-300, 300, 2), NUMBER))
        forces, b = forces.ravel(), b.ravel()
        ideal, _ = udwadia_kalaba(mass, forces, rows, b, ALL_ROLL, np.zeros(7))
        ours = np.linalg.solve(mass, forces + ideal)
        for other in (with_multipliers(mass, forces, rows, b), in_null_space(mass, forces, rows, b)):
            assert ours == pytest.approx(other, abs=1e-12 * abs(other).max())


def test_the_relaxed_law_in_closed_form_is_the_papers_equation_9() -> None:
    """X = M^-1/2 ((N^1/2)^+ A M^-1/2)^+ N^1/2 is M^-1 A^T D^-1 N: no pseudo-inverse is needed."""
    rng, f = np.random.default_rng(2), parts()
    for _ in range(50):
        q, v = random_motion(rng)
        mass, forces, rows, b = (np.array(p) for p in f(q, v, rng.uniform(-300, 300, 2), NUMBER))
        forces, b = forces.ravel(), b.ravel()
        weights = np.array([rng.uniform(0.01, 1), 1, rng.uniform(0.01, 1), 1])
        f_ground = np.array([rng.normal() * 300, 0, rng.normal() * 300, 0])
        ideal, other = udwadia_kalaba(mass, forces, rows, b, weights, rows.T @ f_ground)
        by = np.linalg.solve(mass, rows.T)
        d, rho = rows @ by, b - rows @ np.linalg.solve(mass, forces)
        reaction = np.linalg.solve(d, weights * (rho - d @ f_ground))
        assert ideal + other == pytest.approx(rows.T @ (reaction + f_ground), abs=1e-11 * abs(ideal).max())


@pytest.mark.parametrize("exchange", [{"traction": "ROLLING"}], indirect=True)
def test_the_compiled_car_has_the_accelerations_of_the_equations(exchange: Exchange) -> None:
    rng, f = np.random.default_rng(3), parts()
    for _ in range(20):
        q, v = random_motion(rng)
        put(exchange, q, v, (200.0, 0.0, 0.0), 0.8)
        mass, forces, rows, b = (np.array(p) for p in f(q, v, [0, 200.0], NUMBER))
        wanted = with_multipliers(mass, forces.ravel(), rows, b.ravel())
        assert exchange.get_rates()[7:14] == pytest.approx(wanted, abs=1e-12 * abs(wanted).max())


def test_without_losses_a_rolling_car_keeps_its_energy() -> None:
    lossy = ("front.damper.damping", "rear.damper.damping", "air.density", "bearing.coefficient")
    free: dict[str, Any] = {"traction": "ROLLING", "profile": "EXTERNAL"} | dict.fromkeys(lossy, 0.0)
    pushed = {"motor_torque": ([0.0, 0.5], [600.0, 0.0])}
    for tick, allowed in ((0.001, 1e-11), (0.002, 3e-10)):
        r = jounce.simulate("halfcar", pushed, 10.0, hold=True, tick=tick, **free)
        after = r.time > 0.6
        energy = (r["energy.kinetic"] + r["energy.potential"])[after]
        assert np.ptp(r["pitch"][after]) > 0.002
        assert np.ptp(energy) < allowed * r["energy.kinetic"][after].max()


def test_what_the_motor_gives_is_energy_of_the_car_and_heat() -> None:
    """Work of motor, air, bearings and sliding against kinetic and potential energy; the dampers take little of it."""
    r = simulate(6.0, torque_max=550.0)
    w, v = {a: r[f"{a}.omega"] for a in AXLES}, r["speed"]
    power = r["rear.torque"] * w["rear"] - 0.36 * abs(v) ** 3
    power = power - sum(CAR["bearing.coefficient"] * abs(w[a]) ** 3 for a in AXLES)
    power = power - sum(r[f"{a}.traction"] * (w[a] * RADIUS - v) for a in AXLES)
    energy = r["energy.kinetic"] + r["energy.potential"]
    done = float(np.sum(power[1:] + power[:-1]) * 0.0005)
    assert done > 1e5
    assert energy[-1] - energy[0] == pytest.approx(done, rel=1e-3)


# ---- laws -----------------------------------------------------------------------------------------------------------


def nine_cases(d: Array, rho: Array, mu: float) -> Array:
    """Forces of the ground by trying each wheel sticking, sliding forward, sliding back."""
    for signs in itertools.product((0, 1, -1), repeat=2):
        a, b = d.copy(), rho.copy()
        for row, sign in zip((0, 2), signs, strict=True):
            if sign:
                a[row], b[row] = 0.0, 0.0
                a[row, row], a[row, row + 1] = 1.0, -sign * mu
        found = np.linalg.solve(a, b)
        if min(found[1], found[3]) < 0.0:
            continue
        rest_of_rows = rho - d @ found
        good = [abs(found[k]) <= mu * found[k + 1] * (1 + 1e-12) if not s else s * rest_of_rows[k] >= 0
                for k, s in zip((0, 2), signs, strict=True)]  # fmt: skip
        if all(good):
            return np.array(found)
    raise AssertionError("no case holds")


@pytest.mark.parametrize("exchange", [{"traction": "SATURATED", "saturation_order": 0}], indirect=True)
def test_the_clipped_law_is_the_one_of_nine_cases_that_holds(exchange: Exchange) -> None:
    rng, f = np.random.default_rng(4), parts()
    seen = set()
    for _ in range(300):
        q, v = random_motion(rng)
        v[2:7] *= 0.2
        v[4:6] = v[0] / RADIUS + rng.normal(size=2) * 20
        torque, brakes, mu = rng.uniform(-800, 800), rng.uniform(0, 600, 2), rng.uniform(0.05, 1.0)
        shown = put(exchange, q, v, (torque, *brakes), mu)
        mass, forces, rows, b = (np.array(p) for p in f(q, v, [shown["front.torque"], shown["rear.torque"]], NUMBER))
        by = np.linalg.solve(mass, rows.T)
        d, rho = rows @ by, b.ravel() - rows @ np.linalg.solve(mass, forces.ravel())
        if min(shown["front.normal_force"], shown["rear.normal_force"]) < 1.0:
            continue
        wanted = nine_cases(d, rho, mu)
        ours = [shown[f"{a}.{n}"] for a in AXLES for n in ("traction", "normal_force")]
        assert ours == pytest.approx(wanted, abs=1e-8)
        seen.add(tuple(np.sign(np.round(wanted[k] / (mu * wanted[k + 1]), 9) // 1.0) for k in (0, 2)))
    assert len(seen) > 2


@pytest.mark.parametrize("order", [1, 2, 4, 8, 16])
def test_a_smooth_saturation_solves_its_own_equation(order: int) -> None:
    """lambda = mu N u / (1 + |u|^p)^(1/p), u = demand / (mu N), with the demand that the outputs' weight tells."""
    r = simulate(6.0, torque_max=550.0, saturation_order=order)
    for a in AXLES:
        traction, limit, weight = (r[f"{a}.{n}"][10:] for n in ("traction", "limit", "weight"))
        u = traction / weight / limit
        assert traction == pytest.approx(limit * u / (1 + abs(u) ** order) ** (1 / order), abs=1e-7)
        assert (abs(traction) <= limit * (1 + 1e-12)).all()


#: law, T_max, order, time of the last speed: slip at 5 and 15 s, speed at 5, 15 s and at the end, force over mu N.
REFERENCE = [
    ("RELAXED", 150, 0, 0.277, 2.498, 7.068, 20.444, 26.567, 1.589),
    ("RELAXED", 550, 0, 5.227, 2364.0, 25.227, 54.184, None, 3.914),
    ("RELAXED", 700, 0, 10.532, 4710.3, 31.787, 58.061, None, 2.892),
    ("CONTINUOUS", 150, 0, 0.608, 8.10, 7.067, 20.428, 26.569, 1.589),
    ("CONTINUOUS", 550, 0, 8.475, 3098.4, 25.217, 51.683, None, 3.275),
    ("CONTINUOUS", 700, 0, 19.499, 5565.7, 31.761, 54.472, None, 2.699),
    ("SATURATED", 150, 0, 0.000, 556.75, 7.069, 18.723, 26.693, 1.000),
    ("SATURATED", 550, 0, 149.958, 5924.37, 24.772, 37.345, 57.085, 1.000),
    ("SATURATED", 700, 0, 1600.286, 7315.93, 26.726, 38.402, 57.565, 1.000),
    ("SATURATED", 150, 8, 0.001, 562.8, 7.069, 18.705, 26.693, None),
    ("SATURATED", 550, 8, 188.4, 5930.2, 24.656, 37.283, 57.066, None),
    ("SATURATED", 700, 8, 1619.1, 7316.9, 26.661, 38.367, 57.555, None),
    ("SATURATED", 150, 4, 0.095, 572.8, 7.068, 18.675, 26.692, None),
    ("SATURATED", 550, 4, 251.6, 5939.6, 24.466, 37.179, 57.035, None),
    ("SATURATED", 700, 4, 1654.4, 7318.7, 26.537, 38.302, 57.536, None),
    ("ROLLING", 150, 0, 0.0, 0.0, 7.069, 20.451, 26.565, 1.59),
    ("ROLLING", 550, 0, 0.0, 0.0, 25.242, 61.206, 71.094, 5.08),
    ("ROLLING", 700, 0, 0.0, 0.0, 31.818, 73.174, 82.124, 6.14),
]


@pytest.mark.slow(but=("550-0", "150-8"))
@pytest.mark.parametrize(("law", "torque", "order", "slip5", "slip15", "v5", "v15", "v30", "over"), REFERENCE)
def test_runs_are_those_of_an_independent_prototype(
    law: str, torque: float, order: int, slip5: float, slip15: float, v5: float, v15: float, v30: float | None,
    over: float | None,
) -> None:  # fmt: skip
    """Numbers of a prototype in hand-written C, confirmed there by LSODA."""
    end = 16.5 if v30 is None else 30.0
    r = simulate(end, traction=law, torque_max=float(torque), saturation_order=order)
    found = [at(r, "rear.slip", 5), at(r, "rear.slip", 15), at(r, "speed", 5), at(r, "speed", 15)]
    assert found == pytest.approx([slip5, slip15, v5, v15], rel=1e-3, abs=6e-4)
    if v30 is not None:
        assert r["speed"][-1] == pytest.approx(v30, rel=1e-4)
    if over is not None:
        during = (r.time > 0.05) & (r.time < 16.405)
        most = max(float((abs(r[f"{a}.traction"]) / r[f"{a}.limit"])[during].max()) for a in AXLES)
        assert most == pytest.approx(over, rel=4e-3)


def test_the_clipped_law_does_not_depend_on_the_tick_nor_on_gamma() -> None:
    for tick in (0.00025, 0.001, 0.002):
        r = simulate(30.0, torque_max=550.0, tick=tick)
        assert r["speed"][-1] == pytest.approx(57.0846, abs=1e-4)
        assert at(r, "rear.slip", 15) == pytest.approx(5924.37, abs=0.05)
    for gamma in (100.0, 2000.0):
        r = simulate(15.0, torque_max=550.0, gamma=gamma)
        assert [at(r, "rear.slip", t) for t in (5, 15)] == pytest.approx([149.958, 5924.37], rel=1e-5)


@pytest.mark.parametrize(("law", "order", "gamma", "slip5", "slip15"), [
    ("RELAXED", 0, 100, 2.432, (732, 807)), ("RELAXED", 0, 200, 1.578, (370, 439)),
    ("RELAXED", 0, 2000, 0.227, (33, 37.4)), ("CONTINUOUS", 0, 100, 3.099, None),
    ("CONTINUOUS", 0, 200, 1.968, None), ("CONTINUOUS", 0, 2000, 0.280, None),
    ("SATURATED", 8, 100, 160.4, None), ("SATURATED", 8, 2000, 150.7, None),
])  # fmt: skip
def test_gamma_is_a_viscosity_of_the_relaxed_laws(
    law: str, order: int, gamma: float, slip5: float, slip15: tuple[float, float] | None
) -> None:
    r = simulate(15.0, torque_max=550.0, traction=law, saturation_order=order, gamma=float(gamma))
    assert at(r, "rear.slip", 5) == pytest.approx(slip5, rel=1e-3, abs=6e-4)
    if slip15:
        assert slip15[0] * 0.999 < at(r, "rear.slip", 15) < slip15[1]


def test_the_lag_of_the_loads_does_not_matter() -> None:
    slips = [at(simulate(15.0, torque_max=550.0, traction="RELAXED", traction__tau_N=tau), "rear.slip", 15)
             for tau in (0.002, 0.005, 0.02, 0.05)]  # fmt: skip
    assert slips == pytest.approx([2364.06, 2363.97, 2363.49, 2362.48], abs=0.02)


def _rows_at_rest(torque: float) -> tuple[Array, Array]:
    x = rest()
    mass, forces, rows, b = (np.array(p) for p in parts()(x[:7], x[7:14], [0.0, torque], NUMBER))
    by = np.linalg.solve(mass, rows.T)
    return rows @ by, b.ravel() - rows @ np.linalg.solve(mass, forces.ravel())


def test_the_relaxed_law_jumps_where_its_weight_vanishes_and_the_continuous_one_does_not() -> None:
    """Rest, 550 N.m: force left on the rear row as its weight goes to 0."""
    d, rho = _rows_at_rest(550.0)

    def relaxed(s: float) -> float:
        return float(np.linalg.solve(d, [1.0, 1.0, s * s, 1.0] * rho)[2])

    def continuous(s: float) -> float:
        w = np.array([1.0, 1.0, s, 1.0])
        soft = np.diag(w) @ d @ np.diag(w) + np.diag((1 - w * w) * np.diag(d))
        return float((w * np.linalg.solve(soft, w * rho))[2])

    def dropped(s: float) -> float:
        ideal, _ = udwadia_kalaba(*system(550.0), np.array([1.0, 1.0, s * s, 1.0]), np.zeros(7))
        return float(np.linalg.lstsq(system(550.0)[2].T, ideal, rcond=None)[0][2])

    assert [relaxed(s) for s in (0.25, 0.02, 7e-6, 1e-11)] == pytest.approx([563, 455.8, 455.147, 455.147], rel=3e-3)
    assert dropped(1e-3) == pytest.approx(455.147, rel=1e-3)
    assert dropped(0.0) == pytest.approx(0.0, abs=1e-6)  # Eq. 9 drops the row
    # All of the demand at s = 1, and s^2 of what is left of it near 0.
    assert continuous(1.0) == pytest.approx(relaxed(1.0), rel=1e-9)
    assert continuous(1e-4) / 1e-8 == pytest.approx(continuous(1e-3) / 1e-6, rel=1e-4)
    assert 0.0 < continuous(7e-6) < 1e-6


def test_the_papers_equations_have_several_wheel_loads_in_the_slippery_phase() -> None:
    """Fixed points of the map from the load that weight and friction go by to the load that comes out, at 15.4 s."""
    mu, torque = 0.15 + 0.7 * np.tanh(0.4 / 6) ** 4, 550.0
    with FACTORY.instance("slippery") as instance:
        instance.setup({"traction": "RELAXED", "torque_max": torque})
        instance.step(15400)
        x = read_states(instance)
    q, v = x[:7], x[7:14]
    mass, forces, rows, b = (np.array(p) for p in parts()(q, v, [0.0, torque], NUMBER))
    by = np.linalg.solve(mass, rows.T)
    d, rho = rows @ by, b.ravel() - rows @ np.linalg.solve(mass, forces.ravel())
    sliding = (v[2] + v[5] + v[6]) * RADIUS - v[0]

    def comes_out(rear: float) -> float:
        use = torque / (3 * mu * max(rear, 1.0) * RADIUS)
        friction = np.array([0, 0, mu * rear * np.tanh(3 * use) * np.tanh(sliding), 0])
        weights = np.array([1.0, 1.0, (1 - np.tanh(use) ** 2) ** 2, 1.0])
        return float(np.linalg.solve(d, weights * (rho - d @ friction))[3])

    loads = np.linspace(1.0, 40000.0, 20001)
    fixed = loads[:-1][np.diff(np.sign([comes_out(n) - n for n in loads])) != 0]
    assert len(fixed) == 3
    assert fixed[0] == pytest.approx(x[15], abs=5.0)  # the one that is reached by continuity


@pytest.mark.parametrize("law", TRACTION)
def test_driving_pushes_the_car_forward_and_braking_back(law: str) -> None:
    external = {"profile": "EXTERNAL", "traction": law, "init.speed": 10.0}
    driven = simulate(0.5, {"motor_torque": 200.0}, **external)
    assert driven["rear.traction"][-1] > 100.0 > 1.0 > driven["front.traction"][-1]
    assert driven["speed"][-1] > 10.3
    braked = simulate(0.5, {"brake_torque.front": 200.0, "brake_torque.rear": 100.0}, **external)
    assert max(braked["front.traction"][-1], braked["rear.traction"][-1]) < -100.0
    assert braked["speed"][-1] < 9.7


def test_on_a_stretch_of_ice_the_front_wheel_meets_it_first() -> None:
    r = simulate(8.0, profile="SCHEDULE", torque_max=300.0, **{"mu.position": 30.0, "mu.length": 5.0})
    front, rear = (r.time[np.argmin(r[f"{a}.mu"])] for a in AXLES)
    assert front < rear
    reached = [float(np.interp(t, r.time, r["pos.x"])) for t in (front, rear)]
    assert reached == pytest.approx([30.0 - 1.2, 30.0], abs=0.05)


def test_a_limit_of_the_motors_speed_holds_the_spinning_wheel() -> None:
    r = simulate(16.0, torque_max=700.0, motor_speed_max=300.0)
    assert 250.0 < r["rear.omega"].max() < 300.0
