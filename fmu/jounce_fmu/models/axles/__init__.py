"""Models of vehicles on other axles than the HMMWV's: one for each vehicle, made when it is asked for.

They share the C of the HMMWV and the emitted functions of each kind of suspension. What depends on the axles is text
that is made here, without CasADi, and kept in a folder of this user's cache beside the library.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jounce
from jounce.axles import DEFAULT
from jounce.contact.tires import LAWS, dual, mixed
from jounce.data import DataError, Vehicle, load_vehicle, vehicle_names
from jounce.models.double_wishbone import axles_c, powered, recursion
from jounce.models.double_wishbone.arrange import arranged
from jounce.models.double_wishbone.kinds_c import Kinds
from jounce.models.double_wishbone.ledgers import KINDS_LEDGER, LEDGER, TIRES_LEDGER, kinds_ledger, tires_ledger
from jounce.models.double_wishbone.signals import table
from jounce.powertrain.train import Train
from jounce.references import Ledger
from jounce.signals import SignalTable
from jounce.suspension.kinds import KINDS
from jounce_fmu.build.library import NATIVE, PACKAGE, BuildError, Sources, alone, builtin_sources, identifier
from jounce_fmu.build.table_c import emit_header, emit_table
from jounce_fmu.models import powertrain
from jounce_fmu.models.model import Model

#: Names of the emitted files begin with it, as those of the HMMWV do in whose place they stand.
PREFIX = "double_wishbone"
#: Folder of the emitted functions of each kind.
GENERATED = PACKAGE / "models" / "axles" / "generated"
#: Folder of the first guess of dependent coordinates.
EMBEDDED = PACKAGE / "models" / "embedded"


def has_own_model(name: str | Path) -> bool:
    """Whether a vehicle is on other axles or tires than the HMMWV's or has a powertrain.

    False where it cannot be read, and for tires of a law that does not come with jounce
    (`jounce_fmu.models.double_wishbone.model_of`).
    """
    try:
        vehicle = load_vehicle(name)
    except DataError:
        return False
    own = vehicle.tire != Vehicle.tire and vehicle.tire in {law.name for law in LAWS}
    return vehicle.axles != DEFAULT or bool(vehicle.powertrain) or own or vehicle.sets_of_tires != ("tire",)


def names() -> tuple[str, ...]:
    """Names of those vehicles among the ones that come with jounce."""
    return tuple(name for name in vehicle_names() if has_own_model(name))


def read(name: str | Path) -> SignalTable:
    """Signal table of a vehicle, by its name or path. Raises DataError."""
    return table(arranged(load_vehicle(name)))


def model(name: str | Path) -> Model:
    """The model of a vehicle, by its name or path; its files are written where they are not there yet.

    Raises BuildError, DataError.
    """
    vehicle = arranged(load_vehicle(name))
    signals = table(vehicle)
    emitted = _emitted(vehicle)
    texts = emit(vehicle, signals, emitted)
    digest = hashlib.sha256("\0".join((*texts, *texts.values())).encode()).hexdigest()
    folder = cache_folder() / f"{vehicle.name}-{digest[:16]}"
    written = write(folder, texts)
    shared = [f for f in builtin_sources(PREFIX).files if f.name not in texts]
    own = [*sorted(GENERATED.parent.glob("*.inc")), *(GENERATED / n for n in ("axles_scalar.inc",) if n not in texts)]
    kinds = Kinds(vehicle, emitted["sizes"])
    own += [GENERATED / name for name in kinds.files() if name not in texts]
    own += [f for f in powertrain.code(vehicle) if f.name not in texts]
    if kinds.looped:
        own += sorted(f for f in EMBEDDED.iterdir() if f.suffix in (".c", ".h", ".inc"))
    return Model(
        name=f"axles_{digest[:16]}",
        data_sets=(str(name),),
        sources=Sources(identifier(vehicle.name), (*shared, *own, *written)),
        read=read,
        emit=dict,
        libraries=folder,
    )


def emit(vehicle: Vehicle, signals: SignalTable, emitted: Mapping[str, Any]) -> Mapping[str, str]:
    """File name -> text of what depends on the axles of a vehicle with its entries in order.

    ``emitted``: what `_emitted` gives of it.
    """
    entries = powertrain.entries() | emitted["entries"]
    inner, kinds = axles_c.inner(vehicle), Kinds(vehicle, emitted["sizes"])
    return {
        f"{PREFIX}_axles.h": axles_c.header(vehicle, signals, inner, kinds.macros()),
        f"{PREFIX}_axles.inc": axles_c.tables(vehicle, signals, kinds.tables()),
        f"{PREFIX}_derive.inc": axles_c.derivation(vehicle, signals, entries, kinds.derivation()),
        f"{PREFIX}_recursion.inc": recursion.text(kinds.lanes, inner, powered.powertrain(vehicle)),
        f"{PREFIX}_reactions.c": kinds.reactions(),
        **({f"{PREFIX}_kinds.inc": kinds.lane_code()} if kinds.embedded else {}),
        **emitted["files"],
        f"{PREFIX}_table.c": emit_table(signals, PREFIX),
        # Without the interface's GUID, so that vehicles with the same axles share their compiled code.
        f"{PREFIX}_table.h": emit_header(signals, PREFIX).partition("\n")[2],
    }


def _emitted(vehicle: Vehicle) -> dict[str, Any]:
    """What the emitted functions of a vehicle's axles and tires read, the sizes of their numbers, and texts of its own.

    Raises BuildError.
    """
    found: dict[str, Any] = json.loads((GENERATED / "axles_entries.json").read_text(encoding="utf-8"))
    found["files"] = {}
    if vehicle.tire != Vehicle.tire:
        entries, found["files"] = _of_law(vehicle.tire)
        found["entries"] |= entries
    for name in dict.fromkeys(axle.kind for axle in vehicle.axles if axle.kind not in KINDS):
        for part, more in zip(("entries", "sizes", "files"), _own(name), strict=True):
            found[part] |= more
    if (of := powered.powertrain(vehicle)) and not of.train.two:
        entries, files = _of_train(of.train)
        found["entries"] |= entries
        found["files"] |= files
    return found


@cache
def _of_train(train: Train) -> tuple[dict[str, Any], ...]:
    """The same of a powertrain with more than two driven axles, from the cache."""
    name = f"{'-'.join(train.axles)}-{train.front}"
    try:
        return tuple(kept("trains", name, lambda: powertrain.emit_train(train)))
    except ImportError as error:
        raise BuildError(f"{len(train.axles)} driven axles need CasADi: pip install casadi ({error})") from error


@cache
def _own(name: str) -> tuple[dict[str, Any], ...]:
    """The same three of an own kind, from the cache; what is not there is emitted, which needs CasADi.

    Raises BuildError.
    """

    def emit() -> object:
        from jounce.models.double_wishbone import emit_axles
        from jounce.suspension.mechanisms.own import source

        of = source(name)
        if of is None:
            raise BuildError(f"{name}: no axle of this process has this kind")
        return emit_axles.emitted(emit_axles.Made(of.kind, of.variant, of.vehicle, of.axle))

    return tuple(kept("kinds", name, emit))


@cache
def _of_law(name: str) -> tuple[dict[str, Any], ...]:
    """Entries that the functions of a wheel on tires of another law read, and the texts of these, likewise."""

    def emit() -> object:
        from jounce.models.double_wishbone import emit_axles

        return emit_axles.of_law(name)

    try:
        return tuple(kept("laws", name, emit))
    except ImportError as error:
        raise BuildError(f"tires of the law {name} need CasADi: pip install casadi ({error})") from error


def kept(group: str, name: str, emit: Callable[[], object]) -> Any:
    """What ``emit`` gives, from a file in the cache that this release has written before.

    It takes some seconds; processes that want the same wait for the first.
    """
    kept = cache_folder() / group / f"{name}-{_emitter()}"
    path = kept / "emitted.json"
    if not path.is_file():
        with alone(path):
            if not path.is_file():
                write(kept, {path.name: json.dumps(emit())})
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def _emitter() -> str:
    """Hash of the sources that emit, so that another release does not take what this one has kept."""
    sources = sorted(Path(jounce.__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def emit_shared() -> Mapping[Path, str]:
    """Path -> text of the functions that all such vehicles share, and of the ledger of their entries. Needs CasADi."""
    from jounce.models.double_wishbone import emit_axles

    return {
        KINDS_LEDGER: kinds_ledger(_examples()).text(),
        TIRES_LEDGER: tires_ledger((*LAWS, *map(dual, LAWS), mixed(*LAWS)), Ledger.read(LEDGER).references).text(),
        **{GENERATED / name: text for name, text in emit_axles.files().items()},
    }


def _examples() -> list[Vehicle]:
    """A vehicle for each variant of a suspension that is made from a mechanism."""
    names = dict.fromkeys(v.example[0] for kind in KINDS.values() if kind.embedded for v in kind.variants)
    return [load_vehicle(name) for name in names]


def cache_folder() -> Path:
    """Folder of what is made for vehicles: beside the package's libraries, or in the user's own cache."""
    if os.access(NATIVE if NATIVE.exists() else NATIVE.parent, os.W_OK):
        return NATIVE / "vehicles"
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA") or Path.home())
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "jounce" / "vehicles"


def write(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Paths of the files, written where they are missing; each appears whole or not at all."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            path = folder / name
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                part = folder / f".{name}.{os.getpid()}"
                part.write_text(text, encoding="utf-8")
                os.replace(part, path)
    except OSError as error:
        raise BuildError(f"{folder}: the files of the vehicle cannot be written: {error}") from error
    return [folder / name for name in texts]
