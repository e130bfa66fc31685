"""Settings of the whole suite."""

import os

import pytest
from hypothesis import settings

# CI machines are shared: an example that takes long says nothing about the code.
settings.register_profile("jounce", deadline=None)
settings.load_profile("jounce")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what takes minutes, unless JOUNCE_SLOW is set."""
    for item in items:
        if "JOUNCE_SLOW" not in os.environ and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="takes minutes; set JOUNCE_SLOW to run it"))
