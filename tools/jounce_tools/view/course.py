"""The course of a manoeuvre beside its recording: its cones, and the path that its driver wants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jounce_tools.errors import UsageError
from jounce_tools.manoeuvres.files import MCAP, plots_of, read_json
from jounce_tools.view.look import GROUND, Array, Look, Part

#: Height and half of the side of its foot [m]; colour of a cone.
_HEIGHT, _FOOT, _COLOUR = 0.5, 0.15, "#e8641b"


@dataclass(frozen=True)
class Course:
    """Places on the ground."""

    cones: Array
    """(n, 2) [m]."""
    wanted: Array
    """(m, 2) [m]."""


def course_of(recording: Path) -> Course | None:
    """The course of `jounce test` in the folder of its recording; None for another recording or manoeuvre."""
    if recording.name != MCAP:
        return None
    try:
        plots = plots_of(read_json(recording.parent))
    except UsageError:
        return None
    for plot in plots:
        if plot.points is not None:
            _, x, y = plot.lines[0]
            return Course(plot.points, np.column_stack([x, y]))
    return None


def cones_on(look: Look, cones: Array) -> Iterator[Part]:
    """The cones as pyramids on the plane of a look."""
    for x, y in cones:
        foot = np.array([x, y, 0.0]) + _FOOT * np.array([(1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0)])
        foot[:, 2] = look.height(foot[:, 0], foot[:, 1])
        top = foot.mean(axis=0) + (0.0, 0.0, _HEIGHT)
        yield Part(GROUND, tuple(np.array([foot[k - 1], foot[k], top]) for k in range(4)), (_COLOUR,) * 4)
