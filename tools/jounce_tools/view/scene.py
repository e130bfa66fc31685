"""What a recording shows in space: the body, the wheels, the path and the forces of the tires."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce.axles import wheels_in
from jounce.data import of_any_tires
from jounce_proto import jounce_pb2 as pb
from jounce_service.recording.reader import Reader, Sample
from jounce_tools.errors import UsageError

Array = NDArray[np.float64]
#: Most frames that are kept; between them poses are on straight lines.
FRAMES = 2000
#: Corners of the tire's circle.
_CORNERS = 20
_OUTLINE = ("front.low", "front.upper", "front.roof", "rear.roof", "rear.upper", "rear.low")


@dataclass(frozen=True)
class Scene:
    """A run: outputs over time, and the shapes that they move."""

    name: str
    time: Array
    """(n,) [s]."""
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    """(n, outputs)."""
    wheels: tuple[str, ...]
    body: tuple[Array, ...]
    """Faces of the body, each (corners, 3) [m] in the chassis frame."""
    radius: float
    width: float
    """Of the tires [m]."""
    ground: tuple[float, float, float] | None
    """Height [m], slope and bank [rad] of a plane; None for another terrain."""

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

    def nearest(self, time: float) -> float:
        """The time of the frame at or before ``time`` [s]."""
        return float(self.time[max(int(np.searchsorted(self.time, time + 1e-9)) - 1, 0)])


def read(path: Path) -> Scene:
    """The scene of a recording of a vehicle. Raises UsageError, RecordingError, OSError."""
    reader = Reader(path)
    names = tuple(n for n, _ in reader.outputs)
    wheels = wheels_in(names)
    for needed in ("ref_frame.pos.x", "ref_frame.rot.e0", *(f"wheel_{w}.rot.e0" for w in wheels)):
        if needed not in names:
            raise UsageError(f"{path}: no output {needed}; expected the recording of a vehicle with a chassis in space")
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
    parameters = {s.name + c: v for s in reader.model.signals if s.causality == pb.CAUSALITY_PARAMETER
                  for c, v in zip(s.components, s.start, strict=True)}  # fmt: skip
    parameters |= dict(reader.started.origin.parameters) if reader.started else {}
    p = parameters.get
    plane = p("terrain_source", 1.0) == 1.0
    return Scene(
        reader.model.model, np.array(ticks)[keep] * length, names, tuple(u for _, u in reader.outputs), values, wheels,
        body_of(parameters, values[0], names, wheels), of_any_tires(parameters, "unloaded_radius") or 0.4,
        of_any_tires(parameters, "width") or 0.25,
        (p("terrain.height", 0.0), p("terrain.slope", 0.0), p("terrain.bank", 0.0)) if plane else None,
    )  # fmt: skip


def body_of(
    parameters: dict[str, float], first: Array, names: tuple[str, ...], wheels: tuple[str, ...]
) -> tuple[Array, ...]:
    """Faces of the body from its outline; a box over the wheels for a vehicle without one."""
    try:
        side = np.array([[parameters[f"chassis.outline.{c}.{a}"] for a in "xyz"] for c in _OUTLINE])
    except KeyError:
        xy = np.array([[first[names.index(f"wheel_{w}.pos.{a}")] - first[names.index(f"ref_frame.pos.{a}")]
                        for a in "xy"] for w in wheels])  # fmt: skip
        x, y = np.abs(xy).max(axis=0) + 0.3
        side = np.array([[x, y, 0.0], [x, y, 0.5], [0.3 * x, 0.8 * y, 1.1], [-0.6 * x, 0.8 * y, 1.1], [-x, y, 0.6],
                         [-x, y, 0.0]])  # fmt: skip
    other = side * (1.0, -1.0, 1.0)
    between = [np.array([side[k], side[k - 1], other[k - 1], other[k]]) for k in range(len(side))]
    return (side, other, *between)


def tire(radius: float, width: float) -> tuple[Array, Array]:
    """((corners, 3) of the outer and of the inner circle) in the wheel's frame, y along the spin axis."""
    angle = np.linspace(0.0, 2.0 * np.pi, _CORNERS, endpoint=False)
    circle = np.column_stack([radius * np.sin(angle), np.zeros_like(angle), radius * np.cos(angle)])
    return circle + (0.0, 0.5 * width, 0.0), circle - (0.0, 0.5 * width, 0.0)


def spun(rotation: Array, angle: float) -> Array:
    """The orientation of a wheel with its spin: ``angle`` [rad] about its y axis, forward positive."""
    c, s = np.cos(angle), np.sin(angle)
    whole: Array = rotation @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return whole
