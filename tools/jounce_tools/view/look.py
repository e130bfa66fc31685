"""What a vehicle looks like: shapes and points that do not change, from its signal table and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import target
from jounce.axles import pairs, wheels_in
from jounce.data import of_any_tires
from jounce.models.impulse.signals import Truck
from jounce_proto import jounce_pb2 as pb
from jounce_tools.architecture.figure import FACES, boxes, is_flat, is_road, lines, tires, truck_of
from jounce_tools.errors import UsageError
from jounce_tools.view.links import End, Link, links_of

Array = NDArray[np.float64]
#: Corners of the tire's circle.
_CORNERS = 20
#: Half length, half width and height [m] of the body of a vehicle without an outline; radius and width of a tire.
_BOX, _TIRE = (2.2, 0.9, 1.1), (0.4, 0.25)
#: Of the faces of the body: sides, floor, then from the front over the roof to the rear.
BODY_COLOURS = ("#5b7fa6", "#5b7fa6", "#3d5a7a", "#4c6f96", "#7d9dc0", "#8fadcd", "#7d9dc0", "#4c6f96")
#: Of the bodies of an architecture, in turn.
_PARTS = ("#5b7fa6", "#c9894a", "#5f9e6e", "#b55d60", "#857aab", "#8d7866", "#d095bf", "#8c8c8c", "#c1b37f", "#71aec0")


#: The body of what does not move.
GROUND = "ground"


@dataclass(frozen=True)
class Part:
    """A convex shape that one body carries."""

    body: str
    """The outputs whose .pos and .rot are its, or `GROUND`."""
    faces: tuple[Array, ...]
    """Each (corners, 3) [m] in its frame."""
    colours: tuple[str, ...]
    """Of the faces."""


@dataclass(frozen=True)
class Tires:
    """The tires of one wheel."""

    radius: float
    width: float
    offsets: tuple[float, ...] = (0.0,)
    """Of each tire, to the left of the wheel's centre [m]."""

    @property
    def rings(self) -> tuple[tuple[Array, Array], ...]:
        """Of each tire the (corners, 3) of its left and of its right circle, in the wheel's frame, y along its axle."""
        angle = np.linspace(0.0, 2.0 * np.pi, _CORNERS, endpoint=False)
        circle = np.column_stack([self.radius * np.sin(angle), np.zeros_like(angle), self.radius * np.cos(angle)])
        return tuple((circle + (0.0, at + 0.5 * self.width, 0.0), circle + (0.0, at - 0.5 * self.width, 0.0))
                     for at in self.offsets)  # fmt: skip


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
    parts: tuple[Part, ...]
    tires: dict[str, Tires]
    """Of each wheel."""
    links: tuple[Link, ...]
    ground: tuple[float, float, float] | None
    """Height [m], slope and bank [rad] of a plane; None for another terrain."""
    raised: float
    """`terrain.height` [m]."""
    length: float
    """Of the vehicle [m]."""
    road: Mapping[str, float] | None
    """Parameters of a truck's own road where it is not flat."""

    @property
    def bodies(self) -> tuple[str, ...]:
        """Outputs with the poses of what is drawn, beside the wheels."""
        linked = (w for link in self.links for end in link.ends if end.body == "body" for w in end.wheels)
        parts = (p.body for p in self.parts if p.body != GROUND)
        return tuple(dict.fromkeys(("ref_frame", *parts, *linked)))

    def height(self, x: Array, y: Array) -> Array:
        """Height of the plane [m]: x rises with the slope, y with the bank."""
        height, slope, bank = self.ground or (0.0, 0.0, 0.0)
        z: Array = height + np.tan(slope) * x + np.tan(bank) * y
        return z


def look_of(model: pb.DescribeModelResponse, parameters: Mapping[str, float], truck: Truck | None = None) -> Look:
    """The look of a vehicle; ``parameters`` are those that differ from the model's start values.

    ``truck`` is its architecture where it has one that is not built in. Raises UsageError for a model without a chassis
    in space, or one that is not that truck.
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
    look = Look(
        model.model, names, tuple(u for _, u in outputs), wheels, carriers_of(names, wheels),
        (Part("ref_frame", body_of(values, wheels), BODY_COLOURS),), tires_of(values, wheels),
        links_of(values, said, wheels), plane if p("terrain_source", 1.0) == 1.0 else None, plane[0], 0.0, None,
    )  # fmt: skip
    truck = truck_of(model.model) if truck is None else truck
    if truck is not None:
        return of_truck(look, truck, values)
    return replace(look, length=float(np.ptp(np.concatenate(look.parts[0].faces)[:, 0])))


def of_truck(look: Look, truck: Truck, values: Mapping[str, float]) -> Look:
    """The look of a truck from its architecture. Raises UsageError where the outputs are another vehicle's."""
    labels = [f"body_{label}" for label in truck.labels]
    needed = [*(f"{b}.pos.x" for b in labels), *(f"wheel_{w.name}.pos.x" for w in truck.model.wheels)]
    if lacking := [n for n in needed if n not in look.names]:
        raise UsageError(f"{look.name}: no output {lacking[0]}; expected the outputs of the truck {truck.name}")
    shown = boxes(truck, values)
    reach = [box.corners[:, 0] + truck.layout.model.bodies[box.body].com[0] for box in shown]
    colours = [(_PARTS[k % len(_PARTS)],) * len(FACES) for k in range(len(labels))]
    parts = tuple(Part(labels[b.body], tuple(b.corners[list(f)] for f in FACES), colours[b.body]) for b in shown)

    def end(body: int, point: Array) -> End:
        at = (*map(float, point),)
        return End(GROUND, at) if body == target.GROUND else End("body", at, (labels[body],))

    kinds = {"rod": "rod", "strut": "shock", "spring": "spring"}
    links = tuple(Link(f"{line.name} {line.kind}", kinds[line.kind], (end(line.b, line.on_b), end(line.a, line.on_a)),
                       line.slides)
                  for line in lines(truck, values) if line.kind in kinds)  # fmt: skip
    carriers = {w.name: labels[w.carrier] for w in truck.layout.model.wheels}
    flat = is_flat(values)
    return replace(
        look, carriers={w: carriers[w] for w in look.wheels}, parts=parts, links=links,
        tires={w: Tires(*sizes) for w, sizes in tires(truck).items()}, length=float(np.ptp(reach)),
        ground=look.ground if flat else None, road=None if flat else {n: v for n, v in values.items() if is_road(n)},
    )  # fmt: skip


def undrawn(look: Look) -> str:
    """What to say of a vehicle of bodies whose shapes are not known; empty where they are."""
    if any(n.startswith("body_") for n in look.names) and not any(p.body.startswith("body_") for p in look.parts):
        return f"{look.name} is drawn as a box; --vehicle with the file of its architecture shows its parts"
    return ""


def tires_of(parameters: Mapping[str, float], wheels: tuple[str, ...]) -> dict[str, Tires]:
    """Wheel -> its tires, by the parameters of its axle's law, or of all axles."""
    axle_of = {w: axle for axle, both in (pairs(wheels) if len(wheels) % 2 == 0 else {}).items() for w in both}

    def size(wheel: str, name: str, default: float) -> float:
        own = parameters.get(f"tire.{axle_of.get(wheel)}.{name}")
        return own or parameters.get(f"tire.{name}") or of_any_tires(parameters, name) or default

    return {w: Tires(size(w, "unloaded_radius", _TIRE[0]), size(w, "width", _TIRE[1])) for w in wheels}


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
