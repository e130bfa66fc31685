"""Both forms of subsystem synthesis against the embedding, and the operations of every row."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from ce import flat
from test_formulations import State, mechanism, relative, trees

from jounce.formulations import synthesis
from jounce.formulations.synthesis import Bodies, Chain, cartesian_form, dense_lu, joint_form

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
