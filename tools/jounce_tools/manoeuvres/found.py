"""What a manoeuvre finds: metrics, plots and remarks; and the settings that it is run with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jounce_tools.manoeuvres.bench import Log

Array = NDArray[np.float64]
G = 9.80665
"""Standard gravity, the unit g of accelerations [m/s2]."""
DEGREE = float(np.pi / 180.0)
Settings = Mapping[str, float]


@dataclass(frozen=True)
class Plot:
    """Lines over one x; ``lines`` are (label, x, y), and ``dots`` marks the samples."""

    title: str
    x: str
    y: str
    lines: Sequence[tuple[str, Array, Array]]
    dots: bool = False
    equal: bool = False
    """One scale for both axes, as for a course."""
    log: bool = False
    """x is logarithmic."""
    points: Array | None = None
    """(n, 2): cones."""


@dataclass
class Found:
    """The result of a manoeuvre."""

    metrics: dict[str, float]
    plots: list[Plot] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    main: Log | None = None
    """The run that the files and the time histories show; the last where there is none."""


def lateral(log: Log) -> Array:
    """Lateral acceleration of the centre of mass, level and square to the heading [m/s2]."""
    roll = log["ref_frame.roll"]
    return log["com.lin_acc.y"] * np.cos(roll) - log["com.lin_acc.z"] * np.sin(roll)


def path_of(log: Log) -> tuple[str, Array, Array]:
    """The path of the reference frame, as a line."""
    return log.title, log["ref_frame.pos.x"], log["ref_frame.pos.y"]


def over_time(title: str, y: str, *lines: tuple[str, Log, Array]) -> Plot:
    """Signals over time."""
    return Plot(title, "time [s]", y, [(label, log.time, values) for label, log, values in lines])
