"""docs/model/ode.md has every call of the schedule, every state and every input of the table, and files that exist."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import jounce
from jounce.data import load_vehicle
from jounce.models.double_wishbone.functions import functions
from jounce.models.double_wishbone.schedule import SCHEDULE
from jounce.models.double_wishbone.signals import table

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "model" / "ode.md").read_text(encoding="utf-8")
TABLE = table(load_vehicle("hmmwv"))


def rows(heading: str) -> list[list[str]]:
    """Cells of the first table below a heading."""
    part = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def family(name: str) -> str:
    """A name without its component and its wheel."""
    name = re.sub(r"wheel_(FL|FR|RL|RR)", "wheel_XX", name)
    return name if "bristle" in name else re.sub(r"\.([xyz]|[ew]\d?)$", "", name)


def test_the_page_has_every_call_of_the_schedule_in_its_order() -> None:
    assert [row[0].strip("`") for row in rows("The calls")] == [call.function for call in SCHEDULE.calls]


def test_the_page_says_which_calls_are_one_for_each_wheel() -> None:
    said = {row[0].strip("`"): row[1] for row in rows("The calls")}
    assert set(said.values()) == {"wheels", "vehicle", "four angles"}
    assert {name: one != "vehicle" for name, one in said.items()} == {
        c.function: SCHEDULE.per_wheel(c) for c in SCHEDULE.calls}


def test_the_file_of_a_call_defines_its_function() -> None:
    assert functions().keys() == {row[0].strip("`") for row in rows("The calls")}
    for name, *_, file in rows("The calls"):
        assert f'ca.Function("{name.strip("`")}"' in (ROOT / file.strip("`")).read_text(), name


def test_the_page_has_every_state_with_its_number_and_unit_in_their_order() -> None:
    sizes = Counter(family(s.name) for s in TABLE.states)
    units = {family(s.name): s.unit for s in TABLE.states}
    said = [(row[0].strip("`"), int(row[1]), row[2]) for row in rows("States")]
    assert said == [(name, sizes[name], units[name]) for name in units]


def test_the_page_has_every_input() -> None:
    said = {name for row in rows("Inputs") for name in re.findall(r"`([^`]+)`", row[0])}
    assert said == {family(s.name) for s in TABLE.signals if s.causality == "input"}


def test_every_file_that_the_page_names_exists() -> None:
    files = re.findall(r"`((?:vehicle|fmu|docs|tests)/[\w/.]+)`", TEXT)
    assert len(files) > 30 and [f for f in files if not (ROOT / f).exists()] == []
    assert Path(jounce.__file__).is_relative_to(ROOT)
