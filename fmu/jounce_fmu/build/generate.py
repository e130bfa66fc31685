"""``python -m jounce_fmu.build.generate`` writes the emitted files and the ledgers of the models. It needs CasADi.

A test fails if the committed files differ from what this program writes.
"""

from __future__ import annotations

from jounce_fmu.models import axles, ce, double_wishbone, halfcar, impulse, powertrain


def main() -> None:
    """Writes the files that have changed."""
    emits = (double_wishbone.MODEL.emit, halfcar.MODEL.emit, powertrain.emit, axles.emit_shared, impulse.emit_shared,
             ce.emit_shared)  # fmt: skip
    for emit in emits:
        for path, text in emit().items():
            if not path.exists() or path.read_text() != text:
                path.write_text(text)


if __name__ == "__main__":
    main()
