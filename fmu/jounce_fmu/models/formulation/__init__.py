"""Models of vehicles in another formulation than constraint embedding: ``hmmwv-ta``, ``my/car-fa``.

They are made when they are asked for, which needs CasADi, and kept in a folder of this user's cache: their C has the
numbers of the vehicle built in, and the positions in which it rests.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

import jounce
from jounce.axles import DEFAULT
from jounce.data import DataError, Vehicle, load_vehicle
from jounce.models.formulation.signals import FORMULATIONS, table
from jounce.signals import SignalTable, State
from jounce_fmu.build.library import PACKAGE, BadRequest, BuildError, Sources, identifier
from jounce_fmu.build.table_c import emit_header, emit_table
from jounce_fmu.models import axles
from jounce_fmu.models.model import Model, ModelError

#: Names of the emitted files begin with it.
PREFIX = "formulation"
#: Written last, so that a folder with it has all the others.
MADE = "made.json"


def split(name: str | Path) -> tuple[str, str] | None:
    """(vehicle, formulation) of a name such as ``hmmwv-ta``; None where it does not end with a formulation's."""
    for formulation in sorted(FORMULATIONS, key=len, reverse=True):
        if (text := str(name)).endswith(f"-{formulation}") and len(text) > len(formulation) + 1:
            return text.removesuffix(f"-{formulation}"), formulation
    return None


def has_own_model(name: str | Path) -> bool:
    """Whether the name is that of a vehicle in another formulation, and not of a vehicle that is called so."""
    if split(name) is None:
        return False
    try:
        load_vehicle(name)
    except DataError:
        return True
    return False


def named(name: str | Path) -> tuple[str, str]:
    """(name without a path, the same model's name with an absolute path). Raises DataError where there is no such."""
    vehicle, formulation = split(name) or ("", "")
    own = load_vehicle(vehicle)
    path = Path(vehicle).resolve()
    return f"{own.name}-{formulation}", f"{path if path.exists() else vehicle}-{formulation}"


def model(name: str | Path) -> Model:
    """The model of that name. Raises BuildError, DataError, ModelError; BadRequest where there is no such model."""
    found = split(name)
    if found is None:
        raise ModelError(f"{name}: expected a vehicle and one of {', '.join(f'-{f}' for f in FORMULATIONS)}")
    vehicle = load_vehicle(found[0])
    if vehicle.axles != DEFAULT or vehicle.powertrain:
        raise BadRequest(f"vehicle {vehicle.name!r}: expected two axles on double wishbones, a Pitman arm on the "
                         "first, and no powertrain, which the other formulations have")  # fmt: skip
    return _model(str(name), *found, _digest(vehicle))


def _digest(vehicle: Vehicle) -> str:
    """Of all that the emitted code comes from: the vehicle, the equations, the glue."""
    digest = hashlib.sha256(repr(vehicle).encode())
    package = Path(jounce.__file__).parent
    for path in (*sorted(package.rglob("*.py")), *_glue(), Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _glue() -> list[Path]:
    common = PACKAGE / "models" / "common"
    return [*sorted(common.glob("*.h")), Path(__file__).parent / f"{PREFIX}.c"]


@cache
def _model(name: str, vehicle: str, formulation: str, digest: str) -> Model:
    own = load_vehicle(vehicle)
    full = f"{own.name}-{formulation}"
    folder = axles.cache_folder() / f"{full}-{digest}"
    if not (folder / MADE).is_file():
        _write(full, vehicle, formulation, folder)
    made = json.loads((folder / MADE).read_text(encoding="utf-8"))
    signals = table(own, full, made["signals"], [State(**state) for state in made["states"]])

    def read(_name: str | Path) -> SignalTable:
        return signals

    files = tuple(folder / text for text in made["files"])
    return Model(
        name=f"{PREFIX}_{full}", data_sets=(name,), sources=Sources(identifier(full), (*_glue(), *files)), read=read,
        emit=dict, libraries=folder,
    )  # fmt: skip


def _write(full: str, vehicle: str, formulation: str, folder: Path) -> None:
    """The files of a model into their folder."""
    try:
        from jounce.models.formulation.emit import Code
    except ImportError as error:
        raise BuildError(f"{full}: other formulations need CasADi: pip install casadi ({error})") from error
    code = Code(load_vehicle(vehicle), formulation)
    states, names = list(code.states()), code.signals()
    signals = table(code.vehicle, full, names, states)
    texts = {
        **code.files(signals),
        f"{PREFIX}_table.c": emit_table(signals, PREFIX), f"{PREFIX}_table.h": emit_header(signals, PREFIX),
    }  # fmt: skip
    axles.write(folder, texts)
    made = {"files": list(texts), "signals": names, "states": [asdict(state) for state in states]}
    axles.write(folder, {MADE: json.dumps(made)})
