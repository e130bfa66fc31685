"""The tests of notices once more, with every participant on the fast lane."""

from __future__ import annotations

import pytest
from test_notices import *  # noqa: F403


@pytest.fixture
def fast() -> bool:
    return True
