"""Axles and wheels have their names in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from jounce.axles import AXLES, CORNERS, DEFAULT, WHEELS, Axle, pairs, wheel_names, wheels_in
from jounce.data import DataError, load_vehicle

ROOT = Path(__file__).parents[2]
HOME = ROOT / "vehicle" / "jounce" / "axles.py"
NAMES = [["FL", "FR", "RL", "RR"], ["FL", "FR"], ["RL", "RR"], ["front", "rear"]]


def lists(text: str) -> Iterator[list[object]]:
    """Every tuple, list, set and dictionary of constants in a Python text."""
    if not any(f"{q}{name}{q}" in text for name in ("FL", "RL", "front") for q in "'\""):
        return  # most files: parsing all of them takes long
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            yield [e.value for e in node.elts if isinstance(e, ast.Constant)]
        elif isinstance(node, ast.Dict):
            yield [k.value for k in node.keys if isinstance(k, ast.Constant)]


def spelled() -> Iterator[str]:
    for folder in ("vehicle", "fmu", "service", "clients", "tests", "benchmarks", "docs"):
        for path in (ROOT / folder).rglob("*"):
            place = str(path.relative_to(ROOT))
            # the client's package imports no vehicle
            if path.suffix == ".py" and path not in (HOME, Path(__file__)) and "jounce_client/bridges" not in place:
                yield from (place for found in lists(path.read_text(encoding="utf-8")) if found in NAMES)
            elif path.suffix in (".c", ".h", ".inc") and not {"generated", "_native"} & {*path.parts}:
                yield from [place] * ('"FL", "FR"' in path.read_text(encoding="utf-8"))


def test_wheels_go_from_front_to_rear_and_from_left_to_right() -> None:
    """docs/notation.md: FL FR RL RR, always in this order."""
    assert WHEELS == ("FL", "FR", "RL", "RR")
    assert CORNERS == (("front", 1.0), ("front", -1.0), ("rear", 1.0), ("rear", -1.0))


def test_every_axle_has_its_entries_in_the_vehicle_data() -> None:
    entries = load_vehicle("hmmwv").entries
    of = {axle: {n.removeprefix(f"{axle}.") for n in entries if n.startswith(f"{axle}.")} for axle in AXLES}
    assert len(of["front"]) > 50 and of["front"] == of["rear"]


def test_no_other_file_spells_them_out() -> None:
    assert sorted(set(spelled())) == []


@pytest.mark.parametrize("text", ['a = ("FL", "FR", "RL", "RR")', 'f(["front", "rear"])', '{"FL": 1, "FR": 2}'])
def test_a_list_of_names_is_found_wherever_it_stands(text: str) -> None:
    assert [found for found in lists(text) if found in NAMES]


def own(folder: Path, axles: str) -> Path:
    """A vehicle without entries, with those axles."""
    (folder / "vehicle.toml").write_text(f'name = "own"\nfiles = []\n{axles}', encoding="utf-8")
    return folder


def named(*names: str) -> str:
    return "".join(f'[[axles]]\nname = "{name}"\n' for name in names)


def test_a_vehicle_that_names_no_axles_has_two_on_double_wishbones_and_the_front_one_is_steered() -> None:
    assert load_vehicle("hmmwv").axles == load_vehicle("hmmwv_chrono").axles == DEFAULT
    assert [(a.name, a.kind, a.steered) for a in DEFAULT] == [
        ("front", "double_wishbone", "pitman"), ("rear", "double_wishbone", "none")]  # fmt: skip


def test_wheels_are_numbered_from_the_front_unless_there_are_two_axles() -> None:
    assert wheel_names(1) == ("1L", "1R")
    assert wheel_names(2) == WHEELS
    assert wheel_names(4) == ("1L", "1R", "2L", "2R", "3L", "3R", "4L", "4R")


def test_the_wheels_of_signals_are_found_by_their_names() -> None:
    names = ["speed", *(f"wheel_{w}.{what}" for w in wheel_names(3) for what in ("pos.x", "rot.e0"))]
    assert wheels_in(names) == wheel_names(3)
    assert wheels_in(["speed", "wheel.mass"]) == ()


def test_axles_of_signals_are_front_and_rear_or_numbered() -> None:
    assert pairs(WHEELS) == AXLES
    assert pairs(wheel_names(3)) == {"axle_1": ("1L", "1R"), "axle_2": ("2L", "2R"), "axle_3": ("3L", "3R")}
    assert pairs(()) == {}


def test_axles_are_read_from_the_vehicle_file_in_its_order(tmp_path: Path) -> None:
    text = (
        '[[axles]]\nname = "first"\nkind = "macpherson"\nsteered = "rack"\ndriven = false\n'
        '[[axles]]\nname = "second"\nsteered = "rack"\ngain = -1\n'
        '[[axles]]\nname = "third"\nkind = "solid_axle"\ndual = 0.3\ndrive_reaction = "carrier"\nfinal_drive = 3.73\n'
    )
    vehicle = load_vehicle(own(tmp_path, text))
    assert vehicle.axles == (
        Axle("first", "macpherson", "rack", driven=False),
        Axle("second", steered="rack", gain=-1.0),
        Axle("third", "solid_axle", dual=0.3, drive_reaction="carrier", final_drive=3.73),
    )
    assert vehicle.wheels == ("1L", "1R", "2L", "2R", "3L", "3R")


@pytest.mark.parametrize(("axles", "message"), [
    (named(*"abcdefghi"), "1 to 8 tables"), (named("a", "a"), "two have the name 'a'"),
    ("axles = 3\n", "axles = 3: expected tables"), ("axles = []\n", "1 to 8 tables"),
    ("axles = [1]\n", "axle 1 = 1: expected a table"), ("[[axles]]\n", "axle 1: name = ''"),
    (named("chassis"), "axle 1: name = 'chassis'"), (named("Front"), "'Front': expected a name of small letters"),
    (named("a", "b") + "steered = 'wire'\n", "axle 2: steered = 'wire': expected pitman, rack, none"),
    (named("a") + "drive_reaction = 'axle'\n", "expected chassis, carrier"),
    (named("a") + "driven_from = 'middle'\n", "expected auto, front, rear"),
    (named("a") + "driven = 1\n", "axle 1: driven = 1: expected true or false"),
    (named("a") + "gain = true\n", "axle 1: gain = True: expected a number"),
    (named("a") + "gain = nan\n", "gain = nan: expected -10 to 10"),
    (named("a") + "final_drive = 0\n", "final_drive = 0.0: expected 0.1 to 100"),
    (named("a") + "kind = 3\n", "axle 1: kind = 3: expected a text"),
    (named("a") + "weels = 3\n", "axle 1: unknown key 'weels'; expected name, kind"),
    (named("a") + "steered = 'rack'\n" + named("b") + "steered = 'pitman'\n", "one kind of steering gear"),
])  # fmt: skip
def test_axles_that_cannot_be_are_refused_with_file_axle_and_key(tmp_path: Path, axles: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as refused:
        load_vehicle(own(tmp_path, axles))
    assert "vehicle.toml" in str(refused.value)


def test_axles_of_a_base_cannot_be_changed(tmp_path: Path) -> None:
    (tmp_path / "vehicle.toml").write_text(f'base = "hmmwv"\n{named("front")}', encoding="utf-8")
    with pytest.raises(DataError, match="beside base"):
        load_vehicle(tmp_path)
