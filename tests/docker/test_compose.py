"""compose.yaml is written so that Docker Compose and podman-compose both take it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def compose() -> Any:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


def test_no_container_has_a_way_out_and_none_says_so_by_network_mode(compose: Any) -> None:
    # podman-compose 1.0.3 passes --network for network_mode and for its default network, too: podman takes one.
    for service in compose["services"].values():
        assert "network_mode" not in service
        assert [compose["networks"][name] for name in service["networks"]] == [{"internal": True}]
        assert "ports" not in service
