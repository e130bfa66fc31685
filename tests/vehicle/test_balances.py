"""Energy, momentum and power of the whole vehicle, from the functions that are emitted (`chain`).

Energies and momenta of trajectories are measured body by body on the maximal-coordinate system, which shares no code
with the model; the spring energy on the force table itself.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from chain import BALANCE, STATES, WHEELS, Chain, inputs, part, state
from numpy.typing import NDArray

from jounce.axles import AXLES, CORNERS
from jounce.data import Vehicle, load_vehicle
from jounce.reference import kkt
from jounce.reference.kkt_geometry import BODIES, body

Array = NDArray[np.float64]
HMMWV = load_vehicle("hmmwv")
NO_SHOCKS = {f"{a}.shock.{k}": 0.0 for a in AXLES
             for k in ("rebound", "compression", "bump_rebound", "bump_compression", "end_stiffness", "end_damping")}
# A linear spring that is at rest in the design position: no knot of the table and no stop within +-0.2 rad.
SMOOTH = {f"{a}.spring.{k}": v for a, length in zip(AXLES, (0.2465, 0.306), strict=True)
          for k, v in (("k3", 0.0), ("rest_length", length))}  # fmt: skip
# the same coefficient in both directions: no kink
LINEAR_SHOCKS = {f"{a}.shock.{k}": 8e3 for a in AXLES
                 for k in ("rebound", "compression", "bump_rebound", "bump_compression")}  # fmt: skip


def minimal(x: Array, arm: tuple[float, float, float], ratio: float) -> kkt.Minimal:
    names = ("position", "quaternion", "theta", "spin", "theta_rate", "spin_rate")
    return kkt.Minimal(
        **{n: part(x, n) for n in names}, angular_velocity=part(x, "angular"), linear_velocity=part(x, "linear"),
        steering_angle=ratio * arm[0], steering_rate=ratio * arm[1], steering_acceleration=ratio * arm[2],
    )  # fmt: skip


def bodies(vehicle: Vehicle, x: Array, arm: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> kkt.State:
    return kkt.state_from_minimal(vehicle, minimal(x, arm, vehicle["steering_ratio"]))


def spring_energy(vehicle: Vehicle, axle: str, length: float) -> float:
    """Work [J] against the spring's table from its rest length and against the stops from their contacts."""
    n = {k: vehicle[f"{axle}.spring.{k}"] for k in ("k1", "k3", "table_step", "rest_length", "preload", "min_length",
                                                    "max_length")}  # fmt: skip
    depth, stop = (np.array([vehicle[f"{axle}.stop.{k}.{i}"] for i in range(11)]) for k in ("depth", "force"))
    d = n["table_step"] * np.arange(-20, 21)
    return (
        _work(n["rest_length"], length, n["rest_length"] + d, n["preload"] - n["k1"] * d - n["k3"] * d**3)
        + _work(n["min_length"], length, (n["min_length"] - depth)[::-1], stop[::-1])
        + _work(n["max_length"], length, n["max_length"] + depth, -stop)
    )


def _work(start: float, end: float, lengths: Array, forces: Array) -> float:
    """Minus the integral of the piecewise-linear force, exactly."""
    path = np.sort([start, end, *lengths[(lengths > min(start, end)) & (lengths < max(start, end))]])
    force = np.interp(path, lengths, forces)
    return float(-0.5 * (force[1:] + force[:-1]) @ np.diff(path)) * (1.0 if end > start else -1.0)


def potential(vehicle: Vehicle, s: kkt.State, gravity: float) -> float:
    """Gravity and springs [J]."""
    total = gravity * float(s.design.mass @ s.com[:, 2])
    for c, corner in enumerate(s.design.corners):
        p = corner.points
        length = np.linalg.norm(s.point(0, p["SPRING_C"]) - s.point(body(c, "LCA"), p["SPRING_A"]))
        total += spring_energy(vehicle, CORNERS[c][0], float(length))
    return total


def momentum(s: kkt.State) -> Array:
    """(6,) linear [N.s] and angular [N.m.s] about the world's origin; the axle-shaft rotors react on the uprights."""
    angular = sum((s.inertia(i) @ s.w[i] for i in range(BODIES)), np.zeros(3))
    moments = np.cross(s.com, s.design.mass[:, None] * s.v).sum(axis=0)
    return np.concatenate([s.design.mass @ s.v, angular + moments])


def moving(seed: int, theta: float = 0.0, theta_rate: float = 5.0) -> Array:
    """A state in the air with everything moving."""
    r = np.random.default_rng(seed)
    q = r.normal(size=4)
    return state(
        quaternion=q / np.linalg.norm(q), theta=theta + 0.02 * r.normal(size=4), angular=0.5 * r.normal(size=3),
        linear=r.normal(size=3), theta_rate=theta_rate * r.uniform(-1, 1, 4), spin_rate=10 * r.normal(size=4),
    )  # fmt: skip


def rolling(seed: int) -> tuple[Array, Array]:
    """(state, inputs) with all tires on the ground, everything moving, every load acting."""
    r = np.random.default_rng(seed)
    q = np.array([1.0, *(0.004 * r.normal(size=2)), r.normal()])
    x = state(
        position=[*r.normal(size=2), 0.42], quaternion=q / np.linalg.norm(q), theta=r.uniform(-0.05, 0.05, 4),
        spin=r.uniform(-3, 3, 4), angular=0.5 * r.normal(size=3), linear=[10 * r.normal(), *r.normal(size=2)],
        theta_rate=2 * r.normal(size=4), spin_rate=20 * r.normal(size=4), bristle=1e-3 * r.normal(size=8),
        wind_up=1e-3 * r.normal(size=4),
    )  # fmt: skip
    u = inputs(arm=[r.uniform(-0.5, 0.5), 0.8 * r.normal(), 4 * r.normal()], drive=500 * r.normal(size=4),
               brake=r.uniform(0, 3000, 4), height=0.0, gravity=9.81, wrench=500 * r.normal(size=6))  # fmt: skip
    return x, u


@pytest.fixture(scope="module")
def chain() -> Chain:
    return Chain(HMMWV)


def _evaluated(chain: Chain, x: Array, u: Array) -> tuple[dict[str, float], dict[str, Array]]:
    _, balance, wheels = chain.f(x, u)
    told = {n: np.array(wheels)[at : at + WHEELS.sizes[n]].T for n, at in WHEELS.first.items()}
    return dict(zip(BALANCE.sizes, np.array(balance).ravel(), strict=True)), told


@pytest.mark.slow(but=("[0]", "[1]"))
@pytest.mark.parametrize("seed", range(8))
def test_reported_energies_and_steering_load_are_those_of_the_maximal_coordinate_system(
    chain: Chain, seed: int
) -> None:
    x, u = rolling(seed)
    ours, told = _evaluated(chain, x, u)
    s = bodies(HMMWV, x, (u[0], u[1], u[2]))
    loads = kkt.Loads(
        wheel_force=told["force"], wheel_moment=told["moment"], spring=told["spring"][:, 0], shock=told["shock"][:, 0],
        brake=told["brake"][:, 0], drive=u[3:7], chassis_moment=s.chassis @ u[-6:-3], chassis_force=s.chassis @ u[-3:],
    )  # fmt: skip
    assert np.all(told["force"][:, 2] > 0.0)
    assert ours["kinetic"] == pytest.approx(s.kinetic_energy(), rel=1e-11)
    assert ours["potential"] == pytest.approx(potential(HMMWV, s, 9.81), rel=1e-11)
    load = float(kkt.solve(s, loads)["steering_load_torque"])
    assert ours["steering_load"] == pytest.approx(load, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_energy_changes_by_the_power_of_tires_shocks_torques_steering_and_external_loads(
    chain: Chain, seed: int
) -> None:
    ours, _ = _evaluated(chain, *rolling(seed))
    powers = {n: ours[n] for n in ("tires", "shocks", "drives", "brakes", "steering", "external")}
    assert all(abs(p) > 0.1 for p in powers.values())
    assert ours["shocks"] < 0.0
    assert ours["energy_rate"] == pytest.approx(sum(powers.values()), abs=1e-11 * sum(map(abs, powers.values())))


def _drift(vehicle: Vehicle, x: Array, start: float) -> float:
    """Largest change of kinetic and potential energy [J] over a trajectory, at some of its states."""
    at = np.linspace(0, len(x) - 1, 5).astype(int)[1:]
    energy = []
    for state_ in x[at]:
        s = bodies(vehicle, state_)
        energy.append(s.kinetic_energy() + potential(vehicle, s, 9.81))
    return float(np.abs(np.array(energy) - start).max())


@pytest.mark.slow
def test_energy_of_springs_alone_drifts_by_less_than_the_stated_3e_10_and_with_the_fourth_order() -> None:
    vehicle = HMMWV.replaced({**NO_SHOCKS, **SMOOTH})
    chain, start = Chain(vehicle), moving(1, theta_rate=1.2)
    s, stiff = bodies(vehicle, start), start.copy()
    stiff[STATES.first["theta_rate"] :][:4] = 0.0
    first = s.kinetic_energy() + potential(vehicle, s, 9.81)
    drift = {}
    for step in (8e-3, 4e-3, 1e-3):
        x, _ = chain.integrate(start, step, round(5.0 / step), inputs(gravity=9.81))
        drift[step] = _drift(vehicle, x, first)
    assert drift[1e-3] < 3e-10 * s.kinetic_energy()
    assert drift[1e-3] < 1e-7 * (s.kinetic_energy() - bodies(vehicle, stiff).kinetic_energy())
    assert drift[8e-3] > 15.0 * drift[4e-3] > 15.0**3 * drift[1e-3] > 0.0
    assert np.abs(part(x.T, "theta")).max() > 0.03


def test_energy_with_the_datas_kinked_springs_and_rebound_stops_drifts_by_less_than_a_millionth() -> None:
    vehicle = HMMWV.replaced(NO_SHOCKS)
    start = moving(1, theta=-0.35, theta_rate=1.0)  # springs and rebound stops balance there
    s = bodies(vehicle, start)
    first = s.kinetic_energy() + potential(vehicle, s, 9.81)
    x, _ = Chain(vehicle).integrate(start, 1e-3, 2000, inputs(gravity=9.81))
    assert _drift(vehicle, x, first) < 1e-6 * s.kinetic_energy()
    assert part(x.T, "theta").min() < -0.37 and part(x.T, "theta").max() > -0.3


def test_energy_grows_by_the_work_of_the_steering_rig_with_the_fourth_order() -> None:
    vehicle = HMMWV.replaced({**NO_SHOCKS, **SMOOTH})
    chain, start = Chain(vehicle), moving(2, theta_rate=2.0)

    def energy(x: Array, t: float) -> float:
        s = bodies(vehicle, x, (0.4 * np.sin(4 * t), 1.6 * np.cos(4 * t), -6.4 * np.sin(4 * t)))
        return s.kinetic_energy() + potential(vehicle, s, 9.81)

    error = {}
    for step in (4e-3, 2e-3, 1e-3):
        n = round(1.2 / step)
        x, work = chain.integrate(start, step, n, inputs(gravity=9.81), lambda t: 0.4 * ca.sin(4 * t))
        error[step] = max(abs(energy(x[i], i * step) - energy(x[0], 0.0) - work[i]) for i in (n // 3, 2 * n // 3, n))
    assert np.ptp(work) > 10.0
    assert error[1e-3] < 1e-7 * np.ptp(work)
    assert error[4e-3] > 14.0 * error[2e-3] > 14.0**2 * error[1e-3] > 0.0


def test_momentum_of_the_free_vehicle_stays_with_the_fourth_order() -> None:
    # springs, shocks, steering and drive torques act within the vehicle
    vehicle = HMMWV.replaced({**LINEAR_SHOCKS, **SMOOTH})
    chain, start = Chain(vehicle), moving(3)
    at_start = momentum(bodies(vehicle, start, (0.0, 1.6, 0.0)))
    error = {}
    for step in (4e-3, 2e-3, 1e-3):
        x, _ = chain.integrate(start, step, round(1.0 / step), inputs(drive=[100.0, -50.0, 80.0, 20.0]),
                               lambda t: 0.4 * ca.sin(4 * t))  # fmt: skip
        end = momentum(bodies(vehicle, x[-1], (0.4 * np.sin(4.0), 1.6 * np.cos(4.0), 0.0)))
        error[step] = np.array([np.linalg.norm((end - at_start)[:3]), np.linalg.norm((end - at_start)[3:])])
    scale = np.array([np.linalg.norm(at_start[:3]), np.linalg.norm(at_start[3:])])
    assert np.all(error[1e-3] < [1e-8, 1e-8] * scale)
    for coarse, fine in ((4e-3, 2e-3), (2e-3, 1e-3)):
        assert np.all(error[coarse] > 14.0 * error[fine])
