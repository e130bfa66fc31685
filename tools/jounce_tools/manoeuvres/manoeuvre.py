"""The manoeuvres as data: what each does, its settings and metrics, and the function that runs it."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from jounce.values import number
from jounce_tools.errors import UsageError
from jounce_tools.manoeuvres.bench import Bench
from jounce_tools.manoeuvres.found import Found, Settings

_FOLDER = Path(__file__).parent / "definitions"


@dataclass(frozen=True)
class Setting:
    """One number that a manoeuvre is run with."""

    value: float
    unit: str
    text: str
    least: float = -math.inf
    most: float = math.inf
    whole: bool = False


@dataclass(frozen=True)
class Metric:
    """What one number of the result means, and its limits."""

    unit: str
    text: str
    least: float = -math.inf
    most: float = math.inf

    @property
    def limited(self) -> bool:
        """Whether it has a limit."""
        return math.isfinite(self.least) or math.isfinite(self.most)

    def passes(self, value: float) -> bool:
        """Whether the value is within the limits; a value that is missing is not."""
        return self.least <= value <= self.most

    def limits(self) -> str:
        """In words; empty without."""
        parts = [f">= {self.least:g}"] * math.isfinite(self.least) + [f"<= {self.most:g}"] * math.isfinite(self.most)
        return " and ".join(parts)


@dataclass(frozen=True)
class Manoeuvre:
    """One standard manoeuvre."""

    name: str
    title: str
    source: str
    text: str
    unchecked: str
    settings: Mapping[str, Setting]
    metrics: Mapping[str, Metric]
    _run: str

    def run(self, bench: Bench, settings: Settings) -> Found:
        """Drives it. Raises Interrupted, UsageError, or an error of the place."""
        module, function = self._run.split(":")
        run: Callable[[Bench, Settings], Found] = getattr(
            import_module(f"jounce_tools.manoeuvres.standard.{module}"), function)  # fmt: skip
        return run(bench, settings)

    def metric(self, name: str) -> Metric:
        """Of a metric that the run gave; one that ends in * stands for several."""
        if name in self.metrics:
            return self.metrics[name]
        pattern = next(k for k in self.metrics if k.endswith("*") and name.startswith(k[:-1]))
        found = self.metrics[pattern]
        return Metric(found.unit, found.text.replace("*", name[len(pattern) - 1 :]), found.least, found.most)


@cache
def manoeuvres() -> dict[str, Manoeuvre]:
    """All of them by name."""
    return {path.stem: _read(path) for path in sorted(_FOLDER.glob("*.toml"))}


def _read(path: Path) -> Manoeuvre:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return Manoeuvre(
        path.stem, content["title"], content["source"], content["text"], content.get("unchecked", ""),
        {k: Setting(**v) for k, v in content["settings"].items()},
        {k: Metric(**v) for k, v in content["metrics"].items()}, content["run"],
    )  # fmt: skip


def find(name: str) -> Manoeuvre:
    """Raises UsageError, which lists the names."""
    if name not in manoeuvres():
        raise UsageError(f"{name!r}: no such manoeuvre; expected {', '.join(manoeuvres())}")
    return manoeuvres()[name]


def settings_of(manoeuvre: Manoeuvre, own: Mapping[str, float]) -> dict[str, float]:
    """The settings with the user's own. Raises UsageError."""
    settings = {k: s.value for k, s in manoeuvre.settings.items()}
    for name, value in own.items():
        if name not in settings:
            raise UsageError(f"--setting {name}: {manoeuvre.name} has no such setting; expected {', '.join(settings)}")
        setting = manoeuvre.settings[name]
        if not math.isfinite(value) or not setting.least <= value <= setting.most or (
                setting.whole and value != round(value)):  # fmt: skip
            what = "a whole number" if setting.whole else "a number"
            bounds = f" from {setting.least:g} to {setting.most:g}" if math.isfinite(setting.most) else ""
            raise UsageError(f"--setting {name}={value:g} {setting.unit}: expected {what}{bounds}")
        settings[name] = value
    return settings


def with_limits(manoeuvre: Manoeuvre, limits: Sequence[str]) -> Manoeuvre:
    """The manoeuvre with the user's limits, NAME<=VALUE or NAME>=VALUE, in place of its own. Raises UsageError."""
    metrics: dict[str, Metric] = dict(manoeuvre.metrics)
    seen: set[str] = set()
    for text in limits:
        sign = "<=" if "<=" in text else ">="
        name, _, bound = (part.strip() for part in text.partition(sign))
        try:
            value, metric = number(bound), manoeuvre.metric(name)
        except (ValueError, StopIteration):
            raise UsageError(f"--limit {text!r}: expected NAME<=VALUE or NAME>=VALUE with a metric of "
                             f"{manoeuvre.name}: {', '.join(manoeuvre.metrics)}") from None  # fmt: skip
        if name + sign in seen:
            raise UsageError(f"--limit {text!r}: {name}{sign} is given twice; expected once")
        seen.add(name + sign)
        own: dict[str, Any] = {"most": value} if sign == "<=" else {"least": value}
        metrics[name] = Metric(**{"unit": metric.unit, "text": metric.text, "least": metric.least,
                                  "most": metric.most, **own})  # fmt: skip
    return Manoeuvre(manoeuvre.name, manoeuvre.title, manoeuvre.source, manoeuvre.text, manoeuvre.unchecked,
                     manoeuvre.settings, metrics, manoeuvre._run)  # fmt: skip
