"""One self-contained HTML page: headings, paragraphs, tables and pictures; it opens offline and prints."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.2rem; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.92em; }
th, td { border: 1px solid #ccc; padding: 0.25rem 0.6rem; text-align: left; vertical-align: top; }
th { background: #f2f2f2; } td.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.good td:last-child { color: #176117; } tr.bad td:last-child { color: #a11313; }
figure { margin: 1.2rem 0; } img, svg { max-width: 100%; height: auto; } figcaption { color: #555; font-size: 0.92em; }
.drawings { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; } .wide { grid-column: 1 / 3; }
.drawings figure { margin: 0.6rem 0; min-width: 0; } .drawings figcaption { color: #222; font-weight: 600; }
.drawings svg { width: 100%; }
@media print { h2 { break-after: avoid; } h2, figure, tr { break-inside: avoid; }
  body { max-width: none; margin: 0; font-size: 11px; } }
"""

#: Width from which a drawing takes a line for itself [in].
_WIDE = 6.0


class Page:
    """Parts in the order in which they are added."""

    def __init__(self, title: str) -> None:
        """``title`` is the first heading, and the name of the browser's window."""
        self._title = title
        self._parts: list[str] = [f"<h1>{escape(title)}</h1>"]

    def heading(self, text: str) -> Self:
        """Begins a section."""
        self._parts.append(f"<h2>{escape(text)}</h2>")
        return self

    def text(self, text: str) -> Self:
        """Adds a paragraph."""
        self._parts.append(f"<p>{escape(text)}</p>")
        return self

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]],
              verdicts: Sequence[bool | None] = ()) -> Self:  # fmt: skip
        """Adds a table; numbers stand on the right. With ``verdicts``, the last cell of a row is green or red or plain.
        """
        lines = ["<tr>" + "".join(f"<th>{escape(c)}</th>" for c in columns) + "</tr>"]
        for k, row in enumerate(rows):
            verdict = verdicts[k] if verdicts else None
            kind = "" if verdict is None else f' class="{"good" if verdict else "bad"}"'
            lines.append(f"<tr{kind}>" + "".join(map(_cell, row)) + "</tr>")
        self._parts.append("<table>\n" + "\n".join(lines) + "\n</table>")
        return self

    def figure(self, figure: Figure, caption: str) -> Self:
        """Adds a matplotlib figure as a picture within the page."""
        image = io.BytesIO()
        figure.savefig(image, format="png", dpi=110)
        data = base64.b64encode(image.getvalue()).decode()
        self._parts.append(f'<figure><img alt="{escape(caption, quote=True)}" src="data:image/png;base64,{data}">'
                           f"<figcaption>{escape(caption)}</figcaption></figure>")  # fmt: skip
        return self

    def drawings(self, drawings: Sequence[tuple[Figure, str]]) -> Self:
        """Adds matplotlib figures as inline SVG, two beside each other where they are narrower than 6 in.

        The drawing is sharp at any size, its letters are those of the page, and the caption stands over it.
        """
        self._parts.append('<div class="drawings">')
        for number, (figure, caption) in enumerate(drawings):
            wide = ' class="wide"' * bool(figure.get_figwidth() >= _WIDE)
            drawing = _svg(figure, f"{caption} {number}")
            self._parts.append(f'<figure{wide}><figcaption>{escape(caption)}</figcaption>{drawing}</figure>')
        self._parts.append("</div>")
        return self

    def html(self) -> str:
        """The whole page."""
        body = "\n".join(self._parts)
        head = (f'<meta charset="utf-8"><title>{escape(self._title)}</title>'
                '<meta name="viewport" content="width=device-width, initial-scale=1">'
                f"\n<style>{_STYLE}</style>")  # fmt: skip
        return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'

    def write(self, path: Path) -> None:
        """Writes the page; the file is whole or not there. Raises OSError."""
        part = path.with_name(path.name + ".part")
        try:
            part.write_text(self.html(), encoding="utf-8")
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


def _svg(figure: Figure, salt: str) -> str:
    """The figure as an svg element; the same figure gives the same text."""
    import matplotlib

    image = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        figure.savefig(image, format="svg", metadata={"Date": None, "Creator": None})
    text = image.getvalue()
    return text[text.index("<svg") :]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td class="number">{value:.6g}</td>'
    return f'<td class="number">{value}</td>' if isinstance(value, int) else f"<td>{escape(str(value))}</td>"
