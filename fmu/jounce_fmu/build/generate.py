"""``python -m jounce_fmu.build.generate`` writes the emitted files and the ledgers of the models. It needs CasADi.

A test fails if the committed files differ from what this program writes.
"""

from __future__ import annotations

from jounce_fmu.models import double_wishbone, halfcar


def main() -> None:
    """Writes the files that have changed."""
    for model in (double_wishbone.MODEL, halfcar.MODEL):
        for path, text in model.emit().items():
            if not path.exists() or path.read_text() != text:
                path.write_text(text)


if __name__ == "__main__":
    main()
