"""Where the wheels of a vehicle stand in vectors with a number per wheel."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce.axles import DEFAULT, Axle
from jounce.models.double_wishbone import axles_c
from jounce.models.double_wishbone.lanes import FOUR, Lanes
from jounce.suspension.kinds import KINDS

AXLES = st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=8).map(
    lambda kinds: tuple(Axle(f"a{k}", kind) for k, kind in enumerate(kinds))
)


def test_two_axles_of_one_kind_have_a_lane_for_each_wheel_and_no_other() -> None:
    lanes = Lanes(DEFAULT)
    assert lanes.plain and lanes.wheel_of == lanes.lane_of == (0, 1, 2, 3)
    assert [(g.first, g.end, g.functions) for g in lanes.groups] == [(0, 4, {"corner": "corner"})]


def test_three_axles_fill_their_second_four_lanes_with_the_last_wheel() -> None:
    assert Lanes((*DEFAULT, Axle("third"))).wheel_of == (0, 1, 2, 3, 4, 5, 5, 5)


@given(AXLES)
def test_every_wheel_has_a_lane_of_its_kind_and_every_lane_a_wheel(axles: tuple[Axle, ...]) -> None:
    lanes = Lanes(axles)
    wheels = range(2 * len(axles))
    assert [lanes.wheel_of[lane] for lane in lanes.lane_of] == list(wheels)
    assert len(lanes) % FOUR == 0 and set(lanes.wheel_of) == set(wheels)
    covered = [(lane, group) for group in lanes.groups for lane in range(group.first, group.end)]
    assert [lane for lane, _ in covered] == sorted(lanes.lane_of) == list(wheels)  # copies are in the rest
    for lane, group in covered:
        kind = KINDS[axles[lanes.wheel_of[lane] // 2].kind]
        wanted = kind.variants[0].function
        assert wanted == (group.own["corner"][-1].function if kind.embedded else group.functions["corner"])
        assert group.paired == kind.paired


def test_axles_of_two_kinds_share_four_lanes_and_take_two_at_once_each() -> None:
    lanes = Lanes((Axle("front", "macpherson"), Axle("rear", "multilink")))
    assert lanes.plain and len(lanes) == FOUR
    assert [group.blocks for group in lanes.groups] == [((0, 2, True),), ((2, 4, True),)]
    assert lanes.widths == {"macpherson": (2,), "multilink": (2,)}


@given(AXLES)
def test_blocks_cover_the_lanes_of_a_kind_and_no_other_kind_s(axles: tuple[Axle, ...]) -> None:
    lanes = Lanes(axles)
    for group in lanes.groups:
        parts = group.parts()
        assert [lane for part in parts for lane in range(part.first, part.end)] == [*range(group.first, group.end)]
        if group.paired:
            continue
        for part in parts:
            at_once = 2 if part.narrow else FOUR
            assert part.first % at_once == 0
            computed = range(part.first, -(-part.end // at_once) * at_once)
            own = range(part.first, part.end)
            assert {lanes.wheel_of[lane] for lane in computed} == {lanes.wheel_of[lane] for lane in own}


@given(AXLES)
def test_wheels_that_share_a_body_stand_side_by_side_the_left_one_in_an_even_lane(axles: tuple[Axle, ...]) -> None:
    lane_of = Lanes(axles).lane_of
    assert all(lane_of[2 * k] % 2 == 0 and lane_of[2 * k + 1] == lane_of[2 * k] + 1 for k in range(len(axles)))


@given(AXLES)
def test_the_sum_adds_every_wheel_once_in_the_order_of_the_lanes(axles: tuple[Axle, ...]) -> None:
    lanes = Lanes(axles)
    [line] = [m for m in lanes.macros("w" * 2 * len(axles)) if m.startswith("#define JN_SUM")]
    assert [int(n) for n in re.findall(r"at\((\d+)\)", line)] == sorted(lanes.lane_of)
    assert line.count("(") == line.count(")")


@pytest.mark.parametrize("axles", [1, 3, 8])
def test_the_state_vector_inside_has_a_row_of_lanes_for_each_state_of_a_wheel(axles: int) -> None:
    lanes = Lanes(tuple(Axle(f"a{k}") for k in range(axles)))
    states = axles_c.states(lanes, ("bristle",))
    assert states.first["spin"] == 13 and states.first["theta"] == 13 + len(lanes)
    assert states.size == 13 + 5 * len(lanes) + len(axles_c.MEMORY)
