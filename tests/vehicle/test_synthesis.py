"""Both forms of subsystem synthesis against the embedding, what is misprinted, and the operations of every row."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from ce import flat
from test_formulations import HMMWV, State, mechanism, relative, trees

from jounce.formulations import synthesis
from jounce.formulations.augmented import Tree
from jounce.formulations.synthesis import Bodies, Chain, cartesian_form, dense_lu, joint_form, mass_of

COUNTS = json.loads((Path(__file__).parents[1] / "data" / "synthesis-operations.json").read_text())


@cache
def chains(k: int) -> tuple[Chain, Chain, Bodies]:
    side = 1 if k % 2 == 0 else -1
    return joint_form(mechanism(k), side), cartesian_form(mechanism(k), side), Bodies(mechanism(k), side)


@pytest.mark.parametrize("k", [0, 3])
def test_both_forms_give_the_embedding_s_effective_mass_and_force(k: int) -> None:
    joint, cartesian, bodies = chains(k)
    by_joint, by_pose = joint.function(), cartesian.function()
    rods = trees(k)[0]
    poses = rods.poses_function(bodies)
    for seed in range(20):
        state = State(k, seed)
        inertia, bias, acceleration = state.embedded()
        q, rates = state.closed(rods)
        places, velocities = poses(q, rates, state.way[-1])
        found = (by_joint(q, rates, *state.tail(), state.chassis),
                 by_pose(bodies.cartesian_position(flat(places)), flat(velocities), *state.tail(),
                         state.chassis))  # fmt: skip
        for effective, force, own, _ in found:
            assert relative(np.array(effective), inertia) < 1e-12
            assert relative(-flat(force), bias) < 1e-12
            assert abs(float(own) - acceleration) < 1e-12 * max(1.0, abs(acceleration))
        # Eqs. 15 and 30: all rates from the arm's, and what the steering does
        by_arm = (joint.rates_function()(q, state.way[-1], state.rate),
                  cartesian.rates_function()(bodies.cartesian_position(flat(places)), state.way[-1],
                                             state.rate))  # fmt: skip
        assert relative(flat(by_arm[0]), rates) < 1e-12
        assert relative(flat(by_arm[1]), flat(velocities)) < 1e-12


def test_q_y_as_printed_does_not_fit_and_with_u_and_v_exchanged_it_is_the_momentum() -> None:
    # Song and Kim after Eq. 30: Q_y* = (M_yqu - M_yqv Phi_u^-1 Phi_v)^T; M_yqu is 6 x 4 and the product 6 x 1 by 4 x 1
    tree = Tree(mechanism(0))
    c = tree.symbols()
    t = tree.terms(c)
    v = tree.names.index("lower_arm")
    u = [k for k in range(tree.size) if k != v]
    y = ca.SX(len(u), tree.size)
    for i, row in enumerate(t.jacobian):
        for k, e in row.items():
            y[i, k] = e
    state = State(0, 1)
    terms = ca.Function("t", c.all(), [t.h, y, mass_of(t, tree.size)])
    h, rows, _ = (np.array(x) for x in terms(*state.closed(tree), *state.tail()))
    ratio = np.linalg.solve(rows[:, u], rows[:, [v]])
    with pytest.raises(ValueError, match="mismatch"):
        h[:, u] - h[:, [v]] @ ratio
    momentum = HMMWV.at(0, state.theta, rate=state.rate, spin=state.spin, arm=state.arm, omega=state.omega)["momentum"]
    assert relative((h[:, [v]] - h[:, u] @ ratio).ravel(), momentum) < 1e-12


def test_the_shocks_rate_divided_by_its_stroke_as_printed_is_not_the_stroke_s_rate() -> None:
    # Jain 2016, after Eq. 29 and in Eq. 30: r'r = z' and y sin(eta - gamma)/r; from Eq. 28, r = z - const, so r' = z'
    x, beta, y, constant, h = 0.9, 1.2, 0.4, 0.9, 1e-6

    def shock(theta: float) -> tuple[float, float, float]:
        eta = theta - np.pi / 2
        end = x * np.exp(1j * beta) - y * np.exp(1j * eta)
        return abs(end) - constant, float(np.angle(end)), eta

    r, gamma, eta = shock(0.2)
    slope = (shock(0.2 + h)[0] - shock(0.2 - h)[0]) / (2 * h)
    printed, right = y * np.sin(eta - gamma) / r, y * np.sin(eta - gamma)
    assert abs(slope - right) < 1e-9 and abs(slope - printed) > 0.1 * abs(slope)
    turn = (shock(0.2 + h)[1] - shock(0.2 - h)[1]) / (2 * h)
    length = r + constant
    assert abs(turn + y * np.cos(eta - gamma) / length) < 1e-9
    # Eq. 29 has gamma z' exp(i gamma) in its last term; the derivative of Eq. 28 has z' exp(i gamma)
    whole = 1j * y * np.exp(1j * eta) + 1j * turn * length * np.exp(1j * gamma)
    assert abs(whole + slope * np.exp(1j * gamma)) < 1e-9
    assert abs(whole + gamma * slope * np.exp(1j * gamma)) > 0.1 * abs(slope)


def test_the_sums_of_the_printed_table_are_right() -> None:
    for form, total in (("cartesian", 8835), ("joint", 5691)):
        assert sum(map(sum, COUNTS["printed"][form].values())) == total


def test_operations_of_every_row_are_the_committed_ones() -> None:
    if ca.__version__ != COUNTS["casadi"]:
        pytest.skip(f"counted with CasADi {COUNTS['casadi']}")
    assert synthesis.table(mechanism(0)) == COUNTS["counted"]


def test_the_ratio_belongs_to_the_linear_algebra() -> None:
    def total(convention: str, form: str) -> int:
        return sum(sum(row[:2]) for row in COUNTS["counted"][convention][form].values())

    sparse = [total(c, "cartesian") / total(c, "joint") for c in ("as written", "shared")]
    full = total("dense", "cartesian") / total("dense", "joint")
    assert all(r < 1.55 < full for r in sparse)


def test_a_dense_l_u_of_18_rows_costs_more_than_all_the_rest() -> None:
    count = dense_lu(18, 2)
    matrix, r = np.random.default_rng(0).normal(size=(18, 18)), ca.SX.sym("b", 18, 2)
    a = ca.SX(ca.DM(matrix)) * ca.SX.sym("one")
    rows = [{k: a[i, k] for k in range(18)} for i in range(18)]
    factors = synthesis.factorize(rows, [(k, k) for k in range(18)])
    out = ca.vertcat(*(ca.vertcat(*factors.solve([r[i, k] for i in range(18)])) for k in range(2)))
    found = synthesis.counted(ca.Function("f", [ca.symvar(a)[0], r], [out]))
    assert abs(found.products + found.sums - count.products - count.sums) < 0.15 * (count.products + count.sums)
