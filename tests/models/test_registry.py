"""The registry of models: names lead to one model, and a name that is taken is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jounce_fmu.build.library import Sources
from jounce_fmu.models import Model, ModelError, data_sets, find, models, register, unregister

VEHICLE = find("hmmwv")


def test_every_vehicle_is_a_data_set_of_the_double_wishbone_model(tmp_path: Path) -> None:
    assert {"hmmwv", "hmmwv_chrono", "utv"} <= set(VEHICLE.data_sets) <= set(data_sets())
    assert VEHICLE.base == "hmmwv"
    (tmp_path / "vehicle.toml").write_text('base = "hmmwv"\n')
    assert find(tmp_path) is find(tmp_path / "vehicle.toml") is find("utv") is VEHICLE


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ModelError, match=r"'hummer': expected .*utv, an example \(car, .*\), or the folder or vehicle"):
        find("hummer")


@pytest.mark.parametrize(("name", "sets", "message"), [
    ("double_wishbone", ("other",), "there is a model named 'double_wishbone' already"),
    ("other", ("utv", "other"), "other: double_wishbone has a data set named 'utv' already"),
    ("other", (), "other: expected at least one data set"),
])  # fmt: skip
def test_a_model_that_takes_anothers_name_is_refused(name: str, sets: tuple[str, ...], message: str) -> None:
    before = models()
    with pytest.raises(ModelError, match=message):
        register(replace(VEHICLE, name=name, data_sets=sets))
    assert models() == before


def test_a_model_that_was_added_is_found_until_it_is_taken_back() -> None:
    other = Model("other", ("one", "two"), Sources("jounce_one", ()), VEHICLE.read, VEHICLE.emit)
    register(other)
    try:
        assert find("one") is find("two") is other
    finally:
        unregister("other")
    with pytest.raises(ModelError, match="expected .*hmmwv"):
        find("one")
    with pytest.raises(ModelError, match="no model named 'other' has been added"):
        unregister("other")
