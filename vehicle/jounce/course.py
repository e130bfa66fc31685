"""Double lane changes (ISO 3888-1, ISO 3888-2, NATO): positions of the cones, and a smooth path between them.

x runs along the track from its start, y to the left from the right edge of the first lane.

Source: ISO 3888-1:2018, Passenger cars - Test track for a severe lane-change manoeuvre - Part 1: section
lengths 15, 30, 25, 25, 15 and 15 m (125 m in all), lane widths 1.1 w + 0.25, 1.2 w + 0.25 and 1.3 w + 0.25 m
for a vehicle of width w, lane offset 3.5 m. The standard itself was not available: lengths and widths are those of
Project Chrono's HMMWV demonstration (demo_VEH_HMMWV_DLC). The offset is taken as the distance between right edges, and
the right edges of the first and last lanes are in line. The sixth section continues the fifth lane.

`obstacle_avoidance` is ISO 3888-2:2011 and `nato_lane_change` AVTP 03-160W; their numbers are those that are commonly
cited (for ISO 3888-2 their sum, 61 m, is published), and were not checked against the standards either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


#: Entry speed of the standard [m/s]: 80 km/h.
ISO_SPEED = 80.0 / 3.6


@dataclass(frozen=True)
class Lane:
    """One lane between cones: from ``start`` to ``end`` [m], between ``right`` and ``left`` [m]."""

    start: float
    end: float
    right: float
    left: float

    @property
    def centre(self) -> float:
        """Middle of the lane [m]."""
        return 0.5 * (self.right + self.left)


@dataclass(frozen=True)
class DoubleLaneChange:
    """The track for a vehicle of ``width`` [m], starting at ``start`` [m] along x.

    The body extends by ``ahead`` and ``behind`` [m] from the front axle: the 4.57 m of a HMMWV with its wheelbase of
    3.302 m. The distribution of the overhang to front and rear is assumed.
    """

    width: float = 2.18
    ahead: float = 0.55
    behind: float = 4.02
    start: float = 20.0
    #: Distance between the right edges of the first two lanes [m].
    offset: float = 3.5
    #: Lengths of the first lane, the gap, the second lane, the gap and the third lane [m].
    lengths: tuple[float, float, float, float, float] = (15.0, 30.0, 25.0, 25.0, 15.0 + 15.0)
    #: Width of each lane over that of the vehicle [1], and what is added [m].
    widths: tuple[tuple[float, float], ...] = ((1.1, 0.25), (1.2, 0.25), (1.3, 0.25))
    #: The path begins to leave a lane at this distance before its end, and is in the next lane at this distance after
    #: that one's start [m].
    blend: float = 4.0

    @cached_property
    def lanes(self) -> tuple[Lane, Lane, Lane]:
        """The three lanes; y = 0 is the middle of the first."""
        w1, w3, w5 = (f * self.width + more for f, more in self.widths)
        edges = np.cumsum([self.start, *self.lengths])
        right = -0.5 * w1
        return (Lane(edges[0], edges[1], right, right + w1),
                Lane(edges[2], edges[3], right + self.offset, right + self.offset + w3),
                Lane(edges[4], edges[5], right, right + w5))

    def cones(self, spacing: float = 5.0) -> Array:
        """Cone positions (n, 2) [m]."""
        rows = []
        for lane in self.lanes:
            x = np.linspace(lane.start, lane.end, round((lane.end - lane.start) / spacing) + 1)
            rows += [np.column_stack([x, np.full_like(x, y)]) for y in (lane.right, lane.left)]
        return np.concatenate(rows)

    def path(self, x: float) -> tuple[float, float, float]:
        """Path at ``x`` [m]: (lateral position [m], heading [rad], curvature [1/m]), left positive.

        The lanes are joined by quintics 10 s^3 - 15 s^4 + 6 s^5, which have continuous curvature (minimum jerk: Flash
        and Hogan 1985).
        """
        y, slope, bend = self.lanes[0].centre, 0.0, 0.0
        for before, after in zip(self.lanes, self.lanes[1:], strict=False):
            first, last = before.end - self.blend, after.start + self.blend
            length, step = last - first, after.centre - before.centre
            s = min(max((x - first) / length, 0.0), 1.0)
            y += step * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
            slope += step / length * 30.0 * (s * (1.0 - s)) ** 2
            bend += step / length**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
        return y, math.atan(slope), bend / (1.0 + slope * slope) ** 1.5

    def lateral_error(self, x: float, y: float) -> float:
        """Distance of (x, y) [m] from the path, left positive, to first order in the distance."""
        path_y, heading, _ = self.path(x)
        return (y - path_y) * math.cos(heading)

    def cones_hit(self, x: Array, y: Array, yaw: Array) -> int:
        """Number of cones that the body touches; (x, y) [m] is the middle of the front axle, ``yaw`` [rad] the heading.
        """
        cones = self.cones()
        along, across = _turned(cones[:, 0, None] - x, cones[:, 1, None] - y, -yaw)
        inside = (-self.behind <= along) & (along <= self.ahead) & (np.abs(across) <= 0.5 * self.width)
        return int(inside.any(axis=1).sum())

    def excursion(self, x: Array, y: Array, yaw: Array) -> float:
        """Largest distance by which the body crosses the edge of a lane [m]; arguments as in ``cones_hit``."""
        along = np.linspace(-self.behind, self.ahead, 11)[:, None]
        beyond = 0.0
        for side in (-0.5 * self.width, 0.5 * self.width):
            forward, left = _turned(along, np.full_like(along, side), yaw)
            body_x, body_y = x + forward, y + left
            for lane in self.lanes:
                within = (body_x >= lane.start) & (body_x <= lane.end)
                reach = np.maximum(lane.right - body_y, body_y - lane.left)[within]
                beyond = max(beyond, float(np.max(reach, initial=0.0)))
        return beyond


def obstacle_avoidance(width: float, ahead: float, behind: float, start: float = 20.0) -> DoubleLaneChange:
    """The track of ISO 3888-2; arguments as of `DoubleLaneChange`.

    The second lane begins 1 m to the left of the first one's left edge. The third is at least 3 m wide; its right edge
    is taken as in line with that of the first.
    """
    first = 1.1 * width + 0.25
    return DoubleLaneChange(width, ahead, behind, start, offset=first + 1.0, blend=3.0,
                            lengths=(12.0, 13.5, 11.0, 12.5, 12.0),
                            widths=((1.1, 0.25), (1.0, 1.0), (0.0, max(1.3 * width + 0.25, 3.0))))


def nato_lane_change(width: float, ahead: float, behind: float, start: float = 20.0) -> DoubleLaneChange:
    """The track of AVTP 03-160W, whose gaps are 24 m longer than the vehicle; arguments as of `DoubleLaneChange`."""
    gap = 24.0 + ahead + behind
    return DoubleLaneChange(width, ahead, behind, start, lengths=(15.0, gap, 25.0, gap, 15.0))


def _turned(x: Array, y: Array, angle: Array) -> tuple[Array, Array]:
    """The vector (x, y), rotated to the left by ``angle`` [rad]."""
    return np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y
