"""Constraint embedding against the maximal-coordinate judge, and the energy of a mixed vehicle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mixed import Aggregate, Loads, accelerations, runge_kutta
from numpy.typing import NDArray
from suspensions import five_link, hmmwv, macpherson, solid_axle

from jounce.data import load_vehicle
from jounce.dynamics import chebyshev
from jounce.dynamics.mechanism import Mechanism
from jounce.reference import maximal
from jounce.suspension.embedded import problem

Array = NDArray[np.float64]
HMMWV = load_vehicle("hmmwv")
CHASSIS = (1200.0, np.array([0.3, 0.02, 0.4]), np.array([[400.0, 5, -20], [5, 1500.0, 3], [-20, 3, 1600.0]]))
CASES = {
    "macpherson": [(macpherson(), 1), (macpherson(), -1)],
    "solid axle": [(solid_axle(), 1)],
    "five links, one compliant": [(solid_axle(panhard=True, compliant="UL_L"), 1)],
    "steered solid axle": [(solid_axle(steered=True), 1)],
    "five-link": [(five_link(), 1), (five_link(), -1)],
    "five-link with an arm": [(five_link(arm=True), 1)],
    "hmmwv front": [(hmmwv(HMMWV, "front"), 1), (hmmwv(HMMWV, "front"), -1)],
    "hmmwv front, ten coordinates": [(hmmwv(HMMWV, "front", ten=True), 1)],
    "macpherson and solid axle": [(macpherson(), 1), (macpherson(), -1), (solid_axle(), 1)],
}


@pytest.mark.slow(but="[0-")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_accelerations_equal_those_of_the_judge(name: str, seed: int) -> None:
    r = np.random.default_rng(seed)
    omega, gravity = r.normal(size=3), r.normal(size=3) * 5
    aggregates = [Aggregate(m, side) for m, side in CASES[name]]
    parts, terms, loads = [], [], []
    for a in aggregates:
        theta = r.uniform(-0.07, 0.07, a.n)
        rate, spin = r.normal(size=a.n), 20 * r.normal(size=a.wheels)
        inner = a.still.copy()
        if a.mechanism.prescribed:  # moves, and turns a corner
            inner[:3] += r.uniform(-0.02, 0.02, 3)
            inner[3:6] = r.normal(size=3)
            inner[6:9], inner[9:12] = inner[3:6] * r.normal(), 3 * r.normal(size=3)
        u = a.follow(theta, inner)
        t = a.terms(theta, rate, spin, inner, omega, u)
        load = Loads(3000 * r.normal(size=(2, 3)), 200 * r.normal(size=(2, 3)), 300 * r.normal(size=2),
                     300 * r.normal(size=2))  # fmt: skip
        push = {(kind, k): float(lane[f"{kind}_force"][0]) for k, lane in enumerate(t.lanes)
                for kind in ("spring", "shock")}  # fmt: skip
        told = inner[: 12 * len(a.mechanism.prescribed)]
        parts.append(maximal.Part(a.mechanism, theta, rate, spin, told, a.side, push, load.force, load.moment,
                                  load.drive, load.brake))  # fmt: skip
        terms.append(t)
        loads.append(load)
    ours, thetas, spins = accelerations(CHASSIS, omega, aggregates, terms, loads)
    judged = maximal.accelerations(maximal.Chassis(*CHASSIS, omega, gravity), parts)

    def near(mine: Array, his: Array, what: str) -> None:
        assert np.linalg.norm(mine - his) <= 1e-10 * max(1.0, float(np.linalg.norm(his))), what

    near(ours[:3], judged["angular"], "angular")
    near(ours[3:], judged["linear"], "linear")
    for k, t in enumerate(terms):
        near(spins[k], judged["spin"][k], f"spin of {k}")
        for w, lane in enumerate(t.lanes):
            turn = lane["axis"] @ (ours[:3] + t.partial(w, "upright") @ thetas[k]) + lane["axis_bias"]
            near(turn, np.atleast_1d(lane["axis"] @ judged["carrier"][k][w][:3]), f"carrier of {k}")


def _free(mechanism: Mechanism) -> Mechanism:
    """With springs alone, which are nearly at rest in the design position: energy is kept."""
    law = {"rest_length": 0.34, "preload": 0.0}
    springs = (f for f in mechanism.forces if f.kind == "spring")
    return replace(mechanism, forces=tuple(replace(f, law={**f.law, **law}) for f in springs))


class Mixed:
    """A chassis with two MacPherson struts and a solid axle, free in space; x = position, quaternion, velocities in
    chassis axes (angular, linear), then coordinates and rates of each aggregate and its spin rates."""

    def __init__(self) -> None:
        self.aggregates = [Aggregate(_free(macpherson())), Aggregate(_free(macpherson()), -1),
                           Aggregate(_free(solid_axle()))]  # fmt: skip
        self.guesses = [self.fitted(a) for a in self.aggregates]

    @staticmethod
    def fitted(a: Aggregate) -> chebyshev.Guess:
        asked = problem(a.embedding, a.numbers, lambda _s: a.still, None)
        small = chebyshev.Problem(asked.coordinates, asked.dependent, asked.close, asked.probe, (0.2,) * a.n)
        return chebyshev.fit(small)

    def terms(self, x: Array, omega: Array) -> tuple[list, list[Array], list[Array]]:  # type: ignore[type-arg]
        at, found, rates, spins = 13, [], [], []
        for a, guess in zip(self.aggregates, self.guesses, strict=True):
            theta, rate, spin = x[at : at + a.n], x[at + a.n : at + 2 * a.n], x[at + 2 * a.n : at + 2 * a.n + a.wheels]
            u = a.close(guess.at(theta[:, None])[:, 0], theta, a.still)
            found.append(a.terms(theta, rate, spin, a.still, omega, u))
            assert found[-1].lanes[0]["closure"][0] < 1e-13
            rates.append(rate)
            spins.append(spin)
            at += 2 * a.n + a.wheels
        return found, rates, spins

    def rate(self, x: Array) -> Array:
        q, omega, linear = x[3:7], x[7:10], x[10:13]
        terms, rates, _ = self.terms(x, omega)
        a, thetas, spins = accelerations(CHASSIS, omega, self.aggregates, terms)
        dq = 0.5 * np.concatenate([[-q[1:] @ omega], q[0] * omega + np.cross(q[1:], omega)])
        own = [np.concatenate([r, t, s]) for r, t, s in zip(rates, thetas, spins, strict=True)]
        return np.concatenate([turned(q) @ linear, dq, a[:3], a[3:] - np.cross(omega, linear), *own])

    def kinetic(self, x: Array, omega: Array, linear: Array) -> float:
        mass, com, inertia = CHASSIS
        at_com = linear + np.cross(omega, com)
        total = 0.5 * (mass * at_com @ at_com + omega @ inertia @ omega)
        for t in self.terms(x, omega)[0]:
            for lane in t.lanes:
                total += lane["kinetic"][0] + 0.5 * lane["mass"][0] * linear @ linear + lane["linear_momentum"] @ linear
        return float(total)

    def kept(self, x: Array) -> tuple[float, Array, Array]:
        """Energy, linear momentum, angular momentum about the world's origin."""
        r, omega, linear = turned(x[3:7]), x[7:10], x[10:13]
        springs = sum(lane["spring_energy"][0] for t in self.terms(x, omega)[0] for lane in t.lanes)
        by = [0.5 * (self.kinetic(x, omega + e[:3], linear + e[3:]) - self.kinetic(x, omega - e[:3], linear - e[3:]))
              for e in np.eye(6)]  # fmt: skip
        momentum = r @ by[3:]
        return self.kinetic(x, omega, linear) + springs, momentum, r @ by[:3] + np.cross(x[:3], momentum)


def turned(q: Array) -> Array:
    w, v = q[0] / np.linalg.norm(q), q[1:] / np.linalg.norm(q)
    s = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.asarray(np.eye(3) + 2 * w * s + 2 * s @ s)


@pytest.mark.slow
def test_a_mixed_vehicle_keeps_energy_and_momenta_to_fourth_order() -> None:
    # measured over 0.4 s at 2 ms: energy 2.3e-9, linear momentum 2.2e-10, angular 1.2e-10
    vehicle, r = Mixed(), np.random.default_rng(5)
    first = np.concatenate([[0, 0, 0, 1, 0, 0, 0], 0.3 * r.normal(size=3), r.normal(size=3), [0.02, 0.2, 30.0],
                            [-0.01, 0.1, 20.0], [0.01, 0.02, 0.1, -0.1, 25.0, 28.0]])  # fmt: skip
    energy, linear, angular = vehicle.kept(first)
    errors = []
    for h in (2e-3, 4e-3):
        x = first
        for _ in range(round(0.4 / h)):
            x = runge_kutta(vehicle.rate, x, h)
        now = vehicle.kept(x)
        errors.append((abs(now[0] / energy - 1), np.linalg.norm(now[1] - linear) / np.linalg.norm(linear),
                       np.linalg.norm(now[2] - angular) / np.linalg.norm(angular)))  # fmt: skip
    assert max(errors[0]) < 1e-8
    for fine, coarse in zip(*errors, strict=True):
        assert fine < max(coarse / 10, 1e-11)
