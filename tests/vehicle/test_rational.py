"""Positions without sines: the velocities and accelerations are those of difference quotients of the positions."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from ce import flat
from suspensions import five_link, macpherson, solid_axle

from jounce.dynamics.embedding import Embedding
from jounce.dynamics.loops import Placed
from jounce.dynamics.mechanism import Mechanism
from jounce.math.algebra import SX

STEP = 1e-5
MECHANISMS = {"macpherson": macpherson, "five_link": five_link, "solid_axle": lambda: solid_axle(steered=True)}


def _function(mechanism: Mechanism, side: float) -> ca.Function:
    """(values that tell the position, rates) -> (rates of the values; the bodies' poses, velocities, accelerations)."""
    embedding = Embedding(mechanism)
    size, c = len(embedding.names), embedding.symbols()
    q, rates = SX.sym("q", size), SX.sym("r", size)
    u = ca.vertcat(*(q[k] for k in embedding.dependent))
    theta = ca.vertcat(*(q[k] for k in embedding.independent))
    placed = embedding.placed(type(c)(theta, c.rates, u, c.told, SX(ca.evalf(mechanism.numbers(side)))))
    moving = placed.moving(rates)
    poses, velocities, accelerations = [], [], []
    for body in moving:
        twist = placed.twist(body, rates)
        w, v = (a.w for a in (moving[body].rate, twist)), (a.v for a in (moving[body].rate, twist))
        poses.append(ca.vertcat(ca.reshape(placed.poses[body].rotation, 9, 1), placed.poses[body].shift))
        velocities.append(ca.vertcat(*w, *v))
        accelerations.append(ca.vertcat(moving[body].bias.w, moving[body].bias.v))
    slope = placed.slope(rates)
    for k in embedding.independent:
        slope[k] = rates[k]
    outputs = [slope, *(ca.vertcat(*v) for v in (poses, velocities, accelerations))]
    return ca.Function("f", [q, rates, c.told], outputs)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("name", MECHANISMS)
def test_velocities_and_accelerations_are_those_of_difference_quotients(name: str, side: float) -> None:
    mechanism = MECHANISMS[name]()
    f = _function(mechanism, side if not mechanism.whole else 1.0)
    told, bodies = np.zeros(f.size1_in(2)), f.size1_out(3) // 6
    r = np.random.default_rng(1)
    q, rates = 0.3 * r.uniform(-1, 1, f.size1_in(0)), r.normal(size=f.size1_in(0))
    at = [flat(v) for v in f(q, rates, told)]
    before, after = ([flat(v) for v in f(q + s * STEP * at[0], rates, told)] for s in (-1, 1))
    for k in range(bodies):
        turned = at[1][12 * k : 12 * k + 9].reshape(3, 3).T
        d_pose = (after[1] - before[1])[12 * k : 12 * k + 12] / (2 * STEP)
        spin = d_pose[:9].reshape(3, 3).T @ turned.T
        w = np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]) / 2
        v = d_pose[9:] - np.cross(w, at[1][12 * k + 9 : 12 * k + 12])
        mine = at[2][12 * k : 12 * k + 12]
        for found, judged in ((mine[:3], w), (mine[3:6], w), (mine[6:9], v), (mine[9:], v)):
            assert np.abs(found - judged).max() < 1e-8
        d_twist = (after[2] - before[2])[12 * k : 12 * k + 12] / (2 * STEP)
        bias = at[3][6 * k : 6 * k + 6]
        assert np.abs(bias - np.concatenate([d_twist[:3], d_twist[6:9]])).max() < 1e-7


def test_what_tells_a_position_is_the_half_angle_s_tangent() -> None:
    mechanism = solid_axle()
    embedding = Embedding(mechanism)
    numbers, c = SX(ca.evalf(mechanism.numbers())), embedding.symbols()
    angles = 0.2 * np.random.default_rng(4).uniform(-1, 1, len(embedding.names))
    slides = [j for j, k in enumerate(embedding.dependent) if Placed(mechanism, SX.zeros(64)).columns[k].w.is_zero()]
    u = angles[list(embedding.dependent)]
    told = np.where(np.isin(np.arange(len(u)), slides), u, np.tan(u / 2))
    placed = embedding.placed(type(c)(SX(angles[list(embedding.independent)]), c.rates, SX(told), c.told, numbers))
    plain = Placed(mechanism.on(numbers), SX(angles))
    for body in plain.poses:
        off = placed.poses[body].rotation - plain.poses[body].rotation
        assert np.abs(np.array(ca.evalf(off))).max() < 1e-15
