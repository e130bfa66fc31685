"""docs/service.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jounce_tools.docs import PAGES, filled

PAGE = Path(__file__).parents[2] / "docs" / "service.md"


@pytest.mark.parametrize("name", PAGES)
def test_the_tables_of_the_page_are_those_of_the_code(name: str) -> None:
    page = PAGE.with_name(name)
    assert page.read_text() == filled(page), f"run python -m jounce_tools.docs docs/{name}"


def test_every_fault_seen_elsewhere_has_tests_that_exist() -> None:
    faults = PAGE.read_text().partition("## Faults that other projects met")[2]
    rows = [line for line in faults.splitlines() if line.startswith("| ") and "`test_" in line]
    assert len(rows) == 16
    assert missing(faults) == []


def test_every_test_that_the_page_on_operations_names_exists() -> None:
    assert missing(PAGE.with_name("operations.md").read_text()) == []


def missing(text: str) -> list[str]:
    """Names of tests that are nowhere."""
    written = "".join(path.read_text() for path in PAGE.parents[1].glob("tests/service/test_*.py"))
    return [name for name in re.findall(r"`(test_\w+)`", text) if f"def {name}(" not in written]
