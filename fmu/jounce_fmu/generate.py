"""``python -m jounce_fmu.generate``: writes the generated C of the built-in model (needs CasADi).

A test fails when the committed files differ from what this writes.
"""

from __future__ import annotations

from jounce.data import load_vehicle
from jounce.emit import double_wishbone
from jounce.signals import table
from jounce_fmu.build import PACKAGE
from jounce_fmu.table_c import emit_header, emit_table

MODEL = "double_wishbone"
FOLDER = PACKAGE / "generated"


def files() -> dict[str, str]:
    """File name in ``generated/`` to text."""
    signals = table(load_vehicle("hmmwv"))
    return {
        **double_wishbone.files(signals),
        f"{MODEL}_table.c": emit_table(signals, MODEL),
        f"{MODEL}_table.h": emit_header(signals, MODEL),
    }


def main() -> None:
    """Write the files that changed."""
    for name, text in files().items():
        path = FOLDER / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
