"""The types that the comments of the page's scripts give, checked by TypeScript where it is installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from jounce_tools.view.page import STATIC

TSC = shutil.which("tsc")


@pytest.mark.skipif(TSC is None, reason="no tsc: npm install -g typescript")
def test_the_scripts_of_the_page_have_the_types_that_their_comments_say() -> None:
    command = [str(TSC), "--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "es2022",
               "--lib", "es2022,dom,dom.iterable", *sorted(p.name for p in STATIC.glob("*.js"))]  # fmt: skip
    found = subprocess.run(command, cwd=STATIC, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stdout
