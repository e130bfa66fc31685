"""Value references stay with their names, whatever happens to the table around them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import LEDGER, table
from jounce.references import FIRST, RATE_OFFSET, Ledger, LedgerError
from jounce.renamed import FORMER
from jounce.signals import Signal, SignalTable, State

VEHICLE = table(load_vehicle("hmmwv"))


def references(signals: SignalTable) -> dict[str, int]:
    states = zip((s.name for s in signals.states), signals.state_references, strict=True)
    return {s.name: s.value_reference for s in signals.scalars} | dict(states)


#: As importers of the first release stored them.
FIRST_RELEASE = {
    "steering_wheel_angle": 1000, "wheel_FL.drive_torque": 1002, "wheel_RR.terrain_mu": 1065,
    "chassis.ext_moment.z": 1071,
    "ref_frame.pos.x": 10000, "wheel_FL.pos.x": 10033, "closure_residual": 10185, "tick_count": 10186, "tick": 100000,
    "chassis.mass": 100018, "tire.tread_damping": 100333, "state.pos.x": 200000, "state.wheel_RR.brake_wind_up": 200040,
}  # fmt: skip


#: Parameters that have another name since, by that of the first release.
RENAMED_SINCE = {
    "tire.pn": 100296, "tire.vertical_stiffness_linear_N_m": 100299, "tire.dfx0_pn": 100303, "tire.sqe_p2n": 100328,
    "tire.vnum": 100329, "tire.frblend_end_mps": 100331, "tire.dahl_sigma1": 100333,
}  # fmt: skip


def test_the_references_of_the_first_release_stand() -> None:
    assert FIRST_RELEASE.items() <= references(VEHICLE).items()


def test_a_parameter_keeps_its_reference_under_a_new_name() -> None:
    now = references(VEHICLE)
    assert {old: now[FORMER[old]] for old in RENAMED_SINCE} == RENAMED_SINCE


@given(place=st.integers(0, len(VEHICLE.signals)), kind=st.sampled_from(("input", "output", "parameter")),
       parts=st.sampled_from((("",), (".x", ".y", ".z"))))  # fmt: skip
def test_a_new_signal_moves_no_reference_wherever_it_stands(place: int, kind: str, parts: tuple[str, ...]) -> None:
    new = Signal("new", kind, "1", "added", parts)  # type: ignore[arg-type]
    grown = references(replace(VEHICLE, signals=(*VEHICLE.signals[:place], new, *VEHICLE.signals[place:])))
    old = references(VEHICLE)
    assert {name: grown[name] for name in old} == old
    added = [grown["new" + part] for part in parts]
    assert added == list(range(added[0], added[0] + len(parts)))
    assert len(set(grown.values())) == len(grown)


@given(st.integers(0, len(VEHICLE.states)))
def test_a_new_state_moves_neither_references_nor_those_of_derivatives(place: int) -> None:
    states = (*VEHICLE.states[:place], State("state.new", "m", "added"), *VEHICLE.states[place:])
    grown = replace(VEHICLE, states=states)
    old, now = references(VEHICLE), references(grown)
    assert {name: now[name] for name in old} == old
    assert grown.rate_references == tuple(r + RATE_OFFSET for r in grown.state_references)


@given(st.integers(0, len(VEHICLE.signals) - 1))
def test_the_reference_of_a_removed_signal_is_never_given_again(place: int) -> None:
    gone = VEHICLE.signals[place]
    shrunk = replace(VEHICLE, signals=(*VEHICLE.signals[:place], *VEHICLE.signals[place + 1 :]))
    regrown = replace(shrunk, signals=(*shrunk.signals, Signal("new", gone.causality, "1", "added")))
    taken = {VEHICLE.ledger.references[gone.name + c] for c in gone.components}
    assert references(regrown)["new"] not in taken
    assert {name: VEHICLE.ledger.references[name] for name in references(shrunk)} == references(shrunk)


def test_the_committed_ledger_has_every_variable_of_the_model() -> None:
    assert Ledger.read(LEDGER).references == VEHICLE.ledger.references


@pytest.mark.parametrize(("text", "message"), [
    ("1000 a\n1000 b\n", "line 2: 1000 is given twice"),
    ("1000 a\n1001 a\n", "line 2: a has a reference already, 1000"),
    ("a 1000\n", "line 1: expected a reference and a name, found 'a 1000'"),
    ("１０ a\n", "line 1: expected a reference and a name"),
])  # fmt: skip
def test_a_ledger_that_contradicts_itself_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "references.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LedgerError, match=message):
        Ledger.read(path)


def test_a_kind_without_a_number_left_is_refused() -> None:
    full = Ledger({"last": FIRST["output"] - 1})
    with pytest.raises(LedgerError, match="more: no reference is left for another input; the last is 9999"):
        full.extended([("input", "more")])
