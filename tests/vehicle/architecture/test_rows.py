"""Rows of joints and springs against finite differences, and what the printed rows do."""

from __future__ import annotations

import numpy as np
import pytest

from jounce.architecture import mobility, rows
from jounce.architecture.target import GROUND, ROWS, Body, Joint, Multibody, Spring

AXIS = np.array([0.6, 0.0, 0.8])


def pair(kind: str) -> Multibody:
    """Two bodies and what joins them, askew, also to the ground."""
    random = np.random.default_rng(3)
    bodies = tuple(Body(n, 1.0, random.uniform(-1, 1, 3), np.eye(3)) for n in "ab")
    p, q = random.uniform(-1, 1, (2, 3))
    same = p if kind in ("ball", "hinge", "slider", "line") else q
    if kind in ROWS:
        return Multibody("pair", bodies, tuple(Joint(kind, kind, a, b, p, same, AXIS, float(np.linalg.norm(p - q)))
                                               for a, b in ((0, 1), (1, GROUND), (GROUND, 0))))  # fmt: skip
    along = AXIS if kind == "along" else None
    return Multibody("pair", bodies, springs=tuple(Spring("s", a, b, p, q, 1.0, 0.0, along)
                                                   for a, b in ((0, 1), (1, GROUND), (GROUND, 0))))  # fmt: skip


@pytest.mark.parametrize("kind", [*ROWS, "along", "distance"])
def test_a_rows_jacobian_is_the_derivative_of_its_residual(kind: str) -> None:
    model = pair(kind)
    measure = rows.joints if kind in ROWS else rows.springs
    pose = rows.drawn(model).moved(np.random.default_rng(5).uniform(-0.4, 0.4, 12))
    jacobian, h = measure(model, pose)[1], 1e-6
    for k, step in enumerate(h * np.eye(12)):
        slope = (measure(model, pose.moved(step))[0] - measure(model, pose.moved(-step))[0]) / (2 * h)
        np.testing.assert_allclose(jacobian[:, k], slope, atol=1e-9)


@pytest.mark.parametrize("kind", ROWS)
def test_a_joint_holds_as_many_motions_as_it_has_rows_and_closes_as_drawn(kind: str) -> None:
    model = pair(kind)
    residual, jacobian = rows.joints(model, rows.drawn(model))
    assert len(residual) == 3 * ROWS[kind] and np.abs(residual).max() < 1e-15
    assert np.linalg.matrix_rank(jacobian[: ROWS[kind]]) == ROWS[kind]


@pytest.mark.parametrize("kind", [*ROWS, "along", "distance"])
def test_the_two_halves_of_every_force_have_no_sum_and_no_moment(kind: str) -> None:
    """Newton's third law: what a row does to a and b together is nothing, about any point."""
    model = pair(kind)
    pose = rows.drawn(model).moved(np.random.default_rng(6).uniform(-0.05, 0.05, 12))
    for row in (rows.joints if kind in ROWS else rows.springs)(model, pose)[1][: ROWS.get(kind, 1)]:
        force, torque = row.reshape(2, 2, 3)[:, 0], row.reshape(2, 2, 3)[:, 1]
        np.testing.assert_allclose(force.sum(0), 0, atol=1e-14)
        moment = torque.sum(0) + np.cross(pose.x, force).sum(0)
        gap = 0.0 if kind in ("rod", "distance", "along", "line", "slider") else 0.2  # a ball's gap has an arm
        assert np.abs(moment).max() < 1e-14 + gap * np.abs(force).max()


def test_a_hinge_pendulum_moves_about_its_pin_and_with_the_printed_arm_about_a_mirrored_one() -> None:
    """Lesiv 2011, Eqs. 9-12 and 20: v + r x w with r from the centre of mass to the anchor.

    A pendulum of 1 m below its pin that turns at w has the velocity w x c of its centre. The printed row allows the
    opposite one, with which the anchor leaves the pin at twice that speed; with r towards the centre it is right.
    """
    body = Body("bob", 1.0, np.array([0.0, 0.0, -1.0]), np.eye(3))
    pin = Joint("pin", "hinge", 0, GROUND, np.zeros(3), np.zeros(3), np.array([0.0, 1.0, 0.0]))
    jacobian = rows.joints(Multibody("pendulum", (body,), (pin,)), rows.drawn(Multibody("one", (body,))))[1]
    turn = np.array([0.0, 0.3, 0.0])
    arm = -body.com  # from the centre of mass to the pin

    swing = mobility.free(jacobian)[:, 0]
    v, w = swing[:3], swing[3:]
    np.testing.assert_allclose(v, np.cross(w, body.com), atol=1e-12)  # the field of a rotation about the pin

    printed_v = -np.cross(arm, turn)  # what v + r x w = 0 asks for
    leaves = printed_v + np.cross(turn, arm)  # velocity of the anchor
    np.testing.assert_allclose(np.linalg.norm(leaves), 2 * 0.3, atol=1e-12)
    np.testing.assert_allclose(-np.cross(-arm, turn) + np.cross(turn, arm), 0, atol=1e-12)  # r towards the centre



def test_the_printed_hinge_matrix_holds_the_second_body_by_the_first_ones_arm() -> None:
    """Lesiv 2011, Eq. 22: its fourth block has r1 where r2 must be.

    Two bodies, pinned 1 m and 2 m from their centres, turn as one about the pin: the rows allow that. The printed
    matrix does not: it sees the second body's anchor 1 m from its centre, and takes a gap of |w| (r2 - r1) for motion.
    """
    bodies = (Body("a", 1.0, np.array([1.0, 0, 0]), np.eye(3)), Body("b", 1.0, np.array([-2.0, 0, 0]), np.eye(3)))
    y = np.array([0.0, 1.0, 0.0])
    model = Multibody("two", bodies, (Joint("pin", "hinge", 0, 1, np.zeros(3), np.zeros(3), y),))
    jacobian = rows.joints(model, rows.drawn(model))[1]
    w = 0.3 * y
    together = np.concatenate([np.cross(w, bodies[0].com), w, np.cross(w, bodies[1].com), w])
    np.testing.assert_allclose(jacobian @ together, 0, atol=1e-15)
    printed = jacobian.copy()
    printed[:3, 9:12] = -printed[:3, 3:6]
    assert np.abs(printed @ together).max() == pytest.approx(0.3 * (1 + 2))
