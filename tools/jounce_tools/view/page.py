"""One page with a recorded run in 3-D: it opens offline, in any browser, and asks nothing of anybody."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from jounce_tools.view.look import Array, Look
from jounce_tools.view.picture import CAMERAS, size_of
from jounce_tools.view.scene import Scene

STATIC = Path(__file__).parent / "static"
#: Scripts of every page, in the order in which they stand; each kind of page has one more.
_SCRIPTS = ("algebra.js", "series.js", "links.js", "painter.js", "drawing.js", "plots.js", "page.js")
#: Cameras that a page has beside those of pictures: at a wheel, and one that does not turn with the vehicle.
_MORE_CAMERAS = {"wheel": ((-0.9, 2.2, 0.4), 1.8), "free": ((-6.0, -6.0, 4.0), 2.0)}
#: Nothing may be asked of any other place, not even of the page's own.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def text_of(name: str) -> str:
    """A file of the page."""
    return (STATIC / name).read_text(encoding="utf-8")


def script(last: str) -> str:
    """The scripts of a page as one; ``last`` is recorded.js or live.js."""
    return "\n".join(text_of(name) for name in (*_SCRIPTS, last))


def packed_look(look: Look) -> dict[str, Any]:
    """The object `Look` of drawing.js."""
    return {
        "name": look.name, "names": look.names, "units": look.units, "wheels": look.wheels,
        "carriers": look.carriers,
        "bodies": look.bodies,
        "parts": [{"body": p.body, "faces": [_rounded(f) for f in p.faces], "colours": p.colours} for p in look.parts],
        "plane": look.ground, "cameras": {**CAMERAS, **_MORE_CAMERAS}, "links": [asdict(k) for k in look.links],
        "tires": {w: {"radius": t.radius, "rings": [[_rounded(c) for c in ring] for ring in t.rings]}
                  for w, t in look.tires.items()},
        "size": size_of(look), "surface": None, "wanted": [],
    }  # fmt: skip


def _rounded(points: Array) -> list[list[float]]:
    """To a tenth of a millimetre."""
    return np.round(points, 4).tolist()  # type: ignore[no-any-return]


def packed(scene: Scene) -> dict[str, Any]:
    """The object `Run` of recorded.js."""
    run = packed_look(scene) | {"time": _base64(scene.time, "<f8"), "values": _base64(scene.values, "<f4")}
    run["wanted"] = _rounded(scene.wanted)
    if scene.surface is not None:
        rows, columns, _ = scene.surface.shape
        origin = scene.surface.reshape(-1, 3).mean(axis=0)
        run["surface"] = {"rows": rows, "columns": columns, "origin": origin.tolist(),
                          "points": _base64(scene.surface - origin, "<f4")}  # fmt: skip
    return run


def _base64(values: Array, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def html(title: str, head: str, scripts: str) -> str:
    """A whole page."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>{head}'
        '<meta name="viewport" content="width=device-width, initial-scale=1"></head>\n'
        f"<body>{text_of('page.html').format(title=escape(title))}{scripts}</body></html>\n"
    )


def write_html(scenes: Sequence[Scene], path: Path) -> None:
    """Writes the page of a run, and of a second one for a comparison, whole or not at all."""
    scene = scenes[0]
    title = f"{scene.name}, {scene.time[0]:.2f} to {scene.time[-1]:.2f} s"
    head = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><style>{text_of("page.css")}</style>'
    runs = json.dumps([packed(s) for s in scenes]).replace("</", "<\\/")
    text = html(title, head, f"<script>globalThis.runs = {runs};\n{script('recorded.js')}</script>")
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
