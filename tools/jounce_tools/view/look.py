"""What a vehicle looks like: shapes and points that do not change, from its signal table and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.axles import pairs, wheels_in
from jounce.data import of_any_tires
from jounce_proto import jounce_pb2 as pb
from jounce_tools.errors import UsageError
from jounce_tools.view.links import Link, links_of

Array = NDArray[np.float64]
#: Corners of the tire's circle.
_CORNERS = 20
#: Half length, half width and height [m] of the body of a vehicle without an outline.
_BOX = (2.2, 0.9, 1.1)


@dataclass(frozen=True)
class Look:
    """Shapes in the frames that outputs move."""

    name: str
    names: tuple[str, ...]
    """Of all outputs."""
    units: tuple[str, ...]
    wheels: tuple[str, ...]
    carriers: dict[str, str]
    """Wheel -> the outputs whose .rot is that of its axes, without its spin."""
    body: tuple[Array, ...]
    """Faces of the body, each (corners, 3) [m] in the chassis frame."""
    radius: float
    width: float
    """Of the tires [m]."""
    links: tuple[Link, ...]
    ground: tuple[float, float, float] | None
    """Height [m], slope and bank [rad] of a plane; None for another terrain."""
    raised: float
    """`terrain.height` [m]."""


def look_of(model: pb.DescribeModelResponse, parameters: Mapping[str, float]) -> Look:
    """The look of a vehicle; ``parameters`` are those that differ from the model's start values.

    Raises UsageError for a model without a chassis in space.
    """
    outputs = [(s.name + c, s.unit) for s in model.signals if s.causality == pb.CAUSALITY_OUTPUT for c in s.components]
    names = tuple(n for n, _ in outputs)
    wheels = wheels_in(names)
    own = [f"wheel_{w}.{s}" for w in wheels for s in ("pos.x", "angle", "tire_force.x")]
    for needed in ("ref_frame.pos.x", "ref_frame.rot.e0", "ref_frame.yaw", "speed", *own):
        if needed not in names:
            raise UsageError(f"{model.model}: no output {needed}; expected a vehicle with a chassis in space")
    values = {s.name + c: v for s in model.signals if s.causality == pb.CAUSALITY_PARAMETER
              for c, v in zip(s.components, s.start, strict=True)}  # fmt: skip
    values |= parameters
    said = {s.name: s.description for s in model.signals}
    p = values.get
    plane = (p("terrain.height", 0.0), p("terrain.slope", 0.0), p("terrain.bank", 0.0))
    return Look(
        model.model, names, tuple(u for _, u in outputs), wheels, carriers_of(names, wheels), body_of(values, wheels),
        of_any_tires(values, "unloaded_radius") or 0.4, of_any_tires(values, "width") or 0.25,
        links_of(values, said, wheels),
        plane if p("terrain_source", 1.0) == 1.0 else None, plane[0],
    )  # fmt: skip


def carriers_of(names: tuple[str, ...], wheels: tuple[str, ...]) -> dict[str, str]:
    """Wheel -> what has its axes: the wheel's own output, else a knuckle or an axle of a truck, else the chassis."""
    found = {}
    for axle, both in (pairs(wheels) if len(wheels) % 2 == 0 else {}).items():
        for wheel, side in zip(both, "LR", strict=True):
            choices = (f"wheel_{wheel}", f"body_{axle}.knuckle_{side}", f"body_{axle}")
            found[wheel] = next((c for c in choices if f"{c}.rot.e0" in names), "ref_frame")
    return {w: found.get(w, f"wheel_{w}" if f"wheel_{w}.rot.e0" in names else "ref_frame") for w in wheels}


def body_of(parameters: Mapping[str, float], wheels: tuple[str, ...]) -> tuple[Array, ...]:
    """Faces of the body from its outline; a box for a vehicle without one."""
    axles = tuple(pairs(wheels)) if wheels and len(wheels) % 2 == 0 else ("front", "rear")
    ends = [(axles[0], ("low", "upper", "roof")), (axles[-1], ("roof", "upper", "low"))]
    try:
        side = np.array([[parameters[f"chassis.outline.{axle}.{height}.{a}"] for a in "xyz"]
                         for axle, heights in ends for height in heights])  # fmt: skip
    except KeyError:
        x, y, z = _BOX
        side = np.array([[x, y, 0.0], [x, y, 0.5], [0.3 * x, 0.8 * y, z], [-0.6 * x, 0.8 * y, z], [-x, y, 0.6],
                         [-x, y, 0.0]])  # fmt: skip
    other = side * (1.0, -1.0, 1.0)
    between = [np.array([side[k], side[k - 1], other[k - 1], other[k]]) for k in range(len(side))]
    return (side, other, *between)


def tire(radius: float, width: float) -> tuple[Array, Array]:
    """((corners, 3) of the outer and of the inner circle) in the wheel's frame, y along the spin axis."""
    angle = np.linspace(0.0, 2.0 * np.pi, _CORNERS, endpoint=False)
    circle = np.column_stack([radius * np.sin(angle), np.zeros_like(angle), radius * np.cos(angle)])
    return circle + (0.0, 0.5 * width, 0.0), circle - (0.0, 0.5 * width, 0.0)
