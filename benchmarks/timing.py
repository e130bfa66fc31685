"""Interleaved measurements, their samples, and tables of the results."""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np


def loops(text: str | None, calls: int = 500, what: str = "calls a block") -> argparse.ArgumentParser:
    """Options of a benchmark of compiled loops; ``text`` describes it, ``calls`` is the default."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--rounds", type=int, default=40, help="interleaved rounds (default %(default)s)")
    parser.add_argument("--calls", type=int, default=calls, help=f"{what} (default %(default)s)")
    parser.add_argument("--build", type=Path, default=Path("build/benchmarks"), help="folder of compiled harnesses")
    return parser


@dataclass
class Samples:
    """Times of one subject [ns per call]; `cpu` is empty where it was not taken."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, other: Samples) -> None:
        """Pool with more samples of the same subject."""
        self.wall += other.wall
        self.cpu += other.cpu

    def best(self) -> float:
        """Least wall time [ns]."""
        return min(self.wall)

    def percentile(self, q: float) -> float:
        """Percentile of the wall times [ns]."""
        return float(np.percentile(self.wall, q))


def interleave(subjects: Mapping[str, Callable[[], Samples]], rounds: int) -> dict[str, Samples]:
    """Measure every subject in turn, `rounds` times: what disturbs the machine disturbs all alike."""
    pooled = {name: Samples() for name in subjects}
    for _ in range(rounds):
        for name, subject in subjects.items():
            pooled[name].add(subject())
    return pooled


def machine() -> str:
    """Processor, cores and load: what a figure depends on, without naming the machine."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{time.strftime('%Y-%m-%d')}, {model}, {os.cpu_count()} cores{load}, Python {platform.python_version()}"


def versions(*packages: str) -> str:
    """Versions of installed packages."""

    def one(package: str) -> str:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            return f"{package} absent"

    return ", ".join(map(one, packages))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that people can read as it is: the first column to the left, numbers to the right."""
    widths = [max(3, *(len(row[i]) for row in (head, *rows))) for i in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        return f"| {' | '.join(cells)} |"

    rule = ["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]
    return "\n".join(map(line, (head, rule, *rows)))
