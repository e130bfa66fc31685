"""docs/index.md lists every page, and every link of README and docs leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
ROW = re.compile(r"\| \[([^\]]+)\]\(([^)]+)\) \| (\S.*) \|")


def anchor(heading: str) -> str:
    """The part of a link that leads to a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def rows() -> list[tuple[str, str, str]]:
    return [(m[1], m[2], m[3]) for m in map(ROW.fullmatch, (DOCS / "index.md").read_text().splitlines()) if m]


def test_the_index_lists_every_page_once_with_one_line() -> None:
    pages = {str(p.relative_to(DOCS)) for ending in ("md", "ipynb", "yaml") for p in DOCS.rglob(f"*.{ending}")}
    listed = [target for _, target, _ in rows()]
    assert sorted(listed) == sorted(pages - {"index.md"})
    assert all(shown == target for shown, target, _ in rows())


def test_the_index_says_what_the_heading_of_a_decision_says() -> None:
    decisions = {target: text for _, target, text in rows() if target.startswith("decisions/")}
    for target, text in decisions.items():
        number, heading = Path(target).name[:4], (DOCS / target).read_text().splitlines()[0]
        assert heading == f"# {int(number)}. {text}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in LINK.findall(re.sub(r"`[^`]*`", "", text)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, part = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if part:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            assert part in map(anchor, headings), link
