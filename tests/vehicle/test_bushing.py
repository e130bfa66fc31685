"""The bushing tree: its recursion, its rigid limit, what its stiffness and damping do to the longest step.

The table is that of an earlier prototype of other code: front corner, 9 kN, the chassis held without gravity.
"""

from __future__ import annotations

from functools import cache

import casadi as ca
import hardpoints
import numpy as np
import pytest
from ce import flat
from numpy.typing import NDArray
from test_formulations import State, gather_of, mechanism, relative, trees

from jounce.data import load_vehicle
from jounce.formulations.bushing import Bushed, loss_damping, with_bushings
from jounce.formulations.implicit import Rosenbrock
from jounce.formulations.limits import Corner, longest_step
from jounce.formulations.whole import Closure, Tires, Whole, linear, straight, whole
from jounce.suspension.mechanisms.templates import mechanism_of

Array = NDArray[np.float64]
SX = ca.SX
VEHICLE = load_vehicle("hmmwv")
CORNER = Corner(VEHICLE)
#: Stiffness [N/m]: hub above the rigid one [mm], camber [deg], largest eigenvalue [1/s], longest step [s] with C = 0,
#: 1e-3 K and 0.05 K.
TABLE = {
    1e6: (15.3, 1.53, 1063, 2.66e-3, 2.46e-3, 49e-6),
    5e6: (3.09, 0.310, 2378, 1.19e-3, 0.638e-3, 9.8e-6),
    2e7: (0.774, 0.0778, 4757, 0.594e-3, 0.129e-3, 2.5e-6),
    3.5e7: (0.442, 0.0445, 6294, 0.449e-3, 72e-6, 1.4e-6),
    7e7: (0.221, 0.0222, 8901, 0.318e-3, 36e-6, 0.7e-6),
}


@cache
def bushed(k: int, stiffness: float = 2e7, damping: float | None = None) -> Bushed:
    return Bushed(mechanism(k), 1 if k % 2 == 0 else -1, stiffness=stiffness, damping=damping)


def inner_end(form: Bushed, r: np.random.Generator) -> Array:
    ends = [flat(ca.evalf(SX(ca.DM(ca.evalf(SX(p)))))) for p in form.mechanism.prescribed.values()]
    return np.concatenate([*(np.concatenate([e + 0.002 * r.normal(size=3), r.normal(size=9)]) for e in ends)])


@pytest.mark.parametrize("k", [0, 3])
def test_the_recursion_is_the_solution_of_the_whole_mass_matrix(k: int) -> None:
    form = bushed(k)
    c, a0 = form.symbols(), SX.sym("a", 6)
    swept, dense = form.gathered(c), form.dense(c)
    both = ca.Function("both", [*c.all(), a0], [
        swept.inertia, swept.bias, swept.acceleration(a0), dense.inertia, dense.bias, dense.acceleration(a0),
        swept.x @ a0 + swept.rest])  # fmt: skip
    for seed in range(20):
        r = np.random.default_rng(seed)
        p, z, a, p2, z2, a2, a3 = both(
            0.1 * r.normal(size=form.size), r.normal(size=form.size), 20 * r.normal(), inner_end(form, r),
            r.normal(size=3), 1e3 * r.normal(size=8), 0, 5 * r.normal(size=6))  # fmt: skip
        assert relative(np.array(p), np.array(p2)) < 1e-12
        assert relative(flat(z), flat(z2)) < 1e-12
        assert relative(flat(a), flat(a2)) < 1e-12
        assert relative(flat(a3), flat(a2)) < 1e-12


def test_the_tree_has_fourteen_coordinates_and_no_rows() -> None:
    form = bushed(0)
    assert (form.size, len(form.bushings)) == (14, 5)
    assert form.rows_function().size1_out(0) == 0


@cache
def gaps(k: int) -> tuple[ca.Function, ca.Function]:
    """(gaps of all bushings and the lower arm's rotation by (q, INNER), their rates' partials and biases)."""
    form = bushed(k)
    c = form.symbols()
    moved = form.moved(c)
    ends = [(moved.end(b.a), moved.end(b.b)) for b in form.bushings]
    gap = ca.vertcat(*(a[0] - b[0] for a, b in ends))
    arm = ca.reshape(moved.placed.poses["LCA"].rotation, 9, 1)
    turn = moved.turn("LCA")
    rows = [ca.vertcat(*(getattr(a[1] - b[1], of) for a, b in ends)) for of in ("partial", "rate", "bias")]
    out = ca.vertcat(gap, arm)
    place = ca.Function("place", [c.position, c.inner], [out, ca.jacobian(out, c.position)])
    return place, ca.Function("rows", [c.position, c.rates, c.inner], [*rows, turn.partial, turn.bias])


@pytest.mark.parametrize("k", [0, 3])
def test_a_bushing_tree_whose_bushings_cannot_give_is_the_embedding(k: int) -> None:
    # the forces of the five bushings that keep all gaps closed; two points of a hinge hold it once too often
    free = Bushed(mechanism(k), 1 if k % 2 == 0 else -1, stiffness=0.0, damping=0.0)
    c = free.symbols()
    t = free.terms(c)
    m = SX(free.size, free.size)
    for (i, j), v in t.mass.items():
        m[i, j] = m[j, i] = v
    terms = ca.Function("terms", c.all(), [m, t.h, t.inertia, t.bias, t.force])
    place, rows = gaps(k)
    joint = next(j for j in trees(k)[0].mechanism.joints if j.name == "lower_arm")
    axis = flat(ca.evalf(joint.axis))
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    for seed in range(20):
        state, q = State(k, seed), np.zeros(free.size)
        inertia, bias, acceleration = state.embedded()
        for i, inner in enumerate(state.way, 1):
            angle = state.theta * i / len(state.way)
            arm = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
            for _ in range(6):
                found, slope = (np.array(v) for v in place(q, inner))
                error = found.ravel() - np.concatenate([np.zeros(15), arm.ravel(order="F")])
                q = q - np.linalg.lstsq(slope, error, rcond=1e-10)[0]
        end = state.way[-1]
        partial, told, _, turn, _ = (np.array(v) for v in rows(q, np.zeros(free.size), end))
        both = np.vstack([partial, turn])
        rates = np.linalg.lstsq(both, np.concatenate([-told.ravel(), state.rate * axis]), rcond=1e-10)[0]
        y_rows, rate, by_rates, _, turn_bias = (np.array(v) for v in rows(q, rates, end))
        assert np.abs(rate).max() < 1e-12
        mass, h, own, b, force = (np.array(v) for v in terms(q, rates, *state.tail()))
        n, right = free.size, np.column_stack([-h.T, force])
        kkt = np.block([[mass, y_rows.T], [y_rows, np.zeros((15, 15))]])
        told_rows = np.column_stack([np.zeros((15, 6)), -by_rates])
        solved = np.linalg.lstsq(kkt, np.vstack([right, told_rows]), rcond=1e-12)[0][:n]
        assert relative(own + h @ solved[:, :6], inertia) < 1e-12
        assert relative(flat(b) + h @ solved[:, 6], bias) < 1e-12
        q2 = solved[:, :6] @ state.chassis + solved[:, 6]
        of_arm = float(axis @ (turn @ q2 + turn_bias.ravel()))
        assert abs(of_arm - acceleration) < 1e-12 * np.abs(q2).max()


@pytest.mark.parametrize("stiffness", TABLE)
def test_eigenvalues_distance_from_rigid_and_longest_steps_are_the_prototype_s(stiffness: float) -> None:
    height, camber, fastest, *steps = TABLE[stiffness]
    found = CORNER.limit(stiffness)
    assert found.fastest == pytest.approx(fastest, rel=1e-3)
    assert found.fastest == pytest.approx(1063 * np.sqrt(stiffness / 1e6), rel=0.01)
    assert 1e3 * found.apart[2] == pytest.approx(height, rel=2e-3)
    assert np.degrees(found.camber) == pytest.approx(camber, rel=3e-3)
    listed = [found.steps[name] for name in ("none", "0.001 K", "0.05 K")]
    assert listed == pytest.approx(steps, rel=0.02, abs=1e-8)
    assert found.steps["loss"] == pytest.approx(found.steps["none"], rel=0.02)


def test_the_distance_from_rigid_is_of_first_order_in_the_compliance_and_its_limit_is_the_rigid_corner() -> None:
    soft, stiff = (CORNER.bushed(k) for k in (2e8, 4e8))
    rigid = CORNER.rigid
    assert (soft.hub - rigid.hub)[2] / (stiff.hub - rigid.hub)[2] == pytest.approx(2.0, rel=1e-3)
    assert 1e3 * np.abs(2 * stiff.hub - soft.hub - rigid.hub).max() < 1e-3
    assert abs(2 * stiff.camber - soft.camber - rigid.camber) < 1e-6


def test_the_rigid_corner_s_eigenvalues_allow_a_step_a_hundred_times_as_long() -> None:
    # -17.5 +- 23.5i as in the prototype; its 95 ms are 2.785 / |lambda|, the limit on the real axis
    found = CORNER.rigid.eigenvalues
    assert found[np.argmax(found.imag)] == pytest.approx(-17.5 + 23.5j, rel=2e-3)
    assert 2.785 / CORNER.rigid.fastest == pytest.approx(95e-3, rel=2e-3)
    assert CORNER.rigid.step == pytest.approx(89.7e-3, rel=1e-3)
    assert CORNER.rigid.step > 100 * CORNER.limit(2e7).steps["none"]


def test_the_longest_step_is_the_known_end_of_the_region_of_stability() -> None:
    # Hairer and Wanner II, section IV.2: 2.785 on the real axis, 2 sqrt(2) on the imaginary one
    assert longest_step(np.array([-10.0 + 0j, -1.0 + 0j])) == pytest.approx(0.2785293563, rel=1e-6)
    assert longest_step(np.array([5j, -5j])) == pytest.approx(2 * np.sqrt(2) / 5, rel=1e-3)
    assert longest_step(np.array([0j])) == float("inf")


def test_the_loss_factor_is_the_ratio_of_the_damper_s_to_the_spring_s_force() -> None:
    assert loss_damping(2e7, 0.02, 1e3) * 2 * np.pi * 1e3 / 2e7 == pytest.approx(0.02)


@pytest.mark.slow
def test_a_vehicle_on_bushings_is_driven_near_the_rigid_one_and_needs_short_explicit_steps() -> None:
    bushings, rigid = on_bushings(), whole(VEHICLE, "ce").run(0.1, 1e-3)
    assert bushings.size + 4 == 133
    fine = bushings.run(0.1, 5e-4)
    assert np.abs(fine.path[-1] - rigid.path[-1]).max() < 2e-3  # the bushings of 2e7 N/m give by 0.5 mm
    assert max(fine.closure) == 0.0
    with np.errstate(all="ignore"):
        assert not np.isfinite(bushings.run(0.1, 1e-3).path[-1]).all()


@cache
def on_bushings() -> Whole:
    return whole(VEHICLE, "bushing")


@pytest.mark.slow
def test_an_implicit_method_takes_bushings_at_long_steps() -> None:
    bushings = on_bushings()
    implicit = Rosenbrock(bushings).step
    fine = bushings.run(1.0, 5e-4).path[-1]
    errors = [float(np.linalg.norm(bushings.run(1.0, tick, step=implicit).path[-1] - fine)) for tick in (5e-3, 2e-3)]
    assert errors[1] < 1e-3 and errors[0] < 1e-2


@pytest.mark.slow
def test_on_bushings_without_damping_the_energy_is_kept_in_flight() -> None:
    mechanisms = [linear(mechanism_of(VEHICLE, a.name, a.kind), damped=False) for a in VEHICLE.axles]
    corners = [Bushed(m, side, stiffness=1e6, damping=0.0) for m in mechanisms for side in (1.0, -1.0)]
    flying = Whole(VEHICLE, corners, Tires(0.0, 0.0, 0.0))
    energies = [flying.run(0.1, tick, Closure(), straight).energy for tick in (5e-4, 2.5e-4)]
    lost = [abs(e[-1] - e[0]) for e in energies]
    assert lost[1] < 2e-3  # of 148 kJ
    assert lost[0] / lost[1] > 20


def test_a_five_link_corner_stands_on_bushings_too_and_a_strut_that_slides_is_refused() -> None:
    v = hardpoints.five_link()
    corner = Corner(v, "rear", "multilink")
    soft, stiff = (corner.bushed(k).hub - corner.rigid.hub for k in (2e8, 4e8))
    assert soft[2] / stiff[2] == pytest.approx(2.0, rel=5e-3)
    with pytest.raises(ValueError, match="strut_top still close loops"):
        with_bushings(hardpoints.mechanism(hardpoints.macpherson()))


def test_bushings_of_the_right_side_are_the_left_s_mirrored() -> None:
    left, right = bushed(0), bushed(1)
    a, b = (flat(ca.evalf(next(x for x in f.bushings if x.name == "upper_arm.2").a.point)) for f in (left, right))
    assert a * [1, -1, 1] == pytest.approx(b)
    still = [np.zeros(14), np.zeros(14), 0]
    ends = [np.concatenate([flat(ca.evalf(SX(next(iter(f.mechanism.prescribed.values()))))), np.zeros(9)])
            for f in (left, right)]  # fmt: skip
    p, q = (np.array(gather_of(f)(*still, e, [0] * 3, [0] * 8, 0)[0]) for f, e in zip((left, right), ends, strict=True))
    mirror = np.diag([-1, 1, -1, 1, -1, 1])
    assert relative(mirror @ p @ mirror, q) < 1e-12
