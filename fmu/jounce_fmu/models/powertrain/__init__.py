"""The C that vehicles with a powertrain have beside that of their axles."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jounce.data import load_vehicle
from jounce.models.double_wishbone import powered
from jounce.models.double_wishbone.arrange import POWERTRAIN, POWERTRAIN_OF_MORE
from jounce.powertrain.train import Train
from jounce_fmu.build.library import PACKAGE

#: Its folder, with those of what is emitted.
FOLDER = PACKAGE / "models" / "powertrain"


def emit() -> Mapping[Path, str]:
    """Path -> text of the powertrain's functions, and of the ledger of its variables. Needs CasADi."""
    from jounce.powertrain.emit import files

    return {
        powered.LEDGER: powered.ledger(map(load_vehicle, (POWERTRAIN, POWERTRAIN_OF_MORE))).text(),
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


def code() -> list[Path]:
    """Its C files."""
    return sorted(f for f in FOLDER.rglob("*") if f.suffix in (".h", ".inc"))
