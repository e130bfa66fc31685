"""The lockstep tests once more, with every participant on the fast lane."""

from __future__ import annotations

import pytest
from test_control import *  # noqa: F403
from test_lockstep import *  # noqa: F403
from test_participants import *  # noqa: F403


@pytest.fixture
def fast() -> bool:
    return True
