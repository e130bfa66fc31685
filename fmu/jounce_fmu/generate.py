"""``python -m jounce_fmu.generate``: writes the generated C of the built-in model (needs CasADi), and its ledger.

A test fails when the committed files differ from what this writes.
"""

from __future__ import annotations

from pathlib import Path

from jounce.data import load_vehicle
from jounce.emit import double_wishbone
from jounce.signals import LEDGER, SignalTable, table
from jounce_fmu.build import PACKAGE
from jounce_fmu.table_c import emit_header, emit_table

MODEL = "double_wishbone"
FOLDER = PACKAGE / "generated"


def files(signals: SignalTable | None = None) -> dict[Path, str]:
    """Path of each emitted file to its text, for the vehicle's table or a rearranged one."""
    signals = table(load_vehicle("hmmwv")) if signals is None else signals
    code = {
        **double_wishbone.files(signals),
        f"{MODEL}_table.c": emit_table(signals, MODEL),
        f"{MODEL}_table.h": emit_header(signals, MODEL),
    }
    return {LEDGER: signals.ledger.text(), **{FOLDER / name: text for name, text in code.items()}}


def main() -> None:
    """Write the files that changed."""
    for path, text in files().items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
