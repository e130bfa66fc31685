"""One page with a recorded run in 3-D: it opens offline, in any browser, and asks nothing of anybody."""

from __future__ import annotations

import base64
import json
from html import escape
from pathlib import Path

import numpy as np

from jounce_tools.view.picture import BODY_COLOURS, CAMERAS, size_of
from jounce_tools.view.scene import Array, Scene, tire

_STYLE = """
:root { color-scheme: light dark; } * { box-sizing: border-box; }
body { --sky: #e9edf2; --grid: #c3c8ce; font: 14px/1.4 system-ui, sans-serif; margin: 0;
  background: #fff; color: #222; }
@media (prefers-color-scheme: dark) {
  body { --sky: #20242b; --grid: #3c434d; background: #16181c; color: #ddd; } }
h1 { font-size: 1rem; margin: 0.4rem 0.8rem; } main { display: grid; grid-template-columns: 1fr 18rem; gap: 0.6rem;
  padding: 0 0.8rem 0.8rem; } #scene { width: 100%; height: 62vh; display: block; } #plot { width: 100%; height: 20vh; }
.bar { display: flex; gap: 0.6rem; align-items: center; margin: 0.4rem 0; flex-wrap: wrap; }
#time { flex: 1; min-width: 8rem; } td { padding: 0.1rem 0.5rem; border-bottom: 1px solid #8884; }
td:nth-child(2) { text-align: right; font-variant-numeric: tabular-nums; } aside { overflow-x: auto; }
@media (max-width: 45rem) { main { grid-template-columns: 1fr; } #scene { height: 45vh; } }
"""
_BODY = """<h1>{title}</h1>
<main><section>
<canvas id="scene" role="img" aria-label="The vehicle in space; the table has its main values"></canvas>
<div class="bar"><button id="play">Play</button><button id="camera">Camera</button>
<label>Speed <select id="speed"><option>0.1</option><option>0.5</option><option selected>1</option><option>2</option>
<option>10</option></select></label><input id="time" type="range" step="any" aria-label="Time"></div>
<div class="bar"><label>Signal <select id="signal"></select></label></div>
<canvas id="plot" role="img" aria-label="The chosen signal over time"></canvas>
</section><aside><table id="values"></table>
<p>Space plays and pauses, the arrow keys step, c changes the camera. Green: tire forces. Red: path.</p></aside></main>
"""
#: Nothing may be asked of any other place, not even of the page's own.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def packed(scene: Scene) -> str:
    """The object ``run`` of view.js, as JSON that may stand in a script."""
    content = {
        "name": scene.name, "time": _floats(scene.time), "values": _floats(scene.values), "names": scene.names,
        "units": scene.units, "wheels": scene.wheels, "body": [np.round(f, 4).tolist() for f in scene.body],
        "colours": BODY_COLOURS, "radius": scene.radius, "plane": scene.ground, "cameras": CAMERAS,
        "tire": [np.round(c, 4).tolist() for c in tire(scene.radius, scene.width)], "size": size_of(scene),
    }  # fmt: skip
    return json.dumps(content).replace("</", "<\\/")


def _floats(values: Array) -> str:
    """Little-endian float32 in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()


def write_html(scene: Scene, path: Path) -> None:
    """Writes the page, whole or not at all."""
    title = escape(f"{scene.name}, {scene.time[0]:.2f} to {scene.time[-1]:.2f} s")
    script = (Path(__file__).parent / "view.js").read_text(encoding="utf-8")
    text = (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body>{_BODY.format(title=title)}"
        f"<script>const run = {packed(scene)};\n{script}</script></body></html>\n"
    )
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
