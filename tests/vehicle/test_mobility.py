"""Motions of mechanisms by rank, and what is said where they are not those that are needed."""

from __future__ import annotations

import re
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from suspensions import WHEEL, five_link, hmmwv, macpherson, solid_axle

from jounce.data import load_vehicle
from jounce.dynamics.embedding import Embedding
from jounce.dynamics.mechanism import Body, End, Joint, Mechanism, Rod, Wheel
from jounce.dynamics.mobility import Mobility, margins, require
from jounce.suspension.double_wishbone import OUTPUTS
from jounce.suspension.embedded import corner_function


def _of(mechanism: Mechanism) -> Mobility:
    return require(Embedding(mechanism), ca.evalf(mechanism.numbers()))


def _refused(mechanism: Mechanism) -> str:
    with pytest.raises(ValueError) as refusal:
        _of(mechanism)
    return str(refusal.value)


@pytest.mark.slow(but=("mechanism0", "mechanism5", "mechanism6"))
@pytest.mark.parametrize(
    ("mechanism", "motions"),
    [
        (hmmwv(load_vehicle("hmmwv"), "front"), 1),
        (hmmwv(load_vehicle("hmmwv"), "front", ten=True), 1),
        (macpherson(), 1),
        (five_link(), 1),
        (five_link(arm=True), 1),
        (solid_axle(), 2),
        (solid_axle(steered=True), 2),
    ],
)
def test_every_suspension_has_the_motions_of_its_wheels(mechanism: Mechanism, motions: int) -> None:
    found = _of(mechanism)
    assert found.motions == motions
    assert len(found.positions) == 21


def test_five_rigid_links_on_a_solid_axle_are_refused_and_a_compliant_one_is_enough() -> None:
    assert _refused(solid_axle(panhard=True)) == (
        "axle rear: five rigid links leave 1 motion, 2 are needed; make one of UL_L, UL_R, LL_L, LL_R, PAN compliant")
    for name in ("UL_L", "UL_R", "LL_L", "LL_R", "PAN"):
        assert _of(solid_axle(panhard=True, compliant=name)).motions == 2


def _parallelogram(extra: tuple[Joint, ...] = ()) -> Mechanism:
    """Two equal arms, a coupler, and a third arm between them as a rod; in the y-z plane, all joints round."""
    x = [1.0, 0.0, 0.0]
    bodies = tuple(Body(n, 2.0, [0.0, 0.3, z], [0.1, 0.1, 0.1]) for n, z in (("low", 0.0), ("high", 0.3),
                                                                            ("hub", 0.1)))  # fmt: skip
    joints = (Joint("low hinge", "revolute", "chassis", "low", [0.0, 0.0, 0.0], x),
              Joint("high hinge", "revolute", "chassis", "high", [0.0, 0.0, 0.3], x),
              Joint("low pin", "revolute", "low", "hub", [0.0, 0.4, 0.0], x),
              Joint("high ball", "spherical", "hub", "high", [0.0, 0.4, 0.3], cut=True))  # fmt: skip
    rod = Rod("between", End("hub", [0.0, 0.4, 0.1]), End("chassis", [0.0, 0.0, 0.1]))
    wheel = Wheel("wheel", "hub", [0.0, 0.6, 0.1], **WHEEL)
    return Mechanism("corner", ("low hinge",), bodies, (*joints, *extra), (rod,), (wheel,))


def test_rows_that_hold_nothing_of_their_own_are_left_out() -> None:
    # a planar loop with round joints: the ball's row along x and the parallel rod are redundant, rank 2 of 4 rows
    mechanism = _parallelogram()
    embedding = Embedding(mechanism)
    assert _of(mechanism).motions == 1
    assert len(embedding.order) == 2
    numbers, function = ca.evalf(mechanism.numbers()), corner_function(embedding)
    u = np.tan([-0.2, 0.2] if embedding.names[embedding.dependent[0]] == "low pin" else [0.2, -0.2])
    out = OUTPUTS.split(function([0.4, 1.0, 0.0], np.zeros(12), np.zeros(3), numbers, u))
    assert float(out["closure"]) < 1e-15
    # the coupler does not turn; its points move on circles of 0.4 m
    assert np.allclose(np.array(out["centre_partial"]).ravel(), 0.4 * np.array([0.0, -np.sin(0.4), np.cos(0.4)]))
    assert np.abs(np.array(out["upright_partial"])).max() < 1e-15


def test_a_missing_link_is_named_by_what_moves() -> None:
    whole = macpherson()
    assert _refused(replace(whole, rods=())) == (
        "macpherson: its joints and links leave 2 motions, 1 is needed; nothing holds ball.z, ball.x, ball.y")


def test_a_joint_too_many_is_named() -> None:
    whole = hmmwv(load_vehicle("hmmwv"), "front")
    extra = Joint("second hinge", "spherical", "chassis", "upright", [0.0, 0.5, 0.0], cut=True)
    said = _refused(replace(whole, joints=(*whole.joints, extra)))
    assert re.match(r"front: its joints and links leave \d motions, 1 is needed; .*second hinge.* more than", said)


def test_an_independent_coordinate_that_does_not_give_the_position_is_refused() -> None:
    x, origin = [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    joints = (Joint("tube", "cylindrical", "chassis", "arm", origin, x),
              Joint("key", "prismatic", "chassis", "arm", origin, x, cut=True))  # fmt: skip
    arm = (Body("arm", 1.0, origin, [1.0, 1.0, 1.0]),)
    assert _of(Mechanism("corner", ("tube.slide",), arm, joints)).motions == 1
    assert _refused(Mechanism("corner", ("tube.turn",), arm, joints)) == (
        "corner: tube.turn does not give its position: tube.slide can move while it stands")


def test_margins_tell_which_coordinate_may_be_independent() -> None:
    # measured on the HMMWV's front: lower arm 0.023 to -0.45 rad, any angle of the upright passes through zero
    mechanism = hmmwv(load_vehicle("hmmwv"), "front")
    embedding = Embedding(mechanism)
    numbers = ca.evalf(mechanism.numbers())
    q = np.array(_of(mechanism).positions).T
    found = margins(embedding, numbers, q, np.tile(np.array(embedding.rest), q.shape[1]))
    assert found["lower",] > 0.05
    assert found["lower ball.z",] < 0.5 * found["lower",]
