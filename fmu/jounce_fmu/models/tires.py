"""Vehicles on tires of files: a vehicle.toml for each, in the cache, which names the files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from jounce.data import load_vehicle, vehicle_file, with_tire_files
from jounce_fmu.models import axles


def on_tires(vehicle: str | Path, tires: str | Path | Mapping[str, str | Path]) -> Path:
    """A vehicle.toml, in the cache, of a vehicle on the tires of a file (.tir), or of files by the names of its axles.

    The name "" stands for the axles without a file of their own. Raises DataError, BuildError.
    """
    by_axle = tires if isinstance(tires, Mapping) else {"": tires}
    files = {axle: Path(file).resolve() for axle, file in by_axle.items()}
    base, path = load_vehicle(vehicle), vehicle_file(vehicle).resolve()
    made = with_tire_files(base, files)
    name = "_".join((base.name, *dict.fromkeys(file.stem for file in files.values())))
    digest = hashlib.sha256(repr((made, path, files)).encode()).hexdigest()[:16]
    named = ", ".join(f"{json.dumps(axle)} = {json.dumps(str(file))}" for axle, file in files.items())
    text = f"name = {json.dumps(name)}\nbase = {json.dumps(str(path))}\ntire_file = {{{named}}}\n"
    return axles.write(axles.cache_folder() / f"{name}-{digest}", {"vehicle.toml": text})[0]
