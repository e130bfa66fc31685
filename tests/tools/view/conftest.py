"""A browser for the pages, where there is one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), *(str(Path(__file__).parents[2] / n) for n in ("service", "fmu"))]
from browser import CHROMIUM, Browser, started  # noqa: E402


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Headless Chromium with software graphics."""
    if CHROMIUM is None:
        pytest.skip("no Chromium")
    with started(tmp_path_factory.mktemp("browser")) as found:
        yield found
