"""Suspensions by template: each adds bodies, joints, springs and wheels to an architecture.

A table [[suspension]] names its template, the component or assembly that is its frame, a [[wheel_type]], and gives
points of the left side (the right one mirrors them, y -> -y), parts (mass, com, inertia as of a component), springs.
Lesiv 2011, "Rigid body analysis model derivation", lists the templates; their joints are those of docs/architecture.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import entries
from jounce.architecture.graph import Architecture, Component, Edge, WheelOn, WheelType, offsets
from jounce.architecture.inertia import Mass
from jounce.architecture.read import Table, shown
from jounce.axles import AXLES

Array = NDArray[np.float64]

#: Mirror of the left side.
_MIRROR: Final = np.array([1.0, -1.0, 1.0])
_X: Final = np.array([1.0, 0.0, 0.0])
_Y: Final = np.array([0.0, 1.0, 0.0])
_Z: Final = np.array([0.0, 0.0, 1.0])
#: Rods in place of guides are so long that their arcs are straight lines [m].
_LONG: Final = 10.0


@dataclass
class Axle:
    """A suspension as it is being added."""

    made: Architecture
    table: Table
    name: str
    frame: str
    points: Table = field(init=False)
    kind: WheelType = field(init=False)
    offsets: tuple[float, ...] = field(init=False)
    driven: bool = field(init=False)

    def __post_init__(self) -> None:
        """Takes what all templates have."""
        self.points = self.table.table("points")
        wheel = self.table.text("wheel")
        if wheel not in self.made.wheel_types:
            raise self.table.fault(f"wheel = {shown(wheel)}: expected a [[wheel_type]], one of "
                                   f"{', '.join(self.made.wheel_types) or 'which there is none'}")  # fmt: skip
        self.kind = self.made.wheel_types[wheel]
        self.offsets = offsets(self.table.number("dual", "m", 0.0, least=0))
        self.driven = self.table.flag("driven")

    def point(self, name: str, side: float = 1.0) -> Array:
        """A point of the left side, or its mirror."""
        return self.points.vector(name, "m") * (_MIRROR if side < 0 else 1.0)

    def axis(self, name: str, default: Array, side: float = 1.0) -> Array:
        """A direction of the left side, or its mirror; a hinge's sense does not matter."""
        return self.points.direction(name, default) * (_MIRROR if side < 0 else 1.0)

    def body(self, part: str, key: str = "", side: float = 1.0) -> str:
        """Adds the body of a part's table; its name."""
        inner = self.table.table(key or part)
        mass = entries.mass_of(inner)
        inner.done()
        if side < 0:
            flip = np.diag(_MIRROR)
            mass = Mass(mass.mass, mass.com * _MIRROR, flip @ mass.inertia @ flip)
        name = f"{self.name}.{part}"
        self.made.add(Component(name, self.name, mass, inner.where))
        return name

    def joint(self, kind: str, a: str, b: str, p: Array, q: Array | None = None, *, name: str = "",
              axis: Array = _Z, steer: Array | None = None) -> None:  # fmt: skip
        """Adds a joint at point p of a and q of b (or p)."""
        q = p if q is None else q
        self.made.edges.append(Edge(
            f"{self.name}.{name}" if name else f"{kind} {a} - {b}", kind, a, b, self.table.where, p, q, axis,
            length=float(np.linalg.norm(p - q)), steer=np.zeros(3) if steer is None else steer,
        ))  # fmt: skip

    def spring(self, a: str, b: str, p: Array, q: Array, letter: str = "", along: Array | None = None) -> None:
        """Adds the spring of the table `spring`."""
        inner = self.table.table("spring")
        stiffness, damping = inner.number("stiffness", "N/m", above=0), inner.number("damping", "N s/m", least=0)
        inner.done()
        self.made.edges.append(Edge(f"{self.name}.spring{letter}", "spring", a, b, inner.where, p, q, along=along,
                                    stiffness=stiffness, damping=damping))  # fmt: skip

    def wheel(self, carrier: str, side: float, *, centre: Array | None = None, steered: bool = False,
              axle: str = "") -> None:  # fmt: skip
        """Adds a wheel on a hinge at the point wheel_centre; a dual one is one body with two contacts."""
        centre = self.point("wheel_centre", side) if centre is None else centre
        kind, count, apart = self.kind, len(self.offsets), self.offsets[-1]
        mass = count * kind.mass
        across = count * kind.inertia[0] + mass * apart**2  # Steiner: each tire is `apart` beside the centre
        inertia = np.diag([across, count * kind.inertia[1], across])
        name = f"{self.name}.wheel{axle}_{'L' if side > 0 else 'R'}"
        self.made.add(Component(name, self.name, Mass(mass, centre, inertia), self.table.where))
        self.joint("hinge", name, carrier, centre, axis=_Y)
        self.made.wheels.append(WheelOn(name, name, kind, self.table.where, self.offsets, self.driven, steered))

    def tie_rod(self, upright: str, side: float) -> bool:
        """Adds the rod from tie_rod_outer to tie_rod_inner, which the steering moves; whether it does."""
        steered = self.table.text("steered", "none", of=("none", "rack")) == "rack"
        gain = self.table.number("rack_gain", "m/rad", 0.008, above=0) if steered else 0.0
        outer = self.point("tie_rod_outer", side)
        # A positive angle steers to the left: the rack goes left ahead of the axle, and right behind it.
        sense = 1.0 if outer[0] > self.point("wheel_centre", side)[0] else -1.0
        self.joint("rod", upright, self.frame, outer, self.point("tie_rod_inner", side),
                   name=f"tie_rod{_letter(side)}", steer=sense * gain * _Y)  # fmt: skip
        return steered


def _letter(side: float) -> str:
    return "_L" if side > 0 else "_R"


def _sides() -> Iterator[tuple[float, str]]:
    yield from ((1.0, "_L"), (-1.0, "_R"))


def _macpherson(axle: Axle) -> None:
    """Arm on a hinge, upright on its ball, strut from the upright to the frame (its top on the strut's line)."""
    for side, letter in _sides():
        arm, upright = axle.body(f"arm{letter}", "arm", side), axle.body(f"knuckle{letter}", "knuckle", side)
        axle.joint("hinge", arm, axle.frame, axle.point("arm_pivot", side), name=f"arm_pivot{letter}",
                   axis=axle.axis("arm_axis", _X, side))  # fmt: skip
        axle.joint("ball", upright, arm, axle.point("ball", side), name=f"ball{letter}")
        top, bottom = axle.point("strut_top", side), axle.point("strut_bottom", side)
        axle.joint("line", axle.frame, upright, top, bottom, name=f"strut{letter}", axis=_unit(axle, top, bottom))
        axle.spring(axle.frame, upright, top, bottom, letter)
        axle.wheel(upright, side, steered=axle.tie_rod(upright, side))


def _double_wishbone(axle: Axle) -> None:
    """Two arms on hinges, the upright on their balls, a tie rod; the spring from the lower arm to the frame."""
    for side, letter in _sides():
        lower, upper = (axle.body(f"{which}{letter}", which, side) for which in ("lower", "upper"))
        upright = axle.body(f"knuckle{letter}", "knuckle", side)
        for arm, which in ((lower, "lower"), (upper, "upper")):
            axle.joint("hinge", arm, axle.frame, axle.point(f"{which}_pivot", side), name=f"{which}_pivot{letter}",
                       axis=axle.axis(f"{which}_axis", _X, side))  # fmt: skip
            axle.joint("ball", upright, arm, axle.point(f"{which}_ball", side), name=f"{which}_ball{letter}")
        axle.spring(lower, axle.frame, axle.point("spring_arm", side), axle.point("spring_frame", side), letter)
        axle.wheel(upright, side, steered=axle.tie_rod(upright, side))


def _swing_arm(axle: Axle) -> None:
    """Arm on a hinge at the frame with the wheels behind it: one for both wheels (dependent), or one each."""
    dependent = axle.table.flag("dependent")
    both = axle.body("swing", "arm") if dependent else ""
    if dependent:
        axle.joint("hinge", both, axle.frame, axle.point("pivot"), name="pivot", axis=axle.axis("axis", _Y))
    for side, letter in _sides():
        arm = both or axle.body(f"arm{letter}", "arm", side)
        if not dependent:
            axle.joint("hinge", arm, axle.frame, axle.point("pivot", side), name=f"pivot{letter}",
                       axis=axle.axis("axis", _Y, side))  # fmt: skip
        axle.spring(arm, axle.frame, axle.point("spring_arm", side), axle.point("spring_frame", side), letter)
        axle.wheel(arm, side)


def _live_axle(axle: Axle) -> None:
    """Rigid axle on two lower rods, a pitch rod above and a Panhard rod: heave and roll are left."""
    beam = axle.body("axle")
    for side, letter in _sides():
        axle.joint("rod", beam, axle.frame, axle.point("lower_axle", side), axle.point("lower_frame", side),
                   name=f"lower_rod{letter}")  # fmt: skip
        axle.spring(beam, axle.frame, axle.point("spring_axle", side), axle.point("spring_frame", side), letter)
        axle.wheel(beam, side)
    axle.joint("rod", beam, axle.frame, axle.point("upper_axle"), axle.point("upper_frame"), name="pitch_rod")
    axle.joint("rod", beam, axle.frame, axle.point("panhard_axle"), axle.point("panhard_frame"), name="panhard")


def _leaf_axle(axle: Axle) -> None:
    """Rigid axle on leaf springs: each guides as a link of 3/4 of its front half (SAE HS 788), a long Panhard rod
    holds it sideways, a link above the axle takes the torque."""
    beam = axle.body("axle")
    for side, letter in _sides():
        seat, eye = axle.point("spring_axle", side), axle.point("spring_front", side)
        if np.linalg.norm(eye - seat) < 1e-3:
            raise axle.table.fault("spring_front and spring_axle are the same point; expected them apart")
        axle.joint("rod", beam, axle.frame, seat, seat + 0.75 * (eye - seat), name=f"leaf{letter}")
        axle.spring(beam, axle.frame, seat, seat + np.array([0.0, 0.0, 0.2]), letter, along=-_Z)
        axle.wheel(beam, side)
    top = axle.point("torque_link")
    seat, eye = axle.point("spring_axle"), axle.point("spring_front")
    axle.joint("rod", beam, axle.frame, top, top + 0.75 * (eye - seat), name="torque_link")
    middle = seat * [1, 0, 1]
    axle.joint("rod", beam, axle.frame, middle, middle - _LONG * _Y, name="lateral")


def _walking_tandem(axle: Axle) -> None:
    """Two rigid axles on a beam per side, which turns on a sprung saddle.

    Each axle has a ball on one beam's end, and on the other a line along y: a second ball would hold what the first
    holds already, the distance of the beams. A torque rod keeps it from turning about y.
    """
    for k, end in enumerate(AXLES, 1):
        axle.body(f"axle{k}", f"axle_{end}")
    for side, letter in _sides():
        saddle, beam = axle.body(f"saddle{letter}", "saddle", side), axle.body(f"beam{letter}", "beam", side)
        pivot = axle.point("pivot", side)
        axle.joint("slider", saddle, axle.frame, pivot, name=f"saddle{letter}", axis=_Z)
        axle.spring(saddle, axle.frame, axle.point("spring_saddle", side), axle.point("spring_frame", side), letter)
        axle.joint("hinge", beam, saddle, pivot, name=f"pivot{letter}", axis=_Y)
        for k, end in enumerate(AXLES, 1):
            carrier, at = f"{axle.name}.axle{k}", axle.point(f"beam_{end}", side)
            axle.joint("ball" if side > 0 else "line", carrier, beam, at, name=f"end{k}{letter}", axis=_Y)
            axle.wheel(carrier, side, centre=axle.point(f"wheel_centre_{end}", side), axle=str(k))
    for k, end in enumerate(AXLES, 1):
        axle.joint("rod", f"{axle.name}.axle{k}", axle.frame, axle.point(f"torque_axle_{end}"),
                   axle.point(f"torque_frame_{end}"), name=f"torque_rod{k}")  # fmt: skip


def _general_independent(axle: Axle) -> None:
    """Each wheel's carrier slides along a line of the frame, on a spring; no more than that is known yet."""
    for side, letter in _sides():
        carrier = axle.body(f"carrier{letter}", "carrier", side)
        axis, centre = axle.axis("axis", _Z, side), axle.point("wheel_centre", side)
        if axis[2] < 0.1:
            raise axle.table.fault(f"axis = {axis.tolist()}: expected one that points up")
        axle.joint("slider", carrier, axle.frame, centre, name=f"guide{letter}", axis=axis)
        axle.spring(carrier, axle.frame, centre, centre + 0.3 * axis, letter, along=-axis)
        axle.wheel(carrier, side)


def _general_dependent(axle: Axle) -> None:
    """A rigid axle that heaves along a line of the frame and rolls, on two springs; two long rods hold its turn."""
    beam = axle.body("axle")
    centre = axle.point("wheel_centre") * [1, 0, 1]
    forward = np.array([_LONG, 0.0, 0.0])
    axle.joint("line", beam, axle.frame, centre, name="guide", axis=_Z)
    axle.joint("rod", beam, axle.frame, centre + 0.3 * _Z, centre + 0.3 * _Z + forward, name="pitch_rod")
    axle.joint("rod", beam, axle.frame, centre + 0.3 * _Y, centre + 0.3 * _Y + forward, name="yaw_rod")
    for side, letter in _sides():
        seat = axle.point("spring_axle", side)
        axle.spring(beam, axle.frame, seat, seat + 0.3 * _Z, letter, along=-_Z)
        axle.wheel(beam, side)


def _unit(axle: Axle, top: Array, bottom: Array) -> Array:
    length = float(np.linalg.norm(top - bottom))
    if length < 1e-3:
        raise axle.table.fault("strut_top and strut_bottom are the same point; expected them apart")
    unit: Array = (top - bottom) / length
    return unit


#: Template -> (what adds it, motions that it leaves beside the turns of its wheels).
TEMPLATES: Final[dict[str, tuple[Callable[[Axle], None], int]]] = {
    "macpherson": (_macpherson, 2),
    "double_wishbone": (_double_wishbone, 2),
    "swing_arm": (_swing_arm, 2),
    "live_axle": (_live_axle, 2),
    "leaf_axle": (_leaf_axle, 2),
    "walking_tandem": (_walking_tandem, 4),
    "general_independent": (_general_independent, 2),
    "general_dependent": (_general_dependent, 2),
}


def add(made: Architecture, table: Table) -> None:
    """Adds a suspension. Raises ArchitectureError, which names its entry."""
    name, template = table.name(), table.text("template", of=TEMPLATES)
    if name in made.suspensions or any(c.assembly == name for c in made.components.values()):
        raise table.fault(f"name {name!r} is taken; expected a name of its own")
    axle = Axle(made, table, name, made.resolved(table.text("frame"), table))
    TEMPLATES[template][0](axle)
    made.suspensions[name] = template
    axle.points.done()
    table.done()
