"""docs/validation.md says what a run of docs/validation/make.py finds, as far as that is quick."""

from __future__ import annotations

import re
from pathlib import Path

import make
import pytest

PAGE = make.PAGE.read_text(encoding="utf-8")
ROOT = Path(__file__).parents[2]


def cells(name: str, page: str = PAGE) -> list[list[str]]:
    """Rows of one of the page's tables, without its head."""
    table = page.split(f"<!-- {name} -->\n")[1].split("<!-- end -->")[0]
    return [[c.strip() for c in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


@pytest.mark.slow(but="kinematics")  # the coast in numbers: tests/fmu/test_coastfree.py
@pytest.mark.parametrize("name", list(make.TABLES)[: make.QUICK])
def test_the_quick_tables_of_the_page_are_what_a_new_run_finds(name: str) -> None:
    anew = cells(name, make.filled(PAGE, [name]))
    assert len(anew) == len(cells(name))
    for old, new in zip(cells(name), anew, strict=True):
        for shown, found in zip(old, new, strict=True):
            value = number(shown)
            # a tenth: rounding to two digits, and the last bits of another machine
            same = shown == found if value is None else value == pytest.approx(number(found), rel=0.1)
            assert same, f"{old} is now {new}: run python docs/validation/make.py"


def test_the_linkage_meets_its_goals_in_every_row() -> None:
    goal, *rows = cells("kinematics")
    assert [float(g) for g in goal[2:]] == [0.05, 0.01, 0.01, 0.02]
    assert len(rows) == 12
    for row in rows:
        assert all(float(found) < float(limit) for found, limit in zip(row[2:], goal[2:], strict=True)), row


def test_every_picture_of_the_page_is_there_small_and_every_picture_is_shown() -> None:
    shown = re.findall(r"!\[[^\]]+\]\((validation/[^)]+)\)", PAGE)
    files = [make.PAGE.parent / name for name in shown]
    # modes.png belongs to linearize.md
    assert sorted(files) == sorted(p for p in make.HERE.glob("*.png") if p.name != "modes.png")
    for file in files:
        data = file.read_bytes()
        assert data.startswith(b"\x89PNG") and len(data) < 150_000, file


def test_every_file_that_the_page_names_exists() -> None:
    named = re.findall(r"`((?:tests|docs)/[\w/.]+)`", PAGE)
    assert len(named) > 5
    for name in named:
        assert (ROOT / name).exists(), name


def test_a_table_without_its_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="kinematics"):
        make.filled("nothing", ["kinematics"])


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.30329, "0.3"), (123.4, "120"), (1.26e-6, "1.3e-6"), (-0.051, "-0.051")]
)
def test_numbers_are_rounded_to_two_digits(value: float, text: str) -> None:
    assert make.number(value) == text
