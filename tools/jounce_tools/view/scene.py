"""What a recording shows in space: the vehicle's look, its outputs over time, and the ground."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np

from jounce.models.impulse.signals import Truck
from jounce.terrain.packed import Terrain
from jounce_proto import jounce_pb2 as pb
from jounce_service.recording.reader import Reader, Sample
from jounce_tools.errors import UsageError
from jounce_tools.view.course import cones_on, course_of
from jounce_tools.view.links import Pose, place
from jounce_tools.view.look import GROUND, Array, Look, look_of
from jounce_tools.view.surface import mesh

#: Most frames that are kept; between them poses are on straight lines.
FRAMES = 2000
#: How far around the path the ground of a file is drawn [m].
_AROUND = 20.0


@dataclass(frozen=True)
class Scene(Look):
    """A run: outputs over time, and the shapes that they move."""

    time: Array
    """(n,) [s]."""
    values: Array
    """(n, outputs)."""
    wanted: Array = field(default_factory=lambda: np.zeros((0, 3)))
    """(m, 3) [m]: the path that the driver of a manoeuvre wants."""
    surface: Array | None = None
    """(rows, columns, 3) [m]: the ground of a terrain file."""

    def at(self, name: str, time: float) -> float:
        """An output at a time [s], on a straight line between the frames."""
        return float(np.interp(time, self.time, self.values[:, self.names.index(name)]))

    def vector(self, name: str, time: float, suffixes: str = "xyz") -> Array:
        """A vector output at a time."""
        return np.array([self.at(f"{name}.{s}", time) for s in suffixes])

    def rotation(self, name: str, time: float) -> Array:
        """(3, 3): the orientation that is the quaternion ``name``.rot, of the frame before the time."""
        k = max(int(np.searchsorted(self.time, time + 1e-9)) - 1, 0)
        w, x, y, z = (self.values[k, self.names.index(f"{name}.rot.e{i}")] for i in range(4))
        return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip

    def pose(self, name: str, time: float) -> Pose:
        """Position and orientation of the outputs ``name``.pos and .rot, of a wheel, or of the ground."""
        if name == GROUND:
            return np.zeros(3), np.eye(3)
        turned = self.carriers.get(name.removeprefix("wheel_"), name)
        return self.vector(f"{name}.pos", time), self.rotation(turned, time)

    def lines(self, time: float) -> Array:
        """(links, 2, 3): the links of the suspension at the time of a frame, in the world [m]."""
        carriers = {w: self.pose(f"wheel_{w}", time) for w in self.wheels}
        bodies = {b: self.pose(b, time) for b in self.bodies}
        placed = [place(link, bodies["ref_frame"], carriers | bodies) for link in self.links]
        return np.array(placed).reshape(-1, 2, 3)

    def nearest(self, time: float) -> float:
        """The time of the frame at or before ``time`` [s]."""
        return float(self.time[max(int(np.searchsorted(self.time, time + 1e-9)) - 1, 0)])


def read(path: Path, terrain: Terrain | None = None, truck: Truck | None = None) -> Scene:
    """The scene of a recorded vehicle, on a terrain if it is given; ``truck`` is as in `look_of`.

    Raises UsageError, RecordingError, OSError.
    """
    reader = Reader(path)
    parameters = dict(reader.started.origin.parameters) if reader.started else {}
    try:
        look = look_of(reader.model, parameters, truck)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    ticks: list[int] = []
    rows: list[Array] = []
    for sample in reader:
        if isinstance(sample, Sample) and sample.causality == pb.CAUSALITY_OUTPUT:
            if ticks and sample.tick <= ticks[-1]:  # a reset or a restored snapshot: the last run counts
                ticks, rows = [], []
            ticks.append(sample.tick)
            rows.append(sample.values)
    if len(rows) < 2:
        raise UsageError(f"{path}: {len(rows)} frames; expected at least 2")
    keep = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), FRAMES)).round().astype(int))
    values = np.array([rows[k] for k in keep])
    length = reader.started.origin.tick_seconds if reader.started else reader.model.tick_seconds
    driven = values[:, [look.names.index(f"ref_frame.pos.{a}") for a in "xy"]]
    ground = mesh(look, terrain, driven.min(axis=0) - _AROUND, driven.max(axis=0) + _AROUND)
    wanted = np.zeros((0, 3))
    if course := course_of(path):
        look = replace(look, parts=(*look.parts, *cones_on(look, course.cones)))
        wanted = np.column_stack([course.wanted, look.height(*course.wanted.T)])
    same = {f.name: getattr(look, f.name) for f in fields(look)}
    return Scene(**same, time=np.array(ticks)[keep] * length, values=values, wanted=wanted, surface=ground)


def spun(rotation: Array, angle: float) -> Array:
    """The orientation of a wheel with its spin: ``angle`` [rad] about its y axis, forward positive."""
    c, s = np.cos(angle), np.sin(angle)
    whole: Array = rotation @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return whole
