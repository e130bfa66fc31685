"""The C that vehicles with a powertrain have beside that of their axles."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jounce.data import Vehicle, load_vehicle
from jounce.models.double_wishbone import powered
from jounce.powertrain.kinds import AUTOMATIC, ELECTRIC, POWERTRAIN_OF_MORE, powertrain_kind
from jounce.powertrain.train import Train
from jounce_fmu.build.library import PACKAGE

#: Vehicles that have every name of a powertrain; new ones stand behind.
_EXAMPLES = (AUTOMATIC.example, POWERTRAIN_OF_MORE, ELECTRIC.example)
#: Its folder, with those of what is emitted.
FOLDER = PACKAGE / "models" / "powertrain"


def emit() -> Mapping[Path, str]:
    """Path -> text of the powertrain's functions, and of the ledger of its variables. Needs CasADi."""
    from jounce.powertrain.emit import files

    return {
        powered.LEDGER: powered.ledger(map(load_vehicle, _EXAMPLES)).text(),
        **{FOLDER / name: text for name, text in files().items()},
    }


def entries() -> Mapping[str, Sequence[str]]:
    """Function -> the entries of a vehicle that it reads, in its order."""
    path = FOLDER / "generated" / "powertrain_entries.json"
    found: Mapping[str, Sequence[str]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def emit_train(train: Train) -> tuple[dict[str, Any], dict[str, str]]:
    """(function -> its entries, file name -> text) of what stands in the place of files that come with jounce.

    Needs CasADi where more than two axles are driven.
    """
    if train.two:
        return {}, {}
    from jounce.powertrain.emit import of_train

    entries, texts = of_train(train)
    return entries, {Path(name).name: text for name, text in texts.items()}


def code(vehicle: Vehicle) -> list[Path]:
    """The C files of a vehicle's powertrain: those of every one, and those of its kind."""
    kind = powertrain_kind(vehicle.powertrain)
    folders = (FOLDER, FOLDER / kind.name) if kind else ()
    places = [place for folder in folders for place in (folder, folder / "generated")]
    return sorted(f for place in places for f in place.iterdir() if f.suffix in (".h", ".inc"))
