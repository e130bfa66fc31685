"""A filled example of a vehicle to start from."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from jounce.data import vehicle_file
from jounce_tools.errors import UsageError

#: Kind of axle -> the vehicle of jounce that has one, and what of it.
EXAMPLES: Final[Mapping[str, tuple[str, str]]] = {
    "double_wishbone": ("microbus", "front axle on double wishbones with a rack, rear one on semi-trailing arms"),
    "macpherson": ("car", "front axle on MacPherson struts with a rack, rear one on five links"),
    "multilink": ("car", "rear axle on five links, front one on MacPherson struts with a rack"),
    "trailing_arm": ("microbus", "rear axle on semi-trailing arms, front one on double wishbones with a rack"),
    "solid_axle": ("offroader", "two rigid axles on links, the front one steered"),
    "leaf_axle": ("pickup", "rigid rear axle on leaf springs, front one on double wishbones with a Pitman arm"),
    "graph": ("car", "front axle written as bodies, joints and rods; rear one on five links"),
}
#: Files of a graph in place of the car's front axle.
_GRAPH: Final = "front_graph.toml"


def write(kind: str, folder: Path) -> list[Path]:
    """Copies the example of that kind to a folder that is not there or empty; its files.

    Raises UsageError for an unknown kind or a folder that has something in it; then nothing is written.
    """
    if kind not in EXAMPLES:
        raise UsageError(f"kind {kind!r}: expected {', '.join(EXAMPLES)}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: expected a folder that is not there yet, or an empty one")
    name = re.sub(r"\W", "_", folder.resolve().name) or kind
    source = vehicle_file(EXAMPLES[kind][0]).parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}") as temporary:
        made = Path(temporary) / "vehicle"
        shutil.copytree(source, made)
        manifest = made / "vehicle.toml"
        lines = re.sub(r'(?m)^name = ".*"$', f'name = "{name}"', manifest.read_text(encoding="utf-8"), count=1)
        if kind == "graph":
            shutil.copy(Path(__file__).parent / _GRAPH, made / _GRAPH)
            lines = lines.replace('"front.toml", ', f'"front.toml", "{_GRAPH}", ')
            lines = lines.replace('kind = "macpherson"', 'kind = "graph"')
        head = f"# Written by `jounce vehicle new {kind}`: {EXAMPLES[kind][1]}.\n"
        manifest.write_text(head + _CHECK + lines, encoding="utf-8")
        if folder.exists():
            folder.rmdir()
        made.rename(folder)
    return sorted(folder.iterdir())


_CHECK: Final = """# Change the numbers in the data files, with their sources; then run `jounce vehicle check`.
#
"""
