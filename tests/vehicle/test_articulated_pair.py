"""The recursion for an axle with two wheels and two coordinates, against dense algebra and the judge."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from mixed import Aggregate, Loads, accelerations
from numpy.typing import NDArray
from suspensions import solid_axle

from jounce.dynamics.articulated import ARTICULATED_BODY, chassis_function
from jounce.dynamics.articulated_pair import inward_sweep_function, outward_sweep_function
from jounce.reference import maximal
from jounce.suspension.embedded import pair_dynamics_function

Array = NDArray[np.float64]
MASS, COM = 1200.0, np.array([0.3, 0.02, 0.4])
INERTIA = np.array([[400.0, 5, -20], [5, 1500.0, 3], [-20, 3, 1600.0]])
AXLE = Aggregate(solid_axle())
DYNAMICS = pair_dynamics_function(AXLE.embedding)
IN, OUT, CHASSIS = inward_sweep_function(), outward_sweep_function(), chassis_function()
AXIAL = [np.array(a) for a in AXLE.axial]


def _case(seed: int) -> tuple[Array, Array, Array, Array, Loads, Array]:
    r = np.random.default_rng(seed)
    theta, rate, spin = r.uniform(-0.07, 0.07, 2), r.normal(size=2), 20 * r.normal(size=2)
    loads = Loads(3000 * r.normal(size=(2, 3)), 200 * r.normal(size=(2, 3)), 300 * r.normal(size=2),
                  300 * r.normal(size=2))  # fmt: skip
    return theta, rate, spin, r.normal(size=3), loads, AXLE.follow(theta, AXLE.still)


def _recursion(seed: int, reaction: tuple[float, float]) -> tuple[Array, Array, Array]:
    """(chassis acceleration, theta'', spin'') with the emitted functions."""
    theta, rate, spin, omega, loads, u = _case(seed)
    lanes = [np.array([theta[k], rate[k], spin[k]]) for k in range(2)]
    parts = DYNAMICS(*lanes, np.zeros(12), np.zeros(12), omega, AXLE.numbers, u)
    each = [np.concatenate([loads.force[k], loads.moment[k], [loads.drive[k], loads.brake[k]]]) for k in range(2)]
    bodies = IN(*parts, *each, *AXIAL, ca.DM(reaction))
    about = INERTIA + MASS * (COM @ COM * np.eye(3) - np.outer(COM, COM))
    own = np.concatenate([[MASS], MASS * COM, about[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]])
    first = ARTICULATED_BODY.first["epsilon"]
    total = np.array(bodies[0] + bodies[1]).ravel()[:first]
    a = np.array(CHASSIS(own, omega, total, np.zeros(6))).ravel()
    back = np.array([np.array(b).ravel() for b in OUT(*parts, *bodies, a, *AXIAL)])
    return a, back[:, 0], back[:, 1]


@pytest.mark.parametrize("seed", range(5))
def test_both_lanes_together_equal_dense_algebra(seed: int) -> None:
    theta, rate, spin, omega, loads, u = _case(seed)
    terms = AXLE.terms(theta, rate, spin, AXLE.still, omega, u)
    a, thetas, spins = accelerations((MASS, COM, INERTIA), omega, [AXLE], [terms], [loads])
    mine = _recursion(seed, (0.0, 4.0))
    for found, wanted in zip(mine, (a, thetas[0], spins[0]), strict=True):
        assert np.abs(found - wanted).max() <= 1e-11 * max(1.0, np.abs(wanted).max())


@pytest.mark.slow(but="[0]")
@pytest.mark.parametrize("seed", range(3))
def test_a_drive_torque_that_reacts_on_the_axle_is_that_of_the_judge(seed: int) -> None:
    # to the judge it is a torque between wheel and carrier, as a brake's; a tall final drive needs no propeller torque
    theta, rate, spin, omega, loads, u = _case(seed)
    terms = AXLE.terms(theta, rate, spin, AXLE.still, omega, u)
    push = {(kind, k): float(lane[f"{kind}_force"][0]) for k, lane in enumerate(terms.lanes)
            for kind in ("spring", "shock")}  # fmt: skip
    part = maximal.Part(AXLE.mechanism, theta, rate, spin, np.zeros(0), 1, push, loads.force, loads.moment, np.zeros(2),
                        loads.brake + loads.drive)  # fmt: skip
    judged = maximal.accelerations(maximal.Chassis(MASS, COM, INERTIA, omega, np.zeros(3)), [part])
    a, _, spins = _recursion(seed, (1.0, 1e12))
    for found, wanted in ((a[:3], judged["angular"]), (a[3:], judged["linear"]), (spins, judged["spin"][0])):
        assert np.abs(found - wanted).max() <= 1e-9 * max(1.0, np.abs(wanted).max())


def test_the_propeller_shaft_presses_the_left_wheel_of_a_driven_axle_down() -> None:
    # as on real live axles, whose right wheel spins first. By hand: the shaft turns the axle about -x with the torques
    # over the ratio; roll's share of the work is that times the axle's turn about x, which is 1 in the design position
    zero = Loads(np.zeros((2, 3)), np.zeros((2, 3)), np.array([200.0, 300.0]), np.zeros(2))
    u = AXLE.follow(np.zeros(2), AXLE.still)
    parts = DYNAMICS(np.zeros(3), np.zeros(3), np.zeros(12), np.zeros(12), np.zeros(3), AXLE.numbers, u)
    each = [np.concatenate([np.zeros(6), [zero.drive[k], 0.0]]) for k in range(2)]
    first = ARTICULATED_BODY.first["epsilon"]
    short, tall = (np.array([float(b[first]) for b in IN(*parts, *each, *AXIAL, ca.DM([1.0, ratio]))])
                   for ratio in (4.0, 1e12))  # fmt: skip
    assert short - tall == pytest.approx([0.0, -500.0 / 4.0], abs=1e-9)
