"""How heights from a file lie in the world: spacing, scale and place."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.terrain.obstacles import Obstacle
from jounce.terrain.packed import Area, Terrain, TerrainError

Array = NDArray[np.float64]
#: What only grids of numbers have.
_OF_GRIDS = ("spacing", "scale", "offset")


@dataclass(frozen=True)
class Layout:
    """What a file of heights does not say itself; None: as in the file, or usual."""

    spacing: float | None = None
    """Distance of neighbouring numbers [m]; usually 1 m for .npy."""
    scale: float | None = None
    """Height of one unit [m]; a .png needs it, usually 1 m."""
    offset: float | None = None
    """Height of 0 units [m]."""
    x: float | None = None
    """Where the file's origin lies, world [m]; that of a picture is its south-west corner."""
    y: float | None = None
    yaw: float | None = None
    """Direction of the file's x axis [rad]."""
    smooth: bool | None = None
    """Catmull-Rom splines in place of bilinear patches."""

    def __post_init__(self) -> None:
        for name, value in self.given().items():
            if name == "smooth":
                if not isinstance(value, bool):
                    raise TerrainError(f"smooth = {value!r}: expected true or false")
            elif isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
                raise TerrainError(f"{name} = {value!r}: expected a number")
        if self.spacing is not None and self.spacing <= 0.0:
            raise TerrainError(f"spacing = {self.spacing}: expected more than 0 m")

    def given(self) -> dict[str, Any]:
        """What is not None, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}

    def grid(self, numbers: Array, *, cell: tuple[float, float] | None = None, needs: tuple[str, ...] = ()) -> Terrain:
        """A heightmap of (rows along x, columns along y) numbers; ``cell`` [m]: their distances, if the file has them.

        Raises TerrainError where what the file ``needs`` is not given.
        """
        if lacking := [name for name in needs if name not in self.given()]:
            raise TerrainError(f"{lacking[0]} is missing: a file of this kind does not say it")
        if cell and self.spacing is not None:
            raise TerrainError(f"spacing = {self.spacing}: the file has its own, {cell[0]:g} m")
        du, dv = cell or (self.spacing or 1.0,) * 2
        heights = numbers * (1.0 if self.scale is None else self.scale) + (self.offset or 0.0)
        return self.placed(Terrain("HEIGHTMAP", heights, du, dv))

    def elsewhere(self, t: Terrain) -> Terrain:
        """A terrain that has its own spacing and heights, at that place. Raises TerrainError for those given again."""
        if known := [name for name in _OF_GRIDS if name in self.given()]:
            raise TerrainError(f"{known[0]}: expected heights from a .npy, .png or .tif; this file has its own")
        return self.placed(t)

    def placed(self, t: Terrain) -> Terrain:
        """A terrain turned about the origin and moved, with its obstacles and areas of friction."""
        if self.smooth is not None:
            t = replace(t, smooth=self.smooth)
        x, y, yaw = self.x or 0.0, self.y or 0.0, self.yaw or 0.0
        if not (x or y or yaw):
            return t
        c, s = float(np.cos(yaw)), float(np.sin(yaw))

        def at(place: tuple[float, float]) -> tuple[float, float]:
            return x + c * place[0] - s * place[1], y + s * place[0] + c * place[1]

        def of(thing: Any) -> Any:
            there = at((thing.x, thing.y))
            return replace(thing, x=there[0], y=there[1], yaw=thing.yaw + yaw)

        obstacles: tuple[Obstacle, ...] = tuple(map(of, t.obstacles))
        areas: tuple[Area, ...] = tuple(map(of, t.areas))
        line = t.line.copy()
        line[:, 0], line[:, 1] = x + c * t.line[:, 0] - s * t.line[:, 1], y + s * t.line[:, 0] + c * t.line[:, 1]
        return replace(t, origin=at(t.origin), yaw=t.yaw + yaw, obstacles=obstacles, areas=areas, line=line)
