"""Axles and wheels have their names in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from jounce.axles import AXLES, CORNERS, WHEELS
from jounce.data import load_vehicle

ROOT = Path(__file__).parents[2]
HOME = ROOT / "vehicle" / "jounce" / "axles.py"
NAMES = [["FL", "FR", "RL", "RR"], ["FL", "FR"], ["RL", "RR"], ["front", "rear"]]


def lists(text: str) -> Iterator[list[object]]:
    """Every tuple, list, set and dictionary of constants in a Python text."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            yield [e.value for e in node.elts if isinstance(e, ast.Constant)]
        elif isinstance(node, ast.Dict):
            yield [k.value for k in node.keys if isinstance(k, ast.Constant)]


def spelled() -> Iterator[str]:
    for folder in ("vehicle", "fmu", "service", "clients", "tests", "benchmarks", "docs"):
        for path in (ROOT / folder).rglob("*"):
            place = str(path.relative_to(ROOT))
            if path.suffix == ".py" and path not in (HOME, Path(__file__)):
                yield from (place for found in lists(path.read_text(encoding="utf-8")) if found in NAMES)
            elif path.suffix in (".c", ".h", ".inc") and path.parent.name != "generated":
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
