"""The tests of asked due ticks once more, with every participant on the fast lane."""

from __future__ import annotations

import pytest
from test_due import *  # noqa: F403


@pytest.fixture
def fast() -> bool:
    return True
