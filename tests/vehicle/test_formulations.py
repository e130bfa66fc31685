"""The same corner in every formulation: articulated body on the chassis and accelerations equal the embedding's."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import casadi as ca
import hardpoints
import numpy as np
import pytest
from ce import Ce, flat
from numpy.typing import NDArray

from jounce.data import load_vehicle
from jounce.dynamics.articulated import full
from jounce.dynamics.mechanism import Mechanism
from jounce.formulations.augmented import Augmented, Tree
from jounce.formulations.bodies import with_bodies
from jounce.formulations.cartesian import Cartesian
from jounce.formulations.ldl import factorize, minimum_degree
from jounce.suspension.mechanisms.templates import mechanism_of

Array = NDArray[np.float64]
HMMWV = Ce(load_vehicle("hmmwv"))


def mechanism(k: int) -> Mechanism:
    return mechanism_of(HMMWV.vehicle, "front" if k < 2 else "rear", "double_wishbone")


@cache
def trees(k: int) -> tuple[Tree, Tree, Cartesian]:
    side = 1 if k % 2 == 0 else -1
    return Tree(mechanism(k), side), Tree(with_bodies(mechanism(k)), side), Cartesian(mechanism(k), side)


class State:
    """A random closed state of corner k, and what the embedding makes of it."""

    def __init__(self, k: int, seed: int) -> None:
        r = np.random.default_rng(seed)
        self.k, self.theta, self.rate, self.spin = k, r.uniform(-0.25, 0.3), 2 * r.normal(), 20 * r.normal()
        self.arm = (r.uniform(-0.45, 0.45), r.normal(), 5 * r.normal())
        self.omega, self.chassis = r.normal(size=3), 5 * r.normal(size=6)
        self.loads = np.concatenate([3e3 * r.normal(size=3), 100 * r.normal(size=3), 300 * r.normal(size=2)])
        self.way = [HMMWV.inner_end(k, (self.arm[0] * t, 0.0, 0.0)) for t in np.linspace(0.1, 0.9, 9)]
        self.way.append(HMMWV.inner_end(k, self.arm))

    def embedded(self) -> tuple[Array, Array, float]:
        """(P+, z+, acceleration of the lower arm)."""
        raw = HMMWV.raw(self.k, self.theta, self.rate, self.spin, self.arm, self.omega)
        axial = HMMWV.wheel_axial[self.k]
        body = flat(HMMWV.inward_sweep(raw, self.loads, axial))
        acceleration = flat(HMMWV.outward_sweep(raw, body, self.chassis, axial))
        return np.array(ca.evalf(full(ca.SX(ca.DM(body[:21]))))), body[21:27], acceleration[0]

    def tail(self, alpha: float = 0.0) -> list[object]:
        return [self.spin, self.way[-1], self.omega, self.loads, alpha]

    def closed(self, tree: Tree) -> tuple[Array, Array]:
        """(q, q') of a tree by continuation from the design position, velocities from delta = 0."""
        rows, n = rows_of(tree), tree.size
        q, zero, own = np.zeros(n), np.zeros(n), tree.names.index("lower_arm")
        rest = [j for j in range(n) if j != own]
        for i, inner in enumerate(self.way, 1):
            q[own] = self.theta * i / len(self.way)
            for _ in range(5):
                phi, _, y, *_ = rows(q, zero, 0, inner, zero[:3], [0] * 8, 0)
                q[rest] -= np.linalg.solve(np.array(y)[:, rest], flat(phi))
        rates = np.zeros(n)
        rates[own] = self.rate
        _, delta, y, *_ = rows(q, rates, *self.tail())
        rates[rest] -= np.linalg.solve(np.array(y)[:, rest], flat(delta))
        return q, rates


@cache
def rows_of(form: Augmented) -> ca.Function:
    return form.rows_function()


@cache
def gather_of(form: Augmented) -> ca.Function:
    return form.gather_function()


def gathered(form: Augmented, state: State, q: Array, rates: Array, alpha: float = 0.0) -> tuple[Array, Array, Array]:
    """(P+, z+, q'')."""
    inertia, bias, x, rest = gather_of(form)(q, rates, *state.tail(alpha))
    return np.array(inertia), flat(bias), np.array(x) @ state.chassis + flat(rest)


def relative(found: object, judged: object) -> float:
    return float(np.abs(np.subtract(found, judged)).max() / np.abs(judged).max())


def fully_augmented(state: State, tree: Tree, loose: Cartesian) -> tuple[Array, Array]:
    places, rates = tree.poses_function(loose)(*state.closed(tree), state.way[-1])
    return loose.cartesian_position(flat(places)), flat(rates)


@pytest.mark.slow(but="[0]")
@pytest.mark.parametrize("k", range(4))
def test_both_trees_are_the_embedding_s_articulated_body_and_acceleration(k: int) -> None:
    for tree in trees(k)[:2]:
        for seed in range(20):
            state = State(k, seed)
            inertia, bias, acceleration = state.embedded()
            found = gathered(tree, state, *state.closed(tree))
            assert relative(found[0], inertia) < 1e-12
            assert relative(found[1], bias) < 1e-12
            own = found[2][tree.names.index("lower_arm")]
            assert abs(own - acceleration) < 1e-12 * max(abs(found[2]))


@pytest.mark.slow(but="[0]")
@pytest.mark.parametrize("k", range(4))
def test_the_fully_augmented_corner_is_the_embedding_s_too(k: int) -> None:
    _, tree, loose = trees(k)
    arm = [p.name for p in loose.parts].index("LCA")
    axis = flat(ca.evalf(next(j for j in tree.mechanism.joints if j.name == "lower_arm").axis))
    for seed in range(20):
        state = State(k, seed)
        inertia, bias, acceleration = state.embedded()
        found = gathered(loose, state, *fully_augmented(state, tree, loose))
        assert relative(found[0], inertia) < 1e-12
        assert relative(found[1], bias) < 1e-12
        # the arm turns about a hinge that the chassis holds, so its principal axes turn with it and the hinge does not
        turn = flat(ca.evalf(loose.parts[arm].axes)).reshape(3, 3, order="F") @ found[2][6 * arm + 3 : 6 * arm + 6]
        assert abs(float(turn @ axis) - acceleration) < 1e-12 * np.abs(found[2]).max()


def test_sizes_are_those_of_the_papers_trees() -> None:
    rods, tree, loose = trees(0)
    assert [(f.size, rows_of(f).size1_out(0)) for f in (rods, tree, loose)] == [(5, 4), (10, 9), (36, 35)]
    assert loose.places == 42


def test_other_suspensions_have_one_answer_in_both_trees() -> None:
    for make in (hardpoints.macpherson, hardpoints.five_link):
        m = hardpoints.mechanism(make())
        short, long = Tree(m), Tree(with_bodies(m))
        assert long.size > short.size
        inner = flat(np.concatenate([flat(ca.evalf(ca.SX(ca.DM(ca.evalf(p))))) for p in m.prescribed.values()]
                                    or [np.zeros(3)]))  # fmt: skip
        tail = [3.0, np.concatenate([inner, np.zeros(9)])[: 12 * len(m.prescribed)], [0.1, -0.2, 0.3],
                [100.0, 200.0, 4000.0, 5.0, 6.0, 7.0, 8.0, -9.0], 0.0]  # fmt: skip
        a, b = (gather_of(f)(np.zeros(f.size), np.zeros(f.size), *tail) for f in (short, long))
        assert relative(flat(b[0]), flat(a[0])) < 1e-12
        assert relative(flat(b[1]), flat(a[1])) < 1e-12


def test_the_rates_of_the_rows_are_their_differences() -> None:
    state, (rods, tree, _) = State(0, 3), trees(0)
    for form in (rods, tree):
        q, rates = state.closed(form)
        rates = rates + 0.1 * np.random.default_rng(0).normal(size=rates.size)
        inner, h = state.way[-1].copy(), 1e-6
        moved = [np.concatenate([inner[:3] + s * h * inner[6:9], inner[3:]]) for s in (1, -1)]
        ahead, behind = (flat(rows_of(form)(q + s * h * rates, rates, 0, e, [0] * 3, [0] * 8, 0)[0])
                         for s, e in zip((1, -1), moved, strict=True))  # fmt: skip
        delta = flat(rows_of(form)(q, rates, *state.tail())[1])
        assert np.abs((ahead - behind) / (2 * h) - delta).max() < 1e-8


def test_tubes_that_have_inertia_about_their_axis_are_refused() -> None:
    m = mechanism(0)
    tubes = replace(m.tubes[0], lower_along=0.1)
    with pytest.raises(ValueError, match="shock has inertia about its axis"):
        with_bodies(replace(m, tubes=(tubes,)))


def dense(size: int, entries: dict[tuple[int, int], ca.SX]) -> Array:
    full = np.zeros((size, size))
    for (i, j), v in entries.items():
        full[i, j] = full[j, i] = float(v)
    return full


def test_l_d_l_solves_what_a_dense_solver_solves() -> None:
    for seed in range(30):
        r = np.random.default_rng(seed)
        n, m = int(r.integers(2, 9)), 0
        m = int(r.integers(0, n))
        entries = {(i, i): ca.SX(float(r.uniform(1, 3))) for i in range(n)}
        for i in range(m):
            for j in {i, *r.integers(0, n, 2).tolist()}:
                entries[n + i, j] = ca.SX(float(r.normal()))
        right = r.normal(size=n + m)
        x = factorize(n + m, entries).solve([ca.SX(float(v)) for v in right])
        judged = np.linalg.solve(dense(n + m, entries), right)
        assert np.abs(np.array([float(v) for v in x]) - judged).max() < 1e-9 * max(1.0, np.abs(judged).max())


def test_three_rows_on_one_coordinate_are_no_pivots_before_others_are() -> None:
    order = minimum_degree(6, [(0, 0), (1, 1), (2, 2), *((i, j) for i in (3, 4, 5) for j in range(3))])
    assert sorted(order[:3]) != [0, 3, 4] and all(
        sum(k < 3 for k in order[: i + 1]) >= sum(k >= 3 for k in order[: i + 1]) for i in range(6)
    )


def test_a_matrix_without_enough_coordinates_is_refused() -> None:
    with pytest.raises(ArithmeticError, match="can be a pivot"):
        minimum_degree(3, [(0, 0), (1, 0), (2, 0)])


def test_operations_grow_with_the_coordinates_that_the_loops_keep() -> None:
    # measured: closed form 2058, then 1.9, 3.7 and 7.5 times as many
    counts = [gather_of(form).n_instructions() for form in trees(0)]
    assert 1.7 < counts[1] / counts[0] < 2.1 and 1.8 < counts[2] / counts[1] < 2.3
