"""Vehicles from an architecture in minimal coordinates: ``class3``, ``my/truck``, ``my/truck-ce``.

They share parameters, numbers, springs and roads with the impulse engine. The functions of each kind of branch are
emitted once, which needs CasADi: those of the trucks that come with jounce are in its package, others in this user's
cache.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jounce.architecture import composite, load
from jounce.architecture.spin import merged
from jounce.data import DataError
from jounce.models.ce import emit as of_truck
from jounce.models.ce.choice import engine_of
from jounce.models.ce.forest import Branch, Forest, NotMinimal, forest
from jounce.models.ce.signals import LEDGER, table
from jounce.models.impulse.emit import header
from jounce.models.impulse.signals import LEDGER as IMPULSE_LEDGER
from jounce.models.impulse.signals import Truck
from jounce.references import Ledger
from jounce.signals import SignalTable
from jounce_fmu.build.library import PACKAGE, BadRequest, BuildError, Sources, identifier
from jounce_fmu.build.table_c import emit_header, emit_table
from jounce_fmu.models import axles, impulse
from jounce_fmu.models.model import Model

FOLDER = PACKAGE / "models" / "ce"
#: Emitted functions of the branches of the trucks that come with jounce, and the sizes of what they read and give.
GENERATED = FOLDER / "generated"
SIZES = GENERATED / "branches.json"
#: A suspension of each template that no truck of jounce's has.
EXAMPLES = LEDGER.parent / "examples.toml"
#: C of the impulse engine that serves here too.
_SHARED = ("impulse.h", "impulse_tables.inc", "impulse_rows.inc", "impulse_road.inc", "impulse_derive.inc",
           "impulse_outputs.inc", "impulse_limits.inc", "impulse_powertrain.inc")  # fmt: skip


def has_own_model(name: str | Path) -> bool:
    """Whether the name is that of an architecture which runs in minimal coordinates.

    By its end, `-ce`, or by its file. False where it cannot be read.
    """
    found = impulse.asked(name)
    if found is None or found[1]:
        return found is not None and found[1] == "ce"
    try:
        return _chosen(str(name), load.architecture_file(name).read_bytes())
    except DataError:
        return False


@cache
def _chosen(name: str, _contents: bytes) -> bool:
    made, model = composite.build(name)
    return made.engine == "ce" or engine_of(made, model, has_functions)[0] == "ce"


def has_functions(branch: Branch) -> bool:
    """Whether the functions of a branch are there, or can be emitted."""
    return branch.function in _committed() or find_spec("casadi") is not None


@cache
def _committed() -> Mapping[str, Any]:
    """Sizes of the emitted functions that come with jounce, by their name."""
    found: Mapping[str, Any] = json.loads(SIZES.read_text(encoding="utf-8"))
    return found


def read(name: str | Path) -> SignalTable:
    """Signal table of an architecture, by its name or path. Raises DataError, BadRequest."""
    own = _truck(name)
    return table(own, _forest(own))


def model(name: str | Path) -> Model:
    """The model of an architecture, by its name or path. Raises BadRequest, BuildError, DataError."""
    path = load.architecture_file((impulse.asked(name) or (name,))[0])
    return _model(str(name), hashlib.sha256(path.read_bytes()).hexdigest())


def _truck(name: str | Path) -> Truck:
    return impulse.truck_of(name)


def _forest(own: Truck) -> Forest:
    try:
        return forest(own.layout.model)
    except NotMinimal as error:
        raise BadRequest(f"{own.name}: engine ce: {error}; expected engine impulse") from error


@cache
def _model(name: str, _contents: str) -> Model:
    own = _truck(name)
    trees = _forest(own)
    signals = table(own, trees)
    kinds = {b.function: _emitted(b) for b in trees.branches}
    texts = {
        "ce_model.h": of_truck.header(own, trees, kinds),
        "ce_functions.inc": "\n".join([(GENERATED / "root.inc").read_text(encoding="utf-8"),
                                       *(kind["text"] for kind in kinds.values())]),
        "impulse_model.h": header(own, signals),
        "impulse_table.c": emit_table(signals, "impulse"),
        "impulse_table.h": emit_header(signals, "impulse"),
    }  # fmt: skip
    digest = hashlib.sha256("\0".join((*texts, *texts.values())).encode()).hexdigest()[:16]
    folder = axles.cache_folder() / f"{own.vehicle}-{digest}"
    written = axles.write(folder, texts)
    common = sorted((PACKAGE / "models" / "common").glob("*.h"))
    own_code = sorted(f for f in FOLDER.iterdir() if f.suffix in (".c", ".inc"))
    shared = [*common, *(impulse.FOLDER / f for f in _SHARED), *own_code]
    return Model(
        name=f"ce_{digest}",
        data_sets=(name,),
        sources=Sources(identifier(own.vehicle), (*shared, *written)),
        read=read,
        emit=dict,
        libraries=folder,
    )


def _emitted(branch: Branch) -> Mapping[str, Any]:
    """Functions of a branch: from the package, from the cache, or emitted now. Raises BadRequest, BuildError."""
    if committed := _committed().get(branch.function):
        return {**committed, "text": (GENERATED / f"{branch.function}.inc").read_text(encoding="utf-8")}
    try:
        found: Mapping[str, Any] = axles.kept("branches", branch.function, lambda: of_truck.emitted(branch))
    except ImportError as error:
        raise BuildError(f"the joints of {branch.name} are of no truck that comes with jounce; expected CasADi for "
                         f"their functions: pip install casadi ({error})") from error  # fmt: skip
    except (ArithmeticError, ValueError) as error:
        raise BadRequest(f"engine ce: {branch.name}: {error}; expected engine impulse") from error
    return found


def emit_shared() -> Mapping[Path, str]:
    """Path -> text of the functions of the trucks and templates that come with jounce, and of the trucks' references.

    Needs CasADi.
    """
    ledger = Ledger.read(LEDGER if LEDGER.exists() else IMPULSE_LEDGER)
    found = []
    for name in load.truck_names():
        own = impulse.truck_of(name)
        found.append(_forest(own))
        signals = table(own, found[-1])
        ledger = ledger.extended([*((s.signal.causality, s.name) for s in signals.scalars),
                                  *(("state", s.name) for s in signals.states)])  # fmt: skip
    found.append(forest(merged(composite.build(EXAMPLES)[1])[0]))
    branches = {b.function: b for trees in found for b in trees.branches}
    kinds = {name: of_truck.emitted(branch) for name, branch in branches.items()}
    texts = {GENERATED / f"{name}.inc": kind.pop("text") for name, kind in kinds.items()}
    return {LEDGER: ledger.text(), SIZES: json.dumps(kinds, indent=1) + "\n", GENERATED / "root.inc": of_truck.root(),
            **texts}  # fmt: skip
