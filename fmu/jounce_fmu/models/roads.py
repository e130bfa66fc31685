"""Vehicles on a terrain file: a vehicle.toml in this user's cache, and the file that their FMUs hold."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from jounce.data import DataError, load_vehicle, vehicle_file
from jounce.terrain.files import packed
from jounce.terrain.packed import SUFFIX, TerrainError, check_bytes
from jounce_fmu.build.library import BuildError
from jounce_fmu.models import axles

#: Name that the model looks for among the resources.
RESOURCE = "terrain.jnt"


def on_road(vehicle: str | Path, file: str | Path) -> Path:
    """A vehicle.toml of a vehicle on the terrain of a file that `jounce.terrain.files` reads.

    What is not packed yet is packed into the cache. Raises DataError, BuildError.
    """
    base, file = load_vehicle(vehicle), Path(file).resolve()
    name = f"{base.name}_{file.stem}"
    try:
        content = file.read_bytes() if file.suffix == SUFFIX else packed(file)
        check_bytes(content, file)
    except OSError as error:
        raise DataError(f"{base.name}: terrain file {file}: {error.strerror}; expected a file that exists") from error
    except TerrainError as error:
        raise DataError(f"{base.name}: {error}") from error
    digest = hashlib.sha256(content).hexdigest()[:16]
    folder = axles.cache_folder() / f"{name}-{digest}"
    place = file
    if file.suffix != SUFFIX:
        place = folder / RESOURCE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not place.is_file() or place.read_bytes() != content:
                place.write_bytes(content)
        except OSError as error:
            raise BuildError(f"{place}: the packed terrain cannot be written: {error}") from error
    entries = {"name": name, "base": str(vehicle_file(vehicle).resolve()), "road": str(place)}
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in entries.items())
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    return axles.write(folder / key, {"vehicle.toml": text})[0]


def road_of(name: str | Path) -> Path | None:
    """The terrain file of a vehicle, by its name or path; None for what is on none."""
    try:
        road = load_vehicle(name).road
    except DataError:
        return None
    return Path(road) if road else None


def road_place(name: str | Path) -> str:
    """The URI of that file, as a place of resources; empty where there is none."""
    road = road_of(name)
    return road.as_uri() if road else ""


def road_resources(name: str | Path) -> dict[str, bytes]:
    """The resources of a vehicle's FMU. Raises DataError."""
    road = road_of(name)
    try:
        return {RESOURCE: road.read_bytes()} if road else {}
    except OSError as error:
        raise DataError(f"terrain file {road}: {error.strerror}; expected a packed terrain (.jnt)") from error
