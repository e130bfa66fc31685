"""Terrain from a description in TOML: a ground, obstacles on it, friction, and the disc that feels it.

    edge = "CLAMP"                 # or PLANE, FAULT
    steepest = 4.0                 # slope of edges of obstacles that would be upright
    [ground]                       # level, where it is left out
    class = "C"                    # ISO 8608; or file = "road.crg" (.jnt, .npy, .png, ...)
    seed = 7
    length = 500.0
    mu_file = "mu.npy"             # friction of each point of the ground; nan: as elsewhere
    [[obstacle]]
    kind = "half_round"
    x = 40.0
    radius = 0.1
    [[friction]]
    x = 60.0
    y = 1.0
    length = 40.0
    width = 2.0
    mu = 0.2
    [envelope]
    radius = 0.47
"""

from __future__ import annotations

import inspect
import math
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from jounce.terrain import packed
from jounce.terrain.arrays import Array, array
from jounce.terrain.envelope import enveloped
from jounce.terrain.iso8608 import iso_road
from jounce.terrain.layout import Layout
from jounce.terrain.obstacles import MAKERS, RANGES, STEEPEST, Obstacle
from jounce.terrain.packed import EDGES, Area, Terrain, TerrainError

_HEAD = ("edge", "height", "steepest", "mu", "ground", "obstacle", "friction", "envelope")
_LEVEL = {"x": -50.0, "y": -50.0, "length": 1000.0, "width": 100.0, "spacing": 1.0}


def described(path: str | os.PathLike[str], read: Callable[[Path, Layout], Terrain]) -> Terrain:
    """The terrain of a description; `read` reads the file of a ground.

    Raises TerrainError with the path and the key that is wrong, OSError.
    """
    path = Path(path)
    try:
        head = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TerrainError(f"{path}: {error}") from error
    try:
        _known(head, _HEAD, "the description")
        ground = dict(_table(head, "ground"))
        mu_file = ground.pop("mu_file", None)
        terrain = _ground(ground, path, read)
        if mu_file is not None:
            terrain = replace(terrain, friction=_friction(path.parent, mu_file, terrain.heights.shape))
        edge = head.get("edge", terrain.edge)
        if edge not in EDGES:
            raise TerrainError(f"edge = {edge!r}: expected {', '.join(EDGES)}")
        terrain = replace(terrain, edge=edge, height=_number(head, "height", terrain.height),
                          mu=_number(head, "mu", terrain.mu, 0.0, 2.0))  # fmt: skip
        steepest = _number(head, "steepest", STEEPEST, *RANGES["steepest"])
        obstacles = tuple(_obstacle(o, k, steepest) for k, o in enumerate(_tables(head, "obstacle"), 1))
        areas = tuple(_of(Area, a, f"[[friction]] {k}", yaw=0.0) for k, a in enumerate(_tables(head, "friction"), 1))
        terrain = replace(terrain.with_obstacles(*obstacles), areas=(*terrain.areas, *areas))
        if "envelope" in head:
            terrain = _of(enveloped, _table(head, "envelope"), "[envelope]", t=terrain)
        packed.check(terrain)
    except TerrainError as error:
        raise TerrainError(f"{path}: {error}") from error
    return terrain


def _ground(table: Mapping[str, Any], path: Path, read: Callable[[Path, Layout], Terrain]) -> Terrain:
    if "file" in table:
        of_files = [f.name for f in fields(Layout)]
        _known(table, ("file", *of_files), "[ground]")
        if not isinstance(table["file"], str) or table["file"].endswith(".toml"):
            raise TerrainError(f"[ground] file = {table['file']!r}: expected the name of a file of another kind")
        try:
            layout = Layout(**{k: v for k, v in table.items() if k != "file"})
        except TerrainError as error:
            raise TerrainError(f"[ground]: {error}") from error
        return read(path.parent / table["file"], layout)
    if "class" in table:
        given = {("road_class" if k == "class" else k): v for k, v in table.items()}
        road: Terrain = _of(iso_road, given, "[ground]", seed=0)
        return road
    _known(table, _LEVEL, "[ground]")
    n = {key: _number(table, key, usual) for key, usual in _LEVEL.items()}
    if not 0 < 2 * n["spacing"] <= min(n["length"], n["width"]) or n["length"] * n["width"] > 1e7 * n["spacing"] ** 2:
        raise TerrainError("[ground]: expected a spacing of up to half its length and width, and up to 1e7 points")
    shape = tuple(round(n[key] / n["spacing"]) + 1 for key in ("length", "width"))
    return Terrain("HEIGHTMAP", np.zeros(shape), n["spacing"], n["spacing"], (n["x"], n["y"]))


def _friction(folder: Path, name: Any, shape: tuple[int, ...]) -> Array:
    """Friction from a .npy, one number per point of the ground. Raises TerrainError."""
    if not isinstance(name, str) or not name.endswith(".npy"):
        raise TerrainError(f"[ground] mu_file = {name!r}: expected the name of a .npy file")
    where = f"[ground] mu_file = {name!r}"
    try:
        numbers = array(folder / name)
    except OSError as error:
        raise TerrainError(f"{where}: {error.strerror}; expected a file that exists") from error
    if numbers.shape != shape:
        raise TerrainError(f"{where}: numbers of shape {numbers.shape}; expected {shape}, one for each point along and "
                           "across the ground")  # fmt: skip
    if (bad := np.argwhere((numbers < 0.0) | (numbers > 2.0))).size:
        i, j = bad[0]
        raise TerrainError(f"{where}: {numbers[i, j]:g} in row {i}, column {j}: expected 0 to 2, or nan")
    return numbers


def _obstacle(table: Mapping[str, Any], number: int, steepest: float) -> Obstacle:
    kind, where = table.get("kind"), f"[[obstacle]] {number}"
    if kind is None:
        raise TerrainError(f"{where}: kind is missing; expected {', '.join(MAKERS)}")
    if not isinstance(kind, str) or kind not in MAKERS:
        raise TerrainError(f"{where}: kind = {kind!r}: expected {', '.join(MAKERS)}")
    given = {k: v for k, v in table.items() if k != "kind"}
    obstacle: Obstacle = _of(MAKERS[kind], given, f"{where}, {kind}", steepest=steepest)
    return obstacle


def _of(make: Any, table: Mapping[str, Any], where: str, **usual: Any) -> Any:
    """Calls a function with the numbers of a table. Raises TerrainError for a key that it has not, or lacks."""
    wanted = {name: p for name, p in inspect.signature(make).parameters.items()}
    _known(table, [w for w in wanted if w != "t"], where)
    given = usual | dict(table)
    if lacking := [n for n, p in wanted.items() if p.default is p.empty and n not in given]:
        raise TerrainError(f"{where}: {lacking[0]} is missing")
    for key, value in table.items():
        if key != "road_class":
            _finite(value, f"{where}: {key}")
    try:
        return make(**given)
    except ValueError as error:
        raise TerrainError(f"{where}: {error}") from error


def _known(table: Mapping[str, Any], known: Any, where: str) -> None:
    if odd := [key for key in table if key not in known]:
        raise TerrainError(f"{where}: unknown key {odd[0]!r}; expected {', '.join(known)}")


def _finite(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TerrainError(f"{where} = {value!r}: expected a number")
    try:
        number = float(value)
    except OverflowError:  # of an integer of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise TerrainError(f"{where} = {value!r:.40}: expected a finite number")
    return number


def _number(table: Mapping[str, Any], key: str, usual: float, low: float = -math.inf, high: float = math.inf) -> float:
    number = _finite(table.get(key, usual), key)
    if not low <= number <= high:
        raise TerrainError(f"{key} = {number:g}: expected {low:g} to {high:g}")
    return number


def _table(head: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = head.get(key, {})
    if not isinstance(value, dict):
        raise TerrainError(f"{key} = {value!r}: expected a table [{key}]")
    return value


def _tables(head: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = head.get(key, [])
    if not isinstance(value, list) or not all(isinstance(t, dict) for t in value):
        raise TerrainError(f"{key} = {value!r}: expected tables [[{key}]]")
    return value
