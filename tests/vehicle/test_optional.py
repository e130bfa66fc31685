"""The message about missing optional packages."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from jounce import optional

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_what_is_there_is_not_missing() -> None:
    assert optional.missing("numpy", "json") == ""


def test_missing_packages_come_with_a_command_that_needs_no_registry_to_know_jounce(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = [r for extra in ("sweep", "mdf") for r in PROJECT["optional-dependencies"][extra]]
    monkeypatch.setattr(optional, "requires", lambda _: [f"{r}; extra == 'sweep'" for r in wanted])
    monkeypatch.setattr(optional, "find_spec", lambda _: None)
    told = optional.missing("ray", "asammdf", "elsewhere")
    assert told.startswith("ray and asammdf and elsewhere are not installed: pip install ")
    words = shlex.split(told.partition(": ")[2])
    asked = [next(r for r in wanted if r.startswith(f"{name}>=")) for name in ("ray", "asammdf")]
    assert words == ["pip", "install", *asked, "elsewhere"]


def test_a_module_whose_distribution_has_another_name_comes_with_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    (wanted,) = PROJECT["optional-dependencies"]["osi"]
    monkeypatch.setattr(optional, "requires", lambda _: [wanted])
    monkeypatch.setattr(optional, "find_spec", lambda _: None)
    assert optional.missing("osi3") == f"osi3 is not installed: pip install '{wanted}'"


def test_where_jounce_is_not_a_distribution_the_bare_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: str) -> None:
        raise optional.PackageNotFoundError

    monkeypatch.setattr(optional, "requires", none)
    monkeypatch.setattr(optional, "find_spec", lambda _: None)
    assert optional.missing("prometheus_client") == "prometheus_client is not installed: pip install prometheus_client"
