"""Value references of vehicles on any axles follow from committed ledgers: they are the same in every release."""

from __future__ import annotations

from dataclasses import replace

import own_axles
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce.axles import DEFAULT, Axle
from jounce.data import Entry, Vehicle
from jounce.models.double_wishbone.arrange import arranged
from jounce.models.double_wishbone.ledgers import LEDGER
from jounce.models.double_wishbone.signals import table
from jounce.references import FIRST, Ledger
from jounce.signals import SignalTable

HMMWV = Ledger.read(LEDGER).references


def signals(axles: tuple[Axle, ...]) -> SignalTable:
    found = {
        name: entry if isinstance(entry, Entry) else replace(own_axles.like(axles, name), value=entry)
        for name, entry in own_axles.entries(axles).items()
    }
    return table(arranged(Vehicle("own", found, axles=axles)))


@given(st.integers(1, 8))
def test_references_are_unique_and_stay_in_their_ranges(count: int) -> None:
    axles = own_axles.straight(count)
    made = signals(axles)
    references = [*(s.value_reference for s in made.scalars), *made.state_references]
    assert len(set(references)) == len(references)
    ends = {"input": FIRST["output"], "output": FIRST["parameter"], "parameter": FIRST["state"]}
    for s in made.scalars:
        assert FIRST[s.signal.causality] <= s.value_reference < ends[s.signal.causality], s.name
    assert all(FIRST["state"] <= r < 300_000 for r in made.state_references)


#: As users of the first release stored them.
FIRST_RELEASE = {
    "speed": 10031, "wheel_1L.pos.x": 10033, "wheel_2R.tire_force.z": 10171, "wheel_3L.pos.x": 15033,
    "wheel_4R.pos.x": 30033, "wheel_1L.drive_torque": 1002, "wheel_3L.drive_torque": 1502,
    "wheel_4R.drive_torque": 3002, "chassis.mass": 100018, "axle_0.spring.k1": HMMWV["front.spring.k1"],
    "axle_1.spring.k1": HMMWV["rear.spring.k1"], "axle_3.spring.k1": HMMWV["front.spring.k1"] + 10000,
}  # fmt: skip


def test_the_references_of_an_eight_wheeler_stand() -> None:
    made = signals(own_axles.straight(4))
    assert {name: made.by_name(name).value_reference for name in FIRST_RELEASE} == FIRST_RELEASE


def test_names_of_the_axles_do_not_matter() -> None:
    one, other = (
        signals(own_axles.straight(3)),
        signals(tuple(replace(a, name=f"x{a.name}") for a in own_axles.straight(3))),
    )
    assert [s.value_reference for s in one.scalars] == [s.value_reference for s in other.scalars]


def test_two_axles_have_the_references_of_the_hmmwv() -> None:
    axles = (replace(DEFAULT[0], name="fore"), replace(DEFAULT[1], name="aft"))
    for s in signals(axles).scalars:
        base = s.name.replace("fore.", "front.").replace("aft.", "rear.")
        assert s.value_reference == HMMWV[base], s.name


@pytest.mark.parametrize("count", [1, 3, 8])
def test_every_variable_has_a_reference_by_rule(count: int) -> None:
    """None takes the next free one, which another release might give to another."""
    made = signals(own_axles.straight(count))
    last = {kind: max(r for r in HMMWV.values() if FIRST[kind] <= r < FIRST[kind] + 500) for kind in FIRST}
    stride = {"input": 500, "output": 5000, "parameter": 5000, "state": 5000}
    for s in made.scalars:
        kind = s.signal.causality
        assert (s.value_reference - FIRST[kind]) % stride[kind] <= last[kind] - FIRST[kind], s.name
