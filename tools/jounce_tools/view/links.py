"""The links of the suspension as lines: where they end, and on which body, from the names of the hardpoints.

The names are those of the vehicle data: X_C is on the chassis, X_U on the upright, X_K on the knuckle, X_A on the arm
or on the axle; an arm X has the chassis joints X_F and X_B. The outputs have the poses of the chassis and of the
carriers of the wheels; a rigid axle without knuckles turns as these do. An arm turns about its chassis joints until its
outer joint meets the upright. A rigid axle with knuckles is where the ends of its kingpins are, which are those of the
knuckles, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.axles import pairs
from jounce_tools.architecture.figure import slid

Array = NDArray[np.float64]
#: A pose: (position (3,), axes (3, 3) whose columns are those of the body), in the world.
Pose = tuple[Array, Array]
_MIRROR = np.array([1.0, -1.0, 1.0])


@dataclass(frozen=True)
class End:
    """A point of a body."""

    body: str
    """`chassis`, `wheel`, `arm`, `axle`, `ground`, or `body`, one that has outputs of its own."""
    point: tuple[float, ...]
    """In the body's frame [m]; of an axle, in the frame of its design position."""
    wheels: tuple[str, ...] = ()
    """Of a wheel or a body: its name; of an arm: that of its wheel; of an axle: those of the left and the right."""
    arm: tuple[tuple[float, ...], ...] = ()
    """Of an arm: its two joints and its outer joint in design, chassis frame, and the outer joint in the wheel's."""
    kingpins: tuple[tuple[float, ...], ...] = ()
    """Of an axle: lower and upper end of the left and of the right kingpin in design, then in the wheels' frames."""


@dataclass(frozen=True)
class Link:
    """A line between two ends."""

    name: str
    """As the data name it, with its wheel."""
    kind: str
    """`rod`, `spring` or `shock`."""
    ends: tuple[End, End]
    slides: float = 0.0
    """Length of a link [m] whose first end the steering moves along y of the chassis, which keeps it; 0 otherwise."""


def links_of(values: Mapping[str, float], said: Mapping[str, str], wheels: tuple[str, ...]) -> tuple[Link, ...]:
    """All links of a vehicle. ``said``: signal -> description, which tells what is on the left side only."""
    if len(wheels) % 2:
        return ()
    found: list[Link] = []
    for axle, both in pairs(wheels).items():
        points = dict.fromkeys(n[len(axle) + 1 : -2] for n in values if n.startswith(f"{axle}.") and n.endswith(".x"))
        at = {n: np.array([values[f"{axle}.{n}.{a}"] for a in "xyz"]) for n in points if n[:1].isupper()}
        if "SPINDLE" not in at:
            continue
        origin = np.array([values.get(f"{axle}.origin.{a}", 0.0) for a in "xyz"])
        for side, wheel in zip((1.0, -1.0), both, strict=True):
            mirror = _MIRROR if side < 0 else np.ones(3)
            own = {n: origin + p * mirror for n, p in at.items()
                   if side > 0 or not _once(said.get(f"{axle}.{n}.x", ""))}  # fmt: skip
            found += _of_wheel(own, wheel, both, origin)
        if "AXLE_CM" in at:
            # Between the kingpins, where it has some, with the stubs from there to the wheels.
            pin = 0.5 * (at["KNUCKLE_L"] + at["KNUCKLE_U"]) - at["SPINDLE"] if "KNUCKLE_L" in at else np.zeros(3)
            ends = [End("wheel", _t(p), (w,)) for w, p in zip(both, (pin, pin * _MIRROR), strict=True)]
            found.append(Link(f"axle {axle}", "rod", (ends[0], ends[1])))
            found += [Link(f"knuckle {w}", "rod", (end, End("wheel", (0.0, 0.0, 0.0), (w,))))
                      for w, end in zip(both, ends, strict=True) if pin.any()]  # fmt: skip
        if "TIEROD_K" in at:
            left = at["TIEROD_K"] - at["SPINDLE"]
            found.append(Link(f"TIEROD {axle}", "rod", (End("wheel", _t(left), (both[0],)),
                                                       End("wheel", _t(left * _MIRROR), (both[1],)))))  # fmt: skip
    return tuple(found)


def _once(description: str) -> bool:
    """Whether an axle has only one of it: a Panhard rod, a draglink."""
    return bool(description) and "left side" not in description


def _t(point: Array) -> tuple[float, ...]:
    return tuple(float(x) for x in point)


def _of_wheel(p: Mapping[str, Array], wheel: str, both: tuple[str, str], origin: Array) -> Iterator[Link]:
    """Links of one wheel; ``p`` are its points in design, chassis frame."""
    centre = p.get("SPINDLE", origin)

    def on_wheel(name: str) -> End:
        return End("wheel", _t(p[name] - centre), (wheel,))

    def on_chassis(name: str) -> End:
        return End("chassis", _t(p[name]))

    def moving(name: str) -> End:
        if "KNUCKLE_L" in p:
            mirrors = (np.ones(3), _MIRROR) if wheel == both[0] else (_MIRROR, np.ones(3))
            ends = [(p[k] * m, centre * m) for m in mirrors for k in ("KNUCKLE_L", "KNUCKLE_U")]
            pins = tuple(_t(q) for q in (*(end for end, _ in ends), *(end - at for end, at in ends)))
            return End("axle", _t(p[name]), both, kingpins=pins)
        if {"LCA_F", "LCA_B", "LCA_U"} <= p.keys():
            arm = (_t(p["LCA_F"]), _t(p["LCA_B"]), _t(p["LCA_U"]), _t(p["LCA_U"] - centre))
            return End("arm", _t(p[name]), (wheel,), arm)
        return on_wheel(name)

    if {"LCA_U", "UCA_U"} <= p.keys():
        yield Link(f"upright {wheel}", "rod", (on_wheel("LCA_U"), on_wheel("UCA_U")))
    outer: dict[str, Callable[[str], End]] = {"U": on_wheel, "K": on_wheel, "A": moving}
    for name in p:
        base, _, end = name.rpartition("_")
        kind = base.lower() if base in ("SPRING", "SHOCK") else "rod"
        if end in outer and f"{base}_C" in p:
            steered = base in ("TIEROD", "DRAGLINK")
            length = float(np.linalg.norm(p[name] - p[f"{base}_C"])) if steered else 0.0
            yield Link(f"{base} {wheel}", kind, (on_chassis(f"{base}_C"), outer[end](name)), length)
        elif end == "U":
            for joint in (f"{base}_F", f"{base}_B"):
                if joint in p:
                    yield Link(f"{joint} {wheel}", "rod", (on_chassis(joint), on_wheel(name)))
        elif base == "TA":
            yield Link(f"{name} {wheel}", "rod", (on_chassis(name), End("wheel", (0.0, 0.0, 0.0), (wheel,))))
        elif name == "LEAF_A":
            for eye in ("SPRING_F", "SPRING_R"):
                if eye in p:
                    yield Link(f"{eye} {wheel}", "spring", (on_chassis(eye), moving(name)))


def place(link: Link, chassis: Pose, wheels: Mapping[str, Pose]) -> tuple[Array, Array]:
    """The two ends of a link in the world [m], by the poses of the wheels' carriers and of other bodies."""
    (a, b) = (_placed(end, chassis, wheels) for end in link.ends)
    if link.slides:
        a = slid(a, b, chassis[1][:, 1], link.slides)
    return a, b


def _placed(end: End, chassis: Pose, wheels: Mapping[str, Pose]) -> Array:
    point = np.array(end.point)
    if end.body == "ground":
        return point
    if end.body in ("wheel", "body"):
        position, axes = wheels[end.wheels[0]]
        return np.asarray(position + axes @ point)
    if end.body == "axle":
        was, offsets = np.array(end.kingpins[:4]), end.kingpins[4:]
        carriers = [wheels[w] for w in end.wheels for _ in range(2)]
        now = np.array([at + axes @ np.array(q) for (at, axes), q in zip(carriers, offsets, strict=True)])
        turned = _pins(now) @ _pins(was).T
        return np.asarray(now.mean(axis=0) + turned @ (point - was.mean(axis=0)))
    if end.body == "arm":
        front, back, design, in_wheel = (np.array(q) for q in end.arm)
        position, axes = wheels[end.wheels[0]]
        now = chassis[1].T @ (position + axes @ in_wheel - chassis[0])
        turned = _frame(front, back, now) @ _frame(front, back, design).T
        point = front + turned @ (point - front)
    return np.asarray(chassis[0] + chassis[1] @ point)


def _frame(front: Array, back: Array, outer: Array) -> Array:
    """Axes of an arm, in columns: along its joints, square to them towards its outer joint, and the third."""
    x = (front - back) / np.linalg.norm(front - back)
    y = outer - front
    y = y - x * float(x @ y)
    y /= np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def _pins(ends: Array) -> Array:
    """Axes of an axle by the ends of its kingpins (4, 3): across it in the second column, up them in the third."""
    low_left, up_left, low_right, up_right = ends
    y = low_left + up_left - low_right - up_right
    y /= np.linalg.norm(y)
    x = np.cross(y, up_left + up_right - low_left - low_right)
    x /= np.linalg.norm(x)
    return np.column_stack([x, y, np.cross(x, y)])
