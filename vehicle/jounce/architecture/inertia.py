"""Mass, centre and inertia of components from their geometry.

Every shape is its mass m, its centre c and its second moment S = integral of (x - c)(x - c)^T dm, which add up; the
inertia tensor is tr(S) E - S (Goldstein, "Classical mechanics", section 5.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Material -> density [kg/m3]; steel, aluminium and glass as commonly used in design.
DENSITIES: Final = {"steel": 7850.0, "aluminium": 2700.0, "glass": 2500.0}


@dataclass(frozen=True)
class Mass:
    """Mass [kg], its centre (3,) [m] and its inertia tensor (3, 3) about the centre [kg m2]."""

    mass: float
    com: Array
    inertia: Array
    pieces: tuple[Mass, ...] = ()
    """Bars of a beam, plates of a panel, as they are drawn."""

    @property
    def second(self) -> Array:
        """(3, 3) S: integral of (x - c)(x - c)^T dm."""
        second: Array = np.trace(self.inertia) / 2 * np.eye(3) - self.inertia
        return second


def from_second(mass: float, com: Array, second: Array) -> Mass:
    """Of mass, centre and S."""
    return Mass(mass, com, np.trace(second) * np.eye(3) - second)


def total(parts: Iterable[Mass]) -> Mass:
    """All parts as one rigid body: m = sum m_k, c = sum m_k c_k / m, I = sum I_k + m_k (d.d E - d d^T)."""
    parts = list(parts)
    mass = sum(p.mass for p in parts)
    com = sum((p.mass * p.com for p in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for p in parts:
        d = p.com - com
        inertia += p.inertia + p.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Mass(mass, com, inertia)


def remainder(whole: Mass, parts: Iterable[Mass]) -> Mass:
    """What is missing from the parts to the whole; its mass must not be zero, it may be negative."""
    there = list(parts)
    if not there:
        return whole
    known = total(there)
    mass = whole.mass - known.mass
    com = (whole.mass * whole.com - known.mass * known.com) / mass
    bare = total([known, Mass(mass, com, np.zeros((3, 3)))])
    return Mass(mass, com, whole.inertia - bare.inertia)


def tensor(numbers: Array) -> Array:
    """(3, 3) tensor of its elements xx yy zz, xx yy zz xz or xx yy zz xy xz yz."""
    xx, yy, zz = numbers[:3]
    xy, xz, yz = {3: (0.0, 0.0, 0.0), 4: (0.0, numbers[-1], 0.0)}.get(len(numbers), tuple(numbers[3:]))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def fault(body: Mass) -> str:
    """What makes it no rigid body, or ""."""
    if not body.mass > 0:
        return f"mass {body.mass:.6g} kg: expected more than 0"
    moments = np.linalg.eigvalsh(body.inertia)
    shown = ", ".join(f"{m:.6g}" for m in moments)
    if not moments[0] > 0:
        return f"principal moments of inertia {shown} kg m2: expected all more than 0"
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):
        return f"principal moments of inertia {shown} kg m2: expected none larger than the sum of the other two"
    return ""


def box(mass: float, com: Array, size: Array) -> Mass:
    """A full box with its edges [m] along the axes."""
    return from_second(mass, com, np.diag(mass * size**2 / 12))


def cylinder(mass: float, com: Array, axis: Array, radius: float, length: float, inner: float = 0.0) -> Mass:
    """A full cylinder, or a thick pipe, about a unit axis."""
    along = np.outer(axis, axis)
    second = mass * length**2 / 12 * along + mass * (radius**2 + inner**2) / 4 * (np.eye(3) - along)
    return from_second(mass, com, second)


@dataclass(frozen=True)
class Section:
    """Cross-section of a beam: area [m2] and second moments of area [m4] across its width and its height."""

    area: float
    width: float
    height: float


def tube(width: float, height: float, thickness: float) -> Section:
    """Rectangular tube; full where the thickness reaches half its smaller side."""
    inner = np.maximum(np.array([width, height]) - 2 * thickness, 0.0)
    inner = inner if inner.all() else np.zeros(2)
    return Section(width * height - inner[0] * inner[1], (width**3 * height - inner[0]**3 * inner[1]) / 12,
                   (width * height**3 - inner[0] * inner[1]**3) / 12)  # fmt: skip


def pipe(diameter: float, thickness: float) -> Section:
    """Round pipe; a full bar where the thickness reaches its radius."""
    r, s = diameter / 2, max(diameter / 2 - thickness, 0.0)
    moment = np.pi / 4 * (r**4 - s**4)
    return Section(np.pi * (r**2 - s**2), moment, moment)


def channel(width: float, height: float, thickness: float) -> Section:
    """C-section: a web of that height, two flanges of that width; the beam's path is its centroid."""
    parts = np.array([[0.0, 0.0, thickness, height],
                      *([(width - thickness) / 2 + thickness / 2, side * (height - thickness) / 2,
                         width - thickness, thickness] for side in (-1, 1))])  # fmt: skip
    areas = parts[:, 2] * parts[:, 3]
    centre = areas @ parts[:, :2] / areas.sum()
    offset = parts[:, :2] - centre
    moments = (areas[:, None] * (parts[:, 2:] ** 2 / 12 + offset**2)).sum(0)
    return Section(float(areas.sum()), float(moments[0]), float(moments[1]))


def beam(path: Array, section: Section, density: float, up: Array) -> Mass:
    """A beam along straight pieces between points; its height is along `up` as far as that is across the piece.

    Prismatic bars that meet at the points; what overlaps at corners counts twice.
    """
    parts = []
    for start, end in zip(path[:-1], path[1:], strict=True):
        length = float(np.linalg.norm(end - start))
        along = (end - start) / length
        height = up - along * (up @ along)
        if np.linalg.norm(height) < 1e-6:  # a piece along `up`: its height is across, whichever way
            height = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
        height /= np.linalg.norm(height)
        width = np.cross(height, along)
        mass = density * section.area * length
        second = mass * length**2 / 12 * np.outer(along, along) + density * length * (
            section.width * np.outer(width, width) + section.height * np.outer(height, height)
        )
        parts.append(from_second(mass, (start + end) / 2, second))
    return replace(total(parts), pieces=tuple(parts))


def panel(points: Array, triangles: NDArray[np.int64], thickness: float, density: float) -> Mass:
    """Plates of equal thickness over triangles: S = m/12 (sum of v v^T over corners) about the centre, exactly."""
    parts = []
    for corners in points[triangles]:
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        area = float(np.linalg.norm(normal)) / 2
        mass, com = density * thickness * area, corners.mean(0)
        v, n = corners - com, normal / (2 * area)
        parts.append(from_second(mass, com, mass / 12 * (v.T @ v + thickness**2 * np.outer(n, n))))
    return replace(total(parts), pieces=tuple(parts))
