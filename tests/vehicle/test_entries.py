"""Entries of data files: whatever stands in one is an entry or is refused by one line that names it."""

from __future__ import annotations

import copy
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce.data import DataError, load_vehicle, vehicle_file
from jounce.entries import Entry, checked, expected, take
from jounce.models.double_wishbone.arrange import arranged

GOOD: dict[str, Any] = {"value": 0.5, "unit": "m", "source": "s", "description": "d"}
#: What a hand, a script or a bad day may put in the place of anything.
ODD = st.one_of(
    st.floats(), st.integers(-(10**400), 10**400), st.booleans(), st.text(max_size=5), st.none(),
    st.lists(st.one_of(st.integers(), st.text(max_size=3), st.just({})), max_size=3),
    st.dictionaries(st.sampled_from(["value", "unit", "x"]), st.floats(), max_size=2),
)  # fmt: skip


def read(table: dict[str, Any]) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    take(table, "a.toml", entries, {})
    return entries


@given(st.sampled_from([*GOOD, "minimum", "maximum", "items", "valeu", "Unit"]), ODD)
def test_whatever_stands_in_a_field_is_taken_as_it_is_meant_or_refused_by_the_entry_s_name(key: str, odd: Any) -> None:
    try:
        [entry] = read({"axle": {"point": {**copy.deepcopy(GOOD), key: odd}}}).values()
    except DataError as error:
        assert "axle.point" in str(error) and "\n" not in str(error)
        return
    except ValueError:
        pytest.fail("not a DataError")
    assert math.isfinite(entry.value) and entry.minimum <= entry.value <= entry.maximum and entry.file == "a.toml"


@given(ODD)
def test_whatever_stands_for_an_entry_is_entries_a_list_or_refused(odd: Any) -> None:
    try:
        assert all(math.isfinite(e.value) for e in read({"axle": {"point": odd}}).values())
    except DataError as error:
        assert "axle.point" in str(error)


@pytest.mark.parametrize(("change", "words"), [
    ({"value": math.nan}, "axle.point = nan: expected a number from -1000 to 1000 m"),
    ({"value": 1e30}, "axle.point = 1e+30: expected a number from -1000 to 1000 m"),
    ({"value": -0.1, "minimum": 0.0}, "axle.point = -0.1: expected a number from 0 to 1000 m"),
    ({"value": math.inf, "unit": "1", "maximum": 2.0}, "axle.point = inf: expected a number from -1e+15 to 2"),
    ({"minimum": 2.0, "maximum": 1.0}, "'axle.point': minimum = 2, maximum = 1: expected a minimum up to the maximum"),
    ({"minimum": math.nan}, "'axle.point': minimum = nan"), ({"items": 10**400}, "'axle.point': items = "),
    ({"items": ["A", "A"], "value": "A"}, "a list of names that differ"), ({"unit": ""}, "unit = '': expected a text"),
    ({"Value": 1.0}, "unknown key 'Value'; did you mean value?"), ({"items": ["A"]}, "value = 0.5: expected one of A"),
])  # fmt: skip
def test_the_line_says_what_is_allowed(change: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError) as caught:
        read({"axle": {"point": {**GOOD, **change}}})
    assert words in str(caught.value)


def test_an_entry_tells_its_file_and_is_the_same_entry_from_another() -> None:
    car = load_vehicle("car")
    assert car.entries["rear.spring.k1"].file == "rear.toml"
    assert Entry(1.0, "m", "s", "d", file="a") == Entry(1.0, "m", "s", "d", file="b")
    assert expected(Entry(1.0, "N/m", "s", "d", 0.0)) == "a number from 0 to 1e+15 N/m"
    assert checked("x", car.entries["rear.spring.k1"]) is car.entries["rear.spring.k1"]


def changed(folder: Path, file: str, old: str, new: str) -> Path:
    shutil.copytree(vehicle_file("car").parent, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert text.count(old) >= 1
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("file", "old", "new", "words"), [
    ("steering.toml", "max_arm_angle", "max_arm_angel",
     "lacks the entry 'steering.max_arm_angle'; unknown is 'steering.max_arm_angel' in steering.toml"),
    ("rear.toml", "LATERAL_U.y", "LATERAL_u.y",
     "axle rear (multilink): no entry 'rear.LATERAL_U.y'; unknown is 'rear.LATERAL_u.y' in rear.toml"),
    ("steering.toml", 'unit = "m/rad"', 'unit = "m"', "steering.toml: steering.rack_gain is in m; expected m/rad"),
    ("rear.toml", "SPINDLE.y = { value = ", "SPINDLE.y = { value = -",
     "rear.toml: rear.SPINDLE.y = -0.7493 m: expected above 0 m: points are those of the left side"),
])  # fmt: skip
def test_a_fault_of_the_vehicle_s_names_units_and_sides_tells_entry_and_file(
    tmp_path: Path, file: str, old: str, new: str, words: str
) -> None:
    with pytest.raises(DataError) as caught:
        arranged(load_vehicle(changed(tmp_path / "v", file, old, new)))
    assert words in str(caught.value)


def test_files_that_cannot_be_read_are_named_with_the_nearest_that_can(tmp_path: Path) -> None:
    folder = changed(tmp_path / "v", "vehicle.toml", '"actuators.toml"', '"actuator.toml"')
    with pytest.raises(DataError, match=r"actuator.toml: expected a file that exists; did you mean actuators.toml\?"):
        load_vehicle(folder)
    lines = ['files = ["a\\u0000b"]', 'files = ["."]', 'files = ["/dev/null/x"]', 'files = []\nroad = "a\\u0000b"',
             'files = []\ntire_file = {front = "a\\u0000b"}', 'files = []\nname = ""', 'base = "a\\nb"',
             f'base = "{"n" * 300}"', "files = true", "files = 1.5"]  # fmt: skip
    for line in lines:
        (folder / "vehicle.toml").write_text(f"{line}\n", encoding="utf-8")
        with pytest.raises(DataError) as caught:
            load_vehicle(folder)
        assert "\n" not in str(caught.value)
