"""``python -m jounce_fmu.build.generate``: writes the emitted files of the models (needs CasADi), and their ledgers.

A test fails when the committed files differ from what this writes.
"""

from __future__ import annotations

from jounce_fmu.models import double_wishbone


def main() -> None:
    """Write the files that changed."""
    for path, text in double_wishbone.MODEL.emit().items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
