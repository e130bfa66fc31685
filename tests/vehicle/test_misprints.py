"""Misprints and omissions in Jain 2015 and 2016 and in Song and Kim: the print is wrong, the correction right."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from ce import flat
from test_formulations import HMMWV, State, mechanism, relative, rows_of, trees

from jounce.dynamics.aggregate import Body
from jounce.dynamics.masses import parts_of
from jounce.formulations.augmented import Tree
from jounce.formulations.embedded import Embedded
from jounce.formulations.synthesis import counted, mass_of, quarter_car


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
    # the line after it has eta where its rate belongs (2016 alone), which is 1 here
    assert abs(1j * y * np.exp(1j * (eta - gamma)) + 1j * turn * length + slope) < 1e-9
    assert abs(1j * eta * y * np.exp(1j * (eta - gamma)) + 1j * turn * length + slope) > 0.1 * abs(slope)


def test_the_spindle_s_angle_needs_the_height_of_the_tierod_s_inner_end_not_of_its_outer_one() -> None:
    # Jain 2015 and 2016, before the formula for alpha: X = (..)/2 - EK(z) EK0(z); EL.(R EK0) has EL(z) EK0(z)
    for seed in range(20):
        r = np.random.default_rng(seed)
        alpha, outer, inner = r.uniform(-0.5, 0.5), np.array([-0.13, 0.03, 0.1]), np.array([-0.2, -0.4, 0.17])
        outer, inner = outer + 0.02 * r.normal(size=3), inner + 0.02 * r.normal(size=3)

        def turned(angle: float, point: np.ndarray = outer) -> np.ndarray:
            c, s = np.cos(angle), np.sin(angle)
            return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1], point[2]])

        length = np.linalg.norm(inner - turned(alpha))
        a, b = inner[:2] @ outer[:2], -inner[0] * outer[1] + inner[1] * outer[0]

        def error(height: float) -> float:
            x = (inner @ inner + outer @ outer - length**2) / 2 - height * outer[2]  # noqa: B023
            share = x / np.hypot(a, b)  # noqa: B023
            angles = np.arctan2(b, a) + np.array([1, -1]) * np.arccos(np.clip(share, -1, 1))  # noqa: B023
            return float(min(abs(np.linalg.norm(inner - turned(v)) - length) for v in angles))  # noqa: B023

        assert error(inner[2]) < 1e-12
        assert error(outer[2]) > 1e-3


def test_an_aggregate_s_hinge_map_needs_the_propagation_inside_it() -> None:
    # Jain, Eqs. 10 and 11: H(S) = X* H_S with H_S block diagonal, and a(S) likewise. By Eq. 4 D = H M H* then has each
    # body's motion about its own hinge alone. Right is H(S) = X* H_S phi_S with the aggregate's own phi (Jain 2011,
    # chapter 15): a body moves with what carries it, too
    plain = quarter_car(mechanism(0))
    form = Embedded(plain)
    c = form.symbols()
    moved, terms = form.moved(c), form.terms(c)
    tree, placed = moved.placed.tree, moved.placed
    own = np.zeros((len(form.embedding.names), len(tree.parent)))
    for j, (body, (carrier, _)) in enumerate(tree.parent.items()):
        own[list(set(placed.chain(body)) - set(placed.chain(carrier))), j] = 1
    parts, bodies = [], [p for p in parts_of(moved) if isinstance(p, Body)]
    for share in (own, np.ones_like(own)):
        d = ca.SX(0)
        for j, body in enumerate(tree.parent):
            twist = placed.twist(body, moved.x * ca.SX(ca.DM(share[:, j])))
            [b] = [b for b in bodies if b.turn.rate is moved.twists[body][2].w]
            v = twist.at(b.com)
            d += b.mass * ca.dot(v, v) + ca.dot(twist.w, b.inertia @ twist.w)
        parts.append(d)
    printed, right, judged = map(float, ca.Function("d", c.all(), [*parts, terms.mass[0, 0]])(
        0.1, 0.3, 0, ca.DM(0, 1), [0] * 3, [0] * 8, 0))  # fmt: skip
    assert abs(right - judged) < 1e-12 * judged
    assert printed < 0.5 * judged


def test_a_steered_wheel_s_rates_are_not_x_times_the_independent_one_s() -> None:
    # Jain, Eqs. 12, 13 and 32: delta = Y theta' and v_E + J_EL [..] = 0 leave out that a prescribed inner end moves
    state, rods = State(0, 4), trees(0)[0]
    q, rates = state.closed(rods)
    k = rods.names.index("lower_arm")
    rest = [j for j in range(rods.size) if j != k]
    _, delta, y, *_ = rows_of(rods)(q, rates, *state.tail())
    assert np.abs(flat(delta)).max() < 1e-13
    y = np.array(y)
    alone = rates.copy()
    alone[rest] = -np.linalg.solve(y[:, rest], y[:, k]) * rates[k]
    _, delta, *_ = rows_of(rods)(q, alone, *state.tail())
    assert np.abs(flat(delta)).max() > 1e-3
    assert np.abs(alone - rates).max() > 0.05 * np.abs(rates).max()


def test_relative_angular_velocity_in_the_base_s_axes_does_not_fit_the_velocity_of_a_body() -> None:
    # Song and Kim, before Eq. 7: y_i0 = [r_i0*', omega_i0*]; with G = diag(A_0, 1) the lower part must be omega'_i0, in
    # the body's axes, as in Eq. 5
    r = np.random.default_rng(3)
    base, body = (np.linalg.qr(r.normal(size=(3, 3)))[0] for _ in range(2))
    base, body = base * np.linalg.det(base), body * np.linalg.det(body)
    of_base, relative_turn = r.normal(size=3), r.normal(size=3)  # both in the base's axes
    judged = (base @ body).T @ (base @ (of_base + relative_turn))
    printed, right = body.T @ of_base + relative_turn, body.T @ of_base + body.T @ relative_turn
    assert np.abs(right - judged).max() < 1e-14 < 0.1 < np.abs(printed - judged).max()


def test_a_cut_joint_s_force_acts_on_the_ends_of_both_chains() -> None:
    # Song and Kim, Eq. 26: both terms of lambda have Z_n; the second one's is Z_n', with the row's other side
    rods = trees(0)[0]
    c = rods.symbols()
    t, force = rods.terms(c), np.array([300.0, -200.0, 500.0])
    rows = [row for row in t.rows if row.name == "upper_ball"]
    columns = t.moved.placed.columns

    def work(row: object, body: str, wrench: ca.SX) -> ca.SX:
        s = [ca.dot(wrench, ca.vertcat(x.w, x.v)) if k in t.moved.placed.chain(body) else ca.SX(0)
             for k, x in enumerate(columns)]  # fmt: skip
        return ca.vertcat(*s)

    printed = sum((f * 2 * work(r, r.a, r.wrench_a) for f, r in zip(force, rows, strict=True)), ca.SX.zeros(5))
    right = sum((f * (work(r, r.a, r.wrench_a) - work(r, r.b, r.wrench_b)) for f, r in zip(force, rows, strict=True)),
                ca.SX.zeros(5))  # fmt: skip
    state = State(0, 2)
    q, rates = state.closed(rods)
    _, _, y, *_ = rows_of(rods)(q, rates, *state.tail())
    found = [flat(v) for v in ca.Function("w", c.all(), [printed, right])(q, rates, *state.tail())]
    judged = np.array(y)[:3].T @ force
    assert relative(found[1], judged) < 1e-12 < 0.1 < relative(found[0], judged)


def test_the_printed_count_of_the_cartesian_effective_mass_is_less_than_its_equations_take() -> None:
    # Table 1, 25 and 24, for Eqs. 19 and 20 with everything else at hand: 6 for c / d, 21 of a symmetric matrix, and 6
    m, h, d, g, q = (ca.SX.sym(n, k) for n, k in (("m", 21), ("h", 6), ("d", 1), ("g", 6), ("q", 1)))
    by = h * (1 / d)
    pairs = [(i, j) for i in range(6) for j in range(i, 6)]
    out = ca.vertcat(*(m[k] - by[i] * h[j] for k, (i, j) in enumerate(pairs)), g - by * q)
    count = counted(ca.Function("f", [m, h, d, g, q], [out]))
    assert (count.products, count.sums) == (33, 27)
    assert count.products > 25 and count.sums > 24
