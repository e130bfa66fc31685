"""Vehicles from an architecture on the impulse engine: ``class3-impulse``, and those that ask for it or need it.

Each has a model of its own, made when it is asked for: the engine's C with the tables of its bodies, joints and order
of elimination. They are kept in a folder of this user's cache beside the library. This needs no CasADi.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jounce.architecture import composite, load
from jounce.architecture.tables import LayoutError
from jounce.models.ce import choice
from jounce.models.impulse import emit as of_truck
from jounce.models.impulse.signals import LEDGER, Truck, table, truck
from jounce.references import Ledger
from jounce.signals import SignalTable
from jounce_fmu.build.library import PACKAGE, BadRequest, Sources, identifier
from jounce_fmu.build.table_c import emit_header, emit_table
from jounce_fmu.models import axles
from jounce_fmu.models.model import Model

FOLDER = PACKAGE / "models" / "impulse"


def names() -> tuple[str, ...]:
    """Names of the architectures that come with jounce."""
    return load.truck_names()


def asked(name: str | Path) -> tuple[str, str] | None:
    """(architecture, engine that the end of the name asks for, or an empty text); None where it names no architecture.
    """
    if _is_architecture(name):
        return str(name), ""
    architecture, engine = choice.split(name)
    return (architecture, engine) if engine and _is_architecture(architecture) else None


def named(name: str | Path) -> tuple[str, str]:
    """(name without a path, the same model's name with an absolute path). Raises DataError where it cannot be read."""
    architecture, engine = asked(name) or (str(name), "")
    suffix = f"-{engine}" if engine else ""
    own = load.load(load.architecture_file(architecture)).name
    return f"{own}{suffix}", f"{architecture if architecture in names() else Path(architecture).resolve()}{suffix}"


def has_own_model(name: str | Path) -> bool:
    """Whether the name is that of an architecture, with `-impulse` behind it or not."""
    return (asked(name) or ("", "ce"))[1] != "ce"


def _is_architecture(name: str | Path) -> bool:
    """Whether it is a built-in one, a file of that name, or a folder with it."""
    path = Path(name)
    return str(name) in names() or (path / load.FILE).is_file() or load.is_architecture(path)


def read(name: str | Path) -> SignalTable:
    """Signal table of an architecture, by its name or path. Raises DataError, BadRequest."""
    return table(truck_of(name))


def model(name: str | Path) -> Model:
    """The model of an architecture, by its name or path. Raises BuildError, DataError."""
    found = asked(name)
    path = load.architecture_file(found[0] if found else name)
    return _model(str(name), hashlib.sha256(path.read_bytes()).hexdigest())


def truck_of(name: str | Path) -> Truck:
    """What an architecture becomes, by its name or path. Raises DataError, BadRequest."""
    architecture, engine = asked(name) or (name, "")
    made, built = composite.build(architecture)
    try:
        return truck(made, built, engine)
    except LayoutError as error:
        raise BadRequest(str(error)) from error


@cache
def _model(name: str, _contents: str) -> Model:
    own = truck_of(name)
    signals = table(own)
    texts = {
        "impulse_model.h": of_truck.header(own, signals),
        "impulse_table.c": emit_table(signals, "impulse"),
        "impulse_table.h": emit_header(signals, "impulse"),
    }
    digest = hashlib.sha256("\0".join((*texts, *texts.values())).encode()).hexdigest()[:16]
    folder = axles.cache_folder() / f"{own.vehicle}-{digest}"
    written = axles.write(folder, texts)
    shared = [f for f in sorted(FOLDER.iterdir()) if f.suffix in (".c", ".h", ".inc") and f.stem != "impulse_door"]
    return Model(
        name=f"impulse_{digest}",
        data_sets=(name,),
        sources=Sources(identifier(own.vehicle), (*shared, *written)),
        read=read,
        emit=dict,
        libraries=folder,
    )


def emit_shared() -> Mapping[Path, str]:
    """Path -> text of the ledger of the trucks that come with jounce."""
    ledger = Ledger.read(LEDGER) if LEDGER.exists() else Ledger()
    for name in names():
        ledger = ledger.extended([(s.signal.causality, s.name) for s in table(truck_of(name)).scalars])
    return {LEDGER: ledger.text()}
