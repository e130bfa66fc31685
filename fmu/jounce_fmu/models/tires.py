"""Models of vehicles on tires of another law than the HMMWV's: one for each vehicle, made when it is asked for.

Their C is emitted, which needs CasADi, into a folder of this user's cache, where their library is kept, too.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from jounce.axles import DEFAULT
from jounce.contact.tires import LAWS, TMEASY
from jounce.data import DataError, Vehicle, load_vehicle, vehicle_file, with_tire_file
from jounce_fmu.build.library import BadRequest, BuildError, builtin_sources
from jounce_fmu.models import axles, double_wishbone
from jounce_fmu.models.model import Model


def has_own_model(name: str | Path) -> bool:
    """Whether the vehicle of that name or path is on tires of another law that comes with jounce."""
    try:
        return load_vehicle(name).tire in {law.name for law in LAWS if law is not TMEASY}
    except DataError:
        return False


def model(name: str | Path) -> Model:
    """The model of a vehicle, by its name or path. Raises BuildError, DataError; BadRequest on other axles."""
    vehicle = load_vehicle(name)
    if vehicle.axles != DEFAULT:
        raise BadRequest(f"vehicle {vehicle.name!r}: tires of {vehicle.tire} on axles of its own; "
                         "expected two axles on double wishbones, or tires of tmeasy")  # fmt: skip
    return _model(str(name), _digest(vehicle))


def on_tires(vehicle: str | Path, tire: str | Path) -> Path:
    """A vehicle.toml, in the cache, of a vehicle with the tires of a file (.tir). Raises DataError, BuildError."""
    base, file = load_vehicle(vehicle), Path(tire).resolve()
    path = vehicle_file(vehicle).resolve()
    name = f"{base.name}_{file.stem}"
    entries = {"name": name, "base": str(path), "tire_file": str(file)}
    folder = axles.cache_folder() / f"{name}-{_digest(with_tire_file(base, file), str(path), str(file))}"
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in entries.items())
    return axles.write(folder, {"vehicle.toml": text})[0]


def _digest(vehicle: Vehicle, *more: str) -> str:
    return hashlib.sha256(repr((vehicle, builtin_sources().build_hash(), more)).encode()).hexdigest()[:16]


@cache
def _model(name: str, digest: str) -> Model:
    folder = axles.cache_folder() / f"{load_vehicle(name).name}-{digest}-code"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return double_wishbone.model_of(name, folder)
    except ImportError as error:
        raise BuildError(f"vehicle {name}: tires of another law need CasADi: pip install casadi ({error})") from error
    except OSError as error:
        raise BuildError(f"{folder}: the files of the vehicle cannot be written: {error}") from error
