"""docs/service.md says what the code does."""

from __future__ import annotations

from pathlib import Path

from jounce_service.docs import filled

PAGE = Path(__file__).parents[2] / "docs" / "service.md"


def test_the_tables_of_the_page_are_those_of_the_code() -> None:
    assert PAGE.read_text() == filled(PAGE.read_text()), "run python -m jounce_service.docs docs/service.md"
