"""The vehicle data: names, bounds, sources and physical validity."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from jounce.axles import AXLES
from jounce.data import DataError, Vehicle, example_names, load_vehicle, vehicle_names

BODIES = ("UCA", "LCA", "upright", "spindle", "tierod", "shock_lower", "shock_upper")


def total_mass(vehicle: Vehicle) -> float:
    corners = sum(2 * vehicle[f"{axle}.{body}.mass"] for axle in AXLES for body in BODIES)
    fixed = vehicle["chassis.mass"] + vehicle["steering.link.mass"] + vehicle["steering.arm.mass"]
    return fixed + corners + 4 * vehicle["wheel.mass"]


def test_the_chrono_variant_has_the_total_mass_of_the_running_chrono_vehicle() -> None:
    assert total_mass(load_vehicle("hmmwv_chrono")) == pytest.approx(2573.138, abs=1e-9)


def test_the_default_adds_only_the_assumed_tierod_and_shock_masses() -> None:
    assert total_mass(load_vehicle("hmmwv")) == pytest.approx(2573.138 + 4 * (6 + 2 + 2), abs=1e-9)


def test_names_start_with_the_chassis_and_follow_the_order_of_the_contract() -> None:
    names = list(load_vehicle("hmmwv").entries)
    assert names[:5] == [
        "chassis.mass",
        "chassis.com.x",
        "chassis.com.y",
        "chassis.com.z",
        "chassis.inertia.xx",
    ]
    heads = list(dict.fromkeys(name.split(".")[0] for name in names))
    expected = [
        "chassis",
        "front",
        "rear",
        "wheel",
        "steering",
        "steering_ratio",
        "brake",
        "driveline",
        "tire",
    ]
    assert heads == expected


def test_the_variant_has_the_same_names_in_the_same_order() -> None:
    assert list(load_vehicle("hmmwv_chrono").entries) == list(load_vehicle("hmmwv").entries)


def test_every_default_inertia_obeys_the_triangle_inequality() -> None:
    vehicle = load_vehicle("hmmwv")
    for prefix in ["chassis", "wheel"] + [f"{axle}.{body}" for axle in AXLES for body in BODIES]:
        xx, yy, zz = (vehicle[f"{prefix}.inertia.{k}"] for k in ("xx", "yy", "zz"))
        assert max(xx, yy, zz) <= (xx + yy + zz) / 2 + 1e-15, prefix


def test_every_entry_has_a_unit_a_source_and_a_description() -> None:
    for name, entry in load_vehicle("hmmwv").entries.items():
        assert entry.unit and entry.source and entry.description, name


@pytest.mark.parametrize(("axle", "spring", "shock"), [("front", 0.246463, 0.372586), ("rear", 0.306016, 0.364516)])
def test_design_lengths_match_the_running_chrono_vehicle(axle: str, spring: float, shock: float) -> None:
    vehicle = load_vehicle("hmmwv")
    for kind, length in (("SPRING", spring), ("SHOCK", shock)):
        ends = vehicle.vector(f"{axle}.{kind}_C") - vehicle.vector(f"{axle}.{kind}_A")
        assert np.linalg.norm(ends) == pytest.approx(length, abs=5e-7)


@pytest.mark.parametrize(("axle", "force"), [("front", 52791.592), ("rear", 116651.084)])
def test_the_spring_cubic_meets_the_published_table_point_at_a_tenth_of_a_metre(axle: str, force: float) -> None:
    vehicle = load_vehicle("hmmwv")
    assert vehicle[f"{axle}.spring.k1"] * 0.1 + vehicle[f"{axle}.spring.k3"] * 1e-3 == pytest.approx(force, abs=1e-2)


def test_the_wheel_with_spindle_is_the_published_lump() -> None:
    vehicle = load_vehicle("hmmwv")
    assert vehicle["wheel.mass"] + vehicle["front.spindle.mass"] == pytest.approx(71.105)
    assert vehicle["wheel.inertia.yy"] + vehicle["rear.spindle.inertia.yy"] == pytest.approx(7.38782)


def test_angles_are_in_radians() -> None:
    vehicle = load_vehicle("hmmwv")
    assert vehicle["steering.tilt"] == pytest.approx(math.radians(18.5))
    assert vehicle["steering.max_arm_angle"] == pytest.approx(math.pi / 6)


def test_an_unknown_vehicle_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(DataError, match="hmmwv_chrono"):
        load_vehicle("no_such_vehicle")


def test_a_replacement_out_of_bounds_is_refused_and_changes_nothing() -> None:
    vehicle = load_vehicle("hmmwv")
    with pytest.raises(DataError, match=r"chassis\.mass = -1\.0"):
        vehicle.replaced({"chassis.mass": -1.0})
    with pytest.raises(DataError, match="no entry"):
        vehicle.replaced({"chassis.weight": 1.0})
    assert vehicle["chassis.mass"] == 2086.52
    assert vehicle.replaced({"chassis.mass": 2100.0})["chassis.mass"] == 2100.0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('mass = { value = 1.0, source = "s", description = "d" }', "lacks unit"),
        ('mass = { value = "a", unit = "kg", source = "s", description = "d" }', "mass.*expected a number"),
        ('mass = { value = nan, unit = "kg", source = "s", description = "d" }', "mass = nan"),
        ('mass = { value = 1.0, unit = "kg", source = "s", description = "d", colour = 1 }', "colour"),
        ("mass = 1.0", "a table with a value"),
    ],
)
def test_a_malformed_entry_is_refused(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "vehicle.toml").write_text('name = "x"\nfiles = ["a.toml"]\n', encoding="utf-8")
    (tmp_path / "a.toml").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=message):
        load_vehicle(tmp_path)


def test_a_variant_outside_the_package_can_build_on_a_built_in_vehicle(tmp_path: Path) -> None:
    path = tmp_path / "heavy.toml"
    path.write_text(
        'name = "heavy"\nbase = "hmmwv"\n[overrides]\n"chassis.mass" = { value = 3000.0 }\n', encoding="utf-8"
    )
    assert load_vehicle(path)["chassis.mass"] == 3000.0


def own_vehicle(folder: Path, overrides: str, head: str = 'base = "hmmwv"\n') -> Path:
    path = folder / "own.toml"
    path.write_text(f'name = "own"\n{head}[overrides]\n{overrides}\n', encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [
    '"chassis.mass" = 2500', '"chassis.mass" = 2500.0', "chassis.mass = 2500", "[overrides.chassis]\nmass = 2500",
    '"chassis.mass" = { value = 2500 }', "[overrides.chassis.mass]\nvalue = 2500",
    '[overrides.chassis]\n"mass" = { value = 2500, source = "weighed" }',
])  # fmt: skip
def test_an_override_may_be_a_number_alone_and_its_name_written_in_any_way_of_toml(tmp_path: Path, text: str) -> None:
    vehicle, base = load_vehicle(own_vehicle(tmp_path, text)), load_vehicle("hmmwv")
    assert vehicle["chassis.mass"] == 2500.0
    entry, was = vehicle.entries["chassis.mass"], base.entries["chassis.mass"]
    assert (entry.unit, entry.minimum, entry.description) == (was.unit, was.minimum, was.description)
    assert entry.source in ("own.toml of own", "weighed")
    assert {n: e for n, e in vehicle.entries.items() if n != "chassis.mass"} == {
        n: e for n, e in base.entries.items() if n != "chassis.mass"
    }


@pytest.mark.parametrize(("text", "message"), [
    ('"chassis.mass" = "heavy"', "chassis.mass = 'heavy': expected a number"),
    ('"chassis.mass" = true', "True: expected"),
    ('"chassis.mass" = [1]', r"\[1\]: expected a number"), ('"chassis.mass" = nan', "chassis.mass = nan"),
    ('"chassis.mass" = -1', "chassis.mass = -1.0"), ('"chassis.mas" = 1', "did you mean chassis.mass"),
    ('"chassis" = 1', "unknown entry 'chassis'"), ("chassis = 1", "unknown entry 'chassis'"),
    ("[overrides.chassis]\nmas = 1", "'chassis.mas'"),
    ('"chassis.mass" = { value = 1, unit = 3 }', "unit = 3: expected"),
    ('"chassis.mass" = { valeu = 1 }', "valeu"), ('"chassis.mass" = 1' + "0" * 400, "chassis.mass"),
])  # fmt: skip
def test_an_override_that_cannot_be_is_refused_with_its_name(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"{re.escape(str(tmp_path))}.*\[overrides\]: .*{message}"):
        load_vehicle(own_vehicle(tmp_path, text))


@pytest.mark.parametrize(("head", "message"), [
    ("", "either base"), ('base = "hmmwv"\nfiles = []\n', "either base"), ("files = []\n", "without a base"),
    ("base = 3\n", "base = 3: expected a text"), ('base = "tank"\n', "'tank'"), ('base = "hmmwv"\nbas = 1\n', "'bas'"),
    ('base = "own.toml"\n', "back to itself"),
])  # fmt: skip
def test_a_vehicle_file_that_says_something_else_is_refused(tmp_path: Path, head: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_vehicle(own_vehicle(tmp_path, "", head))


@pytest.mark.parametrize("content", [b"\xff", b"overrides = 3\nbase = 'hmmwv'", b"files = 'a'", b"files = [1]",
                                     b"name = 'a/b'\nbase = 'hmmwv'"])  # fmt: skip
def test_a_vehicle_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "vehicle.toml").write_bytes(content)
    with pytest.raises(DataError, match="vehicle.toml"):
        load_vehicle(tmp_path)


def test_an_example_is_found_by_name_and_a_folder_of_that_name_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "car" in example_names() and not set(example_names()) & set(vehicle_names())
    assert load_vehicle("car").axles[0].kind == "macpherson"
    (tmp_path / "car").mkdir()
    (tmp_path / "car" / "vehicle.toml").write_text('name = "mine"\nbase = "hmmwv"\n')
    assert load_vehicle("car").name == "mine"
    with pytest.raises(DataError, match="'tank': expected a file that exists, or one of .*hmmwv.*car"):
        load_vehicle("tank")


def test_a_fault_of_a_data_file_names_vehicle_file_and_entry(tmp_path: Path) -> None:
    (tmp_path / "vehicle.toml").write_text('name = "mine"\nfiles = ["a.toml"]\n')
    (tmp_path / "a.toml").write_text('x = { value = "much", unit = "m", source = "s", description = "d" }\n')
    with pytest.raises(DataError, match=r"mine: a.toml: entry 'x': value = 'much': expected a number"):
        load_vehicle(tmp_path)
    (tmp_path / "vehicle.toml").write_text('name = "mine"\nbase = "hmmwv"\npowertrain = "a.toml"\n')
    (tmp_path / "a.toml").write_text("")
    with pytest.raises(DataError, match=r"mine: a.toml: no entries; expected those of a powertrain"):
        load_vehicle(tmp_path)


ENTRY = 'value = 1.0\nunit = "m"\nsource = "test"\ndescription = "a length"\n'


def test_a_powertrain_of_several_files_has_the_entries_of_all_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text(f"[b.x]\n{ENTRY}")
    (tmp_path / "a.toml").write_text(f"[a.x]\n{ENTRY}")
    (tmp_path / "vehicle.toml").write_text('base = "hmmwv"\npowertrain = ["b.toml", "a.toml"]\n')
    vehicle = load_vehicle(tmp_path)
    assert vehicle.powertrain == ("b.x", "a.x")
    assert [vehicle.entries[n].file for n in vehicle.powertrain] == ["b.toml", "a.toml"]


@pytest.mark.parametrize(("files", "message"), [
    ('["b.toml", "b.toml"]', "b.toml: entry 'b.x' is in two files; expected in one"),
    ('["b.toml", "none.toml"]', "none.toml: expected a file that exists"),
    ("[]", r"powertrain = \[\]: expected the name of a data file .*, or a list of such names"),
    ('["b.toml", 1]', "expected the name of a data file .*, or a list of such names"),
])  # fmt: skip
def test_files_of_a_powertrain_that_cannot_be_are_refused(tmp_path: Path, files: str, message: str) -> None:
    (tmp_path / "b.toml").write_text(f"[b.x]\n{ENTRY}")
    (tmp_path / "vehicle.toml").write_text(f'base = "hmmwv"\npowertrain = {files}\n')
    with pytest.raises(DataError, match=message):
        load_vehicle(tmp_path)
