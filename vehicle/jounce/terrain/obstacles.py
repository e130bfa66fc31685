"""Obstacles on a terrain: analytic shapes whose heights add to the ground's.

Each lies along its own direction, with s from its start (from its middle: half rounds and bumps), and w to the left.
Edges that would be vertical, and the sides, rise with `steepest`. The usual 4:1 is what a tire on a single point of
contact can still follow; an area of contact can have 1000:1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Shape = Literal["HALF_ROUND", "BUMP", "TRAPEZOID", "SINE"]
SHAPES: tuple[Shape, ...] = ("HALF_ROUND", "BUMP", "TRAPEZOID", "SINE")
STEEPEST = 4.0
_MOST = 100.0
#: Shape -> its numbers by name.
_NUMBERS = {"HALF_ROUND": ("radius",), "BUMP": ("height", "length"), "TRAPEZOID": ("height", "rise", "top", "fall"),
            "SINE": ("amplitude", "wavelength", "length", "left", "right")}  # fmt: skip
#: Least and most of what is not a height; the model's reader has the same.
RANGES = dict.fromkeys(("width", "radius", "length", "rise", "fall", "wavelength"), (1e-9, 1e6)) | {
    "steepest": (1e-6, 1e6), "top": (0.0, 1e6), "x": (-1e9, 1e9), "y": (-1e9, 1e9), "left": (-1e3, 1e3),
    "right": (-1e3, 1e3)}  # fmt: skip


@dataclass(frozen=True)
class Obstacle:
    """One obstacle; `half_round`, `bump` and so on make it."""

    shape: Shape
    x: float
    """Where s = w = 0, world [m]."""
    y: float
    yaw: float
    """Direction of s [rad]."""
    width: float
    """[m]."""
    numbers: tuple[float, ...]
    """HALF_ROUND: radius. BUMP: height, length. TRAPEZOID: height (below 0 a hole), lengths of rise, top, fall.
    SINE: amplitude, wave length, length, phases on the left and the right [rad]."""
    steepest: float = STEEPEST

    def __post_init__(self) -> None:
        names = _NUMBERS.get(self.shape, ())
        if len(self.numbers) != len(names) or not names:
            raise ValueError(f"obstacle {self.shape!r} of {len(self.numbers)} numbers; expected {len(names)}")
        own = {name: getattr(self, name) for name in ("x", "y", "yaw", "width", "steepest")}
        for name, value in (own | dict(zip(names, self.numbers, strict=True))).items():
            if not np.isfinite(value):
                raise ValueError(f"{name} = {value:g}: expected a finite number")
            low, high = RANGES.get(name, (-np.inf, np.inf))
            if not low <= value <= high:
                raise ValueError(f"{name} = {value:g}: expected {low:g} to {high:g}")
        if abs(self.numbers[0]) > _MOST:
            raise ValueError(f"{names[0]} = {self.numbers[0]:g} m: expected up to {_MOST:g} m")

    @property
    def extent(self) -> float:
        """Furthest that it reaches from its origin [m]."""
        n = self.numbers
        base = float(np.hypot(1.0, self.steepest)) / self.steepest
        along = {"HALF_ROUND": max(2.0, base) * n[0], "BUMP": n[-1], "TRAPEZOID": sum(n[1:]),
                 "SINE": n[2] if len(n) > 2 else 0.0}  # fmt: skip
        return float(np.hypot(along[self.shape], self.width / 2))

    def row(self) -> list[float]:
        """Its 16 numbers in a packed file."""
        direction = [float(np.cos(self.yaw)), float(np.sin(self.yaw))]
        head = [SHAPES.index(self.shape) + 1, self.x, self.y, *direction, self.width / 2, self.extent, self.steepest]
        return [*head, *self.numbers, *[0.0] * (8 - len(self.numbers))]

    @classmethod
    def of_numbers(cls, row: Array) -> Obstacle:
        """From its row in a packed file."""
        shape = SHAPES[int(row[0]) - 1]
        count = len(_NUMBERS[shape])
        yaw = float(np.arctan2(row[4], row[3]))
        return cls(shape, row[1], row[2], yaw, 2 * row[5], tuple(row[8 : 8 + count].tolist()), row[7])


def half_round(x: float, radius: float, *, y: float = 0.0, yaw: float = 0.0, width: float = 4.0,
               steepest: float = STEEPEST) -> Obstacle:  # fmt: skip
    """A half-round bump of a radius [m], as in NATO's ride tests, with its middle at x."""
    return Obstacle("HALF_ROUND", x, y, yaw, width, (radius,), steepest)


def bump(x: float, height: float, length: float, *, y: float = 0.0, yaw: float = 0.0, width: float = 4.0,
         steepest: float = STEEPEST) -> Obstacle:  # fmt: skip
    """A bump h cos^2(pi s / length) with its middle at x."""
    return Obstacle("BUMP", x, y, yaw, width, (height, length), steepest)


def step(x: float, height: float, *, length: float = 1000.0, y: float = 0.0, yaw: float = 0.0,
         width: float = 4.0, steepest: float = STEEPEST) -> Obstacle:  # fmt: skip
    """A step up (or down, with a height below 0) at x, and back after a length."""
    rise = abs(height) / steepest
    return Obstacle("TRAPEZOID", x, y, yaw, width, (height, rise, length, rise), steepest)


def ramp(x: float, height: float, length: float, *, top: float = 0.0, y: float = 0.0, yaw: float = 0.0,
         width: float = 4.0, steepest: float = STEEPEST) -> Obstacle:  # fmt: skip
    """A ramp up over a length, a level top and the same ramp down."""
    return Obstacle("TRAPEZOID", x, y, yaw, width, (height, length, top, length), steepest)


def pothole(x: float, depth: float, length: float, *, edge: float = 0.05, y: float = 0.0, yaw: float = 0.0,
            width: float = 0.6, steepest: float = STEEPEST) -> Obstacle:  # fmt: skip
    """A hole with a level ground, whose ends fall over the length of an edge, or less steeply than `steepest`."""
    fall = max(edge, depth / steepest)
    return Obstacle("TRAPEZOID", x, y, yaw, width, (-depth, fall, max(length - 2 * fall, 0.0), fall), steepest)


def trench(x: float, depth: float, length: float, *, y: float = 0.0, yaw: float = 0.0, width: float = 4.0,
           steepest: float = STEEPEST) -> Obstacle:  # fmt: skip
    """A trench across the way with upright edges."""
    return pothole(x, depth, length, edge=0.0, y=y, yaw=yaw, width=width, steepest=steepest)


def v_ditch(x: float, depth: float, length: float, *, y: float = 0.0, yaw: float = 0.0, width: float = 4.0,
            steepest: float = STEEPEST) -> Obstacle:  # fmt: skip
    """A ditch of two slopes across the way."""
    return Obstacle("TRAPEZOID", x, y, yaw, width, (-depth, length / 2, 0.0, length / 2), steepest)


def sine(x: float, amplitude: float, wavelength: float, length: float, *, left: float = 0.0, right: float = 0.0,
         y: float = 0.0, yaw: float = 0.0, width: float = 4.0, steepest: float = STEEPEST) -> Obstacle:  # fmt: skip
    """Waves with phases on the left and the right [rad], which fade in and out over one wave."""
    return Obstacle("SINE", x, y, yaw, width, (amplitude, wavelength, length, left, right), steepest)


#: Kind in a file of obstacles -> how it is made.
MAKERS = {f.__name__: f for f in (half_round, bump, step, ramp, pothole, trench, v_ditch, sine)}


def packed_obstacles(obstacles: tuple[Obstacle, ...]) -> Array:
    """(n, 16) rows of a packed file."""
    return np.array([o.row() for o in obstacles], dtype=float).reshape(len(obstacles), 16)


def heights(obstacles: tuple[Obstacle, ...], x: Array, y: Array) -> Array:
    """Height of obstacles at places (n,) [m]: the same equations as in the model."""
    total = np.zeros(np.broadcast(x, y).shape)
    for o in obstacles:
        c, n = np.cos(o.yaw), np.sin(o.yaw)
        s, w = c * (x - o.x) + n * (y - o.y), c * (y - o.y) - n * (x - o.x)
        z, inside = _profile(o, s, w), o.width / 2 - np.abs(w)
        z = np.where(np.abs(z) > o.steepest * inside, np.sign(z) * o.steepest * inside, z)
        total += np.where(inside > 0, z, 0.0)
    return total


def _profile(o: Obstacle, s: Array, w: Array) -> Array:
    a, b, c, d, e = (*o.numbers, *[0.0] * (5 - len(o.numbers)))
    r, k = np.abs(s), o.steepest
    if o.shape == "HALF_ROUND":
        root = np.sqrt(1 + k * k)
        tangent = a / root - k * (r - a * k / root)
        return np.where(r < a * k / root, np.sqrt(np.maximum(a * a - r * r, 0.0)), np.maximum(tangent, 0.0))
    if o.shape == "BUMP":
        return np.where(r < b / 2, a * np.cos(np.pi * s / b) ** 2, 0.0)
    if o.shape == "TRAPEZOID":
        return np.asarray(np.interp(s, [0.0, b, b + c, b + c + d], [0.0, a, a, 0.0]))
    fade = np.clip(np.minimum(s, c - s) / b, 0.0, 1.0)
    return np.asarray(fade * a * np.sin(2 * np.pi * s / b + np.where(w > 0, d, e)))
