"""The HTML page of reports: complete in one file, and no text of a user becomes markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from jounce_tools.page import Page


class Reader(HTMLParser):
    """Texts, and what a browser would load."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.sources: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open += [tag] if tag not in ("meta", "img") else []
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def read(page: Page) -> Reader:
    reader = Reader()
    reader.feed(page.html())
    assert not reader.open
    return reader


def test_what_a_user_writes_is_text() -> None:
    odd = '<script>alert("x")</script> & more'
    reader = read(Page(odd).heading(odd).text(odd).table([odd], [[odd]]))
    assert reader.texts.count(odd) == 6
    assert "<script" not in Page(odd).html()


def test_nothing_is_loaded_from_elsewhere(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.figure")
    figure = pyplot.Figure()
    figure.add_subplot().plot([0, 1], [1, 0])
    page = Page("plots").figure(figure, 'of "one" line')
    page.write(tmp_path / "page.html")
    assert all(s.startswith("data:image/png;base64,") for s in read(page).sources)
    assert not re.search(r"https?://", page.html())
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_numbers_of_a_table_stand_on_the_right_and_verdicts_have_colours() -> None:
    html = Page("t").table(["a", "b"], [[1.23456789, "yes"], [2, "no"]], [True, False]).html()
    assert '<td class="number">1.23457</td>' in html and '<td class="number">2</td>' in html
    assert html.index('class="good"') < html.index('class="bad"')


def test_a_page_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(OSError):
        Page("t").write(tmp_path / "folder.html")
    assert [p.name for p in tmp_path.iterdir()] == ["folder.html"]
